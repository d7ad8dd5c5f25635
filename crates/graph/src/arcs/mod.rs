//! How are links, met in any order, sorted into a graph?
//!
//! By an external merge sort. Arcs fill a buffer of fixed size; when full, it goes to a thread that
//! sorts it, removes duplicates and writes it as a run, once by source and once by target. So the
//! transpose costs one more in-memory sort and no second pass over the input. The next buffer fills
//! meanwhile. At the end the runs are merged while they are compressed ([`merge`]).
//!
//! A run is partitioned by node range, one part per range that is compressed separately, so all
//! cores can compress at once.

mod merge;
mod run;

pub(crate) use merge::{ArcMerge, MergeFailure};

use crate::error::Result;
use run::ArcRun;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Default number of arcs per in-memory sort: 64 MB.
pub(crate) const BUFFER: usize = 8 << 20;

/// Below this number of nodes one part is enough.
const SMALL: u32 = 1 << 16;

/// An arc as a sort key: source in the high half, target in the low half.
fn pack(src: u32, dst: u32) -> u64 {
    u64::from(src) << 32 | u64::from(dst)
}

/// The reversed arc.
fn turned(arc: u64) -> u64 {
    arc.rotate_left(32)
}

/// Sorts arcs that arrive in any order.
pub(crate) struct ArcSorter {
    buffer: Vec<u64>,
    capacity: usize,
    full: Option<SyncSender<Vec<u64>>>,
    empty: Receiver<Vec<u64>>,
    thread: Option<JoinHandle<Result<ArcRuns>>>,
    nodes: u32,
}

/// The runs written so far: by source and by target.
#[derive(Default)]
struct ArcRuns {
    forward: Vec<ArcRun>,
    backward: Vec<ArcRun>,
}

/// Sorted arcs on disk, ready to be merged.
pub(crate) struct SortedArcs {
    runs: Vec<ArcRun>,
    bounds: Vec<u32>,
}

/// Which sort orders are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orders {
    /// By source and by target.
    Both,
    /// By target alone.
    Backward,
}

impl ArcSorter {
    /// A sorter for arcs between this many nodes. Its runs are files in `dir` that start with
    /// `name`.
    pub(crate) fn new(dir: &Path, name: &str, nodes: u32, orders: Orders, capacity: usize) -> Self {
        let (full, arrived) = sync_channel::<Vec<u64>>(0);
        let (spent, empty) = sync_channel(2);
        let writer = RunWriter { dir: dir.to_owned(), name: name.to_owned(), bounds: bounds(nodes), orders };
        let thread = std::thread::spawn(move || {
            let mut runs = ArcRuns::default();
            for mut arcs in arrived {
                writer.write(&mut arcs, &mut runs)?;
                arcs.clear();
                // The receiver is gone once the last arc has arrived.
                let _ = spent.try_send(arcs);
            }
            Ok(runs)
        });
        Self { buffer: Vec::new(), capacity, full: Some(full), empty, thread: Some(thread), nodes }
    }

    /// Adds an arc.
    #[inline]
    pub(crate) fn push(&mut self, src: u32, dst: u32) -> Result<()> {
        self.buffer.push(pack(src, dst));
        if self.buffer.len() >= self.capacity { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<()> {
        let next = self.empty.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.buffer, next);
        match self.full.as_ref().map(|thread| thread.send(full)) {
            Some(Ok(())) => Ok(()),
            // The channel is closed because the thread failed; report why.
            _ => self.runs().map(|_| ()),
        }
    }

    /// Joins the thread and returns its runs, or why it failed.
    fn runs(&mut self) -> Result<ArcRuns> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(runs)) => runs,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(ArcRuns::default()),
        }
    }

    /// The arcs by source (empty if not wanted) and by target.
    pub(crate) fn finish(mut self) -> Result<(SortedArcs, SortedArcs)> {
        if !self.buffer.is_empty() {
            self.hand_over()?;
        }
        let (runs, bounds) = (self.runs()?, bounds(self.nodes));
        let forward = SortedArcs { runs: runs.forward, bounds: bounds.clone() };
        Ok((forward, SortedArcs { runs: runs.backward, bounds }))
    }
}

impl Drop for ArcSorter {
    /// Joins the thread, so that it writes nothing into a directory that is about to be removed.
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl SortedArcs {
    /// The boundaries of the parts: each start, and the end of the last one.
    pub(crate) fn bounds(&self) -> &[u32] {
        &self.bounds
    }

    /// Upper bound on the number of arcs: duplicates across runs are still counted.
    pub(crate) fn at_most(&self) -> u64 {
        self.runs.iter().map(ArcRun::arcs).sum()
    }

    /// The distinct arcs of one part, in order.
    pub(crate) fn part(&self, part: usize, failed: &MergeFailure) -> Result<ArcMerge> {
        let readers = self.runs.iter().map(|run| run.read(part)).collect::<Result<Vec<_>>>()?;
        Ok(ArcMerge::new(readers, failed.clone()))
    }

    /// Deletes the runs.
    pub(crate) fn remove(self) -> Result<()> {
        self.runs.into_iter().try_for_each(ArcRun::remove)
    }
}

/// The node ranges to compress separately: several per core, for load balancing.
fn bounds(nodes: u32) -> Vec<u32> {
    let parts = if nodes < SMALL { 1 } else { rayon::current_num_threads().clamp(1, 64) as u64 * 2 };
    (0..=parts).map(|i| (u64::from(nodes) * i / parts) as u32).collect()
}

/// Writes buffers as runs.
struct RunWriter {
    dir: PathBuf,
    name: String,
    bounds: Vec<u32>,
    orders: Orders,
}

impl RunWriter {
    fn write(&self, arcs: &mut Vec<u64>, runs: &mut ArcRuns) -> Result<()> {
        let number = runs.backward.len();
        let path = |order: &str| self.dir.join(format!("{}-{order}-{number}", self.name));
        if self.orders == Orders::Both {
            arcs.sort_unstable();
            arcs.dedup();
            runs.forward.push(ArcRun::write(path("out"), arcs, &self.bounds)?);
        }
        arcs.iter_mut().for_each(|arc| *arc = turned(*arc));
        arcs.sort_unstable();
        arcs.dedup();
        runs.backward.push(ArcRun::write(path("in"), arcs, &self.bounds)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn merged(arcs: &SortedArcs) -> Vec<(usize, usize)> {
        let failed = MergeFailure::default();
        let parts = 0..arcs.bounds().len() - 1;
        let all = parts.flat_map(|part| arcs.part(part, &failed).unwrap()).collect();
        failed.check().unwrap();
        all
    }

    proptest! {
        #[test]
        fn arcs_come_out_in_order_each_once_both_ways(
            arcs in prop::collection::vec((0u32..70_000, 0u32..70_000), 0..400),
            again in prop::collection::vec(0usize..400, 0..50),
            capacity in 1usize..64,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut sorter = ArcSorter::new(dir.path(), "t", 70_000, Orders::Both, capacity);
            let mut expected = BTreeSet::new();
            for &(src, dst) in arcs.iter().chain(again.iter().filter_map(|i| arcs.get(*i))) {
                sorter.push(src, dst).unwrap();
                expected.insert((src as usize, dst as usize));
            }
            let (forward, backward) = sorter.finish().unwrap();
            let back: BTreeSet<_> = expected.iter().map(|(s, d)| (*d, *s)).collect();
            prop_assert_eq!(merged(&forward), expected.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(merged(&backward), back.into_iter().collect::<Vec<_>>());
            forward.remove().unwrap();
            backward.remove().unwrap();
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_disk_that_takes_no_runs_ends_the_sort() {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = ArcSorter::new(&dir.path().join("gone"), "t", 9, Orders::Both, 2);
        let pushed = (0..9).try_for_each(|i| sorter.push(i, i));
        assert!(pushed.and_then(|()| sorter.finish().map(|_| ())).is_err());
    }
}
