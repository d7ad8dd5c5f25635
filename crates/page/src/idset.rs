//! Which of many dense ids are in a set?
//!
//! A bit set in blocks that are there or not: a look-up costs two loads on the hot path, and 50
//! million pages take 6 MB, whatever numbers lie between them.

/// A set of dense ids, such as those of pages or hosts.
#[derive(Debug, Default)]
pub struct IdSet(Vec<Option<Box<IdBlock>>>);

/// Ids per block. Where machines share a collection, each draws its ids in blocks of this size.
const BLOCK: u64 = 65_536;

/// A bit for each id.
type IdBlock = [u64; (BLOCK / 64) as usize];

impl IdSet {
    /// Adds an id; returns whether it is new.
    pub fn insert(&mut self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        if block >= self.0.len() {
            self.0.resize_with(block + 1, || None);
        }
        let words = self.0[block].get_or_insert_with(|| Box::new([0; (BLOCK / 64) as usize]));
        let new = words[word] & bit == 0;
        words[word] |= bit;
        new
    }

    /// Removes an id; returns whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        match self.0.get_mut(block) {
            Some(Some(words)) if words[word] & bit != 0 => {
                words[word] &= !bit;
                true
            }
            _ => false,
        }
    }

    /// Whether an id is there.
    pub fn contains(&self, id: u64) -> bool {
        let (block, word, bit) = place(id);
        self.0.get(block).is_some_and(|words| words.as_ref().is_some_and(|words| words[word] & bit != 0))
    }

    /// The ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let of_word = |(word, bits): (u64, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        };
        let blocks = (0..).zip(&self.0).filter_map(|(block, words): (u64, _)| Some((block, words.as_ref()?)));
        blocks.flat_map(move |(block, words)| (block * BLOCK / 64..).zip(words.iter()).flat_map(of_word))
    }
}

/// The block of an id, its word there, and its bit.
fn place(id: u64) -> (usize, usize, u64) {
    let block = usize::try_from(id / BLOCK).unwrap_or(usize::MAX - 1);
    (block, usize::try_from(id % BLOCK / 64).unwrap_or(0), 1 << (id % 64))
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

    #[test]
    fn blocks_that_hold_no_id_take_no_room() {
        let set: IdSet = [5, 4_000_000_000, 65_536].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [5, 65_536, 4_000_000_000]);
        assert_eq!(set.0.iter().flatten().count(), 3);
        assert!(!set.contains(3_999_999_999));
    }
}
