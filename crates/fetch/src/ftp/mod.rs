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
use crate::line::Endpoint;
use crate::lines::{BrokenOff, KeptSessions, ServerReply};
use crate::listed::{Entry, EntryStamp, Listed, Listen, split};
use crate::names::{answer, bare, decoded, hopeless, listing as listing_answer, mime_of, outcome, stamped};
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, FtpTls, Line, Watch, tls};
use answers::{joined, path_of, refusal, without_type};
use login::Opening;
use orb_page::{Body, Conversation, Failure, Lease, Listing, Moment, Outcome, PageHistory, Purpose, Response};
use orb_page::{ResponseKind, Timings, Truncation, Version};
use orb_urls::Address;
use rustls::ClientConfig;
use session::{FtpListing, Session};
use std::future::ready;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// The media type of what was said, as other crawlers write it.
const CONVERSATION: &str = "text/x-ftp-control-conversation";
/// The name of the protocol in what is recorded.
const FTP: &str = "ftp";

#[cfg(feature = "fuzzing")]
pub use answers::read_ftp_listing;

/// Fetches over FTP, in the clear and under TLS.
pub(crate) struct FtpFetcher {
    line: Arc<Line>,
    config: Arc<FetchConfig>,
    client: Arc<ClientConfig>,
    /// The same that accepts any certificate, for `ftp.tls = "try"` without a password: better than
    /// no TLS at all, which would be the alternative.
    lenient: Arc<ClientConfig>,
    kept: Arc<KeptSessions<Session>>,
    listed: Listed,
}

/// One page being fetched.
struct FtpErrand<'a> {
    fetcher: &'a FtpFetcher,
    lease: &'a Lease,
    address: Address,
    /// The bytes of its path.
    path: Vec<u8>,
    /// The version that is known, unless another is wanted in any case.
    latest: Option<&'a Version>,
    watch: &'a dyn Watch,
    timings: Timings,
}

impl FtpFetcher {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let client = tls::client(&config, &[])?;
        let lenient = tls::client(&FetchConfig { insecure: true, ..FetchConfig::clone(&config) }, &[])?;
        let kept = KeptSessions::new(line.sockets(), config.keep_alive);
        Ok(Self { line, config, client, lenient, kept, listed: Listed::default() })
    }

    async fn errand(&self, lease: &Lease, watch: &dyn Watch) -> Outcome {
        let at = Moment::now();
        let prepared = FtpErrand::new(self, lease, watch);
        let mut errand = match prepared {
            Ok(errand) => errand,
            Err(failure) => return outcome(at, Timings::default(), Err(failure)),
        };
        let result = match errand.is_directory() {
            // Whoever asks for an entry waits for it from here on.
            true => errand.run(Some(self.listed.begin(&lease.url))).await,
            false => errand.run(None).await,
        };
        outcome(at, errand.timings, result)
    }
}

impl<'a> FtpErrand<'a> {
    fn new(fetcher: &'a FtpFetcher, lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let address = Address::from_canonical(lease.request_url()).map_err(|why| hopeless(why.to_string()))?;
        let path = decoded(without_type(address.path_and_query()))?;
        let known = |before: &'a Arc<PageHistory>| before.latest.as_ref().filter(|_| before.there);
        let latest = lease.before.as_ref().and_then(known).filter(|_| !lease.again);
        Ok(Self { fetcher, lease, address, path, latest, watch, timings: Timings::default() })
    }

    fn is_directory(&self) -> bool {
        self.path.is_empty() || self.path.ends_with(b"/")
    }

    async fn run(&mut self, mut pending: Option<Listen<'a>>) -> Result<Response, Failure> {
        if let Some(unchanged) = self.recalled().await? {
            return Ok(unchanged);
        }
        let to = Endpoint { host: self.address.host().into(), port: self.address.port(), any_host: false };
        let to = Arc::new(to);
        let (host, port, pinned) = (self.address.host(), self.address.port(), self.lease.addr);
        let addr = self.fetcher.line.address(host, port, pinned, &mut self.timings).await?;
        loop {
            let kept = self.fetcher.kept.take(&to, addr);
            let used_before = kept.is_some();
            let session = match kept {
                Some(session) => Ok(session),
                None => self.open(&to, addr).await,
            };
            let asked = match session {
                Ok(session) => self.ask(session, &mut pending).await,
                Err(broken) => Err(broken),
            };
            match asked {
                // The server closed an idle session just as we used it.
                Err(broken) if broken.silent && used_before => {}
                result => return result.map_err(|broken| broken.failure),
            }
        }
    }

    /// A file that its directory lists as it was: nothing is asked.
    async fn recalled(&self) -> Result<Option<Response>, Failure> {
        let Some(latest) = self.latest.filter(|_| !self.is_directory()) else { return Ok(None) };
        match self.fetcher.listed.look_patiently(&self.lease.url).await {
            Entry::Listed(Some(stamp)) if stamp.is_of(latest) => Ok(Some(stamped(bare(304, FTP)?, Some(&stamp)))),
            _ => Ok(None),
        }
    }

    async fn open(&mut self, to: &Arc<Endpoint>, addr: Option<IpAddr>) -> Result<Session, BrokenOff> {
        let fetcher = self.fetcher;
        let login = fetcher.config.keyring.login(&self.address);
        let implicit = self.address.scheme() == "ftps";
        let is_lenient = !implicit && login.is_none() && fetcher.config.ftp_tls == FtpTls::Try;
        let opening = Opening {
            line: &fetcher.line,
            config: &fetcher.config,
            client: if is_lenient { &fetcher.lenient } else { &fetcher.client },
            to: Arc::clone(to),
            addr,
            implicit,
            login,
        };
        Session::open(opening, &mut self.timings).await
    }

    /// Asks for the page, and keeps the session for the next.
    async fn ask(&mut self, mut session: Session, pending: &mut Option<Listen<'a>>) -> Result<Response, BrokenOff> {
        session.talk.begin();
        let peer = session.talk.wire().peer();
        self.watch.sent(peer);
        let begun = Instant::now();
        let asked = match self.is_directory() {
            true => self.directory(&mut session, pending).await,
            false => self.file(&mut session).await,
        };
        self.timings.body = begun.elapsed();
        let mut response = asked?;
        let text = session.talk.take_record();
        response.kind = ResponseKind::Resource { conversation: Some(Conversation { mime: CONVERSATION, text }) };
        response.peer = peer;
        if session.is_sound() && self.fetcher.kept.park(session) {
            self.watch.kept(false);
        }
        Ok(response)
    }

    async fn directory(&self, session: &mut Session, pending: &mut Option<Listen<'a>>) -> Result<Response, BrokenOff> {
        let listing = session.list(&self.path, self.watch).await?;
        let Some(listed) = pending.take() else { return Ok(bare(404, FTP)?) };
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
                if self.lease.before.is_some() && self.look_up(session, &self.lease.url).await? == Entry::Lacking {
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
        if let (Some(latest), Some(stamp)) = (self.latest, &stamp)
            && stamp.is_of(latest)
        {
            return Ok(stamped(bare(304, FTP)?, Some(stamp)));
        }
        let mime = mime_of(self.address.path());
        if let Some(why) = self.unwanted(stamp.as_ref(), mime) {
            let response = stamped(answer(200, mime, Body::empty(), FTP)?, stamp.as_ref());
            return Ok(Response { truncated: Some(why), ..response });
        }
        match session.retrieve(&self.path, 0, self.watch).await? {
            Ok(received) => {
                let Received { body, truncated } = self.whole(session, received).await?;
                let response = stamped(answer(200, mime, body, FTP)?, stamp.as_ref());
                Ok(Response { truncated, ..response })
            }
            Err(reply) => self.refused(session, entry, &reply).await,
        }
    }

    /// What the directory of the file says of it. One that was there before must be looked for.
    async fn entry(&self, session: &mut Session) -> Result<Entry, BrokenOff> {
        if self.lease.purpose == Purpose::Robots {
            return Ok(Entry::Unlisted);
        }
        if self.lease.before.is_some() {
            return self.look_up(session, &self.lease.url).await;
        }
        Ok(self.fetcher.listed.look(&self.lease.url).await)
    }

    /// The entry for a URL; its directory is listed for that if it was not yet, and if that fails,
    /// the one above.
    async fn look_up(&self, session: &mut Session, url: &str) -> Result<Entry, BrokenOff> {
        let listed = &self.fetcher.listed;
        let entry = listed.look(url).await;
        let Some((directory, _)) = split(url) else { return Ok(Entry::Unlisted) };
        if entry != Entry::Unlisted || listed.has_failed(directory) || !listed.has_room() {
            return Ok(entry);
        }
        let Some(path) = path_of(directory) else { return Ok(Entry::Unlisted) };
        let Some(listing) = listed.begin_first(directory) else { return Ok(listed.look(url).await) };
        match session.list(&path, self.watch).await? {
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
            _ if self.lease.purpose == Purpose::Robots => return Ok(None),
            Entry::Lacking => return Ok(None),
            Entry::Listed(Some(stamp)) => stamp,
            Entry::Listed(None) | Entry::AsBefore | Entry::Unlisted => return session.stamp_of(&self.path).await,
        };
        if !stamp.is_local || stamp.is_settled(Moment::now()) && self.is_known_as(&stamp) || !session.tells_times() {
            return Ok(Some(stamp));
        }
        let exact = session.time_of(&self.path).await?;
        let exact = exact.map(|(modified, grain)| EntryStamp { modified, grain, is_local: false, ..stamp });
        Ok(Some(exact.unwrap_or(stamp)))
    }

    /// Whether the version that is known has a stamp of the same kind, to be compared with.
    fn is_known_as(&self, stamp: &EntryStamp) -> bool {
        let known = self.latest.and_then(|latest| EntryStamp::of_tag(latest.etag.as_deref()?));
        known.is_none_or(|known| known.is_local == stamp.is_local)
    }

    /// Why the file is not fetched, if it is not.
    fn unwanted(&self, stamp: Option<&EntryStamp>, mime: &str) -> Option<Truncation> {
        let config = &self.fetcher.config;
        if self.lease.purpose == Purpose::Page && !mime.ends_with("/unknown") && !config.accepts(mime) {
            return Some(Truncation::Unwanted);
        }
        stamp.and_then(|stamp| stamp.size).is_some_and(|size| size > config.max_size).then_some(Truncation::Length)
    }

    /// Goes on where a transfer broke off, once.
    async fn whole(&self, session: &mut Session, first: Received) -> Result<Received, BrokenOff> {
        let got = first.body.len();
        if first.truncated != Some(Truncation::Disconnect) || got == 0 || !session.goes_on() {
            return Ok(first);
        }
        match session.retrieve(&self.path, got, self.watch).await? {
            Ok(rest) => joined(&first.body, &rest, &self.fetcher.config).map_err(BrokenOff::from),
            Err(_) => Ok(first),
        }
    }

    /// What a server's refusal to send a file means.
    async fn refused(&self, session: &mut Session, entry: Entry, reply: &ServerReply) -> Result<Response, BrokenOff> {
        let is_final = reply.code >= 500;
        if is_final && self.lease.purpose == Purpose::Robots {
            return Ok(bare(404, FTP)?);
        }
        if reply.code == 550 && entry == Entry::Lacking {
            return Ok(bare(404, FTP)?);
        }
        // Whether a name without a slash is a directory is known only where it was listed as such.
        let is_open = matches!(entry, Entry::Unlisted | Entry::Listed(None));
        if is_final && is_open && session.is_directory(&self.path).await? {
            let mut response = bare(301, FTP)?;
            response.headers.push(b"Location", format!("{}/", self.address.as_str()).as_bytes());
            return Ok(response);
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

impl Fetch for FtpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.errand(lease, watch))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.kept.shut();
        Box::pin(ready(()))
    }
}

impl Drop for FtpFetcher {
    fn drop(&mut self) {
        self.kept.shut();
    }
}
