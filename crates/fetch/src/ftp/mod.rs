//! How is a page fetched from an FTP server?
//!
//! A path that ends in a slash is a directory and gives a listing; any other is a file. Sessions
//! are kept between pages ([`KeptSessions`]). What directories have listed in this run decides what
//! has to be transferred at all ([`Listed`]): a file that is as its listing says it was is answered
//! without a word to the server. A file counts as gone only if its directory no longer lists it; a
//! server that refuses it says so for many reasons.

mod answers;
mod listing;
mod login;
mod passive;
mod session;

use crate::intake::Received;
use crate::lines::{Opening, ServerReply};
use crate::listed::{Entry, EntryStamp, split};
use crate::names::{answer, bare, decoded, listing as listing_answer, stamped};
use crate::sessions::{BrokenOff, Converse, PathCall, SessionCall, SessionPlace, SessionPool};
use crate::tls::{self, OptionalTls};
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, FtpTls, Line, Watch};
use answers::{joined, path_of, refusal, without_type};
use orb_page::{Failure, Lease, Listing, Moment, Outcome, Purpose, Response, Timings, Truncation};
use session::{FtpListing, Session};
use std::future::ready;
use std::sync::Arc;

/// The name of the protocol in what is recorded.
const FTP: &str = "ftp";

#[cfg(feature = "fuzzing")]
pub use answers::{HeardReply, hear_ftp_replies, read_ftp_listing};

/// Fetches over FTP, in the clear and under TLS.
pub(crate) struct FtpFetcher {
    pool: SessionPool<Session>,
    tls: OptionalTls,
}

/// One page being fetched.
struct FtpErrand<'a> {
    fetcher: &'a FtpFetcher,
    asked: PathCall<'a>,
}

impl FtpFetcher {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let tls = OptionalTls::new(&config)?;
        Ok(Self { pool: SessionPool::new(line, config), tls })
    }
}

impl<'a> FtpErrand<'a> {
    fn new(fetcher: &'a FtpFetcher, lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let call = SessionCall::new(lease, watch)?;
        let path = decoded(without_type(call.address.path_and_query()))?;
        Ok(Self { fetcher, asked: PathCall::new(call, path, &fetcher.pool.listed) })
    }

    async fn log_in(&mut self, place: SessionPlace) -> Result<Session, BrokenOff> {
        let FtpFetcher { pool, tls } = self.fetcher;
        let login = pool.config.keyring.login(&self.asked.call.address);
        let implicit = self.asked.call.address.scheme() == "ftps";
        let is_lenient = !implicit && login.is_none() && pool.config.ftp_tls == FtpTls::Try;
        let client = tls::apart(if is_lenient { &tls.lenient } else { &tls.strict });
        let opening = Opening { line: &pool.line, config: &pool.config, client, place, implicit, login };
        Session::open(opening, &mut self.asked.call.timings).await
    }

    async fn page(&mut self, session: &mut Session) -> Result<Response, BrokenOff> {
        match self.asked.is_directory() {
            true => self.directory(session).await,
            false => self.file(session).await,
        }
    }

    async fn directory(&mut self, session: &mut Session) -> Result<Response, BrokenOff> {
        let listing = session.list(&self.asked.path, self.asked.call.watch).await?;
        let Some(listed) = self.asked.pending.take() else { return Ok(bare(404, FTP)?) };
        match listing {
            Ok(listing) => {
                if listing.truncated.is_none() {
                    listed.known(listing.stamps());
                }
                let truncated = listing.truncated;
                let entries = listing.entries.into_iter().map(|found| found.entry).collect();
                let response = listing_answer(&Listing { entries }, FTP)?;
                Ok(Response { truncated, ..response })
            }
            Err(reply) => {
                if self.asked.call.lease.before.is_some()
                    && self.look_up(session, &self.asked.call.lease.url).await? == Entry::Lacking
                {
                    listed.gone();
                    return Ok(bare(404, FTP)?);
                }
                listed.failed();
                Ok(refusal(&reply)?)
            }
        }
    }

    async fn file(&mut self, session: &mut Session) -> Result<Response, BrokenOff> {
        let entry = self.entry(session).await?;
        let stamp = self.stamp(session, entry).await?;
        if let Some(settled) = self.asked.settled(stamp.as_ref(), &self.fetcher.pool.config, FTP)? {
            return Ok(settled);
        }
        match session.retrieve(&self.asked.path, 0, self.asked.call.watch).await? {
            Ok(received) => {
                let Received { body, truncated } = self.whole(session, received).await?;
                let response = stamped(answer(200, self.asked.mime(), body, FTP)?, stamp.as_ref());
                Ok(Response { truncated, ..response })
            }
            Err(reply) => self.refused(session, entry, &reply).await,
        }
    }

    /// What the directory of the file says of it. One that was there before must be looked for.
    async fn entry(&self, session: &mut Session) -> Result<Entry, BrokenOff> {
        if self.asked.call.lease.purpose == Purpose::Robots {
            return Ok(Entry::Unlisted);
        }
        if self.asked.call.lease.before.is_some() {
            return self.look_up(session, &self.asked.call.lease.url).await;
        }
        Ok(self.fetcher.pool.listed.look(&self.asked.call.lease.url).await)
    }

    /// The entry for a URL; its directory is listed for that if it was not yet, and if that fails,
    /// the one above.
    async fn look_up(&self, session: &mut Session, url: &str) -> Result<Entry, BrokenOff> {
        let listed = &self.fetcher.pool.listed;
        let entry = listed.look(url).await;
        let Some((directory, _)) = split(url) else { return Ok(Entry::Unlisted) };
        if entry != Entry::Unlisted || listed.has_failed(directory) || !listed.has_room() {
            return Ok(entry);
        }
        let Some(path) = path_of(directory) else { return Ok(Entry::Unlisted) };
        let Some(listing) = listed.begin_first(directory) else { return Ok(listed.look(url).await) };
        match session.list(&path, self.asked.call.watch).await? {
            Ok(found) if found.truncated.is_none() => listing.known(found.stamps()),
            Ok(_) => listing.failed(),
            Err(_) => match Box::pin(self.look_up(session, directory)).await? {
                Entry::Lacking => listing.gone(),
                Entry::Listed(_) | Entry::AsBefore | Entry::Unlisted => listing.failed(),
            },
        }
        Ok(listed.look(url).await)
    }

    /// Size and time of the file, as exact as they must be to tell a later version from this one.
    async fn stamp(&self, session: &mut Session, entry: Entry) -> Result<Option<EntryStamp>, BrokenOff> {
        let stamp = match entry {
            _ if self.asked.call.lease.purpose == Purpose::Robots => return Ok(None),
            Entry::Lacking => return Ok(None),
            Entry::Listed(Some(stamp)) => stamp,
            Entry::Listed(None) | Entry::AsBefore | Entry::Unlisted => return session.stamp_of(&self.asked.path).await,
        };
        if !stamp.is_local || stamp.is_settled(Moment::now()) && self.is_known_as(&stamp) || !session.tells_times() {
            return Ok(Some(stamp));
        }
        let exact = session.time_of(&self.asked.path).await?;
        let exact = exact.map(|(modified, grain)| EntryStamp { modified, grain, is_local: false, ..stamp });
        Ok(Some(exact.unwrap_or(stamp)))
    }

    /// Whether the version that is known has a stamp of the same kind, to be compared with.
    fn is_known_as(&self, stamp: &EntryStamp) -> bool {
        let known = self.asked.latest.and_then(|latest| EntryStamp::of_tag(latest.etag.as_deref()?));
        known.is_none_or(|known| known.is_local == stamp.is_local)
    }

    /// Resumes where a transfer broke off, once.
    async fn whole(&self, session: &mut Session, first: Received) -> Result<Received, BrokenOff> {
        let got = first.body.len();
        if first.truncated != Some(Truncation::Disconnect) || got == 0 || !session.goes_on() {
            return Ok(first);
        }
        match session.retrieve(&self.asked.path, got, self.asked.call.watch).await? {
            Ok(rest) => joined(&first.body, &rest, &self.fetcher.pool.config).map_err(BrokenOff::from),
            Err(_) => Ok(first),
        }
    }

    /// What a server's refusal to send a file means.
    async fn refused(&self, session: &mut Session, entry: Entry, reply: &ServerReply) -> Result<Response, BrokenOff> {
        let is_final = reply.code >= 500;
        if is_final && self.asked.call.lease.purpose == Purpose::Robots {
            return Ok(bare(404, FTP)?);
        }
        if reply.code == 550 && entry == Entry::Lacking {
            return Ok(bare(404, FTP)?);
        }
        // Whether a name without a slash is a directory is known only where it was listed as such.
        let is_open = matches!(entry, Entry::Unlisted | Entry::Listed(None));
        if is_final && is_open && session.is_directory(&self.asked.path).await? {
            return Ok(self.asked.call.elsewhere(FTP)?);
        }
        Ok(refusal(reply)?)
    }
}

impl FtpListing {
    /// The stamps by name.
    fn stamps(&self) -> impl Iterator<Item = (&str, Option<EntryStamp>)> {
        self.entries.iter().map(|found| (found.entry.reference.as_str(), found.stamp))
    }
}

impl Converse<Session> for FtpErrand<'_> {
    fn call(&self) -> &SessionCall<'_> {
        &self.asked.call
    }

    fn timings(&mut self) -> &mut Timings {
        &mut self.asked.call.timings
    }

    fn recalled(&self) -> BoxFuture<'_, Result<Option<Response>, Failure>> {
        Box::pin(self.asked.recalled(FTP))
    }

    fn open(&mut self, place: SessionPlace) -> BoxFuture<'_, Result<Session, BrokenOff>> {
        Box::pin(self.log_in(place))
    }

    fn ask<'s>(&'s mut self, session: &'s mut Session) -> BoxFuture<'s, Result<Response, BrokenOff>> {
        Box::pin(self.page(session))
    }
}

impl Fetch for FtpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.pool.fetch(FtpErrand::new(self, lease, watch)))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.shut();
        Box::pin(ready(()))
    }
}
