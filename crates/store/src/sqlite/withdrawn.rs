//! What if a visit does not count?
//!
//! Some servers answer a page's first request by a redirect that leads over other addresses, sets
//! cookies there and comes back. The page is then requested once more in the same run, and what the
//! run saw of it first is deleted, so that the page is as if it had not been visited yet. Only the
//! archive keeps that response.

use super::Catalogue;
use super::schema::DOCUMENTS;
use crate::error::{Result, StoreError};
use crate::{Batch, Requeued};
use orb_page::{Flag, HostId, LinkKind, PageId, PageKind, RunId, WarcPosition};
use rusqlite::{Connection, OptionalExtension, params};

/// Redirects of one run that lead from a page back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectLoop {
    /// The page to request again, at its previous place in its queue: the one that was a document
    /// in an earlier run, otherwise the one that was asked about.
    pub page: Requeued,
    /// The flag of its visit.
    pub flag: Flag,
    /// All pages that the redirects lead over.
    pub pages: Vec<PageId>,
}

impl Catalogue {
    /// The redirects of a run that lead from a page over at most `hops` others to `end`, which
    /// leads back; `None` if they do not, or if a visit of them is not recorded yet.
    pub(crate) fn redirect_loop(
        &self,
        run: RunId,
        start: PageId,
        end: PageId,
        hops: u8,
    ) -> Result<Option<RedirectLoop>> {
        let found = || {
            let Some(pages) = follow(&self.db, run, (start, end), hops)? else { return Ok(None) };
            let first = was_document(&self.db, run, &pages)?.unwrap_or(start);
            Ok(visited(&self.db, run, first)?.map(|(page, flag)| RedirectLoop { page, flag, pages }))
        };
        found().map_err(|e| StoreError::sql("follow redirects", &self.path, e))
    }

    /// Where the archive has what a run saw of these pages, as far as it has.
    pub(crate) fn archived(&self, run: RunId, pages: &[PageId]) -> Result<Vec<WarcPosition>> {
        let found = || {
            let mut place = self.db.prepare_cached(
                "SELECT f.name, v.warc_offset, v.warc_length FROM visit_row v JOIN warc_row f ON f.id = v.warc
                 WHERE v.page = ?1 AND v.run = ?2",
            )?;
            let read = |r: &rusqlite::Row<'_>| {
                let number = |i| r.get::<_, i64>(i).map(i64::cast_unsigned);
                Ok(WarcPosition { file: r.get::<_, String>(0)?.into(), offset: number(1)?, length: number(2)? })
            };
            let places =
                pages.iter().map(|page| place.query_row(params![page.0.cast_signed(), run.0], read).optional());
            places.filter_map(rusqlite::Result::transpose).collect::<rusqlite::Result<_>>()
        };
        found().map_err(|e| StoreError::sql("read the visits of pages", &self.path, e))
    }
}

/// The pages on the way from one page to another.
fn follow(
    db: &Connection,
    run: RunId,
    (start, end): (PageId, PageId),
    hops: u8,
) -> rusqlite::Result<Option<Vec<PageId>>> {
    let mut next = db.prepare_cached(
        "SELECT l.dst FROM visit_row v JOIN link_row l
           ON l.source = (SELECT max(source) FROM visit_row w WHERE w.page = v.page)
         WHERE v.page = ?1 AND v.run = ?2 AND v.kind = ?3 AND l.kind = ?4 AND l.last_run IS NULL LIMIT 1",
    )?;
    let (kind, link) = (PageKind::Redirect.code(), LinkKind::Redirect.code());
    let mut pages = vec![start];
    let mut at = start;
    while at != end {
        let to = next.query_row(params![at.0.cast_signed(), run.0, kind, link], |r| r.get::<_, i64>(0)).optional()?;
        let Some(to) = to.filter(|_| pages.len() <= usize::from(hops)) else { return Ok(None) };
        at = PageId(to.cast_unsigned());
        pages.push(at);
    }
    Ok(Some(pages))
}

/// The page among these that was a document before this run.
fn was_document(db: &Connection, run: RunId, pages: &[PageId]) -> rusqlite::Result<Option<PageId>> {
    if run.0 <= 1 {
        return Ok(None);
    }
    let sql = format!(
        "SELECT kind IN ({DOCUMENTS}) FROM visit_row WHERE page = ?1 AND run < ?2 AND flag <> ?3 ORDER BY run DESC LIMIT 1"
    );
    let mut before = db.prepare_cached(&sql)?;
    for page in pages {
        let values = params![page.0.cast_signed(), run.0, Flag::Error.code()];
        if before.query_row(values, |r| r.get(0)).optional()? == Some(true) {
            return Ok(Some(*page));
        }
    }
    Ok(None)
}

/// A page that was visited in this run, and the flag of the visit.
fn visited(db: &Connection, run: RunId, page: PageId) -> rusqlite::Result<Option<(Requeued, Flag)>> {
    let mut row = db.prepare_cached(
        "SELECT p.host, p.url, p.rank, p.depth, p.step, v.flag FROM page_row p JOIN visit_row v ON v.page = p.id
         WHERE p.id = ?1 AND v.run = ?2",
    )?;
    let read = |r: &rusqlite::Row<'_>| {
        let (host, url, rank) = (HostId(r.get(0)?), r.get(1)?, r.get::<_, i64>(2)?.cast_unsigned());
        let requeued = Requeued { page, host, url, rank, depth: r.get(3)?, step: r.get(4)? };
        Ok((requeued, Flag::from_code(r.get(5)?).unwrap_or(Flag::Error)))
    };
    row.query_row(params![page.0.cast_signed(), run.0], read).optional()
}

/// Deletes what this run saw of pages whose visit does not count, and opens the links again that it
/// closed.
pub(super) fn write_withdrawn(db: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    const STEPS: [&str; 7] = [
        "DELETE FROM link_row WHERE first_run = ?2 AND source = (SELECT max(source) FROM visit_row WHERE page = ?1)",
        "UPDATE link_row SET last_run = NULL WHERE source = (SELECT max(source) FROM visit_row WHERE page = ?1)
           AND last_run = (SELECT max(run) FROM visit_row WHERE page = ?1 AND run < ?2)",
        "DELETE FROM source_row WHERE id = (SELECT source FROM visit_row WHERE page = ?1 AND run = ?2)",
        "UPDATE tally_row SET pages = pages - 1 WHERE host = (SELECT host FROM page_row WHERE id = ?1)
           AND EXISTS (SELECT 1 FROM visit_row WHERE page = ?1 AND run = ?2 AND status NOTNULL)",
        "DELETE FROM change_row WHERE page = ?1 AND run = ?2",
        "DELETE FROM around_row WHERE page = ?1 AND run = ?2",
        "DELETE FROM visit_row WHERE page = ?1 AND run = ?2",
    ];
    for page in &batch.withdrawn {
        for sql in STEPS {
            db.prepare_cached(sql)?.execute(params![page.0.cast_signed(), batch.run.0])?;
        }
    }
    Ok(())
}
