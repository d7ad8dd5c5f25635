//! Does the index fit the catalogue, and if not, how does it get there?

use super::intact::{self, Condition};
use super::layout::{MARK, Mark, PENDING, parse_number, slot_host};
use super::spaces::{Spaces, open_spaces};
use super::table::KeyTable;
use super::{FrontierIndex, Pending, Shared, State, letter_range, lock};
use crate::error::{Result, StoreError};
use crate::fault;
use crate::sqlite::{Catalogue, Touched};
use fjall::PersistMode;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Memory for known keys, unless said otherwise.
const MEMORY: u64 = 800_000_000;

/// Why an index is of no use that knows of batches the catalogue does not.
pub(crate) const AHEAD: &str = "it was ahead of the catalogue";

/// What had to be done to the index when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexStart {
    /// It was up to date.
    Current,
    /// It was made for a new project.
    Fresh,
    /// It was behind by this many batches and has caught up.
    CaughtUp(u64),
    /// It did not fit the catalogue and was rebuilt, for this reason.
    Rebuilt(&'static str),
}

/// How the index stands to the catalogue.
pub(crate) enum Standing {
    /// It is where the catalogue is.
    Current(FrontierIndex),
    /// It is behind by this many batches and can catch up.
    Behind(FrontierIndex, u64, Touched),
    /// It is of no use, for this reason.
    Unfit(&'static str),
}

impl FrontierIndex {
    /// Looks how the index stands without changing it.
    pub(crate) fn look(dir: &Path, catalogue: &Catalogue) -> Result<Standing> {
        if !dir.exists() {
            return Ok(Standing::Unfit("it is missing"));
        }
        match Self::stand(dir, catalogue) {
            Ok(Standing::Current(index)) => {
                index.load()?;
                Ok(Standing::Current(index))
            }
            Ok(standing) => Ok(standing),
            Err(StoreError::Index { .. } | StoreError::Damaged { .. }) => Ok(Standing::Unfit("it is damaged")),
            Err(e) => Err(e),
        }
    }

    /// Opens the index in `dir` and brings it to where the catalogue is; it is rebuilt when it is missing, damaged, ahead or too far behind.
    pub fn open(dir: &Path, catalogue: &Catalogue) -> Result<(Self, IndexStart)> {
        let reason = match Self::try_open(dir, catalogue) {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(reason)) => reason,
            Err(e @ StoreError::NoSpace { .. }) => return Err(e),
            Err(StoreError::Io { what, path, source }) => return Err(StoreError::Io { what, path, source }),
            Err(StoreError::Sql { what, path, source }) => return Err(StoreError::Sql { what, path, source }),
            Err(_) => "it was damaged",
        };
        wipe(dir)?;
        let index = Self::assemble(dir, open_spaces(dir)?, Mark::default());
        index.rebuild(catalogue)?;
        index.load()?;
        Ok((index, IndexStart::Rebuilt(reason)))
    }

    /// The index if it can be used, else why it cannot.
    fn try_open(dir: &Path, catalogue: &Catalogue) -> Result<std::result::Result<(Self, IndexStart), &'static str>> {
        let fresh = catalogue.watermark().no == 0;
        match Self::stand(dir, catalogue)? {
            Standing::Unfit(reason) => Ok(Err(reason)),
            Standing::Current(index) => {
                index.load()?;
                Ok(Ok((index, if fresh { IndexStart::Fresh } else { IndexStart::Current })))
            }
            Standing::Behind(index, batches, touched) => {
                index.load()?;
                index.catch_up(catalogue, touched)?;
                Ok(Ok((index, IndexStart::CaughtUp(batches))))
            }
        }
    }

    /// Opens the index as it is and compares watermarks.
    fn stand(dir: &Path, catalogue: &Catalogue) -> Result<Standing> {
        let missing = !dir.exists();
        let condition = if missing { Condition::Unknown } else { intact::examine(dir)? };
        if condition == Condition::Changed || beside(dir, "suspect").exists() {
            return Ok(Standing::Unfit("it was damaged"));
        }
        let spaces = open_caught(dir)?;
        let read = || intact::read_through(&spaces).map_err(|e| StoreError::index("read", dir, e));
        if condition == Condition::Unknown && !read()? {
            return Ok(Standing::Unfit("it was damaged"));
        }
        let mark = spaces.host.get(MARK).map_err(|e| StoreError::index("read the watermark", dir, e))?;
        let goal = catalogue.watermark();
        let mark = match mark {
            Some(bytes) => {
                Mark::decode(&bytes).ok_or_else(|| StoreError::damaged(dir, "the watermark cannot be read"))?
            }
            None if goal.no == 0 => Mark { next_page: 1, next_host: 1, ..Mark::default() },
            None if missing => return Ok(Standing::Unfit("it was missing")),
            None => return Ok(Standing::Unfit("it was not finished")),
        };
        let done = mark.watermark;
        if done.no > goal.no {
            return Ok(Standing::Unfit(AHEAD));
        }
        let index = Self::assemble(dir, spaces, mark);
        if done == goal {
            return Ok(Standing::Current(index));
        }
        Ok(match catalogue.facts().touched_since(done)? {
            Some(touched) => Standing::Behind(index, goal.no - done.no, touched),
            None => Standing::Unfit("it was too far behind"),
        })
    }

    fn assemble(dir: &Path, spaces: Spaces, mark: Mark) -> Self {
        let shared = Shared {
            dir: dir.to_owned(),
            spaces: RwLock::new(Some(spaces)),
            state: Mutex::new(State { mark, ..State::default() }),
            seen: Mutex::new(KeyTable::new(0)),
            digests: Mutex::new(KeyTable::new(0)),
            names: Mutex::new(KeyTable::new(0)),
            parked: Mutex::default(),
        };
        let index = Self { shared: Arc::new(shared) };
        index.limit_memory(MEMORY);
        index
    }

    /// Reads the lengths of the queues, and begins to fill the tables.
    fn load(&self) -> Result<()> {
        let spaces = self.spaces()?;
        let mut hosts = std::collections::BTreeMap::new();
        let mut queued = 0u64;
        for entry in spaces.host.range::<Vec<u8>, _>(letter_range(PENDING)) {
            let (key, value) = entry.into_inner().map_err(self.fail("read the queues"))?;
            let (host, count) = slot_host(&key)
                .zip(parse_number(&value))
                .ok_or_else(|| self.damaged("a queue's length cannot be read"))?;
            queued += count;
            hosts.insert(host.0, Pending { count, front: (0, 0) });
        }
        {
            let mut state = lock(&self.shared.state);
            state.hosts = hosts;
            state.queued = queued;
            state.peeked.clear();
        }
        self.load_parked(&spaces)?;
        self.cool()?;
        self.warm()
    }

    /// Closes the database and opens it again, for when it refuses writes after a full disk; then catches up, or is made anew.
    pub(crate) fn recover(&self, catalogue: &Catalogue) -> Result<()> {
        let mark = self.reopen(false)?;
        if let Some(touched) = catalogue.facts().touched_since(mark.watermark)? {
            lock(&self.shared.state).mark = mark;
            self.load()?;
            return self.catch_up(catalogue, touched);
        }
        self.reopen(true)?;
        self.rebuild(catalogue)?;
        self.load()
    }

    /// Opens the database again, emptied if so wished; how far it has come.
    fn reopen(&self, emptied: bool) -> Result<Mark> {
        let dir = &self.shared.dir;
        let mut spaces = self.shared.spaces.write().unwrap_or_else(PoisonError::into_inner);
        // The old database lets go of its directory only when its last handle is gone.
        *spaces = None;
        if emptied {
            wipe(dir)?;
        }
        let opened = open_spaces(dir)?;
        let mark = opened.host.get(MARK).map_err(self.fail("read the watermark"))?;
        *spaces = Some(opened);
        Ok(mark.and_then(|bytes| Mark::decode(&bytes)).unwrap_or_default())
    }

    /// Hands everything to the disk and closes the database for all handles, leaving its fingerprint.
    pub(crate) fn close(&self) -> Result<()> {
        let mut spaces = self.shared.spaces.write().unwrap_or_else(PoisonError::into_inner);
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

/// Opens a database of which it is not known whether it is as it was left: it may refuse in any way.
fn open_caught(dir: &Path) -> Result<Spaces> {
    let opened = catch_unwind(AssertUnwindSafe(|| open_spaces(dir)));
    opened.unwrap_or_else(|_| Err(StoreError::damaged(dir, "it cannot be opened")))
}

/// A file beside the index: `suspect` says by its presence that reading has failed, `intact` holds a fingerprint.
pub(super) fn beside(dir: &Path, what: &str) -> PathBuf {
    dir.with_extension(what)
}

/// Notes that reading the index has failed: it is rebuilt when it is opened next.
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
