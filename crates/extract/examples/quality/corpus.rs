//! Which pages are annotated, and how?

use orb_extract::{Content, text_of};
use std::error::Error;
use std::path::Path;

/// A page and its passages, with white space folded.
pub(crate) struct AnnotatedPage {
    pub(crate) url: String,
    pub(crate) file: String,
    pub(crate) html: String,
    /// Passages that belong to the main content.
    pub(crate) with: Vec<String>,
    /// Passages that do not.
    pub(crate) without: Vec<String>,
}

/// Reads the annotations and the pages.
pub(crate) fn read(corpus: &Path) -> Result<Vec<AnnotatedPage>, Box<dyn Error>> {
    let notes = std::fs::read_to_string(corpus.join("pages.json"))?;
    let notes: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&notes)?;
    let mut pages = Vec::with_capacity(notes.len());
    for (url, note) in notes {
        let file = note["file"].as_str().ok_or("a page without a file")?.to_owned();
        let bytes = std::fs::read(corpus.join("pages").join(&file))?;
        let html = text_of(&Content { bytes: &bytes, mime: Some("text/html"), charset: None, url: &url }).into_owned();
        let passages = |key: &str| {
            let all = note[key].as_array().into_iter().flatten().filter_map(|p| p.as_str());
            all.map(folded).filter(|p| !p.is_empty()).collect()
        };
        pages.push(AnnotatedPage { with: passages("with"), without: passages("without"), url, file, html });
    }
    pages.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(pages)
}

/// A text with white space folded.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
