//! Where does reproducible randomness come from?
//!
//! All variety of the synthetic web is derived from these functions of its seed, so the same seed
//! gives the same web. The mixer is SplitMix64 (Steele, Lea and Flood 2014): cheap, and every
//! output bit depends on every input bit.

/// Mixes one word.
pub(crate) const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Mixes several words into one; order matters.
pub(crate) fn mixed(words: &[u64]) -> u64 {
    words.iter().fold(0x6f72_6277_6561_7665, |state, word| mix(state ^ *word))
}

/// Mixes a text into one word.
pub(crate) fn mixed_text(text: &str) -> u64 {
    text.bytes().fold(mix(text.len() as u64), |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A pseudo-random sequence that depends only on its seed.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The sequence seeded by these words.
    pub(crate) fn of(words: &[u64]) -> Self {
        Self(mixed(words))
    }

    /// The next word.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A uniform number below `n`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.draw()) * n as u128) >> 64) as usize
    }

    /// A skewed number below `n`: small ones are far more frequent, roughly like word frequencies
    /// and in-degrees under Zipf's law.
    pub(crate) fn skewed(&mut self, n: usize) -> usize {
        let (one, two) = (self.below(n), self.below(n));
        (one * two).checked_div(n).unwrap_or(0)
    }

    /// A uniform number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of these.
    pub(crate) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or("")
    }

    /// One of these; the first ones are more frequent.
    pub(crate) fn frequent_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.skewed(words.len())).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_give_the_same_draws() {
        let (mut a, mut b) = (Chance::of(&[1, 2]), Chance::of(&[1, 2]));
        assert_eq!((a.draw(), a.below(9)), (b.draw(), b.below(9)));
        assert_ne!(mixed(&[1, 2]), mixed(&[2, 1]));
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut chance = Chance::of(&[3]);
        assert_eq!((chance.below(0), chance.skewed(0)), (0, 0));
        assert!((0..1000).all(|_| chance.below(7) < 7 && chance.skewed(7) < 7 && chance.unit() < 1.0));
    }
}
