//! How do archive, catalogue and index come to agree?
//!
//! [`Project`] opens them in the only right order (lock, catalogue, archive cut to what the
//! catalogue knows, index brought to where the catalogue is) and commits a batch in the only right
//! order (bytes, facts, index). Killed between any two steps, the next start sees either all of the
//! batch or nothing of it.

mod admit;
mod aliases;
mod numbers;
mod recall;
mod runs;
#[cfg(test)]
mod tests;
mod there;

use crate::archive::{Archive, ArchiveStart, is_ours};
use crate::error::{Result, StoreError};
use crate::home::{ProjectDir, ProjectLock};
use crate::index::{FrontierIndex, IndexDefect, IndexStart};
use crate::keys::KeyFollower;
use crate::sqlite::Catalogue;
use crate::{Batch, FinishedVisit, fault};
pub use admit::Admission;
use admit::Admitted;
use numbers::IdAllocator;
use orb_page::{HostId, PageId, RunId};
use std::panic::resume_unwind;
use std::time::{Duration, Instant};
use there::RemoteTruth;

/// A project opened for writing.
pub struct Project {
    // Dropped in this order: the lock goes last.
    index: FrontierIndex,
    keys: Option<KeyFollower>,
    archive: Archive,
    truth: Truth,
    admitted: Admitted,
    dir: ProjectDir,
    index_behind: bool,
    start: Start,
    _lock: ProjectLock,
}

/// Who decides whether a batch has happened.
#[expect(clippy::large_enum_variant, reason = "a project has one, and mostly the larger")]
enum Truth {
    /// The catalogue of this project: what it has recorded has happened.
    Here(Catalogue),
    /// PostgreSQL, which many workers share; the catalogue is a copy.
    There(Box<RemoteTruth>),
}

/// How a project is opened for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectOptions {
    /// An archive file that has become so long is followed by another.
    pub warc_size: Option<u64>,
    /// How much memory known keys may take: some 13 bytes for a URL, 13 for a page fetched and 13
    /// for a host. What does not fit is looked up on disk.
    pub index_memory: Option<u64>,
    /// How many changes the frontier index gathers in memory before it folds them into its tables.
    pub fold_at: Option<usize>,
}

/// What had to be done when the project was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// To the archive.
    pub archive: ArchiveStart,
    /// To the frontier index.
    pub index: IndexStart,
    /// Whether the last run crashed rather than ended.
    pub crashed: bool,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The number of the batch.
    pub batch: u64,
    /// Bytes added to the archive.
    pub archived: u64,
    /// The duration of its steps.
    pub took: Steps,
}

/// The duration of the steps of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Appending and syncing the bytes.
    pub archive: Duration,
    /// The transaction with the facts.
    pub catalogue: Duration,
    /// Applying the batch to the frontier index.
    pub index: Duration,
}

impl Project {
    /// Opens a project for writing and makes its stores consistent.
    pub fn open(dir: &ProjectDir) -> Result<Self> {
        Self::open_with(dir, &ProjectOptions::default())
    }

    /// Opens a project for writing, with options.
    pub fn open_with(dir: &ProjectDir, options: &ProjectOptions) -> Result<Self> {
        let lock = ProjectLock::take(dir)?;
        catalogue_is_there(dir)?;
        let catalogue = Catalogue::create_or_open(&dir.catalogue())?;
        catalogue.examine_if_small()?;
        let crashed = catalogue.open_run()?.is_some();
        let (index, index_start) = FrontierIndex::open(&dir.frontier(), &catalogue)?;
        if index_start == IndexStart::Rebuilt(IndexDefect::Ahead) {
            // A commit is on disk before the index follows it: so the catalogue has lost some, or
            // is an older copy.
            crate::check::examine_catalogue(&dir.catalogue())?;
        }
        let (archive, archive_start) = Archive::open(&dir.archive(), &dir.name, &catalogue.archive_files()?)?;
        let keys = KeyFollower::open(&dir.keys(), &catalogue)?;
        let mut project = Self {
            index,
            keys: Some(keys),
            archive,
            admitted: Admitted::new(next_numbers(&catalogue)),
            truth: Truth::Here(catalogue),
            dir: dir.clone(),
            index_behind: false,
            start: Start { archive: archive_start, index: index_start, crashed },
            _lock: lock,
        };
        project.set(options);
        Ok(project)
    }

    fn set(&mut self, options: &ProjectOptions) {
        if let Some(size) = options.warc_size {
            self.archive.roll_at(size);
        }
        if let Some(bytes) = options.index_memory {
            self.index.limit_memory(bytes);
        }
        if let Some(entries) = options.fold_at {
            self.index.fold_at(entries);
        }
    }

    fn catalogue(&self) -> &Catalogue {
        self.truth.catalogue()
    }

    fn catalogue_mut(&mut self) -> &mut Catalogue {
        self.truth.catalogue_mut()
    }

    /// Its directory.
    pub fn dir(&self) -> &ProjectDir {
        &self.dir
    }

    /// What had to be done when it was opened.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The number the next page gets.
    pub fn next_page_id(&self) -> PageId {
        self.catalogue().next_page_id()
    }

    /// The number the next host gets.
    pub fn next_host_id(&self) -> HostId {
        self.catalogue().next_host_id()
    }

    /// Commits a batch: bytes, then facts, then the index.
    ///
    /// After an error the same call may be made again, with the same batch: what was already done
    /// is not done twice. After [`StoreError::NoSpace`] that is what a caller should do once there
    /// is room.
    pub fn commit(&mut self, batch: &mut Batch) -> Result<Committed> {
        if self.index_behind {
            self.recover_index()?;
        }
        let mut took = Steps::default();
        if batch.recorded.is_none() {
            self.admitted.complete(batch);
            self.record(batch, &mut took)?;
            let began = Instant::now();
            self.index.apply(batch, self.catalogue().watermark())?;
            took.index = began.elapsed();
            self.index_behind = false;
            self.let_go(&batch.gifts)?;
        }
        self.archive.close_rolled()?;
        Ok(Committed { batch: self.catalogue().watermark().no, archived: batch.archived.unwrap_or(0), took })
    }

    /// Steps 1 and 2: bytes, then facts. Once the bytes are on the disk they stay, whatever the
    /// catalogue says to the facts: it may have recorded them although it could not say so.
    fn record(&mut self, batch: &mut Batch, took: &mut Steps) -> Result<()> {
        if self.is_shared() {
            return self.record_there(batch, took);
        }
        self.catalogue().sift_requeued(batch)?;
        let began = Instant::now();
        if batch.archived.is_none() {
            if self.archive.is_ahead() {
                self.archive.roll_back()?;
            }
            // What cannot be cut back now is cut before the next try, or at the next start.
            let written = self.write_archive(batch).inspect_err(|_| drop(self.archive.roll_back()));
            batch.archived = Some(written?);
        }
        let catalogue = self.truth.catalogue_mut();
        catalogue.followed(self.index.folded());
        let written = Instant::now();
        took.archive = written - began;
        if let Err(e) = catalogue.commit(batch, &self.archive.end()) {
            if matches!(e, StoreError::BadBatch(_)) {
                batch.archived = None;
                self.archive.roll_back()?;
            }
            return Err(e);
        }
        took.catalogue = written.elapsed();
        batch.recorded = Some(catalogue.watermark().no);
        // Until the index has followed, whatever fails from here on.
        self.index_behind = true;
        self.archive.committed();
        self.admitted.settle(next_numbers(catalogue));
        if let Some(keys) = &mut self.keys {
            keys.follow(&batch.discovered, catalogue.watermark());
        }
        Ok(())
    }

    fn write_archive(&mut self, batch: &mut Batch) -> Result<u64> {
        let fail = |e| StoreError::io("write", &self.dir.archive(), e);
        fault::point("before-archive").map_err(fail)?;
        let mut archived = 0;
        for record in &batch.extra {
            self.archive.append(record)?;
            archived += record.len();
        }
        for FinishedVisit { visit, records, .. } in &mut batch.visits {
            visit.warc = None;
            for record in records {
                let place = self.archive.append(record)?;
                if !record.beside {
                    visit.warc = Some(place);
                }
                archived += record.len();
            }
            if visit.kept.is_some() {
                visit.warc.clone_from(&visit.kept);
            }
        }
        fault::point("after-archive").map_err(fail)?;
        self.archive.flush()?;
        fault::point("after-flush").map_err(fail)?;
        Ok(archived)
    }

    fn recover_index(&mut self) -> Result<()> {
        match &self.truth {
            Truth::Here(catalogue) => self.index.recover(catalogue)?,
            // Its numbers have gaps, by which what is new cannot be told.
            Truth::There(there) => self.index.renew(&there.scratch)?,
        }
        self.index_behind = false;
        Ok(())
    }

    /// Closes everything cleanly.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// Shuts down cleanly: closes the archive's last file with its CDXJ file and checkpoints the
    /// catalogue's WAL. Nothing can be committed afterwards; may be retried after a failure.
    pub fn finish(&mut self) -> Result<()> {
        self.keys.as_mut().map_or(Ok(()), KeyFollower::finish)?;
        // Every commit is on the disk, in the log: none of the three waits for another.
        let Self { truth, archive, index, .. } = self;
        let catalogue = truth.catalogue_mut();
        std::thread::scope(|scope| {
            let moving = scope.spawn(|| catalogue.checkpoint());
            let sealing = scope.spawn(|| archive.close());
            let closed = index.close();
            let done = [moving, sealing].map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            done.into_iter().chain([closed]).collect()
        })
    }
}

impl Truth {
    fn catalogue(&self) -> &Catalogue {
        match self {
            Self::Here(catalogue) => catalogue,
            Self::There(there) => &there.scratch,
        }
    }

    fn catalogue_mut(&mut self) -> &mut Catalogue {
        match self {
            Self::Here(catalogue) => catalogue,
            Self::There(there) => &mut there.scratch,
        }
    }
}

/// The numbers that come after those recorded.
fn next_numbers(catalogue: &Catalogue) -> IdAllocator {
    IdAllocator::from(catalogue.next_page_id(), catalogue.next_host_id())
}

/// Records that somebody has looked at the changes of a run.
pub fn acknowledge(dir: &ProjectDir, run: RunId, by: Option<&str>, note: Option<&str>) -> Result<()> {
    let _lock = ProjectLock::take(dir)?;
    Catalogue::create_or_open(&dir.catalogue())?.acknowledge(run, by, note)
}

/// A project with an archive had a catalogue once: creating another would orphan the archive.
fn catalogue_is_there(dir: &ProjectDir) -> Result<()> {
    let path = dir.catalogue();
    if std::fs::metadata(&path).is_ok_and(|meta| meta.len() > 0) {
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(dir.archive()) else { return Ok(()) };
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    match names.find(|name| is_ours(&dir.name, name).is_some()) {
        Some(name) => Err(StoreError::damaged(&path, format!("it is missing or empty, and the archive holds {name}"))),
        None => Ok(()),
    }
}
