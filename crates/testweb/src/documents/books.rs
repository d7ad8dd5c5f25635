//! What is in an OpenDocument file, and in a book?
//!
//! Both are zip files whose first entry says what they are (OpenDocument 1.3, part 2; EPUB OCF 3).

use super::package::zipped;
use super::{DocumentKind, DocumentText, xml};

const SPACES: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
    xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
    xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" xmlns:meta=\"urn:oasis:names:tc:opendocument:xmlns:meta:1.0\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";

fn paragraph(text: &str) -> String {
    format!("<text:p>{}</text:p>", xml(text))
}

fn link(text: &DocumentText<'_>) -> String {
    format!("<text:p><text:a xlink:href=\"{}\">more</text:a></text:p>", xml(text.link))
}

/// The content of a text.
pub(super) fn text(text: &DocumentText<'_>) -> String {
    let paragraphs: String = text.paragraphs.iter().map(|text| paragraph(text)).collect();
    format!("<office:text>{paragraphs}{}</office:text>", link(text))
}

/// The content of a sheet.
pub(super) fn sheet(text: &DocumentText<'_>) -> String {
    let row = |inside: String| {
        format!(
            "<table:table-row><table:table-cell office:value-type=\"string\">{inside}</table:table-cell></table:table-row>"
        )
    };
    let rows: String = text.paragraphs.iter().map(|text| row(paragraph(text))).collect();
    let last = row(link(text));
    format!("<office:spreadsheet><table:table table:name=\"Sheet\">{rows}{last}</table:table></office:spreadsheet>")
}

/// The content of slides.
pub(super) fn slides(text: &DocumentText<'_>) -> String {
    let paragraphs: String = text.paragraphs.iter().map(|text| paragraph(text)).collect();
    format!(
        "<office:presentation><draw:page draw:name=\"Slide\"><draw:frame><draw:text-box>{paragraphs}{}</draw:text-box>\
         </draw:frame></draw:page></office:presentation>",
        link(text)
    )
}

pub(super) fn open_document(text: &DocumentText<'_>, kind: DocumentKind, body: &str) -> Vec<u8> {
    let content =
        format!("<office:document-content {SPACES}><office:body>{body}</office:body></office:document-content>");
    let meta = format!(
        "<office:document-meta {SPACES}><office:meta><dc:title>{}</dc:title><dc:creator>{}</dc:creator>\
         <meta:creation-date>2026-11-16T06:00:00Z</meta:creation-date><dc:date>{}</dc:date></office:meta></office:document-meta>",
        xml(text.title),
        xml(text.author),
        text.saved
    );
    zipped(&[("mimetype", kind.mime().into()), ("content.xml", content.into_bytes()), ("meta.xml", meta.into_bytes())])
}

pub(super) fn epub(text: &DocumentText<'_>) -> Vec<u8> {
    let container = "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles>\
        <rootfile full-path=\"p.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>";
    let package = format!(
        "<package xmlns=\"http://www.idpf.org/2007/opf\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><metadata>\
         <dc:title>{}</dc:title><dc:creator>{}</dc:creator><dc:date>2026-11-16</dc:date>\
         <meta property=\"dcterms:modified\">{}</meta></metadata>\
         <manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
         <spine><itemref idref=\"a\"/></spine></package>",
        xml(text.title),
        xml(text.author),
        text.saved
    );
    let paragraphs: String = text.paragraphs.iter().map(|text| format!("<p>{}</p>", xml(text))).collect();
    let chapter = format!(
        "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>x</title></head><body>{paragraphs}\
         <p><a href=\"{}\">more</a></p></body></html>",
        xml(text.link)
    );
    zipped(&[
        ("mimetype", DocumentKind::Epub.mime().into()),
        ("META-INF/container.xml", container.into()),
        ("p.opf", package.into_bytes()),
        ("a.xhtml", chapter.into_bytes()),
    ])
}
