//! What does an archived page say?
//!
//! The archive holds what came over the wire: here the content coding is removed and the extractors
//! run. [`content()`] finds the version of a page that one run saw; the functions below it read any
//! archived exchange.

use crate::{AnswerError, Collection, PageViews, Result};
use bytes::Bytes;
use orb_extract::Content;
use orb_page::{Body, Document, PageId, WarcPosition};
use orb_store::{ArchiveReader, StoredExchange};
use schemars::JsonSchema;
use serde::Serialize;

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

/// One version of a page, read from the archive.
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
    stored: StoredExchange,
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
    let stored = collection.archive().exchange(&place)?;
    Ok(ArchivedVersion { url: page.url, run: visit.run, status: visit.status, mime: visit.mime.clone(), stored })
}

impl ArchivedVersion {
    /// Its bytes in a form.
    pub fn bytes(&self, form: ContentForm) -> Result<Bytes> {
        let content = decoded(&self.stored)?;
        Ok(match form {
            ContentForm::Raw => content,
            ContentForm::Text => text(&self.url, &self.stored, &content).into(),
            ContentForm::Markdown => markdown(&self.url, &self.stored, &content).into(),
        })
    }

    /// Its content in a form; bytes that are not text are replaced.
    pub fn content(&self, form: ContentForm) -> Result<PageContent> {
        let Self { url, run, status, mime, .. } = self.clone();
        let content = String::from_utf8_lossy(&self.bytes(form)?).into_owned();
        Ok(PageContent { url, run, status, mime, content })
    }
}

/// The content with its coding removed.
pub fn decoded(stored: &StoredExchange) -> Result<Bytes> {
    let decoded = orb_fetch::decode(&Body::Memory(stored.body.clone()), &codings(stored), CAP);
    match decoded.problem {
        Some(problem) if decoded.bytes.is_empty() => {
            Err(AnswerError::Failed(format!("{}: {}", stored.url, problem.detail).into()))
        }
        _ => Ok(decoded.bytes),
    }
}

fn codings(stored: &StoredExchange) -> String {
    stored.headers.all("content-encoding").collect::<Vec<_>>().join(",")
}

/// What the extractors get of a stored page.
fn read<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&Content<'_>) -> T) -> T {
    let mime = stored.headers.mime();
    let charset = stored.headers.charset();
    with(&Content { bytes: content, mime: mime.as_deref(), charset: charset.as_deref(), url })
}

/// Presents a stored page in comparable form.
pub fn viewed<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&PageViews<'_>) -> T) -> T {
    read(url, stored, content, |content| with(&PageViews::new(*content)))
}

/// The visible text.
pub fn text(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, orb_extract::extract).text
}

/// An HTML page as Markdown; anything else as plain text.
pub fn markdown(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    let document = read(url, stored, content, orb_extract::extract);
    if document.mime != "text/html" && document.mime != "application/xhtml+xml" {
        return document.text;
    }
    read(url, stored, content, |c| orb_extract::markdown(&orb_extract::text_of(c)))
}

/// The source of a page as text, whatever its encoding.
pub fn source(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, |c| orb_extract::text_of(c).into_owned())
}

/// The document of a stored page, as far as it can be decoded.
pub fn document(url: &str, stored: &StoredExchange) -> Document {
    let content = orb_fetch::decode(&Body::Memory(stored.body.clone()), &codings(stored), CAP_FOR_TEXT).bytes;
    read(url, stored, &content, orb_extract::extract)
}

/// The visible text of an archived answer; nothing where it cannot be read.
pub(crate) fn text_at(archive: &ArchiveReader, at: &WarcPosition, url: &str) -> Option<String> {
    archive.exchange(at).ok().map(|stored| document(url, &stored).text)
}
