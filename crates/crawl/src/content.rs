//! What does a stored page say?
//!
//! The archive holds what came over the wire: here the codings are taken off and the extractors asked.

use crate::CrawlError;
use crate::track::PageViews;
use bytes::Bytes;
use orb_extract::Content;
use orb_page::Body;
use orb_store::StoredExchange;

/// The largest content that is looked at.
const CAP: u64 = 2_000_000_000;

/// The content with its codings taken off.
pub fn decoded(stored: &StoredExchange) -> Result<Bytes, CrawlError> {
    let codings = stored.headers.all("content-encoding").collect::<Vec<_>>().join(",");
    let decoded = orb_fetch::decode(&Body::Memory(Bytes::from(stored.body.clone())), &codings, CAP);
    match decoded.problem {
        Some(problem) if decoded.bytes.is_empty() => {
            Err(CrawlError::Unreadable { url: stored.url.clone(), why: problem.detail })
        }
        _ => Ok(decoded.bytes),
    }
}

/// What the extractors are given of a stored page.
fn read<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&Content<'_>) -> T) -> T {
    let mime = stored.headers.mime();
    let charset = stored.headers.charset();
    with(&Content { bytes: content, mime: mime.as_deref(), charset: charset.as_deref(), url })
}

/// A stored page as it can be compared with another.
pub fn viewed<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&PageViews<'_>) -> T) -> T {
    read(url, stored, content, |content| with(&PageViews::new(*content)))
}

/// The visible text.
pub fn text(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, orb_extract::extract).text
}

/// Markdown of an HTML page; the plain text of anything else.
pub fn markdown(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    let document = read(url, stored, content, orb_extract::extract);
    if document.mime != "text/html" && document.mime != "application/xhtml+xml" {
        return document.text;
    }
    read(url, stored, content, |c| orb_extract::markdown(&orb_extract::text_of(c)))
}

/// The source of a page as text, whatever it was encoded in.
pub fn source(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, |c| orb_extract::text_of(c).into_owned())
}
