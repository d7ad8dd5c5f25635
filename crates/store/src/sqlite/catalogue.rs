//! Who writes the facts?
//!
//! One [`Catalogue`] per project, owned by the process that holds the project's lock. It knows the
//! next free numbers and the runs.

use super::log::Log;
use super::replay::Watermark;
use super::schema;
use super::upgrade::upgrade;
use crate::error::{Result, StoreError};
use crate::fault::sql_point;
use orb_page::{HostId, Moment, PageId, RunId, RunKind, RunState};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Up to this many database pages (16 MB) the integrity is checked whenever the catalogue is opened
/// for writing, which takes a tenth of a second.
const EXAMINED: i64 = 4_096;

/// The writer of the catalogue.
pub(crate) struct Catalogue {
    // Before the connection, so that the checkpoint thread ends first.
    pub(super) log: Log,
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    pub(super) next_page: u64,
    pub(super) next_host: u32,
    /// The number of the next page with links.
    pub(super) next_source: i64,
    pub(super) watermark: Watermark,
    /// The last batch whose touched pages are no longer needed.
    pub(super) followed: u64,
    pub(super) names: HashMap<Arc<str>, i64>,
    pub(super) files: HashMap<Arc<str>, i64>,
    /// Whether it is a copy of facts that are kept elsewhere.
    pub(super) scratch: bool,
}

/// A run in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Its number.
    pub id: RunId,
    /// What it is for.
    pub kind: RunKind,
    /// Whether it runs, or how it ended.
    pub state: RunStatus,
    /// When it began.
    pub started_at: Moment,
    /// When it ended; `None` while it runs, and after a crash.
    pub finished_at: Option<Moment>,
    /// Its counters as JSON; may be empty.
    pub counters: String,
    /// Its settings, as the caller gave them.
    pub settings: String,
}

/// Whether a run is in progress, according to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// It runs, or was cut off.
    Running,
    /// It has ended.
    Ended(RunState),
}

impl RunStatus {
    /// The name stored with the run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ended(state) => state.name(),
        }
    }

    /// The status of this name. One that is not known is no reason to resume the run.
    pub(crate) fn of(name: &str) -> Self {
        let known = [RunState::Done, RunState::Budget, RunState::Stopped];
        match known.into_iter().find(|state| state.name() == name) {
            Some(state) => Self::Ended(state),
            None if name == Self::Running.name() => Self::Running,
            None => Self::Ended(RunState::Budget),
        }
    }

    /// Whether the next run takes up where this one ended.
    pub const fn is_resumed(self) -> bool {
        matches!(self, Self::Running | Self::Ended(RunState::Stopped))
    }
}

impl std::fmt::Display for RunStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl RunRecord {
    pub(super) const COLUMNS: &str =
        "id, kind, state, started_at, finished_at, coalesce(counters, ''), coalesce(settings, '')";

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: RunId(row.get(0)?),
            kind: RunKind::of(row.get_ref(1)?.as_str()?),
            state: RunStatus::of(row.get_ref(2)?.as_str()?),
            started_at: Moment(row.get(3)?),
            finished_at: row.get::<_, Option<i64>>(4)?.map(Moment),
            counters: row.get(5)?,
            settings: row.get(6)?,
        })
    }
}

impl Catalogue {
    /// Opens the catalogue at `path`, making it if there is none, and upgrading it where it is of
    /// an older version. The caller holds the project's lock.
    pub(crate) fn create_or_open(path: &Path) -> Result<Self> {
        let fail = |what| move |e| StoreError::sql(what, path, e);
        let mut db = Connection::open(path).map_err(fail("open"))?;
        db.set_prepared_statement_cache_capacity(64);
        let version = version(&db).map_err(fail("read the version"))?;
        match version {
            None => {
                db.execute_batch("PRAGMA page_size = 4096").map_err(fail("prepare"))?;
                tune(&db).map_err(fail("prepare"))?;
                let made = sql_point("before-tables").and_then(|()| schema::create(&db));
                made.and_then(|()| sql_point("after-tables")).map_err(fail("make the tables"))?;
            }
            Some((schema::APPLICATION, found)) if found > schema::VERSION => {
                return Err(StoreError::NewerVersion { path: path.to_owned(), found, known: schema::VERSION });
            }
            Some((schema::APPLICATION, found)) if found < schema::VERSION => {
                tune(&db).map_err(fail("prepare"))?;
                upgrade(&db, found).map_err(fail("upgrade the tables"))?;
            }
            Some((schema::APPLICATION, _)) => {
                tune(&db).map_err(fail("prepare"))?;
                schema::complete(&db).map_err(fail("prepare"))?;
            }
            Some(_) => return Err(StoreError::damaged(path, "it is not an Orbweaver catalogue")),
        }
        let mut catalogue = Self {
            log: Log::of(&mut db, path).map_err(fail("prepare"))?,
            db,
            path: path.to_owned(),
            next_page: 1,
            next_host: 1,
            next_source: 1,
            watermark: Watermark::default(),
            followed: 0,
            names: HashMap::new(),
            files: HashMap::new(),
            scratch: false,
        };
        catalogue.reload()?;
        Ok(catalogue)
    }

    /// Fails if the database is damaged, as far as SQLite can tell; damage of a larger one is found
    /// when it is read.
    pub(crate) fn examine_if_small(&self) -> Result<()> {
        let fail = |e| StoreError::sql("examine", &self.path, e);
        let pages: i64 = self.db.query_row("PRAGMA page_count", [], |r| r.get(0)).map_err(fail)?;
        if pages > EXAMINED {
            return Ok(());
        }
        let said: String = self.db.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)).map_err(fail)?;
        if said == "ok" { Ok(()) } else { Err(StoreError::damaged(&self.path, said)) }
    }

    /// Reloads what is kept in memory: at the start, and after a failed transaction.
    pub(super) fn reload(&mut self) -> Result<()> {
        self.names.clear();
        self.files.clear();
        let ends = self.db.query_row(
            "SELECT coalesce((SELECT max(id) FROM page_row), 0) + 1, coalesce((SELECT max(id) FROM host_row), 0) + 1,
               coalesce((SELECT max(id) FROM source_row), 0) + 1",
            [],
            |r| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?, r.get(2)?)),
        );
        let (page, host, source) = ends.map_err(|e| StoreError::sql("read the last numbers", &self.path, e))?;
        self.next_page = page.cast_unsigned();
        self.next_host = host;
        self.next_source = source;
        self.watermark = self.read_watermark()?;
        Ok(())
    }

    /// The last batch recorded: its number, and its nonce.
    pub(crate) fn last_batch(&self) -> (u64, u64) {
        (self.watermark.no, self.watermark.nonce)
    }

    /// The number the next page gets.
    pub(crate) fn next_page_id(&self) -> PageId {
        PageId(self.next_page)
    }

    /// The number the next host gets.
    pub(crate) fn next_host_id(&self) -> HostId {
        HostId(self.next_host)
    }

    /// The database file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run; `settings` is stored with it.
    pub(crate) fn begin_run(&mut self, kind: RunKind, settings: &str) -> Result<RunId> {
        let fail = |e| StoreError::sql("begin a run", &self.path, e);
        sql_point("before-run-begins").map_err(fail)?;
        let id = self
            .db
            .query_row(
                "INSERT INTO run_row (kind, state, started_at, settings) VALUES (?1, ?4, ?2, ?3) RETURNING id",
                params![kind.name(), Moment::now().0, settings, RunStatus::Running.name()],
                |r| r.get(0).map(RunId),
            )
            .map_err(fail)?;
        sql_point("after-run-began").map_err(fail)?;
        Ok(id)
    }

    /// The last run if it has not ended: it is running, or was interrupted by a crash.
    pub(crate) fn open_run(&self) -> Result<Option<RunRecord>> {
        Ok(self.last_run()?.filter(|r| r.finished_at.is_none()))
    }

    /// The last run, ended or not.
    pub(crate) fn last_run(&self) -> Result<Option<RunRecord>> {
        let sql = format!("SELECT {} FROM run_row ORDER BY id DESC LIMIT 1", RunRecord::COLUMNS);
        let row = self.db.query_row(&sql, [], RunRecord::read).optional();
        row.map_err(|e| StoreError::sql("read the last run", &self.path, e))
    }

    /// Ends a run with its state and counters.
    pub(crate) fn finish_run(&mut self, id: RunId, state: RunState, counters: &str) -> Result<()> {
        let sql = "UPDATE run_row SET state = ?2, finished_at = ?3, counters = ?4 WHERE id = ?1";
        let points = ["before-run-ends", "after-run-ended"];
        self.set_run(sql, params![id.0, state.name(), Moment::now().0, counters], points)
    }

    /// Resumes a run that was stopped.
    pub(crate) fn reopen_run(&mut self, id: RunId) -> Result<()> {
        let sql = "UPDATE run_row SET state = ?2, finished_at = NULL WHERE id = ?1";
        self.set_run(sql, params![id.0, RunStatus::Running.name()], ["before-run-goes-on", "after-run-went-on"])
    }

    fn set_run(&self, sql: &str, values: impl rusqlite::Params, [before, after]: [&'static str; 2]) -> Result<()> {
        let set = sql_point(before).and_then(|()| self.db.execute(sql, values));
        match set.and_then(|changed| sql_point(after).map(|()| changed)) {
            Ok(1) => Ok(()),
            Ok(_) => Err(StoreError::BadBatch("there is no such run".to_owned())),
            Err(e) => Err(StoreError::sql("write the run", &self.path, e)),
        }
    }

    /// The archive's committed files with their lengths and numbers of records.
    pub(crate) fn archive_files(&self) -> Result<Vec<crate::FileEnd>> {
        let fail = |e| StoreError::sql("list the archive's files", &self.path, e);
        let mut rows = self.db.prepare("SELECT name, length, records FROM warc_row ORDER BY id").map_err(fail)?;
        let files = rows.query_map([], crate::FileEnd::read);
        files.map_err(fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    /// Starts a checkpoint of the WAL in the background, so that [`Self::checkpoint`] has little
    /// left to do.
    pub(crate) fn begin_checkpoint(&mut self) {
        self.log.begin(&self.db);
    }

    /// Checkpoints the WAL, so that a copy of the database file alone is complete.
    pub(crate) fn checkpoint(&mut self) -> Result<()> {
        self.log.rest();
        sql_point("before-checkpoint")
            .and_then(|()| self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .and_then(|()| sql_point("after-checkpoint"))
            .map_err(|e| StoreError::sql("checkpoint", &self.path, e))
    }
}

impl crate::FileEnd {
    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: r.get::<_, String>(0)?.into(),
            length: r.get::<_, i64>(1)?.cast_unsigned(),
            records: r.get::<_, i64>(2)?.cast_unsigned(),
        })
    }
}

/// Application id and format version, or `None` for an empty file.
pub(super) fn version(db: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    if tables == 0 {
        return Ok(None);
    }
    let application = db.query_row("PRAGMA application_id", [], |r| r.get(0))?;
    let version = db.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    Ok(Some((application, version)))
}

/// 24 MB of page cache; every commit is on disk when it returns (see the parent module).
fn tune(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(10))?;
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    db.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA cache_size = -24576; PRAGMA foreign_keys = OFF;
         PRAGMA temp_store = FILE;",
    )
}
