//! Where does chance come from? From one number, so that a history can be played again.

/// A generator of numbers that are the same for the same seed (SplitMix64, Steele and others 2014).
#[derive(Clone, Debug)]
pub struct SimDice(u64);

impl SimDice {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` up to, but not including, `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(high - low).unwrap_or(1).max(1);
        low + i64::try_from(self.roll() % span).unwrap_or(0)
    }

    /// A place in a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.roll() % (length as u64).max(1)).unwrap_or(0)
    }

    /// Whether something happens that does so in so many of a thousand cases.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.roll() % 1_000 < per_mille
    }
}
