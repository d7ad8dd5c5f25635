//! How is a page fetched from an SFTP server?
//!
//! A path that ends in a slash is a directory and gives a listing; any other is a file. SFTP itself
//! is spoken here ([`packet`], [`session`]), SSH by OpenSSH's program ([`program`]). Listings tell
//! size and time, so a file that is as its listing says it was is answered without a word to the
//! server ([`Listed`](crate::listed::Listed)). A file that is not there is gone: other than with
//! FTP, the server says so.

mod keys;
mod packet;
mod program;
mod session;

pub use keys::HostKeys;
pub use program::PASSWORD_VARIABLE;

use crate::intake::Received;
use crate::listed::{Entry, EntryStamp};
use crate::names::{answer, bare, decoded, hopeless, listing, stamped};
use crate::sessions::{BrokenOff, Converse, PathCall, SessionCall, SessionPlace, SessionPool};
use crate::{BoxFuture, Fetch, FetchConfig, Line, Watch};
use orb_page::{Failure, Lease, Listing, ListingEntry, Outcome, Response, Timings};
use packet::{FileAttributes, NodeType, SftpName, SftpStatus};
use program::SshCall;
use session::{FileBounds, SftpSession};
use std::future::ready;
use std::sync::Arc;

/// The name of the protocol in what is recorded.
const SFTP: &str = "sftp";

/// Fetches over SFTP.
pub(crate) struct SftpFetcher {
    pool: SessionPool<SftpSession>,
}

/// One page being fetched.
struct SftpErrand<'a> {
    fetcher: &'a SftpFetcher,
    asked: PathCall<'a>,
}

impl SftpFetcher {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Self {
        Self { pool: SessionPool::new(line, config) }
    }
}

impl<'a> SftpErrand<'a> {
    fn new(fetcher: &'a SftpFetcher, lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let call = SessionCall::new(lease, watch)?;
        let path = decoded(call.address.path_and_query())?;
        Ok(Self { fetcher, asked: PathCall::new(call, path, &fetcher.pool.listed) })
    }

    async fn log_in(&mut self, place: SessionPlace) -> Result<SftpSession, BrokenOff> {
        let pool = &self.fetcher.pool;
        let login = pool.config.keyring.login(&self.asked.call.address);
        let call = SshCall::new(&pool.line, &pool.config, &place, login);
        SftpSession::open(&call, &mut self.asked.call.timings).await
    }

    async fn page(&mut self, session: &mut SftpSession) -> Result<Response, BrokenOff> {
        match self.asked.is_directory() {
            true => self.directory(session).await,
            false => self.file(session).await,
        }
    }

    async fn directory(&mut self, session: &mut SftpSession) -> Result<Response, BrokenOff> {
        let most = self.fetcher.pool.config.max_size;
        let listed = session.list(&self.asked.path, most, self.asked.call.watch).await?;
        let Some(pending) = self.asked.pending.take() else { return Ok(bare(404, SFTP)?) };
        let (names, truncated) = match listed {
            Ok(listed) => listed,
            Err(status) => {
                match status.code {
                    SftpStatus::NO_SUCH_FILE => pending.gone(),
                    _ => pending.failed(),
                }
                return Ok(refusal(&status)?);
            }
        };
        let entries = entries(&names);
        if truncated.is_none() {
            pending.known(entries.iter().map(|(entry, stamp)| (entry.reference.as_str(), *stamp)));
        }
        let entries = entries.into_iter().map(|(entry, _)| entry).collect();
        Ok(Response { truncated, ..listing(&Listing { entries }, SFTP)? })
    }

    async fn file(&mut self, session: &mut SftpSession) -> Result<Response, BrokenOff> {
        let stamp = match self.fetcher.pool.listed.look(&self.asked.call.lease.url).await {
            Entry::Listed(Some(stamp)) => Some(stamp),
            _ => match session.stat(&self.asked.path).await? {
                Ok(attributes) => match self.found(&attributes)? {
                    Ok(stamp) => stamp,
                    Err(elsewhere) => return Ok(elsewhere),
                },
                Err(status) => return Ok(refusal(&status)?),
            },
        };
        let config = &self.fetcher.pool.config;
        if let Some(settled) = self.asked.settled(stamp.as_ref(), config, SFTP)? {
            return Ok(settled);
        }
        let mime = self.asked.mime();
        let (size, most) = (stamp.and_then(|stamp| stamp.size), config.max_size_of(Some(mime)));
        let bounds = FileBounds { size, most, config, watch: self.asked.call.watch };
        match session.retrieve(&self.asked.path, &bounds).await? {
            Ok(Received { body, truncated }) => {
                let response = stamped(answer(200, mime, body, SFTP)?, stamp.as_ref());
                Ok(Response { truncated, ..response })
            }
            Err(status) => Ok(refusal(&status)?),
        }
    }

    /// The stamp of a file that is one, or where to look instead. What is neither a file nor a
    /// directory is not opened: a pipe would keep the server waiting.
    fn found(&self, attributes: &FileAttributes) -> Result<Result<Option<EntryStamp>, Response>, Failure> {
        match attributes.node() {
            Some(NodeType::Directory) => Ok(Err(self.asked.call.elsewhere(SFTP)?)),
            Some(NodeType::Other | NodeType::Link) => Err(hopeless("it is neither a file nor a directory")),
            Some(NodeType::File) | None => Ok(Ok(attributes.stamp())),
        }
    }
}

/// The entries of a directory, sorted by name, each once, and their stamps.
fn entries(names: &[SftpName]) -> Vec<(ListingEntry, Option<EntryStamp>)> {
    let read = |name: &SftpName| {
        let is_directory = name.node() == NodeType::Directory;
        let mut entry = ListingEntry::new(&name.name, is_directory)?;
        let stamp = name.attributes.stamp().filter(|_| !is_directory);
        entry.size = name.attributes.size.filter(|_| !is_directory);
        entry.modified = stamp.map(|stamp| stamp.modified);
        Some((entry, stamp))
    };
    let mut entries: Vec<_> = names.iter().filter_map(read).collect();
    entries.sort_by(|(a, _), (b, _)| a.reference.cmp(&b.reference));
    entries.dedup_by(|(a, _), (b, _)| a.reference == b.reference);
    entries
}

/// What a server's packets list, for fuzzing.
#[cfg(feature = "fuzzing")]
pub fn read_sftp_listing(bytes: &[u8]) -> Listing {
    let (mut buf, mut names) = (bytes::BytesMut::from(bytes), Vec::new());
    while let Ok(Some((_, reply))) = packet::next(&mut buf) {
        if let packet::SftpReply::Names(more) = reply {
            names.extend(more);
        }
    }
    Listing { entries: entries(&names).into_iter().map(|(entry, _)| entry).collect() }
}

/// A refusal in the terms of HTTP.
fn refusal(status: &SftpStatus) -> Result<Response, Failure> {
    let code = match status.code {
        SftpStatus::NO_SUCH_FILE => 404,
        SftpStatus::DENIED => 403,
        SftpStatus::UNSUPPORTED => 501,
        _ => 500,
    };
    let mut response = bare(code, SFTP)?;
    let words: String = status.text.chars().filter(|c| !c.is_control()).take(200).collect();
    response.headers.push(b"Reply", format!("{} {words}", status.code).as_bytes());
    Ok(response)
}

impl Converse<SftpSession> for SftpErrand<'_> {
    fn call(&self) -> &SessionCall<'_> {
        &self.asked.call
    }

    fn timings(&mut self) -> &mut Timings {
        &mut self.asked.call.timings
    }

    fn recalled(&self) -> BoxFuture<'_, Result<Option<Response>, Failure>> {
        Box::pin(self.asked.recalled(SFTP))
    }

    fn open(&mut self, place: SessionPlace) -> BoxFuture<'_, Result<SftpSession, BrokenOff>> {
        Box::pin(self.log_in(place))
    }

    fn ask<'s>(&'s mut self, session: &'s mut SftpSession) -> BoxFuture<'s, Result<Response, BrokenOff>> {
        Box::pin(self.page(session))
    }
}

impl Fetch for SftpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.pool.fetch(SftpErrand::new(self, lease, watch)))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.shut();
        Box::pin(ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn nothing_that_a_name_says_leads_out_of_its_directory() {
        let name = |name: &'static [u8], permissions| SftpName {
            name: Bytes::from_static(name),
            attributes: FileAttributes { size: Some(3), permissions: Some(permissions), modified: Some(9) },
            mark: None,
        };
        let (file, directory) = (0o100_644, 0o040_755);
        let names = [
            name(b"..", directory),
            name(b".", directory),
            name(b"../up", file),
            name(b"a/b", file),
            name(b"z", directory),
            name(b"b\r\nc", file),
            name(b"a\xff", file),
            name(b"a\xff", file),
        ];
        let found: Vec<_> =
            entries(&names).into_iter().map(|(entry, stamp)| (entry.reference, stamp.is_some())).collect();
        assert_eq!(found, [("a%FF".to_owned(), true), ("z/".to_owned(), false)]);
    }

    #[test]
    fn a_refusal_is_said_in_the_terms_of_the_web() {
        let status = |code| refusal(&SftpStatus { code, text: "x\r\ny".to_owned() }).unwrap().status;
        assert_eq!([2, 3, 4, 8].map(status), [404, 403, 500, 501]);
    }
}
