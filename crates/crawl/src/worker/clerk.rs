//! Who says that we are alive, and which shards are ours?
//!
//! A thread with a connection of its own. At every beat it renews our lease and learns our share of
//! the shards: what is missing is taken from those that nobody living holds, what is too much is
//! given away in a commit of our own once nothing of it is in flight. Our lease counts from before
//! the beat was sent, and ends early by the time between two beats: nothing is sent after that
//! (`Frontier::member_until`). The same thread draws the budget and notices the end of the run.
//! When the worker is to leave, it goes on beating until everything is committed.

use crate::drive::clock::SteadyClock;
use crate::record::Item;
use crate::scope::SharedScope;
use crate::shared::{SharedState, Stop};
use crate::watch::progress::Pause;
use crate::worker::Team;
use crate::worker::ender::Ender;
use crate::worker::pulse::beat_until;
use crate::worker::purse::Purse;
use crossbeam_channel::Sender;
use orb_page::{Moment, RunId, RunState};
use orb_store::{HeartbeatReply, ShardClerk, ShardId, SharedProject, StoreError, WorkerReport};
use orb_urls::Address;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the end of the run and the wishes of other threads are looked at.
const TICK: Duration = Duration::from_millis(100);

/// The shards whose letters are read, as the clerk has it.
#[derive(Default)]
pub(super) struct HeldShards(Mutex<Vec<ShardId>>);

impl HeldShards {
    pub(super) fn get(&self) -> Vec<ShardId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, shards: Vec<ShardId>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = shards;
    }
}

/// What the clerk works with.
pub(super) struct Clerk {
    pub(super) desk: ShardClerk,
    pub(super) store: SharedProject,
    pub(super) shared: Arc<SharedState>,
    pub(super) clock: SteadyClock,
    pub(super) recorder: Sender<Item>,
    pub(super) held: Arc<HeldShards>,
    pub(super) run: RunId,
    /// The request of the user, which is not that of this incarnation.
    pub(super) asked: Arc<Stop>,
    /// The number of the last seed that the scope knows.
    pub(super) seed: u64,
    /// What we have of the run's budget.
    pub(super) purse: Purse,
    /// Who looks whether the run is over.
    pub(super) ender: Ender,
    /// The shards that the recorder has, or is about to load.
    pub(super) known: BTreeSet<ShardId>,
    /// Pages fetched until the last beat, and when that was.
    pub(super) fetched: (u64, Instant),
    /// What is wrong with this machine's clock.
    pub(super) skew: Option<String>,
    /// Set when everything is committed.
    pub(super) home: Arc<Stop>,
    /// How long the lease lasts.
    pub(super) lease: Duration,
}

/// What is being done with shards.
enum Move {
    Nothing,
    /// These are to leave as soon as nothing of theirs is in flight.
    Leaving(Vec<ShardId>),
}

impl Clerk {
    /// Beats until this incarnation is asked to stop, and then until everything is committed. An
    /// error means that the incarnation is over.
    pub(super) fn run(mut self) -> Result<ShardClerk, StoreError> {
        let (mut next, mut moving) = (Instant::now(), Move::Nothing);
        loop {
            if self.asked.is_set() {
                self.shared.stop.ask();
            }
            if self.shared.stop.is_set() {
                return self.see_off();
            }
            if Instant::now() >= next {
                let moves = self.shared.team.as_ref().map_or(0, Team::moves);
                match self.beat() {
                    Ok(Some((beat, every))) => {
                        next = Instant::now() + every;
                        self.look((&beat, moves), &mut moving)?;
                    }
                    Ok(None) => next = Instant::now() + TICK * 5,
                    Err(error) => {
                        self.shared.stop.ask();
                        return Err(error);
                    }
                }
            }
            self.move_on(&mut moving);
            self.draw();
            let rests = self.is_idle();
            if self.ender.look(rests)
                && let Some(team) = &self.shared.team
            {
                team.end(RunState::Done);
                self.shared.wake.notify_one();
            }
            self.shared.stop.wait(TICK);
        }
    }

    /// Beats until what was fetched is committed and the last look at the run is over. Nothing may
    /// be sent meanwhile but what is under way.
    fn see_off(self) -> Result<ShardClerk, StoreError> {
        let Self { mut desk, mut ender, recorder, home, lease, .. } = self;
        // The recorder ends when nobody can send it anything.
        drop(recorder);
        beat_until(&mut desk, ("committing what it has fetched", lease), |_| home.is_set() && ender.is_over())?;
        ender.wait();
        Ok(desk)
    }

    /// Renews our lease. `None` if the store does not answer.
    fn beat(&mut self) -> Result<Option<(HeartbeatReply, Duration)>, StoreError> {
        let sent = self.clock.now();
        let report =
            WorkerReport { why: self.why(sent), pages_per_second: self.speed(), queued: self.shared.progress.queued() };
        let before = Moment::now();
        match self.desk.beat(&report) {
            Ok(beat) => {
                self.skew = skew((before, Moment::now()), beat.store_time);
                let early = beat.lease / 5;
                self.shared.frontier().member_until(sent.plus(beat.lease.saturating_sub(early)));
                self.shared.wake.notify_one();
                Ok(Some((beat, early)))
            }
            Err(StoreError::StoreAway { .. }) => {
                self.shared.progress.pause(Some(Pause::StoreAway));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What we wait for, in a few words, and what is wrong with our clock.
    fn why(&self, now: Moment) -> String {
        let waits = self.waits_for(now);
        match &self.skew {
            Some(skew) => format!("{waits}; {skew}"),
            None => waits,
        }
    }

    fn waits_for(&self, now: Moment) -> String {
        if let Some(pause) = self.shared.progress.paused() {
            return pause.text().to_owned();
        }
        let waiting = self.shared.frontier().waiting(now);
        match waiting.reasons.first() {
            _ if self.is_idle() => "nothing left here".to_owned(),
            Some((why, hosts, name)) => format!("{why}: {hosts} hosts, such as {name}"),
            None => "at work".to_owned(),
        }
    }

    /// Pages per second since the last beat.
    fn speed(&mut self) -> f32 {
        let (pages, now) = (self.shared.progress.snapshot().fetched, Instant::now());
        let (before, then) = std::mem::replace(&mut self.fetched, (pages, now));
        let seconds = (now - then).as_secs_f32().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
        let pages = pages.saturating_sub(before) as f32;
        pages / seconds
    }

    fn is_idle(&self) -> bool {
        self.shared.team.as_ref().is_some_and(Team::is_idle)
    }

    /// Takes or gives shards, and follows the run and its seeds. So many moves of shards had ended
    /// when the beat was sent.
    fn look(&mut self, (beat, moves): (&HeartbeatReply, u64), moving: &mut Move) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let Some(team) = &shared.team else { return Ok(()) };
        match &beat.run {
            Some(run) if run.record.id == self.run => {}
            _ => {
                team.end(RunState::Done);
                self.shared.wake.notify_one();
                return Ok(());
            }
        }
        self.purse.heed(beat, team.shards());
        if beat.seed > self.seed {
            self.learn_seeds(beat.seed);
        }
        self.known.retain(|shard| beat.held.contains(shard));
        if matches!(moving, Move::Nothing) && team.begin_move() {
            if team.moves() != moves {
                // The beat may name shards that were given away since.
                team.adopted();
                return Ok(());
            }
            match self.rearrange(beat, team) {
                Ok(Some(next)) => *moving = next,
                Ok(None) | Err(StoreError::StoreAway { .. }) => team.adopted(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Loads what is ours and not loaded, takes what is missing, or begins to give away what is too
    /// much; `None` if there is nothing to do.
    fn rearrange(&mut self, beat: &HeartbeatReply, team: &Team) -> Result<Option<Move>, StoreError> {
        let (held, share) = (beat.held.len(), usize::from(beat.share));
        // Taken by a call whose answer was lost.
        let mut taken: Vec<ShardId> = beat.held.iter().copied().filter(|shard| !self.known.contains(shard)).collect();
        if taken.is_empty() && held < share && beat.free > 0 {
            taken = self.desk.take(u16::try_from(share - held).unwrap_or(u16::MAX))?;
        }
        if !taken.is_empty() {
            self.known.extend(taken.iter().copied());
            self.held.set(self.known.iter().copied().collect());
            let _ = self.recorder.send(Item::Adopt(taken));
            return Ok(Some(Move::Nothing));
        }
        if held > share {
            let mut staying: Vec<ShardId> = self.known.iter().copied().collect();
            let leaving = staying.split_off(share);
            // One that comes back at once, by a call that was thought lost, has to be loaded again.
            self.known = staying.iter().copied().collect();
            self.held.set(staying.clone());
            self.shared.frontier().keep_only(team.own_test(staying), self.clock.now());
            return Ok(Some(Move::Leaving(leaving)));
        }
        self.held.set(self.known.iter().copied().collect());
        Ok(None)
    }

    /// Gives shards away once nothing of theirs is in flight or uncommitted.
    fn move_on(&self, moving: &mut Move) {
        let Move::Leaving(shards) = moving else { return };
        if self.shared.frontier().is_rid() {
            let shards = std::mem::take(shards);
            let _ = self.recorder.send(Item::Give(shards));
            *moving = Move::Nothing;
        } else {
            // What is fetched is to be committed soon, though the batch is not full.
            let _ = self.recorder.send(Item::Flush);
        }
    }

    /// Draws from the budget what the driver asks for.
    fn draw(&mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(team) = &shared.team else { return };
        // What the store does not answer is asked again.
        if self.purse.tend(&mut self.desk, &shared, team, self.run).unwrap_or(false) {
            shared.wake.notify_one();
        }
    }

    /// A seed has moved: its target is a seed here as well.
    fn learn_seeds(&mut self, latest: u64) {
        let Ok(seeds) = self.store.seeds_after(self.seed) else { return };
        add_seeds(&self.shared.scope, seeds.iter().map(|seed| seed.url.as_str()));
        self.seed = latest;
    }
}

/// What is wrong with this machine's clock, if the store says another time by more than a second
/// than any that it showed during the call. The crawl keeps the store's time; logs and file dates
/// do not.
fn skew((before, after): (Moment, Moment), store: Moment) -> Option<String> {
    let (fast, slow) = (before.since(store), store.since(after));
    let told = |by: Duration, how: &str| format!("its clock is {} s {how}", by.as_secs());
    match (fast.as_secs(), slow.as_secs()) {
        (0, 0) => None,
        (1.., _) => Some(told(fast, "fast")),
        _ => Some(told(slow, "slow")),
    }
}

/// Adds seeds to the scope.
fn add_seeds<'a>(scope: &SharedScope, urls: impl Iterator<Item = &'a str>) {
    urls.filter_map(|url| Address::from_canonical(url).ok()).for_each(|seed| scope.add(&seed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_by_more_than_a_second_is_told() {
        let local = |at: i64| (Moment(at), Moment(at + 40));
        assert_eq!(skew(local(10_000), Moment(10_020)), None);
        assert_eq!(skew(local(10_000), Moment(9_100)), None);
        assert_eq!(skew(local(3_700_000), Moment(100_000)).as_deref(), Some("its clock is 3600 s fast"));
        assert_eq!(skew(local(100_000), Moment(3_700_040)).as_deref(), Some("its clock is 3600 s slow"));
    }
}
