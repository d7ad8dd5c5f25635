//! How do two versions of a page lie beside each other?
//!
//! A page is the row of its blocks. Two rows are aligned by the blocks that say the same (Myers 1986, as `similar` has it); what lies
//! between those is a [`Gap`].

use super::words::{Word, words};
use orb_page::Block;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::cell::OnceCell;
use std::ops::Range;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// How long two pages may be aligned; then the alignment is a coarse one.
const PATIENCE: Duration = Duration::from_secs(2);

/// A block, ready to be compared.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) block: &'a Block,
    /// Of what it says.
    pub(crate) hash: u64,
    words: OnceCell<Vec<Word<'a>>>,
}

impl<'a> Line<'a> {
    /// Its words, found once.
    pub(crate) fn words(&self) -> &[Word<'a>] {
        self.words.get_or_init(|| words(&self.block.text))
    }

    /// The elements it stands in.
    pub(crate) fn path(&self) -> u64 {
        self.block.path
    }
}

/// The blocks of a page, ready to be compared.
pub(crate) fn lines(blocks: &[Block]) -> Vec<Line<'_>> {
    let line = |block| Line { block, hash: xxh3_64(block.text.as_bytes()), words: OnceCell::new() };
    blocks.iter().map(line).collect()
}

/// Blocks of two pages between two that say the same.
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
