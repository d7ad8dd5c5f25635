//! What have the queues become since the last fold?
//!
//! Entries were put in and taken out. They lie in sorted runs, a newer one after each older one and at most half as long: what a batch does to the queues of
//! thousands of hosts is merged from one end to the other, a few times, and costs the same however many hosts there are. A tree of single
//! entries is entered at another place for each host. Where runs speak of the same place, the newest is right.

use super::layout::Place;
use std::ops::{Bound, RangeBounds as _};

/// A place in a queue, and whether an entry was put in there or taken out.
pub(super) type Entry = (Place, bool);

/// The changes of all queues.
#[derive(Debug, Default)]
pub(super) struct Changes {
    runs: Vec<Vec<Entry>>,
}

impl Changes {
    /// How many there are; those that were changed again may count twice.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Adds changes that come in order; of the same place, the last one counts.
    pub(super) fn add(&mut self, mut run: Vec<Entry>) {
        keep_last(&mut run);
        while let Some(mut before) = self.runs.pop_if(|before| before.len() < 2 * run.len()) {
            before.append(&mut run);
            // Finds the two runs as they are, and merges them.
            before.sort_by_key(|(place, _)| *place);
            keep_last(&mut before);
            run = before;
        }
        if !run.is_empty() {
            self.runs.push(run);
        }
    }

    /// Whether an entry was put in at a place or taken out; `None` where nothing was changed.
    pub(super) fn get(&self, place: &Place) -> Option<bool> {
        self.runs.iter().rev().find_map(|run| {
            let at = run.binary_search_by_key(&place, |(place, _)| place).ok()?;
            Some(run[at].1)
        })
    }

    /// The changes in a range of places, in order.
    pub(super) fn range(&self, (from, to): (Bound<Place>, Bound<Place>)) -> impl Iterator<Item = Entry> + '_ {
        // The newest first: of several that speak of a place, it is the one that is found first.
        let mut rest: Vec<&[Entry]> = self.runs.iter().rev().map(|run| &run[start(run, &from)..]).collect();
        std::iter::from_fn(move || {
            let first = rest.iter().filter_map(|run| run.first()).min_by_key(|(place, _)| place).copied()?;
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
}

/// Where a range begins in a run.
fn start(run: &[Entry], from: &Bound<Place>) -> usize {
    match from {
        Bound::Included(from) => run.partition_point(|(place, _)| place < from),
        Bound::Excluded(from) => run.partition_point(|(place, _)| place <= from),
        Bound::Unbounded => 0,
    }
}

fn keep_last(run: &mut Vec<Entry>) {
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

    fn place(n: u8) -> Place {
        let mut place = [0; 20];
        place[3] = n / 16;
        place[19] = n % 16;
        place
    }

    proptest! {
        #[test]
        fn changes_are_what_a_map_says(batches in prop::collection::vec(prop::collection::vec((any::<u8>(), any::<bool>()), 0..60), 0..30), from: u8, to: u8) {
            let (mut changes, mut map) = (Changes::default(), BTreeMap::new());
            for batch in batches {
                let mut run: Vec<Entry> = batch.into_iter().map(|(n, there)| (place(n), there)).collect();
                map.extend(run.iter().copied());
                run.sort_by_key(|(place, _)| *place);
                changes.add(run);
                prop_assert!(changes.runs.is_sorted_by(|a, b| a.len() >= 2 * b.len()));
            }
            prop_assert!(changes.range((Bound::Unbounded, Bound::Unbounded)).eq(map.iter().map(|(p, t)| (*p, *t))));
            let (from, to) = (place(from.min(to)), place(from.max(to)));
            let bounds = (Bound::Excluded(from), Bound::Included(to));
            prop_assert!(changes.range(bounds).all(|(p, _)| from < p && p <= to));
            prop_assert_eq!(changes.range(bounds).count(), map.keys().filter(|p| from < **p && **p <= to).count());
            let bounds = (Bound::Included(from), Bound::Excluded(to));
            prop_assert_eq!(changes.range(bounds).count(), map.range(from..to).count());
            for n in 0..=u8::MAX {
                prop_assert_eq!(changes.get(&place(n)), map.get(&place(n)).copied());
            }
        }
    }
}
