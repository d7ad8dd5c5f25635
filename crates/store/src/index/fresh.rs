//! Which keys are known and not yet in the tree?
//!
//! Those of the batches since the last fold. They lie in sorted runs, each at least twice as long as the one after it: a new run costs
//! little, and a look-up, which only a table at its limit asks for, goes through few of them.

use super::table::KeyTable;

/// Keys whose buckets are brought near together: half of the nearest memory.
const TOGETHER: usize = 256;

/// What is known of keys without the tree: a bounded table of all of them, and those the tree does not have yet.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) table: KeyTable,
    pub(super) fresh: Fresh,
}

impl Known {
    pub(super) fn new() -> Self {
        Self { table: KeyTable::new(0), fresh: Fresh::default() }
    }

    /// Notes new keys with their numbers.
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

/// Half a key, its other half, and its number: eight bytes less than with the key in one piece.
type Entry = (u64, u64, u64);

/// Keys that are not in the tree yet.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    runs: Vec<Vec<Entry>>,
}

impl Fresh {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// The number of a key.
    pub(super) fn get(&self, key: u128) -> Option<u64> {
        let want = ((key >> 64) as u64, key as u64);
        self.runs.iter().find_map(|run| {
            let at = run.binary_search_by_key(&want, |e| (e.0, e.1)).ok()?;
            Some(run[at].2)
        })
    }

    /// Adds keys that come in order.
    fn add(&mut self, keys: &[(u128, u64)]) {
        let mut run: Vec<Entry> = keys.iter().map(|(key, n)| ((key >> 64) as u64, *key as u64, *n)).collect();
        while let Some(mut before) = self.runs.pop_if(|before| before.len() < 2 * run.len()) {
            before.append(&mut run);
            // Finds the two runs as they are, and merges them.
            before.sort();
            run = before;
        }
        if !run.is_empty() {
            self.runs.push(run);
        }
    }

    /// All of them in order.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = (u128, u64)> + '_ {
        let mut all = self.runs.concat();
        all.sort();
        self.runs = if all.is_empty() { Vec::new() } else { vec![all] };
        self.runs.iter().flatten().map(|(high, low, n)| (u128::from(*high) << 64 | u128::from(*low), *n))
    }

    /// Forgets them: the tree has them now.
    pub(super) fn clear(&mut self) {
        self.runs = Vec::new();
    }
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
                prop_assert!(fresh.runs.is_sorted_by(|a, b| a.len() >= 2 * b.len()));
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
