//! Which forms does a page have?

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
