//! Which elements are open where a block occurs?
//!
//! The parsing half of [`super::outline`]: as tags go by, it maintains a stack of open block
//! elements and turns text into blocks. Text is visible under the same rules as in
//! [`super::reader`].

use super::foreign::{Foreign, ForeignHint};
use super::hints::{Hint, TagNames};
use super::name::{ACTS, BLOCK, CELL, SPACED, Tag, VOID};
use super::outline::{Outline, OutlineBlock, OutlineElement};
use super::place::SPREAD;
use super::raw::Raw;
use super::scan::{HtmlToken, Scanner, TextMode};
use super::signs::Signs;
use crate::prose::{Prose, TEXT_CAP, folded};
use crate::simhash::mix;
use std::ops::Range;

/// Maximum depth of the stack of open elements.
const DEPTH: usize = 128;
/// Maximum number of separate blocks.
const MOST_BLOCKS: usize = 200_000;
/// Maximum length of a title.
const TITLE: usize = 1_000;

/// An open block element.
#[derive(Debug)]
struct OpenElement<'a> {
    tag: Tag,
    /// Its names, until it contains text.
    element: Option<OutlineElement<'a>>,
    name: &'a [u8],
    /// Its index, once it contains text.
    frame: Option<usize>,
}

/// The block being read.
#[derive(Debug, Default)]
struct OpenBlock {
    /// The element in which it began.
    frame: usize,
    /// Where its text begins; none before its first word.
    start: Option<usize>,
    source: Range<usize>,
    linked: usize,
    coded: usize,
    images: usize,
    is_emphasised: bool,
}

/// A page being read.
pub(super) struct Sketch<'a> {
    src: &'a str,
    scanner: Scanner<'a>,
    foreign: Foreign,
    is_xml: bool,
    open: Vec<OpenElement<'a>>,
    /// Number of open elements beyond the maximum depth.
    deeper: usize,
    templates: u32,
    anchors: u32,
    /// Number of open elements for small or emphasised text.
    emphases: u32,
    /// Number of open elements for code.
    codes: u32,
    /// Open elements that hold the name of an author.
    signs: Signs<'a>,
    raw: Option<Tag>,
    /// The type of the current script.
    script: &'a str,
    /// The text of all blocks.
    prose: Prose,
    block: OpenBlock,
    out: Outline<'a>,
}

impl<'a> Sketch<'a> {
    pub(super) fn new(src: &'a str, is_xml: bool) -> Self {
        let mut scanner = Scanner::new(src);
        scanner.allow_cdata(is_xml);
        Self {
            src,
            scanner,
            foreign: Foreign::default(),
            is_xml,
            open: Vec::new(),
            deeper: 0,
            templates: 0,
            anchors: 0,
            emphases: 0,
            codes: 0,
            signs: Signs::default(),
            raw: None,
            script: "",
            prose: Prose::with_room_for(src.len() / 4),
            block: OpenBlock::default(),
            out: Outline::default(),
        }
    }

    pub(super) fn run(mut self) -> Outline<'a> {
        let mut names = TagNames::new(self.src);
        let mut rest = None;
        while let Some(token) = self.scanner.next(&mut names) {
            match token {
                HtmlToken::Text(range, reading) => {
                    if self.prose.len() > TEXT_CAP || self.prose.truncated {
                        rest = Some(range.start);
                        break;
                    }
                    self.text(range, reading);
                }
                HtmlToken::Start => self.start(&names),
                HtmlToken::End => self.end(),
                HtmlToken::Comment(_) | HtmlToken::Doctype(_) => {}
            }
        }
        self.flush();
        self.out.text = self.prose.into_text();
        if let Some(from) = rest {
            self.out.rest(self.src, from);
        }
        self.out
    }

    fn text(&mut self, range: Range<usize>, reading: TextMode) {
        let text = self.src.get(range.clone()).unwrap_or("");
        let raw = self.raw.take();
        match raw {
            Some(Tag::Title) if self.out.title.is_none() => self.out.title = Some(folded(text, TITLE)),
            Some(Tag::Script) => self.out.declared.script(self.script, text),
            Some(Tag::Xmp | Tag::Plaintext) => self.say(text, range, false),
            None if !self.foreign.hides() => self.say(text, range, reading == TextMode::Referenced),
            None => {}
            Some(_) => {}
        }
    }

    /// Adds visible text.
    fn say(&mut self, text: &str, source: Range<usize>, referenced: bool) {
        if self.templates > 0 {
            return;
        }
        let before = self.prose.len();
        match referenced {
            true => self.prose.referenced(text),
            false => self.prose.literal(text),
        }
        let said = self.prose.len().saturating_sub(before);
        if said == 0 {
            return;
        }
        if self.block.start.is_none() {
            let gap = self.prose.text().as_bytes().get(before).is_some_and(u8::is_ascii_whitespace);
            self.block.start = Some(before + usize::from(gap));
            self.block.frame = self.frame_here();
            self.block.is_emphasised = self.emphases > 0;
            self.block.source = source.clone();
        }
        self.block.source.end = source.end;
        self.block.linked += if self.anchors > 0 { said } else { 0 };
        self.block.coded += if self.codes > 0 { said } else { 0 };
    }

    fn start(&mut self, names: &TagNames<'a>) {
        let tag = self.tag();
        let (token_key, closed) = (self.scanner.tag().key, self.scanner.tag().self_closing);
        let hint = match tag {
            Tag::Font if names.has(Hint::Font) => ForeignHint::Html,
            Tag::AnnotationXml => ForeignHint::of_encoding(names.get(Hint::Encoding)),
            _ => ForeignHint::Nothing,
        };
        let foreign = self.foreign.start(tag, token_key, closed, hint);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        if foreign {
            return;
        }
        self.separate(tag);
        let is_time = tag == Tag::Other && self.name().eq_ignore_ascii_case(b"time");
        self.out.declared.start(tag, is_time, names, self.out.pieces.len());
        if tag.flags() & VOID == 0 && !(self.is_xml && closed) {
            self.signs.start(self.name(), names, self.prose.len(), self.out.pieces.len());
        }
        if nests(tag, self.name()) {
            self.close_before(tag);
            self.push(tag, names);
            if self.is_xml && closed {
                self.close(tag);
            }
        }
        if !(self.is_xml && closed) {
            self.enter(tag, names);
        }
    }

    /// Updates what is open after a start tag.
    fn enter(&mut self, tag: Tag, names: &TagNames<'a>) {
        if tag.flags() & ACTS == 0 {
            self.emphases += u32::from(matches!(tag, Tag::I | Tag::Em | Tag::Small));
            self.codes += u32::from(matches!(tag, Tag::Code | Tag::Tt));
            return;
        }
        let raw = match tag {
            Tag::Template => {
                self.templates += 1;
                return;
            }
            Tag::A => {
                self.anchors = u32::from(names.has(Hint::Href));
                return;
            }
            Tag::Img => {
                self.block.images += 1;
                return;
            }
            Tag::Title | Tag::Textarea => Raw::Referenced,
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed => Raw::Literal,
            Tag::Script => Raw::Script,
            Tag::Plaintext => Raw::Endless,
            _ => return,
        };
        self.raw = Some(tag);
        self.script = if tag == Tag::Script { names.get(Hint::Type) } else { "" };
        self.scanner.raw(raw);
    }

    fn end(&mut self) {
        let tag = self.tag();
        self.raw = None;
        self.foreign.end(tag, self.scanner.tag().key);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        self.separate(tag);
        self.signs.end(self.name(), self.prose.text(), &mut self.out.declared);
        match tag {
            Tag::Template => self.templates = self.templates.saturating_sub(1),
            Tag::A => self.anchors = 0,
            Tag::I | Tag::Em | Tag::Small => self.emphases = self.emphases.saturating_sub(1),
            Tag::Code | Tag::Tt => self.codes = self.codes.saturating_sub(1),
            _ if nests(tag, self.name()) => self.close(tag),
            _ => {}
        }
    }

    fn tag(&self) -> Tag {
        Tag::of(self.scanner.tag().key, self.name())
    }

    fn name(&self) -> &'a [u8] {
        self.src.as_bytes().get(self.scanner.tag().name.clone()).unwrap_or(&[])
    }

    fn separate(&mut self, tag: Tag) {
        if tag.flags() & BLOCK != 0 {
            if self.out.pieces.len() < MOST_BLOCKS {
                self.flush();
            } else {
                self.prose.space();
            }
        } else if tag.flags() & SPACED != 0 {
            self.prose.space();
        }
    }

    /// Ends the current block.
    fn flush(&mut self) {
        self.prose.line();
        let Some(start) = self.block.start else { return };
        let OpenBlock { frame, source, linked, coded, images, is_emphasised, .. } = std::mem::take(&mut self.block);
        let text = start.min(self.prose.len())..self.prose.len();
        if !text.is_empty() {
            self.out.pieces.push(OutlineBlock { frame, text, source, linked, coded, images, is_emphasised });
        }
    }

    fn push(&mut self, tag: Tag, names: &TagNames<'a>) {
        if self.open.len() >= DEPTH {
            self.deeper += 1;
            return;
        }
        let element = OutlineElement {
            parent: None,
            tag,
            name: self.src.get(self.scanner.tag().name.clone()).unwrap_or(""),
            id: names.get(Hint::Id),
            class: names.get(Hint::Class),
            role: names.get(Hint::Role),
            itemprop: names.get(Hint::ItemProp),
            is_hidden: names.hides(),
        };
        self.open.push(OpenElement { tag, element: Some(element), name: self.name(), frame: None });
    }

    /// Applies the implied end tags of a start tag.
    fn close_before(&mut self, tag: Tag) {
        let Some((siblings, within)) = implied_ends(tag) else { return };
        let reach = self.open.iter().rposition(|o| within.contains(&o.tag)).map_or(0, |i| i + 1);
        if let Some(at) = self.open[reach..].iter().position(|o| siblings.contains(&o.tag)) {
            self.open.truncate(reach + at);
        }
    }

    fn close(&mut self, tag: Tag) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let name = self.name();
        let same = |o: &OpenElement<'_>| o.tag == tag && (tag != Tag::Other || o.name.eq_ignore_ascii_case(name));
        if let Some(at) = self.open.iter().rposition(same) {
            self.open.truncate(at);
        }
    }

    /// The index of the innermost open element. Assigns indices to it and its ancestors if they
    /// have none yet.
    fn frame_here(&mut self) -> usize {
        let mut parent = None;
        for open in &mut self.open {
            if let Some(mut element) = open.element.take() {
                element.parent = parent;
                self.out.frames.push(element);
                open.frame = Some(self.out.frames.len() - 1);
            }
            parent = open.frame;
        }
        parent.unwrap_or(usize::MAX)
    }
}

impl Outline<'_> {
    /// Adds one last block with a hash of everything beyond the limits.
    fn rest(&mut self, src: &str, from: usize) {
        let rest = src.as_bytes().get(from..).unwrap_or(&[]);
        let word = |chunk: &[u8]| chunk.iter().fold(0, |word: u64, b| (word << 8) | u64::from(*b));
        let sum = rest.chunks(8).fold(0, |sum: u64, chunk| mix(sum.rotate_left(5) ^ word(chunk), SPREAD));
        self.is_cut = true;
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(&format!("… and more: {sum:016x}"));
        self.pieces.push(OutlineBlock {
            frame: usize::MAX,
            text: start..self.text.len(),
            source: from..src.len(),
            linked: 0,
            coded: 0,
            images: 0,
            is_emphasised: false,
        });
    }
}

/// Which open elements a start tag closes: these siblings, unless one of those is in between.
fn implied_ends(tag: Tag) -> Option<(&'static [Tag], &'static [Tag])> {
    Some(match tag {
        Tag::Li => (&[Tag::Li, Tag::P], &[Tag::Ul, Tag::Ol, Tag::Menu, Tag::Dir]),
        Tag::Dt | Tag::Dd => (&[Tag::Dt, Tag::Dd, Tag::P], &[Tag::Dl]),
        Tag::Td | Tag::Th => (&[Tag::Td, Tag::Th], &[Tag::Tr, Tag::Table]),
        Tag::Tr => (&[Tag::Tr], &[Tag::Table, Tag::Tbody, Tag::Thead, Tag::Tfoot]),
        Tag::Tbody | Tag::Thead | Tag::Tfoot => (&[Tag::Tbody, Tag::Thead, Tag::Tfoot], &[Tag::Table]),
        Tag::Choice => (&[Tag::Choice], &[Tag::Optgroup]),
        _ if tag.flags() & BLOCK != 0 => (&[Tag::P], &[Tag::Td, Tag::Th, Tag::Li, Tag::Div, Tag::Section]),
        _ => return None,
    })
}

/// Whether an element goes on the stack: blocks, cells and custom elements.
fn nests(tag: Tag, name: &[u8]) -> bool {
    let own = tag == Tag::Other && name.contains(&b'-');
    (tag.flags() & (BLOCK | CELL) != 0 || own) && tag.flags() & VOID == 0
}
