//! How does a shared project become a local one?
//!
//! First the facts, as they were in one snapshot, then the bytes they name, then one commit: until
//! then the copy is what it was before. The first time its catalogue has another name until it is
//! whole. What is whole of the bytes stays, so that a copy that was interrupted goes on there.

use super::SharedProject;
use super::copied::{CopyMark, CopyOrigin};
use super::copying::{CopiedRows, StoreMoment};
use super::fetching::{FetchedFiles, fetch, forget};
use super::objects::ObjectArchive;
use crate::error::{Result, StoreError};
use crate::fault;
use crate::home::{ProjectDir, ProjectLock};
use crate::keys::{KeyFollower, KeyTable};
use crate::replace::{replace, sync_dir};
use crate::sqlite::Catalogue;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What has become of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyChange {
    /// It was made.
    Made,
    /// It was brought up to date.
    Updated,
    /// Everything was copied again: the store has another history than it had.
    Replaced,
    /// There was nothing new.
    Unchanged,
}

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PulledCopy {
    /// What has become of the copy.
    pub change: CopyChange,
    /// How many pages it has.
    pub pages: u64,
    /// How many visits.
    pub visits: u64,
    /// How many links.
    pub links: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many archive files were copied.
    pub files: u64,
    /// How many bytes these have.
    pub bytes: u64,
}

impl SharedProject {
    /// Makes a directory a copy of the project, or brings the copy that it is up to date, with or
    /// without the archive. Nothing else is overwritten.
    pub fn pull(&mut self, dir: &ProjectDir, bytes: bool) -> Result<PulledCopy> {
        fs::create_dir_all(&dir.dir).map_err(|e| StoreError::io("make", &dir.dir, e))?;
        // Who reads a copy refreshes it first: they wait for each other.
        let _turn = take_turn(dir)?;
        CopyOrigin::at(&self.address, &self.name)?.claim(dir)?;
        let _lock = ProjectLock::take(dir)?;
        let fresh = !dir.catalogue().exists();
        let path = if fresh { unfinished(dir)? } else { dir.catalogue() };
        let mut catalogue = Catalogue::create_or_open(&path)?;
        let mark = last_mark(&catalogue, dir)?;
        let archive = if bytes { Some(ObjectArchive::open(&self.address, &self.name)?) } else { None };
        catalogue.begin_load()?;
        let copied = self.copy_into(&mut catalogue, dir, (mark, archive.as_ref()));
        let (pulled, settings, first_new) = match copied {
            Ok(copied) => copied,
            Err(e) => return catalogue.abort_load().and(Err(e)),
        };
        if fresh {
            catalogue.checkpoint()?;
            drop(catalogue);
            name_it(&path, dir)?;
            catalogue = Catalogue::create_or_open(&dir.catalogue())?;
        }
        if fs::read_to_string(dir.settings()).ok().as_ref() != Some(&settings) {
            replace(&dir.settings(), settings.as_bytes(), ["settings-written", "settings-kept"])?;
        }
        index_urls(dir, &catalogue, first_new)?;
        if bytes {
            forget(&catalogue, dir)?;
        }
        let change = if fresh { CopyChange::Made } else { pulled.change };
        Ok(PulledCopy { change, ..pulled })
    }

    /// Copies what is new and commits it; with the settings, and the first page that is new.
    fn copy_into(
        &mut self,
        catalogue: &mut Catalogue,
        dir: &ProjectDir,
        (mark, archive): (Option<CopyMark>, Option<&ObjectArchive>),
    ) -> Result<(PulledCopy, String, Option<u64>)> {
        let none = BTreeMap::new();
        let before = mark.as_ref().map_or(&none, |mark| &mark.rows);
        let (now, copied, change) = self.with(|line| {
            let now = StoreMoment::begin(line)?;
            let same = mark.as_ref().filter(|mark| is_later(&now, mark));
            let copied = match same {
                Some(mark) if (mark.horizon, mark.end) == (mark.end, now.end) => None,
                _ => Some(CopiedRows::copy(line, catalogue, (&now, same.map(|mark| mark.horizon)), before)?),
            };
            line.run("copy rows", "COMMIT")?;
            let change = match (&copied, same) {
                (None, _) => CopyChange::Unchanged,
                (Some(copied), Some(_)) if copied.read == 0 && copied.rows == *before => CopyChange::Unchanged,
                (Some(_), Some(_)) => CopyChange::Updated,
                (Some(_), None) => CopyChange::Replaced,
            };
            Ok((now, copied, change))
        })?;
        let files = archive.map_or(Ok(FetchedFiles::default()), |archive| fetch(archive, catalogue, dir))?;
        let (read, first_new) = copied.as_ref().map_or((0, None), |copied| (copied.read, copied.first_new));
        let rows = copied.map_or_else(|| before.clone(), |copied| copied.rows);
        let of = |table: &str| rows.get(table).copied().unwrap_or(0);
        let pulled = PulledCopy {
            change,
            pages: of("page_row"),
            visits: of("visit_row"),
            links: of("link_row"),
            rows: read,
            files: files.files,
            bytes: files.bytes,
        };
        fault::point("before-copy-commit").map_err(|e| StoreError::io("copy", catalogue.path(), e))?;
        if change == CopyChange::Unchanged && mark.is_some_and(|mark| mark.rows == rows) {
            catalogue.abort_load()?;
        } else {
            let batch = catalogue.next_batch();
            let (horizon, end) = if now.numbered { (now.horizon, now.end) } else { (0, i64::MAX) };
            let mark = CopyMark { made_at: now.made_at, history: now.history, horizon, end, batch, rows };
            catalogue.keep_note(&serde_json::to_string(&mark).unwrap_or_default())?;
            catalogue.end_copy(batch)?;
        }
        fault::point("after-copy-commit").map_err(|e| StoreError::io("copy", catalogue.path(), e))?;
        Ok((pulled, now.settings, first_new))
    }
}

/// Whether what the mark says still holds, so that what is new since can be told.
fn is_later(now: &StoreMoment, mark: &CopyMark) -> bool {
    now.numbered
        && (now.made_at, &now.history) == (mark.made_at, &mark.history)
        && mark.horizon > 0
        && (0..1 << 31).contains(&(now.end - mark.horizon))
}

/// Waits until nobody else brings the copy up to date.
pub(super) fn take_turn(dir: &ProjectDir) -> Result<File> {
    let path = dir.dir.join("copy.lock");
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let taken = file.and_then(|file| file.lock().map(|()| file));
    taken.map_err(|e| StoreError::io("lock", &path, e))
}

/// Where a first copy is made; what an interrupted one has left there is removed.
fn unfinished(dir: &ProjectDir) -> Result<PathBuf> {
    let path = dir.dir.join("crawl.db.copying");
    for left in [path.clone(), dir.dir.join("crawl.db.copying-wal"), dir.dir.join("crawl.db.copying-shm")] {
        match fs::remove_file(&left) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::io("remove", &left, e)),
            _ => {}
        }
    }
    Ok(path)
}

/// Gives a whole copy its name.
fn name_it(path: &Path, dir: &ProjectDir) -> Result<()> {
    let fail = |e| StoreError::io("rename", path, e);
    if fs::metadata(path.with_extension("copying-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(StoreError::damaged(path, "its log could not be moved into it"));
    }
    File::open(path).and_then(|file| file.sync_all()).map_err(fail)?;
    fault::point("before-copy-named").map_err(fail)?;
    fs::rename(path, dir.catalogue()).map_err(fail)?;
    fault::point("after-copy-named").map_err(fail)?;
    sync_dir(&dir.dir)
}

/// The refusal to overwrite a project that is no copy.
pub(super) fn its_own(dir: &ProjectDir) -> StoreError {
    let name = &dir.name;
    StoreError::Shared(format!(
        "there is a project {name} of its own, which is not overwritten: choose another name with --as"
    ))
}

/// What was copied last; refuses a copy that somebody has worked on.
fn last_mark(catalogue: &Catalogue, dir: &ProjectDir) -> Result<Option<CopyMark>> {
    let Some(note) = catalogue.note()? else {
        // Somebody has crawled into the place of a copy that was never complete.
        return if dir.catalogue().exists() { Err(its_own(dir)) } else { Ok(None) };
    };
    let mark: CopyMark = serde_json::from_str(&note)
        .map_err(|e| StoreError::damaged(&dir.catalogue(), format!("it does not say what was copied: {e}")))?;
    if mark.batch == catalogue.last_batch() {
        return Ok(Some(mark));
    }
    Err(StoreError::Shared(format!(
        "project {} was a copy and has been crawled since: choose another name with --as",
        dir.name
    )))
}

/// Brings the table of URL keys up to date. Runs with pages that were added in their midst, where
/// one of several workers has filled its block of numbers, are made again.
fn index_urls(dir: &ProjectDir, catalogue: &Catalogue, first_new: Option<u64>) -> Result<()> {
    if catalogue.next_page_id().0 <= 1 {
        return Ok(());
    }
    if let Some(first) = first_new {
        let (mut table, _) = KeyTable::open(&dir.keys())?;
        let outdated: Vec<PathBuf> =
            table.runs().iter().filter(|run| run.span.last >= first).map(|run| run.path().to_owned()).collect();
        outdated.iter().try_for_each(|path| table.discard(path))?;
    }
    fs::create_dir_all(dir.keys()).map_err(|e| StoreError::io("make", &dir.keys(), e))?;
    KeyFollower::open(&dir.keys(), catalogue)?.finish()
}
