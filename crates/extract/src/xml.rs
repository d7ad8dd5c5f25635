//! Where does XML point?
//!
//! Any XML that is not a sitemap, feed or page: `href`, `src` and `xlink:href` anywhere, and its
//! style sheet. Feeds and sitemaps use [`walk`] too. It is lenient: malformed XML is read as far as
//! possible. Only built-in entities are expanded, so there is no entity bomb.

use crate::css;
use crate::entity::{self, ReferenceContext};
use crate::gather::{Gather, MAX_ANCHOR};
use crate::html::Slots;
use crate::html::name::Attr;
use crate::html::scan::{HtmlToken, Scanner, TextMode};
use crate::prose::{Prose, folded};
use crate::script;
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
        let mut reader = XmlReader { prose: Prose::with_room_for(text.len()), ..XmlReader::default() };
        walk(&text, |event, attrs| match event {
            Event::Start(name, at) => reader.start(local(name), at, attrs, found),
            Event::End(name) => reader.end(local(name), found),
            Event::Text(text) => reader.text(&text, found),
            Event::Instruction(text, at) => {
                if let Some(target) = style_sheet(text) {
                    found.link(LinkKind::Css, &target, at);
                }
            }
        });
        found.doc.text = reader.prose.finish();
    }
}

/// What the characters of an element are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum XmlCharacters {
    #[default]
    Text,
    Title,
    Style,
    Script,
}

/// A document being read. A picture in SVG has elements with a meaning of their own: links with
/// anchors, pieces of lines, styles and scripts.
#[derive(Debug, Default)]
struct XmlReader {
    prose: Prose,
    is_svg: bool,
    has_root: bool,
    characters: XmlCharacters,
    at: usize,
    /// The open link of a picture, and its anchor so far.
    link: Option<usize>,
    anchor: String,
}

impl XmlReader {
    fn start(&mut self, name: &str, at: usize, attrs: &Slots<'_>, found: &mut Gather) {
        self.is_svg |= !self.has_root && name == "svg";
        self.has_root = true;
        self.at = at;
        if !self.is_inline(name) {
            self.prose.line();
        }
        self.characters = match name {
            "style" if self.is_svg => XmlCharacters::Style,
            "script" if self.is_svg => XmlCharacters::Script,
            name if name.eq_ignore_ascii_case("title") => XmlCharacters::Title,
            _ => XmlCharacters::Text,
        };
        let kind = match name {
            "a" if self.is_svg => LinkKind::A,
            "image" | "feImage" | "use" if self.is_svg => LinkKind::Img,
            "script" if self.is_svg => LinkKind::Script,
            _ => LinkKind::Xml,
        };
        for attr in [Attr::Href, Attr::XlinkHref, Attr::SpreadsheetHref, Attr::Src] {
            if let Some(target) = attrs.get(attr).filter(|t| !t.starts_with('#')) {
                let number = found.doc.links.len();
                if found.link(kind, &target, at).is_some() && kind == LinkKind::A {
                    self.link = Some(number);
                    self.anchor.clear();
                }
            }
        }
        if self.is_svg
            && let Some(style) = attrs.get(Attr::Style).filter(|style| style.contains('('))
        {
            css::urls(&style, |target, _| {
                found.link(LinkKind::Css, target, at);
            });
        }
    }

    fn end(&mut self, name: &str, found: &mut Gather) {
        if !self.is_inline(name) {
            self.prose.line();
        }
        self.characters = XmlCharacters::Text;
        if name == "a"
            && let Some(link) = self.link.take().and_then(|number| found.doc.links.get_mut(number))
        {
            link.anchor = folded(&self.anchor, MAX_ANCHOR);
        }
    }

    fn text(&mut self, text: &str, found: &mut Gather) {
        match self.characters {
            XmlCharacters::Style => {
                return css::urls(text, |target, at| {
                    found.link(LinkKind::Css, target, self.at + at);
                });
            }
            XmlCharacters::Script => {
                return script::urls(text, |target, at| {
                    found.link(LinkKind::ScriptText, target, self.at + at);
                });
            }
            XmlCharacters::Title if found.doc.title.is_none() && !text.trim().is_empty() => {
                found.doc.title = Some(folded(text, 1_000));
            }
            XmlCharacters::Title | XmlCharacters::Text => {}
        }
        if self.link.is_some() && self.anchor.len() < 4 * MAX_ANCHOR {
            self.anchor.push_str(text);
        }
        self.prose.literal(text);
    }

    /// Whether an element is a piece of a line.
    fn is_inline(&self, name: &str) -> bool {
        self.is_svg && matches!(name, "tspan" | "textPath" | "a")
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

    #[test]
    fn a_picture_is_read_as_it_is_seen() {
        let svg = "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><title>A map</title>\
            <style>@font-face{src:url(f.woff)} .no{fill:url(#g)}</style><script>var no = 'http://s.example/';</script>\
            <a href='b.html'><text>See <tspan>he</tspan><tspan>re</tspan></text></a><text>next</text><image href='i.png'/></svg>";
        let doc = extract(&Content { bytes: svg.as_bytes(), mime: Some("image/svg+xml"), charset: None, url: "" });
        let links: Vec<_> = doc.links.iter().map(|l| (l.kind.name(), l.target.as_str(), l.anchor.as_str())).collect();
        let expected =
            [("css", "f.woff", ""), ("js", "http://s.example/", ""), ("a", "b.html", "See here"), ("img", "i.png", "")];
        assert_eq!(links, expected);
        assert_eq!((doc.title.as_deref(), doc.text.as_str()), (Some("A map"), "A map\nSee here\nnext"));
    }
}
