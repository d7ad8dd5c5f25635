//! How are two versions of a page aligned?
//!
//! A page is a sequence of blocks. Two sequences are aligned by their equal blocks (Myers 1986,
//! from the crate `similar`); what lies between is a [`Gap`].

use super::words::{Word, words};
use orb_page::Block;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::cell::OnceCell;
use std::ops::Range;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Time limit for aligning two pages; after it the alignment is coarse.
const PATIENCE: Duration = Duration::from_secs(2);

/// A block prepared for comparison.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) block: &'a Block,
    /// Hash of its text.
    pub(crate) hash: u64,
    words: OnceCell<Vec<Word<'a>>>,
}

impl<'a> Line<'a> {
    /// Its words, split on first use.
    pub(crate) fn words(&self) -> &[Word<'a>] {
        self.words.get_or_init(|| words(&self.block.text))
    }

    /// The path of its elements.
    pub(crate) fn path(&self) -> u64 {
        self.block.path
    }
}

/// Prepares the blocks of a page.
pub(crate) fn lines(blocks: &[Block]) -> Vec<Line<'_>> {
    let line = |block| Line { block, hash: xxh3_64(block.text.as_bytes()), words: OnceCell::new() };
    blocks.iter().map(line).collect()
}

/// Blocks of two pages between two equal blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) one: Range<usize>,
    pub(crate) other: Range<usize>,
}

/// Where two pages differ, in order.
pub(crate) fn gaps(one: &[Line<'_>], other: &[Line<'_>]) -> Vec<Gap> {
    let hashes = |lines: &[Line<'_>]| lines.iter().map(|l| l.hash).collect::<Vec<_>>();
    let deadline = Some(Instant::now() + PATIENCE);
    let mut gaps: Vec<Gap> = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &hashes(one), &hashes(other), deadline) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (a, b) = (op.old_range(), op.new_range());
        match gaps.last_mut() {
            Some(last) if last.one.end == a.start && last.other.end == b.start => {
                (last.one.end, last.other.end) = (a.end, b.end);
            }
            _ => gaps.push(Gap { one: a, other: b }),
        }
    }
    gaps
}
