//! Which runs make up the table?
//!
//! File names say which pages each run covers: of two that begin at the same page, the longer is
//! the result of a merge and the shorter is about to be removed. A reader that listed the directory
//! just before the removal lists it again.

use super::run::{KeyRun, PageRange, RunMaker};
use crate::error::{Result, StoreError};
use crate::replace::sync_dir;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
    runs: Vec<KeyRun>,
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
    pub(crate) fn runs(&self) -> &[KeyRun] {
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
        let place = self.runs.partition_point(|other| other.span.first < run.span.first);
        self.runs.insert(place, run);
        while let Some(from) = due(&self.runs) {
            self.merge(from)?;
        }
        Ok(())
    }

    /// Takes the run at this path out, whose pages can be read from the catalogue again.
    pub(super) fn discard(&mut self, path: &Path) -> Result<()> {
        self.runs.retain(|run| run.path() != path);
        remove(path)
    }

    /// Makes one run of all from this one on.
    fn merge(&mut self, from: usize) -> Result<()> {
        let parts = &self.runs[from..];
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
        let span = PageRange { first: first.span.first, last: last.span.last };
        let mut maker = RunMaker::new(&self.dir, span, last.mark)?;
        let mut entries: Vec<_> = parts.iter().map(KeyRun::entries).collect();
        let mut heads = BinaryHeap::with_capacity(parts.len());
        for (part, entries) in entries.iter_mut().enumerate() {
            heads.extend(entries.next()?.map(|entry| Reverse((entry, part))));
        }
        // Replacing the head sifts the heap once; popping and pushing would sift it twice.
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((entry, part)) = *head;
            maker.push(entry)?;
            match entries[part].next()? {
                Some(entry) => *head = Reverse((entry, part)),
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        let merged = maker.finish(&self.dir)?;
        // The names of the parts go only when the disk has the name of the whole.
        sync_dir(&self.dir)?;
        for part in self.runs.splice(from.., [merged]).collect::<Vec<_>>() {
            remove(part.path())?;
        }
        Ok(())
    }
}

/// The tier of a run by its length.
fn tier(run: &KeyRun) -> u32 {
    (run.len() / SHORTEST).max(1).ilog2() / FANOUT.ilog2()
}

/// From which run on all are to be merged: the last ones, one after the other, where there are many
/// of at most some tier.
fn due(runs: &[KeyRun]) -> Option<usize> {
    let highest = runs.iter().map(tier).max()?;
    (0..=highest).find_map(|most| {
        let mut from = runs.len();
        let adjoins = |at: usize| at + 1 == runs.len() || runs[at].span.last + 1 == runs[at + 1].span.first;
        while from > 0 && tier(&runs[from - 1]) <= most && adjoins(from - 1) {
            from -= 1;
        }
        let pages = runs.get(from).map_or(0, |run| runs[runs.len() - 1].span.last - run.span.first);
        // An entry has 32 bits for the distance from the run's first page.
        (runs.len() - from >= FANOUT && u32::try_from(pages).is_ok()).then_some(from)
    })
}

type Chosen = (Vec<KeyRun>, Vec<PathBuf>);

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
                runs.push(run);
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
