//! Which of many candidates are worth most, if only a few can be chosen?

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A bounded heap that keeps the best of what it is offered.
#[derive(Debug)]
pub struct Best<T> {
    room: usize,
    kept: BinaryHeap<Reverse<HeapEntry<T>>>,
}

#[derive(Debug, PartialEq, Eq)]
struct HeapEntry<T> {
    worth: Worth,
    what: Reverse<T>,
}

#[derive(Clone, Copy, Debug)]
struct Worth(f64);

impl PartialEq for Worth {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worth {}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worth {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<T: Ord> PartialOrd for HeapEntry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for HeapEntry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.cmp(&other.worth).then_with(|| self.what.cmp(&other.what))
    }
}

impl<T: Ord> Best<T> {
    /// A heap with this capacity.
    pub fn new(room: usize) -> Self {
        Self { room, kept: BinaryHeap::new() }
    }

    /// Offers a candidate; ties go to the smaller one.
    pub fn offer(&mut self, what: T, worth: f64) {
        let one = Reverse(HeapEntry { worth: Worth(worth), what: Reverse(what) });
        if self.kept.len() < self.room {
            self.kept.push(one);
        } else if self.kept.peek().is_some_and(|worst| one < *worst) {
            self.kept.pop();
            self.kept.push(one);
        }
    }

    /// The best, in their own order.
    pub fn into_sorted(self) -> Vec<T> {
        let mut best: Vec<T> = self.kept.into_iter().map(|one| one.0.what.0).collect();
        best.sort_unstable();
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_ties_go_to_the_smaller() {
        let mut best = Best::new(3);
        for (what, worth) in [(9, 1.0), (4, 5.0), (7, 1.0), (1, 0.5), (2, 3.0), (8, 1.0)] {
            best.offer(what, worth);
        }
        assert_eq!(best.into_sorted(), [2, 4, 7]);
        let mut none = Best::new(0);
        none.offer(1, 1.0);
        assert!(none.into_sorted().is_empty());
    }
}
