//! What is known to be dynamic on the pages of a host?
//!
//! Each pair of responses teaches, by element path, which blocks are dynamic as a whole, which come
//! in any order, and between which words others vary. What was seen on several pages explains a
//! difference on the next one without a second request. Bounded: the paths seen on the fewest pages
//! are evicted first.

use super::evidence::{BlockState, Evidence, PathTally};
use super::page::PreparedBlock;
use super::template::{SlotShape, WordSlot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// On how many pages something must be dynamic before it counts as known.
const SEVERAL: u32 = 3;
/// Until this many pages were fetched twice, a memory is young.
const YOUNG: u32 = 12;
/// Maximum paths remembered.
const MOST_PATHS: usize = 256;
/// Maximum slots remembered per path.
const MOST_SLOTS: usize = 16;

/// What is known about a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Number of pages fetched twice.
    #[serde(default)]
    pages: u32,
    paths: BTreeMap<String, KnownPath>,
}

/// What is known about a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct KnownPath {
    /// Number of pages on which its blocks were dynamic.
    pages: u32,
    /// Number of dynamic and of stable blocks.
    varying: u32,
    stable: u32,
    /// Maximum dynamic blocks on one page, and maximum words of one.
    blocks: u32,
    words: u32,
    /// Number of pages on which they came in another order.
    moved: u32,
    /// The last page seen: the same page again does not count.
    last: u64,
    slots: Vec<KnownSlot>,
}

/// What is known about a slot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct KnownSlot {
    before: u64,
    after: u64,
    most: u32,
    shape: KnownShape,
    optional: bool,
    pages: u32,
    last: u64,
}

/// A shape in its serialised form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KnownShape {
    Digits,
    Moment,
    Token(u32, u32),
    Free,
}

impl From<SlotShape> for KnownShape {
    fn from(shape: SlotShape) -> Self {
        match shape {
            SlotShape::Digits => Self::Digits,
            SlotShape::Moment => Self::Moment,
            SlotShape::Token { least, most } => Self::Token(small(least), small(most)),
            SlotShape::Free => Self::Free,
        }
    }
}

impl From<KnownShape> for SlotShape {
    fn from(shape: KnownShape) -> Self {
        match shape {
            KnownShape::Digits => Self::Digits,
            KnownShape::Moment => Self::Moment,
            KnownShape::Token(least, most) => Self::Token { least: least as usize, most: most as usize },
            KnownShape::Free => Self::Free,
        }
    }
}

impl KnownSlot {
    fn slot(&self) -> WordSlot {
        let Self { before, after, optional, .. } = *self;
        WordSlot { most: self.most as usize, shape: self.shape.into(), optional, before, after }
    }
}

/// How much dynamic content may be at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) blocks: usize,
    pub(crate) words: usize,
}

impl Room {
    /// Room for what was shown, and for more if nothing stable is at that path.
    pub(crate) fn generous(blocks: usize, words: usize) -> Self {
        Self { blocks: 2 * blocks + 2, words: 4 * words + 16 }
    }
}

impl Memory {
    /// Whether too few pages were fetched twice to know what is dynamic.
    pub(crate) fn is_young(&self) -> bool {
        self.pages < YOUNG
    }

    /// The room at a path whose blocks are known to be dynamic as a whole.
    pub(crate) fn drawn(&self, path: u64) -> Option<Room> {
        let known = self.paths.get(&key(path))?;
        let holds = known.pages >= SEVERAL && known.varying >= known.stable / 2;
        holds.then(|| Room::generous(known.blocks as usize, known.words as usize))
    }

    /// Whether the blocks of a path are known to come in any order.
    pub(crate) fn is_orderless(&self, path: u64) -> bool {
        self.paths.get(&key(path)).is_some_and(|known| known.moved >= SEVERAL)
    }

    /// Whether slots of a path are known.
    pub(crate) fn has_slots(&self, path: u64) -> bool {
        self.paths.get(&key(path)).is_some_and(|known| known.slots.iter().any(|slot| slot.pages >= SEVERAL))
    }

    /// The known slot of a path between these two words.
    pub(crate) fn slot(&self, path: u64, before: u64, after: u64) -> Option<WordSlot> {
        let known = self.paths.get(&key(path))?;
        let here = |slot: &&KnownSlot| slot.pages >= SEVERAL && slot.before == before && slot.after == after;
        known.slots.iter().find(here).map(KnownSlot::slot)
    }

    /// Learns from two responses of a page.
    pub(crate) fn learn(&mut self, page: u64, new: &[PreparedBlock<'_>], evidence: &Evidence<'_>) {
        self.pages = self.pages.saturating_add(1);
        for (&path, tally) in &evidence.tallies {
            self.learn_path(page, path, tally, evidence.orderless.contains(&path));
        }
        for (&i, state) in &evidence.states {
            if let (BlockState::Drawn(template), Some(line)) = (state, new.get(i)) {
                template.slots().for_each(|slot| self.learn_slot(page, line.path(), slot));
            }
        }
        self.forget();
    }

    fn learn_path(&mut self, page: u64, path: u64, tally: &PathTally, moved: bool) {
        let drawn = tally.named && tally.varying > 0;
        if !drawn && !moved {
            if let Some(known) = self.paths.get_mut(&key(path)) {
                known.stable = known.stable.saturating_add(small(tally.stable));
            }
            return;
        }
        let known = self.paths.entry(key(path)).or_default();
        let other = u32::from(known.last != page);
        known.last = page;
        known.moved += if moved { other } else { 0 };
        if drawn {
            known.pages += other;
            known.varying = known.varying.saturating_add(small(tally.varying));
            known.stable = known.stable.saturating_add(small(tally.stable));
            known.blocks = known.blocks.max(small(tally.varying));
            known.words = known.words.max(small(tally.words));
        }
    }

    fn learn_slot(&mut self, page: u64, path: u64, slot: WordSlot) {
        let known = self.paths.entry(key(path)).or_default();
        let here = |k: &&mut KnownSlot| k.before == slot.before && k.after == slot.after;
        if let Some(kept) = known.slots.iter_mut().find(here) {
            let wide = kept.slot().widened(slot);
            kept.pages += u32::from(kept.last != page);
            (kept.most, kept.shape, kept.last) = (small(wide.most), wide.shape.into(), page);
            kept.optional = wide.optional;
            return;
        }
        if known.slots.len() >= MOST_SLOTS
            && let Some(least) = known.slots.iter().enumerate().min_by_key(|(_, s)| s.pages).map(|(i, _)| i)
        {
            known.slots.swap_remove(least);
        }
        let WordSlot { before, after, most, shape, optional } = slot;
        let (most, shape) = (small(most), shape.into());
        known.slots.push(KnownSlot { before, after, most, shape, optional, pages: 1, last: page });
    }

    /// Merges what another memory of the same host knows.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.pages = self.pages.max(other.pages);
        for (path, theirs) in &other.paths {
            let Some(ours) = self.paths.get_mut(path) else {
                self.paths.insert(path.clone(), theirs.clone());
                continue;
            };
            if ours.pages + ours.moved < theirs.pages + theirs.moved || ours.slots.len() < theirs.slots.len() {
                *ours = theirs.clone();
            }
        }
        self.forget();
    }

    /// Evicts down to the bound.
    fn forget(&mut self) {
        if self.paths.len() <= MOST_PATHS {
            return;
        }
        let weight = |k: &KnownPath| k.pages + k.moved + k.slots.iter().map(|s| s.pages).max().unwrap_or(0);
        let mut weights: Vec<(u32, String)> = self.paths.iter().map(|(path, k)| (weight(k), path.clone())).collect();
        weights.sort_unstable();
        for (_, path) in weights.iter().take(self.paths.len() - MOST_PATHS * 3 / 4) {
            self.paths.remove(path);
        }
    }
}

/// A path as a JSON object key, which must be a string.
fn key(path: u64) -> String {
    format!("{path:016x}")
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
