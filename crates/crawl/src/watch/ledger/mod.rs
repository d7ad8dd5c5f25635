//! Where does the time go?
//!
//! Every thread of a crawl records how long each stage of a page's life took and what the driver
//! waited for. Writing is two relaxed atomic additions and never blocks; reading returns a
//! [`Tally`], a plain copy that can be added, subtracted and stored.

mod histogram;
mod idle;
mod stage;
mod tally;

pub use histogram::Spread;
pub use idle::Idle;
pub use stage::{Stage, StageResource};
pub use tally::Tally;

use histogram::Histogram;
use orb_page::Timings;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The counters of one process, shared by all threads.
#[derive(Debug, Default)]
pub struct Ledger {
    stages: [Histogram; Stage::ALL.len()],
    idle: [AtomicU64; Idle::ALL.len()],
    latest: AtomicUsize,
}

impl Ledger {
    /// A stage took this long.
    pub fn note(&self, stage: Stage, took: Duration) {
        self.stages[stage as usize].note(took);
    }

    /// A fetch took `whole`. What the fetcher does not account for, it waited for a free
    /// connection. Phases that did not happen, such as connecting on a reused connection, are not
    /// counted.
    pub(crate) fn note_fetch(&self, timings: &Timings, whole: Duration) {
        let phases = [
            (Stage::Dns, timings.dns),
            (Stage::Connect, timings.connect),
            (Stage::Tls, timings.tls),
            (Stage::Wait, timings.wait),
            (Stage::Body, timings.body),
        ];
        let mut rest = whole;
        for (stage, took) in phases {
            rest = rest.saturating_sub(took);
            if !took.is_zero() {
                self.note(stage, took);
            }
        }
        self.note(Stage::Slot, rest);
    }

    /// The driver could grant nothing for this long, for this reason.
    pub(crate) fn note_idle(&self, why: Idle, took: Duration) {
        self.idle[why as usize].fetch_add(nanos(took), Ordering::Relaxed);
        self.latest.store(why as usize, Ordering::Relaxed);
    }

    /// What the driver waited for last.
    pub(crate) fn latest(&self) -> Option<Idle> {
        Idle::ALL.get(self.latest.load(Ordering::Relaxed)).copied()
    }

    /// A snapshot.
    pub fn tally(&self) -> Tally {
        Tally {
            stages: Stage::ALL.iter().map(|s| (*s, self.stages[*s as usize].spread())).collect(),
            idle: Idle::ALL.iter().map(|i| (*i, self.idle[*i as usize].load(Ordering::Relaxed))).collect(),
        }
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fetch_does_not_account_for_was_spent_on_the_way_to_a_connection() {
        let ledger = Ledger::default();
        let ms = Duration::from_millis;
        let timings = Timings { wait: ms(20), body: ms(5), ..Timings::default() };
        ledger.note_fetch(&timings, ms(40));
        let tally = ledger.tally();
        assert_eq!(tally.stage(Stage::Wait).count, 1);
        assert_eq!(tally.stage(Stage::Connect).count, 0, "a reused connection is not one opened in no time");
        assert_eq!(tally.stage(Stage::Slot).nanos, 15_000_000);
    }

    #[test]
    fn threads_lose_nothing_to_each_other() {
        let ledger = Ledger::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| ledger.note(Stage::Read, Duration::from_micros(7))));
            }
        });
        let read = ledger.tally().stage(Stage::Read).clone();
        assert_eq!((read.count, read.nanos), (4_000, 28_000_000));
    }
}
