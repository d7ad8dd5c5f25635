//! Which session is used again?
//!
//! Logging in costs more round trips than a file does, so a session that has answered is kept for
//! the next page of its server: until it has been idle for too long, or the line is full and
//! somebody else needs the connection.

use super::{KeepSession, SessionPlace};
use crate::line::{Endpoint, KeepIdle, OpenSockets};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How often idle sessions are looked at.
const ROUND: Duration = Duration::from_secs(1);

/// The idle sessions of a protocol.
#[derive(Debug)]
pub(crate) struct KeptSessions<S> {
    /// The longest idle first.
    idle: Mutex<IdleSessions<S>>,
    sockets: Arc<OpenSockets>,
    patience: Duration,
}

#[derive(Debug)]
struct IdleSessions<S> {
    sessions: VecDeque<(S, Instant)>,
    /// Whether somebody looks after them.
    tended: bool,
    shut: bool,
}

impl<S: KeepSession> KeptSessions<S> {
    pub(crate) fn new(sockets: &Arc<OpenSockets>, patience: Duration) -> Arc<Self> {
        let idle = IdleSessions { sessions: VecDeque::new(), tended: false, shut: false };
        let kept = Arc::new(Self { idle: Mutex::new(idle), sockets: Arc::clone(sockets), patience });
        let keeper: std::sync::Weak<dyn KeepIdle> = Arc::downgrade(&kept) as _;
        sockets.kept_by(keeper);
        kept
    }

    /// A session to this server that is still open, the one used last.
    pub(crate) fn take(&self, to: &SessionPlace) -> Option<S> {
        loop {
            let mut idle = self.lock();
            let place = idle.sessions.iter().rposition(|(session, _)| session.place().is_at(to))?;
            let (mut session, _) = idle.sessions.remove(place)?;
            drop(idle);
            if session.is_usable() {
                return Some(session);
            }
        }
    }

    /// Keeps a session for later; `false` if it is ended instead.
    pub(crate) fn park(self: &Arc<Self>, mut session: S) -> bool {
        if self.sockets.is_room_wanted(&session.place().to) || !session.is_usable() {
            session.farewell();
            return false;
        }
        let mut idle = self.lock();
        if idle.shut {
            drop(idle);
            session.farewell();
            return false;
        }
        idle.sessions.push_back((session, Instant::now()));
        if !idle.tended {
            idle.tended = true;
            tokio::spawn(tend(Arc::downgrade(self)));
        }
        true
    }

    /// Ends all of them, and every one that is returned later.
    pub(crate) fn shut(&self) {
        let mut idle = self.lock();
        idle.shut = true;
        let sessions = std::mem::take(&mut idle.sessions);
        drop(idle);
        sessions.into_iter().for_each(|(session, _)| session.farewell());
    }

    /// Ends those that were idle for too long; `false` when none is left.
    fn sweep(&self) -> bool {
        let mut idle = self.lock();
        let old = idle.sessions.iter().take_while(|(_, since)| since.elapsed() >= self.patience).count();
        let ended: Vec<_> = idle.sessions.drain(..old).collect();
        idle.tended = !idle.sessions.is_empty();
        let tended = idle.tended;
        drop(idle);
        ended.into_iter().for_each(|(session, _)| session.farewell());
        tended
    }

    fn lock(&self) -> MutexGuard<'_, IdleSessions<S>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn tend<S: KeepSession>(kept: std::sync::Weak<KeptSessions<S>>) {
    loop {
        tokio::time::sleep(ROUND).await;
        if !kept.upgrade().is_some_and(|kept| kept.sweep()) {
            return;
        }
    }
}

impl<S: KeepSession> KeepIdle for KeptSessions<S> {
    fn idle(&self) -> usize {
        self.lock().sessions.len()
    }

    fn give_back(&self, of: Option<&Arc<Endpoint>>) -> bool {
        let mut idle = self.lock();
        let fits = |session: &S| of.is_none_or(|to| session.place().to == *to);
        let place = idle.sessions.iter().position(|(session, _)| fits(session));
        let given = place.and_then(|place| idle.sessions.remove(place));
        drop(idle);
        let found = given.is_some();
        given.into_iter().for_each(|(session, _)| session.farewell());
        found
    }
}
