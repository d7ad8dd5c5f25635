//! What matters on a page, as its tags go by?
//!
//! The reader tracks what is open (an anchor, a heading, a form, foreign content) and dispatches
//! each element to the file that knows it: [`super::elements`] for links, [`super::pictures`],
//! [`super::forms`], [`super::meta`]. It tells the scanner when an element's content is raw text.
//! `<noscript>` and `<noframes>` are read as markup, since they are meant for programs like this
//! one.

use super::attributes::Slots;
use super::elements::ANYWHERE;
use super::foreign::{Foreign, ForeignHint};
use super::forms::Forms;
use super::furniture::Furniture;
use super::items::Items;
use super::name::{ACTS, Attr, BLOCK, CELL, SPACED, Tag};
use super::raw::Raw;
use super::scan::{HtmlToken, Scanner, TagToken, TextMode};
use super::sections::Sections;
use crate::gather::{Gather, MAX_ANCHOR};
use crate::prose::{self, Prose};
use crate::{css, script};
use orb_page::LinkKind;
use std::ops::Range;

/// Maximum length of titles and headings in characters.
const MAX_LINE: usize = 1_000;
/// Maximum images whose `alt` becomes part of one anchor text.
const MAX_ALTS: usize = 16;
/// Bytes of HTML per link, to estimate capacity.
const BYTES_A_LINK: usize = 400;
const MOST_EXPECTED: usize = 256;

/// An anchor whose text is still being read.
#[derive(Debug)]
pub(super) struct OpenAnchor {
    /// Its index among the links.
    pub(super) link: usize,
    /// Length of the text when it was opened.
    pub(super) start: usize,
    /// Images inside it: their offsets in the text and their `alt`.
    pub(super) alts: Vec<(usize, String)>,
    /// Fallback if it has no text.
    pub(super) title: String,
    /// Number of tables opened inside it.
    pub(super) tables: u32,
}

/// A page being read.
pub(super) struct HtmlReader<'a, 'f> {
    pub(super) src: &'a str,
    pub(super) found: &'f mut Gather,
    pub(super) prose: Prose,
    pub(super) anchor: Option<OpenAnchor>,
    pub(super) forms: Forms,
    /// Whether it is a fragment inside another document.
    pub(super) nested: bool,
    /// Whether a handler hears of choices from the menu that is open.
    pub(super) is_jump_menu: bool,
    scanner: Scanner<'a>,
    foreign: Foreign,
    heading: Option<(u8, usize)>,
    sections: Sections<'a>,
    /// Where furniture stands and which items describe links, if anybody wants to know.
    layout: Option<(Furniture, Items)>,
    /// Number of open templates: their links count, their text is invisible.
    templates: u32,
    /// The element whose raw text comes next.
    raw: Option<Tag>,
    is_xml: bool,
}

impl<'a, 'f> HtmlReader<'a, 'f> {
    /// A reader at the start of a page.
    pub(super) fn new(src: &'a str, is_xml: bool, found: &'f mut Gather) -> Self {
        let mut scanner = Scanner::new(src);
        scanner.allow_cdata(is_xml);
        found.doc.links.reserve((src.len() / BYTES_A_LINK).min(MOST_EXPECTED));
        let room = std::mem::take(&mut found.room);
        let layout = found.wants_layout.then(Default::default);
        Self {
            src,
            found,
            prose: Prose::within(room, src.len()),
            anchor: None,
            forms: Forms::default(),
            nested: false,
            is_jump_menu: false,
            scanner,
            foreign: Foreign::default(),
            heading: None,
            sections: Sections::default(),
            layout,
            templates: 0,
            raw: None,
            is_xml,
        }
    }

    /// Reads to the end and returns the text.
    pub(super) fn run(mut self) -> String {
        let mut attrs = Slots::new(self.src);
        while let Some(token) = self.scanner.next(&mut attrs) {
            match token {
                HtmlToken::Text(range, reading) => self.text(range, reading),
                HtmlToken::Start => self.start(&attrs),
                HtmlToken::End => self.end(),
                HtmlToken::Comment(_) | HtmlToken::Doctype(_) => {}
            }
        }
        self.finish()
    }

    fn finish(mut self) -> String {
        self.close_anchor();
        self.close_heading();
        self.close_term();
        self.forms.finish(self.found, &self.prose);
        if self.prose.truncated {
            self.found.problem("text-truncated", "the text beyond the first 2 MB was left out");
        }
        let text = self.prose.finish();
        if !self.nested {
            self.found.doc.sections = self.sections.finish(text.len());
            if let Some((furniture, items)) = self.layout {
                self.found.doc.furniture = furniture.finish(text.len());
                self.found.doc.items = items.finish(text.len());
            }
        }
        text
    }

    #[inline]
    fn text(&mut self, range: Range<usize>, reading: TextMode) {
        let start = range.start;
        let text = self.src.get(range).unwrap_or("");
        if let Some(tag) = self.raw.take() {
            return self.raw_text(tag, text, start);
        }
        if self.templates > 0 || self.foreign.hides() {
            return;
        }
        match reading {
            TextMode::Referenced => self.prose.referenced(text),
            TextMode::Literal => self.prose.literal(text),
        }
    }

    #[cold]
    fn raw_text(&mut self, tag: Tag, text: &str, start: usize) {
        let found = &mut *self.found;
        match tag {
            Tag::Title if found.doc.title.is_none() && !self.nested => {
                found.doc.title = Some(prose::folded(text, MAX_LINE));
            }
            Tag::Style => css::urls(text, |target, at| {
                found.link(LinkKind::Css, target, start + at);
            }),
            Tag::Script => script::urls(text, |target, at| {
                found.link(LinkKind::ScriptText, target, start + at);
            }),
            Tag::Textarea => self.forms.textarea(found, text),
            Tag::Xmp | Tag::Plaintext if self.templates == 0 => self.prose.literal(text),
            _ => {}
        }
    }

    #[inline]
    fn start(&mut self, attrs: &Slots<'a>) {
        let tag = self.tag();
        let TagToken { at, key, self_closing, .. } = *self.scanner.tag();
        let hint = if self.foreign.inside() { hint(tag, attrs) } else { ForeignHint::Nothing };
        let foreign = self.foreign.start(tag, key, self_closing, hint);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        if foreign {
            return self.foreign_element(tag, at, attrs);
        }
        self.separate(tag);
        if let Some((furniture, items)) = self.layout.as_mut().filter(|_| !(self.is_xml && self_closing)) {
            furniture.start(tag, attrs, self.prose.len());
            items.start(tag, self.prose.len());
        }
        if attrs.has(Attr::Id) || attrs.has(Attr::Name) {
            self.sections.named(tag, attrs, self.prose.len());
        }
        if tag == Tag::Form && self.forms.is_open() {
            return;
        }
        if tag.flags() & ACTS != 0 {
            self.element(tag, at, attrs);
            self.open(tag, attrs);
        }
        if attrs.any_of(ANYWHERE) {
            self.anywhere(at, attrs);
        }
    }

    /// Updates what is open after a start tag.
    #[inline]
    fn open(&mut self, tag: Tag, attrs: &Slots<'a>) {
        let closed = self.is_xml && self.scanner.tag().self_closing;
        match tag {
            _ if closed => self.close(tag),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.close_heading();
                let level = 1 + (tag as u8 - Tag::H1 as u8);
                self.heading = Some((level, self.prose.len()));
                self.sections.heading(level, attrs, self.prose.len());
            }
            Tag::Template => self.templates += 1,
            Tag::Table => {
                if let Some(anchor) = &mut self.anchor {
                    anchor.tables += 1;
                }
            }
            Tag::Title | Tag::Textarea => self.enter(Raw::Referenced, tag),
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed => self.enter(Raw::Literal, tag),
            Tag::Script => self.enter(Raw::Script, tag),
            Tag::Plaintext => self.enter(Raw::Endless, tag),
            _ => {}
        }
        if !self.nested {
            self.forms.start(tag, attrs, self.found, &self.prose);
        }
    }

    fn enter(&mut self, raw: Raw, tag: Tag) {
        self.raw = Some(tag);
        self.scanner.raw(raw);
    }

    /// The element of the current tag.
    #[inline]
    fn tag(&self) -> Tag {
        let token = self.scanner.tag();
        Tag::of(token.key, self.src.as_bytes().get(token.name.clone()).unwrap_or(&[]))
    }

    #[inline]
    fn end(&mut self) {
        let tag = self.tag();
        self.foreign.end(tag, self.scanner.tag().key);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        self.separate(tag);
        if let Some((furniture, items)) = &mut self.layout {
            furniture.end(tag, self.prose.len());
            items.end(tag, self.prose.len());
        }
        if tag.flags() & ACTS != 0 {
            self.close(tag);
        }
    }

    #[inline]
    fn close(&mut self, tag: Tag) {
        match tag {
            Tag::A => self.close_anchor(),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => self.close_heading(),
            Tag::Template => self.templates = self.templates.saturating_sub(1),
            Tag::Table => self.close_table(),
            Tag::Form | Tag::Select | Tag::Choice | Tag::Optgroup | Tag::Fieldset | Tag::Legend => {
                self.forms.end(tag, self.found, &self.prose);
            }
            _ => {}
        }
    }

    /// Separates words and lines at an element's boundary.
    #[inline]
    fn separate(&mut self, tag: Tag) {
        let flags = tag.flags();
        if flags & (BLOCK | SPACED | CELL) == 0 {
            return;
        }
        if flags & BLOCK != 0 {
            self.prose.line();
            self.close_term();
        } else if flags & SPACED != 0 {
            self.prose.space();
        }
        if flags & CELL != 0 && self.anchor.as_ref().is_some_and(|a| a.tables == 0) {
            self.close_anchor();
        }
    }

    fn close_table(&mut self) {
        match &mut self.anchor {
            Some(anchor) if anchor.tables > 0 => anchor.tables -= 1,
            Some(_) => self.close_anchor(),
            None => {}
        }
    }

    pub(super) fn close_anchor(&mut self) {
        let Some(anchor) = self.anchor.take() else { return };
        if !self.nested
            && anchor.start < self.prose.len()
            && let (Ok(start), Ok(end)) = (u32::try_from(anchor.start), u32::try_from(self.prose.len()))
        {
            self.found.doc.link_texts.push((start, end));
            if let Some((_, items)) = &mut self.layout {
                items.link(anchor.link, anchor.start, self.prose.len());
            }
        }
        let mut text = if anchor.alts.is_empty() {
            self.prose.since(anchor.start, MAX_ANCHOR)
        } else {
            self.prose.with_alts(anchor.start, &anchor.alts, MAX_ANCHOR)
        };
        if text.is_empty() {
            text = anchor.title;
        }
        if let Some(link) = self.found.doc.links.get_mut(anchor.link) {
            link.anchor = text;
        }
    }

    /// Adds an image's `alt` to the enclosing anchor.
    pub(super) fn alt_in_anchor(&mut self, alt: &str) {
        let at = self.prose.len();
        if let Some(anchor) = &mut self.anchor
            && anchor.alts.len() < MAX_ALTS
            && !alt.is_empty()
        {
            anchor.alts.push((at, alt.to_owned()));
        }
    }

    fn close_heading(&mut self) {
        if let Some((level, start)) = self.heading.take()
            && !self.nested
        {
            let text = self.prose.since(start, MAX_LINE);
            self.sections.close(&text);
            self.found.heading(level, text);
        }
    }

    /// A term ends with the next block, whatever it is.
    #[inline]
    fn close_term(&mut self) {
        if self.sections.in_term()
            && let Some(start) = self.sections.begun().filter(|start| *start < self.prose.len())
        {
            self.sections.close(&self.prose.since(start, MAX_LINE));
        }
    }
}

/// What the attributes of an element in foreign content say about it.
#[cold]
fn hint(tag: Tag, attrs: &Slots<'_>) -> ForeignHint {
    match tag {
        Tag::Font if attrs.has(Attr::Color) || attrs.has(Attr::Face) || attrs.has(Attr::Size) => ForeignHint::Html,
        Tag::AnnotationXml => ForeignHint::of_encoding(&attrs.text(Attr::Encoding)),
        _ => ForeignHint::Nothing,
    }
}
