//! How is a page asked for in a session that may have been used before?
//!
//! A session is a conversation with a server that knows us: FTP, NNTP and SFTP log in first and
//! then answer for one page after another. [`SessionPool::fetch`] takes a kept session or opens
//! one, has the page asked for in it, and keeps it for the next.

mod kept;
mod path;

pub(crate) use kept::KeptSessions;
pub(crate) use path::PathCall;

use crate::line::Endpoint;
use crate::listed::Listed;
use crate::names::{bare, outcome};
use crate::protocol::check_permission;
use crate::{BoxFuture, FetchConfig, Line, Watch};
use orb_page::{Conversation, Failure, Lease, Moment, Outcome, PageHistory, Response, ResponseKind, Timings, Version};
use orb_urls::Address;
use std::collections::HashMap;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Where a session leads.
#[derive(Clone, Debug)]
pub(crate) struct SessionPlace {
    pub(crate) to: Arc<Endpoint>,
    /// The address it is opened at, which has passed the guard; `None` where a proxy finds it.
    pub(crate) addr: Option<IpAddr>,
}

impl SessionPlace {
    /// Whether a session here will do for a page there.
    fn is_at(&self, wanted: &Self) -> bool {
        self.to == wanted.to && (wanted.addr.is_none() || self.addr == wanted.addr)
    }
}

/// A session that can be kept.
pub(crate) trait KeepSession: Debug + Send + 'static {
    /// Where it leads.
    fn place(&self) -> &SessionPlace;

    /// The server's address; `None` where a proxy hides it.
    fn peer(&self) -> Option<SocketAddr>;

    /// The next page is asked for from here on.
    fn begin(&mut self);

    /// What was said since the last page.
    fn conversation(&mut self) -> Conversation;

    /// Whether the last page was asked for to the end, so that the conversation can go on.
    fn is_sound(&self) -> bool;

    /// Whether it is still open, and nothing is left to be heard in it.
    fn is_usable(&mut self) -> bool;

    /// Ends it in order, in the background.
    fn farewell(self);
}

/// A conversation that broke off.
#[derive(Debug)]
pub(crate) struct BrokenOff {
    pub(crate) failure: Failure,
    /// Whether the connection ended without a word, as one does that was idle for too long.
    pub(crate) silent: bool,
    /// Whether the server does not let us in, so that asking again would do harm: it may lock the
    /// account.
    pub(crate) is_refused: bool,
}

impl BrokenOff {
    /// A server that does not let us in.
    pub(crate) const fn refused(failure: Failure) -> Self {
        Self { failure, silent: false, is_refused: true }
    }
}

impl From<Failure> for BrokenOff {
    fn from(failure: Failure) -> Self {
        Self { failure, silent: false, is_refused: false }
    }
}

/// What is asked for, whatever the protocol.
pub(crate) struct SessionCall<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) address: Address,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) timings: Timings,
}

impl<'a> SessionCall<'a> {
    pub(crate) fn new(lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let address = Address::from_canonical(lease.request_url());
        let address = address.map_err(|why| crate::names::hopeless(why.to_string()))?;
        Ok(Self { lease, address, watch, timings: Timings::default() })
    }

    /// The version that is known of a page that was there, unless another is wanted in any case.
    pub(crate) fn latest(&self) -> Option<&'a Version> {
        let known = |before: &'a Arc<PageHistory>| before.latest.as_ref().filter(|_| before.there);
        self.lease.before.as_ref().and_then(known).filter(|_| !self.lease.again)
    }

    /// The answer that what is asked for is a directory, whose URL ends in a slash.
    pub(crate) fn elsewhere(&self, protocol: &'static str) -> Result<Response, Failure> {
        let mut response = bare(301, protocol)?;
        response.headers.push(b"Location", format!("{}/", self.address.as_str()).as_bytes());
        Ok(response)
    }
}

/// A page being asked for: what a protocol does with a session.
pub(crate) trait Converse<S>: Send {
    fn call(&self) -> &SessionCall<'_>;

    fn timings(&mut self) -> &mut Timings;

    /// The answer if it is known without a session.
    fn recalled(&self) -> BoxFuture<'_, Result<Option<Response>, Failure>>;

    /// Opens a session.
    fn open(&mut self, place: SessionPlace) -> BoxFuture<'_, Result<S, BrokenOff>>;

    /// Asks for the page in it.
    fn ask<'s>(&'s mut self, session: &'s mut S) -> BoxFuture<'s, Result<Response, BrokenOff>>;
}

/// What a protocol with sessions works with.
pub(crate) struct SessionPool<S: KeepSession> {
    pub(crate) line: Arc<Line>,
    pub(crate) config: Arc<FetchConfig>,
    pub(crate) listed: Listed,
    kept: Arc<KeptSessions<S>>,
    /// The servers that do not let us in.
    closed: Mutex<HashMap<Arc<Endpoint>, Failure>>,
}

impl<S: KeepSession> SessionPool<S> {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Self {
        let kept = KeptSessions::new(line.sockets(), config.keep_alive);
        Self { line, config, listed: Listed::default(), kept, closed: Mutex::default() }
    }

    /// Asks for a page, unless it cannot be asked for.
    pub(crate) async fn fetch(&self, errand: Result<impl Converse<S>, Failure>) -> Outcome {
        let at = Moment::now();
        match errand {
            Ok(mut errand) => {
                let result = match errand.recalled().await {
                    Ok(None) => self.converse(&mut errand).await,
                    Ok(Some(known)) => Ok(known),
                    Err(failure) => Err(failure),
                };
                outcome(at, std::mem::take(errand.timings()), result)
            }
            Err(failure) => outcome(at, Timings::default(), Err(failure)),
        }
    }

    /// Asks for a page in a session that was kept, or in a new one.
    async fn converse(&self, errand: &mut dyn Converse<S>) -> Result<Response, Failure> {
        let place = self.place(errand).await?;
        loop {
            let kept = self.kept.take(&place);
            let used_before = kept.is_some();
            let session = match kept {
                Some(session) => Ok(session),
                None => self.open(errand, &place).await,
            };
            let asked = match session {
                Ok(session) => self.ask(errand, session).await,
                Err(broken) => Err(broken),
            };
            match asked {
                // The server closed an idle session just as we used it.
                Err(broken) if broken.silent && used_before => {}
                result => return result.map_err(|broken| broken.failure),
            }
        }
    }

    /// Opens a session, unless the server has refused us before.
    async fn open(&self, errand: &mut dyn Converse<S>, place: &SessionPlace) -> Result<S, BrokenOff> {
        let closed = || self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = closed().get(&place.to) {
            return Err(failure.clone().into());
        }
        let opened = errand.open(place.clone()).await;
        if let Err(broken) = &opened
            && broken.is_refused
        {
            closed().insert(Arc::clone(&place.to), broken.failure.clone());
        }
        opened
    }

    async fn place(&self, errand: &mut dyn Converse<S>) -> Result<SessionPlace, Failure> {
        let SessionCall { address, lease, .. } = errand.call();
        let (to, pinned) =
            (Endpoint { host: address.host().into(), port: address.port(), any_host: false }, lease.addr);
        let addr = self.line.address(&to.host, to.port, pinned, errand.timings()).await?;
        Ok(SessionPlace { to: Arc::new(to), addr })
    }

    async fn ask(&self, errand: &mut dyn Converse<S>, mut session: S) -> Result<Response, BrokenOff> {
        session.begin();
        let peer = session.peer();
        check_permission(errand.call().watch, peer)?;
        errand.call().watch.sent(peer);
        let begun = Instant::now();
        let asked = errand.ask(&mut session).await;
        errand.timings().body = begun.elapsed();
        let mut response = asked?;
        response.kind = ResponseKind::Resource { conversation: Some(session.conversation()) };
        response.peer = peer;
        if session.is_sound() && self.kept.park(session) {
            errand.call().watch.kept(false);
        }
        Ok(response)
    }

    /// Ends the sessions that are kept.
    pub(crate) fn shut(&self) {
        self.kept.shut();
    }
}

impl<S: KeepSession> Drop for SessionPool<S> {
    fn drop(&mut self) {
        self.shut();
    }
}
