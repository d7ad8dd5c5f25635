//! Which hosts have a connection that is open and idle?
//!
//! The sockets belong to the fetchers, and asking them before every lease would cost more than it
//! gives. The frontier keeps books of its own instead: a lease to a host without an idle connection
//! opens one, [`FetchEnd`](crate::FetchEnd) says whether it was kept, and where as many are open as
//! there may be, the one that has been idle longest makes room, as it does in the pool. What is
//! wrong in the books (a server hung up) is put right by the next answer, and costs one connection.

use crate::frontier::Frontier;
use crate::site::WorkbenchHost;
use orb_page::{HostId, Moment};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long an idle connection counts: servers and the pool close it after about as long.
const KEPT: Duration = Duration::from_secs(15);

/// What has become of the connection of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// It is closed.
    #[default]
    Closed,
    /// It can carry another request.
    Kept,
    /// It can carry more requests, several at once (HTTP/2).
    Shared,
}

/// The connections of all hosts, as far as the frontier can tell.
#[derive(Debug)]
pub(crate) struct Warmth {
    /// How many may be open.
    most: usize,
    open: usize,
    /// Hosts with an idle connection, by the moment it became idle.
    idle: BTreeSet<(Moment, HostId)>,
}

impl Default for Warmth {
    fn default() -> Self {
        Self { most: usize::MAX, open: 0, idle: BTreeSet::new() }
    }
}

/// The connections of one host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostConnections {
    pub(crate) in_flight: usize,
    /// Idle connections.
    free: usize,
    /// When the last of them became idle.
    since: Moment,
    /// Whether one connection carries all requests.
    shared: bool,
}

impl HostConnections {
    /// Whether one of them is idle, or can carry one more request.
    pub(crate) fn is_warm(self) -> bool {
        self.free > 0 || (self.shared && self.in_flight > 0)
    }

    fn open(self) -> usize {
        if self.shared { usize::from(self.in_flight + self.free > 0) } else { self.in_flight + self.free }
    }

    fn take_off(&mut self) {
        self.in_flight += 1;
        self.free = if self.shared { 0 } else { self.free.saturating_sub(1) };
    }

    fn land(&mut self, end: ConnectionEnd, now: Moment) {
        self.in_flight -= 1;
        match end {
            ConnectionEnd::Closed => self.shared &= self.in_flight > 0,
            ConnectionEnd::Kept => (self.free, self.shared) = (self.free + 1, false),
            ConnectionEnd::Shared => (self.free, self.shared) = (usize::from(self.in_flight == 0), true),
        }
        if end != ConnectionEnd::Closed {
            self.since = now;
        }
    }
}

impl Frontier {
    /// How many connections may be open from now on, so that it is known which have made room.
    pub fn allow_connections(&mut self, most: usize) {
        self.warmth.most = most.max(1);
    }

    /// Whether new connections can wait, because what was fetched already keeps everybody busy.
    pub fn spare_connections(&mut self, sparing: bool) {
        self.bench.sparing = sparing;
    }

    /// A request is granted to a host: on an idle connection if there is one, otherwise on a new
    /// one, for which another host's may have to make room.
    pub(crate) fn takes_off(&mut self, site: &mut WorkbenchHost, now: Moment) {
        self.change(site, HostConnections::take_off);
        while self.warmth.open > self.warmth.most && self.cool_first(now) {}
    }

    /// A request has finished.
    pub(crate) fn lands(&mut self, site: &mut WorkbenchHost, end: ConnectionEnd, now: Moment) {
        self.change(site, |connections| connections.land(end, now));
    }

    /// A host leaves memory, and what is known about its connections with it.
    pub(crate) fn forget_connections(&mut self, site: &mut WorkbenchHost) {
        self.change(site, |connections| *connections = HostConnections::default());
    }

    /// Connections that have been idle for too long are closed.
    pub(crate) fn cool(&mut self, now: Moment) {
        while self.warmth.idle.first().is_some_and(|(since, _)| since.plus(KEPT) <= now) && self.cool_first(now) {}
    }

    fn change(&mut self, site: &mut WorkbenchHost, how: impl FnOnce(&mut HostConnections)) {
        let before = site.connections;
        how(&mut site.connections);
        let after = site.connections;
        self.warmth.open = (self.warmth.open + after.open()).saturating_sub(before.open());
        if before.free > 0 {
            self.warmth.idle.remove(&(before.since, site.id));
        }
        if after.free > 0 {
            self.warmth.idle.insert((after.since, site.id));
        }
    }

    /// Closes the connection that has been idle longest; `false` if there is none.
    fn cool_first(&mut self, now: Moment) -> bool {
        let Some((_, host)) = self.warmth.idle.pop_first() else { return false };
        // The host that is being served right now is in nobody's books.
        if let Some(mut site) = self.take_if(host, |site| site.connections.free > 0) {
            self.change(&mut site, |connections| connections.free -= 1);
            self.put(site, now);
        }
        true
    }
}
