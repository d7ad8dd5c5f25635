//! How does a new graph replace the old one?
//!
//! It is built in a directory beside the old one, and the two are exchanged atomically (`renameat2`
//! with `RENAME_EXCHANGE`). A process killed at any moment leaves either the old graph or the new
//! one, and a reader always finds a complete graph. A file lock, which the kernel releases however
//! its holder ends, excludes concurrent builds; the next build removes what a killed one left
//! behind.

use crate::error::{GraphError, Result};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A graph's directory, locked for building.
#[derive(Debug)]
pub(crate) struct BuildDirectory {
    dir: PathBuf,
    new: PathBuf,
    old: PathBuf,
    settled: bool,
    _lock: Hold,
}

/// A path beside the graph's directory.
fn beside(dir: &Path, ending: &str) -> PathBuf {
    let mut name = dir.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    dir.with_file_name(name)
}

/// An exclusive lock on a graph's directory, until dropped.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "its lock ends with it")] File);

impl Hold {
    /// Takes the lock; fails if another process holds it.
    pub fn take(dir: &Path) -> Result<Self> {
        let path = beside(dir, ".lock");
        let open = File::options().create(true).append(true).open(&path);
        let lock = open.map_err(GraphError::io("open", &path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self(lock)),
            Err(TryLockError::WouldBlock) => Err(GraphError::Busy { dir: dir.to_owned() }),
            Err(TryLockError::Error(e)) => Err(GraphError::io("lock", &path)(e)),
        }
    }
}

impl BuildDirectory {
    /// Locks the directory and removes left-overs.
    pub(crate) fn take(dir: &Path) -> Result<Self> {
        let lock = Hold::take(dir)?;
        let (new, old) = (beside(dir, ".new"), beside(dir, ".old"));
        let place = Self { dir: dir.to_owned(), new, old, settled: false, _lock: lock };
        place.restore()?;
        remove(&place.new)?;
        remove(&place.old)?;
        fs::create_dir(&place.new).map_err(GraphError::io("make", &place.new))?;
        Ok(place)
    }

    /// Restores a graph that a two-step exchange moved aside but never replaced.
    fn restore(&self) -> Result<()> {
        if self.dir.exists() || !self.old.exists() {
            return Ok(());
        }
        fs::rename(&self.old, &self.dir).map_err(GraphError::io("move", &self.old))
    }

    /// Where the new graph is built.
    pub(crate) fn new_dir(&self) -> &Path {
        &self.new
    }

    /// Moves the new, fully synced graph into place.
    pub(crate) fn settle(mut self) -> Result<()> {
        sync(&self.new)?;
        let fail = GraphError::io("replace", &self.dir);
        if self.dir.exists() {
            match renameat_with(CWD, &self.new, CWD, &self.dir, RenameFlags::EXCHANGE) {
                Ok(()) => {}
                // Not every file system supports the exchange.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    fs::rename(&self.dir, &self.old).map_err(&fail)?;
                    fs::rename(&self.new, &self.dir).map_err(&fail)?;
                }
                Err(e) => return Err(fail(e.into())),
            }
        } else {
            fs::rename(&self.new, &self.dir).map_err(&fail)?;
        }
        self.settled = true;
        if let Some(parent) = self.dir.parent() {
            sync(parent)?;
        }
        remove(&self.new)?;
        remove(&self.old)
    }
}

impl Drop for BuildDirectory {
    /// A failed build leaves nothing behind, least of all on a full disk.
    fn drop(&mut self) {
        if !self.settled {
            let _ = remove(&self.new);
        }
    }
}

/// Syncs a file or directory.
pub(crate) fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(GraphError::io("write", path))
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GraphError::io("remove", dir)(e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(dir: &Path, text: &str) {
        let place = BuildDirectory::take(dir).unwrap();
        fs::write(place.new_dir().join("web"), text).unwrap();
        place.settle().unwrap();
    }

    #[test]
    fn a_new_graph_takes_the_place_and_leaves_nothing_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("graph");
        for text in ["one", "two"] {
            build(&dir, text);
            assert_eq!(fs::read_to_string(dir.join("web")).unwrap(), text);
            let mut names: Vec<_> = fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, ["graph", "graph.lock"]);
        }
    }

    #[test]
    fn one_process_builds_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("graph");
        let first = BuildDirectory::take(&dir).unwrap();
        assert!(matches!(BuildDirectory::take(&dir), Err(GraphError::Busy { .. })));
        drop(first);
        BuildDirectory::take(&dir).unwrap();
    }

    #[test]
    fn what_a_killed_build_left_is_swept_and_a_graph_set_aside_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("graph");
        build(&dir, "one");
        fs::create_dir(home.path().join("graph.new")).unwrap();
        fs::write(home.path().join("graph.new/half"), "x").unwrap();
        fs::rename(&dir, home.path().join("graph.old")).unwrap();
        let place = BuildDirectory::take(&dir).unwrap();
        assert_eq!(fs::read_to_string(dir.join("web")).unwrap(), "one");
        assert_eq!(fs::read_dir(place.new_dir()).unwrap().count(), 0);
    }
}
