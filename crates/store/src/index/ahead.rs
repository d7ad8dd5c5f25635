//! What comes next in the queues of the tree?
//!
//! A queue lies scattered over all tables of the first level and those below, and each has to be asked where it goes on: among tens of millions of entries
//! that takes as long as reading the few pages that are wanted at a time. So more entries are read than are asked for, and kept for the next look.
//! The tree changes only when it is folded into, by what is in memory then; what was read ahead is changed in the same way.

use super::changes::Changes;
use super::layout::{Place, parse_queue_key, queue_key};
use super::{FrontierIndex, lock};
use crate::error::Result;
use fjall::Keyspace;
use orb_page::{HostId, PageId};
use std::collections::HashMap;
use std::ops::Bound;

/// Entries read at a time by who goes on reading, at most.
pub(super) const CHUNK: usize = 192;
/// Entries kept of all queues together, and those that a queue counts for at least.
const MOST: usize = 1 << 20;
const LEAST: usize = 8;

/// Rank and page of an entry.
type Spot = (u64, u64);

/// What was read ahead of all queues.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pieces: HashMap<u32, Piece>,
    held: usize,
}

/// A piece of a queue: all that the tree has of it between two places.
#[derive(Debug)]
struct Piece {
    from: Bound<Spot>,
    /// The last place it speaks of; `None` where it goes to the end of the queue.
    to: Option<Spot>,
    spots: Vec<Spot>,
}

impl Piece {
    fn weight(&self) -> usize {
        self.spots.capacity().max(LEAST)
    }

    /// What there is of it from a place on; `None` where it says nothing of that.
    fn cut(mut self, from: Bound<Spot>) -> Option<Self> {
        let behind = self.to.is_some_and(|to| order(from) >= order(Bound::Excluded(to)));
        if behind || order(from) < order(self.from) {
            return None;
        }
        let gone = self.spots.partition_point(|spot| order(Bound::Included(*spot)) < order(from));
        self.spots.drain(..gone);
        self.from = from;
        Some(self)
    }

    /// Becomes what the tree has after a fold of these changes.
    fn follow(&mut self, host: HostId, changes: &Changes) {
        let to = self.to.unwrap_or((u64::MAX, u64::MAX));
        let mut gone = Vec::new();
        let before = self.spots.len();
        for (changed, there) in changes.range((place(host, self.from), place(host, Bound::Included(to)))) {
            let (_, rank, page) = parse_queue_key(&changed);
            let spots = if there { &mut self.spots } else { &mut gone };
            spots.push((rank, page.0));
        }
        if self.spots.len() > before {
            self.spots.sort_unstable();
            self.spots.dedup();
        }
        if !gone.is_empty() {
            self.spots.retain(|spot| gone.binary_search(spot).is_err());
        }
    }
}

/// Bounds in the order of where they begin.
fn order(from: Bound<Spot>) -> Option<(Spot, bool)> {
    match from {
        Bound::Included(spot) => Some((spot, false)),
        Bound::Excluded(spot) => Some((spot, true)),
        Bound::Unbounded => None,
    }
}

/// A number that looks random, for each place of a queue another one (Fibonacci hashing).
fn scattered(host: HostId, from: Bound<Spot>) -> usize {
    let ((rank, page), _) = order(from).unwrap_or_default();
    let mixed = u64::from(host.0).rotate_left(32) ^ rank.rotate_left(16) ^ page;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

fn place(host: HostId, bound: Bound<Spot>) -> Bound<Place> {
    bound.map(|(rank, page)| queue_key(host, rank, PageId(page)))
}

impl Ahead {
    /// Takes what was read ahead of a queue, from a place on.
    fn take(&mut self, host: HostId, from: Bound<Spot>) -> Option<Piece> {
        let piece = self.pieces.remove(&host.0)?;
        self.held -= piece.weight();
        piece.cut(from)
    }

    fn keep(&mut self, host: HostId, piece: Piece) {
        if self.held + piece.weight() > MOST {
            *self = Self::default();
        }
        self.held += piece.weight();
        if let Some(other) = self.pieces.insert(host.0, piece) {
            self.held -= other.weight();
        }
    }

    /// Becomes what the tree has after a fold of these changes.
    pub(super) fn follow(&mut self, changes: &Changes) {
        for (host, piece) in &mut self.pieces {
            piece.follow(HostId(*host), changes);
        }
        self.held = self.pieces.values().map(Piece::weight).sum();
        if self.held > MOST {
            *self = Self::default();
        }
    }
}

/// Reads a queue of the tree, from what was read ahead as far as it goes.
pub(super) struct Reader<'a> {
    index: &'a FrontierIndex,
    tree: &'a Keyspace,
    host: HostId,
    chunk: (usize, usize),
    piece: Piece,
    /// The next entry of the piece.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins at a place; the least and the most entries to read at a time are given.
    pub(super) fn new(
        index: &'a FrontierIndex,
        tree: &'a Keyspace,
        host: HostId,
        from: Bound<Spot>,
        chunk: (usize, usize),
    ) -> Result<Self> {
        let piece = Piece { from, to: None, spots: Vec::new() };
        let mut reader = Self { index, tree, host, chunk, piece, at: 0 };
        let known = lock(&index.shared.ahead).take(host, from);
        match known {
            Some(piece) => reader.piece = piece,
            None => reader.read(from)?,
        }
        Ok(reader)
    }

    /// Reads the piece that begins here. Its length is any between the least and the most, lest queues that were begun together are read on
    /// together for ever.
    fn read(&mut self, from: Bound<Spot>) -> Result<()> {
        let (least, most) = self.chunk;
        let chunk = least + scattered(self.host, from) % (most - least + 1);
        let end = Bound::Included((u64::MAX, u64::MAX));
        let mut spots = Vec::with_capacity(chunk.min(1_024));
        for entry in self.tree.range((place(self.host, from), place(self.host, end))).take(chunk) {
            let (_, rank, page) = parse_queue_key(&self.index.place_of(entry)?);
            spots.push((rank, page.0));
        }
        let to = spots.last().copied().filter(|_| spots.len() == chunk);
        (self.piece, self.at) = (Piece { from, to, spots }, 0);
        Ok(())
    }

    /// Keeps what was read and is not wanted now: the queue is wanted next from behind this place on.
    pub(super) fn keep(self, last: Spot) {
        if let Some(piece) = self.piece.cut(Bound::Excluded(last)) {
            lock(&self.index.shared.ahead).keep(self.host, piece);
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Place>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at == self.piece.spots.len() {
            let to = self.piece.to?;
            if let Err(e) = self.read(Bound::Excluded(to)) {
                return Some(Err(e));
            }
        }
        let (rank, page) = self.piece.spots[self.at];
        self.at += 1;
        Some(Ok(queue_key(self.host, rank, PageId(page))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What reading from a place on gives.
    fn read(tree: &BTreeSet<Spot>, from: Bound<Spot>, chunk: usize) -> Piece {
        let spots: Vec<Spot> = tree.range((from, Bound::Unbounded)).take(chunk).copied().collect();
        Piece { from, to: spots.last().copied().filter(|_| spots.len() == chunk), spots }
    }

    fn bound(spot: Spot, excluded: bool) -> Bound<Spot> {
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
                let mut changes = Changes::default();
                changes.add(run);
                for (spot, there) in changed {
                    if there { tree.insert(spot); } else { tree.remove(&spot); }
                }
                ahead.follow(&changes);
                let from = bound(from, excluded);
                if let Some(piece) = ahead.take(host, from) {
                    let to = piece.to.map_or(Bound::Unbounded, Bound::Included);
                    prop_assert!(tree.range((from, to)).eq(&piece.spots));
                    ahead.keep(host, piece);
                } else {
                    ahead.keep(host, read(&tree, from, chunk));
                }
                prop_assert_eq!(ahead.held, ahead.pieces.values().map(Piece::weight).sum::<usize>());
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut ahead = Ahead::default();
        for host in 0..20_000 {
            let spots: Vec<Spot> = (0..100).map(|n| (n, n)).collect();
            ahead.keep(HostId(host), Piece { from: Bound::Included((0, 0)), to: None, spots });
            assert!(ahead.held <= MOST);
        }
        assert!(ahead.take(HostId(19_999), Bound::Excluded((98, 98))).is_some_and(|piece| piece.spots == [(99, 99)]));
        assert!(ahead.take(HostId(19_999), Bound::Excluded((98, 98))).is_none());
    }
}
