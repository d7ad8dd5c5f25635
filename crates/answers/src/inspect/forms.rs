//! Which forms does a page have?

use crate::content::{content, decoded};
use crate::{AnswerError, Collection, Result};
use orb_extract::Content;
use orb_page::{Document, Form};
use schemars::JsonSchema;
use serde::Serialize;

/// The forms of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageForms {
    /// The page's URL.
    pub url: String,
    /// Its forms, in document order.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub forms: Vec<Form>,
}

impl PageForms {
    /// The forms of a document that was already extracted.
    pub fn of(url: String, document: Document) -> Self {
        Self { url, forms: document.forms }
    }
}

/// The forms of an HTML page.
pub fn inspect_forms(bytes: &[u8], url: &str) -> PageForms {
    let document = orb_extract::extract(&Content { bytes, mime: Some("text/html"), charset: None, url });
    PageForms::of(url.to_owned(), document)
}

/// The forms of a page as it was archived last, and when that was; `None` if it was not archived.
pub fn archived_forms(collection: &Collection, url: &str) -> Result<Option<(PageForms, String)>> {
    let version = match content(collection, url, None) {
        Ok(version) => version,
        Err(AnswerError::Unknown(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    let stored = version.exchange()?;
    let (bytes, mime, charset) = (decoded(&stored)?, stored.headers.mime(), stored.headers.charset());
    let content = Content { bytes: &bytes, mime: mime.as_deref(), charset: charset.as_deref(), url: &version.url };
    Ok(Some((PageForms::of(version.url.clone(), orb_aside::extract(&content)), version.at)))
}
