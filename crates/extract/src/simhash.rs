//! How alike are two texts?
//!
//! SimHash (Charikar 2002, used for crawling by Manku, Jain and Das Sarma 2007): every three words in a row vote with
//! their hash on each of 64 bits; texts that share most of their phrases differ in few bits. The case of ASCII
//! letters does not matter, nor does white space. The hash of three words is made from the hashes of each, so that
//! every word is hashed once and nothing is copied.

/// Words in a phrase.
const PHRASE: usize = 3;
/// The fractional part of the golden ratio: an odd number with its bits well spread.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The SimHash of a text; 0 for one without words.
pub fn simhash(text: &str) -> u64 {
    let mut votes = Votes::default();
    let mut last = [0u64; PHRASE];
    let mut words = 0usize;
    let mut word = Word::default();
    for &byte in text.as_bytes() {
        if !byte.is_ascii_whitespace() {
            word.add(byte);
        } else if word.len > 0 {
            last = [last[1], last[2], std::mem::take(&mut word).hash()];
            words += 1;
            if words >= PHRASE {
                votes.cast(phrase(last));
            }
        }
    }
    if word.len > 0 {
        last = [last[1], last[2], word.hash()];
        words += 1;
    }
    if words > 0 && (words < PHRASE || word.len > 0) {
        votes.cast(phrase(last));
    }
    votes.result()
}

/// In how many bits two hashes differ, 0 to 64.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// A word on its way to its hash, eight bytes at a time. Hashing as the bytes go by is twice as fast as finding the
/// word, copying it for its case and calling a hash function.
#[derive(Clone, Copy, Default)]
struct Word {
    mixed: u64,
    tail: u64,
    len: u32,
}

impl Word {
    #[inline]
    fn add(&mut self, byte: u8) {
        self.tail = (self.tail << 8) | u64::from(byte.to_ascii_lowercase());
        self.len += 1;
        if self.len.is_multiple_of(8) {
            self.mixed = mix(self.mixed ^ self.tail, SPREAD);
            self.tail = 0;
        }
    }

    #[inline]
    fn hash(self) -> u64 {
        mix(self.mixed ^ self.tail, SPREAD ^ u64::from(self.len))
    }
}

/// Both halves of a product, folded.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xC2B2_AE3D_27D4_EB4F) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// One hash of three, in which their order matters.
#[inline]
fn phrase([a, b, c]: [u64; PHRASE]) -> u64 {
    mix(a.rotate_left(21) ^ b.rotate_left(42) ^ c, SPREAD)
}

/// How often each bit was set, counted in eight lanes of a byte for each of eight shifts: 64 counters in eight words.
struct Votes {
    lanes: [u64; 8],
    pending: u32,
    cast: u32,
    ones: [u32; 64],
}

impl Default for Votes {
    fn default() -> Self {
        Self { lanes: [0; 8], pending: 0, cast: 0, ones: [0; 64] }
    }
}

impl Votes {
    #[inline]
    fn cast(&mut self, hash: u64) {
        const LOW: u64 = 0x0101_0101_0101_0101;
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            *lane += (hash >> shift) & LOW;
        }
        self.pending += 1;
        if self.pending == 255 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (shift, lane) in self.lanes.iter_mut().enumerate() {
            for (byte, count) in lane.to_le_bytes().into_iter().enumerate() {
                self.ones[byte * 8 + shift] += u32::from(count);
            }
            *lane = 0;
        }
        self.cast += self.pending;
        self.pending = 0;
    }

    fn result(mut self) -> u64 {
        self.flush();
        let majority = self.cast / 2;
        self.ones.iter().enumerate().fold(0, |bits, (i, &ones)| bits | (u64::from(ones > majority) << i))
    }
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
        let hashes: Vec<u64> = (0..1_000u64).map(|i| mix(i, SPREAD)).collect();
        let mut votes = Votes::default();
        hashes.iter().for_each(|&h| votes.cast(h));
        let plain = (0..64).fold(0u64, |bits, i| {
            let ones = hashes.iter().filter(|h| *h >> i & 1 == 1).count();
            bits | (u64::from(ones > 500) << i)
        });
        assert_eq!(votes.result(), plain);
    }
}
