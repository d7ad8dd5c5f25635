//! Which keys are known, answered from memory?
//!
//! A bounded table from 128-bit keys to numbers in front of the index, so that the seen test costs one or two cache lines whatever the number of
//! known URLs: fifty million keys take 650 MB. Buckets of one cache line hold six keys; a key that finds its bucket full stands in one of the next.
//! The table is cut into 4,096 segments that grow by a sixteenth when they are seven eighths full, one at a time and by pieces of one
//! size: never are two copies of everything in memory, nor holes where smaller ones were. At its limit it forgets, and what it does not know has to be asked below it.
//!
//! 64 bits of a key count: twelve choose the segment, 52 are kept and choose the bucket. Among fifty million URLs the chance that any is taken
//! for another is one in 14,000.

/// Keys in a bucket.
const KEYS: usize = 6;
/// Parts that grow one by one, and the bits of a key that choose one.
const SEGMENTS: usize = 1 << SEGMENT_BITS;
const SEGMENT_BITS: u32 = 12;
/// Bits of a key that are kept.
const KEPT_BITS: u32 = 52;
/// Buckets of a piece of memory; a segment smaller than that is a single piece.
const PIECE: usize = 64;

/// What the table says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has this number.
    Known(u64),
    /// There is no such key.
    Unknown,
    /// Ask below.
    Ask,
}

/// A bounded table of keys and their numbers.
#[derive(Debug)]
pub(crate) struct KeyTable {
    segments: Vec<Segment>,
    /// Buckets that a segment may have.
    limit: usize,
    /// The table was told of every key below this one; of all of them where it is `None`.
    told_below: Option<u128>,
}

/// A part of the table.
#[derive(Clone, Debug)]
struct Segment {
    pieces: Vec<Box<[Bucket]>>,
    used: usize,
    clock: usize,
    /// Whether a key had to give way.
    forgot: bool,
}

/// Six keys, filled from the front, with their numbers, which are 0 where there is none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    numbers: [u32; KEYS],
    low: [u32; KEYS],
    middle: [u16; KEYS],
    /// The four upper bits of each key.
    high: u32,
}

fn empty(buckets: usize) -> Box<[Bucket]> {
    vec![Bucket::default(); buckets].into_boxed_slice()
}

/// The bits of a key that are kept.
type Kept = u64;

fn kept(key: u128) -> Kept {
    key as u64 & ((1 << KEPT_BITS) - 1)
}

fn segment_of(key: u128) -> usize {
    (key >> (128 - SEGMENT_BITS)) as usize
}

impl Bucket {
    fn key(&self, i: usize) -> Kept {
        let high = u64::from(self.high >> (4 * i) & 15);
        high << 48 | u64::from(self.middle[i]) << 32 | u64::from(self.low[i])
    }

    fn find(&self, key: Kept) -> Option<usize> {
        (0..KEYS).find(|i| self.low[*i] == key as u32 && self.numbers[*i] != 0 && self.key(*i) == key)
    }

    fn is_full(&self) -> bool {
        self.numbers[KEYS - 1] != 0
    }

    fn set(&mut self, i: usize, key: Kept, number: u32) {
        (self.numbers[i], self.low[i], self.middle[i]) = (number, key as u32, (key >> 32) as u16);
        let shift = 4 * i;
        self.high = self.high & !(15 << shift) | ((key >> 48) as u32 & 15) << shift;
    }
}

impl Segment {
    fn new() -> Self {
        Self { pieces: vec![empty(1)], used: 0, clock: 0, forgot: false }
    }

    /// How many buckets it has.
    fn len(&self) -> usize {
        self.pieces.iter().next_back().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    fn bucket(&self, at: usize) -> &Bucket {
        &self.pieces[at / PIECE][at % PIECE]
    }

    fn bucket_mut(&mut self, at: usize) -> &mut Bucket {
        &mut self.pieces[at / PIECE][at % PIECE]
    }

    /// The bucket a key belongs into: the kept bits as a fraction of all buckets.
    fn home(&self, key: Kept) -> usize {
        ((u128::from(key) * self.len() as u128) >> KEPT_BITS) as usize
    }

    /// The buckets a key may stand in, nearest first.
    fn places(&self, key: Kept) -> impl Iterator<Item = usize> + use<> {
        let (home, all) = (self.home(key), self.len());
        // To the end: at seven eighths, one run of full buckets in some thousand is longer than sixty.
        (home..all).chain(0..home)
    }

    fn get(&self, key: Kept) -> Option<u32> {
        for at in self.places(key) {
            let bucket = self.bucket(at);
            if let Some(i) = bucket.find(key) {
                return Some(bucket.numbers[i]);
            }
            if !bucket.is_full() {
                break;
            }
        }
        None
    }

    /// Tells whether there was a place for the key.
    fn put(&mut self, key: Kept, number: u32) -> bool {
        for at in self.places(key) {
            let bucket = self.bucket_mut(at);
            let old = bucket.find(key);
            if let Some(i) = old.or_else(|| bucket.numbers.iter().position(|n| *n == 0)) {
                bucket.set(i, key, number);
                self.used += usize::from(old.is_none());
                return true;
            }
        }
        false
    }

    fn is_crowded(&self) -> bool {
        self.used >= self.len() * KEYS * 7 / 8
    }

    fn grow(&mut self, limit: usize) {
        let mut keys = Vec::with_capacity(self.used);
        for bucket in self.pieces.iter_mut().flat_map(|piece| piece.iter_mut()) {
            keys.extend((0..KEYS).filter(|i| bucket.numbers[*i] != 0).map(|i| (bucket.key(i), bucket.numbers[i])));
            *bucket = Bucket::default();
        }
        let size = self.len();
        if size < PIECE {
            self.pieces = vec![empty((size * 2).min(PIECE).min(limit))];
        } else {
            let more = (size / 16 / PIECE).max(1).min((limit - size) / PIECE);
            self.pieces.extend((0..more).map(|_| empty(PIECE)));
        }
        self.used = 0;
        for (key, number) in keys {
            self.forgot |= !self.put(key, number);
        }
    }

    /// Takes the place of another key at home; no place becomes empty, so every other key is still found.
    fn replace(&mut self, key: Kept, number: u32) {
        self.forgot = true;
        self.clock = self.clock.wrapping_add(1);
        let (home, place) = (self.home(key), self.clock % KEYS);
        let bucket = self.bucket_mut(home);
        if bucket.is_full() {
            bucket.set(place, key, number);
        }
    }
}

impl KeyTable {
    /// A table of at most so many bytes; there are some that it takes in any case.
    pub(crate) fn new(bytes: usize) -> Self {
        let mut table = Self { segments: vec![Segment::new(); SEGMENTS], limit: 1, told_below: None };
        table.set_limit(bytes);
        table
    }

    /// Changes how many bytes it may take; what it takes already it keeps.
    pub(crate) fn set_limit(&mut self, bytes: usize) {
        let limit = (bytes / SEGMENTS / size_of::<Bucket>()).max(1);
        self.limit = if limit < PIECE { limit } else { limit / PIECE * PIECE };
    }

    /// Forgets every key; it has yet to be told of those there are.
    pub(crate) fn clear(&mut self) {
        self.segments.fill(Segment::new());
        self.told_below = Some(0);
    }

    /// Whether it has no room left and begins to forget.
    pub(crate) fn is_full(&self) -> bool {
        self.segments.iter().any(|s| s.forgot)
    }

    /// Whether it was told of every key there is.
    pub(crate) fn is_told(&self) -> bool {
        self.told_below.is_none()
    }

    /// Up to where it was told of the keys there are; `None` when it was told of all.
    pub(crate) fn told(&self) -> Option<u128> {
        self.told_below
    }

    /// Says up to where all keys there are were put in: below this one, or, with `None`, everywhere.
    pub(crate) fn told_below(&mut self, key: Option<u128>) {
        self.told_below = key;
    }

    /// Brings the buckets of many keys near before they are asked for one by one: the loads do not depend on each other, so the
    /// processor waits for all of them at once.
    pub(crate) fn fetch(&self, keys: impl Iterator<Item = u128>) {
        let touched = keys.fold(0u32, |sum, key| {
            let segment = &self.segments[segment_of(key)];
            sum ^ segment.bucket(segment.home(kept(key))).high
        });
        std::hint::black_box(touched);
    }

    /// What is known of a key.
    pub(crate) fn get(&self, key: u128) -> Answer {
        let segment = &self.segments[segment_of(key)];
        match segment.get(kept(key)) {
            Some(number) => Answer::Known(u64::from(number)),
            None if segment.forgot || self.told_below.is_some_and(|told| key >= told) => Answer::Ask,
            None => Answer::Unknown,
        }
    }

    /// Notes a key's number. Numbers of 2^32 and above are not kept.
    pub(crate) fn put(&mut self, key: u128, number: u64) {
        let segment = &mut self.segments[segment_of(key)];
        let Some(number) = u32::try_from(number).ok().filter(|n| *n > 0) else {
            segment.forgot = true;
            return;
        };
        while segment.is_crowded() && segment.len() < self.limit {
            segment.grow(self.limit);
        }
        if segment.is_crowded() || !segment.put(kept(key), number) {
            segment.replace(kept(key), number);
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
    fn a_bucket_is_a_cache_line() {
        assert_eq!(size_of::<Bucket>(), 64);
    }

    #[test]
    fn a_table_within_its_limit_knows_every_key_and_every_stranger() {
        let (mut table, many) = (KeyTable::new(8 << 20), 500_000);
        for n in 1..=many {
            table.put(key(n), n);
        }
        assert!((1..=many).all(|n| table.get(key(n)) == Answer::Known(n)));
        assert!((many + 1..2 * many).all(|n| table.get(key(n)) == Answer::Unknown));
    }

    #[test]
    fn a_table_below_its_limit_forgets_nothing_however_long_a_run_of_full_buckets_is() {
        let mut table = KeyTable::new(8 << 30);
        // One segment, as full as it gets before it grows.
        for n in 1..=60_000 {
            table.put(key(n) >> SEGMENT_BITS, n);
        }
        assert!(!table.is_full());
        assert!((1..=60_000).all(|n| table.get(key(n) >> SEGMENT_BITS) == Answer::Known(n)));
    }

    #[test]
    fn a_full_table_keeps_to_its_limit_forgets_and_says_so() {
        let mut table = KeyTable::new(1 << 20);
        let (full, many) = ((1 << 20) / 64 * 5, 300_000);
        for n in 1..=many {
            table.put(key(n), n);
        }
        let buckets: usize = table.segments.iter().map(Segment::len).sum();
        assert!(buckets * size_of::<Bucket>() <= 1 << 20, "{buckets}");
        assert!((1..=many).all(|n| [Answer::Ask, Answer::Known(n)].contains(&table.get(key(n)))));
        assert!(table.is_full());
        let known = (1..=many).filter(|n| table.get(key(*n)) != Answer::Ask).count();
        assert!(known > full / 2, "{known} of {full}");
    }

    #[test]
    fn keys_that_share_a_home_do_not_grow_the_table_beyond_its_limit() {
        let mut table = KeyTable::new(1 << 20);
        for n in 1..1_000_u64 {
            table.put(u128::from(n) << 64, n);
        }
        let buckets: usize = table.segments.iter().map(Segment::len).sum();
        assert!(buckets <= SEGMENTS + 4);
        assert_eq!(table.get(5_000 << 64), Answer::Known(999));
    }

    #[test]
    fn a_table_told_of_some_keys_asks_for_the_others() {
        let mut table = KeyTable::new(1 << 20);
        table.told_below(Some(key(7)));
        assert_eq!(table.get(key(7) - 1), Answer::Unknown);
        assert_eq!(table.get(key(7)), Answer::Ask);
        table.told_below(None);
        assert_eq!(table.get(key(7)), Answer::Unknown);
    }

    proptest! {
        #[test]
        fn it_never_tells_a_wrong_number(keys in prop::collection::vec(0u64..5_000, 1..6_000), small: bool) {
            // In few segments, so that a small table overflows.
            let key = |n| key(n) >> 6;
            let mut table = KeyTable::new(if small { 1 } else { 64 << 20 });
            for n in &keys {
                table.put(key(*n), n + 1);
            }
            let told: std::collections::HashSet<u64> = keys.iter().copied().collect();
            for n in 0..5_000 {
                match table.get(key(n)) {
                    Answer::Known(got) => prop_assert_eq!(got, n + 1),
                    Answer::Unknown => prop_assert!(!told.contains(&n)),
                    Answer::Ask => prop_assert!(small),
                }
            }
        }
    }
}
