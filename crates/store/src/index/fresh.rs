//! Which keys are known and not yet in the tree?
//!
//! Those of the batches since the last fold, in sorted runs. Only a table at its limit asks them
//! for a key.

use super::runs::Runs;
use super::table::KeyCache;

/// Keys whose buckets are prefetched together: half of the L1 cache.
const TOGETHER: usize = 256;

/// What is known about keys without the tree: a bounded table of all of them, and those that are
/// not in the tree yet.
#[derive(Debug)]
pub(super) struct KnownKeys {
    pub(super) table: KeyCache,
    pub(super) fresh: Fresh,
}

impl KnownKeys {
    pub(super) fn new() -> Self {
        Self { table: KeyCache::new(0), fresh: Fresh::default() }
    }

    /// Adds new keys with their numbers.
    pub(super) fn learn(&mut self, mut keys: Vec<(u128, u64)>) {
        keys.sort_unstable();
        for some in keys.chunks(TOGETHER) {
            self.table.fetch(some.iter().map(|(key, _)| *key));
            for (key, number) in some {
                self.table.put(*key, *number);
            }
        }
        self.fresh.add(&keys);
    }
}

/// Keys that are not in the tree yet, with their numbers. A key is stored as two halves, which
/// saves eight bytes of alignment.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    runs: Runs<(u64, u64), u64>,
}

impl Fresh {
    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// The number of a key.
    pub(super) fn get(&self, key: u128) -> Option<u64> {
        self.runs.get(&halves(key))
    }

    /// Adds sorted keys.
    fn add(&mut self, keys: &[(u128, u64)]) {
        self.runs.add(keys.iter().map(|(key, n)| (halves(*key), *n)).collect());
    }

    /// All of them in order.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = (u128, u64)> + '_ {
        self.runs.all().iter().map(|((high, low), n)| (u128::from(*high) << 64 | u128::from(*low), *n))
    }

    /// Clears them: the tree has them now.
    pub(super) fn clear(&mut self) {
        self.runs = Runs::default();
    }
}

fn halves(key: u128) -> (u64, u64) {
    ((key >> 64) as u64, key as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_key_that_was_added_is_found_and_no_other(batches in prop::collection::vec(prop::collection::btree_set(0u64..9_999, 0..90), 0..40)) {
            let key = |n: u64| xxhash_rust::xxh3::xxh3_128(&n.to_le_bytes());
            let (mut fresh, mut all) = (Fresh::default(), std::collections::BTreeMap::new());
            for batch in batches {
                let mut new: Vec<(u128, u64)> = batch.into_iter().map(|n| (key(n), n)).filter(|(k, _)| !all.contains_key(k)).collect();
                new.sort_unstable();
                all.extend(new.iter().copied());
                fresh.add(&new);
            }
            prop_assert_eq!(fresh.len(), all.len());
            for n in 0..9_999 {
                prop_assert_eq!(fresh.get(key(n)), all.get(&key(n)).copied());
            }
            prop_assert!(fresh.in_order().eq(all));
            fresh.clear();
            prop_assert_eq!(fresh.len(), 0);
        }
    }
}
