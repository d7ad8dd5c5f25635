//! What do they say, and where do they point?
//!
//! A fetched page comes in as bytes and leaves as a [`Document`]: its links, text, title, images
//! and forms. Extraction never fails. Whatever the bytes, it terminates in linear time and bounded
//! memory, and lists what was wrong as problems. It knows no network, no clock and no other page.
//!
//! A format is one file with one `Extract` implementation and one line in `EXTRACTORS`.

mod archive;
mod around;
mod bytewise;
mod charset;
mod compound;
mod css;
mod directives;
mod entity;
mod epub;
mod facts;
mod feed;
mod fill;
mod flow;
mod gather;
mod gist;
mod headers;
mod html;
mod inert;
mod json;
mod language;
mod legacy;
mod listing;
mod locked;
mod mail;
mod main_content;
mod markdown;
mod media;
mod nested;
mod odf;
mod office;
mod package;
mod packed;
mod parts;
mod pdf;
mod pick;
mod picture;
mod prose;
mod rtf;
mod script;
mod select;
mod shell;
mod simhash;
mod sitemap;
mod sniff;
mod stamp;
mod swf;
mod tame;
mod text;
mod xml;

pub use around::PartedText;
pub use facts::PageFacts;
pub use fill::{Filling, FormError, Typed, fill};
pub use gist::gist;
pub use headers::{header_links, x_robots};
pub use inert::{AddressUse, inert};
pub use language::language;
pub use main_content::{ContentBlock, MainContent};
pub use markdown::{MarkdownRequest, markdown};
pub use parts::{PagePart, parts};
pub use pick::{Picked, Picker};
pub use select::{Selected, WantedPart, check_selector, select};
pub use shell::{ShellSigns, shell_signs};
pub use simhash::{distance, simhash};
pub use sniff::sniff;

/// What `cargo xtask quality` learns from.
#[doc(hidden)]
pub mod learning {
    pub use crate::main_content::{DEPTH, FEATURES, FeatureRow, SymmetricTree, observe};
}

use gather::Gather;
use orb_page::Document;
use std::borrow::Cow;

/// The bytes to extract from, and what is known about them.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// The content, with transfer and content codings removed.
    pub bytes: &'a [u8],
    /// The media type from the server, with or without parameters.
    pub mime: Option<&'a str>,
    /// The charset from the server.
    pub charset: Option<&'a str>,
    /// Its URL.
    pub url: &'a str,
}

/// What a format implements.
trait Extract: Sync {
    /// Whether it handles this document.
    fn accepts(&self, source: &TypedContent<'_>) -> bool;
    /// Extracts it.
    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather);
    /// Whether it is read aside, in a process of its own: a whole-document format whose parser a
    /// hostile file may drive out of memory, out of stack or into an endless loop.
    fn aside(&self) -> bool {
        false
    }
}

/// The formats, in the order in which they are tried.
static EXTRACTORS: &[&dyn Extract] = &[
    &html::HtmlExtractor,
    &css::CssExtractor,
    &json::JsonExtractor,
    &script::ScriptExtractor,
    &office::FlatWordExtractor,
    &sitemap::SitemapExtractor,
    &feed::FeedExtractor,
    &xml::XmlExtractor,
    &packed::PackedExtractor,
    &listing::ListingExtractor,
    &pdf::PdfExtractor,
    &office::OfficeExtractor,
    &odf::OdfExtractor,
    &epub::EpubExtractor,
    &legacy::LegacyExtractor,
    &legacy::OutlookExtractor,
    &rtf::RtfExtractor,
    &mail::MailExtractor,
    &swf::FlashExtractor,
    &archive::ArchiveExtractor,
    &picture::PictureExtractor,
    &media::MediaExtractor,
    &text::TextExtractor,
];

/// A document whose type is known.
#[derive(Clone, Copy, Debug)]
struct TypedContent<'a> {
    bytes: &'a [u8],
    mime: &'a str,
    charset: Option<&'a str>,
    url: &'a str,
}

impl<'a> TypedContent<'a> {
    /// The decoded text. Records the encoding in the document.
    fn text(&self, found: &mut Gather) -> Cow<'a, str> {
        let decoded = charset::decode(self.bytes, self.charset, self.url);
        found.doc.charset = Some(decoded.encoding.name().to_owned());
        found.doc.problems.extend(decoded.problem);
        decoded.text
    }

    /// Whether its media type is XML.
    fn is_xml(&self) -> bool {
        let is_flat = matches!(self.mime, sniff::SPREADSHEET_XML | sniff::WORD_XML | sniff::WORD_PARTS_XML);
        is_flat || matches!(self.mime, "text/xml" | "application/xml") || self.mime.ends_with("+xml")
    }

    /// XML in UTF-16 as UTF-8, and what it was in: its format is told by the name of its root.
    fn narrowed(&self) -> Option<(String, &'static str)> {
        let marked = encoding_rs::Encoding::for_bom(self.bytes).map(|(encoding, _)| encoding);
        let said = self.charset.and_then(|label| encoding_rs::Encoding::for_label(label.trim().as_bytes()));
        let declared = || charset::utf16_declaration(self.bytes).filter(|_| said.is_none());
        let encoding = marked.or_else(declared).filter(|_| self.is_xml())?;
        (encoding != encoding_rs::UTF_8).then(|| (encoding.decode(self.bytes).0.into_owned(), encoding.name()))
    }

    /// The local name of the root element, if its media type is XML.
    fn root(&self) -> Option<&'a [u8]> {
        if !self.is_xml() {
            return None;
        }
        let name = sniff::root(self.bytes.get(..4_096).unwrap_or(self.bytes))?;
        name.rsplit(|&b| b == b':').next()
    }
}

/// Extracts a document. Never fails: whatever is wrong is among its problems.
pub fn extract(content: &Content<'_>) -> Document {
    extract_within(content, String::new(), true)
}

/// The same for bulk extraction: `room` is the text of an earlier document that is no longer
/// needed, whose buffer is reused. Where furniture stands, and which items describe links,
/// is told only if it is wanted.
pub fn extract_within(content: &Content<'_>, room: String, wants_layout: bool) -> Document {
    let mime = sniff(content.bytes, content.mime);
    let Content { bytes, url, .. } = *content;
    let charset = content.charset.or_else(|| {
        let parameter = charset::in_content_type(content.mime?.as_bytes())?;
        std::str::from_utf8(parameter).ok()
    });
    let mut found = Gather::new(Document { mime: mime.clone().into_owned(), ..Document::default() }, room);
    found.wants_layout = wants_layout;
    let source = TypedContent { bytes, mime: &mime, charset, url };
    match source.narrowed() {
        Some((text, encoding)) => {
            dispatch(&TypedContent { bytes: text.as_bytes(), charset: Some("utf-8"), ..source }, &mut found);
            found.doc.charset = Some(encoding.to_owned());
        }
        None => dispatch(&source, &mut found),
    }
    let mut doc = found.finish();
    doc.title = doc.title.filter(|t| !t.is_empty());
    if doc.lang.is_none() {
        doc.lang = language(&doc.text).map(str::to_owned);
    }
    doc
}

/// Whether content is to be read aside: in a process that may die of it. See
/// `docs/decisions/0052-reading-aside.md`.
pub fn is_read_aside(content: &Content<'_>) -> bool {
    let mime = sniff(content.bytes, content.mime);
    let source = TypedContent { bytes: content.bytes, mime: &mime, charset: content.charset, url: content.url };
    EXTRACTORS.iter().find(|e| e.accepts(&source)).is_some_and(|e| e.aside())
}

/// How the media types of office suites begin. Their documents are also told by their bytes.
const OFFICE: [&str; 7] = [
    "msword",
    "vnd.ms-word",
    "vnd.ms-excel",
    "vnd.ms-powerpoint",
    "vnd.openxmlformats-officedocument.",
    "vnd.oasis.opendocument.",
    "vnd.sun.xml.",
];

/// Whether a media type alone says that its content is to be read aside.
pub fn is_document_type(mime: &str) -> bool {
    let source = TypedContent { bytes: &[], mime, charset: None, url: "" };
    let is_office = |kind: &str| mime.strip_prefix("application/").is_some_and(|subtype| subtype.starts_with(kind));
    OFFICE.into_iter().any(is_office) || EXTRACTORS.iter().find(|e| e.accepts(&source)).is_some_and(|e| e.aside())
}

/// The characters of a text document, decoded from whatever encoding it is in.
pub fn text_of<'a>(content: &Content<'a>) -> Cow<'a, str> {
    charset::decode(content.bytes, content.charset, content.url).text
}

/// A text in the bytes of an encoding, as a browser writes the query of a link on a page that is
/// not in UTF-8.
pub fn encoded<'a>(text: &'a str, charset: &str) -> Cow<'a, [u8]> {
    let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    encoding.output_encoding().encode(text).0
}

/// Passes a document to the first format that accepts it.
fn dispatch(source: &TypedContent<'_>, found: &mut Gather) {
    if let Some(extractor) = EXTRACTORS.iter().find(|e| e.accepts(source)) {
        extractor.extract(source, found);
    }
}
