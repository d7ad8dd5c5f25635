//! Which projects are there, and who is using one?
//!
//! A home is one directory: `orb.db` lists its projects and holds the accounts of people, and each
//! project has its own directory. One process at a time uses a project, holding a lock on the file
//! `lock` in it; the kernel releases it however that process ends.

use crate::accounts::{self, Accounts};
use crate::error::{Result, StoreError};
use crate::fault;
use crate::sqlite::connect_bare;
use orb_page::Moment;
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The format of `orb.db` that this program writes.
const VERSION: i64 = 2;

/// A directory that holds everything stored on this machine.
#[derive(Debug)]
pub struct Home {
    dir: PathBuf,
    db: Connection,
}

/// A project's directory and the files in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectDir {
    /// The project's name.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
    /// When it was created.
    pub created_at: Moment,
}

impl ProjectDir {
    /// The settings as they run.
    pub fn settings(&self) -> PathBuf {
        self.dir.join("project.toml")
    }

    /// The catalogue.
    pub fn catalogue(&self) -> PathBuf {
        self.dir.join("crawl.db")
    }

    /// The archive files.
    pub fn archive(&self) -> PathBuf {
        self.dir.join("warc")
    }

    /// The frontier index.
    pub fn frontier(&self) -> PathBuf {
        self.dir.join("frontier")
    }

    /// The table of URL keys.
    pub fn keys(&self) -> PathBuf {
        self.dir.join("keys")
    }

    /// The web graph.
    pub fn graph(&self) -> PathBuf {
        self.dir.join("graph")
    }

    /// The text index.
    pub fn text_index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// Reports and logs of a run.
    pub fn run(&self, run: orb_page::RunId) -> PathBuf {
        self.dir.join("runs").join(run.0.to_string())
    }

    /// Whether nothing was ever collected.
    pub fn is_empty(&self) -> bool {
        !self.catalogue().exists()
    }
}

impl Home {
    /// Opens a home, creating it if there is none.
    pub fn open(dir: &Path) -> Result<Self> {
        let denied = |source| StoreError::NotWritable { path: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(denied)?;
        let path = dir.join("orb.db");
        // Check the file system first, since SQLite would only say that it cannot open the file.
        OpenOptions::new().append(true).create(true).open(&path).map_err(denied)?;
        let db = open_list(&path)?;
        Ok(Self { dir: dir.to_owned(), db })
    }

    /// Opens a home to see what is in it. One that was never made is empty, and is not made for
    /// this: a mistyped directory stays as it was. What may not be written to can still be read.
    pub fn look(dir: &Path) -> Result<Self> {
        let path = dir.join("orb.db");
        let is_made = path.exists();
        if is_made && OpenOptions::new().append(true).open(&path).is_err_and(|e| is_denied(&e)) {
            return Ok(Self { dir: dir.to_owned(), db: open_for_reading(&path)? });
        }
        if is_made || (dir.exists() && !dir.is_dir()) {
            return Self::open(dir);
        }
        Ok(Self { dir: dir.to_owned(), db: open_list(Path::new(":memory:"))? })
    }

    /// Removes a home that was created for nothing. Does nothing if it holds a project or any file
    /// that is not its own.
    pub fn discard_if_empty(self) {
        let Self { dir, db } = self;
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM project) AND NOT EXISTS (SELECT 1 FROM user)";
        let none: bool = db.query_row(sql, [], |r| r.get(0)).unwrap_or(false);
        // Closing the last connection removes the WAL.
        drop(db);
        let alone = fs::read_dir(&dir)
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "orb.db")));
        if none && alone {
            // An empty home left behind is harmless.
            let _ = fs::remove_file(dir.join("orb.db")).and_then(|()| fs::remove_dir(&dir));
        }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Who may use it.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts::new(&self.db, &self.dir)
    }

    /// A number that changes whenever another connection, of this process or any other, has
    /// written to the list of projects or to the accounts. What this connection writes does not
    /// change it.
    pub fn version(&self) -> Result<i64> {
        let read = || self.db.prepare_cached("PRAGMA data_version")?.query_row([], |r| r.get(0));
        read().map_err(|e| StoreError::sql("look for changes of", &self.dir.join("orb.db"), e))
    }

    /// The project with this name, created if there is none.
    pub fn project(&self, name: &str) -> Result<ProjectDir> {
        check_name(name)?;
        let fail = |e| StoreError::sql("list the project", &self.dir.join("orb.db"), e);
        self.db
            .execute("INSERT OR IGNORE INTO project (name, created_at) VALUES (?1, ?2)", params![name, Moment::now().0])
            .map_err(fail)?;
        let dir = self.dir.join(name);
        fs::create_dir_all(&dir).map_err(|e| StoreError::io("make", &dir, e))?;
        self.find(name)
    }

    /// The directory of a project that is being made and not listed yet.
    pub fn place(&self, name: &str) -> Result<ProjectDir> {
        check_name(name)?;
        let dir = self.dir.join(name);
        fs::create_dir_all(&dir).map_err(|e| StoreError::io("make", &dir, e))?;
        Ok(ProjectDir { name: name.to_owned(), dir, created_at: Moment::now() })
    }

    /// The project with this name, which must exist.
    pub fn find(&self, name: &str) -> Result<ProjectDir> {
        check_name(name)?;
        let sql = "SELECT created_at FROM project WHERE name = ?1";
        let created = self
            .db
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row([name], |r| r.get(0)).optional())
            .map_err(|e| StoreError::sql("look up a project", &self.dir.join("orb.db"), e))?;
        let dir = self.dir.join(name);
        match created {
            Some(at) => Ok(ProjectDir { name: name.to_owned(), dir, created_at: Moment(at) }),
            // A directory copied from another home is a project too, and so is one with settings in
            // it.
            None if dir.join("crawl.db").is_file() || dir.join("project.toml").is_file() => {
                Ok(ProjectDir { name: name.to_owned(), dir, created_at: Moment(0) })
            }
            None => Err(StoreError::NoSuchProject { name: name.to_owned(), home: self.dir.clone() }),
        }
    }

    /// All projects by name.
    pub fn list(&self) -> Result<Vec<ProjectDir>> {
        let fail = |e| StoreError::sql("list the projects", &self.dir.join("orb.db"), e);
        let mut rows = self.db.prepare("SELECT name, created_at FROM project ORDER BY name").map_err(fail)?;
        let rows = rows
            .query_map([], |r| {
                let name: String = r.get(0)?;
                Ok(ProjectDir { dir: self.dir.join(&name), name, created_at: Moment(r.get(1)?) })
            })
            .map_err(fail)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    /// Removes a project with everything in it, unless a process is using it.
    pub fn remove(&self, name: &str) -> Result<()> {
        let project = self.find(name)?;
        if project.dir.exists() {
            let _lock = ProjectLock::take(&project)?;
            fs::remove_dir_all(&project.dir).map_err(|e| StoreError::io("remove", &project.dir, e))?;
        }
        ["DELETE FROM project WHERE name = ?1"]
            .iter()
            .chain(accounts::FORGET_PROJECT)
            .try_for_each(|sql| self.db.execute(sql, [name]).map(drop))
            .map_err(|e| StoreError::sql("remove a project", &self.dir.join("orb.db"), e))
    }
}

/// Free bytes on the disk that holds `path`.
pub fn free_space(path: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(path).map_err(|e| StoreError::io("look at the disk of", path, e.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes of the disk that holds `path`.
pub fn disk_size(path: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(path).map_err(|e| StoreError::io("look at the disk of", path, e.into()))?;
    Ok(stat.f_blocks.saturating_mul(stat.f_frsize))
}

/// Whether something exists and may not be written to.
fn is_denied(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The list of a home that may not be written to.
fn open_for_reading(path: &Path) -> Result<Connection> {
    let db = connect_bare(path)?;
    format_of(&db, path)?;
    Ok(db)
}

/// The format of a list, which must not be that of a newer version.
fn format_of(db: &Connection, path: &Path) -> Result<i64> {
    let found = db.query_row("PRAGMA user_version", [], |r| r.get(0));
    match found.map_err(|e| StoreError::sql("open", path, e))? {
        found if found > VERSION => Err(StoreError::NewerVersion { path: path.to_owned(), found, known: VERSION }),
        found => Ok(found),
    }
}

fn open_list(path: &Path) -> Result<Connection> {
    let fail = |e| StoreError::sql("open", path, e);
    let db = Connection::open(path).map_err(fail)?;
    db.busy_timeout(std::time::Duration::from_secs(10)).map_err(fail)?;
    let found = format_of(&db, path)?;
    if found == 0 {
        db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(fail)?;
    }
    if found < VERSION {
        // The same for a new file and for one of version 1, which lacks the accounts.
        let tables = accounts::TABLES;
        db.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS project (name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) WITHOUT ROWID;
             {tables}
             PRAGMA user_version = {VERSION};
             COMMIT"
        ))
        .map_err(fail)?;
    }
    Ok(db)
}

/// Names are also directory names, so only plain ones are valid.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let good = (1..=64).contains(&name.len())
        && name.bytes().all(|b| plain(b) || b"._-".contains(&b))
        && name.as_bytes().first().is_some_and(|b| plain(*b))
        && name != "orb.db"
        && !name.starts_with("orb.db-");
    if good { Ok(()) } else { Err(StoreError::BadName { name: name.to_owned() }) }
}

/// An exclusive lock on a project, until dropped.
#[derive(Debug)]
pub struct ProjectLock {
    _file: File,
}

impl ProjectLock {
    /// Whether a process is using the project right now.
    pub fn is_held(project: &ProjectDir) -> bool {
        let file = OpenOptions::new().read(true).open(project.dir.join("lock"));
        file.is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The process that is using the project right now, if it has said who it is.
    pub fn holder(project: &ProjectDir) -> Option<u32> {
        let path = project.dir.join("lock");
        let pid = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
        // The process that held it may have gone and left its number behind.
        Self::is_held(project).then_some(pid)
    }

    /// Takes the lock, or says who holds it.
    pub fn take(project: &ProjectDir) -> Result<Self> {
        Self::take_at(&project.dir.join("lock"), &project.name)
    }

    /// Takes the lock of the project that a catalogue belongs to.
    pub(crate) fn take_beside(catalogue: &Path) -> Result<Self> {
        let name = catalogue.parent().and_then(Path::file_name).unwrap_or_default();
        Self::take_at(&catalogue.with_file_name("lock"), &name.to_string_lossy())
    }

    fn take_at(path: &Path, project: &str) -> Result<Self> {
        let fail = |e| StoreError::io("lock", path, e);
        fault::point("before-lock").map_err(fail)?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Only for the message: an unreadable file names no process.
                let _ = file.read_to_string(&mut text);
                return Err(StoreError::InUse { project: project.to_owned(), pid: text.trim().parse().ok() });
            }
            Err(TryLockError::Error(e)) => return Err(fail(e)),
        }
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()))
            .and_then(|()| fault::point("after-lock"))
            .map_err(fail)?;
        Ok(Self { _file: file })
    }
}

/// The right to change a project's settings file, until dropped. It is apart from [`ProjectLock`]:
/// settings may be changed during a run.
#[derive(Debug)]
pub struct SettingsLock {
    _dir: File,
}

impl SettingsLock {
    /// Waits until nobody else is changing the file.
    pub fn take(project: &ProjectDir) -> Result<Self> {
        // The directory itself: the file is replaced while the lock is held.
        let locked = File::open(&project.dir).and_then(|dir| dir.lock().map(|()| dir));
        locked.map(|dir| Self { _dir: dir }).map_err(|e| StoreError::io("lock the settings in", &project.dir, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_made_listed_and_removed() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(&tmp.path().join("deep/home")).unwrap();
        assert!(matches!(home.find("a"), Err(StoreError::NoSuchProject { .. })));
        home.project("b.c-1").unwrap();
        let a = home.project("a").unwrap();
        assert!(a.dir.is_dir() && a.is_empty());
        assert_eq!(home.list().unwrap().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a", "b.c-1"]);
        home.remove("a").unwrap();
        assert!(!a.dir.exists());
        assert_eq!(home.list().unwrap().len(), 1);
    }

    #[test]
    fn a_home_made_in_vain_is_taken_away_unless_something_is_in_it() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("home");
        Home::open(&dir).unwrap().discard_if_empty();
        assert!(!dir.exists());
        let home = Home::open(&dir).unwrap();
        home.project("p").unwrap();
        home.discard_if_empty();
        assert!(dir.join("p").exists() && dir.join("orb.db").exists());
    }

    #[test]
    fn to_look_for_a_home_makes_none_and_finds_what_lies_there() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("home");
        let home = Home::look(&dir).unwrap();
        assert!(home.list().unwrap().is_empty() && matches!(home.find("p"), Err(StoreError::NoSuchProject { .. })));
        assert!(!dir.exists());
        fs::create_dir_all(dir.join("p")).unwrap();
        fs::write(dir.join("p/project.toml"), "").unwrap();
        assert_eq!(home.find("p").unwrap().dir, dir.join("p"), "copied from another home");
        assert!(!dir.join("orb.db").exists());
        Home::open(&dir).unwrap().project("q").unwrap();
        assert_eq!(Home::look(&dir).unwrap().list().unwrap().len(), 1);
        let file = tmp.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(matches!(Home::look(&file), Err(StoreError::NotWritable { .. })));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        for name in
            ["", ".", "..", "../x", "a/b", "-x", ".x", "A", "ä", "a b", "a\0", "orb.db", "orb.db-wal", &"x".repeat(65)]
        {
            assert!(matches!(home.project(name), Err(StoreError::BadName { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_project_that_is_a_link_is_removed_without_what_it_leads_to() {
        let tmp = tempfile::tempdir().unwrap();
        let (outside, home) = (tmp.path().join("outside"), Home::open(&tmp.path().join("home")).unwrap());
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, home.path().join("p")).unwrap();
        home.project("p").unwrap();
        home.remove("p").unwrap();
        assert!(outside.join("precious").exists() && !home.path().join("p").is_symlink());
    }

    #[test]
    fn a_home_of_version_1_gets_accounts_and_keeps_its_projects() {
        let tmp = tempfile::tempdir().unwrap();
        let old = Connection::open(tmp.path().join("orb.db")).unwrap();
        old.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE project (name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) WITHOUT ROWID;
             INSERT INTO project VALUES ('p', 5);
             PRAGMA user_version = 1",
        )
        .unwrap();
        drop(old);
        let home = Home::open(tmp.path()).unwrap();
        assert_eq!(home.find("p").unwrap().created_at, Moment(5));
        assert!(!home.accounts().has_users().unwrap());
        let version: i64 = home.db.query_row("PRAGMA user_version", [], |r| r.get(0)).unwrap();
        assert_eq!(version, VERSION);
    }

    #[test]
    fn a_home_of_a_newer_version_is_refused_with_both_versions() {
        let tmp = tempfile::tempdir().unwrap();
        Home::open(tmp.path()).unwrap().db.execute_batch("PRAGMA user_version = 7").unwrap();
        let error = Home::open(tmp.path()).unwrap_err();
        assert!(matches!(error, StoreError::NewerVersion { found: 7, known: VERSION, .. }), "{error}");
    }

    #[test]
    fn a_home_that_is_a_file_or_damaged_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let file = tmp.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(matches!(Home::open(&file), Err(StoreError::NotWritable { .. })));
        fs::write(tmp.path().join("orb.db"), "this is no database at all, but long enough".repeat(100)).unwrap();
        assert!(matches!(Home::open(tmp.path()), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn a_second_worker_is_told_who_holds_the_project() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let first = ProjectLock::take(&project).unwrap();
        let error = ProjectLock::take(&project).unwrap_err();
        assert!(matches!(error, StoreError::InUse { pid: Some(p), .. } if p == std::process::id()), "{error}");
        assert_eq!(ProjectLock::holder(&project), Some(std::process::id()));
        drop(first);
        ProjectLock::take(&project).unwrap();
    }

    #[test]
    fn settings_are_changed_by_one_at_a_time_also_while_the_project_is_in_use() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let _run = ProjectLock::take(&project).unwrap();
        let first = SettingsLock::take(&project).unwrap();
        let (sender, taken) = std::sync::mpsc::channel();
        let second = std::thread::spawn(move || sender.send(SettingsLock::take(&project).is_ok()));
        assert!(taken.try_recv().is_err(), "two at once");
        drop(first);
        assert_eq!(taken.recv(), Ok(true));
        second.join().unwrap().unwrap();
    }

    #[test]
    fn free_space_is_known() {
        assert!(disk_size(Path::new("/")).unwrap() >= free_space(Path::new("/")).unwrap());
        assert!(free_space(&std::env::temp_dir()).unwrap() > 0);
    }
}
