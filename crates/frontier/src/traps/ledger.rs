//! How often has it happened?
//!
//! The counters behind the trap rules: bounded in memory, and committed as far as they matter, so
//! that a trap gains nothing from a crawl that is stopped and resumed many times.

use crate::recent::Recent;
use hashbrown::HashMap;

/// How far a counter moves before it is persisted again: what a restart may lose of it.
const STEP: u32 = 32;

/// A counter, and its persisted value.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    now: u32,
    kept: u32,
}

/// Counters by key.
#[derive(Debug)]
pub(super) struct TrapCounters {
    counts: Recent<u64, Count>,
    changed: HashMap<u64, u32>,
}

impl TrapCounters {
    /// No counters, with this capacity.
    pub(super) fn new(capacity: usize) -> Self {
        Self { counts: Recent::new(capacity), changed: HashMap::new() }
    }

    /// A counter; 0 if there is none.
    pub(super) fn get(&mut self, key: u64) -> u32 {
        self.counts.get(&key).map_or(0, |count| count.now)
    }

    /// Increments a counter.
    pub(super) fn up(&mut self, key: u64) {
        self.change(key, |n| n.saturating_add(1), STEP);
    }

    /// Decrements a counter, saturating at 0.
    pub(super) fn down(&mut self, key: u64) {
        if self.counts.peek(&key).is_some_and(|count| count.now > 0) {
            self.change(key, |n| n.saturating_sub(1), STEP);
        }
    }

    /// Sets a counter and persists it with the next commit.
    pub(super) fn set(&mut self, key: u64, number: u32) {
        self.change(key, |_| number, 1);
    }

    fn change(&mut self, key: u64, how: impl FnOnce(u32) -> u32, step: u32) {
        let count = self.counts.get_or_insert(key, 1);
        count.now = how(count.now);
        if count.now.abs_diff(count.kept) >= step {
            count.kept = count.now;
            self.changed.insert(key, count.now);
        }
    }

    /// The counters to persist since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<(u64, u32)> {
        self.changed.drain().collect()
    }

    /// Restores persisted counters.
    pub(super) fn recall(&mut self, counts: impl IntoIterator<Item = (u64, u32)>) {
        for (key, number) in counts {
            self.counts.insert(key, Count { now: number, kept: number }, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_forgets_less_than_a_step() {
        let mut kept = HashMap::new();
        let mut total = 0;
        for _ in 0..10 {
            let mut ledger = TrapCounters::new(100);
            ledger.recall(kept.iter().map(|(k, n)| (*k, *n)));
            for _ in 0..100 {
                ledger.up(7);
            }
            total += 100;
            kept.extend(ledger.take_changed());
            assert_eq!(ledger.take_changed(), []);
        }
        assert!(kept[&7] > total - 10 * STEP && kept[&7] <= total, "{kept:?} of {total}");
    }

    #[test]
    fn what_falls_is_written_down_as_what_rises_is() {
        let mut ledger = TrapCounters::new(100);
        ledger.recall([(1, 40)]);
        (0..40).for_each(|_| ledger.down(1));
        assert_eq!(ledger.take_changed(), [(1, 8)]);
        ledger.down(1);
        ledger.set(2, 5);
        assert_eq!((ledger.get(1), ledger.get(2), ledger.take_changed()), (0, 5, vec![(2, 5)]));
    }
}
