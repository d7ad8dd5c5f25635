//! When was a page visited, what did that reveal, and when is it due again?
//!
//! Visits are read in page order, as stored. Due times are derived from them after a run, and
//! replaced completely.

use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use orb_page::{Flag, HostId, Moment, PageId, RunId};
use rusqlite::{OptionalExtension, Row, params};

/// One visit of a page, as far as it reveals how often the page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastVisit {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// When it was visited.
    pub at: Moment,
    /// Its flag.
    pub flag: Flag,
}

/// When a page is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DueRow {
    /// The page.
    pub page: PageId,
    /// Estimated changes per day.
    pub rate: f64,
    /// When it is due; `None` if never.
    pub due: Option<Moment>,
}

impl CatalogueReader {
    /// Calls back with every visit of every page that may be revisited, page by page, earliest
    /// first.
    pub fn each_seen(&self, mut each: impl FnMut(PastVisit)) -> Result<()> {
        let sql = "SELECT v.page, p.host, v.at, v.flag FROM visit_row v JOIN page_row p ON p.id = v.page AND p.kind = 0 ORDER BY v.page, v.run";
        let read = |row: &Row<'_>| {
            Ok(PastVisit {
                page: PageId(row.get::<_, i64>(0)?.cast_unsigned()),
                host: HostId(row.get(1)?),
                at: Moment(row.get(2)?),
                flag: Flag::from_code(row.get(3)?).unwrap_or(Flag::Error),
            })
        };
        self.each_read(("read the visits", sql), [], read, |seen| {
            each(seen);
            Ok(())
        })
    }
}

impl Catalogue {
    /// Deletes all due times.
    pub(crate) fn clear_dues(&mut self) -> Result<()> {
        let cleared = self.db.execute("DELETE FROM due_row", []);
        cleared.map(drop).map_err(|e| StoreError::sql("write when pages are due", &self.path, e))
    }

    /// Adds due times.
    pub(crate) fn add_dues(&mut self, dues: &[DueRow]) -> Result<()> {
        let path = self.path.clone();
        let fail = |e| StoreError::sql("write when pages are due", &path, e);
        let tx = self.db.transaction().map_err(fail)?;
        {
            let sql = "INSERT OR REPLACE INTO due_row (page, rate, due) VALUES (?1, ?2, ?3)";
            let mut insert = tx.prepare_cached(sql).map_err(fail)?;
            for row in dues {
                let due = row.due.map(|due| due.0);
                insert.execute(params![row.page.0.cast_signed(), row.rate, due]).map_err(fail)?;
            }
        }
        tx.commit().map_err(fail)?;
        self.log.tend(&self.db);
        Ok(())
    }

    /// Stores which pages a run was asked to visit, for when it is resumed.
    pub(crate) fn keep_choice(&mut self, run: RunId, choice: &str) -> Result<()> {
        let value = format!("{} {choice}", run.0);
        let kept = self.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('choice', ?1)", [value]);
        kept.map(drop).map_err(|e| StoreError::sql("write the run", &self.path, e))
    }

    /// Which pages a run was asked to visit.
    pub(crate) fn choice(&self, run: RunId) -> Result<Option<String>> {
        let read = self.db.query_row("SELECT value FROM meta WHERE key = 'choice'", [], |r| r.get::<_, String>(0));
        let read = read.optional().map_err(|e| StoreError::sql("read the run", &self.path, e))?;
        Ok(read.and_then(|text| text.strip_prefix(&format!("{} ", run.0)).map(str::to_owned)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_replaced_and_shown_with_its_page() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.db");
        let mut catalogue = Catalogue::create_or_open(&path).unwrap();
        catalogue
            .db
            .execute_batch(
                "INSERT INTO page_row (id, url, host, kind, depth, redirects, priority, rank, at, by)
                   VALUES (1, 'http://a.test/', 1, 0, 0, 0, 0, 0, 0, 0);
                 INSERT INTO visit_row (page, run, flag, kind, at, by, length, transferred, elapsed_ms) VALUES
                   (1, 1, 0, 1, 1000, 0, 0, 0, 0), (1, 2, 2, 1, 86401000, 0, 0, 0, 0)",
            )
            .unwrap();
        let due = |due| DueRow { page: PageId(1), rate: 0.5, due };
        catalogue.add_dues(&[due(Some(Moment(5)))]).unwrap();
        catalogue.clear_dues().unwrap();
        catalogue.add_dues(&[due(Some(Moment(172_801_000)))]).unwrap();
        let reader = CatalogueReader::at(&path).unwrap();
        let page = reader.page(PageId(1)).unwrap().unwrap();
        assert_eq!(page.next_due.as_deref(), Some("1970-01-03T00:00:01.000Z"));
        let mut seen = Vec::new();
        reader.each_seen(|one| seen.push((one.at.0, one.flag))).unwrap();
        assert_eq!(seen, [(1_000, Flag::New), (86_401_000, Flag::Updated)]);
    }

    #[test]
    fn a_choice_belongs_to_its_run() {
        let dir = tempfile::tempdir().unwrap();
        let mut catalogue = Catalogue::create_or_open(&dir.path().join("crawl.db")).unwrap();
        catalogue.keep_choice(RunId(3), "best 5").unwrap();
        assert_eq!(catalogue.choice(RunId(3)).unwrap().as_deref(), Some("best 5"));
        assert_eq!(catalogue.choice(RunId(33)).unwrap(), None);
    }
}
