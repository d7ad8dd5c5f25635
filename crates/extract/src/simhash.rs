//! How similar are two texts?
//!
//! SimHash (Charikar 2002, applied to crawling by Manku, Jain and Das Sarma 2007): every 3-shingle
//! of words votes with its hash on each of 64 bits, so texts that share most of their phrases
//! differ in few bits. ASCII case and white space are ignored. The hash of a shingle combines the
//! hashes of its words, so every word is hashed once and nothing is copied.
//!
//! Word boundaries come from a bit mask over 64 bytes, word hashes are buffered, and votes are
//! added up by carry-save adders, thirty-two at a time. A branch per byte and a counter per bit
//! took five times as long.

use crate::bytewise::{bits, sixteen};

/// Words per shingle.
const PHRASE: usize = 3;
/// The fractional part of the golden ratio: an odd number with well-mixed bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// The case bit of ASCII letters, in sixteen bytes.
const CASE: u128 = 0x2020_2020_2020_2020_2020_2020_2020_2020;
/// Bytes per boundary mask.
const BLOCK: usize = 64;

/// For each length from one, the mask that keeps that many bytes. A table, because shifting sixteen
/// bytes takes longer.
static KEPT: [u128; 16] = {
    let mut kept = [u128::MAX; 16];
    let mut len = 1;
    while len < 16 {
        kept[len - 1] = (1 << (8 * len)) - 1;
        len += 1;
    }
    kept
};

/// The SimHash of a text; 0 if it has no words.
pub fn simhash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut phrases = Phrases::default();
    let mut start = 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last.iter_mut().zip(rest).for_each(|(place, &byte)| *place = byte);
    for (i, block) in blocks.iter().chain([&last]).enumerate() {
        // White space and control characters.
        let gaps = bits(&block.map(|byte| byte <= b' '));
        start = phrases.read(bytes, start, i * BLOCK, gaps);
    }
    phrases.result()
}

/// Hamming distance of two hashes, 0 to 64.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// The hash of a word of up to sixteen bytes, in lower case; `None` for longer ones and for one
/// that begins within the last sixteen bytes of the text.
#[inline]
fn short(bytes: &[u8], start: usize, len: usize) -> Option<u64> {
    let kept = KEPT.get(len.wrapping_sub(1))?;
    // No text is that long; saying so removes an overflow check from the sum.
    let start = start & (usize::MAX >> 1);
    let word = bytes.get(start..start + 16)?.first_chunk()?;
    Some(halves(len as u64, (u128::from_le_bytes(*word) | CASE) & kept))
}

/// The hash of the non-empty word from `start` to `end`, in lower case.
#[inline(never)]
pub(crate) fn hash(bytes: &[u8], start: usize, end: usize) -> u64 {
    let (mut at, mut mixed) = (start, 0);
    while end - at > 16 {
        mixed = halves(mixed, sixteen(bytes, at) | CASE);
        at += 16;
    }
    let kept = KEPT[(end - at).wrapping_sub(1) & 15];
    halves(mixed ^ (end - start) as u64, (sixteen(bytes, at) | CASE) & kept)
}

#[inline]
fn halves(mixed: u64, word: u128) -> u64 {
    mix(mixed ^ word as u64, SPREAD ^ (word >> 64) as u64)
}

/// Both halves of a 128-bit product, folded.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xC2B2_AE3D_27D4_EB4F) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Capacity of the buffer of word hashes.
const WAITING: usize = 256;
/// How many words can end within a block.
const ENDING: usize = BLOCK / 2;

/// A stream of shingles.
struct Phrases {
    /// Buffered word hashes, preceded by those of the two previous words.
    hashes: [u64; WAITING],
    filled: usize,
    votes: Votes,
}

impl Default for Phrases {
    fn default() -> Self {
        Self { hashes: [0; WAITING], filled: 0, votes: Votes::default() }
    }
}

impl Phrases {
    /// Reads the words that end in a block, the first of which begins at `start`. Returns where the
    /// next one begins.
    #[inline]
    fn read(&mut self, bytes: &[u8], mut start: usize, block: usize, mut gaps: u64) -> usize {
        let mut filled = self.filled;
        while gaps != 0 {
            let end = block + gaps.trailing_zeros() as usize;
            if let Some(hash) = short(bytes, start, end - start) {
                self.hashes[filled % WAITING] = hash;
                filled += 1;
            } else if end > start {
                self.hashes[filled % WAITING] = hash(bytes, start, end);
                filled += 1;
            }
            start = end + 1;
            gaps &= gaps - 1;
        }
        self.filled = filled;
        if filled > WAITING - ENDING {
            self.count();
        }
        start
    }

    /// Counts the buffered shingles, keeping the last two words.
    #[inline(never)]
    fn count(&mut self) {
        let mut counted = 0;
        let waiting = &self.hashes[..self.filled.min(WAITING)];
        while let Some(words) = waiting.get(counted..).and_then(|rest| rest.first_chunk::<{ TOGETHER + PHRASE - 1 }>())
        {
            self.votes.count(&std::array::from_fn(|i| phrase([words[i], words[i + 1], words[i + 2]])), TOGETHER);
            counted += TOGETHER;
        }
        self.hashes.copy_within(counted..self.filled, 0);
        self.filled -= counted;
    }

    fn result(mut self) -> u64 {
        self.count();
        let mut rest = [0; TOGETHER];
        let mut cast = 0;
        let lone = match self.hashes[..self.filled] {
            [a] => Some([0, 0, a]),
            [a, b] if self.votes.cast == 0 => Some([0, a, b]),
            _ => None,
        };
        let words = self.hashes[..self.filled].windows(PHRASE).map(|w| [w[0], w[1], w[2]]);
        for (place, three) in rest.iter_mut().zip(words.chain(lone)) {
            *place = phrase(three);
            cast += 1;
        }
        self.votes.count(&rest, cast);
        self.votes.result()
    }
}

/// Combines three hashes into one, sensitive to order.
#[inline]
fn phrase([a, b, c]: [u64; PHRASE]) -> u64 {
    mix(a.rotate_left(21) ^ b.rotate_left(42) ^ c, SPREAD)
}

/// Votes added up together.
const TOGETHER: usize = 32;
/// Two sums side by side, as wide as the vectors of every processor.
type LanePair = [u64; 2];

/// How often each bit was set.
///
/// Carry-save adders (Harley and Seal) hold, for each bit, the four lowest digits of its count,
/// separately for even and odd votes. One carry per sixteen votes goes on to byte-wide lanes, eight
/// for each of eight shifts, which are flushed before one can overflow.
struct Votes {
    /// Number of votes.
    cast: usize,
    /// Number of additions to the lanes.
    rounds: usize,
    digits: [LanePair; 4],
    lanes: [LanePair; 8],
    ones: [u32; 64],
}

impl Default for Votes {
    fn default() -> Self {
        Self { cast: 0, rounds: 0, digits: [[0; 2]; 4], lanes: [[0; 2]; 8], ones: [0; 64] }
    }
}

impl Votes {
    /// Adds up votes, of which the first `cast` count; the others must be 0.
    #[inline(never)]
    fn count(&mut self, votes: &[u64; TOGETHER], cast: usize) {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let mut level: [LanePair; TOGETHER / 2] = std::array::from_fn(|i| [votes[2 * i], votes[2 * i + 1]]);
        let mut len = level.len();
        for digit in &mut self.digits {
            for i in 0..len / 2 {
                (*digit, level[i]) = full_adder(*digit, level[2 * i], level[2 * i + 1]);
            }
            len /= 2;
        }
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            *lane = std::array::from_fn(|half| lane[half] + ((level[0][half] >> shift) & LOW));
        }
        self.cast += cast;
        self.rounds += 1;
        if self.rounds == 255 {
            self.flush();
        }
    }

    /// Flushes the lanes.
    fn flush(&mut self) {
        const WEIGHT: u32 = 16;
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            let (even, odd) = (lane[0].to_le_bytes(), lane[1].to_le_bytes());
            for (byte, (even, odd)) in even.into_iter().zip(odd).enumerate() {
                self.ones[byte * 8 + shift] += (u32::from(even) + u32::from(odd)) * WEIGHT;
            }
            *lane = [0; 2];
        }
        self.rounds = 0;
    }

    fn result(mut self) -> u64 {
        self.flush();
        let majority = self.cast / 2;
        let count = |i: usize| {
            let bit = |[even, odd]: &LanePair| (even >> i & 1) + (odd >> i & 1);
            u64::from(self.ones[i]) + (0..).zip(&self.digits).map(|(digit, pair)| bit(pair) << digit).sum::<u64>()
        };
        (0..64).fold(0, |bits, i| bits | (u64::from(count(i) > majority as u64) << i))
    }
}

/// Sum and carry of three bits, 128 times in parallel.
#[inline]
fn full_adder(a: LanePair, b: LanePair, c: LanePair) -> (LanePair, LanePair) {
    let either: LanePair = std::array::from_fn(|i| a[i] ^ b[i]);
    let sum = std::array::from_fn(|i| either[i] ^ c[i]);
    (sum, std::array::from_fn(|i| (a[i] & b[i]) | (either[i] & c[i])))
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
        for n in [0, 1, 2, 31, 32, 33, 1_000, 32 * 255, 32 * 255 + 7, 20_000u64] {
            let hashes: Vec<u64> = (0..n).map(|i| mix(i, SPREAD) | u64::from(i % 2 == 0)).collect();
            let mut votes = Votes::default();
            for some in hashes.chunks(TOGETHER) {
                votes.count(&std::array::from_fn(|i| some.get(i).copied().unwrap_or(0)), some.len());
            }
            let plain = (0..64).fold(0u64, |bits, i| {
                let ones = hashes.iter().filter(|h| *h >> i & 1 == 1).count() as u64;
                bits | (u64::from(ones > n / 2) << i)
            });
            assert_eq!(votes.result(), plain, "{n} votes");
        }
    }

    /// A straightforward reference implementation.
    fn plain(text: &str) -> u64 {
        let hashes: Vec<u64> = text.split_ascii_whitespace().map(|w| hash(w.as_bytes(), 0, w.len())).collect();
        let phrases: Vec<u64> = match hashes[..] {
            [] => return 0,
            [a] => vec![phrase([0, 0, a])],
            [a, b] => vec![phrase([0, a, b])],
            _ => hashes.windows(3).map(|w| phrase([w[0], w[1], w[2]])).collect(),
        };
        let ones = |i: usize| phrases.iter().filter(|p| *p >> i & 1 == 1).count();
        (0..64).fold(0, |bits, i| bits | (u64::from(ones(i) > phrases.len() / 2) << i))
    }

    #[test]
    fn words_are_what_white_space_separates_wherever_they_lie() {
        let long = "x".repeat(200);
        for shift in 0..70 {
            let text = format!("{}a bcd\nefghijkl mnopqrstu  vwxyzabcdefghijkl é {long} end", " ".repeat(shift));
            assert_eq!(simhash(&text), plain(&text), "shifted by {shift}");
        }
    }

    #[test]
    fn any_number_of_words_is_counted() {
        let words = (0..700).map(|i| format!("w{} ", i * 37 % 211)).collect::<Vec<_>>();
        for n in 0..words.len() {
            let text = words[..n].concat();
            assert_eq!(simhash(&text), plain(&text), "{n} words");
        }
        let letters = "a b ".repeat(20_000);
        assert_eq!(simhash(&letters), plain(&letters));
    }
}
