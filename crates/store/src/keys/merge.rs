//! How do several runs become one?
//!
//! A little at a time. Merging millions of entries takes seconds, in which a crawl discovers
//! hundreds of thousands of URLs: they are written in between, and need not wait in memory.

use super::run::{Entries, KeyEntry, KeyRun, PageRange, RunMaker};
use crate::error::{Result, StoreError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;
use std::sync::Arc;

/// Entries merged at a time, which takes some milliseconds.
const STEP: usize = 1 << 16;

/// A merge of adjoining runs that has been begun.
pub(super) struct KeyMerge {
    parts: Vec<Entries<Arc<KeyRun>>>,
    /// The next entry of each part.
    heads: BinaryHeap<Reverse<(KeyEntry, usize)>>,
    maker: RunMaker,
}

impl KeyMerge {
    /// Begins to merge these runs, which follow each other.
    pub(super) fn of(dir: &Path, runs: &[Arc<KeyRun>]) -> Result<Self> {
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return Err(StoreError::damaged(dir, "there is nothing to merge"));
        };
        let span = PageRange { first: first.span.first, last: last.span.last };
        let maker = RunMaker::new(dir, span, last.mark)?;
        let mut parts: Vec<_> = runs.iter().cloned().map(Entries::of).collect();
        let mut heads = BinaryHeap::with_capacity(parts.len());
        for (part, entries) in parts.iter_mut().enumerate() {
            heads.extend(entries.next()?.map(|entry| Reverse((entry, part))));
        }
        Ok(Self { parts, heads, maker })
    }

    /// Merges some entries; returns whether all are.
    pub(super) fn step(&mut self) -> Result<bool> {
        for _ in 0..STEP {
            // Replacing the head sifts the heap once; popping and pushing would sift it twice.
            let Some(mut head) = self.heads.peek_mut() else { return Ok(true) };
            let Reverse((entry, part)) = *head;
            self.maker.push(entry)?;
            match self.parts[part].next()? {
                Some(entry) => *head = Reverse((entry, part)),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(false)
    }

    /// The run of all entries, once the disk has it.
    pub(super) fn finish(self, dir: &Path) -> Result<KeyRun> {
        self.maker.finish(dir)
    }
}
