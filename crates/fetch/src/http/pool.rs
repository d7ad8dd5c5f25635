//! Which connection carries the next request?
//!
//! One that is idle, or a stream of the host's HTTP/2 connection, or else a new one. The line says
//! whether there may be one more socket: a request that gets no [`Permit`] at once waits for the
//! first of a permit and a connection that is returned. When the line is full the pool gives back
//! the connection that has been idle longest ([`KeepIdle`]).
//!
//! As long as nobody knows whether a host speaks HTTP/2, one request leads ([`Lead`]) and the
//! others wait for what it negotiates: with HTTP/2 its connection carries them all.
//!
//! One lock guards the bookkeeping. Nothing is dropped under it that would take it again: what is
//! to be closed, or was granted to a cancelled request, is moved out first.

use super::books::{Afterwards, Books, HostPool, Waiter};
use super::conn::Conn;
use super::h2::{Lane, Multiplexed};
use crate::line::{AwaitPermit, Endpoint, KeepIdle, OpenSockets, Permit};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How often idle connections are checked.
const ROUND: Duration = Duration::from_secs(1);

/// Which connections may carry a request: those of one server, or of the proxy that carries all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tls: bool,
    pub(crate) to: Arc<Endpoint>,
}

/// All connections of a fetcher.
#[derive(Debug)]
pub(crate) struct Pool {
    books: Mutex<Books>,
    sockets: Arc<OpenSockets>,
    pub(super) rules: PoolRules,
}

/// How connections are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolRules {
    /// Maximum streams on the HTTP/2 connection of a host.
    pub(crate) streams: usize,
    /// How long an idle connection is kept.
    pub(crate) keep_alive: Duration,
    /// Whether HTTP/2 is offered.
    pub(crate) http2: bool,
}

/// Which connection is suitable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    /// To this address.
    pub(super) addr: Option<IpAddr>,
    /// Not a reused one.
    pub(super) fresh: bool,
}

/// Permission to make a request.
#[derive(Debug)]
pub(super) enum Grant {
    /// On a reused connection.
    Reuse(Box<Conn>),
    /// On a stream of an HTTP/2 connection.
    Stream(Lane),
    /// On a connection yet to be opened.
    Open(Slot),
}

/// What somebody who waits is offered.
#[derive(Debug)]
pub(super) enum Offer {
    Reuse(Box<Conn>),
    Stream(Lane),
    Room(Permit),
}

/// The place of a connection in the pool, given up on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) pool: Arc<Pool>,
    pub(super) key: Arc<Key>,
    /// Whether others wait for what is negotiated on it.
    lead: Option<Lead>,
    pub(super) permit: Permit,
}

impl Slot {
    /// The host has chosen HTTP/1.1: everybody else opens connections of their own.
    pub(super) fn speaks_http1(&mut self) {
        if self.lead.is_some() {
            self.pool.lock().hosts.entry(Arc::clone(&self.key)).or_default().http1 = true;
        }
        self.lead = None;
    }

    /// What ends once others know what was negotiated.
    pub(super) fn take_lead(&mut self) -> Option<Lead> {
        self.lead.take()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.vacate(&self.key);
    }
}

/// The right to be the first to connect to a host. Those who wait for it ask again when it is
/// dropped.
#[derive(Debug)]
pub(super) struct Lead {
    pool: Arc<Pool>,
    key: Arc<Key>,
}

impl Drop for Lead {
    fn drop(&mut self) {
        let mut books = self.pool.lock();
        if let Some(host) = books.hosts.get_mut(&self.key) {
            host.led = false;
            host.turn_away();
        }
        books.forget_unused(&self.key);
    }
}

/// ConnectionWait for a connection.
struct ConnectionWait {
    offered: oneshot::Receiver<Offer>,
    lead: Option<Lead>,
    /// Who waits for a permit as well.
    waiter: Option<Arc<Waiter>>,
}

impl Pool {
    /// A pool whose sockets count on this line.
    pub(crate) fn new(sockets: &Arc<OpenSockets>, rules: PoolRules) -> Arc<Self> {
        let pool = Arc::new(Self { books: Mutex::default(), sockets: Arc::clone(sockets), rules });
        let keeper: Arc<dyn KeepIdle> = pool.clone();
        sockets.kept_by(Arc::downgrade(&keeper));
        pool
    }

    /// A connection, or permission to open one, as soon as the limits allow.
    pub(super) async fn acquire(self: &Arc<Self>, key: &Arc<Key>, want: Want) -> Grant {
        loop {
            let mut after = Afterwards::default();
            let taken = self.take(&mut self.lock(), key, want, &mut after);
            after.happen();
            let ConnectionWait { offered, lead, waiter } = match taken {
                Ok(grant) => return grant,
                Err(waiting) => waiting,
            };
            if let Some(waiter) = waiter {
                self.sockets.wait(&key.to, waiter);
            }
            match offered.await {
                Ok(Offer::Reuse(conn)) => return Grant::Reuse(conn),
                Ok(Offer::Stream(lane)) => return Grant::Stream(lane),
                Ok(Offer::Room(permit)) => {
                    if let Some(slot) = self.occupy(key, permit, lead) {
                        return Grant::Open(slot);
                    }
                }
                // Turned away: something has changed, so ask again.
                Err(_) => (),
            }
        }
    }

    /// A grant at once, or the channel on which an offer will arrive.
    fn take(
        self: &Arc<Self>,
        books: &mut Books,
        key: &Arc<Key>,
        want: Want,
        after: &mut Afterwards,
    ) -> Result<Grant, ConnectionWait> {
        if !books.hosts.contains_key(key) {
            books.hosts.insert(Arc::clone(key), HostPool::default());
        }
        if let Some(grant) = books.reuse(self, key, want, after) {
            return Ok(grant);
        }
        let host = books.hosts.entry(Arc::clone(key)).or_default();
        let (waiter, offered) = Waiter::new(want);
        if host.line.is_some() || host.led {
            host.waiting.push_back(waiter);
            return Err(ConnectionWait { offered, lead: None, waiter: None });
        }
        host.led = key.tls && self.rules.http2 && !host.http1;
        let lead = host.led.then(|| Lead { pool: Arc::clone(self), key: Arc::clone(key) });
        if let Some(permit) = self.sockets.try_permit(&key.to) {
            host.open += 1;
            return Ok(Grant::Open(Slot { pool: Arc::clone(self), key: Arc::clone(key), lead, permit }));
        }
        host.waiting.push_back(Arc::clone(&waiter));
        Err(ConnectionWait { offered, lead, waiter: Some(waiter) })
    }

    /// A permit came: the place for its connection, unless the host has an HTTP/2 connection by
    /// now.
    fn occupy(self: &Arc<Self>, key: &Arc<Key>, permit: Permit, lead: Option<Lead>) -> Option<Slot> {
        let mut books = self.lock();
        let host = books.hosts.entry(Arc::clone(key)).or_default();
        if host.line.is_some() {
            drop(books);
            return None;
        }
        host.open += 1;
        host.waiting.retain(|waiter| waiter.is_waiting());
        drop(books);
        Some(Slot { pool: Arc::clone(self), key: Arc::clone(key), lead, permit })
    }

    /// Takes back a reusable connection. Returns whether it is idle now: neither closed to make
    /// room nor used by somebody who waited for it.
    pub(super) fn park(self: &Arc<Self>, conn: Box<Conn>, keep: Duration) -> bool {
        let mut after = Afterwards::default();
        let mut guard = self.lock();
        let books = &mut *guard;
        let key = Arc::clone(&conn.slot.key);
        let host = books.hosts.entry(Arc::clone(&key)).or_default();
        let (over, mut idle) = (self.sockets.is_over(), false);
        let back = if over { Some(conn) } else { host.hand_over(conn) };
        if let Some(conn) = back {
            // Those who still wait want another one.
            if over || !host.waiting.is_empty() || self.is_room_wanted(books, &key) {
                after.close.push(*conn);
            } else {
                books.park(key, Some(conn), Instant::now() + keep);
                self.look_after(books);
                idle = true;
            }
        }
        drop(guard);
        after.happen();
        idle
    }

    /// Whether to close a connection instead of keeping it.
    fn is_room_wanted(&self, books: &Books, key: &Key) -> bool {
        books.shut || self.sockets.is_room_wanted(&key.to)
    }

    /// Registers an HTTP/2 connection for its host, and returns its first stream.
    pub(super) fn share(self: &Arc<Self>, key: &Arc<Key>, line: Multiplexed) -> Lane {
        let mut after = Afterwards::default();
        let mut books = self.lock();
        let lane = line.lane(self, key);
        books.unpark_line(key);
        let host = books.hosts.entry(key.clone()).or_default();
        after.hung_up.extend(host.line.replace(line));
        host.feed_line(self, key, &mut after);
        // The others wait for streams of it, and no longer for a socket.
        host.turn_away();
        drop(books);
        after.happen();
        lane
    }

    /// Takes back a stream.
    pub(super) fn end_stream(self: &Arc<Self>, key: &Arc<Key>, id: u64) {
        let mut after = Afterwards::default();
        let mut guard = self.lock();
        let books = &mut *guard;
        if let Some(host) = books.hosts.get_mut(key)
            && let Some(line) = host.line.as_mut().filter(|l| l.id == id)
        {
            line.streams -= 1;
            host.feed_line(self, key, &mut after);
            if host.line.as_ref().is_some_and(|l| l.streams == 0) {
                if self.is_room_wanted(books, key) {
                    after.hung_up.extend(books.take_line(key));
                } else {
                    books.park(key.clone(), None, Instant::now() + self.rules.keep_alive);
                    self.look_after(books);
                }
            }
        }
        drop(guard);
        after.happen();
    }

    /// Removes an HTTP/2 connection that has ended.
    pub(super) fn forget_line(&self, key: &Arc<Key>, id: u64) {
        let mut books = self.lock();
        let known = books.hosts.get(key).and_then(|h| h.line.as_ref());
        let gone = if known.is_some_and(|l| l.id == id) { books.take_line(key) } else { None };
        drop(books);
        drop(gone);
    }

    /// A ticket for an HTTP/2 connection.
    pub(super) fn number(&self) -> u64 {
        self.lock().ticket()
    }

    /// Closes idle connections, and from now on all others as they are returned.
    pub(super) fn shut(&self) {
        let mut after = Afterwards::default();
        let mut books = self.lock();
        books.shut = true;
        while books.evict_oldest(&mut after) {}
        drop(books);
        after.happen();
    }

    /// A connection is gone.
    fn vacate(&self, key: &Arc<Key>) {
        let mut books = self.lock();
        if let Some(host) = books.hosts.get_mut(key) {
            host.open -= 1;
        }
        books.forget_unused(key);
    }

    /// Starts the task that checks idle connections, until there are none.
    fn look_after(self: &Arc<Self>, books: &mut Books) {
        let Ok(runtime) = Handle::try_current() else { return };
        if books.looked_after {
            return;
        }
        books.looked_after = true;
        let pool = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(ROUND).await;
                let Some(pool) = pool.upgrade() else { return };
                let mut after = Afterwards::default();
                let mut books = pool.lock();
                books.evict_stale(&mut after);
                books.looked_after = !books.parked.is_empty();
                let done = !books.looked_after;
                drop(books);
                after.happen();
                if done {
                    return;
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeepIdle for Pool {
    fn idle(&self) -> usize {
        self.lock().parked.len()
    }

    fn give_back(&self, of: Option<&Arc<Endpoint>>) -> bool {
        let mut after = Afterwards::default();
        let mut books = self.lock();
        let given = match of {
            None => books.evict_oldest(&mut after),
            Some(to) => [true, false].into_iter().any(|tls| books.evict_of(&Key { tls, to: to.clone() }, &mut after)),
        };
        drop(books);
        after.happen();
        given
    }
}
