//! Which pages and hosts are listed, part by part?
//!
//! Lists may be long and filters rare, so no statement here examines more rows than it is told to,
//! or sorts more than a tally of hosts.

use super::CatalogueReader;
use super::page::{HostRow, PageRow};
use super::reader::sql_limit;
use crate::error::Result;
use orb_page::PageKind;
use rusqlite::params;

/// Which pages are listed; `None` is any.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSieve<'a> {
    /// Their kind.
    pub kind: Option<PageKind>,
    /// The number of their host.
    pub host: Option<u32>,
    /// The first and the last of their status codes.
    pub status: Option<(u16, u16)>,
    /// Their media type; with `/` at its end, all that begin so.
    pub mime: Option<&'a str>,
    /// What their URL contains.
    pub url: Option<&'a str>,
}

impl CatalogueReader {
    /// The pages that pass a sieve, of those with numbers after the first and up to the second, at
    /// most so many.
    pub fn pages(&self, sieve: &PageSieve<'_>, (after, last): (u64, u64), limit: u64) -> Result<Vec<PageRow>> {
        let sql = "SELECT * FROM page WHERE id > ?1 AND id <= ?2
            AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR host_id = ?4)
            AND (?5 IS NULL OR status BETWEEN ?5 AND ?6)
            AND (?7 IS NULL OR mime = ?7 OR (substr(?7, -1) = '/' AND substr(mime, 1, length(?7)) = ?7))
            AND (?8 IS NULL OR instr(url, ?8) > 0) ORDER BY id LIMIT ?9";
        let (lowest, highest) = (sieve.status.map(|status| status.0), sieve.status.map(|status| status.1));
        let kind = sieve.kind.map(PageKind::name);
        let values = params![
            sql_limit(after),
            sql_limit(last),
            kind,
            sieve.host,
            lowest,
            highest,
            sieve.mime,
            sieve.url,
            sql_limit(limit)
        ];
        self.all_for(("list pages", sql), values, PageRow::read)
    }

    /// The hosts whose names contain a text, those with the most pages first, after one with so
    /// many pages and this number, at most so many.
    pub fn hosts_by_pages(&self, name: Option<&str>, after: Option<(u64, u32)>, limit: u64) -> Result<Vec<HostRow>> {
        // Only numbers are sorted: the rest of a host, with its robots.txt, is read for those that are given.
        let sql = "WITH best AS MATERIALIZED (SELECT h.id, coalesce(t.pages, 0) AS pages
              FROM host_row h LEFT JOIN tally_row t ON t.host = h.id WHERE (?1 IS NULL OR instr(h.name, ?1) > 0)
              AND (?2 IS NULL OR coalesce(t.pages, 0) < ?2 OR (coalesce(t.pages, 0) = ?2 AND h.id > ?3))
              ORDER BY 2 DESC, 1 LIMIT ?4)
            SELECT host.* FROM best CROSS JOIN host ON host.id = best.id ORDER BY best.pages DESC, best.id";
        let (pages, id) = (after.map(|after| sql_limit(after.0)), after.map(|after| after.1));
        self.all_for(("list hosts", sql), params![name, pages, id, sql_limit(limit)], HostRow::read)
    }
}
