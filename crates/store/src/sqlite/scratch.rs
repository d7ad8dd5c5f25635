//! What if the catalogue is only a copy?
//!
//! A worker of a shared project has one of the shards it holds. PostgreSQL has decided before
//! anything is written here, so it may be lost at any time: it is not synced, its numbers have
//! gaps, and links, images and changes, which no crawl reads, are left out.

use super::Catalogue;
use crate::error::{Result, StoreError};
use crate::{Batch, FileEnd, FinishedVisit};
use orb_page::{HostId, PageId, RunId};
use rusqlite::{CachedStatement, OptionalExtension as _, ToSql, params, params_from_iter};
use std::collections::HashSet;

/// A value of a row that is copied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScratchValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl ToSql for ScratchValue {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(n) => ValueRef::Integer(*n),
            Self::Real(x) => ValueRef::Real(*x),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// What is known of a page's visits before one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisitedBefore {
    /// This run has visited it.
    pub(crate) repeated: bool,
    /// An earlier run has.
    pub(crate) earlier: bool,
    /// The visit of this run was the first with links.
    pub(crate) linked_here: bool,
    /// One of an earlier run was.
    pub(crate) linked_earlier: bool,
}

/// Adds rows to a table.
pub(crate) struct RowInserter<'db> {
    insert: CachedStatement<'db>,
    path: &'db std::path::Path,
}

impl RowInserter<'_> {
    pub(crate) fn add(&mut self, cells: Vec<ScratchValue>) -> Result<()> {
        let added = self.insert.execute(params_from_iter(cells));
        added.map(drop).map_err(|e| StoreError::sql("copy a row", self.path, e))
    }
}

impl Catalogue {
    /// From now on it is a copy.
    pub(crate) fn become_scratch(&mut self) -> Result<()> {
        self.scratch = true;
        self.run_sql("prepare a copy", "PRAGMA synchronous = OFF")
    }

    fn run_sql(&self, what: &'static str, sql: &str) -> Result<()> {
        self.db.execute_batch(sql).map_err(|e| StoreError::sql(what, &self.path, e))
    }

    /// What must hold of a batch that is recorded elsewhere.
    pub(super) fn examine_copy(batch: &Batch) -> Result<()> {
        for FinishedVisit { visit, targets, .. } in &batch.visits {
            if visit.links.len() != targets.len() {
                let (links, targets) = (visit.links.len(), targets.len());
                return Err(StoreError::BadBatch(format!("{links} links of {} with {targets} targets", visit.url)));
            }
        }
        let rising = batch.discovered.is_sorted_by(|a, b| a.page < b.page);
        if rising {
            Ok(())
        } else {
            Err(StoreError::BadBatch("new pages are not in the order of their numbers".into()))
        }
    }

    /// The name of a host.
    pub(crate) fn host_name(&self, host: HostId) -> Result<Option<String>> {
        let row = self.db.prepare_cached("SELECT name FROM host_row WHERE id = ?1");
        let row = row.and_then(|mut q| q.query_row([host.0], |r| r.get(0)).optional());
        row.map_err(|e| StoreError::sql("read a host", &self.path, e))
    }

    /// What is known of a page's visits.
    pub(crate) fn visited_before(&self, page: PageId, run: RunId) -> Result<VisitedBefore> {
        let fail = |e| StoreError::sql("read the visits of a page", &self.path, e);
        let sql = "SELECT run, source NOTNULL FROM visit_row WHERE page = ?1";
        let mut rows = self.db.prepare_cached(sql).map_err(fail)?;
        let mut rows = rows.query([page.0.cast_signed()]).map_err(fail)?;
        let mut before = VisitedBefore::default();
        while let Some(row) = rows.next().map_err(fail)? {
            let (at, linked): (u32, bool) = (row.get(0).map_err(fail)?, row.get(1).map_err(fail)?);
            if at == run.0 {
                before.repeated = true;
                before.linked_here |= linked;
            } else {
                before.earlier = true;
                before.linked_earlier |= linked;
            }
        }
        Ok(before)
    }

    /// The number of an archive file.
    pub(crate) fn file_number(&self, name: &str) -> Result<i64> {
        let row = self.db.prepare_cached("SELECT id FROM warc_row WHERE name = ?1");
        let row = row.and_then(|mut q| q.query_row([name], |r| r.get(0)).optional());
        let row = row.map_err(|e| StoreError::sql("look for an archive file", &self.path, e))?;
        row.ok_or_else(|| StoreError::BadBatch(format!("the archive file {name} is unknown")))
    }

    /// Takes over the numbers that names have elsewhere.
    pub(crate) fn learn_names(&mut self, names: &[(i32, String)]) -> Result<()> {
        let fail = |e| StoreError::sql("write a name", &self.path, e);
        let mut insert =
            self.db.prepare_cached("INSERT OR IGNORE INTO name_row (id, name) VALUES (?1, ?2)").map_err(fail)?;
        names.iter().try_for_each(|(id, name)| insert.execute(params![id, name]).map(drop)).map_err(fail)
    }

    /// Takes over the number that an archive file has elsewhere.
    pub(crate) fn learn_file(&mut self, id: i64, file: &FileEnd) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO warc_row (id, name, length, records) VALUES (?1, ?2, ?3, ?4)";
        let values = params![id, &*file.name, file.length.cast_signed(), file.records.cast_signed()];
        self.db.execute(sql, values).map(drop).map_err(|e| StoreError::sql("write an archive file", &self.path, e))
    }

    /// Takes over a run.
    pub(crate) fn enter_run(&mut self, run: &super::RunRecord) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO run_row (id, kind, state, started_at, finished_at, counters, settings)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let values = params![
            run.id.0,
            run.kind.name(),
            run.state.name(),
            run.started_at.0,
            run.finished_at.map(|at| at.0),
            run.counters,
            run.settings
        ];
        self.db.execute(sql, values).map(drop).map_err(|e| StoreError::sql("write the run", &self.path, e))
    }

    /// Begins to copy rows.
    pub(crate) fn begin_load(&mut self) -> Result<()> {
        self.run_sql("begin to copy", "BEGIN IMMEDIATE")
    }

    /// Adds rows to a table, replacing those that are there.
    pub(crate) fn inserter(&self, table: &str, columns: &str) -> Result<RowInserter<'_>> {
        let places = vec!["?"; columns.split(',').count()].join(", ");
        let sql = format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({places})");
        let insert = self.db.prepare_cached(&sql).map_err(|e| StoreError::sql("copy rows", &self.path, e))?;
        Ok(RowInserter { insert, path: &self.path })
    }

    /// The numbers of archive files that visits name and that have not been copied.
    pub(crate) fn files_to_load(&self) -> Result<Vec<i64>> {
        let fail = |e| StoreError::sql("read the visits", &self.path, e);
        let sql = "SELECT DISTINCT warc FROM visit_row WHERE warc NOTNULL AND warc NOT IN (SELECT id FROM warc_row)";
        let mut rows = self.db.prepare_cached(sql).map_err(fail)?;
        let rows = rows.query_map([], |row| row.get(0)).map_err(fail)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    /// What was copied is there, as a batch of its own.
    pub(crate) fn end_load(&mut self) -> Result<()> {
        let next = self.watermark.next();
        let sql = "INSERT INTO batch_row (no, nonce, pages, hosts, requeued) VALUES (?1, ?2, x'', x'', x'')";
        let noted = self.db.execute(sql, params![next.no.cast_signed(), next.nonce.cast_signed()]);
        noted.map_err(|e| StoreError::sql("end the copy", &self.path, e))?;
        self.run_sql("end the copy", "COMMIT")?;
        self.reload()
    }

    /// Nothing was copied.
    pub(crate) fn abort_load(&mut self) -> Result<()> {
        if self.db.is_autocommit() { Ok(()) } else { self.run_sql("undo the copy", "ROLLBACK") }
    }

    /// The hosts whose names a predicate accepts.
    pub(crate) fn hosts_where(&self, wanted: impl Fn(&str) -> bool) -> Result<HashSet<u32>> {
        let fail = |e| StoreError::sql("read the hosts", &self.path, e);
        let mut rows = self.db.prepare_cached("SELECT id, name FROM host_row").map_err(fail)?;
        let mut rows = rows.query([]).map_err(fail)?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next().map_err(fail)? {
            let name = row.get_ref(1).and_then(|name| Ok(name.as_str()?)).map_err(fail)?;
            if wanted(name) {
                found.insert(row.get(0).map_err(fail)?);
            }
        }
        Ok(found)
    }

    /// Forgets everything about these hosts.
    pub(crate) fn forget(&mut self, hosts: &HashSet<u32>) -> Result<()> {
        let fail = |e| StoreError::sql("forget hosts", &self.path, e);
        self.run_sql(
            "forget hosts",
            "CREATE TEMP TABLE IF NOT EXISTS gone (id INTEGER PRIMARY KEY); DELETE FROM gone; BEGIN",
        )?;
        {
            let mut insert = self.db.prepare_cached("INSERT INTO temp.gone (id) VALUES (?1)").map_err(fail)?;
            hosts.iter().try_for_each(|host| insert.execute([host]).map(drop)).map_err(fail)?;
        }
        let by_host =
            ["tally_row", "robots_row", "noise_row", "session_row", "alias_rule_row", "alias_row", "page_row"];
        let mut sql =
            "DELETE FROM visit_row WHERE page IN (SELECT id FROM page_row WHERE host IN temp.gone);".to_owned();
        for table in by_host {
            sql += &format!("DELETE FROM {table} WHERE host IN temp.gone;");
        }
        sql += "DELETE FROM host_row WHERE id IN temp.gone; COMMIT";
        self.run_sql("forget hosts", &sql)
    }
}
