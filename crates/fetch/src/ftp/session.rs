//! How does a conversation with an FTP server begin, and what can be asked in it?
//!
//! Commands go over one connection and each transfer over another, which the server opens a port
//! for (passive mode; we never have a server connect to us). Both count under the line's caps, so a
//! session holds permits for two. Under TLS the data connection resumes the session of the first,
//! by which servers know that both are ours.

use super::listing::{self, FtpEntry, ListingForm};
use super::login::{greet, log_in, with_tls};
use super::passive;
use crate::intake::{Received, receive_from};
use crate::line::{Endpoint, Permit};
use crate::lines::{Dialogue, LineSession, LineStream, Opening, ServerReply, malformed};
use crate::listed::EntryStamp;
use crate::names::mime_of;
use crate::sessions::{BrokenOff, SessionPlace};
use crate::{FetchConfig, FtpTls, Line, Watch};
use orb_page::{Failure, FailureKind, Moment, Timings, Truncation};
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a server is heard that offers a port and does not listen there.
const REFUSAL: Duration = Duration::from_secs(1);

/// A conversation with a server that knows us.
#[derive(Debug)]
pub(super) struct Session {
    talk: Dialogue,
    place: SessionPlace,
    line: Arc<LineAndConfig>,
    data: Arc<Permit>,
    /// The settings of TLS if data are transferred under it.
    secured: Option<Arc<ClientConfig>>,
    /// The directory we were put into, without a slash at its end.
    home: Vec<u8>,
    can: Abilities,
}

/// What a session works with.
struct LineAndConfig {
    line: Arc<Line>,
    config: Arc<FetchConfig>,
}

impl std::fmt::Debug for LineAndConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LineAndConfig")
    }
}

/// What a server can do, as far as it says or has shown.
#[derive(Debug)]
struct Abilities {
    /// The best form of listing that works.
    form: ListingForm,
    mlst: bool,
    size: bool,
    mdtm: bool,
    rest: bool,
    epsv: bool,
}

/// What a command transferred, or the reply by which the server refused it.
pub(super) type Transferred = Result<Received, ServerReply>;

/// A directory's entries; not all of them if the listing was cut off.
#[derive(Debug)]
pub(super) struct FtpListing {
    pub(super) entries: Vec<FtpEntry>,
    pub(super) truncated: Option<Truncation>,
}

impl Session {
    /// Connects, secures the connection as far as wanted, and logs in.
    pub(super) async fn open(opening: Opening<'_>, timings: &mut Timings) -> Result<Self, BrokenOff> {
        let [control, data] = opening.line.permits_for_two(&opening.place.to).await?;
        let mut talk = opening.dial(control, timings).await?;
        greet(&mut talk).await?;
        if !opening.implicit && opening.config.ftp_tls != FtpTls::Off {
            talk = with_tls(talk, &opening, timings).await?;
        }
        log_in(&mut talk, &opening).await?;
        let is_secured = talk.wire().is_secured();
        let line = LineAndConfig { line: Arc::clone(opening.line), config: Arc::clone(opening.config) };
        let can =
            Abilities { form: ListingForm::People, mlst: false, size: false, mdtm: false, rest: false, epsv: true };
        let mut session = Self {
            talk,
            place: opening.place,
            line: Arc::new(line),
            data: Arc::new(data),
            secured: is_secured.then_some(opening.client),
            home: Vec::new(),
            can,
        };
        session.prepare().await?;
        Ok(session)
    }

    /// Learns what the server can do, and says how data are to be sent.
    async fn prepare(&mut self) -> Result<(), BrokenOff> {
        let features = self.talk.ask(b"FEAT").await?;
        if features.is_done() {
            let has = |name: &str| {
                features.text.lines().any(|line| {
                    line.trim().split([' ', ';']).next().is_some_and(|word| word.eq_ignore_ascii_case(name))
                })
            };
            self.can.mlst = has("MLST") || has("MLSD");
            (self.can.size, self.can.mdtm, self.can.rest) = (has("SIZE"), has("MDTM"), has("REST"));
            if self.can.mlst {
                self.can.form = ListingForm::Machine;
            }
            if has("UTF8") {
                self.talk.ask(b"OPTS UTF8 ON").await?;
            }
        }
        if self.secured.is_some() {
            self.talk.ask(b"PBSZ 0").await?;
            let protected = self.talk.ask(b"PROT P").await?;
            if !protected.is_done() {
                let line = format!("the server does not protect its data: {}", protected.line());
                return Err(Failure::new(FailureKind::Tls, line).into());
            }
        }
        let binary = self.talk.ask(b"TYPE I").await?;
        if !binary.is_done() {
            return Err(malformed(&format!("the server sends no bytes as they are: {}", binary.line())).into());
        }
        let here = self.talk.ask(b"PWD").await?;
        if let Some(path) = quoted(&here.text).filter(|path| here.is_done() && path.starts_with('/')) {
            self.home = path.trim_end_matches('/').as_bytes().to_vec();
        }
        Ok(())
    }

    /// The path by which the server knows what a URL names: below the directory we were put into,
    /// or from the root if it begins with a slash of its own.
    fn path(&self, path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        [&self.home, &b"/"[..], path].concat()
    }

    pub(super) const fn tells_times(&self) -> bool {
        self.can.mdtm
    }

    pub(super) const fn goes_on(&self) -> bool {
        self.can.rest
    }

    /// Whether a path is a directory.
    pub(super) async fn is_directory(&mut self, path: &[u8]) -> Result<bool, BrokenOff> {
        let path = self.path(path);
        Ok(self.talk.ask(&[b"CWD ", &path[..]].concat()).await?.is_done())
    }

    /// When a file was changed, to the second.
    pub(super) async fn time_of(&mut self, path: &[u8]) -> Result<Option<(Moment, i64)>, BrokenOff> {
        let path = self.path(path);
        let reply = self.talk.ask(&[b"MDTM ", &path[..]].concat()).await?;
        Ok(if reply.code == 213 { listing::compact_time(&reply.text) } else { None })
    }

    /// Size and time of a file that no listing has told of.
    pub(super) async fn stamp_of(&mut self, path: &[u8]) -> Result<Option<EntryStamp>, BrokenOff> {
        if self.can.mlst {
            let full = self.path(path);
            let reply = self.talk.ask(&[b"MLST ", &full[..]].concat()).await?;
            let facts = reply.text.lines().find_map(|line| listing::facts_of(line.trim().as_bytes()));
            return Ok(facts.filter(|_| reply.code == 250).and_then(|(_, stamp)| stamp));
        }
        if !(self.can.size && self.can.mdtm) {
            return Ok(None);
        }
        let Some((modified, grain)) = self.time_of(path).await? else { return Ok(None) };
        let full = self.path(path);
        let size = self.talk.ask(&[b"SIZE ", &full[..]].concat()).await?;
        let size = size.text.trim().parse().ok().filter(|_| size.code == 213);
        Ok(Some(EntryStamp { size, modified, grain, is_local: false }))
    }

    /// Fetches a file, from a place in it.
    pub(super) async fn retrieve(
        &mut self,
        path: &[u8],
        from: u64,
        watch: &dyn Watch,
    ) -> Result<Transferred, BrokenOff> {
        let most = self.line.config.max_size_of(Some(mime_of(&String::from_utf8_lossy(path))));
        let path = self.path(path);
        let before = (from > 0).then(|| format!("REST {from}"));
        self.transfer(&[b"RETR ", &path[..]].concat(), before.as_deref(), most, watch).await
    }

    /// Lists a directory in the best form that the server has.
    pub(super) async fn list(
        &mut self,
        path: &[u8],
        watch: &dyn Watch,
    ) -> Result<Result<FtpListing, ServerReply>, BrokenOff> {
        loop {
            let form = self.can.form;
            let transferred = match self.list_as(form, path, watch).await? {
                Ok(transferred) => transferred,
                Err(refused) => return Ok(Err(refused)),
            };
            let next = match form {
                ListingForm::Machine => ListingForm::People,
                ListingForm::People | ListingForm::Names => ListingForm::Names,
            };
            match transferred {
                Ok(Received { body, truncated }) => {
                    let body = body.read(u64::MAX).map_err(|error| crate::lines::local(&error))?;
                    let entries = listing::entries(&body, form, Moment::now());
                    let is_strange = entries.is_empty() && form == ListingForm::People && is_told(&body);
                    if !is_strange {
                        return Ok(Ok(FtpListing { entries, truncated }));
                    }
                }
                // Some servers answer so for an empty directory.
                Err(ServerReply { code: 450 | 550, .. }) if form != ListingForm::Machine => {
                    return Ok(Ok(FtpListing { entries: Vec::new(), truncated: None }));
                }
                Err(ServerReply { code: 500..=504, .. }) if form != ListingForm::Names => {}
                Err(refused) => return Ok(Err(refused)),
            }
            self.can.form = next;
        }
    }

    /// One listing command. Only MLSD takes a path: LIST would take one for options.
    async fn list_as(
        &mut self,
        form: ListingForm,
        path: &[u8],
        watch: &dyn Watch,
    ) -> Result<Result<Transferred, ServerReply>, BrokenOff> {
        let full = self.path(path);
        // A slash at the end of anything but the root is not understood everywhere.
        let full = full.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(&full).to_vec();
        let command = match form {
            ListingForm::Machine => [b"MLSD ", &full[..]].concat(),
            ListingForm::People => b"LIST".to_vec(),
            ListingForm::Names => b"NLST".to_vec(),
        };
        if form != ListingForm::Machine {
            let entered = self.talk.ask(&[b"CWD ", &full[..]].concat()).await?;
            if !entered.is_done() {
                return Ok(Err(entered));
            }
        }
        let most = self.line.config.max_size;
        self.transfer(&command, None, most, watch).await.map(Ok)
    }

    /// Gives a command that transfers, and receives what comes.
    async fn transfer(
        &mut self,
        command: &[u8],
        before: Option<&str>,
        most: u64,
        watch: &dyn Watch,
    ) -> Result<Transferred, BrokenOff> {
        let port = match self.passive().await? {
            Ok(port) => port,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Some(before) = before {
            let reply = self.talk.ask(before.as_bytes()).await?;
            if reply.code != 350 {
                return Ok(Err(reply));
            }
        }
        let config = Arc::clone(&self.line.config);
        let to = Endpoint { port, ..Endpoint::clone(&self.place.to) };
        let mut unused = Timings::default();
        // The command is under way while we connect, which saves a round trip of three.
        self.talk.tell(command).await?;
        let socket = self.line.line.open_permitted(&to, self.place.addr, Arc::clone(&self.data), &mut unused).await;
        let begun = match &socket {
            Ok(_) => self.talk.reply().await?,
            // A server that refuses the command may have closed its port by now.
            Err(failure) => match timeout(REFUSAL, self.talk.reply()).await {
                Ok(reply) => reply?,
                Err(_) => return Err(failure.clone().into()),
            },
        };
        if !matches!(begun.code, 100..300) {
            return Ok(Err(begun));
        }
        let socket = socket?;
        let mut data = match &self.secured {
            Some(client) => LineStream::secured(socket, &self.place.to.host, client, &config).await?,
            None => LineStream::Plain(Box::new(socket)),
        };
        let mut received = receive_from(&mut data, &config, most, watch).await?;
        if matches!(received.truncated, Some(Truncation::Length | Truncation::Time | Truncation::Unwanted)) {
            self.talk.spend();
            return Ok(Ok(received));
        }
        data.close();
        if begun.code < 200 && !self.talk.reply().await?.is_done() {
            received.truncated = Some(Truncation::Disconnect);
        }
        Ok(Ok(received))
    }

    /// Has the server open a port; EPSV where it knows that, which works for IPv6, too.
    async fn passive(&mut self) -> Result<Result<u16, ServerReply>, BrokenOff> {
        if self.can.epsv {
            let reply = self.talk.ask(b"EPSV").await?;
            if reply.code == 229 {
                return Ok(Ok(passive::extended(&reply)?));
            }
            if !matches!(reply.code, 500..=504 | 522) {
                return Ok(Err(reply));
            }
            self.can.epsv = false;
        }
        let reply = self.talk.ask(b"PASV").await?;
        Ok(if reply.code == 227 { Ok(passive::plain(&reply)?) } else { Err(reply) })
    }
}

impl LineSession for Session {
    /// As other crawlers write it.
    const CONVERSATION: &'static str = "text/x-ftp-control-conversation";

    fn place(&self) -> &SessionPlace {
        &self.place
    }

    fn talk(&self) -> &Dialogue {
        &self.talk
    }

    fn talk_mut(&mut self) -> &mut Dialogue {
        &mut self.talk
    }

    fn into_talk(self) -> Dialogue {
        self.talk
    }
}

/// Whether a listing says something besides how much there is.
fn is_told(body: &[u8]) -> bool {
    body.split(|b| *b == b'\n').any(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"total "))
}

/// The path in `257 "/home/x" is the current directory`, in which quotes are doubled.
fn quoted(text: &str) -> Option<String> {
    let start = text.find('"')? + 1;
    let end = text.rfind('"').filter(|end| *end >= start)?;
    Some(text[start..end].replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_we_are_put_into_is_quoted() {
        assert_eq!(quoted("\"/home/x\" is the current directory").as_deref(), Some("/home/x"));
        assert_eq!(quoted("\"/a\"\"b\" ok").as_deref(), Some("/a\"b"));
        assert_eq!(quoted("none"), None);
        assert_eq!(quoted("\""), None);
    }
}
