//! What do a server's answers mean in the terms of the web?

use super::FTP;
#[cfg(feature = "fuzzing")]
use super::listing::{ListingForm, entries as listing_entries};
#[cfg(feature = "fuzzing")]
use super::passive;
use crate::FetchConfig;
use crate::intake::Received;
#[cfg(feature = "fuzzing")]
use crate::lines::LineRehearsal;
use crate::lines::ServerReply;
use crate::names::{bare, decoded};
use orb_page::{Body, Failure, Response};
#[cfg(feature = "fuzzing")]
use orb_page::{Listing, Moment};
use orb_urls::Address;

/// What a listing says, for fuzzing; the form is 0, 1 or 2 for machines, people and names alone.
#[cfg(feature = "fuzzing")]
pub fn read_ftp_listing(form: u8, body: &[u8]) -> Listing {
    let form = match form % 3 {
        0 => ListingForm::Machine,
        1 => ListingForm::People,
        _ => ListingForm::Names,
    };
    let entries = listing_entries(body, form, Moment(1_794_715_409_000));
    Listing { entries: entries.into_iter().map(|found| found.entry).collect() }
}

/// A reply as it is heard, for fuzzing.
#[cfg(feature = "fuzzing")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardReply {
    /// Its code.
    pub code: u16,
    /// Its text.
    pub text: String,
    /// What is told of it in one line.
    pub line: String,
    /// The status it stands for as a refusal.
    pub status: Option<u16>,
    /// The ports that it offers for data, as an answer to EPSV and to PASV.
    pub ports: [Option<u16>; 2],
}

/// The replies of a server that says these pieces, up to the first that is none, for fuzzing.
#[cfg(feature = "fuzzing")]
pub fn hear_ftp_replies(rehearsal: &LineRehearsal, pieces: &[&[u8]]) -> std::io::Result<Vec<HeardReply>> {
    rehearsal.hear(pieces, |mut talk, _| {
        Box::pin(async move {
            let mut heard = Vec::new();
            while let Ok(reply) = talk.reply().await {
                let ports = [passive::extended(&reply).ok(), passive::plain(&reply).ok()];
                let status = refusal(&reply).ok().map(|response| response.status);
                heard.push(HeardReply { code: reply.code, line: reply.line(), text: reply.text, status, ports });
            }
            heard
        })
    })
}

/// A refusal in the terms of HTTP, where they fit: what may pass is an error of the server's, and
/// the frontier backs off from one that is closing.
pub(super) fn refusal(reply: &ServerReply) -> Result<Response, Failure> {
    let status = match reply.code {
        421 => 503,
        400..500 => 500,
        530 | 532 => 401,
        500..=504 => 501,
        code => code,
    };
    let mut response = bare(status, FTP)?;
    response.headers.push(b"Reply", reply.line().as_bytes());
    Ok(response)
}

/// Two parts of a body as one.
pub(super) fn joined(first: &Body, rest: &Received, config: &FetchConfig) -> Result<Received, Failure> {
    let whole = || -> std::io::Result<Body> {
        let len = first.len() + rest.body.len();
        if len <= config.spool_over {
            let bytes = [first.read(u64::MAX)?, rest.body.read(u64::MAX)?].concat();
            return Ok(Body::Memory(bytes.into()));
        }
        let mut file = tempfile::tempfile_in(&config.spool_dir)?;
        std::io::copy(&mut first.reader()?, &mut file)?;
        std::io::copy(&mut rest.body.reader()?, &mut file)?;
        Ok(Body::Spooled { file, len })
    };
    Ok(Received { body: whole().map_err(|error| crate::lines::local(&error))?, truncated: rest.truncated })
}

/// The path without `;type=a` and the like: we always ask for bytes (RFC 1738, 3.2.2).
pub(super) fn without_type(path: &str) -> &str {
    match path.len().checked_sub(7).and_then(|at| path.split_at_checked(at)) {
        Some((front, back)) if back.as_bytes()[..6].eq_ignore_ascii_case(b";type=") => front,
        _ => path,
    }
}

/// The bytes of a URL's path.
pub(super) fn path_of(url: &str) -> Option<Vec<u8>> {
    let address = Address::from_canonical(url).ok()?;
    decoded(address.path_and_query()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_transfer_is_no_part_of_the_path() {
        assert_eq!(without_type("/a;type=i"), "/a");
        assert_eq!(without_type("/a;TYPE=a"), "/a");
        assert_eq!(without_type("/type=a"), "/type=a");
        assert_eq!(without_type("/ä;type=ä"), "/ä;type=ä");
    }

    #[test]
    fn a_refusal_is_said_in_the_terms_of_the_web() {
        let status = |code| refusal(&ServerReply { code, text: "x".to_owned() }).unwrap().status;
        assert_eq!([421, 450, 530, 502, 550].map(status), [503, 500, 401, 501, 550]);
    }
}
