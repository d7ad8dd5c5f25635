//! Does the protocol of many machines hold, whatever fails?
//!
//! One seed is one history: some workers with the real [`Frontier`](orb_frontier::Frontier), a
//! store that does what PostgreSQL does by `orb_store`, a web, and everything that can go wrong
//! between them. It is judged at the web (the gap between two requests to one address) and at the
//! store (nothing lost, nothing twice, nothing by a worker that was buried, an end within bounds).
//! A seed that fails fails again. What the simulation can find is shown by [`Flaw`]: each is a rule
//! of the protocol left out, and must be found within a few hundred seeds.
//!
//! Not simulated: what several sessions of PostgreSQL see of each other within a transaction.
//! `crates/store/tests` and `tests/many_machines.rs` have real servers for that.

mod check;
mod desks;
mod dice;
mod drive;
mod life;
mod line;
mod plan;
mod record;
mod scratch;
mod store;
mod web;
mod world;

pub use dice::SimDice;
pub use store::{
    FakeAsk, FakeBatch, FakeEnd, FakeFenced, FakeGrants, FakeLetter, FakeMember, FakePage, FakeReply, FakeStore,
    FakeWorker, RUN,
};
pub use web::{SimUrl, SimWeb};

use std::time::Duration;
use world::SimWorld;

/// A time in a history, or a length of time, in milliseconds.
pub type Millis = i64;

/// A rule of the protocol that is left out, to see that it is needed and that it would be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A commit does not ask whether its worker was buried or has missed a batch.
    NoFence,
    /// Leases run out also while the server is away.
    NoGrace,
    /// A request is sent whenever it is ready, however long ago it was granted.
    NoMaySend,
    /// An address opens as soon as it is given up.
    NoDelay,
    /// Letters are deleted when they are read, not in the commit of what becomes of them.
    LettersOutside,
    /// An address is given up by a call that comes after it was leased again.
    StaleRelease,
    /// A worker that joined before a failover goes on.
    OneTimeline,
    /// Who was first with some content is not written down where its shard is at hand.
    HomelessDigests,
    /// A worker ends when the budget is used up, though it has not spent what it drew.
    OldWish,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NoFence,
        Self::NoGrace,
        Self::NoMaySend,
        Self::NoDelay,
        Self::LettersOutside,
        Self::StaleRelease,
        Self::OneTimeline,
        Self::HomelessDigests,
        Self::OldWish,
    ];
}

/// What a history came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOutcome {
    /// Events.
    pub events: u64,
    /// Requests that the web has seen.
    pub requests: u64,
    /// Lives of all workers.
    pub lives: u64,
    /// How long it took, in its own time.
    pub length: Millis,
    /// The same for two plays of one history.
    pub trace: u64,
}

/// Plays the history of a seed; what is wrong, if something is.
pub fn play(seed: u64, flaw: Option<Flaw>) -> Result<SimOutcome, String> {
    let mut world = SimWorld::new(seed, flaw);
    world.play().and_then(|()| world.judge())?;
    Ok(SimOutcome {
        events: world.handled,
        requests: world.web.requests,
        lives: world.workers.iter().map(|worker| worker.lives).sum(),
        length: world.now,
        trace: world.trace,
    })
}

fn millis(span: Duration) -> Millis {
    Millis::try_from(span.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_with_everything_that_can_fail_end_well() {
        for seed in 0..150 {
            play(seed, None).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        }
    }

    #[test]
    fn a_history_is_the_same_every_time() {
        for seed in 0..20 {
            assert_eq!(play(seed, None), play(seed, None));
        }
    }

    #[test]
    fn every_rule_of_the_protocol_is_missed_when_it_is_left_out() {
        for flaw in Flaw::ALL {
            let found = (0..400).find(|seed| play(*seed, Some(flaw)).is_err());
            assert!(found.is_some(), "{flaw:?} is not noticed");
        }
    }
}
