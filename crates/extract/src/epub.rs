//! What does an electronic book say?
//!
//! EPUB: a zip file of XHTML chapters. `META-INF/container.xml` names the package document, which
//! has the properties and the order of the chapters, its spine (EPUB 3.3, 5). Chapters are read as
//! the web pages that they are; their links to each other are not links of the book.

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::html;
use crate::office::properties;
use crate::package::{Onward, XmlNode, ZipPackage, resolve, walk_xml};
use crate::{Extract, TypedContent};
use orb_page::LinkKind;
use std::collections::HashMap;

/// Maximum number of chapters.
const MAX_CHAPTERS: usize = 20_000;

/// Extracts EPUB.
#[derive(Debug)]
pub(crate) struct EpubExtractor;

impl Extract for EpubExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime == "application/epub+zip"
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut package = ZipPackage::open(source.bytes);
        let root = package.xml("META-INF/container.xml").and_then(|xml| root_file(&xml));
        let root = root.or_else(|| {
            let by_name = package.entries().iter().find(|e| e.name.ends_with(".opf"));
            by_name.map(|e| e.name.clone().into_owned())
        });
        let opf = root.as_deref().and_then(|name| package.xml(name)).unwrap_or_default();
        properties(&opf, found);
        // A book's date is that of its publication.
        found.doc.created = found.doc.created.take().or(found.doc.modified.take());
        let mut flow = TextFlow::new(found, source.bytes.len().saturating_mul(2));
        for chapter in chapters(&opf, root.as_deref().unwrap_or("")) {
            if flow.is_full() {
                break;
            }
            if let Some(xhtml) = package.xml(&chapter) {
                read(&xhtml, &mut flow);
            }
        }
        package.report(flow.found);
        flow.finish();
    }
}

/// The name of the package document.
fn root_file(xml: &str) -> Option<String> {
    let mut root = None;
    walk_xml(xml, |node| match node {
        XmlNode::Open(tag) if tag.name() == "rootfile" => {
            root = tag.attr("full-path").map(Into::into);
            Onward::Stop
        }
        _ => Onward::Read,
    });
    root
}

/// The chapters in reading order.
fn chapters(opf: &str, base: &str) -> Vec<String> {
    let mut files: HashMap<String, String> = HashMap::new();
    let mut spine: Vec<String> = Vec::new();
    walk_xml(opf, |node| {
        if let XmlNode::Open(tag) = node {
            match tag.name() {
                "item" if files.len() < MAX_CHAPTERS => {
                    let path = percent_decoded(&tag.attr("href").unwrap_or_default());
                    files.insert(tag.attr("id").unwrap_or_default().into_owned(), resolve(base, &path));
                }
                "itemref" if spine.len() < MAX_CHAPTERS => spine.extend(tag.attr("idref").map(String::from)),
                _ => {}
            }
        }
        Onward::Read
    });
    spine.iter().filter_map(|id| files.get(id).cloned()).collect()
}

/// A path whose `%20`s are spaces again.
fn percent_decoded(path: &str) -> String {
    if !path.contains('%') {
        return path.to_owned();
    }
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code.filter(|_| byte == b'%') {
            Some(code) => {
                out.push(code);
                rest = after.get(2..).unwrap_or(&[]);
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads a chapter.
fn read(xhtml: &str, flow: &mut TextFlow<'_>) {
    let first = flow.found.doc.links.len();
    let images = flow.found.doc.images.len();
    let text = html::fragment(xhtml, 0, flow.found);
    flow.paragraph(&text);
    let mut number = 0;
    flow.found.doc.links.retain_mut(|link| {
        number += 1;
        if number <= first {
            return true;
        }
        link.kind = if link.kind == LinkKind::A { LinkKind::Document } else { link.kind };
        is_absolute(&link.target)
    });
    let mut number = 0;
    flow.found.doc.images.retain(|image| {
        number += 1;
        number <= images || is_absolute(&image.src)
    });
}

/// Whether an address leads out of the book.
fn is_absolute(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or("");
    target.starts_with("//")
        || (scheme.len() < target.len()
            && scheme.len() > 1
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::tests::zipped;
    use crate::{Content, extract};

    #[test]
    fn chapters_are_read_in_the_order_of_the_spine() {
        let opf = "<package><metadata><dc:title>Book</dc:title><dc:creator>Ann</dc:creator><dc:language>de</dc:language><dc:date>2011-05</dc:date></metadata>\
            <manifest><item id='b' href='b%20b.xhtml'/><item id='a' href='text/a.xhtml'/><item id='css' href='s.css'/></manifest><spine><itemref idref='a'/><itemref idref='zz'/><itemref idref='b'/></spine></package>";
        let bytes = zipped(&[
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", b"<container><rootfiles><rootfile full-path='OPS/p.opf'/></rootfiles></container>"),
            ("OPS/p.opf", opf.as_bytes()),
            ("OPS/text/a.xhtml", b"<html><head><title>x</title><link rel='stylesheet' href='s.css'/></head><body><h1>One</h1><p>See <a href='../b%20b.xhtml'>next</a> or <a href='http://a.example/'>out</a></p></body></html>"),
            ("OPS/b b.xhtml", b"<html><body><p>Two &eacute;</p></body></html>"),
        ]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.mime, "application/epub+zip");
        assert_eq!(doc.text, "One\nSee next or out\nTwo é");
        assert_eq!((doc.links.len(), doc.links[0].kind, doc.links[0].anchor.as_str()), (1, LinkKind::Document, "out"));
        assert_eq!(
            (doc.title.as_deref(), doc.author.as_deref(), doc.lang.as_deref()),
            (Some("Book"), Some("Ann"), Some("de"))
        );
        assert_eq!(doc.created.as_deref(), Some("2011-05"));
    }

    #[test]
    fn only_whole_addresses_lead_out_of_a_book() {
        assert!(["http://a.example/", "mailto:x", "//a.example/"].iter().all(|t| is_absolute(t)));
        assert!(!["a.xhtml", "#x", "", "c:x", "a b:c"].iter().any(|t| is_absolute(t)));
    }
}
