//! Where does XML point?
//!
//! Any XML that is no sitemap, feed or page: `href`, `src` and `xlink:href` wherever they stand, and the style sheet
//! it names. [`walk`] is how feeds and sitemaps are read too. It is forgiving: what is not well formed is read as far
//! as it goes, and no entity but the built-in ones is ever expanded, so that there is nothing to explode.

use crate::entity::{self, Place};
use crate::gather::Gather;
use crate::html::Slots;
use crate::html::name::Attr;
use crate::html::scan::{Reading, Scanner, Token};
use crate::prose::{Prose, folded};
use crate::{Extract, Source};
use orb_page::LinkKind;
use std::borrow::Cow;

/// Reads XML of any other kind.
#[derive(Debug)]
pub(crate) struct XmlExtractor;

/// Something met in XML.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// An element begins: its name as written, and where.
    Start(&'a str, usize),
    /// An element ends.
    End(&'a str),
    /// Characters, references expanded.
    Text(Cow<'a, str>),
    /// A processing instruction, without its brackets, and where.
    Instruction(&'a str, usize),
}

/// Calls `visit` with everything in a document, in order.
pub(crate) fn walk<'a>(src: &'a str, mut visit: impl FnMut(Event<'a>, &Slots<'a>)) {
    let mut scanner = Scanner::new(src);
    scanner.allow_cdata(true);
    let mut attrs = Slots::new(src);
    while let Some(token) = scanner.next(&mut attrs) {
        match token {
            Token::Text(range, reading) => {
                let text = src.get(range).unwrap_or("");
                let text = match reading {
                    Reading::Referenced => entity::unescape(text, Place::Text),
                    Reading::Literal => Cow::Borrowed(text),
                };
                visit(Event::Text(text), &attrs);
            }
            Token::Start => {
                let tag = scanner.tag();
                let name = src.get(tag.name.clone()).unwrap_or("");
                visit(Event::Start(name, tag.at), &attrs);
                if tag.self_closing {
                    visit(Event::End(name), &attrs);
                }
            }
            Token::End => visit(Event::End(src.get(scanner.tag().name.clone()).unwrap_or("")), &attrs),
            Token::Comment(range) => {
                let start = range.start;
                if let Some(instruction) = src.get(range).and_then(|c| c.strip_prefix('?')) {
                    visit(Event::Instruction(instruction, start), &attrs);
                }
            }
            Token::Doctype(_) => {}
        }
    }
}

/// Notes where a document defines entities: they are left as they stand, so that what depends on them may read oddly.
pub(crate) fn note_entities(src: &str, found: &mut Gather) {
    if memchr::memmem::find(src.as_bytes(), b"<!ENTITY").is_some() {
        found.problem("entities", "it defines entities of its own, which are neither expanded nor fetched");
    }
}

/// The part of a name after its prefix.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl Extract for XmlExtractor {
    fn accepts(&self, source: &Source<'_>) -> bool {
        source.is_xml()
    }

    fn extract(&self, source: &Source<'_>, found: &mut Gather) {
        let text = source.text(found);
        note_entities(&text, found);
        let mut prose = Prose::with_room_for(text.len());
        let mut in_title = false;
        walk(&text, |event, attrs| match event {
            Event::Start(name, at) => {
                prose.line();
                in_title = local(name).eq_ignore_ascii_case("title");
                for attr in [Attr::Href, Attr::XlinkHref, Attr::Src] {
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
    Some(entity::unescape(target, Place::Attribute))
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
