//! When is the WAL checkpointed?
//!
//! Checkpoints the WAL on a background thread, so that no commit pays for it. SQLite's automatic
//! checkpoint would run in the commit that finds the WAL long, and the crawl would stall for as
//! long as the disk takes. The thread copies pages while commits continue; the few that these add
//! meanwhile are copied after one of them, so that the next can restart the WAL from its beginning.
//! What cannot be checkpointed, because a reader holds an old snapshot or the disk is full, is safe
//! in the WAL, and is retried.

use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

/// Pages of a WAL that counts as long: 128 MB. Pages that many commits change, above all those of
/// the visits' index, are then copied once for all of them.
const LONG: usize = 32_000;

/// The WAL of the only writing connection.
pub(super) struct Log {
    path: PathBuf,
    /// Number of pages after the last commit.
    pages: Arc<AtomicUsize>,
    /// Number of pages at which the next checkpoint starts.
    next: usize,
    long: usize,
    mover: Option<Mover>,
}

/// The checkpoint thread, once it was needed.
struct Mover {
    /// Wakes it; dropping it ends the thread.
    wake: Option<Sender<()>>,
    done: Receiver<()>,
    is_moving: bool,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Takes over from SQLite's automatic checkpoints.
    pub(super) fn of(db: &mut Connection, path: &Path) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&pages);
        db.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
        db.wal_hook(Some(move |_: &mut Wal, pages| {
            counted.store(usize::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { path: path.to_owned(), pages, next: LONG, long: LONG, mover: None })
    }

    /// Manages the WAL after a commit.
    pub(super) fn tend(&mut self, db: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.long {
            self.next = self.long;
        }
        match self.mover.as_mut().filter(|mover| mover.is_moving).map(Mover::is_done) {
            Some(true) => self.end(db),
            None if pages >= self.next => self.begin(db),
            Some(false) | None => {}
        }
    }

    /// Starts a background checkpoint, unless one is running; runs it here and now if no thread is
    /// available.
    pub(super) fn begin(&mut self, db: &Connection) {
        if self.mover.as_ref().is_some_and(|mover| mover.is_moving) {
            return;
        }
        if self.mover.is_none() {
            self.mover = Mover::start(&self.path).ok();
        }
        if !self.mover.as_mut().is_some_and(Mover::begin) {
            self.end(db);
        }
    }

    /// Checkpoints the rest: what was added during the background checkpoint.
    fn end(&mut self, db: &Connection) {
        move_pages(db);
        // If the WAL does not restart, there is no point in trying after every commit.
        self.next = self.pages.load(Ordering::Relaxed) + self.long / 4;
    }

    /// Waits until no checkpoint is running.
    pub(super) fn rest(&mut self) {
        if let Some(mover) = self.mover.as_mut().filter(|mover| mover.is_moving) {
            let _ = mover.done.recv();
            mover.is_moving = false;
        }
    }
}

impl Mover {
    fn start(path: &Path) -> std::io::Result<Self> {
        let (wake, work) = channel();
        let (tell, done) = channel();
        let path = path.to_owned();
        let run = move || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            for () in work {
                if let Ok(db) = Connection::open_with_flags(&path, flags) {
                    move_pages(&db);
                }
                let _ = tell.send(());
            }
        };
        let thread = std::thread::Builder::new().name("log".to_owned()).spawn(run)?;
        Ok(Self { wake: Some(wake), done, is_moving: false, thread: Some(thread) })
    }

    fn begin(&mut self) -> bool {
        self.is_moving = self.wake.as_ref().is_some_and(|wake| wake.send(()).is_ok());
        self.is_moving
    }

    /// Whether it has finished its task.
    fn is_done(&mut self) -> bool {
        self.is_moving = self.done.try_recv() == Err(TryRecvError::Empty);
        !self.is_moving
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Checkpoints what is possible without blocking readers or writers. SQLite itself does not report
/// what was left.
fn move_pages(db: &Connection) {
    let _ = db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database whose WAL is long at 40 pages.
    fn database(dir: &Path) -> (Connection, Log) {
        let path = dir.join("a.db");
        let mut db = Connection::open(&path).unwrap();
        db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
        db.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)").unwrap();
        let mut log = Log::of(&mut db, &path).unwrap();
        (log.long, log.next) = (40, 40);
        (db, log)
    }

    /// Commits a page and a half, and waits for the checkpoint it triggered.
    fn commit(db: &Connection, log: &mut Log) -> usize {
        db.execute("INSERT INTO t (b) VALUES (zeroblob(6000))", []).unwrap();
        log.tend(db);
        if log.mover.as_ref().is_some_and(|mover| mover.is_moving) {
            log.rest();
            log.end(db);
        }
        log.pages.load(Ordering::Relaxed)
    }

    #[test]
    fn a_log_begins_anew_when_it_was_long_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let (db, mut log) = database(dir.path());
        let longest = (0..300).map(|_| commit(&db, &mut log)).max().unwrap();
        assert!((40..60).contains(&longest), "{longest}");
        let moved = std::fs::metadata(dir.path().join("a.db")).unwrap().len();
        assert!(moved > 250 * 6_000, "{moved}");
        drop((log, db));
        let db = Connection::open(dir.path().join("a.db")).unwrap();
        let count = |sql: &str| db.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
        assert_eq!((count("SELECT count(*) FROM t"), count("SELECT sum(length(b)) FROM t")), (300, 300 * 6_000));
    }

    #[test]
    fn a_log_that_somebody_reads_from_goes_on_and_begins_anew_when_they_are_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (db, mut log) = database(dir.path());
        commit(&db, &mut log);
        let mut reader = Connection::open(dir.path().join("a.db")).unwrap();
        let reading = reader.transaction().unwrap();
        let count = || reading.query_row("SELECT count(*) FROM t", [], |r| r.get::<_, i64>(0)).unwrap();
        assert_eq!(count(), 1);
        let longest = (0..100).map(|_| commit(&db, &mut log)).max().unwrap();
        assert!(longest > 200, "{longest}");
        assert_eq!(count(), 1);
        drop(reading);
        let shortest = (0..20).map(|_| commit(&db, &mut log)).min().unwrap();
        assert!(shortest < 10, "{shortest}");
    }
}
