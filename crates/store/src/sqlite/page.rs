//! What do readers see of a page, its visits, links and images?
//!
//! Rows with the names and formats of docs/sql.md, so that they can be printed as they are.

use rusqlite::Row;
use serde::Serialize;

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[allow(missing_docs)]
pub struct PageRow {
    pub id: u64,
    pub url: String,
    pub host_id: u32,
    pub kind: String,
    pub status: Option<u16>,
    pub mime: Option<String>,
    pub charset: Option<String>,
    pub length: Option<u64>,
    pub digest: Option<String>,
    pub simhash: Option<i64>,
    pub title: Option<String>,
    pub lang: Option<String>,
    pub depth: u32,
    pub priority: f64,
    pub discovered_at: String,
    pub discovered_by: Option<String>,
    pub discovered_from: Option<u64>,
    pub fetched_at: Option<String>,
    pub fetched_by: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub warc_file: Option<String>,
    pub warc_offset: Option<u64>,
    pub warc_length: Option<u64>,
    pub duplicate_of: Option<u64>,
    pub next_due: Option<String>,
    pub changes: u64,
    pub visits: u64,
    pub why: Option<String>,
    pub problem: Option<String>,
    pub elapsed_ms: Option<u32>,
    pub transferred: Option<u64>,
    pub redirects: u8,
    pub seed: bool,
}

impl PageRow {
    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: number(r, "id")?.unwrap_or(0),
            url: r.get("url")?,
            host_id: r.get("host_id")?,
            kind: r.get("kind")?,
            status: r.get("status")?,
            mime: r.get("mime")?,
            charset: r.get("charset")?,
            length: number(r, "length")?,
            digest: r.get("digest")?,
            simhash: r.get("simhash")?,
            title: r.get("title")?,
            lang: r.get("lang")?,
            depth: r.get("depth")?,
            priority: r.get("priority")?,
            discovered_at: r.get("discovered_at")?,
            discovered_by: r.get("discovered_by")?,
            discovered_from: number(r, "discovered_from")?,
            fetched_at: r.get("fetched_at")?,
            fetched_by: r.get("fetched_by")?,
            etag: r.get("etag")?,
            last_modified: r.get("last_modified")?,
            warc_file: r.get("warc_file")?,
            warc_offset: number(r, "warc_offset")?,
            warc_length: number(r, "warc_length")?,
            duplicate_of: number(r, "duplicate_of")?,
            next_due: r.get("next_due")?,
            changes: number(r, "changes")?.unwrap_or(0),
            visits: number(r, "visits")?.unwrap_or(0),
            why: r.get("why")?,
            problem: r.get("problem")?,
            elapsed_ms: r.get("elapsed_ms")?,
            transferred: number(r, "transferred")?,
            redirects: r.get("redirects")?,
            seed: r.get("seed")?,
        })
    }

    /// Archive position of its latest response.
    pub fn warc(&self) -> Option<orb_page::WarcPosition> {
        position(self.warc_file.as_deref(), self.warc_offset, self.warc_length)
    }
}

/// What one run saw of a page.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[allow(missing_docs)]
pub struct VisitRow {
    pub run: u32,
    pub page_id: u64,
    pub flag: String,
    pub at: String,
    pub status: Option<u16>,
    pub digest: Option<String>,
    pub length: u64,
    pub warc_file: Option<String>,
    pub warc_offset: Option<u64>,
    pub warc_length: Option<u64>,
    pub kind: String,
    pub mime: Option<String>,
    pub problem: Option<String>,
    pub elapsed_ms: u32,
    /// What changed around its main content, if nothing else did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around: Option<String>,
}

impl VisitRow {
    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            run: r.get("run")?,
            page_id: number(r, "page_id")?.unwrap_or(0),
            flag: r.get("flag")?,
            at: r.get("at")?,
            status: r.get("status")?,
            digest: r.get("digest")?,
            length: number(r, "length")?.unwrap_or(0),
            warc_file: r.get("warc_file")?,
            warc_offset: number(r, "warc_offset")?,
            warc_length: number(r, "warc_length")?,
            kind: r.get("kind")?,
            mime: r.get("mime")?,
            problem: r.get("problem")?,
            elapsed_ms: r.get("elapsed_ms")?,
            around: r.get("around")?,
        })
    }

    /// Archive position of this response.
    pub fn warc(&self) -> Option<orb_page::WarcPosition> {
        position(self.warc_file.as_deref(), self.warc_offset, self.warc_length)
    }
}

/// A link of a page, with the URL it points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[allow(missing_docs)]
pub struct LinkRow {
    pub src: u64,
    pub dst: u64,
    pub url: String,
    pub kind: String,
    pub anchor: String,
    pub rel: String,
    pub count: u64,
    pub first_run: u32,
    pub last_run: Option<u32>,
}

impl LinkRow {
    /// Whether its anchor text is visible to people.
    pub fn is_spoken(&self) -> bool {
        orb_page::LinkKind::SPOKEN.iter().any(|kind| kind.name() == self.kind)
    }

    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            src: number(r, "src")?.unwrap_or(0),
            dst: number(r, "dst")?.unwrap_or(0),
            url: r.get("url")?,
            kind: r.get("kind")?,
            anchor: r.get("anchor")?,
            rel: r.get("rel")?,
            count: number(r, "count")?.unwrap_or(0),
            first_run: r.get("first_run")?,
            last_run: r.get("last_run")?,
        })
    }
}

/// An image on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[allow(missing_docs)]
pub struct ImageRow {
    pub page_id: u64,
    pub url: String,
    pub alt: Option<String>,
    pub width: Option<u32>,
    pub height: Option<u32>,
    pub mime: Option<String>,
}

impl ImageRow {
    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            page_id: number(r, "page_id")?.unwrap_or(0),
            url: r.get("url")?,
            alt: r.get("alt")?,
            width: r.get("width")?,
            height: r.get("height")?,
            mime: r.get("mime")?,
        })
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[allow(missing_docs)]
pub struct HostRow {
    pub id: u32,
    pub name: String,
    pub scheme: String,
    pub port: u16,
    pub ip: Option<String>,
    pub robots: Option<String>,
    pub robots_at: Option<String>,
    pub sitemaps: Option<String>,
    pub crawl_delay: Option<f64>,
    pub pages: u64,
    pub errors: u64,
    pub first_seen: String,
}

impl HostRow {
    pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: r.get("id")?,
            name: r.get("name")?,
            scheme: r.get("scheme")?,
            port: r.get("port")?,
            ip: r.get("ip")?,
            robots: r.get("robots")?,
            robots_at: r.get("robots_at")?,
            sitemaps: r.get("sitemaps")?,
            crawl_delay: r.get("crawl_delay")?,
            pages: number(r, "pages")?.unwrap_or(0),
            errors: number(r, "errors")?.unwrap_or(0),
            first_seen: r.get("first_seen")?,
        })
    }
}

fn number(r: &Row<'_>, column: &str) -> rusqlite::Result<Option<u64>> {
    Ok(r.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
}

fn position(file: Option<&str>, offset: Option<u64>, length: Option<u64>) -> Option<orb_page::WarcPosition> {
    Some(orb_page::WarcPosition { file: file?.into(), offset: offset?, length: length? })
}
