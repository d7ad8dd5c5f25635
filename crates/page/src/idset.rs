//! Which of many dense ids are in a set?
//!
//! A bit set: a look-up costs one load on the hot path, and 50 million pages take 6 MB.

/// A set of dense ids, such as those of pages or hosts.
#[derive(Debug, Default)]
pub struct IdSet(Vec<u64>);

impl IdSet {
    /// Adds an id; returns whether it is new.
    pub fn insert(&mut self, id: u64) -> bool {
        let (word, bit) = place(id);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Removes an id; returns whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        let (word, bit) = place(id);
        match self.0.get_mut(word) {
            Some(bits) if *bits & bit != 0 => {
                *bits &= !bit;
                true
            }
            _ => false,
        }
    }

    /// Whether an id is there.
    pub fn contains(&self, id: u64) -> bool {
        let (word, bit) = place(id);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// The ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let of_word = |(word, bits): (u64, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        };
        (0..).zip(&self.0).flat_map(of_word)
    }
}

/// The word of an id, and its bit there.
fn place(id: u64) -> (usize, u64) {
    (usize::try_from(id / 64).unwrap_or(usize::MAX - 1), 1 << (id % 64))
}

impl FromIterator<u64> for IdSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        let mut set = Self::default();
        for id in ids {
            set.insert(id);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_inserted_and_removed_once() {
        let mut set: IdSet = [3, 64, 1_000].into_iter().collect();
        assert!(!set.insert(3));
        assert!(set.insert(4));
        assert!(set.remove(64));
        assert!(!set.remove(64));
        assert!(!set.remove(1_000_000));
        assert!(set.contains(4) && !set.contains(64) && !set.contains(1_000_000));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 4, 1_000]);
    }
}
