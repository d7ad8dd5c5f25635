//! What does the server draw anew for every answer?
//!
//! Two answers of a page that came one after the other are held against each other. A block that both have is stable. One whose words differ
//! in part is a template with slots; one that only has its words in another order is shuffled; one that was replaced, or is missing in one
//! of them, is drawn as a whole. Where the same blocks came in another order, their order means nothing. An element in which nothing is
//! stable is exclusive to what is drawn: there an older answer may hold more than these two did.

use super::page::{Gap, Line, gaps};
use super::template::Template;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Blocks of a gap that are compared each with each; in larger gaps they are taken in order.
const NEAR: usize = 32;
/// Words of blocks that are compared each with each.
const MOST_ALIKE: usize = 2_000;

/// What two answers say of a block of the first.
#[derive(Debug)]
pub(crate) enum State<'a> {
    /// Some of its words are drawn.
    Drawn(Template<'a>),
    /// Its words come in any order.
    Shuffled,
    /// It is drawn as a whole; whether the other answer had one in its place.
    Replaced {
        /// Whether it had.
        paired: bool,
    },
}

/// A block that only the second answer had.
#[derive(Debug)]
pub(crate) struct Inserted {
    /// Between which blocks of the first it stood.
    pub(crate) gap: Range<usize>,
    pub(crate) path: u64,
    pub(crate) words: usize,
}

/// How the blocks of a path behaved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Blocks drawn as a whole, in the answer that had more of them.
    pub(crate) varying: usize,
    /// Blocks that stayed.
    pub(crate) stable: usize,
    /// Words of the longest that was drawn.
    pub(crate) words: usize,
    /// Whether the path says more than 'a paragraph somewhere'.
    pub(crate) named: bool,
}

/// What two answers show.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    /// Blocks of the first that are not stable.
    pub(crate) states: HashMap<usize, State<'a>>,
    /// Blocks of the second that the first does not have, in order.
    pub(crate) inserted: Vec<Inserted>,
    /// Paths whose blocks came in another order.
    pub(crate) orderless: HashSet<u64>,
    /// By path.
    pub(crate) tallies: HashMap<u64, Tally>,
}

impl<'a> Evidence<'a> {
    /// Holds two answers against each other.
    pub(crate) fn of(new: &[Line<'a>], again: &[Line<'a>]) -> Self {
        let gaps = gaps(new, again);
        let mut evidence = Self::default();
        let moved = Moved::between(&gaps, new, again);
        let drawn_too = moved.paths_with_others(&gaps, new, again);
        for gap in &gaps {
            let stays = |line: &Line<'_>| moved.has(line) && !drawn_too.contains(&line.path());
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

    /// Judges the blocks of a gap.
    fn gap(&mut self, gap: &Gap, ones: &[usize], others: &[usize], new: &[Line<'a>], again: &[Line<'a>]) {
        let pairs = pairs(ones, others, new, again);
        for &i in ones {
            let state = match pairs.get(&i) {
                Some(&j) => pair(&new[i], &again[j]),
                None => Some(State::Replaced { paired: false }),
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
            if matches!(self.states.get(&i), Some(State::Replaced { .. })) {
                let words = again[j].words().len();
                let tally = self.tallies.entry(new[i].path()).or_default();
                tally.words = tally.words.max(words);
            }
        }
    }

    /// Adds up what was seen of each path.
    fn count(&mut self, new: &[Line<'_>]) {
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
                Some(State::Replaced { paired }) => {
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

    /// What is known of a path.
    pub(crate) fn tally(&self, path: u64) -> Tally {
        self.tallies.get(&path).copied().unwrap_or_default()
    }

    /// Whether the blocks of a path are drawn, stable ones by chance alone.
    pub(crate) fn is_loose(&self, path: u64) -> bool {
        let tally = self.tally(path);
        tally.named && tally.varying >= 2 && tally.varying >= 2 * tally.stable
    }

    /// Blocks drawn in a gap of the first answer, by path, in the answer that had more of them.
    pub(crate) fn drawn_in(&self, gap: &Range<usize>, new: &[Line<'_>]) -> HashMap<u64, usize> {
        let (mut paired, mut alone, mut more) =
            (HashMap::new(), HashMap::<u64, usize>::new(), HashMap::<u64, usize>::new());
        for (i, line) in gap.clone().filter_map(|i| Some((i, new.get(i)?))) {
            match self.states.get(&i) {
                Some(State::Replaced { paired: true }) => *paired.entry(line.path()).or_default() += 1,
                Some(State::Replaced { paired: false }) => *alone.entry(line.path()).or_default() += 1,
                _ => {}
            }
        }
        // They stand in order: those whose place touches the gap lie together.
        let first = self.inserted.partition_point(|i| i.gap.end < gap.start);
        for inserted in self.inserted[first..].iter().take_while(|i| i.gap.start <= gap.end) {
            *more.entry(inserted.path).or_default() += 1;
        }
        let paths: HashSet<u64> = paired.keys().chain(alone.keys()).chain(more.keys()).copied().collect();
        let count = |map: &HashMap<u64, usize>, path: u64| map.get(&path).copied().unwrap_or(0);
        paths.into_iter().map(|p| (p, count(&paired, p) + count(&alone, p).max(count(&more, p)))).collect()
    }
}

/// What the two answers to one block say of it; nothing where only white space differs.
fn pair<'a>(one: &Line<'a>, other: &Line<'a>) -> Option<State<'a>> {
    let (a, b) = (one.words(), other.words());
    if a == b {
        return None;
    }
    if same_bag(a, b) {
        return Some(State::Shuffled);
    }
    Some(Template::of(a, b).map_or(State::Replaced { paired: true }, State::Drawn))
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

/// Which blocks of two gaps belong together: those of one path, in order; where one has more of them, those most alike.
fn pairs(ones: &[usize], others: &[usize], new: &[Line<'_>], again: &[Line<'_>]) -> HashMap<usize, usize> {
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

/// Whether two blocks share most of their words; long ones are not looked at.
fn is_alike<T: Ord + Copy>(a: &[T], b: &[T]) -> bool {
    a.len().max(b.len()) <= MOST_ALIKE && likeness(a, b) > 0.5
}

/// How many of the words two blocks share, of those of the longer: 0 to 1.
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

/// Blocks that both answers have, in another order.
struct Moved(HashSet<u64>);

impl Moved {
    fn between(gaps: &[Gap], new: &[Line<'_>], again: &[Line<'_>]) -> Self {
        let others: HashSet<u64> = gaps.iter().flat_map(|g| &again[g.other.clone()]).map(|l| l.hash).collect();
        let ones = gaps.iter().flat_map(|g| &new[g.one.clone()]).map(|l| l.hash);
        Self(ones.filter(|hash| others.contains(hash)).collect())
    }

    fn has(&self, line: &Line<'_>) -> bool {
        self.0.contains(&line.hash)
    }

    /// Paths at which other blocks were drawn: there a block that moved was drawn again.
    fn paths_with_others<'a>(&self, gaps: &[Gap], new: &[Line<'a>], again: &[Line<'a>]) -> HashSet<u64> {
        let all = gaps.iter().flat_map(|g| new[g.one.clone()].iter().chain(&again[g.other.clone()]));
        all.filter(|line| !self.has(line)).map(Line::path).collect()
    }
}
