//! Who writes the table?
//!
//! The process that holds the project's lock. A commit leaves the keys of its discoveries in a
//! buffer; a background thread sorts them, writes them as a run and merges runs, so that no commit
//! waits for the disk. What is missing at the start, and what the thread could not write, is read
//! from the catalogue, at the latest when the project is closed.

use super::merge::KeyMerge;
use super::run::{KeyEntry, KeyRun, PageRange, RunMaker, short_key};
use super::table::{KeyTable, SHORTEST, remove};
use crate::error::{Result, StoreError};
use crate::sqlite::{Catalogue, CatalogueReader, Watermark};
use orb_page::{Discovered, UrlKey};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Buffers that may wait for the thread: some megabytes.
const WAITING: usize = 4;

/// A run is written after this many batches even if it is short, while the catalogue still lists
/// the batch it names.
const BATCHES: u64 = 500;

/// Tables of up to this many entries (12 MB) are read as a whole when they are opened for writing,
/// which takes some ten milliseconds.
const EXAMINED: u64 = 1 << 20;

/// Damaged runs that are rebuilt before the disk is given up on.
const MENDED: usize = 8;

/// Follows the catalogue with the table.
pub(crate) struct KeyFollower {
    dir: PathBuf,
    catalogue: PathBuf,
    fresh: Vec<KeyEntry>,
    /// Up to which page everything is written or handed over.
    handed: u64,
    /// As of which batch the last buffer was handed over.
    since: u64,
    /// The last page and batch recorded.
    end: (u64, Watermark),
    worker: Option<Worker>,
}

/// The thread beside the commits.
struct Worker {
    jobs: SyncSender<KeyWriteJob>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// What is to be written.
enum KeyWriteJob {
    /// These entries, which are all of these pages.
    Write(Vec<KeyEntry>, PageRange, Watermark),
    /// What the catalogue has of the pages up to this one and the table has not.
    Fill(u64, Watermark),
}

impl KeyFollower {
    /// Throws away what does not fit the catalogue, and has what is missing written beside what is
    /// done next.
    pub(crate) fn open(dir: &Path, catalogue: &Catalogue) -> Result<Self> {
        let (mut table, others) = KeyTable::open(dir)?;
        for other in others {
            remove(&other)?;
        }
        for path in unfit(&table, catalogue)? {
            table.discard(&path)?;
        }
        let end = (catalogue.next_page_id().0 - 1, catalogue.watermark());
        let gaps = !table.gaps(end.0).is_empty();
        let mut follower = Self {
            dir: dir.to_owned(),
            catalogue: catalogue.path().to_owned(),
            fresh: Vec::new(),
            handed: end.0,
            since: end.1.no,
            end,
            worker: None,
        };
        if gaps {
            follower.hand_over(KeyWriteJob::Fill(end.0, end.1));
        }
        Ok(follower)
    }

    /// Notes what a batch has discovered, once the catalogue has it.
    pub(crate) fn follow(&mut self, discovered: &[Discovered], mark: Watermark) {
        self.fresh.extend(discovered.iter().map(|d| (short_key(d.key), d.page.0)));
        self.end = (discovered.last().map_or(self.end.0, |d| d.page.0), mark);
        if self.fresh.len() as u64 >= SHORTEST || mark.no >= self.since + BATCHES {
            self.hand_over_fresh();
        }
    }

    fn hand_over_fresh(&mut self) {
        let (end, mark) = self.end;
        self.since = mark.no;
        if !self.fresh.is_empty() {
            let capacity = self.fresh.len();
            let entries = std::mem::replace(&mut self.fresh, Vec::with_capacity(capacity));
            self.hand_over(KeyWriteJob::Write(entries, PageRange { first: self.handed + 1, last: end }, mark));
        }
        self.handed = end;
    }

    /// What the thread has no room for is left out; it is read from the catalogue in the end.
    fn hand_over(&mut self, job: KeyWriteJob) {
        if self.worker.is_none() {
            self.worker = Worker::start(&self.dir, &self.catalogue).ok();
        }
        if let Some(worker) = &self.worker
            && let Err(TrySendError::Disconnected(_)) = worker.jobs.try_send(job)
        {
            self.worker = None;
        }
    }

    /// Writes what is left, and what could not be written before; may be tried again.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.hand_over_fresh();
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
        let (mut table, _) = KeyTable::open(&self.dir)?;
        fill(&mut table, &self.catalogue, self.end, &AtomicBool::new(false))
    }
}

impl Drop for KeyFollower {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.stop.store(true, Ordering::Relaxed);
            worker.end();
        }
    }
}

impl Worker {
    fn start(dir: &Path, catalogue: &Path) -> std::io::Result<Self> {
        let (jobs, work) = sync_channel(WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let (dir, catalogue, stopped) = (dir.to_owned(), catalogue.to_owned(), Arc::clone(&stop));
        let run = move || work_off(&work, &dir, &catalogue, &stopped);
        let thread = std::thread::Builder::new().name("keys".to_owned()).spawn(run)?;
        Ok(Self { jobs, stop, thread })
    }

    /// Waits until everything handed over is written.
    fn end(self) {
        drop(self.jobs);
        // What a thread that panicked has left out is read from the catalogue.
        let _ = self.thread.join();
    }
}

/// Writes what is handed over as soon as it comes, and merges in between. What fails is left out,
/// and is tried again when the table is finished.
fn work_off(work: &Receiver<KeyWriteJob>, dir: &Path, catalogue: &Path, stop: &AtomicBool) {
    let Ok((mut table, _)) = KeyTable::open(dir) else { return };
    let mut merge = None;
    loop {
        let job = match (&merge, work.try_recv()) {
            (_, Ok(job)) => Some(job),
            (Some(_), Err(_)) => None,
            (None, Err(TryRecvError::Disconnected)) => return,
            (None, Err(TryRecvError::Empty)) => work.recv().ok(),
        };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let done = match job {
            Some(KeyWriteJob::Write(entries, span, mark)) => {
                write(dir, entries, span, mark).map(|run| table.insert(run))
            }
            Some(KeyWriteJob::Fill(end, mark)) => {
                // It merges on its own, perhaps the same runs.
                merge = None;
                fill(&mut table, catalogue, (end, mark), stop)
            }
            None => Ok(()),
        };
        let merged = done.and_then(|()| merge_on(&mut table, &mut merge));
        let _ = merged.or_else(|e| mend(&mut table, e));
    }
}

/// Takes a merge one step further, or begins the next.
fn merge_on(table: &mut KeyTable, merge: &mut Option<KeyMerge>) -> Result<()> {
    let Some(mut current) = merge.take() else {
        *merge = table.merge_due()?;
        return Ok(());
    };
    if !current.step()? {
        *merge = Some(current);
        return Ok(());
    }
    table.replace(current)?;
    *merge = table.merge_due()?;
    Ok(())
}

/// Takes a run out that has turned out to be damaged.
fn mend(table: &mut KeyTable, error: StoreError) -> Result<()> {
    match &error {
        StoreError::Damaged { path, .. } => table.discard(path),
        _ => Err(error),
    }
}

/// Reads from the catalogue what a table lacks.
fn fill(table: &mut KeyTable, catalogue: &Path, (end, mark): (u64, Watermark), stop: &AtomicBool) -> Result<()> {
    let mut reader = None;
    let mut mended = 0;
    while let Some(gap) = table.gaps(end).first().copied() {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let reader = match &reader {
            Some(reader) => reader,
            None => reader.insert(CatalogueReader::at(catalogue)?),
        };
        let mut entries: Vec<KeyEntry> = Vec::new();
        // As long as those of the next tier, so that little is left to merge.
        let most = SHORTEST * 8;
        reader.urls_between(gap.first, gap.last, most, |page, url| {
            entries.push((short_key(UrlKey::of(url)), page));
        })?;
        let last = if (entries.len() as u64) < most { gap.last } else { entries.last().map_or(gap.last, |e| e.1) };
        if entries.is_empty() {
            return Err(StoreError::damaged(catalogue, format!("it lacks the pages {} to {last}", gap.first)));
        }
        let run = write(table.dir(), entries, PageRange { first: gap.first, last }, mark)?;
        if let Err(e) = table.add(run) {
            mended += 1;
            if mended > MENDED {
                return Err(e);
            }
            mend(table, e)?;
        }
    }
    Ok(())
}

fn write(dir: &Path, mut entries: Vec<KeyEntry>, span: PageRange, mark: Watermark) -> Result<KeyRun> {
    entries.sort_unstable();
    let mut maker = RunMaker::new(dir, span, mark)?;
    entries.into_iter().try_for_each(|entry| maker.push(entry))?;
    maker.finish(dir)
}

/// The runs that the catalogue contradicts, and of a small table those that are damaged.
fn unfit(table: &KeyTable, catalogue: &Catalogue) -> Result<Vec<PathBuf>> {
    let mut unfit = Vec::new();
    let small = table.runs().iter().map(|run| run.len()).sum::<u64>() <= EXAMINED;
    for run in table.runs() {
        let damaged = small && matches!(read_through(run), Err(StoreError::Damaged { .. }));
        if damaged || !catalogue.has_recorded(run)? {
            unfit.push(run.path().to_owned());
        }
    }
    Ok(unfit)
}

fn read_through(run: &KeyRun) -> Result<()> {
    let mut entries = run.entries();
    while entries.next()?.is_some() {}
    Ok(())
}
