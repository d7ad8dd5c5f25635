//! Who has which connection, and who waits for one?
//!
//! The books of the pool: plain bookkeeping without locks, waits or sockets of its own. What must be closed or dropped
//! is handed back as [`Afterwards`].

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
    /// Connections not in use by ticket, the longest unused first.
    pub(super) parked: BTreeMap<u64, Parked>,
    /// Hosts with somebody waiting for room under the global cap, first come first served.
    pub(super) starved: VecDeque<Arc<Key>>,
    pub(super) sockets: usize,
    pub(super) tickets: u64,
    pub(super) looked_after: bool,
    pub(super) shut: bool,
}

#[derive(Debug, Default)]
pub(super) struct Host {
    pub(super) sockets: usize,
    /// Tickets of its parked HTTP/1.1 connections, the longest unused first.
    pub(super) parked: Vec<u64>,
    pub(super) waiting: VecDeque<Waiter>,
    /// Its HTTP/2 connection.
    pub(super) line: Option<Multiplexed>,
    /// Whether it stands in the line of the starved, where it stands once.
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

    /// A connection of this host that can be used again.
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

    /// Takes a host's HTTP/2 connection off the books.
    pub(super) fn take_line(&mut self, key: &Arc<Key>) -> Option<Multiplexed> {
        self.unpark_line(key);
        self.hosts.get_mut(key)?.line.take()
    }

    /// Closes one parked connection; `false` where there is none.
    pub(super) fn evict_oldest(&mut self, after: &mut Afterwards) -> bool {
        let Some((&ticket, _)) = self.parked.first_key_value() else { return false };
        self.evict(ticket, after);
        true
    }

    /// Closes what has been unused for too long, or was closed by the other side.
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

    /// Puts a host with somebody waiting into the line for room.
    pub(super) fn starve(&mut self, key: &Arc<Key>) {
        let waits = |h: &&mut Host| !h.waiting.is_empty() && !h.starving;
        if let Some(host) = self.hosts.get_mut(key).filter(waits) {
            host.starving = true;
            self.starved.push_back(key.clone());
        }
    }

    /// Gives free room to those who wait for it.
    pub(super) fn serve(&mut self, pool: &Arc<Pool>, after: &mut Afterwards) {
        while self.sockets < pool.cap() {
            let Some(key) = self.starved.pop_front() else { return };
            let limit = pool.limit(&key);
            let Some(host) = self.hosts.get_mut(&key) else { continue };
            host.starving = false;
            // Who is held up by its host's cap comes back when one of the host's sockets closes.
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

    /// Whether a connection is rather closed than kept. Those that are closing already make room for as many: if every connection that
    /// comes back were closed meanwhile, its own host would be the next to want room.
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

    /// Strikes a host off that nobody has a use for.
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

    /// Gives free streams of the HTTP/2 connection to those who wait.
    pub(super) fn feed_line(&mut self, pool: &Arc<Pool>, key: &Arc<Key>, after: &mut Afterwards) {
        while self.line.as_ref().is_some_and(|l| l.streams < pool.per_host) {
            let Some(waiter) = self.next_waiter() else { return };
            let Some(line) = &mut self.line else { return };
            line.streams += 1;
            after.refused.extend(waiter.grant.send(Grant::Stream(line.lane(pool, key))).err());
        }
    }
}
