//! What does a run report?
//!
//! A row for each document that a run found new, updated or gone, or could not fetch although it
//! existed before; in the order of recording, and immutable. Their numbers are the cursors of
//! consumers. A project's first run has none: everything in it is new. A document that changed only
//! around its main content is no change; it has a row of its own, without a number.

use super::CatalogueReader;
use super::known::known_before;
use crate::Batch;
use crate::error::Result;
use orb_page::{Flag, Moment, PageId, RunId, Visit};
use rusqlite::{Connection, Row, params};

/// A run's report on a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Its number among all changes.
    pub seq: u64,
    /// The run that saw it.
    pub run: RunId,
    /// The page.
    pub page: PageId,
    /// Its canonical URL.
    pub url: String,
    /// Its flag.
    pub flag: Flag,
    /// When it was seen.
    pub at: Moment,
    /// Where the document has moved to.
    pub moved_to: Option<String>,
    /// What changed, or what went wrong, in one line.
    pub detail: Option<String>,
}

/// Whether a visit is reported.
pub(crate) fn is_told(visit: &Visit) -> bool {
    match visit.flag {
        Flag::New => visit.is_document(),
        Flag::Updated | Flag::Missing | Flag::Error => visit.known,
        Flag::Same => false,
    }
}

/// Adds what a batch's visits say about documents that changed only around their main content.
pub(super) fn write_around(db: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached("INSERT OR REPLACE INTO around_row (run, page, detail) VALUES (?1, ?2, ?3)")?;
    for visit in batch.visits.iter().map(|finished| &finished.visit).filter(|visit| visit.flag == Flag::Same) {
        if let Some(detail) = &visit.detail {
            insert.execute(params![batch.run.0, visit.page.0.cast_signed(), detail])?;
        }
    }
    Ok(())
}

/// Adds the changes of a batch's visits.
pub(super) fn write_changes(db: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    if batch.run.0 <= 1 {
        return Ok(());
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO change_row (run, page, flag, at, moved, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for visit in batch.visits.iter().map(|finished| &finished.visit).filter(|visit| is_told(visit)) {
        let detail = visit.detail.as_ref().or(visit.problem.as_ref().filter(|_| visit.flag == Flag::Error));
        let (page, flag) = (visit.page.0.cast_signed(), visit.flag.code());
        insert.execute(params![batch.run.0, page, flag, visit.at.0, visit.moved, detail])?;
    }
    Ok(())
}

impl CatalogueReader {
    /// Up to `limit` changes after a number, in order; optionally of one run.
    pub fn changes(&self, after: u64, run: Option<RunId>, limit: u32) -> Result<Vec<ChangeRow>> {
        let sql = "SELECT c.seq, c.run, c.page, p.url, c.flag, c.at, c.moved, c.detail FROM change_row c
                   JOIN page_row p ON p.id = c.page WHERE c.seq > ?1 AND (?2 IS NULL OR c.run = ?2) ORDER BY c.seq LIMIT ?3";
        self.all(sql, params![after.cast_signed(), run.map(|run| run.0), limit], read)
    }

    /// The number of the last change; 0 if there is none.
    pub fn last_change(&self) -> Result<u64> {
        self.count("SELECT coalesce(max(seq), 0) FROM change_row")
    }

    /// Number of documents known before a run began.
    pub fn known_before(&self, run: RunId) -> Result<u64> {
        // Nothing was known before the first run, and finding that out would read all visits.
        if run.0 <= 1 { Ok(0) } else { self.count(&known_before(run)) }
    }
}

fn read(r: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        seq: r.get::<_, i64>(0)?.cast_unsigned(),
        run: RunId(r.get(1)?),
        page: PageId(r.get::<_, i64>(2)?.cast_unsigned()),
        url: r.get(3)?,
        flag: Flag::from_code(r.get(4)?).unwrap_or(Flag::Error),
        at: Moment(r.get(5)?),
        moved_to: r.get(6)?,
        detail: r.get(7)?,
    })
}
