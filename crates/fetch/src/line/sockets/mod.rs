//! May there be one more socket, and whose turn is it to open one?
//!
//! A socket counts from the moment it may be opened until it is really closed: its [`Permit`]
//! travels with it, through requests, while it is idle, and while both sides shut down. (Twelve
//! thousand connections, most of them closing, once brought a university's firewall down; seed
//! 004.) There are two limits, for all sockets and for those to one server. Who finds no capacity
//! waits in a FIFO queue, and meanwhile the protocol that keeps idle sockets ([`KeepIdle`]) is
//! asked to give one back.
//!
//! One lock guards the count. Nothing is dropped or called under it that would take it again, and
//! keepers may ask for room while they hold their own lock: the order is keeper, then count.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{Notify, oneshot};

/// Where a socket leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// A proxy whose connections lead to any host: only the global limit applies.
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
    /// Requests waiting for a socket.
    pub waiting: usize,
}

/// Who keeps sockets open between requests.
pub(crate) trait KeepIdle: Send + Sync + Debug {
    /// How many sockets are idle.
    fn idle(&self) -> usize;

    /// Closes the socket that has been idle longest, of all or of those to one server; `false` if
    /// there is none.
    fn give_back(&self, of: Option<&Arc<Endpoint>>) -> bool;
}

/// Who waits for a permit.
pub(crate) trait AwaitPermit: Send + Sync + Debug {
    /// Whether it still does.
    fn is_waiting(&self) -> bool;

    /// Hands the permit over; it comes back if nobody waits any more.
    fn grant(&self, permit: Permit) -> Result<(), Permit>;
}

/// The right to one socket, returned on drop.
#[derive(Debug)]
pub(crate) struct Permit {
    sockets: Arc<OpenSockets>,
    to: Arc<Endpoint>,
}

impl Permit {
    /// Counts the socket among those that are being closed, until the guard is dropped.
    pub(crate) fn closing(&self) -> Closing {
        self.sockets.closing.fetch_add(1, Ordering::Relaxed);
        Closing { sockets: Arc::clone(&self.sockets) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.sockets.release(&self.to);
    }
}

/// A socket that is being closed.
#[derive(Debug)]
pub(crate) struct Closing {
    sockets: Arc<OpenSockets>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.sockets.closing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The sockets of a line, whatever is spoken on them.
#[derive(Debug)]
pub(crate) struct OpenSockets {
    count: Mutex<SocketCount>,
    cap: AtomicUsize,
    per_host: usize,
    closing: AtomicUsize,
    emptied: Notify,
    keepers: Mutex<Vec<Weak<dyn KeepIdle>>>,
}

#[derive(Debug, Default)]
struct SocketCount {
    open: usize,
    servers: HashMap<Arc<Endpoint>, ServerSockets>,
    /// Servers with somebody waiting for the global limit, in FIFO order.
    starved: VecDeque<Arc<Endpoint>>,
}

#[derive(Debug, Default)]
struct ServerSockets {
    open: usize,
    waiting: VecDeque<Arc<dyn AwaitPermit>>,
    /// Whether it is in the queue of starved servers, which it enters once.
    starving: bool,
}

impl OpenSockets {
    pub(crate) fn new(cap: usize, per_host: usize) -> Arc<Self> {
        let (count, keepers) = (Mutex::default(), Mutex::default());
        let (cap, closing, emptied) = (cap.into(), AtomicUsize::new(0), Notify::new());
        Arc::new(Self { count, cap, per_host, closing, emptied, keepers })
    }

    /// Remembers whom to ask for idle sockets.
    pub(crate) fn kept_by(&self, keeper: Weak<dyn KeepIdle>) {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner).push(keeper);
    }

    pub(crate) fn counts(&self) -> ConnectionCounts {
        let idle = self.keepers().iter().map(|keeper| keeper.idle()).sum();
        let count = self.lock();
        let waiting = |server: &ServerSockets| server.waiting.iter().filter(|w| w.is_waiting()).count();
        ConnectionCounts {
            open: count.open,
            idle,
            closing: self.closing.load(Ordering::Relaxed),
            waiting: count.servers.values().map(waiting).sum(),
        }
    }

    /// The limit on sockets.
    pub(crate) fn cap(&self) -> usize {
        self.cap.load(Ordering::Relaxed)
    }

    /// Changes the limit on sockets. If there are more, idle ones are closed at once and the others
    /// when they are returned.
    pub(crate) fn set_cap(self: &Arc<Self>, cap: usize) {
        self.cap.store(cap.max(1), Ordering::Relaxed);
        let mut count = self.lock();
        let excess = count.open.saturating_sub(self.cap());
        // The limit of a server may have grown with it.
        let waited_for: Vec<_> = count.servers.iter().filter(|(_, s)| s.waits()).map(|(to, _)| to.clone()).collect();
        waited_for.iter().for_each(|to| count.starve(to));
        let refused = count.serve(self);
        drop(count);
        drop(refused);
        for _ in 0..excess {
            self.reclaim(None);
        }
    }

    /// A permit, as soon as the limits allow.
    pub(crate) async fn permit(self: &Arc<Self>, to: &Arc<Endpoint>) -> Permit {
        loop {
            if let Some(permit) = self.try_permit(to) {
                return permit;
            }
            let (grant, granted) = oneshot::channel();
            self.wait(to, Arc::new(PermitWaiter(Mutex::new(Some(grant)))));
            // A lost permit is requested again.
            if let Ok(permit) = granted.await {
                return permit;
            }
        }
    }

    /// A permit, if the limits allow one now.
    pub(crate) fn try_permit(self: &Arc<Self>, to: &Arc<Endpoint>) -> Option<Permit> {
        let mut count = self.lock();
        let full = count.open >= self.cap();
        let server = count.servers.get(to).map_or(0, |server| server.open);
        if full || server >= self.limit(to) {
            return None;
        }
        count.servers.entry(Arc::clone(to)).or_default().open += 1;
        count.open += 1;
        Some(Permit { sockets: Arc::clone(self), to: Arc::clone(to) })
    }

    /// Puts somebody into the queue for a permit, and has an idle socket closed to make room.
    pub(crate) fn wait(self: &Arc<Self>, to: &Arc<Endpoint>, waiter: Arc<dyn AwaitPermit>) {
        let mut count = self.lock();
        let server = count.servers.entry(Arc::clone(to)).or_default();
        server.waiting.push_back(waiter);
        let at_limit = server.open >= self.limit(to);
        if !at_limit {
            count.starve(to);
        }
        // There may be room by now.
        let refused = count.serve(self);
        let served = count.servers.get(to).is_none_or(|server| !server.waits());
        drop(count);
        drop(refused);
        if !served {
            self.reclaim(at_limit.then_some(to));
        }
    }

    /// Whether more sockets are open than the limit allows.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().open > self.cap()
    }

    /// Whether a socket to this server should be closed rather than kept: somebody else waits whom
    /// one socket less would help. Those already closing make room for as many: if every returned
    /// socket were closed meanwhile, its own server would be the next to need one.
    pub(crate) fn is_room_wanted(&self, by: &Endpoint) -> bool {
        let mut count = self.lock();
        count.open > self.cap()
            || count.servers.get(by).is_some_and(|s| s.open >= self.limit(by) && s.waits())
            || (count.starved.len() > self.closing.load(Ordering::Relaxed) && count.is_anybody_starved(self))
    }

    /// Waits until no socket is open.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().open == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// A socket is closed: its permit goes to who has waited longest.
    fn release(self: &Arc<Self>, to: &Arc<Endpoint>) {
        let mut count = self.lock();
        count.open -= 1;
        if let Some(server) = count.servers.get_mut(to) {
            server.open -= 1;
        }
        count.starve(to);
        let refused = count.serve(self);
        count.forget_unused(to);
        if count.open == 0 {
            self.emptied.notify_waiters();
        }
        drop(count);
        drop(refused);
    }

    /// Has one idle socket closed.
    fn reclaim(&self, of: Option<&Arc<Endpoint>>) {
        self.keepers().iter().any(|keeper| keeper.give_back(of));
    }

    fn keepers(&self) -> Vec<Arc<dyn KeepIdle>> {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        keepers.retain(|keeper| keeper.strong_count() > 0);
        keepers.iter().filter_map(Weak::upgrade).collect()
    }

    fn limit(&self, to: &Endpoint) -> usize {
        if to.any_host { self.cap() } else { self.per_host.min(self.cap()) }
    }

    fn lock(&self) -> MutexGuard<'_, SocketCount> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SocketCount {
    /// Adds a server with somebody waiting to the queue.
    fn starve(&mut self, to: &Arc<Endpoint>) {
        let waits = |server: &&mut ServerSockets| !server.waiting.is_empty() && !server.starving;
        if let Some(server) = self.servers.get_mut(to).filter(waits) {
            server.starving = true;
            self.starved.push_back(Arc::clone(to));
        }
    }

    /// Grants free capacity to those who wait, and returns the permits that came too late.
    fn serve(&mut self, sockets: &Arc<OpenSockets>) -> Vec<Permit> {
        let mut refused = Vec::new();
        while self.open < sockets.cap() {
            let Some(to) = self.starved.pop_front() else { break };
            let limit = sockets.limit(&to);
            let Some(server) = self.servers.get_mut(&to) else { continue };
            server.starving = false;
            // A server at its own limit is served when one of its sockets closes.
            if server.open >= limit {
                continue;
            }
            let Some(waiter) = server.next_waiter() else {
                self.forget_unused(&to);
                continue;
            };
            server.open += 1;
            self.open += 1;
            self.starve(&to);
            refused.extend(waiter.grant(Permit { sockets: Arc::clone(sockets), to }).err());
        }
        refused
    }

    /// Whether somebody waits whom one socket less would help.
    fn is_anybody_starved(&mut self, sockets: &OpenSockets) -> bool {
        while let Some(to) = self.starved.front() {
            let limit = sockets.limit(to);
            if self.servers.get(to).is_some_and(|server| server.open < limit && server.waits()) {
                return true;
            }
            if let Some(to) = self.starved.pop_front() {
                self.servers.get_mut(&to).into_iter().for_each(|server| server.starving = false);
                self.forget_unused(&to);
            }
        }
        false
    }

    /// Removes a server without sockets for which nobody waits.
    fn forget_unused(&mut self, to: &Arc<Endpoint>) {
        let Some(server) = self.servers.get_mut(to) else { return };
        server.waiting.retain(|waiter| waiter.is_waiting());
        if server.open == 0 && server.waiting.is_empty() && !server.starving {
            self.servers.remove(to);
        }
    }
}

impl ServerSockets {
    fn waits(&self) -> bool {
        self.waiting.iter().any(|waiter| waiter.is_waiting())
    }

    fn next_waiter(&mut self) -> Option<Arc<dyn AwaitPermit>> {
        while let Some(waiter) = self.waiting.pop_front() {
            if waiter.is_waiting() {
                return Some(waiter);
            }
        }
        None
    }
}

/// Somebody who waits for a permit and for nothing else.
#[derive(Debug)]
struct PermitWaiter(Mutex<Option<oneshot::Sender<Permit>>>);

impl AwaitPermit for PermitWaiter {
    fn is_waiting(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|grant| !grant.is_closed())
    }

    fn grant(&self, permit: Permit) -> Result<(), Permit> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(grant) => grant.send(permit),
            None => Err(permit),
        }
    }
}
