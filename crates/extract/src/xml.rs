//! Where does XML point?
//!
//! Any XML that is not a sitemap, feed or page: `href`, `src` and `xlink:href` anywhere, and its
//! style sheet. Feeds and sitemaps use [`walk`] too. It is lenient: malformed XML is read as far as
//! possible. Only built-in entities are expanded, so there is no entity bomb.

use crate::entity::{self, ReferenceContext};
use crate::gather::Gather;
use crate::html::Slots;
use crate::html::name::Attr;
use crate::html::scan::{HtmlToken, Scanner, TextMode};
use crate::prose::{Prose, folded};
use crate::{Extract, TypedContent};
use orb_page::LinkKind;
use std::borrow::Cow;

/// Extracts any other XML.
#[derive(Debug)]
pub(crate) struct XmlExtractor;

/// A parse event.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// Start of an element: its name as written, and its offset.
    Start(&'a str, usize),
    /// End of an element.
    End(&'a str),
    /// Characters, with references expanded.
    Text(Cow<'a, str>),
    /// A processing instruction without its brackets, and its offset.
    Instruction(&'a str, usize),
}

/// Calls `visit` with every event of a document, in order.
pub(crate) fn walk<'a>(src: &'a str, mut visit: impl FnMut(Event<'a>, &Slots<'a>)) {
    let mut scanner = Scanner::new(src);
    scanner.allow_cdata(true);
    let mut attrs = Slots::new(src);
    while let Some(token) = scanner.next(&mut attrs) {
        match token {
            HtmlToken::Text(range, reading) => {
                let text = src.get(range).unwrap_or("");
                let text = match reading {
                    TextMode::Referenced => entity::unescape(text, ReferenceContext::Text),
                    TextMode::Literal => Cow::Borrowed(text),
                };
                visit(Event::Text(text), &attrs);
            }
            HtmlToken::Start => {
                let tag = scanner.tag();
                let name = src.get(tag.name.clone()).unwrap_or("");
                visit(Event::Start(name, tag.at), &attrs);
                if tag.self_closing {
                    visit(Event::End(name), &attrs);
                }
            }
            HtmlToken::End => visit(Event::End(src.get(scanner.tag().name.clone()).unwrap_or("")), &attrs),
            HtmlToken::Comment(range) => {
                let start = range.start;
                if let Some(instruction) = src.get(range).and_then(|c| c.strip_prefix('?')) {
                    visit(Event::Instruction(instruction, start), &attrs);
                }
            }
            HtmlToken::Doctype(_) => {}
        }
    }
}

/// Records a problem if a document defines entities: they are not expanded, so text that uses them
/// may read oddly.
pub(crate) fn note_entities(src: &str, found: &mut Gather) {
    if memchr::memmem::find(src.as_bytes(), b"<!ENTITY").is_some() {
        found.problem("entities", "it defines entities of its own, which are neither expanded nor fetched");
    }
}

/// The local part of a qualified name.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl Extract for XmlExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.is_xml()
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        note_entities(&text, found);
        let mut prose = Prose::with_room_for(text.len());
        let mut in_title = false;
        walk(&text, |event, attrs| match event {
            Event::Start(name, at) => {
                prose.line();
                in_title = local(name).eq_ignore_ascii_case("title");
                for attr in [Attr::Href, Attr::XlinkHref, Attr::SpreadsheetHref, Attr::Src] {
                    if let Some(target) = attrs.get(attr).filter(|t| !t.starts_with('#')) {
                        found.link(LinkKind::Xml, &target, at);
                    }
                }
            }
            Event::End(_) => {
                prose.line();
                in_title = false;
            }
            Event::Text(text) => {
                if in_title && found.doc.title.is_none() && !text.trim().is_empty() {
                    found.doc.title = Some(folded(&text, 1_000));
                }
                prose.literal(&text);
            }
            Event::Instruction(text, at) => {
                if let Some(target) = style_sheet(text) {
                    found.link(LinkKind::Css, &target, at);
                }
            }
        });
        found.doc.text = prose.finish();
    }
}

/// The `href` of an `xml-stylesheet` instruction.
pub(crate) fn style_sheet(instruction: &str) -> Option<Cow<'_, str>> {
    let rest = instruction.strip_prefix("xml-stylesheet")?;
    let value = rest.split_once("href")?.1.trim_ascii_start().strip_prefix('=')?.trim_ascii_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let target = value.get(1..)?.split(quote).next()?;
    Some(entity::unescape(target, ReferenceContext::Attribute))
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};

    #[test]
    fn links_of_any_xml_are_found() {
        let xml = "<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='s.xsl'?><!DOCTYPE r [<!ENTITY e 'x'>]>\
            <r xmlns='http://ns.example/' xmlns:xlink='http://www.w3.org/1999/xlink'><title>A &amp; B</title>\
            <x xlink:href='a'/><y href='b&amp;c'>text<![CDATA[ <z href='no'> ]]></y><!-- <q href='no'/> --><i src='d'/></r>";
        let doc = extract(&Content { bytes: xml.as_bytes(), mime: Some("application/xml"), charset: None, url: "" });
        let targets: Vec<_> = doc.links.iter().map(|l| (l.kind.name(), l.target.as_str())).collect();
        assert_eq!(targets, [("css", "s.xsl"), ("xml", "a"), ("xml", "b&c"), ("xml", "d")]);
        assert_eq!(doc.title.as_deref(), Some("A & B"));
        assert!(doc.text.contains("text <z href='no'>"), "{}", doc.text);
    }
}
