//! Which random number comes next?

/// A seeded, deterministic random number generator (`SplitMix64`).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ purpose.wrapping_mul(0xD1B5_4A32_D192_ED03));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// `true` with a probability of this many percent.
    pub(crate) fn percent(&mut self, often: u64) -> bool {
        self.between(1, 100) <= often
    }

    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.between(0, of.len() as u64 - 1) as usize]
    }

    /// A random string of this length over an alphabet.
    pub(crate) fn text(&mut self, alphabet: &str, length: u64) -> String {
        (0..length).map(|_| alphabet.as_bytes()[self.between(0, alphabet.len() as u64 - 1) as usize] as char).collect()
    }
}
