//! Who has which connection, and who waits for one?
//!
//! The pool's bookkeeping: no locks, waits or sockets of its own. What must be closed or dropped is
//! returned as [`Afterwards`].

use super::conn::Conn;
use super::h2::Multiplexed;
use super::pool::{Grant, Key, Pool, Slot, Want};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) hosts: HashMap<Arc<Key>, Host>,
    /// Idle connections by ticket, least recently used first.
    pub(super) parked: BTreeMap<u64, Parked>,
    /// Hosts with requests that wait for the global limit, in FIFO order.
    pub(super) starved: VecDeque<Arc<Key>>,
    pub(super) sockets: usize,
    pub(super) tickets: u64,
    pub(super) looked_after: bool,
    pub(super) shut: bool,
}

#[derive(Debug, Default)]
pub(super) struct Host {
    pub(super) sockets: usize,
    /// Tickets of its idle HTTP/1.1 connections, least recently used first.
    pub(super) parked: Vec<u64>,
    pub(super) waiting: VecDeque<Waiter>,
    /// Its HTTP/2 connection.
    pub(super) line: Option<Multiplexed>,
    /// Whether it is in the queue of starved hosts, which it enters once.
    starving: bool,
}

#[derive(Debug)]
pub(super) struct Parked {
    pub(super) key: Arc<Key>,
    /// `None` for the host's HTTP/2 connection, which stays where it is.
    pub(super) conn: Option<Box<Conn>>,
    pub(super) until: Instant,
}

#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) want: Want,
    pub(super) grant: oneshot::Sender<Grant>,
}

/// What must happen once the lock is released.
#[derive(Default)]
pub(super) struct Afterwards {
    pub(super) close: Vec<Conn>,
    pub(super) refused: Vec<Grant>,
    pub(super) hung_up: Vec<Multiplexed>,
}

impl Afterwards {
    pub(super) fn happen(self) {
        drop(self.refused);
        drop(self.hung_up);
        self.close.into_iter().for_each(Conn::close);
    }
}

impl Books {
    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// A reusable connection of this host.
    pub(super) fn reuse(
        &mut self,
        pool: &Arc<Pool>,
        key: &Arc<Key>,
        want: Want,
        after: &mut Afterwards,
    ) -> Option<Grant> {
        let host = self.hosts.get_mut(key)?;
        if let Some(line) = &mut host.line {
            if want.fresh || line.addr != want.addr {
                after.hung_up.extend(self.take_line(key));
            } else if line.streams < pool.per_host {
                let lane = line.lane(pool, key);
                line.streams += 1;
                self.unpark_line(key);
                return Some(Grant::Stream(lane));
            }
        }
        let host = self.hosts.get_mut(key)?;
        while let Some(ticket) = host.parked.pop() {
            let Some(mut conn) = self.parked.remove(&ticket).and_then(|p| p.conn) else { continue };
            if !want.fresh && conn.addr == want.addr && conn.stream.is_quiet() {
                return Some(Grant::Reuse(conn));
            }
            after.close.push(*conn);
        }
        None
    }

    pub(super) fn park(&mut self, key: Arc<Key>, conn: Option<Box<Conn>>, until: Instant) {
        let ticket = self.ticket();
        let Some(host) = self.hosts.get_mut(&key) else { return };
        match (&conn, &mut host.line) {
            (Some(_), _) => host.parked.push(ticket),
            (None, Some(line)) => line.parked = Some(ticket),
            (None, None) => return,
        }
        self.parked.insert(ticket, Parked { key, conn, until });
    }

    pub(super) fn unpark_line(&mut self, key: &Arc<Key>) {
        let ticket = self.hosts.get_mut(key).and_then(|h| h.line.as_mut()).and_then(|l| l.parked.take());
        if let Some(ticket) = ticket {
            self.parked.remove(&ticket);
        }
    }

    /// Removes a host's HTTP/2 connection.
    pub(super) fn take_line(&mut self, key: &Arc<Key>) -> Option<Multiplexed> {
        self.unpark_line(key);
        self.hosts.get_mut(key)?.line.take()
    }

    /// Closes one idle connection; `false` if there is none.
    pub(super) fn evict_oldest(&mut self, after: &mut Afterwards) -> bool {
        let Some((&ticket, _)) = self.parked.first_key_value() else { return false };
        self.evict(ticket, after);
        true
    }

    /// Closes connections that were idle for too long, or closed by the peer.
    pub(super) fn evict_stale(&mut self, after: &mut Afterwards) {
        let now = Instant::now();
        let is_stale = |p: &mut Parked| p.until <= now || p.conn.as_mut().is_some_and(|c| !c.stream.is_quiet());
        let stale: Vec<_> = self.parked.iter_mut().filter_map(|(&t, p)| is_stale(p).then_some(t)).collect();
        stale.into_iter().for_each(|ticket| self.evict(ticket, after));
    }

    pub(super) fn evict(&mut self, ticket: u64, after: &mut Afterwards) {
        let Some(parked) = self.parked.remove(&ticket) else { return };
        let Some(host) = self.hosts.get_mut(&parked.key) else { return };
        match parked.conn {
            Some(conn) => {
                host.parked.retain(|&t| t != ticket);
                after.close.push(*conn);
            }
            None => after.hung_up.extend(host.line.take_if(|l| l.parked == Some(ticket))),
        }
    }

    /// Adds a host with waiting requests to the queue.
    pub(super) fn starve(&mut self, key: &Arc<Key>) {
        let waits = |h: &&mut Host| !h.waiting.is_empty() && !h.starving;
        if let Some(host) = self.hosts.get_mut(key).filter(waits) {
            host.starving = true;
            self.starved.push_back(key.clone());
        }
    }

    /// Grants free capacity to those who wait.
    pub(super) fn serve(&mut self, pool: &Arc<Pool>, after: &mut Afterwards) {
        while self.sockets < pool.cap() {
            let Some(key) = self.starved.pop_front() else { return };
            let limit = pool.limit(&key);
            let Some(host) = self.hosts.get_mut(&key) else { continue };
            host.starving = false;
            // A host at its own limit is served when one of its sockets closes.
            if host.sockets >= limit || host.line.is_some() {
                continue;
            }
            let Some(waiter) = host.next_waiter() else {
                self.forget_unused(&key);
                continue;
            };
            host.sockets += 1;
            self.sockets += 1;
            self.starve(&key);
            let grant = Grant::Open(Slot { pool: pool.clone(), key });
            after.refused.extend(waiter.grant.send(grant).err());
        }
    }

    /// Whether to close a connection instead of keeping it. Those already closing make room for as
    /// many: if every returned connection were closed meanwhile, its own host would be the next to
    /// need one.
    pub(super) fn is_room_wanted(&mut self, pool: &Pool) -> bool {
        let closing = pool.closing.load(Ordering::Relaxed);
        self.shut || self.sockets > pool.cap() || (self.starved.len() > closing && self.is_anybody_starved(pool))
    }

    /// Whether somebody waits whom one socket less would help.
    pub(super) fn is_anybody_starved(&mut self, pool: &Pool) -> bool {
        while let Some(key) = self.starved.front() {
            let limit = pool.limit(key);
            let waits = |h: &Host| h.sockets < limit && h.waiting.iter().any(|w| !w.grant.is_closed());
            if self.hosts.get(key).is_some_and(waits) {
                return true;
            }
            if let Some(key) = self.starved.pop_front() {
                self.hosts.get_mut(&key).into_iter().for_each(|h| h.starving = false);
                self.forget_unused(&key);
            }
        }
        false
    }

    /// Removes a host that nobody uses.
    pub(super) fn forget_unused(&mut self, key: &Arc<Key>) {
        let Some(host) = self.hosts.get_mut(key) else { return };
        host.waiting.retain(|w| !w.grant.is_closed());
        if host.sockets == 0 && host.waiting.is_empty() && host.line.is_none() && !host.starving {
            self.hosts.remove(key);
        }
    }
}

impl Host {
    pub(super) fn next_waiter(&mut self) -> Option<Waiter> {
        while let Some(waiter) = self.waiting.pop_front() {
            if !waiter.grant.is_closed() {
                return Some(waiter);
            }
        }
        None
    }

    /// Grants free streams of the HTTP/2 connection to those who wait.
    pub(super) fn feed_line(&mut self, pool: &Arc<Pool>, key: &Arc<Key>, after: &mut Afterwards) {
        while self.line.as_ref().is_some_and(|l| l.streams < pool.per_host) {
            let Some(waiter) = self.next_waiter() else { return };
            let Some(line) = &mut self.line else { return };
            line.streams += 1;
            after.refused.extend(waiter.grant.send(Grant::Stream(line.lane(pool, key))).err());
        }
    }
}
