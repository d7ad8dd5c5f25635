//! What did one run see of one page, and what did it find there?

use crate::{Flag, HostId, Links, Moment, PageId, PageKind, SkipReason, UrlKey};
use std::sync::Arc;

/// What one run saw of one page. It is recorded atomically.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
    /// Distance from the seed.
    pub depth: u32,
    /// Length of the redirect chain that led here.
    pub redirects: u8,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// When the request was sent.
    pub at: Moment,
    /// The worker that processed it.
    pub by: Arc<str>,
    /// What it turned out to be; `Duplicate` is decided by the recorder.
    pub kind: PageKind,
    /// Compared with the last time.
    pub flag: Flag,
    /// Status code, if there was a response.
    pub status: Option<u16>,
    /// Media type.
    pub mime: Option<String>,
    /// Character encoding.
    pub charset: Option<String>,
    /// Length of the content, with transfer and content codings removed.
    pub length: u64,
    /// Length of the body as transferred, in bytes.
    pub transferred: u64,
    /// sha256 of the content.
    pub digest: Option<[u8; 32]>,
    /// SimHash of the text.
    pub simhash: Option<u64>,
    /// Title.
    pub title: Option<String>,
    /// Language.
    pub lang: Option<String>,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`, as the server wrote it.
    pub last_modified: Option<String>,
    /// An earlier page with the same content.
    pub duplicate_of: Option<PageId>,
    /// What went wrong, one line; problems are joined by `; `.
    pub problem: Option<String>,
    /// How long the fetch took, in milliseconds.
    pub elapsed_ms: u32,
    /// Its links.
    pub links: Links,
    /// Its images.
    pub images: Vec<Pictured>,
    /// Its position in the archive.
    pub warc: Option<WarcPosition>,
    /// Position of the same content from an earlier visit: this visit's record has no body.
    pub kept: Option<WarcPosition>,
    /// Whether the document existed before.
    pub known: bool,
    /// Where it has moved to.
    pub moved: Option<String>,
    /// What changed, in one line.
    pub detail: Option<String>,
}

impl Visit {
    /// A visit with everything unset, as an error.
    pub fn blank(page: PageId, host: HostId, url: String, at: Moment, by: Arc<str>) -> Self {
        Self {
            page,
            host,
            url,
            depth: 0,
            redirects: 0,
            at,
            by,
            kind: PageKind::HttpError,
            flag: Flag::New,
            status: None,
            mime: None,
            charset: None,
            length: 0,
            transferred: 0,
            digest: None,
            simhash: None,
            title: None,
            lang: None,
            etag: None,
            last_modified: None,
            duplicate_of: None,
            problem: None,
            elapsed_ms: 0,
            links: Links::default(),
            images: Vec::new(),
            warc: None,
            kept: None,
            known: false,
            moved: None,
            detail: None,
            step: None,
        }
    }

    /// Whether it found a document: content of its own, or a duplicate of another page's.
    pub fn is_document(&self) -> bool {
        matches!(self.kind, PageKind::Html | PageKind::Binary | PageKind::Duplicate)
    }
}

/// A resolved image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pictured {
    /// Canonical URL.
    pub url: String,
    /// `alt`; `None` if the element has none.
    pub alt: Option<String>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// Media type guessed from the file name.
    pub mime: Option<String>,
}

/// Position of a compressed record in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WarcPosition {
    /// File name, without directory.
    pub file: Arc<str>,
    /// Offset of the gzip member.
    pub offset: u64,
    /// Length of the gzip member.
    pub length: u64,
}

/// A page known from a link or as a seed, with its number: a row of the catalogue, written once.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovered {
    /// Its number.
    pub page: PageId,
    /// Canonical URL.
    pub url: String,
    /// Its key.
    pub key: UrlKey,
    /// Its host.
    pub host: HostId,
    /// `Frontier`, `Outside` or `Disallowed`.
    pub kind: PageKind,
    /// Why it will not be fetched, if so.
    pub why: Option<SkipReason>,
    /// Distance from the seed.
    pub depth: u32,
    /// Length of the redirect chain that led here.
    pub redirects: u8,
    /// Priority, 0 to 1.
    pub priority: f32,
    /// Its position in its host's queue: smaller is sooner.
    pub rank: u64,
    /// When it was discovered.
    pub at: Moment,
    /// The worker that discovered it.
    pub by: Arc<str>,
    /// The step of the project in which it is collected.
    pub step: Option<u32>,
    /// The URL to request if it is not the canonical one.
    pub asked: Option<String>,
    /// The page it was discovered on; `None` for a seed, page 0 for what its host's robots.txt
    /// names.
    pub from: Option<PageId>,
}
