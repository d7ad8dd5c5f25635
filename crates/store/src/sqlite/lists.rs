//! Which pages and hosts are listed, part by part?
//!
//! Lists may be long and filters rare, so no statement here examines more rows than it is told to,
//! or sorts more than a tally of hosts.

use super::CatalogueReader;
use super::document_types::document_condition;
use super::page::{HostRow, PageRow};
use super::reader::sql_limit;
use super::schema::{LATEST, QUEUED};
use super::views::quoted;
use crate::error::{Result, StoreError};
use orb_page::PageKind;
use rusqlite::params;

/// Which pages are listed; `None` is any, and so are no kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSieve<'a> {
    /// Their kinds.
    pub kinds: &'a [PageKind],
    /// The number of their host.
    pub host: Option<u32>,
    /// The first and the last of their status codes.
    pub status: Option<(u16, u16)>,
    /// Their media type; with `/` at its end, all that begin so; without `/`, a document type.
    pub mime: Option<&'a str>,
    /// What their URL contains.
    pub url: Option<&'a str>,
}

/// A page that waits to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingPage {
    /// The page.
    pub id: u64,
    /// Its URL.
    pub url: String,
    /// The number of its host.
    pub host: u32,
    /// Its distance from the seeds.
    pub depth: u32,
}

impl CatalogueReader {
    /// Gives the pages that wait to be fetched, of those with numbers after the first and up to the
    /// second, and of one host if it is given.
    pub fn each_waiting<E: From<StoreError>>(
        &self,
        (after, last): (u64, u64),
        host: Option<u32>,
        each: impl FnMut(WaitingPage) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let sql = format!(
            "SELECT p.id, p.url, p.host, p.depth FROM page_row p {LATEST}
             WHERE p.id > ?1 AND p.id <= ?2 AND (?3 IS NULL OR p.host = ?3) AND {QUEUED} ORDER BY p.id"
        );
        let values = params![sql_limit(after), sql_limit(last), host];
        let read = |row: &rusqlite::Row<'_>| {
            let id: i64 = row.get(0)?;
            Ok(WaitingPage { id: id.unsigned_abs(), url: row.get(1)?, host: row.get(2)?, depth: row.get(3)? })
        };
        self.each_read(("list the queue", &sql), values, read, each)
    }

    /// The pages that pass a sieve, of those with numbers after the first and up to the second, at
    /// most so many.
    pub fn pages(&self, sieve: &PageSieve<'_>, (after, last): (u64, u64), limit: u64) -> Result<Vec<PageRow>> {
        let document = sieve.mime.filter(|mime| !mime.contains('/')).and_then(document_condition);
        let mime = sieve.mime.filter(|_| document.is_none());
        let kinds = match sieve.kinds {
            [] => "true".to_owned(),
            kinds => format!("kind IN ({})", quoted(kinds)),
        };
        let sql = format!(
            "SELECT * FROM page WHERE id > ?1 AND id <= ?2
             AND (?3 IS NULL OR host_id = ?3) AND (?4 IS NULL OR status BETWEEN ?4 AND ?5)
             AND (?6 IS NULL OR mime = ?6 OR (substr(?6, -1) = '/' AND substr(mime, 1, length(?6)) = ?6))
             AND (?7 IS NULL OR instr(url, ?7) > 0) AND {kinds} AND {} ORDER BY id LIMIT ?8",
            document.as_deref().unwrap_or("true")
        );
        let (lowest, highest) = (sieve.status.map(|status| status.0), sieve.status.map(|status| status.1));
        let values =
            params![sql_limit(after), sql_limit(last), sieve.host, lowest, highest, mime, sieve.url, sql_limit(limit)];
        self.all_for(("list pages", &sql), values, PageRow::read)
    }

    /// URL and step of the queued pages with numbers after the first and up to the second.
    pub fn queued_between(&self, (after, last): (u64, u64)) -> Result<Vec<(String, Option<u32>)>> {
        let sql = format!(
            "SELECT p.url, p.step FROM page_row p {LATEST} WHERE p.id > ?1 AND p.id <= ?2 AND {QUEUED} ORDER BY p.id"
        );
        let values = params![sql_limit(after), sql_limit(last)];
        self.all_for(("read the queue", &sql), values, |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// The hosts whose names contain a text, those with the most pages first, after one with so
    /// many pages and this number, at most so many.
    pub fn hosts_by_pages(&self, name: Option<&str>, after: Option<(u64, u32)>, limit: u64) -> Result<Vec<HostRow>> {
        // Only numbers are sorted: the rest of a host, with its robots.txt, is read for those that
        // are given.
        let sql = "WITH best AS MATERIALIZED (SELECT h.id, coalesce(t.pages, 0) AS pages
              FROM host_row h LEFT JOIN tally_row t ON t.host = h.id WHERE (?1 IS NULL OR instr(h.name, ?1) > 0)
              AND (?2 IS NULL OR coalesce(t.pages, 0) < ?2 OR (coalesce(t.pages, 0) = ?2 AND h.id > ?3))
              ORDER BY 2 DESC, 1 LIMIT ?4)
            SELECT host.* FROM best CROSS JOIN host ON host.id = best.id ORDER BY best.pages DESC, best.id";
        let (pages, id) = (after.map(|after| sql_limit(after.0)), after.map(|after| after.1));
        self.all_for(("list hosts", sql), params![name, pages, id, sql_limit(limit)], HostRow::read)
    }
}
