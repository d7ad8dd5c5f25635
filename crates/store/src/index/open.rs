//! Does the index match the catalogue, and if not, how does it get there?

use super::ahead::Ahead;
use super::intact::{self, Condition};
use super::layout::{FOLDED, IndexMark, MARK, QueueKey, count_range, parse_number, parse_queue_key};
use super::lengths::Lengths;
use super::spaces::{Spaces, open_spaces};
use super::waiting::QueueChanges;
use super::{FrontierIndex, IndexShared, KnownKeys, QueueState, fold, lock, warm, write};
use crate::error::{Result, StoreError};
use crate::fault;
use crate::sqlite::{Catalogue, PageReader, Touched};
use fjall::{Keyspace, PersistMode};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, RwLock};

/// Default memory for known keys.
const MEMORY: u64 = 800_000_000;

/// What had to be done to the index when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexStart {
    /// It was up to date.
    Current,
    /// It was created for a new project.
    Fresh,
    /// It was behind by this many batches and has caught up.
    CaughtUp(u64),
    /// It did not match the catalogue and was rebuilt, for this reason.
    Rebuilt(IndexDefect),
}

/// Why an index is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexDefect {
    /// It does not exist.
    Missing,
    /// It cannot be read, or does not agree with itself.
    Damaged,
    /// Its first build was interrupted.
    Unfinished,
    /// It knows batches that the catalogue does not.
    Ahead,
    /// The catalogue no longer knows what it lacks.
    TooFarBehind,
}

impl std::fmt::Display for IndexDefect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Missing => "it is missing",
            Self::Damaged => "it is damaged",
            Self::Unfinished => "it was never finished",
            Self::Ahead => "it is ahead of the catalogue",
            Self::TooFarBehind => "it is too far behind",
        })
    }
}

/// How the index relates to the catalogue.
pub(crate) enum IndexFreshness {
    /// It is up to date.
    Current(FrontierIndex),
    /// It is behind by this many batches and can catch up.
    Behind(u64),
    /// It is unusable, for this reason.
    Unfit(IndexDefect),
}

/// What is there before anything is done to it.
enum IndexOnDisk {
    /// An index that lacks this many batches, and what was touched since its last fold.
    Fit(FrontierIndex, u64, Touched),
    /// Nothing usable, for this reason.
    Unfit(IndexDefect),
}

impl FrontierIndex {
    /// Examines the index without changing it.
    pub(crate) fn look(dir: &Path, catalogue: &Catalogue) -> Result<IndexFreshness> {
        if !dir.exists() {
            return Ok(IndexFreshness::Unfit(IndexDefect::Missing));
        }
        match Self::find(dir, catalogue) {
            Ok(IndexOnDisk::Fit(index, 0, touched)) => {
                index.load()?;
                index.follow(catalogue, &touched, false)?;
                Ok(IndexFreshness::Current(index))
            }
            Ok(IndexOnDisk::Fit(_, batches, _)) => Ok(IndexFreshness::Behind(batches)),
            Ok(IndexOnDisk::Unfit(reason)) => Ok(IndexFreshness::Unfit(reason)),
            Err(StoreError::Index { .. } | StoreError::Damaged { .. }) => {
                Ok(IndexFreshness::Unfit(IndexDefect::Damaged))
            }
            Err(e) => Err(e),
        }
    }

    /// Opens the index in `dir` and brings it up to date with the catalogue; it is rebuilt if it is
    /// missing, damaged, ahead or too far behind.
    pub(crate) fn open(dir: &Path, catalogue: &Catalogue) -> Result<(Self, IndexStart)> {
        let reason = match Self::try_open(dir, catalogue) {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(reason)) => reason,
            Err(e @ StoreError::NoSpace { .. }) => return Err(e),
            Err(StoreError::Io { what, path, source }) => return Err(StoreError::Io { what, path, source }),
            Err(StoreError::Sql { what, path, source }) => return Err(StoreError::Sql { what, path, source }),
            Err(_) => IndexDefect::Damaged,
        };
        wipe(dir)?;
        let index = Self::assemble(dir, open_spaces(dir)?, IndexMark::default(), catalogue)?;
        index.rebuild(catalogue)?;
        index.load()?;
        Ok((index, IndexStart::Rebuilt(reason)))
    }

    /// The index if it is usable, otherwise why it is not.
    fn try_open(dir: &Path, catalogue: &Catalogue) -> Result<std::result::Result<(Self, IndexStart), IndexDefect>> {
        let (index, batches, touched) = match Self::find(dir, catalogue)? {
            IndexOnDisk::Unfit(reason) => return Ok(Err(reason)),
            IndexOnDisk::Fit(index, batches, touched) => (index, batches, touched),
        };
        index.load()?;
        index.follow(catalogue, &touched, batches > 0)?;
        let start = match batches {
            0 if catalogue.watermark().no == 0 => IndexStart::Fresh,
            0 => IndexStart::Current,
            batches => IndexStart::CaughtUp(batches),
        };
        Ok(Ok((index, start)))
    }

    /// Opens the index as it is and compares marks.
    fn find(dir: &Path, catalogue: &Catalogue) -> Result<IndexOnDisk> {
        let missing = !dir.exists();
        let condition = if missing { Condition::Unknown } else { intact::examine(dir)? };
        if condition == Condition::Changed || beside(dir, "suspect").exists() {
            return Ok(IndexOnDisk::Unfit(IndexDefect::Damaged));
        }
        let spaces = open_caught(dir)?;
        let read = || intact::read_through(&spaces).map_err(|e| StoreError::index("read", dir, e));
        if condition == Condition::Unknown && !read()? {
            return Ok(IndexOnDisk::Unfit(IndexDefect::Damaged));
        }
        let (hosts, folded) = marks(dir, &spaces)?;
        let goal = catalogue.watermark();
        let done = match hosts {
            Some(mark) => mark.watermark,
            None if goal.no == 0 => goal,
            None if missing => return Ok(IndexOnDisk::Unfit(IndexDefect::Missing)),
            None => return Ok(IndexOnDisk::Unfit(IndexDefect::Unfinished)),
        };
        if done.no > goal.no {
            return Ok(IndexOnDisk::Unfit(IndexDefect::Ahead));
        }
        let folded = folded.unwrap_or_default();
        if folded.watermark.no > done.no {
            return Ok(IndexOnDisk::Unfit(IndexDefect::Damaged));
        }
        let facts = catalogue.facts();
        let follows = done == goal || facts.touched_since(done)?.is_some();
        match facts.touched_since(folded.watermark)?.filter(|_| follows) {
            Some(touched) => {
                Ok(IndexOnDisk::Fit(Self::assemble(dir, spaces, folded, catalogue)?, goal.no - done.no, touched))
            }
            None => Ok(IndexOnDisk::Unfit(IndexDefect::TooFarBehind)),
        }
    }

    fn assemble(dir: &Path, spaces: Spaces, folded: IndexMark, catalogue: &Catalogue) -> Result<Self> {
        let shared = IndexShared {
            dir: dir.to_owned(),
            spaces: RwLock::new(Some(spaces)),
            state: Mutex::new(QueueState { mark: folded, folded, ..QueueState::default() }),
            seen: Mutex::new(KnownKeys::new()),
            digests: Mutex::new(KnownKeys::new()),
            names: Mutex::new(KnownKeys::new()),
            parked: Mutex::default(),
            waiting: RwLock::default(),
            ahead: Mutex::default(),
            pages: Mutex::new(Some(PageReader::open(catalogue.path())?)),
            fold_at: AtomicUsize::new(fold::ENTRIES),
        };
        let index = Self { shared: Arc::new(shared) };
        index.limit_memory(MEMORY);
        Ok(index)
    }

    /// Loads the state from the tree, discarding that in memory.
    fn load(&self) -> Result<()> {
        let spaces = self.spaces()?;
        let mut hosts = Lengths::default();
        for entry in spaces.queue.range(count_range()) {
            let (key, value) = entry.into_inner().map_err(self.fail("read the queues"))?;
            let host = QueueKey::try_from(&*key).ok().and_then(|place| u32::try_from(parse_queue_key(&place).1).ok());
            let (host, count) =
                host.zip(parse_number(&value)).ok_or_else(|| self.damaged("a queue's length cannot be read"))?;
            hosts.load(host, count);
        }
        {
            let mut waiting = write(&self.shared.waiting);
            *waiting = QueueChanges::default();
            *lock(&self.shared.ahead) = Ahead::default();
        }
        {
            let mut state = lock(&self.shared.state);
            let folded = state.folded;
            *state = QueueState { mark: folded, folded, hosts, ..QueueState::default() };
        }
        self.load_parked(&spaces)?;
        self.cool();
        self.warm(warm::FIRST)
    }

    /// Closes and reopens the database, for when it refuses writes after a full disk; then catches
    /// up, or rebuilds.
    pub(crate) fn recover(&self, catalogue: &Catalogue) -> Result<()> {
        let folded = self.reopen(false)?;
        if let Some(touched) = catalogue.facts().touched_since(folded.watermark)? {
            lock(&self.shared.state).folded = folded;
            self.load()?;
            return self.follow(catalogue, &touched, true);
        }
        self.reopen(true)?;
        self.rebuild(catalogue)?;
        self.load()
    }

    /// Empties the index and fills it from the catalogue.
    pub(crate) fn renew(&self, catalogue: &Catalogue) -> Result<()> {
        self.reopen(true)?;
        self.rebuild(catalogue)?;
        self.load()
    }

    /// Reopens the database, optionally emptied; returns how far it was folded.
    fn reopen(&self, emptied: bool) -> Result<IndexMark> {
        let dir = &self.shared.dir;
        let mut spaces = write(&self.shared.spaces);
        // The old database releases its directory only when its last handle is dropped.
        *spaces = None;
        if emptied {
            wipe(dir)?;
        }
        let opened = open_spaces(dir)?;
        let (_, folded) = marks(dir, &opened)?;
        *spaces = Some(opened);
        Ok(folded.unwrap_or_default())
    }

    /// Syncs everything and closes the database for all handles.
    pub(crate) fn close(&self) -> Result<()> {
        if self.is_open() {
            self.fold()?;
        }
        self.shut()
    }

    fn is_open(&self) -> bool {
        super::read(&self.shared.spaces).is_some()
    }

    /// Closes the database for all handles as it is, leaving its fingerprint.
    pub(crate) fn shut(&self) -> Result<()> {
        *lock(&self.shared.pages) = None;
        let mut spaces = write(&self.shared.spaces);
        let dir = &self.shared.dir;
        if let Some(open) = &*spaces {
            fault::point("before-index-closes").map_err(|e| StoreError::io("close", dir, e))?;
            open.db.persist(PersistMode::SyncAll).map_err(self.fail("write"))?;
            *spaces = None;
            fault::point("before-fingerprint").map_err(|e| StoreError::io("close", dir, e))?;
            intact::leave(dir)?;
            fault::point("after-fingerprint").map_err(|e| StoreError::io("close", dir, e))?;
        }
        Ok(())
    }
}

/// The marks of hosts and queues.
fn marks(dir: &Path, spaces: &Spaces) -> Result<(Option<IndexMark>, Option<IndexMark>)> {
    let read = |space: &Keyspace, key: &[u8]| match space.get(key) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => match IndexMark::decode(&bytes) {
            Some(mark) => Ok(Some(mark)),
            None => Err(StoreError::damaged(dir, "the watermark cannot be read")),
        },
        Err(e) => Err(StoreError::index("read the watermark", dir, e)),
    };
    Ok((read(&spaces.host, MARK)?, read(&spaces.queue, &FOLDED)?))
}

/// Opens a database in unknown condition: it may even panic.
fn open_caught(dir: &Path) -> Result<Spaces> {
    let opened = catch_unwind(AssertUnwindSafe(|| open_spaces(dir)));
    opened.unwrap_or_else(|_| Err(StoreError::damaged(dir, "it cannot be opened")))
}

/// A file beside the index: the presence of `suspect` says that reading has failed; `intact` holds
/// a fingerprint.
pub(super) fn beside(dir: &Path, what: &str) -> PathBuf {
    dir.with_extension(what)
}

/// Records that reading the index has failed: it is rebuilt when it is opened next.
pub(super) fn suspect(dir: &Path) {
    // Best effort: the failure itself is reported by the caller.
    let _ = fs::write(beside(dir, "suspect"), b"reading the index failed; it is rebuilt at the next start\n");
}

fn wipe(dir: &Path) -> Result<()> {
    let there = |e: &io::Error| e.kind() != io::ErrorKind::NotFound;
    fault::point("before-wipe").map_err(|e| StoreError::io("remove", dir, e))?;
    fs::remove_dir_all(dir)
        .or_else(|e| if there(&e) { Err(e) } else { Ok(()) })
        .map_err(|e| StoreError::io("remove", dir, e))?;
    for file in [beside(dir, "suspect"), beside(dir, "intact")] {
        fs::remove_file(&file)
            .or_else(|e| if there(&e) { Err(e) } else { Ok(()) })
            .map_err(|e| StoreError::io("remove", &file, e))?;
    }
    fault::point("after-wipe").map_err(|e| StoreError::io("remove", dir, e))
}
