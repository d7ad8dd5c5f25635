//! Which connection carries the next request, and may there be one more?
//!
//! A socket counts from the moment it may be opened until it is really closed: its [`Slot`] travels
//! with it, through requests, while it is idle, and while both sides shut down. (Twelve thousand
//! connections, most of them closing, once brought a university's firewall down; seed 004.) There
//! are two limits, for all sockets and for those of one host. A request that finds no capacity
//! waits in a FIFO queue; the least recently used idle connection of another host is then closed to
//! make room.
//!
//! One lock guards the bookkeeping. Nothing is dropped under it that would take it again: what is
//! to be closed, or was granted to a cancelled request, is moved out first.

use super::books::{Afterwards, Books, Host, Waiter};
use super::conn::Conn;
use super::h2::{Lane, Multiplexed};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// How often idle connections are checked.
const ROUND: Duration = Duration::from_secs(1);

/// Which connections may carry a request: those of one server, or of the proxy that carries all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tls: bool,
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// Plain-text connections to a proxy: they lead to any host, and only the global limit applies.
    pub(crate) any_host: bool,
}

/// Connection counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// Sockets open, opening and closing; never above the limit.
    pub open: usize,
    /// Idle ones among them.
    pub idle: usize,
    /// Closing ones among them.
    pub closing: usize,
    /// Requests waiting for a connection.
    pub waiting: usize,
}

/// All connections of a fetcher.
#[derive(Debug)]
pub(crate) struct Pool {
    books: Mutex<Books>,
    cap: AtomicUsize,
    pub(super) per_host: usize,
    pub(super) keep_alive: Duration,
    pub(super) closing: AtomicUsize,
    emptied: Notify,
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

/// The right to one socket, returned on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) pool: Arc<Pool>,
    pub(super) key: Arc<Key>,
}

impl Slot {
    /// Counts the socket among those that are being closed, until the guard is dropped.
    pub(crate) fn closing(&self) -> Closing {
        self.pool.closing.fetch_add(1, Ordering::Relaxed);
        Closing { pool: Arc::clone(&self.pool) }
    }
}

/// A socket that is being closed.
#[derive(Debug)]
pub(crate) struct Closing {
    pool: Arc<Pool>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.pool.closing.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.release(&self.key);
    }
}

impl Pool {
    pub(crate) fn new(cap: usize, per_host: usize, keep_alive: Duration) -> Arc<Self> {
        let (books, cap, closing, emptied) = (Mutex::default(), cap.into(), AtomicUsize::new(0), Notify::new());
        Arc::new(Self { books, cap, per_host, keep_alive, closing, emptied })
    }

    pub(crate) fn counts(&self) -> ConnectionCounts {
        let books = self.lock();
        ConnectionCounts {
            open: books.sockets,
            idle: books.parked.len(),
            closing: self.closing.load(Ordering::Relaxed),
            waiting: books.hosts.values().map(|h| h.waiting.len()).sum(),
        }
    }

    /// The limit on sockets.
    pub(crate) fn cap(&self) -> usize {
        self.cap.load(Ordering::Relaxed)
    }

    /// Changes the limit on sockets. If there are more, idle ones are closed at once and the others
    /// when they are returned.
    pub(crate) fn set_cap(self: &Arc<Self>, cap: usize) {
        let mut after = Afterwards::default();
        let mut books = self.lock();
        self.cap.store(cap.max(1), Ordering::Relaxed);
        for _ in self.cap()..books.sockets {
            books.evict_oldest(&mut after);
        }
        books.serve(self, &mut after);
        drop(books);
        after.happen();
    }

    /// A connection, or permission to open one, as soon as the limits allow.
    pub(super) async fn acquire(self: &Arc<Self>, key: &Arc<Key>, want: Want) -> Grant {
        loop {
            let mut after = Afterwards::default();
            let taken = self.take(&mut self.lock(), key, want, &mut after);
            after.happen();
            match taken {
                Ok(grant) => return grant,
                // A lost grant is requested again.
                Err(granted) => {
                    if let Ok(grant) = granted.await {
                        return grant;
                    }
                }
            }
        }
    }

    /// Leave to open a connection that no other request will use.
    pub(crate) async fn open(self: &Arc<Self>, key: &Arc<Key>, addr: Option<IpAddr>) -> Slot {
        loop {
            if let Grant::Open(slot) = self.acquire(key, Want { addr, fresh: true }).await {
                return slot;
            }
        }
    }

    /// A grant at once, or the channel on which it will arrive.
    fn take(
        self: &Arc<Self>,
        books: &mut Books,
        key: &Arc<Key>,
        want: Want,
        after: &mut Afterwards,
    ) -> Result<Grant, oneshot::Receiver<Grant>> {
        let limit = self.limit(key);
        if !books.hosts.contains_key(key) {
            books.hosts.insert(key.clone(), Host::default());
        }
        if let Some(grant) = books.reuse(self, key, want, after) {
            return Ok(grant);
        }
        let full = books.sockets >= self.cap();
        let host = books.hosts.entry(key.clone()).or_default();
        let busy_line = host.line.is_some();
        if !busy_line && host.sockets < limit && !full {
            host.sockets += 1;
            books.sockets += 1;
            return Ok(Grant::Open(Slot { pool: self.clone(), key: key.clone() }));
        }
        let (grant, granted) = oneshot::channel();
        host.waiting.push_back(Waiter { want, grant });
        if !busy_line && host.sockets < limit {
            books.starve(key);
            books.evict_oldest(after);
        }
        Err(granted)
    }

    /// Takes back a reusable connection.
    pub(super) fn park(self: &Arc<Self>, mut conn: Box<Conn>, keep: Duration) {
        let mut after = Afterwards::default();
        let mut guard = self.lock();
        let books = &mut *guard;
        let key = conn.slot.key.clone();
        if books.sockets > self.cap() {
            after.close.push(*conn);
        } else if let Some(host) = books.hosts.get_mut(&key) {
            while let Some(waiter) = host.waiting.pop_front() {
                if waiter.grant.is_closed() {
                    continue;
                }
                if waiter.want.fresh || waiter.want.addr != conn.addr {
                    host.waiting.push_front(waiter);
                    break;
                }
                match waiter.grant.send(Grant::Reuse(conn)) {
                    Ok(()) => return,
                    Err(Grant::Reuse(back)) => conn = back,
                    Err(_) => return,
                }
            }
            let wanted_elsewhere = !host.waiting.is_empty();
            if wanted_elsewhere || books.is_room_wanted(self) {
                after.close.push(*conn);
            } else {
                books.park(key, Some(conn), Instant::now() + keep);
                self.look_after(books);
            }
        }
        drop(guard);
        after.happen();
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
                if books.is_room_wanted(self) {
                    after.hung_up.extend(books.take_line(key));
                } else {
                    books.park(key.clone(), None, Instant::now() + self.keep_alive);
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

    /// Waits until no socket is open.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().sockets == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// A socket is closed: its slot goes to the request that has waited longest.
    fn release(self: &Arc<Self>, key: &Arc<Key>) {
        let mut after = Afterwards::default();
        let mut books = self.lock();
        books.sockets -= 1;
        if let Some(host) = books.hosts.get_mut(key) {
            host.sockets -= 1;
        }
        books.starve(key);
        books.serve(self, &mut after);
        books.forget_unused(key);
        if books.sockets == 0 {
            self.emptied.notify_waiters();
        }
        drop(books);
        after.happen();
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

    pub(super) fn limit(&self, key: &Key) -> usize {
        if key.any_host { self.cap() } else { self.per_host.min(self.cap()) }
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Asking = Pin<Box<dyn Future<Output = Grant>>>;

    const ANY: Want = Want { addr: None, fresh: false };

    fn key(n: usize) -> Arc<Key> {
        Arc::new(Key { tls: false, host: format!("h{n}").into(), port: 80, any_host: false })
    }

    fn ask(pool: &Arc<Pool>, host: usize) -> Asking {
        let (pool, key) = (pool.clone(), key(host));
        Box::pin(async move { pool.acquire(&key, ANY).await })
    }

    fn poll(asking: &mut Asking) -> Option<Grant> {
        match asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(grant) => Some(grant),
            Poll::Pending => None,
        }
    }

    #[test]
    fn room_goes_to_who_waited_longest() {
        let pool = Pool::new(1, 1, Duration::ZERO);
        let first = poll(&mut ask(&pool, 1)).unwrap();
        let (mut second, mut third) = (ask(&pool, 2), ask(&pool, 3));
        assert!(poll(&mut second).is_none() && poll(&mut third).is_none());
        drop(first);
        assert!(poll(&mut third).is_none());
        let second = poll(&mut second).unwrap();
        assert_eq!(pool.counts(), ConnectionCounts { open: 1, idle: 0, closing: 0, waiting: 1 });
        drop(second);
        assert!(poll(&mut third).is_some());
    }

    proptest! {
        #[test]
        fn whatever_is_asked_held_and_given_up_the_caps_hold_and_nobody_is_forgotten(
            steps in proptest::collection::vec((0_usize..5, 0_usize..5, 0_usize..8), 0..120),
        ) {
            let pool = Pool::new(3, 2, Duration::ZERO);
            let (mut asking, mut held): (Vec<Asking>, Vec<Grant>) = (Vec::new(), Vec::new());
            let mut most = 3;
            for (what, host, which) in steps {
                // A lowered limit takes effect as sockets close.
                let before = held.len();
                match what {
                    0 | 1 => asking.push(ask(&pool, host)),
                    4 => {
                        most = host + 1;
                        pool.set_cap(most);
                    }
                    2 if which < asking.len() => drop(asking.remove(which)),
                    3 if which < held.len() => drop(held.remove(which)),
                    _ => (),
                }
                asking.retain_mut(|a| poll(a).map(|grant| held.push(grant)).is_none());
                let books = pool.lock();
                prop_assert!(books.sockets <= most.max(before) && books.sockets == held.len());
                prop_assert!(books.hosts.values().all(|h| h.sockets <= 2) && books.starved.len() <= books.hosts.len());
                drop(books);
            }
            while !asking.is_empty() {
                prop_assert!(!held.is_empty(), "{} wait and nobody holds anything", asking.len());
                held.clear();
                asking.retain_mut(|a| poll(a).map(|grant| held.push(grant)).is_none());
            }
            held.clear();
            let books = pool.lock();
            prop_assert_eq!((books.sockets, books.hosts.len(), books.starved.len()), (0, 0, 0));
        }
    }
}
