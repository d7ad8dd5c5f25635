//! How long is each host's queue?
//!
//! Hosts are numbered densely, so the lengths are in blocks by number. A batch changes those of
//! some thousand hosts scattered among a hundred thousand: in a block that costs one cache line
//! each, in a tree of single hosts several. A block without any queue is freed.

use std::collections::BTreeMap;

/// Hosts per block, and words of its bit sets.
const BLOCK: usize = 1_024;
const WORDS: usize = BLOCK / 64;

/// The queue of one host: its length, and a position before which it is known to be empty, so that
/// the tombstones of finished pages are skipped once and not at every read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueLength {
    pub(super) count: u64,
    pub(super) front: (u64, u64),
}

/// The change of one host's queue by a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub(super) added: u64,
    pub(super) removed: u64,
    /// The first position that was added.
    pub(super) first: Option<(u64, u64)>,
}

/// The queues of all hosts that have one.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    blocks: BTreeMap<u32, LengthBlock>,
    queued: u64,
}

/// The queues of hosts with adjacent numbers.
#[derive(Debug)]
struct LengthBlock {
    queues: Box<[QueueLength]>,
    /// Hosts that have a queue.
    filled: Set,
    /// Hosts whose queue has changed since the last fold.
    changed: Set,
}

/// A bit set of the hosts of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Set([u64; WORDS]);

impl Set {
    fn put(&mut self, at: usize, there: bool) {
        let bit = 1 << (at % 64);
        if there {
            self.0[at / 64] |= bit;
        } else {
            self.0[at / 64] &= !bit;
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The first member from a position on.
    fn first_from(&self, at: usize) -> Option<usize> {
        let (from, below) = (at / 64, (1 << (at % 64)) - 1);
        let words = (from..WORDS).map(|w| (w, if w == from { self.0[w] & !below } else { self.0[w] }));
        words.filter(|(_, word)| *word != 0).map(|(w, word)| w * 64 + word.trailing_zeros() as usize).next()
    }

    fn each(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.first_from(0), |at| (at + 1 < BLOCK).then(|| self.first_from(at + 1)).flatten())
    }
}

impl LengthBlock {
    fn new() -> Self {
        let queues = vec![QueueLength::default(); BLOCK].into_boxed_slice();
        Self { queues, filled: Set::default(), changed: Set::default() }
    }
}

/// The block of a host, and its index there.
fn place(host: u32) -> (u32, usize) {
    (host / BLOCK as u32, host as usize % BLOCK)
}

/// The host at an index of a block.
fn host_at(block: u32, at: usize) -> u32 {
    block * BLOCK as u32 + at as u32
}

impl Lengths {
    /// Total number of queued pages.
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    /// The queue of a host, if it has one.
    pub(super) fn get(&self, host: u32) -> Option<QueueLength> {
        let (block, at) = place(host);
        self.blocks.get(&block).map(|block| block.queues[at]).filter(|queue| queue.count > 0)
    }

    /// Loads the length of a queue from the tree.
    pub(super) fn load(&mut self, host: u32, count: u64) {
        let (block, at) = place(host);
        let block = self.blocks.entry(block).or_insert_with(LengthBlock::new);
        self.queued = self.queued + count - block.queues[at].count;
        block.queues[at] = QueueLength { count, front: (0, 0) };
        block.filled.put(at, count > 0);
    }

    /// Changes a queue.
    pub(super) fn change(&mut self, host: u32, change: Change) {
        let (block, at) = place(host);
        let block = self.blocks.entry(block).or_insert_with(LengthBlock::new);
        let queue = &mut block.queues[at];
        let before = *queue;
        queue.count = (before.count + change.added).saturating_sub(change.removed);
        queue.front = match change.first {
            Some(first) if before.count == 0 => first,
            Some(first) => before.front.min(first),
            None => before.front,
        };
        self.queued = self.queued + queue.count - before.count;
        block.filled.put(at, queue.count > 0);
        block.changed.put(at, true);
    }

    /// Records a position before which a queue is empty.
    pub(super) fn set_front(&mut self, host: u32, front: (u64, u64)) {
        let (block, at) = place(host);
        if let Some(block) = self.blocks.get_mut(&block) {
            block.queues[at].front = front;
        }
    }

    /// The next host with a queue.
    pub(super) fn next_after(&self, host: u32) -> Option<u32> {
        let (first, from) = place(host.checked_add(1)?);
        self.blocks.range(first..).find_map(|(number, block)| {
            let at = block.filled.first_from(if *number == first { from } else { 0 })?;
            Some(host_at(*number, at))
        })
    }

    /// All queues, ordered by host.
    pub(super) fn each(&self) -> impl Iterator<Item = (u32, QueueLength)> + '_ {
        self.blocks
            .iter()
            .flat_map(|(number, block)| block.filled.each().map(|at| (host_at(*number, at), block.queues[at])))
    }

    /// The lengths that have changed since the last fold, ordered by host, including those that are
    /// now 0.
    pub(super) fn changed(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.blocks
            .iter()
            .flat_map(|(number, block)| block.changed.each().map(|at| (host_at(*number, at), block.queues[at].count)))
    }

    /// Marks all as folded.
    pub(super) fn folded(&mut self) {
        self.blocks.retain(|_, block| {
            block.changed = Set::default();
            !block.filled.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn added(added: u64, first: u64) -> Change {
        Change { added, removed: 0, first: Some((first, first)) }
    }

    #[test]
    fn a_queue_begins_at_the_first_of_what_was_added_since_it_was_empty() {
        let mut lengths = Lengths::default();
        lengths.change(7, added(2, 50));
        lengths.change(7, added(1, 90));
        assert_eq!(lengths.get(7), Some(QueueLength { count: 3, front: (50, 50) }));
        lengths.change(7, Change { removed: 3, ..Change::default() });
        assert_eq!((lengths.get(7), lengths.queued(), lengths.next_after(0)), (None, 0, None));
        lengths.change(7, added(1, 60));
        assert_eq!(lengths.get(7), Some(QueueLength { count: 1, front: (60, 60) }));
        lengths.set_front(7, (61, 0));
        lengths.change(7, added(1, 60));
        assert_eq!(lengths.get(7).map(|p| p.front), Some((60, 60)));
    }

    #[test]
    fn the_last_host_there_can_be_is_a_host_like_any_other() {
        let mut lengths = Lengths::default();
        lengths.load(u32::MAX, 3);
        assert_eq!((lengths.next_after(5), lengths.next_after(u32::MAX)), (Some(u32::MAX), None));
        assert_eq!(lengths.each().map(|(host, queue)| (host, queue.count)).collect::<Vec<_>>(), [(u32::MAX, 3)]);
    }

    proptest! {
        #[test]
        fn lengths_are_what_a_map_says(steps in prop::collection::vec((0u32..5_000, 0u64..3, 0u64..3, 0u8..40), 0..400)) {
            let (mut lengths, mut map) = (Lengths::default(), BTreeMap::new());
            let mut changed = std::collections::BTreeSet::new();
            for (host, added, removed, fold) in steps {
                lengths.change(host, Change { added, removed, first: (added > 0).then_some((0, 0)) });
                let count = map.entry(host).or_insert(0u64);
                *count = (*count + added).saturating_sub(removed);
                map.retain(|_, count| *count > 0);
                changed.insert(host);
                if fold == 0 {
                    lengths.folded();
                    changed.clear();
                }
            }
            prop_assert!(lengths.each().map(|(host, queue)| (host, queue.count)).eq(map.iter().map(|(h, c)| (*h, *c))));
            prop_assert!(lengths.changed().eq(changed.iter().map(|h| (*h, map.get(h).copied().unwrap_or(0)))));
            prop_assert_eq!(lengths.queued(), map.values().sum::<u64>());
            for host in 0..5_000 {
                prop_assert_eq!(lengths.next_after(host), map.range(host + 1..).next().map(|(h, _)| *h));
                prop_assert_eq!(lengths.get(host).map(|p| p.count), map.get(&host).copied());
            }
        }
    }
}
