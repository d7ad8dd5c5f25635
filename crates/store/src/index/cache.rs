//! Which keys are known, answered from memory?
//!
//! A bounded table from 128-bit keys to numbers in front of the index: open addressing, 20 bytes a slot, three quarters full at the most,
//! doubled on demand up to its limit, beyond which it forgets. As long as it has forgotten nothing it knows every key there
//! is, and a miss needs no look-up below it: at most crawls' sizes the seen test never leaves memory.

/// Slots at the start.
const FIRST: usize = 1 << 12;

/// How far from its home a key may stand.
const REACH: usize = 128;

/// Among how many slots a key without room takes another's place.
const WINDOW: usize = 8;

/// A bounded table of keys and their numbers.
#[derive(Debug)]
pub(crate) struct KeyCache {
    keys: Vec<u128>,
    /// 0 where the slot is empty.
    numbers: Vec<u32>,
    used: usize,
    limit: usize,
    clock: usize,
    complete: bool,
}

/// What the cache says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has this number.
    Known(u64),
    /// There is no such key.
    Unknown,
    /// Ask below.
    Ask,
}

impl KeyCache {
    /// A table of at most `limit` slots, rounded down to a power of two.
    pub(crate) fn new(limit: usize) -> Self {
        let limit = (limit.max(FIRST) + 1).next_power_of_two() / 2;
        Self { keys: vec![0; FIRST], numbers: vec![0; FIRST], used: 0, limit, clock: 0, complete: true }
    }

    /// How many keys it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.limit / 4 * 3
    }

    /// Says that there are keys it was never told.
    pub(crate) fn forget_completeness(&mut self) {
        self.complete = false;
    }

    /// The slots a key may stand in, nearest first.
    fn slots(&self, key: u128, reach: usize) -> impl Iterator<Item = usize> + use<> {
        let mask = self.keys.len() - 1;
        let home = key as usize;
        (0..reach).map(move |step| home.wrapping_add(step) & mask)
    }

    /// What is known of a key.
    pub(crate) fn get(&self, key: u128) -> Answer {
        for slot in self.slots(key, REACH) {
            match self.numbers[slot] {
                0 => break,
                number if self.keys[slot] == key => return Answer::Known(u64::from(number)),
                _ => {}
            }
        }
        if self.complete { Answer::Unknown } else { Answer::Ask }
    }

    /// Notes a key's number. Numbers of 2^32 and above are not kept.
    pub(crate) fn put(&mut self, key: u128, number: u64) {
        let Some(number) = u32::try_from(number).ok().filter(|n| *n > 0) else {
            self.complete = false;
            return;
        };
        while self.used >= self.keys.len() / 4 * 3 && self.keys.len() < self.limit {
            self.grow();
        }
        if !self.place(key, number) {
            self.replace(key, number);
        }
    }

    fn place(&mut self, key: u128, number: u32) -> bool {
        let room = self.used < self.keys.len() / 4 * 3;
        for slot in self.slots(key, REACH) {
            let empty = self.numbers[slot] == 0;
            if empty && !room {
                return false;
            }
            if empty || self.keys[slot] == key {
                self.used += usize::from(empty);
                self.keys[slot] = key;
                self.numbers[slot] = number;
                return true;
            }
        }
        false
    }

    /// Takes the place of another key close to home; no slot becomes empty, so every other key is still found.
    fn replace(&mut self, key: u128, number: u32) {
        self.complete = false;
        self.clock = self.clock.wrapping_add(1);
        let turn = self.clock % WINDOW;
        let slots = self.slots(key, 2 * WINDOW).skip(turn);
        if let Some(slot) = slots.into_iter().take_while(|s| self.numbers[*s] != 0).next() {
            self.keys[slot] = key;
            self.numbers[slot] = number;
        }
    }

    fn grow(&mut self) {
        let size = self.keys.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![0; size]);
        let numbers = std::mem::replace(&mut self.numbers, vec![0; size]);
        self.used = 0;
        for (key, number) in keys.into_iter().zip(numbers) {
            if number != 0 && !self.place(key, number) {
                self.complete = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(n: u64) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&n.to_le_bytes())
    }

    #[test]
    fn a_table_within_its_limit_knows_every_key_and_every_stranger() {
        let mut cache = KeyCache::new(1 << 16);
        for n in 1..=49_152 {
            cache.put(key(n), n);
        }
        assert_eq!(cache.capacity(), 49_152);
        assert!((1..=49_152).all(|n| cache.get(key(n)) == Answer::Known(n)));
        assert!((50_001..90_000).all(|n| cache.get(key(n)) == Answer::Unknown));
    }

    #[test]
    fn a_full_table_forgets_and_says_so() {
        let mut cache = KeyCache::new(1 << 12);
        for n in 1..=50_000 {
            cache.put(key(n), n);
        }
        assert_eq!(cache.keys.len(), 1 << 12);
        assert!((1..=50_000).all(|n| cache.get(key(n)) == Answer::Ask || cache.get(key(n)) == Answer::Known(n)));
        let known = (1..=50_000).filter(|n| cache.get(key(*n)) != Answer::Ask).count();
        assert!(known > cache.capacity() / 2, "{known}");
    }

    #[test]
    fn keys_that_share_a_home_do_not_grow_the_table_beyond_its_limit() {
        let mut cache = KeyCache::new(1 << 14);
        for n in 1..1_000_u64 {
            cache.put(u128::from(n) << 64, n);
        }
        assert!(cache.keys.len() <= 1 << 14);
        assert_eq!(cache.get(5_000 << 64), Answer::Ask);
    }

    proptest! {
        #[test]
        fn it_never_tells_a_wrong_number(keys in prop::collection::vec(0u64..5_000, 1..6_000), small: bool) {
            let mut cache = KeyCache::new(if small { 1 } else { 1 << 15 });
            for n in &keys {
                cache.put(key(*n), n + 1);
            }
            let told: std::collections::HashSet<u64> = keys.iter().copied().collect();
            for n in 0..5_000 {
                match cache.get(key(n)) {
                    Answer::Known(got) => prop_assert_eq!(got, n + 1),
                    Answer::Unknown => prop_assert!(!told.contains(&n)),
                    Answer::Ask => prop_assert!(small),
                }
            }
        }
    }
}
