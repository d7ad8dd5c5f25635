//! Which keys are known, answered from memory?
//!
//! A bounded hash table from 128-bit keys to numbers in front of the index, so that the seen test
//! costs one or two cache lines whatever the number of known URLs: fifty million keys take 650 MB.
//! Buckets of one cache line hold six keys; a key that finds its bucket full goes into one of the
//! next (linear probing by buckets). The table is divided into 4,096 segments that grow by a
//! sixteenth when they are seven eighths full, one at a time and by pieces of one size (`pieces`):
//! there are never two copies of everything in memory, nor holes where smaller ones were. At its
//! limit it evicts, and what it does not know must be looked up below it.
//!
//! 64 bits of a key count: twelve select the segment, 52 are stored and select the bucket. Among
//! fifty million URLs the probability of any false match is one in 14,000.

use super::bucket::{BucketBytes, KEPT_BITS, KEYS, Kept, LINE, find, is_full, key_at, number, set, touch};
use super::pieces::{PIECE, Pieces};

/// Number of segments, and the bits of a key that select one.
const SEGMENTS: usize = 1 << SEGMENT_BITS;
const SEGMENT_BITS: u32 = 12;

/// Buckets prefetched together: more than can be in flight at a time.
const TOGETHER: usize = 64;

/// The table's answer for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableLookup {
    /// It has this number.
    Known(u64),
    /// There is no such key.
    Unknown,
    /// Unknown: look it up below.
    Ask,
}

/// A bounded table of keys and their numbers.
#[derive(Debug)]
pub(crate) struct KeyCache {
    segments: Vec<Segment>,
    pieces: Pieces,
    /// Maximum buckets per segment.
    limit: usize,
    /// The table has seen every key below this one; all of them if `None`.
    complete_below: Option<u128>,
}

/// A segment of the table. Its methods take the pieces of the table.
#[derive(Clone, Debug)]
struct Segment {
    /// All buckets, while there are fewer than a piece holds.
    few: Box<[TableBucket]>,
    pieces: Vec<u32>,
    used: usize,
    clock: usize,
    /// Whether a key was evicted.
    forgot: bool,
}

/// A bucket aligned to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct TableBucket(BucketBytes);

/// What every bucket of a segment without buckets looks like.
static EMPTY: BucketBytes = [0; LINE];

fn empty(buckets: usize) -> Box<[TableBucket]> {
    vec![TableBucket([0; LINE]); buckets].into_boxed_slice()
}

/// The stored bits of a key.
fn kept(key: u128) -> Kept {
    key as u64 & ((1 << KEPT_BITS) - 1)
}

fn segment_of(key: u128) -> usize {
    (key >> (128 - SEGMENT_BITS)) as usize
}

impl Segment {
    /// Without buckets: a small project opens three tables, and allocating a bucket for each of
    /// their segments would take a tenth of the time of opening it.
    fn new() -> Self {
        Self { few: Box::default(), pieces: Vec::new(), used: 0, clock: 0, forgot: false }
    }

    /// Number of buckets.
    fn len(&self) -> usize {
        if self.pieces.is_empty() { self.few.len() } else { self.pieces.len() * PIECE }
    }

    fn line<'a>(&'a self, pieces: &'a Pieces, at: usize) -> &'a BucketBytes {
        match self.pieces.get(at / PIECE) {
            Some(piece) => pieces.line(*piece, at % PIECE),
            None => self.few.get(at).map_or(&EMPTY, |bucket| &bucket.0),
        }
    }

    fn line_mut<'a>(&'a mut self, pieces: &'a mut Pieces, at: usize) -> &'a mut BucketBytes {
        match self.pieces.get(at / PIECE) {
            Some(piece) => pieces.line_mut(*piece, at % PIECE),
            None => &mut self.few[at].0,
        }
    }

    /// The home bucket of a key: the stored bits as a fraction of all buckets.
    fn home(&self, key: Kept) -> usize {
        ((u128::from(key) * self.len() as u128) >> KEPT_BITS) as usize
    }

    /// The buckets a key may be in, nearest first.
    fn places(&self, key: Kept) -> impl Iterator<Item = usize> + use<> {
        let (home, all) = (self.home(key), self.len());
        // All the way round: at seven eighths full, one run of full buckets in some thousand is
        // longer than sixty.
        (home..all).chain(0..home)
    }

    fn get(&self, pieces: &Pieces, key: Kept) -> Option<u32> {
        for at in self.places(key) {
            let line = self.line(pieces, at);
            if let Some(i) = find(line, key) {
                return Some(number(line, i));
            }
            if !is_full(line) {
                break;
            }
        }
        None
    }

    /// Stores a key; returns whether there was a slot for it.
    fn put(&mut self, pieces: &mut Pieces, key: Kept, value: u32) -> bool {
        for at in self.places(key) {
            let line = self.line_mut(pieces, at);
            let old = find(line, key);
            if let Some(i) = old.or_else(|| (0..KEYS).find(|i| number(line, *i) == 0)) {
                set(line, i, key, value);
                self.used += usize::from(old.is_none());
                return true;
            }
        }
        false
    }

    fn is_crowded(&self) -> bool {
        self.used >= self.len() * KEYS * 7 / 8
    }

    fn grow(&mut self, pieces: &mut Pieces, limit: usize) {
        let (size, mut keys) = (self.len(), Vec::with_capacity(self.used));
        for at in 0..size {
            let line = self.line_mut(pieces, at);
            keys.extend((0..KEYS).filter(|i| number(line, *i) != 0).map(|i| (key_at(line, i), number(line, i))));
            *line = [0; LINE];
        }
        let wanted = (size * 2).clamp(1, limit);
        if self.pieces.is_empty() && wanted < PIECE {
            self.few = empty(wanted);
        } else {
            let more = (size / 16 / PIECE).max(1).min((limit - size).div_ceil(PIECE));
            self.pieces.extend((0..more).map(|_| pieces.add()));
            self.few = Box::default();
        }
        self.used = 0;
        for (key, number) in keys {
            self.forgot |= !self.add(pieces, key, number);
        }
    }

    /// Inserts a key that is not there; every key passes here sixteen times as the segment grows.
    /// Returns whether there was a slot for it.
    fn add(&mut self, pieces: &mut Pieces, key: Kept, value: u32) -> bool {
        for at in self.places(key) {
            let line = self.line_mut(pieces, at);
            if let Some(i) = (0..KEYS).find(|i| number(line, *i) == 0) {
                set(line, i, key, value);
                self.used += 1;
                return true;
            }
        }
        false
    }

    /// Replaces another key in the home bucket; no slot becomes empty, so every other key is still
    /// found.
    fn replace(&mut self, pieces: &mut Pieces, key: Kept, number: u32) {
        self.forgot = true;
        self.clock = self.clock.wrapping_add(1);
        let (home, place) = (self.home(key), self.clock % KEYS);
        let line = self.line_mut(pieces, home);
        if is_full(line) {
            set(line, place, key, number);
        }
    }
}

impl KeyCache {
    /// A table of at most this many bytes, plus a fixed minimum.
    pub(crate) fn new(bytes: usize) -> Self {
        let (segments, pieces) = (vec![Segment::new(); SEGMENTS], Pieces::default());
        let mut table = Self { segments, pieces, limit: 1, complete_below: None };
        table.set_limit(bytes);
        table
    }

    /// Changes the maximum size; memory already in use is kept.
    pub(crate) fn set_limit(&mut self, bytes: usize) {
        let limit = (bytes / SEGMENTS / LINE).max(1);
        self.limit = if limit < PIECE { limit } else { limit / PIECE * PIECE };
    }

    /// Removes every key; existing ones must be inserted again.
    pub(crate) fn clear(&mut self) {
        self.segments.fill(Segment::new());
        self.pieces = Pieces::default();
        self.complete_below = Some(0);
    }

    /// Whether it is full and starts to evict.
    pub(crate) fn is_full(&self) -> bool {
        self.segments.iter().any(|s| s.forgot)
    }

    /// Whether every existing key was inserted.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete_below.is_none()
    }

    /// Existing keys below this one were inserted; `None` if all were.
    pub(crate) fn complete_below(&self) -> Option<u128> {
        self.complete_below
    }

    /// Records that all existing keys below this one, or with `None` all keys, were inserted.
    pub(crate) fn set_complete_below(&mut self, key: Option<u128>) {
        self.complete_below = key;
    }

    /// Prefetches the buckets of many keys before they are looked up one by one: the loads are
    /// independent, so their cache misses overlap. First the positions, then the buckets, then
    /// those after full ones: the less work between two loads, the more of them are in flight.
    pub(crate) fn fetch(&self, keys: impl Iterator<Item = u128>) {
        let home = |key| {
            let segment = &self.segments[segment_of(key)];
            let at = segment.home(kept(key));
            (segment, at, segment.line(&self.pieces, at))
        };
        let mut keys = keys.map(home);
        let mut touched = 0;
        while let Some(first) = keys.next() {
            let mut homes = [first; TOGETHER];
            let more = homes[1..].iter_mut().zip(&mut keys).map(|(place, home)| *place = home).count();
            let homes = &homes[..=more];
            touched ^= homes.iter().fold(0, |sum, (_, _, line)| sum ^ touch(line));
            for (segment, at, _) in homes.iter().filter(|(_, _, line)| is_full(line)) {
                touched ^= touch(segment.line(&self.pieces, (at + 1) % segment.len()));
            }
        }
        std::hint::black_box(touched);
    }

    /// Looks up a key.
    pub(crate) fn get(&self, key: u128) -> TableLookup {
        let segment = &self.segments[segment_of(key)];
        match segment.get(&self.pieces, kept(key)) {
            Some(number) => TableLookup::Known(u64::from(number)),
            None if segment.forgot || self.complete_below.is_some_and(|end| key >= end) => TableLookup::Ask,
            None => TableLookup::Unknown,
        }
    }

    /// Stores a key's number. Numbers of 2^32 and above are not stored.
    pub(crate) fn put(&mut self, key: u128, number: u64) {
        let segment = &mut self.segments[segment_of(key)];
        let Some(number) = u32::try_from(number).ok().filter(|n| *n > 0) else {
            segment.forgot = true;
            return;
        };
        let pieces = &mut self.pieces;
        while segment.is_crowded() && segment.len() < self.limit {
            segment.grow(pieces, self.limit);
        }
        if segment.is_crowded() || !segment.put(pieces, kept(key), number) {
            segment.replace(pieces, kept(key), number);
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
        assert_eq!(size_of::<TableBucket>(), 64);
    }

    #[test]
    fn a_table_within_its_limit_knows_every_key_and_every_stranger() {
        let (mut table, many) = (KeyCache::new(8 << 20), 500_000);
        for n in 1..=many {
            table.put(key(n), n);
        }
        assert!((1..=many).all(|n| table.get(key(n)) == TableLookup::Known(n)));
        assert!((many + 1..2 * many).all(|n| table.get(key(n)) == TableLookup::Unknown));
    }

    #[test]
    fn a_table_below_its_limit_forgets_nothing_however_long_a_run_of_full_buckets_is() {
        let mut table = KeyCache::new(8 << 30);
        // One segment, as full as it gets before it grows.
        for n in 1..=60_000 {
            table.put(key(n) >> SEGMENT_BITS, n);
        }
        assert!(!table.is_full());
        assert!((1..=60_000).all(|n| table.get(key(n) >> SEGMENT_BITS) == TableLookup::Known(n)));
    }

    #[test]
    fn a_full_table_keeps_to_its_limit_forgets_and_says_so() {
        let mut table = KeyCache::new(1 << 20);
        let (full, many) = ((1 << 20) / 64 * 5, 300_000);
        for n in 1..=many {
            table.put(key(n), n);
        }
        let buckets: usize = table.segments.iter().map(Segment::len).sum();
        assert!(buckets * size_of::<TableBucket>() <= 1 << 20, "{buckets}");
        assert!((1..=many).all(|n| [TableLookup::Ask, TableLookup::Known(n)].contains(&table.get(key(n)))));
        assert!(table.is_full());
        let known = (1..=many).filter(|n| table.get(key(*n)) != TableLookup::Ask).count();
        assert!(known > full / 2, "{known} of {full}");
    }

    #[test]
    fn a_table_grows_with_its_limit_from_few_buckets_to_pieces_and_begins_anew_when_cleared() {
        let key = |n| key(n) >> SEGMENT_BITS;
        let bytes = |buckets: usize| buckets * LINE * SEGMENTS;
        let mut table = KeyCache::new(bytes(40));
        for (buckets, many) in [(40, 200), (PIECE, 300), (3 * PIECE, 900)] {
            table.set_limit(bytes(buckets));
            (1..=many).for_each(|n| table.put(key(n), n));
            assert!(!table.is_full() && table.segments[0].len() <= buckets);
            assert!((1..=many).all(|n| table.get(key(n)) == TableLookup::Known(n)));
        }
        (1..=9_000).for_each(|n| table.put(key(n), n));
        assert!(table.is_full() && table.segments[0].len() == 3 * PIECE);
        assert!((1..=9_000).all(|n| [TableLookup::Ask, TableLookup::Known(n)].contains(&table.get(key(n)))));
        table.clear();
        assert!((1..=9_000).all(|n| table.get(key(n)) == TableLookup::Ask));
        (1..=900).for_each(|n| table.put(key(n), n + 1));
        assert!((1..=900).all(|n| table.get(key(n)) == TableLookup::Known(n + 1)));
    }

    #[test]
    fn keys_that_share_a_home_do_not_grow_the_table_beyond_its_limit() {
        let mut table = KeyCache::new(1 << 20);
        for n in 1..1_000_u64 {
            table.put(u128::from(n) << 64, n);
        }
        let buckets: usize = table.segments.iter().map(Segment::len).sum();
        assert!(buckets <= SEGMENTS + 4);
        assert_eq!(table.get(5_000 << 64), TableLookup::Known(999));
    }

    #[test]
    fn a_table_told_of_some_keys_asks_for_the_others() {
        let mut table = KeyCache::new(1 << 20);
        table.set_complete_below(Some(key(7)));
        assert_eq!(table.get(key(7) - 1), TableLookup::Unknown);
        assert_eq!(table.get(key(7)), TableLookup::Ask);
        table.set_complete_below(None);
        assert_eq!(table.get(key(7)), TableLookup::Unknown);
    }

    proptest! {
        #[test]
        fn it_never_tells_a_wrong_number(keys in prop::collection::vec(0u64..5_000, 1..6_000), small: bool) {
            // In few segments, so that a small table overflows.
            let key = |n| key(n) >> 6;
            let mut table = KeyCache::new(if small { 1 } else { 64 << 20 });
            for n in &keys {
                table.put(key(*n), n + 1);
            }
            let told: std::collections::HashSet<u64> = keys.iter().copied().collect();
            for n in 0..5_000 {
                match table.get(key(n)) {
                    TableLookup::Known(got) => prop_assert_eq!(got, n + 1),
                    TableLookup::Unknown => prop_assert!(!told.contains(&n)),
                    TableLookup::Ask => prop_assert!(small),
                }
            }
        }
    }
}
