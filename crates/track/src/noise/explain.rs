//! Which differences between two versions remain after noise is removed?
//!
//! The old and the new version are aligned by their equal blocks. In each gap, every new block must
//! be known to be dynamic, or be a template that an old block matches; and every remaining old
//! block must fall into a slot and be no larger than what the slot showed. Anything stable between
//! two back-to-back responses but absent from the old version is a change, however small, and so is
//! anything in the old version where nothing dynamic was ever seen. Differences between blocks that
//! lie around the main content, on either side, are kept apart.

use super::evidence::{BlockState, Evidence, likeness, same_bag};
use super::memory::{Memory, Room};
use super::page::{BlockGap, PreparedBlock, gaps};
use super::template::Spans;
use orb_page::Block;
use std::collections::{HashMap, HashSet, VecDeque};

/// Maximum findings of each kind that are kept.
pub(super) const MOST_FINDINGS: usize = 1_000;
/// Maximum blocks of a gap that are tried for one template.
const NEAR: usize = 256;
/// Maximum blocks of a gap that are tried for slots known from the host.
const NEARER: usize = 8;

/// Old blocks that are not explained yet, by path, in order.
type UnexplainedBlocks = HashMap<u64, VecDeque<usize>>;

/// A difference that is not noise: the old and the new text of a block.
#[derive(Clone, Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) place: &'a str,
    pub(crate) old: Option<&'a str>,
    pub(crate) new: Option<&'a str>,
}

/// The remaining differences.
#[derive(Debug, Default)]
pub(crate) struct Explained<'a> {
    pub(crate) findings: Vec<Difference<'a>>,
    /// Those that lie around the main content in both versions.
    pub(crate) around: Vec<Difference<'a>>,
    /// Whether knowledge about the host was needed.
    pub(crate) by_memory: bool,
}

/// Removes the noise.
pub(crate) fn explain<'a>(
    old: &[PreparedBlock<'a>],
    new: &[PreparedBlock<'a>],
    evidence: Option<&Evidence<'_>>,
    memory: &Memory,
) -> Explained<'a> {
    let gaps = gaps(old, new);
    let mut run = NoiseExplanation {
        old,
        new,
        evidence,
        memory,
        gone: HashSet::new(),
        here: HashSet::new(),
        used: HashMap::new(),
        out: Explained::default(),
    };
    run.leave_out_moved(&gaps);
    gaps.iter().for_each(|gap| run.gap(gap));
    run.out
}

struct NoiseExplanation<'r, 'a> {
    old: &'r [PreparedBlock<'a>],
    new: &'r [PreparedBlock<'a>],
    evidence: Option<&'r Evidence<'r>>,
    memory: &'r Memory,
    /// Old and new blocks that only moved.
    gone: HashSet<usize>,
    here: HashSet<usize>,
    /// Number of old blocks explained so far at each path that is dynamic everywhere.
    used: HashMap<u64, usize>,
    out: Explained<'a>,
}

impl<'a> NoiseExplanation<'_, 'a> {
    /// Skips blocks that both versions have in different order, where order is meaningless.
    fn leave_out_moved(&mut self, gaps: &[BlockGap]) {
        let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
        for i in gaps.iter().flat_map(|g| g.one.clone()) {
            if self.is_orderless(self.old[i].path()) {
                waiting.entry(self.old[i].hash).or_default().push(i);
            }
        }
        for j in gaps.iter().flat_map(|g| g.other.clone()) {
            let line = &self.new[j];
            if self.is_orderless(line.path())
                && let Some(i) = waiting.get_mut(&line.hash).and_then(Vec::pop)
            {
                self.gone.insert(i);
                self.here.insert(j);
            }
        }
    }

    fn is_orderless(&mut self, path: u64) -> bool {
        if self.evidence.is_some_and(|e| e.orderless.contains(&path)) {
            return true;
        }
        let known = self.memory.is_orderless(path);
        self.out.by_memory |= known;
        known
    }

    fn gap(&mut self, gap: &BlockGap) {
        let mut left = UnexplainedBlocks::default();
        for i in gap.one.clone().filter(|i| !self.gone.contains(i)) {
            left.entry(self.old[i].path()).or_default().push_back(i);
        }
        for j in gap.other.clone().filter(|j| !self.here.contains(j)).collect::<Vec<_>>() {
            let line = &self.new[j];
            if !self.is_noise(j, left.entry(line.path()).or_default()) {
                let before = left.entry(line.path()).or_default().pop_front();
                let old = before.map(|i| self.old[i].block);
                self.find(old, Some(line.block));
            }
        }
        let mut rest: Vec<usize> = left.into_values().flatten().collect();
        if rest.is_empty() {
            return;
        }
        rest.sort_unstable();
        let shown = self.evidence.map(|e| e.drawn_in(&gap.other, self.new)).unwrap_or_default();
        let mut drawn: HashMap<u64, usize> = HashMap::new();
        for i in rest {
            let line = &self.old[i];
            let path = line.path();
            let shown = shown.get(&path).copied().unwrap_or(0);
            if !self.has_room(line, shown, drawn.entry(path).or_default()) {
                self.find(Some(line.block), None);
            }
        }
    }

    /// Whether a new block is noise. The old block it replaces is removed from `left`, which holds
    /// those of its path.
    fn is_noise(&mut self, j: usize, left: &mut VecDeque<usize>) -> bool {
        let line = &self.new[j];
        let evidence = self.evidence;
        match evidence.and_then(|e| e.states.get(&j)) {
            Some(BlockState::Replaced { .. }) => return true,
            None if evidence.is_some_and(|e| e.is_loose(line.path())) => return true,
            Some(BlockState::Drawn(template)) if self.take(left, NEAR, |old| template.matches(old.words())) => {
                return true;
            }
            Some(BlockState::Shuffled) if self.take(left, NEAR, |old| same_bag(old.words(), line.words())) => {
                return true;
            }
            _ => {}
        }
        // The same words with different white space.
        if self.take(left, NEAR, |old| old.words() == line.words()) {
            return true;
        }
        let known = self.is_known(line, left);
        self.out.by_memory |= known;
        known
    }

    /// Whether knowledge about the host explains a new block.
    fn is_known(&self, line: &PreparedBlock<'a>, left: &mut VecDeque<usize>) -> bool {
        if self.memory.has_slots(line.path()) && self.take(left, NEARER, |old| self.differs_in_known_slots(old, line)) {
            return true;
        }
        let Some(room) = self.memory.drawn(line.path()) else { return false };
        // A change of a few words is an edit; dynamic blocks are replaced completely.
        let edited = left.front().is_some_and(|&i| likeness(self.old[i].words(), line.words()) > 0.75);
        !edited && line.words().len() <= room.words
    }

    fn differs_in_known_slots(&self, old: &PreparedBlock<'_>, new: &PreparedBlock<'_>) -> bool {
        let (old, words) = (old.words(), new.words());
        let spans = Spans::of(words, old).0;
        !spans.is_empty()
            && spans.iter().all(|span| {
                let seen = span.slot(words, old);
                let known = self.memory.slot(new.path(), seen.before, seen.after);
                let (now, then) = (&words[span.one.0..span.one.1], &old[span.other.0..span.other.1]);
                known.is_some_and(|slot| slot.accepts(then) && slot.accepts(now))
            })
    }

    /// Removes the first of the next `near` blocks in `left` that fits.
    fn take(&self, left: &mut VecDeque<usize>, near: usize, fits: impl Fn(&PreparedBlock<'a>) -> bool) -> bool {
        let found = left.iter().take(near).position(|&i| fits(&self.old[i]));
        found.and_then(|at| left.remove(at)).is_some()
    }

    /// Whether an old block falls into a slot and is no larger than what the slot showed.
    fn has_room(&mut self, line: &PreparedBlock<'_>, shown: usize, drawn: &mut usize) -> bool {
        let (path, words) = (line.path(), line.words().len());
        if let Some(evidence) = self.evidence {
            let tally = evidence.tally(path);
            let exclusive = tally.varying > 0 && (tally.stable == 0 || evidence.is_loose(path));
            if exclusive && tally.named {
                return fits(self.used.entry(path).or_default(), words, Room::generous(tally.varying, tally.words));
            }
            let room = match exclusive {
                true => Room::generous(shown, tally.words),
                false => Room { blocks: shown, words: 2 * tally.words + 8 },
            };
            if shown > 0 && fits(drawn, words, room) {
                return true;
            }
        }
        let Some(room) = self.memory.drawn(path) else { return false };
        self.out.by_memory = true;
        fits(self.used.entry(path).or_default(), words, room)
    }

    /// Adds a difference between an old and a new block.
    fn find(&mut self, old: Option<&'a Block>, new: Option<&'a Block>) {
        let Some(shown) = new.or(old) else { return };
        let is_around = [old, new].into_iter().flatten().all(|block| block.around);
        let findings = if is_around { &mut self.out.around } else { &mut self.out.findings };
        if findings.len() < MOST_FINDINGS {
            let text = |block: Option<&'a Block>| block.map(|block| block.text.as_str());
            findings.push(Difference { place: &shown.place, old: text(old), new: text(new) });
        }
    }
}

/// Whether there is room for one more block of this many words.
fn fits(blocks: &mut usize, words: usize, room: Room) -> bool {
    *blocks += 1;
    *blocks <= room.blocks && words <= room.words
}
