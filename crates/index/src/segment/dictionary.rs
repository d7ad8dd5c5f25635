//! Which id does a term have?
//!
//! Terms are numbered in order of appearance, so that a page in memory is a sequence of ids. In the
//! hash table a term of at most eight bytes is these bytes as one integer, a longer one its hash:
//! its bytes are elsewhere in memory, and looking at them would take longer than all the rest. The
//! hash is keyed randomly per process, so nobody can craft a page whose terms collide; that two of
//! a million terms of one length do so by chance has odds of one to ten million.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher as _;

/// Bytes of a term stored in the table.
const FIRST: usize = 8;

/// A slot of the table: a term's key, its id and its length.
#[derive(Clone, Copy)]
struct TermSlot {
    key: u64,
    number: u32,
    len: u32,
}

/// Terms and their ids.
pub(super) struct Dictionary {
    table: HashTable<TermSlot>,
    hasher: DefaultHashBuilder,
    /// All terms back to back, and their offsets.
    letters: Vec<u8>,
    begins: Vec<u32>,
}

impl Dictionary {
    pub(super) fn new() -> Self {
        let (letters, begins) = (Vec::new(), vec![0]);
        Self { table: HashTable::new(), hasher: DefaultHashBuilder::default(), letters, begins }
    }

    /// The id of a term, given with its first eight bytes; a new term gets the next id.
    #[inline]
    pub(super) fn number(&mut self, word: &[u8], first: u64) -> u32 {
        let (key, hash) = match word.len() {
            0..=FIRST => (first, self.hasher.hash_one(first)),
            _ => {
                let hash = self.hasher.hash_one(word);
                (hash, hash)
            }
        };
        let is_it = |slot: &TermSlot| slot.key == key && slot.len as usize == word.len();
        match self.table.find(hash, is_it) {
            Some(slot) => slot.number,
            None => self.add(word, key, hash),
        }
    }

    #[cold]
    fn add(&mut self, word: &[u8], key: u64, hash: u64) -> u32 {
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let slot = TermSlot { key, number, len: u32::try_from(word.len()).unwrap_or(u32::MAX) };
        self.letters.extend_from_slice(word);
        self.begins.push(u32::try_from(self.letters.len()).unwrap_or(u32::MAX));
        let hasher = &self.hasher;
        let rehash = |slot: &TermSlot| if slot.len as usize <= FIRST { hasher.hash_one(slot.key) } else { slot.key };
        self.table.insert_unique(hash, slot, rehash);
        number
    }

    /// Removes all terms.
    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.letters.clear();
        self.begins.truncate(1);
    }

    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// A term by its id.
    pub(super) fn word(&self, number: u32) -> &[u8] {
        letter(&self.letters, &self.begins, number)
    }

    /// The ids in term order.
    pub(super) fn sorted(&self) -> Vec<u32> {
        // Most terms differ in their first sixteen bytes, which are compared without looking
        // elsewhere.
        let mut order: Vec<(u128, u32)> = (0..u32::try_from(self.len()).unwrap_or(u32::MAX))
            .map(|number| (beginning(self.word(number)), number))
            .collect();
        order.sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then_with(|| self.word(*x).cmp(self.word(*y))));
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// Approximate memory use in bytes, with the table half full on average.
    pub(super) fn heap_bytes(&self) -> usize {
        self.letters.len() + self.len() * (size_of::<u32>() + 2 * (size_of::<TermSlot>() + 1))
    }
}

fn letter<'a>(letters: &'a [u8], begins: &[u32], number: u32) -> &'a [u8] {
    let at = number as usize;
    &letters[begins[at] as usize..begins[at + 1] as usize]
}

/// The first sixteen bytes of a term as an integer that orders like them, zero-padded.
fn beginning(word: &[u8]) -> u128 {
    let mut first = [0; 16];
    let len = word.len().min(first.len());
    first[..len].copy_from_slice(&word[..len]);
    u128::from_be_bytes(first)
}

/// The first eight bytes of a term as an integer, zero-padded.
pub(super) fn first_of(word: &[u8]) -> u64 {
    let mut first = [0; FIRST];
    let len = word.len().min(FIRST);
    first[..len].copy_from_slice(&word[..len]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dictionary: &mut Dictionary, word: &str) -> u32 {
        dictionary.number(word.as_bytes(), first_of(word.as_bytes()))
    }

    #[test]
    fn a_word_keeps_its_number_and_all_come_out_in_order() {
        let mut dictionary = Dictionary::new();
        let words = ["zebra", "a", "", "abcdefgh", "abcdefghi", "abcdefgh0", "a\0", "ab", "日本"];
        let numbers: Vec<u32> = words.iter().map(|word| put(&mut dictionary, word)).collect();
        assert_eq!(numbers, (0..9).collect::<Vec<_>>());
        assert_eq!(words.iter().map(|word| put(&mut dictionary, word)).collect::<Vec<_>>(), numbers);
        let mut expected: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        expected.sort_unstable();
        let order = dictionary.sorted();
        assert_eq!(order.iter().map(|number| dictionary.word(*number)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_hundred_thousand_words_are_told_apart() {
        let mut dictionary = Dictionary::new();
        for round in 0..2 {
            for n in 0..100_000u32 {
                assert_eq!(
                    put(&mut dictionary, &format!("{}word{n}", if n % 2 == 0 { "long-" } else { "" })),
                    n,
                    "{round}"
                );
            }
        }
    }
}
