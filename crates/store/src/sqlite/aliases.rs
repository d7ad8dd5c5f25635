//! Which addresses were withheld as aliases, and by which rules?
//!
//! `alias_row` has a row for every address that is another one of a known page: withheld, or
//! fetched nevertheless as a test of the rules that say so (`tested`). `alias_rule_row` keeps what
//! is known about the aliases of a host, as text. Both are written with the batch that caused them,
//! and both are ordered by host, since that is how rules are withdrawn.

use super::Catalogue;
use super::commit::name_id;
use super::reader::CatalogueReader;
use super::schema::{DOCUMENTS, LATEST, QUEUED};
use crate::error::{Result, StoreError};
use crate::{AliasEntry, Batch, Requeued};
use orb_page::{Flag, HostId, IdSet, PageId, PageKind, RunId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// What became of a page so far, as far as aliases are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStanding {
    /// What keeps it from being fetched, or `Frontier`.
    pub kind: PageKind,
    /// Its host.
    pub host: HostId,
    /// Whether it is in its queue.
    pub queued: bool,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// Its latest visit: the run, what it found, and the digest.
    pub visit: Option<(RunId, PageKind, Option<[u8; 32]>)>,
}

/// An address that is withheld, with what it takes to queue it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldAlias {
    /// Its place in its queue.
    pub page: Requeued,
    /// The rules that made it an alias, one bit each.
    pub rules: u64,
}

/// A test that went wrong: two addresses that were taken for one have different content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedTest {
    /// Their host.
    pub host: HostId,
    /// The rules that made them one, one bit each.
    pub rules: u64,
}

/// What an address is an alias of, as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AliasNote {
    /// The page: `page.id`.
    pub of: u64,
    /// Its URL.
    pub url: String,
    /// The rules by which.
    pub rule: String,
    /// Whether it was fetched nevertheless, as a test of the rules.
    pub tested: bool,
}

const WITHHELD: &str = "SELECT a.page, p.host, p.url, p.rank, p.depth, p.step, a.rules
    FROM alias_row a CROSS JOIN page_row p ON p.id = a.page WHERE a.tested = 0";

impl Catalogue {
    /// What is known about the aliases of up to `limit` hosts, as text.
    pub(crate) fn alias_rules(&self, limit: usize) -> Result<Vec<(HostId, String)>> {
        let sql = "SELECT host, rules FROM alias_rule_row ORDER BY host DESC LIMIT ?1";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.alias_rows(sql, [limit], |r| Ok((HostId(r.get(0)?), r.get(1)?)))
    }

    /// The pages that withheld addresses are aliases of.
    pub(crate) fn alias_targets(&self) -> Result<IdSet> {
        let fail = |e| StoreError::sql("read the aliases", &self.path, e);
        let mut rows = self.db.prepare("SELECT target FROM alias_row WHERE tested = 0").map_err(fail)?;
        let targets = rows.query_map([], |r| number(r, 0)).map_err(fail)?;
        targets.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    /// What became of a page so far.
    pub(crate) fn standing(&self, page: PageId) -> Result<Option<PageStanding>> {
        let sql = format!(
            "SELECT p.kind, {QUEUED}, v.run, v.kind, v.digest, p.step, p.host FROM page_row p {LATEST} WHERE p.id = ?1"
        );
        let kind = |code: u8| PageKind::from_code(code).unwrap_or(PageKind::Outside);
        let read = |r: &Row<'_>| {
            let visit = match r.get::<_, Option<u32>>(2)? {
                Some(run) => Some((RunId(run), kind(r.get(3)?), r.get(4)?)),
                None => None,
            };
            let (queued, step, host) = (r.get(1)?, r.get(5)?, HostId(r.get(6)?));
            Ok(PageStanding { kind: kind(r.get(0)?), host, queued, step, visit })
        };
        let row = self.db.prepare_cached(&sql);
        let row = row.and_then(|mut q| q.query_row([page.0.cast_signed()], read).optional());
        row.map_err(|e| StoreError::sql("read a page", &self.path, e))
    }

    /// The host and the URL of a page.
    pub(crate) fn place_of(&self, page: PageId) -> Result<Option<(HostId, String)>> {
        let row = self.db.prepare_cached("SELECT host, url FROM page_row WHERE id = ?1");
        let read = |r: &Row<'_>| Ok((HostId(r.get(0)?), r.get(1)?));
        let row = row.and_then(|mut q| q.query_row([page.0.cast_signed()], read).optional());
        row.map_err(|e| StoreError::sql("read a page", &self.path, e))
    }

    /// The URLs that a page links to now, at most `limit`.
    pub(crate) fn link_urls(&self, page: PageId, limit: u32) -> Result<Vec<String>> {
        let sql = "SELECT p.url FROM visit_row v CROSS JOIN link_row l ON l.source = v.source
                   CROSS JOIN page_row p ON p.id = l.dst WHERE v.page = ?1 AND l.last_run IS NULL LIMIT ?2";
        self.alias_rows(sql, params![page.0.cast_signed(), limit], |r| r.get(0))
    }

    /// What a withheld address is an alias of, with its rules, one bit each.
    pub(crate) fn alias_target(&self, host: HostId, page: PageId) -> Result<Option<(PageId, u64)>> {
        let sql = "SELECT target, rules FROM alias_row WHERE host = ?1 AND page = ?2 AND tested = 0";
        let read = |r: &Row<'_>| Ok((PageId(number(r, 0)?), number(r, 1)?));
        Ok(self.alias_rows(sql, params![host.0, page.0.cast_signed()], read)?.first().copied())
    }

    /// Whether an address is to be fetched as a test.
    pub(crate) fn is_alias_test(&self, host: HostId, page: PageId) -> Result<bool> {
        let row = self.db.prepare_cached("SELECT tested FROM alias_row WHERE host = ?1 AND page = ?2");
        let row = row.and_then(|mut q| q.query_row(params![host.0, page.0.cast_signed()], |r| r.get(0)).optional());
        Ok(row.map_err(|e| StoreError::sql("read an alias", &self.path, e))?.unwrap_or(false))
    }

    /// The withheld aliases of a page.
    pub(crate) fn withheld_for(&self, target: PageId) -> Result<Vec<WithheldAlias>> {
        self.alias_rows(&format!("{WITHHELD} AND a.target = ?1"), [target.0.cast_signed()], read_withheld)
    }

    /// Up to `limit` addresses of a host that any of these rules withholds.
    pub(crate) fn withheld_by(&self, host: HostId, rules: u64, limit: u32) -> Result<Vec<WithheldAlias>> {
        let sql = format!("{WITHHELD} AND a.host = ?1 AND a.rules & ?2 <> 0 ORDER BY a.page LIMIT ?3");
        self.alias_rows(&sql, params![host.0, rules.cast_signed(), limit], read_withheld)
    }

    /// Up to `limit` withheld addresses of a host that are numbered above `after`.
    pub(crate) fn withheld_of(&self, host: HostId, after: PageId, limit: u32) -> Result<Vec<WithheldAlias>> {
        let sql = format!("{WITHHELD} AND a.host = ?1 AND a.page > ?2 ORDER BY a.page LIMIT ?3");
        self.alias_rows(&sql, params![host.0, after.0.cast_signed(), limit], read_withheld)
    }

    /// Withheld addresses whose page turned out not to be a document, is gone, or is not to be
    /// fetched.
    pub(crate) fn withheld_in_vain(&self) -> Result<Vec<WithheldAlias>> {
        let sql = format!(
            "{WITHHELD} AND EXISTS (SELECT 1 FROM page_row t WHERE t.id = a.target AND (t.kind NOT IN (0, {alias})
               OR EXISTS (SELECT 1 FROM visit_row v WHERE v.page = t.id AND v.kind NOT IN ({DOCUMENTS})
                 AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = t.id)
                 AND (v.flag = {gone} OR v.kind = {moved} OR NOT EXISTS
                   (SELECT 1 FROM visit_row w WHERE w.page = t.id AND w.kind IN ({DOCUMENTS}))))))",
            alias = PageKind::Duplicate.code(),
            gone = Flag::Missing.code(),
            moved = PageKind::Redirect.code(),
        );
        self.alias_rows(&sql, [], read_withheld)
    }

    /// Tests in which both addresses were fetched by this run and have different content. With
    /// `settled`, only if neither changed in this run: one that did may have been changed between
    /// the two requests.
    pub(crate) fn failed_tests(&self, run: RunId, settled: bool) -> Result<Vec<FailedTest>> {
        let sql = format!(
            "SELECT a.host, a.rules FROM alias_row a CROSS JOIN visit_row v ON v.page = a.page AND v.run = ?1
             CROSS JOIN visit_row t ON t.page = a.target AND t.run = ?1
             WHERE a.tested = 1 AND v.kind IN ({DOCUMENTS}) AND t.kind IN ({DOCUMENTS}) AND v.digest <> t.digest
               AND (NOT ?2 OR (v.flag = {same} AND t.flag = {same}))",
            same = Flag::Same.code()
        );
        let read = |r: &Row<'_>| Ok(FailedTest { host: HostId(r.get(0)?), rules: number(r, 1)? });
        self.alias_rows(&sql, params![run.0, settled], read)
    }

    /// Number of pages fetched from a host.
    pub(crate) fn pages_fetched(&self, host: HostId) -> Result<u64> {
        let pages = self.alias_rows("SELECT pages FROM tally_row WHERE host = ?1", [host.0], |r| number(r, 0))?;
        Ok(pages.first().copied().unwrap_or(0))
    }

    fn alias_rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let fail = |e| StoreError::sql("read the aliases", &self.path, e);
        let mut rows = self.db.prepare_cached(sql).map_err(fail)?;
        rows.query_map(values, read).map_err(fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
    }
}

impl CatalogueReader {
    /// What an address is an alias of, if it is one.
    pub fn alias(&self, page: PageId) -> Result<Option<AliasNote>> {
        let sql = "SELECT a.target, p.url, n.name, a.tested FROM alias_row a JOIN page_row p ON p.id = a.target
                   JOIN name_row n ON n.id = a.name WHERE a.page = ?1 AND a.host = (SELECT host FROM page_row WHERE id = ?1)";
        self.one_for(("read an alias", sql), [page.0.cast_signed()], |r| {
            Ok(AliasNote { of: number(r, 0)?, url: r.get(1)?, rule: r.get(2)?, tested: r.get(3)? })
        })
    }

    /// How many addresses of a host are withheld, by the rules that do so.
    pub fn withheld_by(&self, host: HostId) -> Result<Vec<(u64, u64)>> {
        let sql = "SELECT rules, count(*) FROM alias_row WHERE host = ?1 AND tested = 0 GROUP BY rules";
        self.all_for(("count the aliases", sql), [host.0], |r| Ok((number(r, 0)?, number(r, 1)?)))
    }

    /// What is known about the aliases of hosts: their numbers and origins, and the rules as text.
    pub fn alias_rules(&self) -> Result<Vec<(HostId, String, String)>> {
        let sql =
            "SELECT h.scheme, h.name, h.port, a.rules, a.host FROM alias_rule_row a JOIN host_row h ON h.id = a.host
                   ORDER BY a.host";
        self.all_for(("read the rules of aliases", sql), [], |r| {
            let (scheme, name, port): (String, String, u16) = (r.get(0)?, r.get(1)?, r.get(2)?);
            let default = matches!((scheme.as_str(), port), ("http", 80) | ("https", 443));
            let origin = if default { format!("{scheme}://{name}") } else { format!("{scheme}://{name}:{port}") };
            Ok((HostId(r.get(4)?), origin, r.get(3)?))
        })
    }
}

/// Writes which addresses are aliases, and forgets those that are not any more.
pub(super) fn write_aliases(
    db: &Connection,
    names: &mut HashMap<Arc<str>, i64>,
    batch: &Batch,
) -> rusqlite::Result<()> {
    let mut delete = db.prepare_cached("DELETE FROM alias_row WHERE host = ?1 AND page = ?2")?;
    for (host, page) in &batch.unaliased {
        delete.execute(params![host.0, page.0.cast_signed()])?;
    }
    let mut insert = db.prepare_cached(
        "INSERT OR REPLACE INTO alias_row (host, page, target, rules, name, tested) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for AliasEntry { page, target, host, rules, name, tested } in &batch.aliases {
        let name = name_id(db, names, name)?;
        let (page, target) = (page.0.cast_signed(), target.0.cast_signed());
        insert.execute(params![host.0, page, target, rules.cast_signed(), name, tested])?;
    }
    let mut tested = db.prepare_cached("UPDATE alias_row SET tested = 1 WHERE host = ?1 AND page = ?2")?;
    for (host, page) in &batch.alias_tests {
        tested.execute(params![host.0, page.0.cast_signed()])?;
    }
    Ok(())
}

fn read_withheld(r: &Row<'_>) -> rusqlite::Result<WithheldAlias> {
    let page = Requeued {
        page: PageId(number(r, 0)?),
        host: HostId(r.get(1)?),
        url: r.get(2)?,
        rank: number(r, 3)?,
        depth: r.get(4)?,
        step: r.get(5)?,
    };
    Ok(WithheldAlias { page, rules: number(r, 6)? })
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
