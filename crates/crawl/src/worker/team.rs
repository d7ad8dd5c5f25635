//! What do the threads of a worker tell each other?
//!
//! The driver says that nothing is left, the recorder that shards are idle, loaded or given away,
//! the clerk how the run ends. What may have given the frontier new work is counted (`epoch`), so
//! that "nothing is left" is believed only if nothing has come in since it was found.

use crossbeam_channel::Sender;
use orb_frontier::OwnTest;
use orb_page::RunState;
use orb_store::{LetterId, ShardId, shard_of};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No epoch.
const NEVER: u64 = u64::MAX;

/// What a machine knows about its part in a shared run.
pub(crate) struct Team {
    shards: u16,
    epoch: AtomicU64,
    /// The epoch in which the recorder was told that nothing is left.
    rested: AtomicU64,
    /// Whether the store knows that our shards are idle.
    idle: AtomicBool,
    /// Whether shards are being loaded or given away. Locked while the store is told that ours are
    /// idle, so that none is taken meanwhile and marked unseen.
    moving: Mutex<bool>,
    /// How many such moves have ended.
    moves: AtomicU64,
    wants_tickets: AtomicBool,
    /// Up to how many bytes may be fetched, by the counter of the progress.
    bytes: AtomicU64,
    /// Whether the time of the run is over.
    late: AtomicBool,
    ended: Mutex<Option<RunState>>,
    settled: Sender<Vec<LetterId>>,
}

impl Team {
    /// The part in a run of a project with so many shards; letters that are recorded are reported
    /// to `settled`.
    pub(super) fn new(shards: u16, settled: Sender<Vec<LetterId>>) -> Self {
        Self {
            shards,
            epoch: AtomicU64::new(0),
            rested: AtomicU64::new(NEVER),
            idle: AtomicBool::new(false),
            moving: Mutex::new(false),
            moves: AtomicU64::new(0),
            wants_tickets: AtomicBool::new(false),
            bytes: AtomicU64::new(u64::MAX),
            late: AtomicBool::new(false),
            ended: Mutex::new(None),
            settled,
        }
    }

    /// The number of shards of the project.
    pub(crate) fn shards(&self) -> u16 {
        self.shards
    }

    /// Counts what may have given the frontier new work.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Something may have given the frontier new work.
    pub(crate) fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// The driver has nothing left; returns whether the recorder must be told.
    pub(crate) fn rests(&self, epoch: u64) -> bool {
        self.rested.swap(epoch, Ordering::SeqCst) != epoch
    }

    /// Whether the driver has nothing to do.
    pub(crate) fn is_resting(&self) -> bool {
        self.rested.load(Ordering::SeqCst) != NEVER
    }

    /// The driver is to say so again.
    pub(crate) fn unrest(&self) {
        self.rested.store(NEVER, Ordering::SeqCst);
    }

    /// A batch is committed, which has deleted these letters; `idle` if it says that nothing is
    /// left.
    pub(crate) fn committed(&self, read: Vec<LetterId>, idle: bool) {
        self.idle.store(idle, Ordering::SeqCst);
        if !idle {
            self.unrest();
        }
        self.settle(read);
    }

    /// These letters need not be remembered any more.
    pub(crate) fn settle(&self, read: Vec<LetterId>) {
        if !read.is_empty() {
            // Nobody reads letters any more: then nobody needs to know.
            let _ = self.settled.send(read);
        }
    }

    /// Whether the store knows that our shards have nothing left.
    pub(super) fn is_idle(&self) -> bool {
        self.idle.load(Ordering::SeqCst)
    }

    /// Shards begin to be loaded or given away; false if that cannot be now.
    pub(super) fn begin_move(&self) -> bool {
        self.moving.try_lock().is_ok_and(|mut moving| !std::mem::replace(&mut *moving, true))
    }

    /// Whether shards are moving; none begins to while this guard is held.
    pub(crate) fn moving(&self) -> MutexGuard<'_, bool> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shards were loaded.
    pub(crate) fn adopted(&self) {
        self.end_move();
    }

    /// Shards were given away.
    pub(crate) fn given(&self) {
        self.end_move();
    }

    fn end_move(&self) {
        let mut moving = self.moving();
        self.moves.fetch_add(1, Ordering::SeqCst);
        *moving = false;
    }

    /// Counts the moves that have ended: what the store said before one did is not true any more.
    pub(super) fn moves(&self) -> u64 {
        self.moves.load(Ordering::SeqCst)
    }

    /// The driver has used up what may be fetched of the budget.
    pub(crate) fn want_tickets(&self) {
        self.wants_tickets.store(true, Ordering::SeqCst);
    }

    /// So many bytes may be fetched, by the counter of the progress.
    pub(super) fn allow_bytes(&self, most: u64) {
        self.bytes.store(most, Ordering::SeqCst);
    }

    /// So many more, beyond what is allowed or was fetched already.
    pub(super) fn allow_more_bytes(&self, fetched: u64, more: u64) {
        let most = self.bytes.load(Ordering::SeqCst).max(fetched);
        self.bytes.store(most.saturating_add(more), Ordering::SeqCst);
    }

    /// How many of them are left.
    pub(super) fn bytes_left(&self, fetched: u64) -> u64 {
        self.bytes.load(Ordering::SeqCst).saturating_sub(fetched)
    }

    /// The time of the run is over.
    pub(super) fn be_late(&self) {
        self.late.store(true, Ordering::SeqCst);
    }

    /// Whether nothing may be fetched, for want of bytes or time.
    pub(crate) fn is_barred(&self, fetched: u64) -> bool {
        self.late.load(Ordering::SeqCst) || self.bytes_left(fetched) == 0
    }

    /// Whether it has; asked once each time.
    pub(super) fn take_wish(&self) -> bool {
        self.wants_tickets.swap(false, Ordering::SeqCst)
    }

    /// The run is over for all machines.
    pub(super) fn end(&self, state: RunState) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(state);
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<RunState> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which hosts are in these shards.
    pub(crate) fn own_test(&self, held: Vec<ShardId>) -> Arc<OwnTest> {
        let (held, shards): (HashSet<ShardId>, u16) = (held.into_iter().collect(), self.shards);
        Arc::new(move |host: &str| held.contains(&shard_of(host, shards)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    #[test]
    fn nothing_is_left_only_as_long_as_nothing_comes_in() {
        let team = Team::new(256, unbounded().0);
        assert!(team.rests(team.epoch()));
        assert!(!team.rests(team.epoch()), "the recorder knows");
        team.committed(Vec::new(), true);
        assert!(team.is_idle() && !team.rests(team.epoch()));
        team.committed(Vec::new(), false);
        assert!(!team.is_idle() && team.rests(team.epoch()), "any other commit takes it back");
        team.next_epoch();
        assert!(team.rests(team.epoch()));
    }

    #[test]
    fn the_first_ending_counts() {
        let team = Team::new(256, unbounded().0);
        assert_eq!(team.ended(), None);
        team.end(RunState::Budget);
        team.end(RunState::Done);
        assert_eq!(team.ended(), Some(RunState::Budget));
    }
}
