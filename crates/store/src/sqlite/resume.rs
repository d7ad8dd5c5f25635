//! What must a resumed run know?

use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use orb_page::{HostId, LinkKind, PageId, PageKind, RunId, SkipReason, Trap};
use rusqlite::{OptionalExtension, Params, Row};
use std::net::IpAddr;

/// A page that was never fetched: queued, left outside, or withheld as an alias.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfetched {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
    /// The URL of the page it was discovered on.
    pub from: Option<String>,
    /// Distance from the seed.
    pub depth: u32,
    /// Priority.
    pub priority: f64,
    /// Its position in its host's queue.
    pub rank: u64,
    /// Why it is not to be fetched; `None` if it is queued.
    pub why: Option<SkipReason>,
    /// The step of the project that collects it, or met it first.
    pub step: Option<u32>,
}

/// The seeds of a step and their redirect targets. `CROSS JOIN` fixes the join order: from the few
/// seeds to their pages, never a scan of all pages.
const SEEDS: &str = "WITH RECURSIVE seed(id) AS (
    SELECT id FROM page_row WHERE origin IS NULL AND step IS ?2
    UNION
    SELECT l.dst FROM seed CROSS JOIN visit_row v ON v.page = seed.id
      CROSS JOIN link_row l ON l.source = v.source AND l.kind = ?1
  )
  SELECT p.url FROM seed CROSS JOIN page_row p ON p.id = seed.id ORDER BY p.id";

impl CatalogueReader {
    /// The URLs of the seeds that belong to no step, and of their redirect targets, transitively.
    pub fn seed_urls(&self) -> Result<Vec<String>> {
        self.all(SEEDS, (LinkKind::Redirect.code(), None::<u32>), |r| r.get(0))
    }
}

impl Catalogue {
    /// Hosts of which a run has fetched a page, the last run to do so.
    pub(crate) fn hosts_fetched(&self, run: RunId) -> Result<Vec<HostId>> {
        self.all("SELECT host FROM tally_row WHERE run = ?1", [run.0], |r| r.get(0).map(HostId))
    }

    /// The IP address at which a host was last seen.
    pub(crate) fn host_ip(&self, host: HostId) -> Result<Option<IpAddr>> {
        let read = |r: &Row<'_>| r.get::<_, Option<String>>(0);
        let mut row = self
            .db
            .prepare_cached("SELECT ip FROM host_row WHERE id = ?1")
            .map_err(|e| StoreError::sql("read a host", &self.path, e))?;
        let ip = row.query_row([host.0], read).optional().map_err(|e| StoreError::sql("read a host", &self.path, e))?;
        Ok(ip.flatten().and_then(|text| text.parse().ok()))
    }

    /// The host of a page.
    pub(crate) fn host_of(&self, page: PageId) -> Result<Option<HostId>> {
        let sql = "SELECT host FROM page_row WHERE id = ?1";
        let row =
            self.db.prepare_cached(sql).and_then(|mut q| q.query_row([page.0.cast_signed()], |r| r.get(0)).optional());
        row.map(|host| host.map(HostId)).map_err(|e| StoreError::sql("read a page's host", &self.path, e))
    }

    /// The largest `limit` trap counters, smallest first.
    pub(crate) fn trap_counts(&self, limit: u32) -> Result<Vec<(u64, u32)>> {
        let sql =
            "SELECT key, count FROM (SELECT key, count FROM trap_row ORDER BY count DESC LIMIT ?1) ORDER BY count";
        self.all(sql, [limit], |r| Ok((number(r, 0)?, r.get(1)?)))
    }

    /// What is known about the session ids in URLs, by the names of up to `limit` hosts.
    pub(crate) fn sessions(&self, limit: usize) -> Result<Vec<(String, String)>> {
        let sql =
            "SELECT h.name, s.rules FROM session_row s JOIN host_row h ON h.id = s.host ORDER BY s.host DESC LIMIT ?1";
        self.all(sql, [i64::try_from(limit).unwrap_or(i64::MAX)], |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// The URLs of the seeds of a step, or of no step, and of their redirect targets, transitively.
    pub(crate) fn seed_urls(&self, step: Option<u32>) -> Result<Vec<String>> {
        self.all(SEEDS, (LinkKind::Redirect.code(), step), |r| r.get(0))
    }

    /// Up to `limit` pages numbered above `after` that were never fetched: queued, outside or
    /// aliases; with `traps`, including those cut off as traps.
    pub(crate) fn unfetched(&self, after: PageId, limit: u32, traps: bool) -> Result<Vec<Unfetched>> {
        let names: Vec<String> = Trap::ALL.iter().map(|trap| format!("'{trap}'")).collect();
        let sql = format!(
            "SELECT p.id, p.host, p.url, o.url, p.depth, p.priority, p.rank, n.name, p.step
             FROM page_row p LEFT JOIN page_row o ON o.id = p.origin LEFT JOIN name_row n ON n.id = p.why
             WHERE p.id > ?1 AND ((p.kind = ?3 AND (?5 OR n.name NOT IN ({}))) OR p.kind = {alias}
               OR (p.kind = ?4 AND NOT EXISTS (SELECT 1 FROM visit_row v WHERE v.page = p.id)))
             ORDER BY p.id LIMIT ?2",
            names.join(", "),
            alias = PageKind::Duplicate.code()
        );
        let values = (after.0.cast_signed(), limit, PageKind::Outside.code(), PageKind::Frontier.code(), traps);
        self.all(&sql, values, |r| {
            Ok(Unfetched {
                page: PageId(number(r, 0)?),
                host: HostId(r.get(1)?),
                url: r.get(2)?,
                from: r.get(3)?,
                depth: r.get(4)?,
                priority: r.get(5)?,
                rank: number(r, 6)?,
                why: reason(r, 7)?,
                step: r.get(8)?,
            })
        })
    }

    /// Stores the settings with which a run is resumed.
    pub(crate) fn change_settings(&mut self, run: RunId, settings: &str) -> Result<()> {
        self.db
            .execute("UPDATE run_row SET settings = ?2 WHERE id = ?1", rusqlite::params![run.0, settings])
            .map(drop)
            .map_err(|e| StoreError::sql("write the run", &self.path, e))
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

/// Why a page is outside. A reason of another version counts as the scope's: both are judged again
/// under the current settings.
fn reason(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<SkipReason>> {
    let name = row.get_ref(column)?.as_str_or_null()?;
    Ok(name.map(|name| SkipReason::from_name(name).unwrap_or(SkipReason::Scope)))
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_looks_for_its_seeds_without_reading_every_page() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::create_or_open(&dir.path().join("crawl.db")).unwrap();
        let plan =
            catalogue.all(&format!("EXPLAIN QUERY PLAN {SEEDS}"), (0, None::<u32>), |r| r.get::<_, String>(3)).unwrap();
        let scans = plan.iter().filter(|step| step.starts_with("SCAN ") && step.as_str() != "SCAN seed");
        assert_eq!(scans.collect::<Vec<_>>(), ["SCAN page_row USING INDEX seed_row"], "{plan:?}");
    }
}
