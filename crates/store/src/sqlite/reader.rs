//! Who reads the facts?
//!
//! Any number of readers, even while a crawl writes: each sees the last commit before its query
//! began.

use super::catalogue::{RunRecord, version};
use super::page::{HostRow, ImageRow, LinkRow, PageRow, VisitRow};
use super::query::{Cell, cell};
use super::replay::ReplayedFacts;
use super::{Catalogue, CatalogueWalk, ranks, schema};
use crate::error::{Result, StoreError};
use crate::home::{ProjectDir, ProjectLock};
use crate::keys::KeyTable;
use crate::stamp::FileStamp;
use orb_page::{Flag, PageId, RunId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Params, Row, params};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A reader of the catalogue.
pub struct CatalogueReader {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    /// The table of keys as it was last opened.
    pub(super) keys: RefCell<Option<KeyTable>>,
    /// The catalogue, and the ranks that are attached to it, as they were opened.
    opened: [Option<FileStamp>; 2],
}

impl CatalogueReader {
    /// Opens a project's catalogue, which must be there. One of an older version is upgraded first,
    /// which takes the project's lock.
    pub fn open(project: &ProjectDir) -> Result<Self> {
        Self::at(&project.catalogue())
    }

    /// The same for callers that know the file alone.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let mut opened = stamps(path);
        let mut db = connect(path)?;
        let found = version(&db).map_err(|e| StoreError::sql("read the version", path, e))?;
        if let Some((_, found)) = found.filter(|found| found.0 == schema::APPLICATION && found.1 < schema::VERSION) {
            drop(db);
            upgrade_locked(path, found)?;
            opened = stamps(path);
            db = connect(path)?;
        }
        match version(&db).map_err(|e| StoreError::sql("read the version", path, e))? {
            Some((schema::APPLICATION, found)) if found > schema::VERSION => {
                Err(StoreError::NewerVersion { path: path.to_owned(), found, known: schema::VERSION })
            }
            Some((schema::APPLICATION, _)) => Ok(Self { db, path: path.to_owned(), keys: RefCell::default(), opened }),
            None => Err(StoreError::damaged(path, "it is empty: nothing was ever recorded")),
            Some(_) => Err(StoreError::damaged(path, "it is not an Orbweaver catalogue")),
        }
    }

    /// Whether neither the catalogue nor the ranks attached to it have been replaced since. What is
    /// written to the catalogue is seen without opening it again.
    pub fn is_latest(&self) -> bool {
        let [catalogue, ranks] = stamps(&self.path);
        let is_same = catalogue.zip(self.opened[0]).is_some_and(|(now, then)| now.is_same_file(&then));
        is_same && ranks == self.opened[1]
    }

    pub(crate) fn facts(&self) -> ReplayedFacts<'_> {
        ReplayedFacts { db: &self.db, path: &self.path }
    }

    pub(crate) fn fail(&self, what: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        let path = self.path.clone();
        move |e| StoreError::sql(what, &path, e)
    }

    /// Gives the rows of a query one by one: what all other reading is made of. `what` is what an
    /// error says was attempted.
    pub(super) fn each<E: From<StoreError>>(
        &self,
        (what, sql): (&'static str, &str),
        values: impl Params,
        mut each: impl FnMut(&Row<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let fail = self.fail(what);
        let mut statement = self.db.prepare_cached(sql).map_err(&fail)?;
        let mut rows = statement.query(values).map_err(&fail)?;
        while let Some(row) = rows.next().map_err(&fail)? {
            each(row)?;
        }
        Ok(())
    }

    /// The same for rows that are read into values of their own.
    pub(super) fn each_read<T, E: From<StoreError>>(
        &self,
        (what, sql): (&'static str, &str),
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        mut tell: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let fail = self.fail(what);
        self.each((what, sql), values, |row| tell(read(row).map_err(&fail)?))
    }

    /// The first row.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.one_for(("read", sql), values, read)
    }

    pub(super) fn one_for<T>(
        &self,
        (what, sql): (&'static str, &str),
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let (fail, mut found) = (self.fail(what), None);
        self.each((what, sql), values, |row| {
            if found.is_none() {
                found = Some(read(row).map_err(&fail)?);
            }
            Ok::<(), StoreError>(())
        })?;
        Ok(found)
    }

    /// All rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.all_for(("read", sql), values, read)
    }

    pub(super) fn all_for<T>(
        &self,
        query: (&'static str, &str),
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        self.each_read(query, values, read, |row| {
            out.push(row);
            Ok::<(), StoreError>(())
        })?;
        Ok(out)
    }

    /// The page with this number.
    pub fn page(&self, id: PageId) -> Result<Option<PageRow>> {
        self.one("SELECT * FROM page WHERE id = ?1", [id.0.cast_signed()], PageRow::read)
    }

    /// What is known about the session ids in the URLs of a host, by its name.
    pub fn sessions(&self, host: &str) -> Result<Vec<String>> {
        let sql = "SELECT s.rules FROM session_row s JOIN host_row h ON h.id = s.host WHERE h.name = ?1";
        self.all(sql, [host], |r| r.get(0))
    }

    /// The title that the latest visit of a page found.
    pub fn title(&self, page: PageId) -> Result<Option<String>> {
        let sql = "SELECT title FROM visit_row WHERE page = ?1 ORDER BY run DESC LIMIT 1";
        Ok(self.one(sql, [page.0.cast_signed()], |r| r.get(0))?.flatten())
    }

    /// Calls back with every HTML page, in the order of discovery: all, or those found new or
    /// changed after a run.
    pub fn each_html(&self, since: Option<RunId>, each: impl FnMut(PageRow) -> Result<()>) -> Result<()> {
        let sql = format!(
            "SELECT * FROM page p WHERE kind = 'HTML' AND (?1 IS NULL OR EXISTS
               (SELECT 1 FROM visit_row v WHERE v.page = p.id AND v.run > ?1 AND v.flag IN ({}, {})))",
            Flag::New.code(),
            Flag::Updated.code()
        );
        self.each_read(("read", &sql), [since.map(|run| run.0)], PageRow::read, each)
    }

    /// Gives every page of HTML that the archive holds, in the order of discovery: number, URL,
    /// when it was fetched, and title.
    pub fn each_archived_html(
        &self,
        mut each: impl FnMut(PageId, &str, &str, Option<&str>) -> Result<()>,
    ) -> Result<()> {
        let sql = "SELECT id, url, fetched_at, title FROM page WHERE kind = 'HTML' AND warc_file NOTNULL";
        self.each(("read", sql), [], |row| {
            let text = |column: usize| row.get_ref(column).and_then(|text| Ok(text.as_str_or_null()?));
            let read = || Ok((row.get::<_, i64>(0)?.cast_unsigned(), text(1)?, text(2)?, text(3)?));
            let (id, url, at, title) = read().map_err(self.fail("read"))?;
            match (url, at) {
                (Some(url), Some(at)) => each(PageId(id), url, at, title),
                _ => Ok(()),
            }
        })
    }

    /// A page's visits, latest first.
    pub fn visits(&self, page: PageId) -> Result<Vec<VisitRow>> {
        self.all("SELECT * FROM visit WHERE page_id = ?1 ORDER BY run DESC", [page.0.cast_signed()], VisitRow::read)
    }

    /// A page's links with their target URLs, including those that have disappeared.
    pub fn links_out(&self, page: PageId, limit: u64, offset: u64) -> Result<Vec<LinkRow>> {
        let sql = "SELECT l.*, p.url FROM link l JOIN page_row p ON p.id = l.dst WHERE l.src = ?1 ORDER BY l.dst LIMIT ?2 OFFSET ?3";
        self.all(sql, params![page.0.cast_signed(), sql_limit(limit), sql_limit(offset)], LinkRow::read)
    }

    /// The links that point to a page, ordered by their source URLs. There is no index by target:
    /// this scans all links.
    pub fn links_in(&self, page: PageId, limit: u64, offset: u64) -> Result<Vec<LinkRow>> {
        let sql = "SELECT l.*, p.url FROM link l JOIN page_row p ON p.id = l.src WHERE l.dst = ?1 ORDER BY p.url, l.kind LIMIT ?2 OFFSET ?3";
        self.all(sql, params![page.0.cast_signed(), sql_limit(limit), sql_limit(offset)], LinkRow::read)
    }

    /// A page's images in document order.
    pub fn images(&self, page: PageId) -> Result<Vec<ImageRow>> {
        let sql = "SELECT page AS page_id, url, alt, width, height, mime FROM image_row WHERE page = ?1 ORDER BY seq";
        self.all(sql, [page.0.cast_signed()], ImageRow::read)
    }

    /// Hosts by number.
    pub fn hosts(&self, limit: u64, offset: u64) -> Result<Vec<HostRow>> {
        let sql = "SELECT * FROM host ORDER BY id LIMIT ?1 OFFSET ?2";
        self.all(sql, params![sql_limit(limit), sql_limit(offset)], HostRow::read)
    }

    /// The host with this number.
    pub fn host(&self, id: orb_page::HostId) -> Result<Option<HostRow>> {
        self.one("SELECT * FROM host WHERE id = ?1", [id.0], HostRow::read)
    }

    /// All runs, latest first.
    pub fn runs(&self) -> Result<Vec<RunRecord>> {
        self.all(&format!("SELECT {} FROM run_row ORDER BY id DESC", RunRecord::COLUMNS), [], RunRecord::read)
    }

    /// The last run, ended or not.
    pub fn last_run(&self) -> Result<Option<RunRecord>> {
        self.one(&format!("SELECT {} FROM run_row ORDER BY id DESC LIMIT 1", RunRecord::COLUMNS), [], RunRecord::read)
    }

    /// The run with this number.
    pub fn run(&self, id: RunId) -> Result<Option<RunRecord>> {
        self.one(&format!("SELECT {} FROM run_row WHERE id = ?1", RunRecord::COLUMNS), [id.0], RunRecord::read)
    }

    /// Number of visits of a run by flag name.
    pub fn flags(&self, run: RunId) -> Result<Vec<(String, u64)>> {
        let flag = schema::case("flag", Flag::ALL.iter().map(|f| (f.code(), f.name())));
        let sql = format!("SELECT {flag}, count(*) FROM visit_row WHERE run = ?1 GROUP BY flag");
        self.all(&sql, [run.0], |r| Ok((r.get(0)?, r.get::<_, i64>(1)?.cast_unsigned())))
    }

    /// The archive's committed files.
    pub fn archive_files(&self) -> Result<Vec<crate::FileEnd>> {
        self.all("SELECT name, length, records FROM warc_row ORDER BY id", [], crate::FileEnd::read)
    }

    /// Calls back with the rows of a walk over the whole catalogue, in storage order.
    pub fn each_row(&self, walk: CatalogueWalk, mut each: impl FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        let fail = self.fail("read");
        self.each(("read", &walk.query()), [], |row| {
            let columns = row.as_ref().column_count();
            let cells: rusqlite::Result<Vec<Cell<'_>>> = (0..columns).map(|i| row.get_ref(i).map(cell)).collect();
            each(&cells.map_err(&fail)?)
        })
    }

    /// What was learnt of the noise of a host, as text.
    pub fn noise(&self, host: orb_page::HostId) -> Result<Option<String>> {
        self.one("SELECT text FROM noise_row WHERE host = ?1", [host.0], |r| r.get(0))
    }

    /// Number of queued pages.
    pub fn queued(&self) -> Result<u64> {
        self.facts().count_queued()
    }
}

/// Upgrades a catalogue, unless a process works on its project or the disk cannot be written to.
fn upgrade_locked(path: &Path, found: i64) -> Result<()> {
    let older = StoreError::OlderVersion { path: path.to_owned(), found, known: schema::VERSION };
    let lock = match ProjectLock::take_beside(path) {
        Err(StoreError::Io { .. }) => return Err(older),
        taken => taken?,
    };
    Catalogue::create_or_open(path).map(drop)?;
    drop(lock);
    Ok(())
}

pub(super) fn sql_limit(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The stamps of a catalogue and of the ranks beside it.
fn stamps(path: &Path) -> [Option<FileStamp>; 2] {
    [FileStamp::of(path), FileStamp::of(&ranks::beside(path))]
}

/// A read-only connection with all views.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    let fail = |e| StoreError::sql("open", path, e);
    let db = connect_bare(path)?;
    // Changing this setting drops temporary tables, so it comes first.
    db.execute_batch("PRAGMA temp_store = FILE").map_err(fail)?;
    schema::complete_for_reading(&db).map_err(fail)?;
    ranks::attach(&db, path);
    db.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -16384").map_err(fail)?;
    Ok(db)
}

/// A read-only connection. On a read-only disk, where the WAL's files cannot be created, the
/// database is opened as immutable.
pub(crate) fn connect_bare(path: &Path) -> Result<Connection> {
    let fail = |e| StoreError::sql("open", path, e);
    if !path.is_file() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(StoreError::io("open", path, missing));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags).map_err(fail)?;
    if matches!(version(&db), Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)) {
        let text = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let uri = format!("file:{text}?immutable=1");
        db = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).map_err(fail)?;
    }
    db.busy_timeout(Duration::from_secs(10)).map_err(fail)?;
    // Otherwise a cached statement is re-planned for every bound value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    Ok(db)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn a_statement_that_is_kept_is_planned_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.db");
        drop(Catalogue::create_or_open(&path).unwrap());
        let reader = CatalogueReader::at(&path).unwrap();
        for id in 1..=3 {
            assert!(reader.page(PageId(id)).unwrap().is_none());
        }
        let statement = reader.db.prepare_cached("SELECT * FROM page WHERE id = ?1").unwrap();
        assert_eq!(
            (statement.get_status(StatementStatus::Run), statement.get_status(StatementStatus::RePrepare)),
            (3, 0)
        );
    }
}
