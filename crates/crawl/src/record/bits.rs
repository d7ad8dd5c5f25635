//! Which of many dense numbers are in a set?
//!
//! One bit each, so that a question costs nothing on the hot path and 50 million pages cost 6 MB.

/// A set of dense numbers.
#[derive(Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; tells whether it is new.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let (word, bit) = place(number);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Takes a number out; tells whether it was there.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let (word, bit) = place(number);
        match self.0.get_mut(word) {
            Some(bits) if *bits & bit != 0 => {
                *bits &= !bit;
                true
            }
            _ => false,
        }
    }
}

fn place(number: u64) -> (usize, u64) {
    (usize::try_from(number / 64).unwrap_or(usize::MAX), 1 << (number % 64))
}

impl FromIterator<u64> for Bits {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut bits = Self::default();
        for number in numbers {
            bits.insert(number);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_put_in_and_taken_out_once() {
        let mut bits: Bits = [3, 64, 1_000].into_iter().collect();
        assert!(!bits.insert(3));
        assert!(bits.insert(4));
        assert!(bits.remove(64));
        assert!(!bits.remove(64));
        assert!(!bits.remove(1_000_000));
    }
}
