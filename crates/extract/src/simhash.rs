//! How alike are two texts?
//!
//! SimHash (Charikar 2002, used for crawling by Manku, Jain and Das Sarma 2007): every three words in a row vote with
//! their hash on each of 64 bits; texts that share most of their phrases differ in few bits. Case does not matter
//! among ASCII letters, nor does white space. The hash of three words is made from the hashes of each, so that every
//! word is hashed once and nothing is copied. Words end where a bit mask of 64 bytes says so, and votes are added up
//! by carry-save adders, sixteen at a time: a branch for each byte and a counter for each bit took four times as long.

use crate::bytewise::{low, mask, sixteen};

/// Words in a phrase.
const PHRASE: usize = 3;
/// The fractional part of the golden ratio: an odd number with its bits well spread.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Bytes whose gaps are found at once.
const BLOCK: usize = 64;

/// For each number of bytes the mask that keeps the first ones: looked up, since shifting sixteen bytes takes longer.
static KEPT: [u128; 32] = {
    let mut kept = [u128::MAX; 32];
    let mut len = 0;
    while len < 16 {
        kept[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    kept
};

/// The SimHash of a text; 0 for one without words.
pub fn simhash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut phrases = Phrases::default();
    let mut start = 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last.iter_mut().zip(rest).for_each(|(place, &byte)| *place = byte);
    for (i, block) in blocks.iter().chain([&last]).enumerate() {
        let mut gaps = gaps(block);
        while gaps != 0 {
            let end = i * BLOCK + gaps.trailing_zeros() as usize;
            if end > start {
                phrases.add(hash(bytes, start, end));
            }
            start = end + 1;
            gaps &= gaps - 1;
        }
    }
    phrases.result()
}

/// In how many bits two hashes differ, 0 to 64.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// A bit for each byte that is white space or a control character.
#[inline]
fn gaps(block: &[u8; BLOCK]) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    words.iter().enumerate().fold(0, |bits, (i, eight)| bits | (mask(low(u64::from_le_bytes(*eight), b' ')) << (i * 8)))
}

/// The hash of the word from `start` to `end`, its letters in lower case; there must be one.
///
/// Nearly all words end within sixteen bytes, so that no branch depends on their length.
#[inline]
pub(crate) fn hash(bytes: &[u8], start: usize, end: usize) -> u64 {
    const CASE: u128 = 0x2020_2020_2020_2020_2020_2020_2020_2020;
    let (mut at, mut mixed) = (start, 0);
    while end - at > 16 {
        mixed = halves(mixed, sixteen(bytes, at) | CASE);
        at += 16;
    }
    halves(mixed ^ (end - start) as u64, (sixteen(bytes, at) | CASE) & KEPT[(end - at) & 31])
}

#[inline]
fn halves(mixed: u64, word: u128) -> u64 {
    mix(mixed ^ word as u64, SPREAD ^ (word >> 64) as u64)
}

/// Both halves of a product, folded.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xC2B2_AE3D_27D4_EB4F) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Every three words in a row, as they come.
#[derive(Default)]
struct Phrases {
    last: [u64; PHRASE],
    words: usize,
    votes: Votes,
}

impl Phrases {
    #[inline]
    fn add(&mut self, hash: u64) {
        self.last = [self.last[1], self.last[2], hash];
        self.words += 1;
        if self.words >= PHRASE {
            self.votes.cast(self.phrase());
        }
    }

    /// One hash of three, in which their order matters.
    #[inline]
    fn phrase(&self) -> u64 {
        let [a, b, c] = self.last;
        mix(a.rotate_left(21) ^ b.rotate_left(42) ^ c, SPREAD)
    }

    fn result(mut self) -> u64 {
        if (1..PHRASE).contains(&self.words) {
            self.votes.cast(self.phrase());
        }
        self.votes.result()
    }
}

/// Votes that are added up together.
const TOGETHER: usize = 16;

/// How often each bit was set.
///
/// Carry-save adders hold, for each bit, the four lowest digits of its count (Harley and Seal); of sixteen votes one carry goes on, which is
/// counted in eight lanes of a byte for each of eight shifts, and the lanes are emptied before one can overflow.
struct Votes {
    waiting: [u64; TOGETHER],
    /// How many wait.
    filled: usize,
    /// How often those that waited were counted.
    rounds: usize,
    digits: [u64; 4],
    lanes: [u64; 8],
    ones: [u32; 64],
}

impl Default for Votes {
    fn default() -> Self {
        Self { waiting: [0; TOGETHER], filled: 0, rounds: 0, digits: [0; 4], lanes: [0; 8], ones: [0; 64] }
    }
}

impl Votes {
    #[inline]
    fn cast(&mut self, hash: u64) {
        if let Some(place) = self.waiting.get_mut(self.filled) {
            *place = hash;
        }
        self.filled += 1;
        if self.filled == TOGETHER {
            self.count();
        }
    }

    fn count(&mut self) {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let mut level = self.waiting;
        let mut len = TOGETHER;
        for digit in &mut self.digits {
            for i in 0..len / 2 {
                (*digit, level[i]) = full_adder(*digit, level[2 * i], level[2 * i + 1]);
            }
            len /= 2;
        }
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            *lane += (level[0] >> shift) & LOW;
        }
        self.waiting = [0; TOGETHER];
        self.filled = 0;
        self.rounds += 1;
        if self.rounds.is_multiple_of(255) {
            self.flush();
        }
    }

    /// Empties the lanes.
    fn flush(&mut self) {
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            for (byte, count) in lane.to_le_bytes().into_iter().enumerate() {
                self.ones[byte * 8 + shift] += u32::from(count) * TOGETHER as u32;
            }
            *lane = 0;
        }
    }

    fn result(mut self) -> u64 {
        let cast = self.rounds * TOGETHER + self.filled;
        if self.filled > 0 {
            self.count();
        }
        self.flush();
        let majority = cast / 2;
        let count = |i: usize| {
            let rest = (0..).zip(&self.digits).map(|(digit, word)| (word >> i & 1) << digit).sum::<u64>();
            u64::from(self.ones[i]) + rest
        };
        (0..64).fold(0, |bits, i| bits | (u64::from(count(i) > majority as u64) << i))
    }
}

/// Sum and carry of three bits, 64 times.
#[inline]
fn full_adder(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, (a & b) | (either & c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: std::ops::Range<u32>) -> String {
        words.map(|i| format!("word{} ", i.wrapping_mul(7919) % 1009)).collect()
    }

    #[test]
    fn the_same_words_have_the_same_hash() {
        assert_eq!(simhash("The quick  brown fox\njumps"), simhash("the QUICK brown fox jumps "));
        assert_eq!(simhash("Straightforwardly"), simhash("STRAIGHTFORWARDLY"));
        assert_ne!(simhash("a b c"), simhash("c b a"));
        assert_eq!(simhash(""), 0);
        assert_ne!(simhash("one"), simhash("two"));
    }

    #[test]
    fn a_small_change_moves_few_bits_and_another_text_many() {
        let page = text(0..1_000);
        let changed = page.replacen("word", "changed", 1);
        assert!(distance(simhash(&page), simhash(&changed)) <= 3);
        let other = text(5_000..6_000).replace("word", "term");
        assert!(distance(simhash(&page), simhash(&other)) >= 16);
    }

    #[test]
    fn counting_in_lanes_is_counting() {
        for n in [0, 1, 2, 14, 15, 16, 1_000, 15 * 255, 15 * 255 + 7, 10_000u64] {
            let hashes: Vec<u64> = (0..n).map(|i| mix(i, SPREAD) | u64::from(i % 2 == 0)).collect();
            let mut votes = Votes::default();
            hashes.iter().for_each(|&h| votes.cast(h));
            let plain = (0..64).fold(0u64, |bits, i| {
                let ones = hashes.iter().filter(|h| *h >> i & 1 == 1).count() as u64;
                bits | (u64::from(ones > n / 2) << i)
            });
            assert_eq!(votes.result(), plain, "{n} votes");
        }
    }

    #[test]
    fn words_are_what_white_space_separates_wherever_they_lie() {
        let words = |text: &str| {
            let mut phrases = Phrases::default();
            text.split_ascii_whitespace().for_each(|w| phrases.add(hash(w.as_bytes(), 0, w.len())));
            phrases.result()
        };
        let long = "x".repeat(200);
        for shift in 0..70 {
            let text = format!("{}a bcd\nefghijkl mnopqrstu  vwxyzabcdefghijkl é {long} end", " ".repeat(shift));
            assert_eq!(simhash(&text), words(&text), "shifted by {shift}");
        }
    }
}
