//! How is a sorted set kept that grows a little at a time?
//!
//! As sorted runs, as in a log-structured merge tree: each newer run is at most half as long as the
//! previous one. What a batch adds is merged sequentially, a few times, at the same cost for any
//! keys; a tree of single entries would be descended for each. A look-up searches few runs. If runs
//! contain the same key, the newest wins.

use std::ops::{Bound, RangeBounds as _};

/// Values by key, in sorted runs.
#[derive(Debug)]
pub(super) struct Runs<K, V> {
    runs: Vec<Vec<(K, V)>>,
}

impl<K, V> Default for Runs<K, V> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<K: Copy + Ord, V: Copy> Runs<K, V> {
    /// Number of entries; updated ones may count twice.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Adds sorted entries; for equal keys, the last value wins.
    pub(super) fn add(&mut self, mut run: Vec<(K, V)>) {
        keep_last(&mut run);
        while let Some(mut before) = self.runs.pop_if(|before| before.len() < 2 * run.len()) {
            before.append(&mut run);
            run = merged(before);
        }
        if !run.is_empty() {
            self.runs.push(run);
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &K) -> Option<V> {
        // Newest first: its value replaces those of older runs.
        self.runs.iter().rev().find_map(|run| {
            let at = run.binary_search_by_key(key, |(key, _)| *key).ok()?;
            Some(run[at].1)
        })
    }

    /// The values in a range of keys, in order.
    pub(super) fn range(&self, (from, to): (Bound<K>, Bound<K>)) -> impl Iterator<Item = (K, V)> + '_ {
        // Newest first, so that among equal keys the newest is found first.
        let mut rest: Vec<&[(K, V)]> = self.runs.iter().rev().map(|run| &run[start(run, &from)..]).collect();
        std::iter::from_fn(move || {
            let first = rest.iter().filter_map(|run| run.first()).min_by_key(|(key, _)| *key).copied()?;
            if !(Bound::Unbounded, to.as_ref()).contains(&first.0) {
                return None;
            }
            for run in &mut rest {
                if let Some((_, behind)) = run.split_first().filter(|(next, _)| next.0 == first.0) {
                    *run = behind;
                }
            }
            Some(first)
        })
    }

    /// Everything in order, in one run from now on.
    pub(super) fn all(&mut self) -> &[(K, V)] {
        if self.runs.len() > 1 {
            self.runs = vec![merged(self.runs.concat())];
        }
        self.runs.first().map_or(&[], Vec::as_slice)
    }
}

/// Merges consecutive runs; the adaptive sort exploits that they are sorted.
fn merged<K: Copy + Ord, V: Copy>(mut runs: Vec<(K, V)>) -> Vec<(K, V)> {
    // Stable, so that the newest of equal keys stays last, and is the one that is kept.
    runs.sort_by_key(|(key, _)| *key);
    keep_last(&mut runs);
    runs
}

/// Where a range begins in a run.
fn start<K: Ord, V>(run: &[(K, V)], from: &Bound<K>) -> usize {
    match from {
        Bound::Included(from) => run.partition_point(|(key, _)| key < from),
        Bound::Excluded(from) => run.partition_point(|(key, _)| key <= from),
        Bound::Unbounded => 0,
    }
}

fn keep_last<K: PartialEq, V: Copy>(run: &mut Vec<(K, V)>) {
    run.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = later.1;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn runs_are_what_a_map_says(batches in prop::collection::vec(prop::collection::vec((any::<u8>(), any::<bool>()), 0..60), 0..30), from: u8, to: u8) {
            let (mut runs, mut map) = (Runs::default(), BTreeMap::new());
            for mut batch in batches {
                map.extend(batch.iter().copied());
                batch.sort_by_key(|(key, _)| *key);
                runs.add(batch);
                prop_assert!(runs.runs.is_sorted_by(|a, b| a.len() >= 2 * b.len()));
            }
            prop_assert!(runs.range((Bound::Unbounded, Bound::Unbounded)).eq(map.iter().map(|(k, v)| (*k, *v))));
            let (from, to) = (from.min(to), from.max(to));
            let bounds = (Bound::Excluded(from), Bound::Included(to));
            prop_assert!(runs.range(bounds).all(|(key, _)| from < key && key <= to));
            prop_assert_eq!(runs.range(bounds).count(), map.keys().filter(|key| from < **key && **key <= to).count());
            let bounds = (Bound::Included(from), Bound::Excluded(to));
            prop_assert_eq!(runs.range(bounds).count(), map.range(from..to).count());
            for n in 0..=u8::MAX {
                prop_assert_eq!(runs.get(&n), map.get(&n).copied());
            }
            prop_assert!(runs.all().iter().copied().eq(map.iter().map(|(k, v)| (*k, *v))));
            prop_assert_eq!(runs.len(), map.len());
        }
    }
}
