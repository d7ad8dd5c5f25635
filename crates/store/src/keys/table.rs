//! Which runs make up the table?
//!
//! File names say which pages each run covers: of two that begin at the same page, the longer is
//! the result of a merge and the shorter is about to be removed. A reader that listed the directory
//! just before the removal lists it again.

use super::merge::KeyMerge;
use super::run::{KeyRun, PageRange};
use crate::error::{Result, StoreError};
use crate::replace::sync_dir;
use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Entries of the shortest runs that are written while a crawl is running.
pub(super) const SHORTEST: u64 = 1 << 16;

/// This many runs of similar length are merged, and each tier is this many times as long as the one
/// below.
const FANOUT: usize = 8;

/// How often a reader lists a directory in which runs are being merged.
const TRIES: usize = 20;

/// The runs of a table, in the order of their pages; no page is covered twice.
#[derive(Debug)]
pub(crate) struct KeyTable {
    dir: PathBuf,
    runs: Vec<Arc<KeyRun>>,
}

impl KeyTable {
    /// Opens what there is of a table, and says which files are no part of it.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Vec<PathBuf>)> {
        for _ in 0..TRIES {
            if let Some((runs, others)) = choose(dir)? {
                return Ok((Self { dir: dir.to_owned(), runs }, others));
            }
        }
        Ok((Self { dir: dir.to_owned(), runs: Vec::new() }, Vec::new()))
    }

    /// A table without runs.
    pub(crate) fn empty() -> Self {
        Self { dir: PathBuf::new(), runs: Vec::new() }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The runs in the order of their pages.
    pub(crate) fn runs(&self) -> &[Arc<KeyRun>] {
        &self.runs
    }

    /// Those of the pages up to `end` that no run covers.
    pub(crate) fn gaps(&self, end: u64) -> Vec<PageRange> {
        let mut next = 1;
        let mut gaps = Vec::new();
        for span in self.runs.iter().map(|run| run.span).filter(|span| span.first <= end) {
            if span.first > next {
                gaps.push(PageRange { first: next, last: span.first - 1 });
            }
            next = span.last + 1;
        }
        if next <= end {
            gaps.push(PageRange { first: next, last: end });
        }
        gaps
    }

    /// Takes a run in, and merges the latest ones where there are many.
    pub(super) fn add(&mut self, run: KeyRun) -> Result<()> {
        self.insert(run);
        while let Some(mut merge) = self.merge_due()? {
            while !merge.step()? {}
            self.replace(merge)?;
        }
        Ok(())
    }

    /// Takes a run in.
    pub(super) fn insert(&mut self, run: KeyRun) {
        let place = self.runs.partition_point(|other| other.span.first < run.span.first);
        self.runs.insert(place, Arc::new(run));
    }

    /// Begins to merge the latest runs where there are many.
    pub(super) fn merge_due(&self) -> Result<Option<KeyMerge>> {
        let lengths: Vec<_> = self.runs.iter().map(|run| (run.span, run.len())).collect();
        due(&lengths).map(|from| KeyMerge::of(&self.dir, &self.runs[from..])).transpose()
    }

    /// Puts what was merged into the place of its parts.
    pub(super) fn replace(&mut self, merge: KeyMerge) -> Result<()> {
        let merged = merge.finish(&self.dir)?;
        // The names of the parts go only when the disk has the name of the whole.
        sync_dir(&self.dir)?;
        let span = merged.span;
        let parts = self.runs.extract_if(.., |run| span.first <= run.span.first && run.span.last <= span.last);
        let parts: Vec<_> = parts.collect();
        self.insert(merged);
        parts.iter().try_for_each(|part| remove(part.path()))
    }

    /// Takes the run at this path out, whose pages can be read from the catalogue again.
    pub(crate) fn discard(&mut self, path: &Path) -> Result<()> {
        self.runs.retain(|run| run.path() != path);
        remove(path)
    }
}

/// The tier of a run by its length.
fn tier(entries: u64) -> u32 {
    (entries / SHORTEST).max(1).ilog2() / FANOUT.ilog2()
}

/// From which run on all are to be merged: the last ones, one after the other, where many are of
/// one tier and none is of a higher one. So an entry is rewritten once for each tier.
fn due(runs: &[(PageRange, u64)]) -> Option<usize> {
    let highest = runs.iter().map(|run| tier(run.1)).max()?;
    let adjoins = |at: usize| at + 1 == runs.len() || runs[at].0.last + 1 == runs[at + 1].0.first;
    (0..=highest).find_map(|level| {
        let last = (0..runs.len()).rev().take_while(|at| tier(runs[*at].1) <= level && adjoins(*at));
        let from = last.last()?;
        let many = runs[from..].iter().filter(|run| tier(run.1) == level).count();
        let pages = runs[runs.len() - 1].0.last - runs[from].0.first;
        // An entry has 32 bits for the distance from the run's first page.
        (many >= FANOUT && u32::try_from(pages).is_ok()).then_some(from)
    })
}

type Chosen = (Vec<Arc<KeyRun>>, Vec<PathBuf>);

/// The runs of a directory that belong together, and its other files; `None` where it has changed
/// meanwhile.
fn choose(dir: &Path) -> Result<Option<Chosen>> {
    let fail = |e| StoreError::io("list", dir, e);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Some((Vec::new(), Vec::new()))),
        Err(e) => return Err(fail(e)),
    };
    let (mut spans, mut others) = (Vec::new(), Vec::new());
    for entry in entries {
        let name = entry.map_err(fail)?.file_name();
        match name.to_str().and_then(PageRange::of_name) {
            Some(span) => spans.push(span),
            None => others.push(dir.join(name)),
        }
    }
    // The longest first: a crash may leave a merged run beside its parts, which are then skipped.
    spans.sort_by_key(|span| (span.first, Reverse(span.last)));
    let (mut runs, mut next) = (Vec::new(), 1);
    for span in spans {
        if span.first < next {
            others.push(dir.join(span.name()));
            continue;
        }
        match KeyRun::open(dir, span) {
            Ok(run) => {
                next = span.last + 1;
                runs.push(Arc::new(run));
            }
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(StoreError::Damaged { path, .. }) => others.push(path),
            Err(e) => return Err(e),
        }
    }
    Ok(Some((runs, others)))
}

/// Removes a file that may be gone already.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_rewritten_once_for_each_tier_and_runs_stay_few() {
        let (mut runs, mut rewritten): (Vec<(PageRange, u64)>, u64) = (Vec::new(), 0);
        let (mut next, mut most) = (1, 0);
        // Fifty million pages, in runs of the length a crawl writes.
        for n in 0..700 {
            let entries = SHORTEST + n * 37 % 9_000;
            runs.push((PageRange { first: next, last: next + entries - 1 }, entries));
            next += entries;
            while let Some(from) = due(&runs) {
                let entries: u64 = runs[from..].iter().map(|run| run.1).sum();
                let span = PageRange { first: runs[from].0.first, last: next - 1 };
                rewritten += entries;
                runs.splice(from.., [(span, entries)]);
            }
            most = most.max(runs.len());
        }
        assert!(next > 48_000_000 && rewritten < 3 * next, "{rewritten} of {next}");
        assert!(most <= 3 * (FANOUT - 1) + 1, "{most}");
        assert!(runs.windows(2).all(|two| two[0].0.last + 1 == two[1].0.first));
    }

    #[test]
    fn runs_with_a_gap_between_them_are_not_merged() {
        let run = |first: u64| (PageRange { first, last: first + SHORTEST - 1 }, SHORTEST);
        let mut runs: Vec<_> = (0..8).map(|n| run(1 + n * SHORTEST)).collect();
        assert_eq!(due(&runs), Some(0));
        runs[3].0.last -= 1;
        assert_eq!(due(&runs), None);
        assert_eq!(due(&[]), None);
    }
}
