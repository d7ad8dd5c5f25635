//! Is a block content, by its features?
//!
//! Gradient-boosted symmetric trees (Prokhorenkova et al. 2018, *CatBoost*): all nodes of a level
//! ask the same question, so a tree is four comparisons whose answers are the number of a leaf.
//! Thresholds and leaves are whole numbers.

use super::features::FeatureRow;
use super::trees::{BIAS, TREES};

/// Number of questions of a tree.
pub const DEPTH: usize = 4;

/// A tree.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricTree {
    /// The feature each level asks for, and what it must exceed.
    pub splits: [(u8, i16); DEPTH],
    /// Log-odds in thousandths, by the answers read as a binary number.
    pub leaves: [i16; 1 << DEPTH],
}

impl SymmetricTree {
    /// The log-odds that this tree adds.
    pub fn judge(&self, row: &FeatureRow) -> i32 {
        let mut leaf = 0;
        for (feature, threshold) in self.splits {
            leaf = leaf * 2 + usize::from(row.get(usize::from(feature)).is_some_and(|value| *value > threshold));
        }
        i32::from(self.leaves[leaf])
    }
}

/// The log-odds that a block is content, in thousandths.
pub(super) fn score(row: &FeatureRow) -> i32 {
    TREES.iter().fold(BIAS, |sum, tree| sum + tree.judge(row))
}
