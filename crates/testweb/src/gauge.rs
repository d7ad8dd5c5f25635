//! How many requests were there, and how many connections were open at once?
//!
//! Counters are exact and cheap. The high-water marks are exact too: a client may close one
//! connection and open the next before the server has noticed the first. So whenever a mark would
//! rise, the kernel is asked which connections the peer has already closed, and those do not count.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// The counters of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Requests read completely.
    pub requests: u64,
    /// Responses by status; 0 means none.
    pub by_status: BTreeMap<u16, u64>,
    /// Bytes of responses, headers included, as far as they were handed to the kernel.
    pub bytes: u64,
    /// Accepted connections.
    pub connections: u64,
    /// Currently open connections.
    pub open: u64,
    /// Full TLS handshakes, with certificate verification.
    pub full_handshakes: u64,
    /// TLS handshakes that resumed a session.
    pub resumed_handshakes: u64,
    /// Maximum connections open at once.
    pub max_open: u64,
    /// The same per host, by its name as requested.
    pub max_open_by_host: BTreeMap<String, u64>,
    /// The same per local address.
    pub max_open_by_local_ip: BTreeMap<IpAddr, u64>,
}

const STATUSES: usize = 1_000;

/// The counters' live state.
#[derive(Debug)]
pub(crate) struct Gauge {
    requests: AtomicU64,
    bytes: AtomicU64,
    full_handshakes: AtomicU64,
    resumed_handshakes: AtomicU64,
    by_status: Vec<AtomicU64>,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    accepted: u64,
    open: HashMap<u64, OpenSocket>,
    max: u64,
    max_by_host: BTreeMap<String, u64>,
    max_by_ip: BTreeMap<IpAddr, u64>,
}

#[derive(Debug)]
struct OpenSocket {
    socket: Arc<TcpStream>,
    local: IpAddr,
    host: String,
}

impl Connections {
    /// How many of the `chosen` connections count: if all of them would raise the mark, only those
    /// that the peer has not closed.
    fn counted(&self, mark: u64, chosen: impl Fn(&OpenSocket) -> bool) -> u64 {
        let all = self.open.values().filter(|open| chosen(open)).count() as u64;
        if all <= mark {
            return all;
        }
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let fds = self.open.values().filter(|open| chosen(open));
        let mut polled: Vec<_> = fds.map(|open| PollFd::new(&*open.socket, PollFlags::RDHUP)).collect();
        // If the kernel does not answer, nothing is flagged and all of them count.
        let _ = poll(&mut polled, Some(&Timespec::default()));
        polled.iter().filter(|fd| !fd.revents().intersects(gone)).count() as u64
    }
}

impl Gauge {
    pub(crate) fn new() -> Self {
        let by_status = (0..STATUSES).map(|_| AtomicU64::new(0)).collect();
        let [requests, bytes, full_handshakes, resumed_handshakes] = [const { AtomicU64::new(0) }; 4];
        Self { requests, bytes, full_handshakes, resumed_handshakes, by_status, connections: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection and returns its number, from 1.
    pub(crate) fn opened(&self, socket: &Arc<TcpStream>, local: IpAddr) -> u64 {
        let mut connections = self.lock();
        connections.accepted += 1;
        let id = connections.accepted;
        connections.open.insert(id, OpenSocket { socket: Arc::clone(socket), local, host: String::new() });
        connections.max = connections.max.max(connections.counted(connections.max, |_| true));
        let mark = connections.max_by_ip.get(&local).copied().unwrap_or(0);
        let count = connections.counted(mark, |open| open.local == local);
        connections.max_by_ip.insert(local, mark.max(count));
        id
    }

    /// Records which host a connection is now used for.
    pub(crate) fn used(&self, id: u64, host: &str) {
        let mut connections = self.lock();
        if let Some(open) = connections.open.get_mut(&id) {
            host.clone_into(&mut open.host);
        }
        let mark = connections.max_by_host.get(host).copied().unwrap_or(0);
        let count = connections.counted(mark, |open| open.host == host);
        connections.max_by_host.insert(host.to_owned(), mark.max(count));
    }

    /// Removes a connection.
    pub(crate) fn closed(&self, id: u64) {
        self.lock().open.remove(&id);
    }

    /// Count a request.
    pub(crate) fn asked(&self, status: u16) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = self.by_status.get(usize::from(status)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Count bytes.
    pub(crate) fn sent(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a handshake.
    pub(crate) fn shaken(&self, resumed: bool) {
        let count = if resumed { &self.resumed_handshakes } else { &self.full_handshakes };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Resets the counters, keeping the open connections.
    pub(crate) fn reset(&self) {
        let totals = [&self.requests, &self.bytes, &self.full_handshakes, &self.resumed_handshakes];
        for count in totals.into_iter().chain(&self.by_status) {
            count.store(0, Ordering::Relaxed);
        }
        let mut connections = self.lock();
        connections.max = connections.counted(0, |_| true);
        connections.max_by_host.clear();
        connections.max_by_ip.clear();
    }

    /// A snapshot of all counters.
    pub(crate) fn counters(&self) -> ServerCounters {
        let connections = self.lock();
        let statuses = self.by_status.iter().map(|count| count.load(Ordering::Relaxed));
        ServerCounters {
            requests: self.requests.load(Ordering::Relaxed),
            by_status: (0_u16..).zip(statuses).filter(|(_, count)| *count > 0).collect(),
            bytes: self.bytes.load(Ordering::Relaxed),
            connections: connections.accepted,
            open: connections.counted(0, |_| true),
            full_handshakes: self.full_handshakes.load(Ordering::Relaxed),
            resumed_handshakes: self.resumed_handshakes.load(Ordering::Relaxed),
            max_open: connections.max,
            max_open_by_host: connections.max_by_host.clone(),
            max_open_by_local_ip: connections.max_by_ip.clone(),
        }
    }
}
