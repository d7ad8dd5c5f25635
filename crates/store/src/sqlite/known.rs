//! Which pages are revisited?
//!
//! Every page that was ever requested and is not excluded by now. A document counts as known if the
//! last visit that was not a temporary failure found one; the others are requested again too, since
//! what was missing may have appeared.

use super::Catalogue;
use super::before::BeforeReader;
use super::schema::DOCUMENTS;
use crate::Requeued;
use crate::error::{Result, StoreError};
use orb_page::{Flag, HostId, PageHistory, PageId, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A page to revisit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPage {
    /// Its queue entry.
    pub page: Requeued,
    /// Whether a document was there.
    pub there: bool,
    /// Whether it is already queued, from a run that had exhausted its budget.
    pub waits: bool,
}

impl Catalogue {
    /// What earlier runs saw of a page; `None` if it was never visited.
    pub(crate) fn before(&self, page: PageId) -> Result<Option<PageHistory>> {
        let read = BeforeReader::new(&self.db).and_then(|mut visits| visits.read(page));
        read.map_err(|e| StoreError::sql("read the visits of a page", &self.path, e))
    }

    /// The canonical URL of a page.
    pub(crate) fn url_of(&self, page: PageId) -> Result<Option<String>> {
        let sql = "SELECT url FROM page_row WHERE id = ?1";
        let row = self.db.prepare_cached(sql);
        let row = row.and_then(|mut q| q.query_row([page.0.cast_signed()], |r| r.get(0)).optional());
        row.map_err(|e| StoreError::sql("read a page", &self.path, e))
    }

    /// Up to `limit` pages numbered above `after` that earlier runs have visited and this one has
    /// neither visited nor queued, including those that are already queued; and the number to
    /// continue after, `None` at the end.
    pub(crate) fn known_pages(
        &self,
        run: RunId,
        after: PageId,
        limit: u32,
    ) -> Result<(Vec<KnownPage>, Option<PageId>)> {
        let fail = |e| StoreError::sql("read the known pages", &self.path, e);
        let sql = format!(
            "SELECT p.id, p.host, p.url, p.rank, p.depth, p.step, coalesce(p.again, 0),
               (SELECT max(run) FROM visit_row v WHERE v.page = p.id),
               (SELECT v.flag <> {missing} AND v.kind IN ({DOCUMENTS}) FROM visit_row v
                WHERE v.page = p.id AND v.flag <> {error} ORDER BY v.run DESC LIMIT 1)
             FROM page_row p WHERE p.id > ?1 AND p.kind = 0 ORDER BY p.id LIMIT ?2",
            missing = Flag::Missing.code(),
            error = Flag::Error.code(),
        );
        let mut rows = self.db.prepare_cached(&sql).map_err(fail)?;
        let mut rows = rows.query(params![after.0.cast_signed(), limit]).map_err(fail)?;
        let (mut known, mut last) = (Vec::new(), None);
        while let Some(row) = rows.next().map_err(fail)? {
            let page = read(row, run).map_err(fail)?;
            last = Some(PageId(row.get::<_, i64>(0).map_err(fail)?.cast_unsigned()));
            known.extend(page);
        }
        Ok((known, last))
    }
}

/// A page to visit in a run, if it is one.
fn read(r: &Row<'_>, run: RunId) -> rusqlite::Result<Option<KnownPage>> {
    let again: u32 = r.get(6)?;
    let Some(visited) = r.get::<_, Option<u32>>(7)?.filter(|visited| again < run.0 && *visited < run.0) else {
        return Ok(None);
    };
    let page = Requeued {
        page: PageId(r.get::<_, i64>(0)?.cast_unsigned()),
        host: HostId(r.get(1)?),
        url: r.get(2)?,
        rank: r.get::<_, i64>(3)?.cast_unsigned(),
        depth: r.get(4)?,
        step: r.get(5)?,
    };
    let there = r.get::<_, Option<bool>>(8)?.unwrap_or(false);
    Ok(Some(KnownPage { page, there, waits: again > visited }))
}

/// Stores what was learnt about the noise of hosts.
pub(super) fn write_noises(db: &Connection, noises: &[(HostId, String)]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached("INSERT OR REPLACE INTO noise_row (host, text) VALUES (?1, ?2)")?;
    noises.iter().try_for_each(|(host, text)| insert.execute(params![host.0, text]).map(drop))
}

/// Counts the documents known before a run.
pub(super) fn known_before(run: RunId) -> String {
    format!(
        "SELECT count(*) FROM (SELECT v.page, max(v.run), v.flag, v.kind FROM visit_row v
         WHERE v.run < {} AND v.flag <> {} GROUP BY v.page) WHERE flag <> {} AND kind IN ({DOCUMENTS})",
        run.0,
        Flag::Error.code(),
        Flag::Missing.code(),
    )
}
