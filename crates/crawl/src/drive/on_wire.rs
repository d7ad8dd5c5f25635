//! What does the frontier learn of a request while it is under way?
//!
//! When it was sent, because politeness counts from there, and whether its connection was kept,
//! because the host's next page costs less then.

use crate::drive::clock::SteadyClock;
use orb_fetch::Watch;
use orb_frontier::{ConnectionEnd, Frontier};
use orb_page::HostId;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

const KEPT: u8 = 1;
const SHARED: u8 = 2;

/// The observer of one request.
pub(crate) struct OnWire<'a> {
    frontier: &'a Mutex<Frontier>,
    clock: SteadyClock,
    host: HostId,
    kept: AtomicU8,
    /// Whether other machines work on the same collection, so that permissions end.
    shared: bool,
    unsent: AtomicBool,
}

impl<'a> OnWire<'a> {
    pub(crate) fn new(frontier: &'a Mutex<Frontier>, clock: SteadyClock, host: HostId) -> Self {
        Self { frontier, clock, host, kept: AtomicU8::new(0), shared: false, unsent: AtomicBool::new(false) }
    }

    /// The same on one machine of several.
    pub(crate) fn shared(self, shared: bool) -> Self {
        Self { shared, ..self }
    }

    /// Whether the request was not sent, because the permission had ended.
    pub(crate) fn is_unsent(&self) -> bool {
        self.unsent.load(Ordering::Relaxed)
    }

    /// What has become of the connection, once the request has ended.
    pub(crate) fn connection(&self) -> ConnectionEnd {
        match self.kept.load(Ordering::Relaxed) {
            KEPT => ConnectionEnd::Kept,
            SHARED => ConnectionEnd::Shared,
            _ => ConnectionEnd::Closed,
        }
    }
}

impl Watch for OnWire<'_> {
    fn may_send(&self, peer: Option<SocketAddr>) -> bool {
        if !self.shared {
            return true;
        }
        let now = self.clock.now_rounded_up();
        let frontier = self.frontier.lock().unwrap_or_else(PoisonError::into_inner);
        let may = frontier.may_send(peer.map(|p| p.ip()), now);
        self.unsent.store(!may, Ordering::Relaxed);
        may
    }

    fn sent(&self, peer: Option<SocketAddr>) {
        let now = self.clock.now_rounded_up();
        let mut frontier = self.frontier.lock().unwrap_or_else(PoisonError::into_inner);
        frontier.sent(self.host, peer.map(|p| p.ip()), now);
    }

    fn kept(&self, shared: bool) {
        self.kept.store(if shared { SHARED } else { KEPT }, Ordering::Relaxed);
    }
}
