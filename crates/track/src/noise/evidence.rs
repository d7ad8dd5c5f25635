//! Which parts of a page vary from response to response?
//!
//! Two back-to-back responses of a page are compared. A block in both is stable. A block with some
//! different words is a template with slots; one with the same words in another order is shuffled;
//! one that was replaced, or is missing from either, is dynamic as a whole. If the same blocks come
//! in another order, their order is meaningless. An element without any stable block is exclusively
//! dynamic: an older response may contain more of it than these two did.

use super::page::{BlockGap, PreparedBlock, gaps};
use super::template::BlockTemplate;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Gaps with up to this many blocks are compared pairwise; in larger ones blocks are paired in
/// order.
const NEAR: usize = 32;
/// Maximum words of a block for pairwise comparison.
const MOST_ALIKE: usize = 2_000;

/// What two responses reveal about a block of the first.
#[derive(Debug)]
pub(crate) enum BlockState<'a> {
    /// Some of its words are dynamic.
    Drawn(BlockTemplate<'a>),
    /// Its words come in any order.
    Shuffled,
    /// It is dynamic as a whole.
    Replaced {
        /// Whether the other response had a block in its place.
        paired: bool,
    },
}

/// A block that only the second response has.
#[derive(Debug)]
pub(crate) struct Inserted {
    /// Between which blocks of the first it was.
    pub(crate) gap: Range<usize>,
    pub(crate) path: u64,
    pub(crate) words: usize,
}

/// How the blocks at a path behave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathTally {
    /// Number of dynamic blocks, in the response that has more of them.
    pub(crate) varying: usize,
    /// Number of stable blocks.
    pub(crate) stable: usize,
    /// Length in words of the longest dynamic one.
    pub(crate) words: usize,
    /// Whether the path is specific, and not just 'a paragraph somewhere'.
    pub(crate) named: bool,
}

/// What two responses reveal.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    /// The blocks of the first that are not stable.
    pub(crate) states: HashMap<usize, BlockState<'a>>,
    /// The blocks that only the second has, in order.
    pub(crate) inserted: Vec<Inserted>,
    /// Paths whose blocks came in another order.
    pub(crate) orderless: HashSet<u64>,
    /// Tallies by path.
    pub(crate) tallies: HashMap<u64, PathTally>,
}

impl<'a> Evidence<'a> {
    /// Compares two responses.
    pub(crate) fn of(new: &[PreparedBlock<'a>], again: &[PreparedBlock<'a>]) -> Self {
        let gaps = gaps(new, again);
        let mut evidence = Self::default();
        let moved = Moved::between(&gaps, new, again);
        let drawn_too = moved.paths_with_others(&gaps, new, again);
        for gap in &gaps {
            let stays = |line: &PreparedBlock<'_>| moved.has(line) && !drawn_too.contains(&line.path());
            let ones: Vec<usize> = gap.one.clone().filter(|&i| !stays(&new[i])).collect();
            let others: Vec<usize> = gap.other.clone().filter(|&i| !stays(&again[i])).collect();
            for i in gap.one.clone().filter(|&i| stays(&new[i])) {
                evidence.orderless.insert(new[i].path());
            }
            evidence.gap(gap, &ones, &others, new, again);
        }
        evidence.count(new);
        evidence
    }

    /// Classifies the blocks of a gap.
    fn gap(
        &mut self,
        gap: &BlockGap,
        ones: &[usize],
        others: &[usize],
        new: &[PreparedBlock<'a>],
        again: &[PreparedBlock<'a>],
    ) {
        let pairs = pairs(ones, others, new, again);
        for &i in ones {
            let state = match pairs.get(&i) {
                Some(&j) => pair(&new[i], &again[j]),
                None => Some(BlockState::Replaced { paired: false }),
            };
            if let Some(state) = state {
                self.states.insert(i, state);
            }
        }
        let taken: HashSet<usize> = pairs.values().copied().collect();
        for &j in others.iter().filter(|j| !taken.contains(j)) {
            let words = again[j].words().len();
            self.inserted.push(Inserted { gap: gap.one.clone(), path: again[j].path(), words });
            self.tallies.entry(again[j].path()).or_default().named = again[j].block.named;
        }
        for (&i, &j) in &pairs {
            if matches!(self.states.get(&i), Some(BlockState::Replaced { .. })) {
                let words = again[j].words().len();
                let tally = self.tallies.entry(new[i].path()).or_default();
                tally.words = tally.words.max(words);
            }
        }
    }

    /// Adds up the observations by path.
    fn count(&mut self, new: &[PreparedBlock<'_>]) {
        let mut more: HashMap<u64, usize> = HashMap::new();
        for inserted in &self.inserted {
            *more.entry(inserted.path).or_default() += 1;
            let tally = self.tallies.entry(inserted.path).or_default();
            tally.words = tally.words.max(inserted.words);
        }
        let mut unpaired: HashMap<u64, usize> = HashMap::new();
        for (i, line) in new.iter().enumerate() {
            let tally = self.tallies.entry(line.path()).or_default();
            tally.named = line.block.named;
            match self.states.get(&i) {
                Some(BlockState::Replaced { paired }) => {
                    tally.varying += usize::from(*paired);
                    tally.words = tally.words.max(line.words().len());
                    *unpaired.entry(line.path()).or_default() += usize::from(!paired);
                }
                _ => tally.stable += 1,
            }
        }
        for (path, tally) in &mut self.tallies {
            tally.varying += more.get(path).copied().unwrap_or(0).max(unpaired.get(path).copied().unwrap_or(0));
        }
    }

    /// The tally of a path.
    pub(crate) fn tally(&self, path: u64) -> PathTally {
        self.tallies.get(&path).copied().unwrap_or_default()
    }

    /// Whether the blocks of a path are dynamic, and stable only by chance.
    pub(crate) fn is_loose(&self, path: u64) -> bool {
        let tally = self.tally(path);
        tally.named && tally.varying >= 2 && tally.varying >= 2 * tally.stable
    }

    /// Number of dynamic blocks in a gap of the first response, by path, in the response that has
    /// more of them.
    pub(crate) fn drawn_in(&self, gap: &Range<usize>, new: &[PreparedBlock<'_>]) -> HashMap<u64, usize> {
        let (mut paired, mut alone, mut more) =
            (HashMap::new(), HashMap::<u64, usize>::new(), HashMap::<u64, usize>::new());
        for (i, line) in gap.clone().filter_map(|i| Some((i, new.get(i)?))) {
            match self.states.get(&i) {
                Some(BlockState::Replaced { paired: true }) => *paired.entry(line.path()).or_default() += 1,
                Some(BlockState::Replaced { paired: false }) => *alone.entry(line.path()).or_default() += 1,
                _ => {}
            }
        }
        // They are sorted, so those that touch the gap are adjacent.
        let first = self.inserted.partition_point(|i| i.gap.end < gap.start);
        for inserted in self.inserted[first..].iter().take_while(|i| i.gap.start <= gap.end) {
            *more.entry(inserted.path).or_default() += 1;
        }
        let paths: HashSet<u64> = paired.keys().chain(alone.keys()).chain(more.keys()).copied().collect();
        let count = |map: &HashMap<u64, usize>, path: u64| map.get(&path).copied().unwrap_or(0);
        paths.into_iter().map(|p| (p, count(&paired, p) + count(&alone, p).max(count(&more, p)))).collect()
    }
}

/// The state of a block, from both its versions; `None` if only white space differs.
fn pair<'a>(one: &PreparedBlock<'a>, other: &PreparedBlock<'a>) -> Option<BlockState<'a>> {
    let (a, b) = (one.words(), other.words());
    if a == b {
        return None;
    }
    if same_bag(a, b) {
        return Some(BlockState::Shuffled);
    }
    Some(BlockTemplate::of(a, b).map_or(BlockState::Replaced { paired: true }, BlockState::Drawn))
}

/// Whether two blocks have the same words in any order.
pub(crate) fn same_bag<T: Ord + Copy>(a: &[T], b: &[T]) -> bool {
    let sorted = |words: &[T]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}

/// Pairs the blocks of two gaps: those of the same path, in order; if one side has more, the most
/// similar ones.
fn pairs(
    ones: &[usize],
    others: &[usize],
    new: &[PreparedBlock<'_>],
    again: &[PreparedBlock<'_>],
) -> HashMap<usize, usize> {
    let mut by_path: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::new();
    ones.iter().for_each(|&i| by_path.entry(new[i].path()).or_default().0.push(i));
    others.iter().for_each(|&j| by_path.entry(again[j].path()).or_default().1.push(j));
    let mut out = HashMap::new();
    for (ones, others) in by_path.values() {
        if ones.len() == others.len() {
            out.extend(ones.iter().copied().zip(others.iter().copied()));
        } else if ones.len().max(others.len()) <= NEAR {
            let mut from = 0;
            for &i in ones {
                let alike = |&j: &usize| is_alike(new[i].words(), again[j].words());
                if let Some(at) = others[from..].iter().position(alike) {
                    out.insert(i, others[from + at]);
                    from += at + 1;
                }
            }
        }
    }
    out
}

/// Whether two blocks share most of their words; long ones are not compared.
fn is_alike<T: Ord + Copy>(a: &[T], b: &[T]) -> bool {
    a.len().max(b.len()) <= MOST_ALIKE && likeness(a, b) > 0.5
}

/// The share of common words relative to the longer block, 0 to 1.
pub(crate) fn likeness<T: Ord + Copy>(a: &[T], b: &[T]) -> f64 {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable();
    b.sort_unstable();
    let (mut i, mut j, mut shared) = (0, 0, 0u32);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    let longer = a.len().max(b.len());
    if longer == 0 { 1.0 } else { f64::from(shared) / longer as f64 }
}

/// Blocks in both responses, in different order.
struct Moved(HashSet<u64>);

impl Moved {
    fn between(gaps: &[BlockGap], new: &[PreparedBlock<'_>], again: &[PreparedBlock<'_>]) -> Self {
        let others: HashSet<u64> = gaps.iter().flat_map(|g| &again[g.other.clone()]).map(|l| l.hash).collect();
        let ones = gaps.iter().flat_map(|g| &new[g.one.clone()]).map(|l| l.hash);
        Self(ones.filter(|hash| others.contains(hash)).collect())
    }

    fn has(&self, line: &PreparedBlock<'_>) -> bool {
        self.0.contains(&line.hash)
    }

    /// Paths that have other dynamic blocks: a block that moved there was chosen again, not
    /// reordered.
    fn paths_with_others<'a>(
        &self,
        gaps: &[BlockGap],
        new: &[PreparedBlock<'a>],
        again: &[PreparedBlock<'a>],
    ) -> HashSet<u64> {
        let all = gaps.iter().flat_map(|g| new[g.one.clone()].iter().chain(&again[g.other.clone()]));
        all.filter(|line| !self.has(line)).map(PreparedBlock::path).collect()
    }
}
