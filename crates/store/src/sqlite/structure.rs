//! What does the graph builder read?
//!
//! Pages, hosts and links, each once and in storage order, so that a catalogue larger than memory
//! is read at the speed of the disk; and the few rows behind one answer, by key. Inside
//! [`CatalogueReader::at_one_moment`] all of it comes from one snapshot.

use super::page::LinkRow;
use super::reader::CatalogueReader;
use crate::error::{Result, StoreError};
use orb_page::{HostId, LinkKind, PageId, RunId};
use rusqlite::Row;

/// How far a catalogue has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The number of its last batch.
    pub batch: u64,
    /// Distinguishes that batch from another with the same number, as in a catalogue restored from
    /// a copy.
    pub nonce: u64,
    /// Its last run; 0 if there is none.
    pub run: RunId,
    /// Number of pages, numbered from 1.
    pub pages: u64,
    /// Number of pages with links, numbered from 1 in the order in which links were first seen on
    /// them.
    pub sources: u64,
}

/// A link as read in bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFact {
    /// The page it is on.
    pub src: PageId,
    /// The page it points to.
    pub dst: PageId,
    /// Its kind.
    pub kind: LinkKind,
    /// Whether it is marked `nofollow`.
    pub nofollow: bool,
    /// Whether it has disappeared.
    pub gone: bool,
}

impl CatalogueReader {
    /// Everything that `look` reads comes from one snapshot, however long it takes. What is written
    /// meanwhile stays in the WAL.
    pub fn at_one_moment<T, E: From<StoreError>>(
        &self,
        look: impl FnOnce(&Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let moment = self.db.unchecked_transaction().map_err(self.fail("read"))?;
        let seen = look(self)?;
        moment.finish().map_err(self.fail("read"))?;
        Ok(seen)
    }

    /// How far the catalogue has come.
    pub fn extent(&self) -> Result<Extent> {
        let what = "read the last numbers";
        let last = |table: &str| {
            let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
            let last = self.one_for((what, &sql), [], |r| r.get::<_, i64>(0))?;
            Ok::<u64, StoreError>(last.unwrap_or(0).cast_unsigned())
        };
        let sql = "SELECT no, nonce FROM batch_row ORDER BY no DESC LIMIT 1";
        let batch = self.one_for((what, sql), [], |r| {
            Ok((r.get::<_, i64>(0)?.cast_unsigned(), r.get::<_, i64>(1)?.cast_unsigned()))
        });
        let (batch, nonce) = batch?.unwrap_or_default();
        let run = RunId(u32::try_from(last("run_row")?).unwrap_or(u32::MAX));
        Ok(Extent { batch, nonce, run, pages: last("page_row")?, sources: last("source_row")? })
    }

    /// Every page in order of page numbers: its number, its host, its URL.
    pub fn each_url<E: From<StoreError>>(
        &self,
        mut tell: impl FnMut(PageId, HostId, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (what, sql) = ("read the pages", "SELECT id, host, url FROM page_row ORDER BY id");
        let fail = self.fail(what);
        self.each((what, sql), [], |row| {
            let (id, host, url) = page(row).map_err(&fail)?;
            tell(id, host, url)
        })
    }

    /// Every host in order of host numbers, and the common prefix of its pages' URLs.
    pub fn each_origin<E: From<StoreError>>(
        &self,
        mut tell: impl FnMut(HostId, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let sql = "SELECT id, scheme, name, port FROM host_row ORDER BY id";
        self.each_read(("read the hosts", sql), [], origin, |(host, origin)| tell(host, &origin))
    }

    /// Every link, including those that have disappeared, in the order of the visits that first saw
    /// links on a page; those of one page by target.
    pub fn each_link<E: From<StoreError>>(
        &self,
        mut tell: impl FnMut(&LinkFact) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let sql = "SELECT s.page, l.dst, l.kind, l.rel, l.last_run FROM source_row s CROSS JOIN link_row l ON l.source = s.id";
        // A kind of a later version is unknown here and is skipped.
        self.each_read(("read the links", sql), [], link, |link| link.map_or(Ok(()), |link| tell(&link)))
    }

    /// The links of one page to another, with the URL of the page they are on.
    pub fn links_between(&self, src: PageId, dst: PageId) -> Result<Vec<LinkRow>> {
        let sql = "SELECT l.*, p.url FROM link l JOIN page_row p ON p.id = l.src WHERE l.src = ?1 AND l.dst = ?2 ORDER BY l.kind";
        self.all(sql, [src.0.cast_signed(), dst.0.cast_signed()], LinkRow::read)
    }

    /// The links to a page from pages that had none until the `after`-th page with links was
    /// recorded, ordered by source URL.
    pub fn links_in_after(&self, dst: PageId, after: u64) -> Result<Vec<LinkRow>> {
        let sql = "SELECT DISTINCT s.page FROM source_row s CROSS JOIN link_row r ON r.source = s.id AND r.dst = ?2 WHERE s.id > ?1";
        let mut links = Vec::new();
        for page in self.all(sql, [after.cast_signed(), dst.0.cast_signed()], |r| r.get::<_, i64>(0))? {
            links.append(&mut self.links_between(PageId(page.cast_unsigned()), dst)?);
        }
        links.sort_by(|a, b| a.url.cmp(&b.url));
        Ok(links)
    }
}

fn page<'r>(row: &'r Row<'_>) -> rusqlite::Result<(PageId, HostId, &'r str)> {
    Ok((PageId(row.get::<_, i64>(0)?.cast_unsigned()), HostId(row.get(1)?), row.get_ref(2)?.as_str()?))
}

fn origin(row: &Row<'_>) -> rusqlite::Result<(HostId, String)> {
    let (scheme, name, port): (String, String, u16) = (row.get(1)?, row.get(2)?, row.get(3)?);
    // A name with colons is an IPv6 address, which goes in brackets.
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    let origin = match orb_urls::scheme::check(&scheme) {
        Ok(usual) if usual == port => format!("{scheme}://{name}"),
        _ => format!("{scheme}://{name}:{port}"),
    };
    Ok((HostId(row.get(0)?), origin))
}

fn link(row: &Row<'_>) -> rusqlite::Result<Option<LinkFact>> {
    let id = |column| row.get::<_, i64>(column).map(|id| PageId(id.cast_unsigned()));
    let Some(kind) = LinkKind::from_code(row.get(2)?) else { return Ok(None) };
    let rel = row.get_ref(3)?.as_str_or_null()?.unwrap_or_default();
    let nofollow = !rel.is_empty() && rel.split(' ').any(|token| token == "nofollow");
    Ok(Some(LinkFact {
        src: id(0)?,
        dst: id(1)?,
        kind,
        nofollow,
        gone: row.get_ref(4)? != rusqlite::types::ValueRef::Null,
    }))
}
