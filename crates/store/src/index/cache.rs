//! Which keys are known, answered from memory?
//!
//! A bounded table from 128-bit keys to numbers in front of the index: 20 bytes a slot, buckets of eight, doubled on demand up to its
//! limit, beyond which it forgets. As long as it has forgotten nothing it knows every key there is, and a miss needs no look-up
//! below it: at most crawls' sizes the seen test never leaves memory.

const WAYS: usize = 8;
const FIRST: usize = 1 << 12;

/// A bounded table of keys and their numbers.
#[derive(Debug)]
pub(crate) struct KeyCache {
    keys: Vec<u128>,
    numbers: Vec<u32>,
    limit: usize,
    clock: u32,
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
        Self { keys: vec![0; FIRST], numbers: vec![0; FIRST], limit, clock: 0, complete: true }
    }

    /// How many keys it may hold.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Says that there are keys it was never told.
    pub(crate) fn forget_completeness(&mut self) {
        self.complete = false;
    }

    fn bucket(&self, key: u128) -> usize {
        (key as usize & (self.keys.len() / WAYS - 1)) * WAYS
    }

    /// What is known of a key.
    pub(crate) fn get(&self, key: u128) -> Answer {
        let at = self.bucket(key);
        let bucket = &self.keys[at..at + WAYS];
        for (i, k) in bucket.iter().enumerate() {
            let number = self.numbers[at + i];
            if *k == key && number != 0 {
                return Answer::Known(u64::from(number));
            }
        }
        if self.complete { Answer::Unknown } else { Answer::Ask }
    }

    /// Notes a key's number. Numbers of 2^32 and above are not kept.
    pub(crate) fn put(&mut self, key: u128, number: u64) {
        let Ok(number) = u32::try_from(number) else {
            self.complete = false;
            return;
        };
        if number == 0 {
            return;
        }
        while !self.place(key, number) {
            if self.keys.len() < self.limit {
                self.grow();
            } else {
                self.evict(key, number);
                return;
            }
        }
    }

    fn place(&mut self, key: u128, number: u32) -> bool {
        let at = self.bucket(key);
        for i in at..at + WAYS {
            if self.numbers[i] == 0 || self.keys[i] == key {
                self.keys[i] = key;
                self.numbers[i] = number;
                return true;
            }
        }
        false
    }

    fn evict(&mut self, key: u128, number: u32) {
        self.complete = false;
        self.clock = self.clock.wrapping_add(1);
        let at = self.bucket(key) + self.clock as usize % WAYS;
        self.keys[at] = key;
        self.numbers[at] = number;
    }

    fn grow(&mut self) {
        let size = self.keys.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![0; size]);
        let numbers = std::mem::replace(&mut self.numbers, vec![0; size]);
        for (key, number) in keys.into_iter().zip(numbers) {
            // Every bucket splits into two, so each key finds room.
            if number != 0 {
                self.place(key, number);
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
        for n in 1..=20_000 {
            cache.put(key(n), n);
        }
        assert!((1..=20_000).all(|n| cache.get(key(n)) == Answer::Known(n)));
        assert!((20_001..30_000).all(|n| cache.get(key(n)) == Answer::Unknown));
    }

    #[test]
    fn a_full_table_forgets_and_says_so() {
        let mut cache = KeyCache::new(1 << 12);
        for n in 1..=50_000 {
            cache.put(key(n), n);
        }
        assert_eq!(cache.keys.len(), 1 << 12);
        assert!((1..=50_000).all(|n| matches!(cache.get(key(n)), Answer::Ask | Answer::Known(_))));
        assert_eq!(cache.get(key(50_000)), Answer::Known(50_000));
    }

    #[test]
    fn keys_that_fall_into_one_bucket_do_not_grow_the_table_beyond_its_limit() {
        let mut cache = KeyCache::new(1 << 14);
        for n in 1..100_u64 {
            cache.put(u128::from(n) << 64, n);
        }
        assert!(cache.keys.len() <= 1 << 14);
    }

    proptest! {
        #[test]
        fn it_never_tells_a_wrong_number(keys in prop::collection::vec(0u64..5_000, 1..6_000), small: bool) {
            let mut cache = KeyCache::new(if small { 1 } else { 1 << 15 });
            for n in &keys {
                cache.put(key(*n), n + 1);
            }
            for n in 0..5_000 {
                match cache.get(key(n)) {
                    Answer::Known(got) => prop_assert_eq!(got, n + 1),
                    Answer::Unknown => prop_assert!(!keys.contains(&n)),
                    Answer::Ask => prop_assert!(small),
                }
            }
        }
    }
}
