//! What does an HTML page say, and where does it point?
//!
//! A single streaming pass: [`scan`] finds the tags as a browser's tokenizer does, [`reader`] knows
//! the elements and keeps what matters. No tree is built. On real pages its links, titles and text
//! equal those of html5ever's tree, at many times the speed (`examples/oracle.rs` compares the two
//! on any directory of pages).

mod attributes;
#[cfg(test)]
mod conformance;
mod elements;
mod forms;
mod furniture;
mod items;
mod meta;
mod pictures;
mod place;
mod reader;
mod sections;
mod signs;
mod sketch;
mod srcset;

pub(crate) mod foreign;
pub(crate) mod hints;
pub(crate) mod name;
pub(crate) mod outline;
pub(crate) mod raw;
pub(crate) mod scan;

pub(crate) use attributes::Slots;
pub(crate) use elements::language_tag;
use reader::HtmlReader;

use crate::gather::Gather;
use crate::{Extract, TypedContent};

/// Extracts HTML and XHTML.
#[derive(Debug)]
pub(crate) struct HtmlExtractor;

impl Extract for HtmlExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let by_name = matches!(source.mime, "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml");
        by_name || source.root() == Some(b"html")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        let read = HtmlReader::new(&text, source.mime != "text/html", found).run();
        found.doc.text = read;
    }
}

/// Reads a piece of HTML embedded in another document at offset `at`. Its links become the
/// document's; returns its text.
pub(crate) fn fragment(html: &str, at: usize, found: &mut Gather) -> String {
    let first = found.doc.links.len();
    let mut reader = HtmlReader::new(html, false, found);
    reader.nested = true;
    let text = reader.run();
    let position = u32::try_from(at).unwrap_or(u32::MAX);
    found.doc.links.iter_mut().skip(first).for_each(|l| l.position = position);
    text
}
