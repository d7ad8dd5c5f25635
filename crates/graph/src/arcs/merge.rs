//! How do several sorted runs become one?
//!
//! A k-way merge with a heap of the runs' heads. The compressor takes plain iterators, which cannot
//! return errors, so a merge that fails to read ends early and leaves the error in
//! [`MergeFailure`]. It must be checked before the result is trusted.

use super::run::ArcRunReader;
use crate::error::{GraphError, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a merge reports why it ended early.
#[derive(Clone, Default)]
pub(crate) struct MergeFailure(Arc<Mutex<Option<GraphError>>>);

impl MergeFailure {
    /// Reports a failure; the first one is kept.
    pub(crate) fn set(&self, error: GraphError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the failure, if there was one.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The arcs of several runs in order, without duplicates.
pub(crate) struct ArcMerge {
    readers: Vec<ArcRunReader>,
    /// The next arc of each remaining run, as a min-heap.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    last: Option<u64>,
    failed: MergeFailure,
}

impl ArcMerge {
    pub(super) fn new(readers: Vec<ArcRunReader>, failed: MergeFailure) -> Self {
        let mut merge = Self { heads: BinaryHeap::with_capacity(readers.len()), readers, last: None, failed };
        for run in 0..merge.readers.len() {
            if let Some(arc) = merge.step(run) {
                merge.heads.push(Reverse((arc, run)));
            }
        }
        merge
    }

    /// The next arc of one run.
    fn step(&mut self, run: usize) -> Option<u64> {
        let reader = &mut self.readers[run];
        match reader.next() {
            Ok(arc) => arc,
            Err(e) => {
                self.failed.set(reader.fail(e));
                self.heads.clear();
                None
            }
        }
    }

    /// The next arc, including duplicates.
    fn smallest(&mut self) -> Option<u64> {
        let Reverse((arc, run)) = *self.heads.peek()?;
        match self.step(run) {
            Some(next) => {
                if let Some(mut head) = self.heads.peek_mut() {
                    *head = Reverse((next, run));
                }
            }
            None => {
                // The heap is empty after a failure.
                if let Some(head) = self.heads.peek_mut() {
                    PeekMut::pop(head);
                }
            }
        }
        Some(arc)
    }
}

impl Iterator for ArcMerge {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let arc = self.smallest()?;
            if self.last != Some(arc) {
                self.last = Some(arc);
                return Some(((arc >> 32) as usize, arc as u32 as usize));
            }
        }
    }
}
