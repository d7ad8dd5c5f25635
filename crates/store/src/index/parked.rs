//! Which pages were left outside only because of the link that was seen first?
//!
//! A later link may bring them in, so the recorder asks this for every link to a known page: a bit
//! set in memory, stored in the tree as blocks of 32,768, of which a batch rewrites few, since new
//! pages have the highest numbers.

use super::layout::{PARKED, block_slot, slot_host};
use super::spaces::Spaces;
use super::{FrontierIndex, letter_range, lock};
use crate::error::Result;
use orb_page::{PageId, PageKind, SkipReason};
use std::collections::BTreeSet;

/// Words per block.
const WORDS: usize = 512;

/// The pages, by number.
#[derive(Debug, Default)]
pub(super) struct ParkedPages {
    words: Vec<u64>,
    changed: BTreeSet<u32>,
}

/// Whether a page of this kind and reason counts: a trap's verdict is final.
pub(crate) fn is_parked(kind: PageKind, why: Option<SkipReason>) -> bool {
    kind == PageKind::Outside && why.is_some_and(|why| why.trap().is_none())
}

impl ParkedPages {
    /// Adds or removes a page.
    pub(super) fn set(&mut self, page: PageId, parked: bool) {
        let Ok(word) = usize::try_from(page.0 / 64) else { return };
        let bit = 1 << (page.0 % 64);
        if word >= self.words.len() {
            if !parked {
                return;
            }
            self.words.resize((word / WORDS + 1) * WORDS, 0);
        }
        if (self.words[word] & bit != 0) != parked {
            self.words[word] ^= bit;
            self.changed.insert(u32::try_from(word / WORDS).unwrap_or(u32::MAX));
        }
    }

    /// The blocks that have changed since the last call, encoded.
    pub(super) fn take_changed(&mut self) -> Vec<(u32, Vec<u8>)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|block| (block, self.block(block))).collect()
    }

    fn block(&self, block: u32) -> Vec<u8> {
        let words = self.words.iter().skip(block as usize * WORDS).take(WORDS);
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Loads a stored block; `None` if it is invalid.
    fn load(&mut self, block: u32, bytes: &[u8]) -> Option<()> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        if words.len() != WORDS || block > 1 << 20 {
            return None;
        }
        let from = block as usize * WORDS;
        if self.words.len() < from + WORDS {
            self.words.resize(from + WORDS, 0);
        }
        for (place, word) in self.words[from..].iter_mut().zip(words) {
            *place = u64::from_le_bytes(*word);
        }
        Some(())
    }

    fn each(&self, mut each: impl FnMut(PageId)) {
        for (at, word) in (0u64..).zip(&self.words).filter(|(_, word)| **word != 0) {
            (0..64).filter(|bit| word >> bit & 1 == 1).for_each(|bit| each(PageId(at * 64 + bit)));
        }
    }
}

impl FrontierIndex {
    /// Calls back with the pages left outside because of the link that was seen first, and not
    /// because of a trap: a better link would bring them in.
    pub(crate) fn each_parked(&self, each: impl FnMut(PageId)) {
        lock(&self.shared.parked).each(each);
    }

    /// Loads the blocks.
    pub(super) fn load_parked(&self, spaces: &Spaces) -> Result<()> {
        let mut parked = ParkedPages::default();
        for entry in spaces.host.range::<Vec<u8>, _>(letter_range(PARKED)) {
            let (key, value) = entry.into_inner().map_err(self.fail("read what is outside"))?;
            let block = slot_host(&key).and_then(|block| parked.load(block.0, &value));
            block.ok_or_else(|| self.damaged("a block of pages outside cannot be read"))?;
        }
        *lock(&self.shared.parked) = parked;
        Ok(())
    }

    /// The entries that bring the tree up to date with memory.
    pub(super) fn changed_blocks(&self) -> Vec<([u8; 5], Vec<u8>)> {
        let changed = lock(&self.shared.parked).take_changed();
        changed.into_iter().map(|(block, bytes)| (block_slot(block), bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_what_was_put_in() {
        let mut parked = ParkedPages::default();
        for n in [1, 63, 64, 32_767, 32_768, 100_000] {
            parked.set(PageId(n), true);
        }
        parked.set(PageId(64), false);
        parked.set(PageId(1 << 40), false);
        let blocks = parked.take_changed();
        assert_eq!(blocks.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 1, 3]);
        parked.set(PageId(63), true);
        assert!(parked.take_changed().is_empty());
        let mut again = ParkedPages::default();
        for (n, bytes) in &blocks {
            again.load(*n, bytes).unwrap();
        }
        let mut pages = Vec::new();
        again.each(|page| pages.push(page.0));
        assert_eq!(pages, [1, 63, 32_767, 32_768, 100_000]);
        assert!(again.load(0, &[0; 9]).is_none() && again.load(u32::MAX, &[0; 4096]).is_none());
    }
}
