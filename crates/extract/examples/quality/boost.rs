//! How is the model learnt?
//!
//! Gradient boosting with logistic loss and symmetric trees: each level of a tree takes the one
//! question that helps most over all its nodes. A tree sees a sample of the rows and of the
//! features, drawn by a fixed generator, so that the same pages always give the same table.

use orb_extract::learning::{DEPTH, FEATURES, FeatureRow, SymmetricTree};
use std::fmt::Write;

/// Number of trees.
const TREES: usize = 150;
/// How much of its estimate each tree contributes.
const RATE: f64 = 0.09;
/// Weight of the prior that a leaf says nothing.
const PRIOR: f64 = 3.0;
/// One in this many features is tried for a tree.
const ONE_FEATURE_IN: u64 = 5;
/// Maximum number of thresholds per feature.
const THRESHOLDS: usize = 16;

/// A block whose nature is known.
pub(crate) struct Sample {
    pub(crate) row: FeatureRow,
    pub(crate) weight: f64,
    pub(crate) is_content: bool,
}

/// A learnt model.
pub(crate) struct Boosted {
    bias: i32,
    trees: Vec<SymmetricTree>,
}

/// A well-mixed number made from another (SplitMix64).
pub(crate) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The samples with their features as numbers of intervals.
struct Binned {
    thresholds: Vec<Vec<i16>>,
    /// By feature, then by sample.
    bins: Vec<Vec<u8>>,
}

impl Binned {
    fn of(samples: &[Sample]) -> Self {
        let (mut thresholds, mut bins) = (Vec::new(), Vec::new());
        for feature in 0..FEATURES {
            let mut values: Vec<i16> = samples.iter().map(|s| s.row[feature]).collect();
            values.sort_unstable();
            let last = values.last().copied().unwrap_or(0);
            let mut cuts: Vec<i16> = values.clone();
            cuts.dedup();
            if cuts.len() > THRESHOLDS {
                cuts = (1..=THRESHOLDS).map(|i| values[i * values.len() / (THRESHOLDS + 1)]).collect();
                cuts.dedup();
            }
            cuts.retain(|cut| *cut < last);
            bins.push(samples.iter().map(|s| cuts.partition_point(|cut| *cut < s.row[feature]) as u8).collect());
            thresholds.push(cuts);
        }
        Self { thresholds, bins }
    }
}

/// What a tree is learnt from: the rows it sees, with gradient, curvature and leaf.
struct SeenRow {
    sample: usize,
    gradient: f64,
    curvature: f64,
    leaf: usize,
}

impl Boosted {
    pub(crate) fn learn(samples: &[Sample], seed: u64) -> Self {
        let binned = Binned::of(samples);
        let weight = |content: bool| samples.iter().filter(|s| s.is_content == content).map(|s| s.weight).sum::<f64>();
        let bias = thousandths((weight(true) / weight(false)).ln());
        let mut odds = vec![f64::from(bias) / 1000.0; samples.len()];
        let mut trees = Vec::new();
        for number in 0..TREES as u64 {
            let draw = |what: u64, item: usize| mixed(seed << 48 ^ number << 32 ^ what << 24 ^ item as u64);
            let mut seen = Vec::new();
            for (i, sample) in samples.iter().enumerate().filter(|(i, _)| draw(1, *i) % 5 != 0) {
                let likely = 1.0 / (1.0 + (-odds[i]).exp());
                let gradient = sample.weight * (f64::from(u8::from(sample.is_content)) - likely);
                seen.push(SeenRow { sample: i, gradient, curvature: sample.weight * likely * (1.0 - likely), leaf: 0 });
            }
            let features: Vec<usize> = (0..FEATURES).filter(|f| draw(2, *f) % ONE_FEATURE_IN == 0).collect();
            let tree = grow(&binned, &mut seen, &features);
            for (odds, sample) in odds.iter_mut().zip(samples) {
                *odds += f64::from(tree.judge(&sample.row)) / 1000.0;
            }
            trees.push(tree);
        }
        Self { bias, trees }
    }

    pub(crate) fn score(&self, row: &FeatureRow) -> i32 {
        self.trees.iter().fold(self.bias, |sum, tree| sum + tree.judge(row))
    }

    /// The source of the table.
    pub(crate) fn table(&self) -> String {
        let mut out = String::from(HEAD);
        let _ = write!(out, "pub(super) const BIAS: i32 = {};\n\n/// The trees.\n#[rustfmt::skip]\n", self.bias);
        out.push_str("pub(super) static TREES: &[SymmetricTree] = &[\n");
        for tree in &self.trees {
            let _ = writeln!(
                out,
                "    SymmetricTree {{\n        splits: {:?},\n        leaves: {:?},\n    }},",
                tree.splits, tree.leaves
            );
        }
        out.push_str("];\n");
        out
    }
}

const HEAD: &str = "//! What was learnt about content: a table written by `cargo xtask quality --learn`.

use super::model::SymmetricTree;

/// Log-odds of a block of which nothing is known, in thousandths.
";

/// Grows a tree level by level.
fn grow(binned: &Binned, seen: &mut [SeenRow], features: &[usize]) -> SymmetricTree {
    let mut tree = SymmetricTree { splits: [(0, i16::MAX); DEPTH], leaves: [0; 1 << DEPTH] };
    for level in 0..DEPTH {
        let best = features.iter().map(|f| (question(binned, seen, *f, 1 << level), *f));
        let best = best.filter_map(|(found, f)| found.map(|(gain, cut)| (gain, f, cut)));
        let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let chosen = best.filter(|(gain, _, _)| *gain > 0.0).map(|(_, feature, cut)| (feature, cut));
        if let Some((feature, cut)) = chosen {
            tree.splits[level] = (feature as u8, binned.thresholds[feature][cut]);
        }
        for row in seen.iter_mut() {
            let above = chosen.is_some_and(|(feature, cut)| usize::from(binned.bins[feature][row.sample]) > cut);
            row.leaf = row.leaf * 2 + usize::from(above);
        }
    }
    let mut sums = [(0.0, 0.0); 1 << DEPTH];
    for row in seen.iter() {
        sums[row.leaf].0 += row.gradient;
        sums[row.leaf].1 += row.curvature;
    }
    tree.leaves = sums.map(|(gradient, curvature)| thousandths(RATE * gradient / (curvature + PRIOR)) as i16);
    tree
}

/// The best threshold of a feature over all nodes of a level, and how much it helps.
fn question(binned: &Binned, seen: &[SeenRow], feature: usize, nodes: usize) -> Option<(f64, usize)> {
    let width = binned.thresholds[feature].len() + 1;
    let bins = &binned.bins[feature];
    let mut sums = vec![(0.0, 0.0); nodes * width];
    for row in seen {
        let sum = &mut sums[row.leaf * width + usize::from(bins[row.sample])];
        sum.0 += row.gradient;
        sum.1 += row.curvature;
    }
    let mut gains = vec![0.0; width - 1];
    let value = |gradient: f64, curvature: f64| gradient * gradient / (curvature + PRIOR);
    for node in sums.chunks(width) {
        let (gradient, curvature) = node.iter().fold((0.0, 0.0), |all, bin| (all.0 + bin.0, all.1 + bin.1));
        let (mut left, mut light) = (0.0, 0.0);
        for (gain, bin) in gains.iter_mut().zip(node) {
            left += bin.0;
            light += bin.1;
            *gain += value(left, light) + value(gradient - left, curvature - light) - value(gradient, curvature);
        }
    }
    gains.into_iter().enumerate().map(|(cut, gain)| (gain, cut)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
}

fn thousandths(odds: f64) -> i32 {
    (odds * 1000.0).round() as i32
}
