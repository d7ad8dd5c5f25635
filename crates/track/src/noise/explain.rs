//! Which differences between two versions are left when noise is taken away?
//!
//! Old and new version are aligned by the blocks that say the same. In each gap every block of the new one must be known to be drawn, or to be
//! a template that a block of the old one fits; and every block of the old one that is left must lie in a slot and be no larger than what
//! the slot showed. What is stable between two answers in a row and not in the old version is a change, however small, and so is what the
//! old version has where nothing was ever drawn.

use super::evidence::{Evidence, State, likeness, same_bag};
use super::memory::{Memory, Room};
use super::page::{Gap, Line, gaps};
use super::template::Spans;
use std::collections::{HashMap, HashSet, VecDeque};

/// Findings kept; the rest is counted.
const MOST_FINDINGS: usize = 1_000;
/// Blocks of one gap that are tried for one template.
const NEAR: usize = 256;
/// Blocks of one gap that are tried for slots known of the host.
const NEARER: usize = 8;

/// Blocks of the old version that are not explained yet, by path, in order.
type Left = HashMap<u64, VecDeque<usize>>;

/// A difference that is no noise: what one block said and says.
#[derive(Clone, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) place: &'a str,
    pub(crate) old: Option<&'a str>,
    pub(crate) new: Option<&'a str>,
}

/// What is left of the differences.
#[derive(Debug, Default)]
pub(crate) struct Explained<'a> {
    pub(crate) findings: Vec<Finding<'a>>,
    /// Whether what is known of the host was needed.
    pub(crate) by_memory: bool,
}

/// Takes the noise away.
pub(crate) fn explain<'a>(
    old: &[Line<'a>],
    new: &[Line<'a>],
    evidence: Option<&Evidence<'_>>,
    memory: &Memory,
) -> Explained<'a> {
    let gaps = gaps(old, new);
    let mut run = Run {
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

struct Run<'r, 'a> {
    old: &'r [Line<'a>],
    new: &'r [Line<'a>],
    evidence: Option<&'r Evidence<'r>>,
    memory: &'r Memory,
    /// Blocks of the old and the new version that only changed places.
    gone: HashSet<usize>,
    here: HashSet<usize>,
    /// Blocks of the old version by path, that lie anywhere in the room of that path.
    used: HashMap<u64, usize>,
    out: Explained<'a>,
}

impl<'a> Run<'_, 'a> {
    /// Leaves out blocks that both versions have in another order, where order means nothing.
    fn leave_out_moved(&mut self, gaps: &[Gap]) {
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

    fn gap(&mut self, gap: &Gap) {
        let mut left = Left::default();
        for i in gap.one.clone().filter(|i| !self.gone.contains(i)) {
            left.entry(self.old[i].path()).or_default().push_back(i);
        }
        for j in gap.other.clone().filter(|j| !self.here.contains(j)).collect::<Vec<_>>() {
            let line = &self.new[j];
            if !self.is_noise(j, left.entry(line.path()).or_default()) {
                let before = left.entry(line.path()).or_default().pop_front();
                let old = before.map(|i| self.old[i].block.text.as_str());
                self.find(Finding { place: &line.block.place, old, new: Some(&line.block.text) });
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
                self.find(Finding { place: &line.block.place, old: Some(&line.block.text), new: None });
            }
        }
    }

    /// Whether a block of the new version is drawn; the one of the old version that it stands for is taken out of `left`, which holds
    /// those of its path.
    fn is_noise(&mut self, j: usize, left: &mut VecDeque<usize>) -> bool {
        let line = &self.new[j];
        let evidence = self.evidence;
        match evidence.and_then(|e| e.states.get(&j)) {
            Some(State::Replaced { .. }) => return true,
            None if evidence.is_some_and(|e| e.is_loose(line.path())) => return true,
            Some(State::Drawn(template)) if self.take(left, NEAR, |old| template.matches(old.words())) => return true,
            Some(State::Shuffled) if self.take(left, NEAR, |old| same_bag(old.words(), line.words())) => return true,
            _ => {}
        }
        // The same words with other white space between them.
        if self.take(left, NEAR, |old| old.words() == line.words()) {
            return true;
        }
        let known = self.is_known(line, left);
        self.out.by_memory |= known;
        known
    }

    /// Whether what is known of the host explains a block of the new version.
    fn is_known(&self, line: &Line<'a>, left: &mut VecDeque<usize>) -> bool {
        if self.memory.has_slots(line.path()) && self.take(left, NEARER, |old| self.differs_in_known_slots(old, line)) {
            return true;
        }
        let Some(room) = self.memory.drawn(line.path()) else { return false };
        // What changed in a few words was edited; what is drawn is replaced.
        let edited = left.front().is_some_and(|&i| likeness(self.old[i].words(), line.words()) > 0.75);
        !edited && line.words().len() <= room.words
    }

    fn differs_in_known_slots(&self, old: &Line<'_>, new: &Line<'_>) -> bool {
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

    /// Takes the first of the next blocks that fits out of `left`.
    fn take(&self, left: &mut VecDeque<usize>, near: usize, fits: impl Fn(&Line<'a>) -> bool) -> bool {
        let found = left.iter().take(near).position(|&i| fits(&self.old[i]));
        found.and_then(|at| left.remove(at)).is_some()
    }

    /// Whether a block of the old version lies in a slot and is no larger than what the slot showed.
    fn has_room(&mut self, line: &Line<'_>, shown: usize, drawn: &mut usize) -> bool {
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

    fn find(&mut self, finding: Finding<'a>) {
        if self.out.findings.len() < MOST_FINDINGS {
            self.out.findings.push(finding);
        }
    }
}

/// Whether one more block of so many words has room.
fn fits(blocks: &mut usize, words: usize, room: Room) -> bool {
    *blocks += 1;
    *blocks <= room.blocks && words <= room.words
}
