//! What does an archived page say?
//!
//! The archive holds what came over the wire: here the content coding is removed and the extractors
//! run. [`content()`] finds the version of a page that one run saw; the functions below it read any
//! archived exchange.

use crate::{AnswerError, Collection, PageViews, Result, front_matter};
use bytes::Bytes;
use orb_aside::HelperLimits;
use orb_extract::{Content, MainContent, MarkdownRequest, PageFacts};
use orb_page::{Body, Document, Headers, PageId, WarcPosition};
use orb_store::{ArchiveReader, PageRow, StoredExchange, VisitRow};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Read;

/// Maximum size of content that is examined.
const CAP: u64 = 2_000_000_000;

/// Maximum size of content that is read only for its text.
const CAP_FOR_TEXT: u64 = 64_000_000;

/// The form of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentForm {
    /// The bytes, with the content coding removed.
    Raw,
    /// The visible text.
    Text,
    /// Markdown.
    Markdown,
}

/// How much of a page is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentExtent {
    /// The main content; the whole page if it cannot be told from the rest.
    Main,
    /// Everything that can be read.
    Whole,
}

/// The content of a page, as one run saw it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PageContent {
    /// The page's URL.
    pub url: String,
    /// The run.
    pub run: u32,
    /// Its status code.
    pub status: Option<u16>,
    /// Its media type.
    pub mime: Option<String>,
    /// The content as text.
    pub content: String,
}

/// A page and what each run saw of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VisitedPage {
    /// Its record.
    pub page: PageRow,
    /// The visits, latest first.
    pub visits: Vec<VisitRow>,
}

/// The page with this number and its visits: what it takes to choose a version of it.
pub fn visited(collection: &Collection, page: u64) -> Result<VisitedPage> {
    let page = collection.numbered(page)?;
    Ok(VisitedPage { visits: collection.catalogue().visits(PageId(page.id))?, page })
}

/// One version of a page, to be read from the archive.
#[derive(Clone, Debug)]
pub struct ArchivedVersion {
    /// The page's URL.
    pub url: String,
    /// The run that saw it.
    pub run: u32,
    /// Its status code.
    pub status: Option<u16>,
    /// Its media type.
    pub mime: Option<String>,
    /// sha256 of its content.
    pub digest: Option<String>,
    /// Length of its content.
    pub length: u64,
    /// When it was fetched.
    pub at: String,
    archive: ArchiveReader,
    place: WarcPosition,
    limits: HelperLimits,
}

/// The version of the page with this URL that a run saw; by default the latest.
pub fn content(collection: &Collection, url: &str, run: Option<u32>) -> Result<ArchivedVersion> {
    let page = collection.page(url)?;
    let visits = collection.catalogue().visits(PageId(page.id))?;
    let (found, missing) = match run {
        Some(run) => (visits.iter().find(|v| v.run == run), format!("run {run} did not visit {}", page.url)),
        None => (visits.first(), format!("{} is {} and was never fetched", page.url, page.kind)),
    };
    let visit = found.ok_or(AnswerError::Unknown(missing))?;
    let place = visit.warc().ok_or_else(|| {
        AnswerError::Unknown(match &visit.problem {
            Some(problem) => format!("there is no content of {}: {problem}", page.url),
            None => format!("the content of {} was not archived", page.url),
        })
    })?;
    let archive = collection.archive().clone();
    Ok(ArchivedVersion {
        url: page.url,
        run: visit.run,
        status: visit.status,
        mime: visit.mime.clone(),
        digest: visit.digest.clone(),
        length: visit.length,
        at: visit.at.clone(),
        archive,
        place,
        limits: collection.limits()?,
    })
}

impl ArchivedVersion {
    /// Its bytes with the content coding taken off, as a stream: neither they nor what is stored is
    /// ever in memory as a whole. A decompression bomb is cut off.
    pub fn raw(&self) -> Result<Box<dyn Read + Send>> {
        let body = self.archive.body(&self.place)?;
        let codings = codings(&body.headers);
        if codings.is_empty() {
            return Ok(Box::new(body));
        }
        let decoded = orb_fetch::decode_stream(body, &codings)
            .map_err(|e| AnswerError::Failed(format!("{}: {e}", self.url).into()))?;
        Ok(Box::new(decoded.take(CAP)))
    }

    /// The picture that was taken when it was rendered, with its media type.
    pub fn picture(&self) -> Result<Option<(String, Bytes)>> {
        Ok(self.archive.picture(&self.place)?)
    }

    /// The whole exchange.
    pub(crate) fn exchange(&self) -> Result<StoredExchange> {
        Ok(self.archive.exchange(&self.place)?)
    }

    /// Its content in a form; bytes that are not text are replaced.
    pub fn content(&self, form: ContentForm, extent: ContentExtent) -> Result<PageContent> {
        let Self { url, run, status, mime, .. } = self;
        let stored = self.archive.exchange(&self.place)?;
        let bytes = decoded(&stored)?;
        let content = match form {
            ContentForm::Raw => String::from_utf8_lossy(&bytes).into_owned(),
            ContentForm::Text => reading(url, &stored, &bytes, extent, self.limits),
            ContentForm::Markdown => {
                let page = markdown(url, &stored, &bytes, extent, self.limits);
                let title = page.facts.title.clone();
                let mut facts = vec![("url", json!(url)), ("title", json!(title))];
                facts.extend(page.declared());
                format!("{}{}\n", front_matter(&facts), page.text.trim())
            }
        };
        Ok(PageContent { url: url.clone(), run: *run, status: *status, mime: mime.clone(), content })
    }
}

/// The content with its coding removed.
pub fn decoded(stored: &StoredExchange) -> Result<Bytes> {
    let decoded = orb_fetch::decode(&Body::Memory(stored.body.clone()), &codings(&stored.headers), CAP);
    match decoded.problem {
        Some(problem) if decoded.bytes.is_empty() => {
            Err(AnswerError::Failed(format!("{}: {}", stored.url, problem.detail).into()))
        }
        _ => Ok(decoded.bytes),
    }
}

fn codings(headers: &Headers) -> String {
    headers.codings()
}

/// What the extractors get of a stored page.
fn read<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&Content<'_>) -> T) -> T {
    let mime = stored.headers.mime();
    let charset = stored.headers.charset();
    with(&Content { bytes: content, mime: mime.as_deref(), charset: charset.as_deref(), url })
}

/// Presents a stored page in comparable form.
pub fn viewed<T>(
    url: &str,
    stored: &StoredExchange,
    content: &[u8],
    limits: HelperLimits,
    with: impl FnOnce(&PageViews<'_>) -> T,
) -> T {
    read(url, stored, content, |content| with(&PageViews::new(*content, limits)))
}

/// The visible text.
pub fn text(url: &str, stored: &StoredExchange, content: &[u8], limits: HelperLimits) -> String {
    read(url, stored, content, |content| orb_aside::extract(content, limits)).text
}

/// The text of a page for readers.
fn reading(url: &str, stored: &StoredExchange, content: &[u8], extent: ContentExtent, limits: HelperLimits) -> String {
    read(url, stored, content, |c| {
        let mime = orb_extract::sniff(c.bytes, c.mime);
        if extent == ContentExtent::Whole || !is_html(&mime) {
            return orb_aside::extract(c, limits).text;
        }
        MainContent::of(&orb_extract::text_of(c), is_xhtml(&mime)).main_text()
    })
}

/// A page as Markdown, and what it says about itself.
#[derive(Clone, Debug, Default)]
pub struct MarkdownPage {
    /// The Markdown; the plain text of a page that is not HTML.
    pub text: String,
    /// Title, author and dates.
    pub facts: PageFacts,
}

impl MarkdownPage {
    /// What the front matter of a page says beside its title.
    pub fn declared(&self) -> [(&'static str, Value); 4] {
        let PageFacts { author, published, modified, site_name, .. } = &self.facts;
        [
            ("author", json!(author)),
            ("published", json!(published)),
            ("modified", json!(modified)),
            ("site_name", json!(site_name)),
        ]
    }
}

/// An HTML page as Markdown; anything else as plain text.
pub fn markdown(
    url: &str,
    stored: &StoredExchange,
    content: &[u8],
    extent: ContentExtent,
    limits: HelperLimits,
) -> MarkdownPage {
    read(url, stored, content, |c| {
        let mime = orb_extract::sniff(c.bytes, c.mime);
        if !is_html(&mime) {
            let document = orb_aside::extract(c, limits);
            let Document { title, author, modified, created, .. } = document;
            let facts = PageFacts { title, author, modified, published: created, ..PageFacts::default() };
            return MarkdownPage { text: document.text, facts };
        }
        let html = orb_extract::text_of(c);
        let page = MainContent::of(&html, is_xhtml(&mime));
        let ranges = page.ranges();
        let only = (extent == ContentExtent::Main && page.is_told).then_some(&ranges[..]);
        let text = orb_extract::markdown(&html, &MarkdownRequest { url: Some(url), only });
        MarkdownPage { text, facts: page.facts }
    })
}

fn is_html(mime: &str) -> bool {
    mime == "text/html" || is_xhtml(mime)
}

fn is_xhtml(mime: &str) -> bool {
    mime == "application/xhtml+xml"
}

/// The source of a page as text, whatever its encoding.
pub fn source(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, |c| orb_extract::text_of(c).into_owned())
}

/// The document of a stored page, as far as it can be decoded.
pub fn document(url: &str, stored: &StoredExchange, limits: HelperLimits) -> Document {
    let content = orb_fetch::decode(&Body::Memory(stored.body.clone()), &codings(&stored.headers), CAP_FOR_TEXT).bytes;
    read(url, stored, &content, |content| orb_aside::extract(content, limits))
}

/// The document of an archived answer; nothing where it cannot be read.
pub(crate) fn document_at(
    archive: &ArchiveReader,
    at: &WarcPosition,
    url: &str,
    limits: HelperLimits,
) -> Option<Document> {
    archive.exchange(at).ok().map(|stored| document(url, &stored, limits))
}
