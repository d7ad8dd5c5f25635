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
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Findings kept; the rest is counted.
const MOST_FINDINGS: usize = 1_000;
/// Blocks of one gap that are tried for one template.
const NEAR: usize = 256;

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
        let mut left: Vec<usize> = gap.one.clone().filter(|i| !self.gone.contains(i)).collect();
        for j in gap.other.clone().filter(|j| !self.here.contains(j)).collect::<Vec<_>>() {
            if !self.is_noise(j, &mut left) {
                self.changed(j, &mut left);
            }
        }
        let mut drawn: HashMap<u64, usize> = HashMap::new();
        for i in left {
            if !self.has_room(&self.old[i], &gap.other, &mut drawn) {
                let line = &self.old[i];
                self.find(Finding { place: &line.block.place, old: Some(&line.block.text), new: None });
            }
        }
    }

    /// Whether a block of the new version is drawn; the one of the old version that it stands for is taken out of `left`.
    fn is_noise(&mut self, j: usize, left: &mut Vec<usize>) -> bool {
        let line = &self.new[j];
        let evidence = self.evidence;
        match evidence.and_then(|e| e.states.get(&j)) {
            Some(State::Replaced { .. }) => return true,
            None if evidence.is_some_and(|e| e.is_loose(line.path())) => return true,
            Some(State::Drawn(template)) if self.take(left, line, |old| template.matches(old.words())) => return true,
            Some(State::Shuffled) if self.take(left, line, |old| same_bag(old.words(), line.words())) => return true,
            _ => {}
        }
        // The same words with other white space between them.
        if self.take(left, line, |old| old.words() == line.words()) {
            return true;
        }
        let known = self.is_known(line, left);
        self.out.by_memory |= known;
        known
    }

    /// Whether what is known of the host explains a block of the new version.
    fn is_known(&self, line: &Line<'a>, left: &mut Vec<usize>) -> bool {
        if self.take(left, line, |old| self.differs_in_known_slots(old, line)) {
            return true;
        }
        let Some(room) = self.memory.drawn(line.path()) else { return false };
        let twin = left.iter().find(|&&i| self.old[i].path() == line.path());
        // What changed in a few words was edited; what is drawn is replaced.
        let edited = twin.is_some_and(|&i| likeness(self.old[i].words(), line.words()) > 0.75);
        !edited && line.words().len() <= room.words
    }

    fn differs_in_known_slots(&self, old: &Line<'_>, new: &Line<'_>) -> bool {
        let (old, words) = (old.words(), new.words());
        let spans = Spans::of(words, old).0;
        !spans.is_empty()
            && spans.iter().all(|span| {
                let seen = span.slot(words, old);
                let known = self.memory.slot(new.path(), seen.before, seen.after);
                known.is_some_and(|k| {
                    k.accepts(&old[span.other.0..span.other.1]) && k.accepts(&words[span.one.0..span.one.1])
                })
            })
    }

    /// Takes the first block of the same path that fits out of `left`.
    fn take(&self, left: &mut Vec<usize>, line: &Line<'_>, fits: impl Fn(&Line<'a>) -> bool) -> bool {
        let near = left.iter().take(NEAR);
        let found = near.enumerate().find(|&(_, &i)| self.old[i].path() == line.path() && fits(&self.old[i]));
        let found = found.map(|(at, _)| at);
        if let Some(at) = found {
            left.remove(at);
        }
        found.is_some()
    }

    /// Whether a block of the old version lies in a slot and is no larger than what the slot showed.
    fn has_room(&mut self, line: &Line<'_>, gap: &Range<usize>, drawn: &mut HashMap<u64, usize>) -> bool {
        let (path, words) = (line.path(), line.words().len());
        if let Some(evidence) = self.evidence {
            let tally = evidence.tally(path);
            let exclusive = tally.varying > 0 && (tally.stable == 0 || evidence.is_loose(path));
            if exclusive && tally.named {
                return fits(self.used.entry(path).or_default(), words, Room::generous(tally.varying, tally.words));
            }
            let shown = evidence.drawn_in(gap, path, self.new);
            let room = match exclusive {
                true => Room::generous(shown, tally.words),
                false => Room { blocks: shown, words: 2 * tally.words + 8 },
            };
            if shown > 0 && fits(drawn.entry(path).or_default(), words, room) {
                return true;
            }
        }
        let Some(room) = self.memory.drawn(path) else { return false };
        self.out.by_memory = true;
        fits(self.used.entry(path).or_default(), words, room)
    }

    /// A block of the new version that is no noise, with the one it was before, if any.
    fn changed(&mut self, j: usize, left: &mut Vec<usize>) {
        let line = &self.new[j];
        let before = left.iter().position(|&i| self.old[i].path() == line.path()).map(|at| left.remove(at));
        let old = before.map(|i| self.old[i].block.text.as_str());
        self.find(Finding { place: &line.block.place, old, new: Some(&line.block.text) });
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
