//! What must a run know that goes on where another stopped?

use super::Catalogue;
use crate::error::{Result, StoreError};
use orb_page::{HostId, LinkKind, PageId, PageKind, RunId};
use rusqlite::{Params, Row};

impl Catalogue {
    /// Hosts of which a run has fetched a page.
    pub fn hosts_fetched(&self, run: RunId) -> Result<Vec<HostId>> {
        let sql = "SELECT DISTINCT p.host FROM visit_row v JOIN page_row p ON p.id = v.page
                   WHERE v.run = ?1 AND v.status IS NOT NULL";
        self.all(sql, [run.0], |r| r.get(0).map(HostId))
    }

    /// Pages left outside because of the link that was seen first, and for no trap: a better link would bring them in.
    pub fn outside_pages(&self) -> Result<Vec<PageId>> {
        let sql = "SELECT p.id FROM page_row p JOIN name_row n ON n.id = p.why
                   WHERE p.kind = ?1 AND n.name NOT LIKE 'trap%'";
        self.all(sql, [PageKind::Outside.code()], page_id)
    }

    /// The URLs of the seeds, and of the places they redirect to, one redirect after the other.
    pub fn seed_urls(&self) -> Result<Vec<String>> {
        let sql = "WITH RECURSIVE seed(id) AS (
               SELECT id FROM page_row WHERE origin IS NULL
               UNION
               SELECT l.dst FROM seed JOIN link_row l ON l.src = seed.id AND l.kind = ?1
             )
             SELECT p.url FROM seed JOIN page_row p ON p.id = seed.id ORDER BY p.id";
        self.all(sql, [LinkKind::Redirect.code()], |r| r.get(0))
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let fail = |e| StoreError::sql("read what is known", &self.path, e);
        let mut rows = self.db.prepare(sql).map_err(fail)?;
        rows.query_map(values, read).map_err(fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
    }
}

fn page_id(row: &Row<'_>) -> rusqlite::Result<PageId> {
    row.get::<_, i64>(0).map(|id| PageId(id.cast_unsigned()))
}
