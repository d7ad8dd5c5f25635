//! What comes next in the queues of the tree?
//!
//! A queue is scattered over all tables of the first level and those below, and finding its
//! continuation means a seek in each: among tens of millions of entries that takes as long as
//! reading the few pages wanted at a time. So queues are read ahead, and the surplus is kept for
//! the next read. The tree changes only by a fold of what is in memory; the same changes are
//! applied to what was read ahead. Entries are delta-encoded, at about four bytes each.

use super::layout::{QueueKey, parse_queue_key, queue_key};
use super::varint::{put_varint, take_varint};
use super::waiting::QueueChanges;
use super::{FrontierIndex, lock};
use crate::error::Result;
use fjall::Keyspace;
use orb_page::{HostId, PageId};
use std::collections::HashMap;
use std::ops::Bound;

/// Read-ahead in entries: the initial amount, which grows with each read, and the maximum.
pub(super) const GOING_ON: usize = 128;
const CHUNK: usize = 1_024;
/// Maximum bytes for all queues together, the minimum counted per queue, and bytes per entry.
const MOST: usize = 16 << 20;
const LEAST: usize = 128;
const ENTRY: usize = 4;

/// Rank and page of an entry.
type QueueSpot = (u64, u64);

/// The read-ahead of all queues.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pieces: HashMap<u32, QueueSection>,
    held: usize,
}

/// Delta-encoded entries in order. A page discovered later has a higher number and, among those of
/// one depth, a rank higher by as much: stored are the delta of the rank, and the difference of the
/// page's delta to it.
#[derive(Debug, Default)]
struct Spots {
    bytes: Vec<u8>,
    /// The base of the first delta, and the last entry.
    before: QueueSpot,
    last: QueueSpot,
}

/// A position among entries: the byte offset, and the previous entry.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    at: usize,
    before: QueueSpot,
}

impl Spots {
    /// Appends an entry.
    fn push(&mut self, spot: QueueSpot) {
        let step = spot.0.wrapping_sub(self.last.0);
        let beside = spot.1.wrapping_sub(self.last.1.wrapping_add(step)).cast_signed();
        put_varint(&mut self.bytes, step);
        put_varint(&mut self.bytes, ((beside << 1) ^ (beside >> 63)).cast_unsigned());
        self.last = spot;
    }

    fn start(&self) -> Cursor {
        Cursor { at: 0, before: self.before }
    }

    /// The entry at a position, and the next position.
    fn step(&self, cursor: Cursor) -> Option<(QueueSpot, Cursor)> {
        let mut rest = self.bytes.get(cursor.at..)?;
        let (step, beside) = (take_varint(&mut rest)?, take_varint(&mut rest)?);
        let beside = (beside >> 1) ^ (beside & 1).wrapping_neg();
        let (rank, page) = cursor.before;
        let spot = (rank.wrapping_add(step), page.wrapping_add(step).wrapping_add(beside));
        Some((spot, Cursor { at: self.bytes.len() - rest.len(), before: spot }))
    }

    fn iter(&self) -> impl Iterator<Item = QueueSpot> {
        let mut cursor = self.start();
        std::iter::from_fn(move || {
            let (spot, behind) = self.step(cursor)?;
            cursor = behind;
            Some(spot)
        })
    }

    /// Drops the entries before a position.
    fn cut(&mut self, cursor: Cursor) {
        self.bytes.drain(..cursor.at);
        self.before = cursor.before;
    }
}

impl FromIterator<QueueSpot> for Spots {
    fn from_iter<I: IntoIterator<Item = QueueSpot>>(sorted: I) -> Self {
        let mut spots = Self::default();
        sorted.into_iter().for_each(|spot| spots.push(spot));
        spots.bytes.shrink_to_fit();
        spots
    }
}

/// A section of a queue: everything the tree has of it between two positions.
#[derive(Debug)]
struct QueueSection {
    from: Bound<QueueSpot>,
    /// The last position it covers; `None` if it reaches the end of the queue.
    to: Option<QueueSpot>,
    spots: Spots,
    /// How many entries were read together.
    read: usize,
}

impl QueueSection {
    fn heap_bytes(&self) -> usize {
        self.spots.bytes.capacity().max(LEAST)
    }

    /// The rest of it from a position on; `None` if it does not cover that.
    fn cut(mut self, from: Bound<QueueSpot>) -> Option<Self> {
        let behind = self.to.is_some_and(|to| order(from) >= order(Bound::Excluded(to)));
        if behind || order(from) < order(self.from) {
            return None;
        }
        let mut first = self.spots.start();
        while let Some((spot, behind)) = self.spots.step(first)
            && order(Bound::Included(spot)) < order(from)
        {
            first = behind;
        }
        self.spots.cut(first);
        self.from = from;
        Some(self)
    }

    /// Applies the changes of a fold.
    fn follow(&mut self, host: HostId, changes: &QueueChanges) {
        let to = self.to.unwrap_or((u64::MAX, u64::MAX));
        let (mut added, mut gone) = (Vec::new(), Vec::new());
        for (changed, there) in changes.range((place(host, self.from), place(host, Bound::Included(to)))) {
            let (_, rank, page) = parse_queue_key(&changed);
            let spots = if there { &mut added } else { &mut gone };
            spots.push((rank, page.0));
        }
        if added.is_empty() && gone.is_empty() {
            return;
        }
        added.extend(self.spots.iter().filter(|spot| gone.binary_search(spot).is_err()));
        added.sort_unstable();
        added.dedup();
        self.spots = added.into_iter().collect();
    }
}

/// Bounds ordered by where they begin.
fn order(from: Bound<QueueSpot>) -> Option<(QueueSpot, bool)> {
    match from {
        Bound::Included(spot) => Some((spot, false)),
        Bound::Excluded(spot) => Some((spot, true)),
        Bound::Unbounded => None,
    }
}

/// A pseudo-random number per queue position (Fibonacci hashing).
fn scattered(host: HostId, from: Bound<QueueSpot>) -> usize {
    let ((rank, page), _) = order(from).unwrap_or_default();
    let mixed = u64::from(host.0).rotate_left(32) ^ rank.rotate_left(16) ^ page;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

fn place(host: HostId, bound: Bound<QueueSpot>) -> Bound<QueueKey> {
    bound.map(|(rank, page)| queue_key(host, rank, PageId(page)))
}

impl Ahead {
    /// Takes the read-ahead of a queue, from a position on.
    fn take(&mut self, host: HostId, from: Bound<QueueSpot>) -> Option<QueueSection> {
        let piece = self.pieces.remove(&host.0)?;
        self.held -= piece.heap_bytes();
        piece.cut(from)
    }

    fn keep(&mut self, host: HostId, piece: QueueSection) {
        self.make_room(piece.heap_bytes());
        self.held += piece.heap_bytes();
        if let Some(other) = self.pieces.insert(host.0, piece) {
            self.held -= other.heap_bytes();
        }
    }

    /// Maximum entries per read of a queue, so that there is room for as many of every other.
    fn share(&self) -> usize {
        (MOST / ENTRY / (self.pieces.len() + 1)).clamp(GOING_ON, CHUNK)
    }

    /// Evicts an eighth of the queues, whichever they are, until there is room for this many more
    /// bytes.
    fn make_room(&mut self, more: usize) {
        while self.held + more > MOST && !self.pieces.is_empty() {
            let (mut nth, mut held) = (0, self.held);
            self.pieces.retain(|_, piece| {
                nth += 1;
                let stays = nth % 8 != 1;
                held -= if stays { 0 } else { piece.heap_bytes() };
                stays
            });
            self.held = held;
        }
    }

    /// Applies the changes of a fold.
    pub(super) fn follow(&mut self, changes: &QueueChanges) {
        for (host, piece) in &mut self.pieces {
            piece.follow(HostId(*host), changes);
        }
        self.held = self.pieces.values().map(QueueSection::heap_bytes).sum();
        self.make_room(0);
    }
}

/// Reads a queue of the tree, through its read-ahead.
pub(super) struct QueueReader<'a> {
    index: &'a FrontierIndex,
    tree: &'a Keyspace,
    host: HostId,
    first: usize,
    piece: QueueSection,
    /// The next entry of the section.
    at: Cursor,
}

impl<'a> QueueReader<'a> {
    /// Starts at a position; `first` is how many entries to read if there is no read-ahead.
    pub(super) fn new(
        index: &'a FrontierIndex,
        tree: &'a Keyspace,
        host: HostId,
        from: Bound<QueueSpot>,
        first: usize,
    ) -> Result<Self> {
        let known = lock(&index.shared.ahead).take(host, from);
        let is_known = known.is_some();
        let piece = known.unwrap_or_else(|| QueueSection { from, to: None, spots: Spots::default(), read: 0 });
        let at = piece.spots.start();
        let mut reader = Self { index, tree, host, first, piece, at };
        if !is_known {
            reader.read(from)?;
        }
        Ok(reader)
    }

    /// Reads the section that begins here. A seek costs as much as some hundred entries, so a queue
    /// that was read far gets more at a time, as long as there is room. The amount varies from
    /// queue to queue, so that queues started together do not stay in lockstep.
    fn read(&mut self, from: Bound<QueueSpot>) -> Result<()> {
        let chunk = match self.piece.read {
            0 => self.first,
            before => {
                let half = (2 * before).clamp(GOING_ON, lock(&self.index.shared.ahead).share()) / 2;
                half + scattered(self.host, from) % (half + 1)
            }
        };
        let end = Bound::Included((u64::MAX, u64::MAX));
        let (mut spots, mut count) = (Spots::default(), 0);
        for entry in self.tree.range((place(self.host, from), place(self.host, end))).take(chunk) {
            let (_, rank, page) = parse_queue_key(&self.index.place_of(entry)?);
            spots.push((rank, page.0));
            count += 1;
        }
        spots.bytes.shrink_to_fit();
        let to = Some(spots.last).filter(|_| count == chunk);
        self.at = spots.start();
        self.piece = QueueSection { from, to, spots, read: count };
        Ok(())
    }

    /// Keeps the surplus: the queue will be read next from after this position.
    pub(super) fn keep(self, last: QueueSpot) {
        if let Some(piece) = self.piece.cut(Bound::Excluded(last)) {
            lock(&self.index.shared.ahead).keep(self.host, piece);
        }
    }
}

impl Iterator for QueueReader<'_> {
    type Item = Result<QueueKey>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(((rank, page), behind)) = self.piece.spots.step(self.at) {
                self.at = behind;
                return Some(Ok(queue_key(self.host, rank, PageId(page))));
            }
            let to = self.piece.to?;
            if let Err(e) = self.read(Bound::Excluded(to)) {
                return Some(Err(e));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The result of reading from a position on.
    fn read(tree: &BTreeSet<QueueSpot>, from: Bound<QueueSpot>, chunk: usize) -> QueueSection {
        let spots: Vec<QueueSpot> = tree.range((from, Bound::Unbounded)).take(chunk).copied().collect();
        let to = spots.last().copied().filter(|_| spots.len() == chunk);
        QueueSection { from, to, read: spots.len(), spots: spots.into_iter().collect() }
    }

    proptest! {
        #[test]
        fn entries_come_back_from_any_place_on(spots in prop::collection::btree_set((any::<u64>(), any::<u64>()), 0..40), cut in 0usize..40) {
            let sorted: Vec<QueueSpot> = spots.into_iter().collect();
            let mut packed: Spots = sorted.iter().copied().collect();
            prop_assert!(packed.iter().eq(sorted.iter().copied()));
            let mut cursor = packed.start();
            for _ in 0..cut.min(sorted.len()) {
                cursor = packed.step(cursor).unwrap().1;
            }
            packed.cut(cursor);
            prop_assert!(packed.iter().eq(sorted.iter().skip(cut).copied()));
        }
    }

    #[test]
    fn entries_of_one_depth_take_few_bytes() {
        let spots: Spots = (1..=1_000).map(|n| ((3 << 48) + n * 5_000, n * 5_000)).collect();
        assert!(spots.bytes.len() < 3_100, "{}", spots.bytes.len());
    }

    fn bound(spot: QueueSpot, excluded: bool) -> Bound<QueueSpot> {
        if excluded { Bound::Excluded(spot) } else { Bound::Included(spot) }
    }

    proptest! {
        #[test]
        fn what_was_read_ahead_is_what_the_tree_has_after_every_fold(
            tree in prop::collection::btree_set((0u64..9, 0u64..9), 0..60), first in (0u64..9, 0u64..9), chunk in 1usize..20,
            folds in prop::collection::vec((prop::collection::vec(((0u64..9, 0u64..9), any::<bool>()), 0..9), (0u64..9, 0u64..9), any::<bool>()), 1..6)
        ) {
            let (host, mut tree) = (HostId(7), tree);
            let mut ahead = Ahead::default();
            ahead.keep(host, read(&tree, Bound::Included(first), chunk));
            for (changed, from, excluded) in folds {
                let mut run: Vec<_> = changed.iter().map(|((rank, page), there)| (queue_key(host, *rank, PageId(*page)), *there)).collect();
                run.push((queue_key(HostId(8), 0, PageId(0)), true));
                run.sort_by_key(|(place, _)| *place);
                let mut changes = QueueChanges::default();
                changes.add(run);
                for (spot, there) in changed {
                    if there { tree.insert(spot); } else { tree.remove(&spot); }
                }
                ahead.follow(&changes);
                let from = bound(from, excluded);
                if let Some(piece) = ahead.take(host, from) {
                    let to = piece.to.map_or(Bound::Unbounded, Bound::Included);
                    prop_assert!(tree.range((from, to)).copied().eq(piece.spots.iter()));
                    ahead.keep(host, piece);
                } else {
                    ahead.keep(host, read(&tree, from, chunk));
                }
                prop_assert_eq!(ahead.held, ahead.pieces.values().map(QueueSection::heap_bytes).sum::<usize>());
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for_and_most_of_that() {
        let mut ahead = Ahead::default();
        let mut full = false;
        for host in 0..40_000 {
            let spots = (0..100).map(|n| (n << 56, n)).collect();
            let piece = QueueSection { from: Bound::Included((0, 0)), to: None, spots, read: 100 };
            full |= ahead.held + piece.heap_bytes() > MOST;
            ahead.keep(HostId(host), piece);
            assert!(ahead.held <= MOST && (!full || ahead.held > MOST / 8 * 6), "{host} {}", ahead.held);
        }
        assert!(full);
        assert_eq!(ahead.held, ahead.pieces.values().map(QueueSection::heap_bytes).sum::<usize>());
        let last = |ahead: &mut Ahead| ahead.take(HostId(39_999), Bound::Excluded((98 << 56, 98)));
        assert!(last(&mut ahead).is_some_and(|piece| piece.spots.iter().eq([(99 << 56, 99)])));
        assert!(last(&mut ahead).is_none());
    }
}
