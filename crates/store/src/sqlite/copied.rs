//! How does a catalogue become, and stay, the copy of tables that are kept elsewhere?
//!
//! All of it happens in one transaction. Rows are added or replaced by their keys, and it is
//! counted which of them are new: with the number of rows before, that is the number of rows now,
//! without another scan.

use super::scratch::ScratchValue;
use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use rusqlite::{CachedStatement, OptionalExtension as _, ToSql, params, params_from_iter};

/// The key of the note that makes a catalogue a copy.
pub(crate) const COPIED: &str = "copied";

/// Adds rows to a table, or replaces them.
pub(crate) struct RowKeeper<'db> {
    add: CachedStatement<'db>,
    replace: CachedStatement<'db>,
    path: &'db std::path::Path,
}

impl RowKeeper<'_> {
    /// Keeps a row; whether there was none with its key.
    pub(crate) fn keep(&mut self, cells: &[ScratchValue]) -> Result<bool> {
        let fail = |e| StoreError::sql("copy a row", self.path, e);
        if self.add.execute(params_from_iter(cells)).map_err(fail)? == 1 {
            return Ok(true);
        }
        self.replace.execute(params_from_iter(cells)).map_err(fail)?;
        Ok(false)
    }
}

impl CatalogueReader {
    /// Whether it is a copy of a shared project's tables. Numbers then have gaps, and those of
    /// pages with links do not tell which were recorded first.
    pub fn is_copy(&self) -> Result<bool> {
        Ok(self.one("SELECT 1 FROM meta WHERE key = ?1", [COPIED], |_| Ok(()))?.is_some())
    }
}

impl Catalogue {
    /// Keeps rows of a table.
    pub(crate) fn keeper(&self, table: &str, columns: &str) -> Result<RowKeeper<'_>> {
        let places = vec!["?"; columns.split(',').count()].join(", ");
        let statement = |how: &str| {
            let sql = format!("INSERT OR {how} INTO {table} ({columns}) VALUES ({places})");
            self.db.prepare_cached(&sql).map_err(|e| StoreError::sql("copy rows", &self.path, e))
        };
        Ok(RowKeeper { add: statement("IGNORE")?, replace: statement("REPLACE")?, path: &self.path })
    }

    /// Removes all rows of a table.
    pub(crate) fn clear_table(&self, table: &str) -> Result<()> {
        let cleared = self.db.execute(&format!("DELETE FROM {table}"), []);
        cleared.map(drop).map_err(|e| StoreError::sql("empty a table", &self.path, e))
    }

    /// Removes the rows of a table where a column has one of these values; how many there were.
    pub(crate) fn clear_rows(&self, (table, column): (&str, &str), values: &[i64]) -> Result<u64> {
        let fail = |e| StoreError::sql("remove rows", &self.path, e);
        let mut remove = self.db.prepare_cached(&format!("DELETE FROM {table} WHERE {column} = ?1")).map_err(fail)?;
        let mut removed = 0;
        for value in values {
            removed += remove.execute([value]).map_err(fail)? as u64;
        }
        Ok(removed)
    }

    /// Keeps what is said of the copy.
    pub(crate) fn keep_note(&self, value: &str) -> Result<()> {
        let kept = self.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", params![COPIED, value]);
        kept.map(drop).map_err(|e| StoreError::sql("keep a note", &self.path, e))
    }

    /// What is said of the copy; `None` if it is none.
    pub(crate) fn note(&self) -> Result<Option<String>> {
        let read = self.db.query_row("SELECT value FROM meta WHERE key = ?1", [COPIED], |r| r.get(0)).optional();
        read.map_err(|e| StoreError::sql("read a note", &self.path, e))
    }

    /// The watermark that [`Catalogue::end_copy`] will leave behind.
    pub(crate) fn next_batch(&self) -> (u64, u64) {
        let next = self.watermark.next();
        (next.no, next.nonce)
    }

    /// What was copied is there, as a batch of its own.
    pub(crate) fn end_copy(&mut self, (no, nonce): (u64, u64)) -> Result<()> {
        let sql = "INSERT INTO batch_row (no, nonce, pages, hosts, requeued) VALUES (?1, ?2, x'', x'', x'')";
        let values: [&dyn ToSql; 2] = [&no.cast_signed(), &nonce.cast_signed()];
        let noted = self.db.execute(sql, &values[..]).and_then(|_| self.db.execute_batch("COMMIT"));
        noted.map_err(|e| StoreError::sql("end the copy", &self.path, e))?;
        self.reload()
    }
}
