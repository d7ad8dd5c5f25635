//! Which pages are visited again?
//!
//! Every page that was ever asked for and is not kept out by now. A document counts as known when the last visit that was no passing failure
//! found one; the others are asked again too, since what was missing may have come.

use super::Catalogue;
use super::before::BeforeReader;
use super::schema::DOCUMENTS;
use crate::Requeued;
use crate::error::{Result, StoreError};
use orb_page::{Flag, HostId, PageId, RunId};
use rusqlite::{Row, params};

/// A page to visit again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What puts it into its queue.
    pub page: Requeued,
    /// Whether a document was there.
    pub there: bool,
    /// The step of the project that collected it.
    pub step: Option<u32>,
}

impl Catalogue {
    /// Up to `limit` pages numbered above `after` that earlier runs have visited and this one has neither visited nor put into a queue; and the
    /// number to go on after, `None` at the end.
    pub fn known_pages(&self, run: RunId, after: PageId, limit: u32) -> Result<(Vec<Known>, Option<PageId>)> {
        let fail = |e| StoreError::sql("read the known pages", &self.path, e);
        let sql = "SELECT p.id, p.host, p.url, p.rank, p.depth, p.step, coalesce(p.again, 0) < ?2
                     AND (SELECT max(run) FROM visit_row v WHERE v.page = p.id) < ?2
                   FROM page_row p WHERE p.id > ?1 AND p.kind = 0 ORDER BY p.id LIMIT ?3";
        let mut rows = self.db.prepare_cached(sql).map_err(fail)?;
        let rows = rows.query_map(params![after.0.cast_signed(), run.0, limit], read).map_err(fail)?;
        let found = rows.collect::<rusqlite::Result<Vec<_>>>().map_err(fail)?;
        let last = found.last().map(|(known, _)| known.page.page);
        let mut visits = BeforeReader::new(&self.db).map_err(fail)?;
        let mut known = Vec::with_capacity(found.len());
        for (mut page, due) in found {
            if due {
                page.there = visits.read(page.page.page).map_err(fail)?.is_some_and(|before| before.there);
                known.push(page);
            }
        }
        Ok((known, last))
    }
}

fn read(r: &Row<'_>) -> rusqlite::Result<(Known, bool)> {
    let page = Requeued {
        page: PageId(r.get::<_, i64>(0)?.cast_unsigned()),
        host: HostId(r.get(1)?),
        url: r.get(2)?,
        rank: r.get::<_, i64>(3)?.cast_unsigned(),
        depth: r.get(4)?,
    };
    Ok((Known { page, there: false, step: r.get(5)? }, r.get::<_, Option<bool>>(6)?.unwrap_or(false)))
}

/// Counts the documents that were there before a run.
pub(super) fn known_before(run: RunId) -> String {
    format!(
        "SELECT count(*) FROM (SELECT v.page, max(v.run), v.flag, v.kind FROM visit_row v
         WHERE v.run < {} AND v.flag <> {} GROUP BY v.page) WHERE flag <> {} AND kind IN ({DOCUMENTS})",
        run.0,
        Flag::Error.code(),
        Flag::Missing.code(),
    )
}
