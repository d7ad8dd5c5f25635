//! How are two versions of a page aligned?
//!
//! A page is a sequence of blocks. Two sequences are aligned by their equal blocks (Myers 1986,
//! from the crate `similar`); what lies between is a [`BlockGap`].

use super::words::{ClassedWord, words};
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
pub(crate) struct PreparedBlock<'a> {
    pub(crate) block: &'a Block,
    /// Hash of its text.
    pub(crate) hash: u64,
    words: OnceCell<Vec<ClassedWord<'a>>>,
}

impl<'a> PreparedBlock<'a> {
    /// Its words, split on first use.
    pub(crate) fn words(&self) -> &[ClassedWord<'a>] {
        self.words.get_or_init(|| words(&self.block.text))
    }

    /// The path of its elements.
    pub(crate) fn path(&self) -> u64 {
        self.block.path
    }
}

/// Prepares the blocks of a page.
pub(crate) fn lines(blocks: &[Block]) -> Vec<PreparedBlock<'_>> {
    let line = |block| PreparedBlock { block, hash: xxh3_64(block.text.as_bytes()), words: OnceCell::new() };
    blocks.iter().map(line).collect()
}

/// Blocks of two pages between two equal blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockGap {
    pub(crate) one: Range<usize>,
    pub(crate) other: Range<usize>,
}

/// Where two pages differ, in order.
pub(crate) fn gaps(one: &[PreparedBlock<'_>], other: &[PreparedBlock<'_>]) -> Vec<BlockGap> {
    let hashes = |lines: &[PreparedBlock<'_>]| lines.iter().map(|l| l.hash).collect::<Vec<_>>();
    let deadline = Some(Instant::now() + PATIENCE);
    let mut gaps: Vec<BlockGap> = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &hashes(one), &hashes(other), deadline) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (a, b) = (op.old_range(), op.new_range());
        match gaps.last_mut() {
            Some(last) if last.one.end == a.start && last.other.end == b.start => {
                (last.one.end, last.other.end) = (a.end, b.end);
            }
            _ => gaps.push(BlockGap { one: a, other: b }),
        }
    }
    gaps
}
