//! Who has which connection, and who waits for one?
//!
//! The pool's bookkeeping: no locks, waits or sockets of its own. What must be closed or dropped is
//! returned as [`Afterwards`].

use super::conn::Conn;
use super::h2::Multiplexed;
use super::pool::{Grant, Key, Offer, Pool, Want};
use crate::line::{AwaitPermit, Permit};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) hosts: HashMap<Arc<Key>, HostPool>,
    /// Idle connections by ticket, least recently used first.
    pub(super) parked: BTreeMap<u64, ParkedConnection>,
    pub(super) tickets: u64,
    pub(super) looked_after: bool,
    pub(super) shut: bool,
}

#[derive(Debug, Default)]
pub(super) struct HostPool {
    /// Number of its connections, idle ones included.
    pub(super) open: usize,
    /// Tickets of its idle HTTP/1.1 connections, least recently used first.
    pub(super) parked: Vec<u64>,
    pub(super) waiting: VecDeque<Arc<Waiter>>,
    /// Its HTTP/2 connection.
    pub(super) line: Option<Multiplexed>,
    /// Whether it is known to speak HTTP/1.1.
    pub(super) http1: bool,
    /// Whether somebody is finding out what it speaks.
    pub(super) led: bool,
}

#[derive(Debug)]
pub(super) struct ParkedConnection {
    pub(super) key: Arc<Key>,
    /// `None` for the host's HTTP/2 connection, which stays where it is.
    pub(super) conn: Option<Box<Conn>>,
    pub(super) until: Instant,
}

/// A request that waits, in the pool and perhaps on the line: the side that has something for it
/// first takes the channel.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) want: Want,
    offer: Mutex<Option<oneshot::Sender<Offer>>>,
}

impl Waiter {
    pub(super) fn new(want: Want) -> (Arc<Self>, oneshot::Receiver<Offer>) {
        let (offer, offered) = oneshot::channel();
        (Arc::new(Self { want, offer: Mutex::new(Some(offer)) }), offered)
    }

    /// Offers it something, which comes back if it does not wait any more.
    fn offer(&self, offer: Offer) -> Result<(), Offer> {
        match self.channel().take() {
            Some(channel) => channel.send(offer),
            None => Err(offer),
        }
    }

    fn channel(&self) -> MutexGuard<'_, Option<oneshot::Sender<Offer>>> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AwaitPermit for Waiter {
    fn is_waiting(&self) -> bool {
        self.channel().as_ref().is_some_and(|channel| !channel.is_closed())
    }

    fn grant(&self, permit: Permit) -> Result<(), Permit> {
        match self.offer(Offer::Room(permit)) {
            Err(Offer::Room(permit)) => Err(permit),
            _ => Ok(()),
        }
    }
}

/// What must happen once the lock is released.
#[derive(Default)]
pub(super) struct Afterwards {
    pub(super) close: Vec<Conn>,
    pub(super) refused: Vec<Offer>,
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
            } else if line.streams < pool.rules.streams {
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
        self.parked.insert(ticket, ParkedConnection { key, conn, until });
    }

    pub(super) fn unpark_line(&mut self, key: &Arc<Key>) {
        let ticket = self.hosts.get_mut(key).and_then(|h| h.line.as_mut()).and_then(|l| l.parked.take());
        if let Some(ticket) = ticket {
            self.parked.remove(&ticket);
        }
    }

    /// Removes a host's HTTP/2 connection. Those who wait for streams of it need another.
    pub(super) fn take_line(&mut self, key: &Arc<Key>) -> Option<Multiplexed> {
        self.unpark_line(key);
        let host = self.hosts.get_mut(key)?;
        host.turn_away();
        host.line.take()
    }

    /// Closes one idle connection; `false` if there is none.
    pub(super) fn evict_oldest(&mut self, after: &mut Afterwards) -> bool {
        let Some((&ticket, _)) = self.parked.first_key_value() else { return false };
        self.evict(ticket, after);
        true
    }

    /// Closes one idle connection of this host; `false` if there is none.
    pub(super) fn evict_of(&mut self, key: &Key, after: &mut Afterwards) -> bool {
        let Some(host) = self.hosts.get(key) else { return false };
        let idle = host.parked.first().copied();
        let Some(ticket) = idle.or_else(|| host.line.as_ref()?.parked) else { return false };
        self.evict(ticket, after);
        true
    }

    /// Closes connections that were idle for too long, or closed by the peer.
    pub(super) fn evict_stale(&mut self, after: &mut Afterwards) {
        let now = Instant::now();
        let is_stale =
            |p: &mut ParkedConnection| p.until <= now || p.conn.as_mut().is_some_and(|c| !c.stream.is_quiet());
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

    /// Removes a host that nobody uses.
    pub(super) fn forget_unused(&mut self, key: &Arc<Key>) {
        let Some(host) = self.hosts.get_mut(key) else { return };
        host.waiting.retain(|waiter| waiter.is_waiting());
        if host.open == 0 && host.waiting.is_empty() && host.line.is_none() && !host.led {
            self.hosts.remove(key);
        }
    }
}

impl HostPool {
    fn next_waiter(&mut self) -> Option<Arc<Waiter>> {
        while let Some(waiter) = self.waiting.pop_front() {
            if waiter.is_waiting() {
                return Some(waiter);
            }
        }
        None
    }

    /// Gives a connection to the first who waits; it comes back if nobody does, or if the first
    /// wants another.
    pub(super) fn hand_over(&mut self, mut conn: Box<Conn>) -> Option<Box<Conn>> {
        while let Some(waiter) = self.next_waiter() {
            if waiter.want.fresh || waiter.want.addr != conn.addr {
                self.waiting.push_front(waiter);
                break;
            }
            match waiter.offer(Offer::Reuse(conn)) {
                Err(Offer::Reuse(back)) => conn = back,
                _ => return None,
            }
        }
        Some(conn)
    }

    /// Makes everybody who waits ask again.
    pub(super) fn turn_away(&mut self) {
        self.waiting.drain(..).for_each(|waiter| drop(waiter.channel().take()));
    }

    /// Grants free streams of the HTTP/2 connection to those who wait.
    pub(super) fn feed_line(&mut self, pool: &Arc<Pool>, key: &Arc<Key>, after: &mut Afterwards) {
        while self.line.as_ref().is_some_and(|l| l.streams < pool.rules.streams) {
            let Some(waiter) = self.next_waiter() else { return };
            let Some(line) = &mut self.line else { return };
            line.streams += 1;
            after.refused.extend(waiter.offer(Offer::Stream(line.lane(pool, key))).err());
        }
    }
}
