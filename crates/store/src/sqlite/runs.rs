//! How does the last run stand, asked again and again?
//!
//! A server that lists all projects asks each of them for one row. A connection for that alone has
//! none of the views that other readers need, so it opens quickly, and many of them stay open.

use super::CatalogueReader;
use super::catalogue::{RunRecord, version};
use super::reader::connect_bare;
use super::schema;
use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use crate::stamp::FileStamp;
use crate::tally::RunCounters;
use rusqlite::{Connection, OptionalExtension as _};
use std::path::PathBuf;

/// A reader of the last run.
pub struct RunReader {
    db: Connection,
    path: PathBuf,
    opened: Option<FileStamp>,
}

impl RunReader {
    /// Opens a project's catalogue, which must be there.
    pub fn open(project: &ProjectDir) -> Result<Self> {
        let path = project.catalogue();
        let opened = FileStamp::of(&path);
        let mut db = connect_bare(&path)?;
        let found = version(&db).map_err(|e| StoreError::sql("read the version", &path, e))?;
        if found != Some((schema::APPLICATION, schema::VERSION)) {
            // The other reader upgrades what is older, and says what is wrong with anything else.
            drop(CatalogueReader::open(project)?);
            db = connect_bare(&path)?;
        }
        Ok(Self { db, path, opened })
    }

    /// What tells whether anything was written to a project's catalogue since: the stamps of its
    /// file and of its log. An empty log comes and goes with those who read.
    pub fn stamps(project: &ProjectDir) -> [Option<FileStamp>; 2] {
        let path = project.catalogue();
        let log = FileStamp::of(&path.with_extension("db-wal"));
        [FileStamp::of(&path), log.filter(|log| !log.is_empty())]
    }

    /// Whether no other catalogue has taken its place.
    pub fn is_latest(&self) -> bool {
        FileStamp::of(&self.path).zip(self.opened).is_some_and(|(now, then)| now.is_same_file(&then))
    }

    /// The last run, ended or not.
    pub fn last(&self) -> Result<Option<RunRecord>> {
        let sql = format!("SELECT {} FROM run_row ORDER BY id DESC LIMIT 1", RunRecord::COLUMNS);
        let read = || self.db.prepare_cached(&sql)?.query_row([], RunRecord::read).optional();
        read().map_err(|e| StoreError::sql("read the last run", &self.path, e))
    }

    /// The counters of the last runs but the first, to which everything is new; the latest first. A
    /// run that has not recorded anything yet has none.
    pub fn later_counters(&self, runs: u32) -> Result<Vec<RunCounters>> {
        let read = || {
            let mut sql = self.db.prepare_cached(
                "SELECT counters FROM run_row WHERE id > 1 AND counters IS NOT NULL ORDER BY id DESC LIMIT ?1",
            )?;
            let stored = sql.query_map([runs], |row| row.get::<_, String>(0))?;
            stored.map(|counters| Ok(RunCounters::of(&counters?))).collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|e| StoreError::sql("read the last runs", &self.path, e))
    }

    /// The number of the last change that was recorded; 0 if there is none.
    pub fn last_change(&self) -> Result<u64> {
        let sql = "SELECT coalesce(max(seq), 0) FROM change_row";
        let read = |mut sql: rusqlite::CachedStatement<'_>| sql.query_row([], |r| r.get::<_, i64>(0));
        // A catalogue that was not written to since there are changes lacks their table.
        let Ok(prepared) = self.db.prepare_cached(sql) else { return Ok(0) };
        read(prepared).map(i64::cast_unsigned).map_err(|e| StoreError::sql("read the last change", &self.path, e))
    }
}
