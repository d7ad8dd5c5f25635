//! Which elements are open where a block occurs?
//!
//! The parsing half of [`super::outline`]: as tags go by, it maintains a stack of open block
//! elements and turns text into blocks. Text is visible under the same rules as in
//! [`super::reader`].

use super::foreign::Foreign;
use super::name::{ACTS, BLOCK, CELL, NameKey, SPACED, Tag, VOID, key};
use super::outline::{Outline, OutlineBlock, OutlineElement, SPREAD, StartTag};
use super::raw::Raw;
use super::scan::{Attributes, HtmlToken, Scanner, TextMode};
use crate::prose::{Prose, TEXT_CAP, folded};
use crate::simhash::mix;
use std::ops::Range;

/// Maximum depth of the stack of open elements.
const DEPTH: usize = 128;
/// Maximum number of separate blocks.
const MOST_BLOCKS: usize = 200_000;
/// Maximum length of a title.
const TITLE: usize = 1_000;

/// The attributes of a tag that matter here.
#[derive(Debug, Default)]
struct TagNames {
    id: Option<Range<usize>>,
    class: Option<Range<usize>>,
    role: Option<Range<usize>>,
    /// Whether it has an attribute that makes a `<font>` break out of SVG.
    font: bool,
}

impl Attributes for TagNames {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn attribute(&mut self, name: NameKey, _: Range<usize>, value: Range<usize>) {
        const ID: NameKey = key("id");
        const CLASS: NameKey = key("class");
        const ROLE: NameKey = key("role");
        const COLOR: NameKey = key("color");
        const FACE: NameKey = key("face");
        const SIZE: NameKey = key("size");
        match name {
            ID => drop(self.id.get_or_insert(value)),
            CLASS => drop(self.class.get_or_insert(value)),
            ROLE => drop(self.role.get_or_insert(value)),
            COLOR | FACE | SIZE => self.font = true,
            _ => {}
        }
    }
}

/// An open block element.
#[derive(Debug)]
struct OpenElement {
    tag: Tag,
    name: Range<usize>,
    id: Option<Range<usize>>,
    class: Option<Range<usize>>,
    role: Option<Range<usize>>,
    /// Its index, once it contains text.
    frame: Option<usize>,
}

/// A page being read.
pub(super) struct Sketch<'a> {
    src: &'a str,
    scanner: Scanner<'a>,
    foreign: Foreign,
    is_xml: bool,
    open: Vec<OpenElement>,
    /// Number of open elements beyond the maximum depth.
    deeper: usize,
    templates: u32,
    anchors: u32,
    raw: Option<Tag>,
    prose: Prose,
    /// The element in which the current block began.
    frame: usize,
    linked: usize,
    /// Bytes of text so far.
    written: usize,
    out: Outline,
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
            raw: None,
            prose: Prose::default(),
            frame: 0,
            linked: 0,
            written: 0,
            out: Outline::default(),
        }
    }

    pub(super) fn run(mut self) -> Outline {
        let mut names = TagNames::default();
        while let Some(token) = self.scanner.next(&mut names) {
            match token {
                HtmlToken::Text(range, reading) => {
                    if self.written > TEXT_CAP {
                        self.rest(range.start);
                        break;
                    }
                    self.text(range, reading);
                }
                HtmlToken::Start => self.start(&mut names),
                HtmlToken::End => self.end(),
                HtmlToken::Comment(_) | HtmlToken::Doctype(_) => {}
            }
        }
        self.flush();
        self.out
    }

    /// Adds one last block with a hash of everything beyond the limits.
    fn rest(&mut self, from: usize) {
        self.flush();
        let rest = self.src.as_bytes().get(from..).unwrap_or(&[]);
        if !rest.is_empty() {
            let word = |chunk: &[u8]| chunk.iter().fold(0, |word: u64, b| (word << 8) | u64::from(*b));
            let sum = rest.chunks(8).fold(0, |sum: u64, chunk| mix(sum.rotate_left(5) ^ word(chunk), SPREAD));
            let text = format!("… and more: {sum:016x}");
            self.out.pieces.push(OutlineBlock { frame: usize::MAX, text, linked: 0 });
        }
    }

    fn text(&mut self, range: Range<usize>, reading: TextMode) {
        let text = self.src.get(range).unwrap_or("");
        let raw = self.raw.take();
        match raw {
            Some(Tag::Title) if self.out.title.is_none() => self.out.title = Some(folded(text, TITLE)),
            Some(Tag::Xmp | Tag::Plaintext) => self.say(text, false),
            None if !self.foreign.describes() => self.say(text, reading == TextMode::Referenced),
            None => {}
            Some(_) => {}
        }
    }

    /// Adds visible text.
    fn say(&mut self, text: &str, referenced: bool) {
        if self.templates > 0 {
            return;
        }
        let before = self.prose.len();
        match referenced {
            true => self.prose.referenced(text),
            false => self.prose.literal(text),
        }
        let said = self.prose.len() - before.min(self.prose.len());
        if before == 0 && said > 0 {
            self.frame = self.frame_here();
        }
        self.linked += if self.anchors > 0 { said } else { 0 };
    }

    fn start(&mut self, names: &mut TagNames) {
        let tag = self.tag();
        let (token_key, closed) = (self.scanner.tag().key, self.scanner.tag().self_closing);
        let foreign = self.foreign.start(tag, token_key, closed, tag == Tag::Font && names.font);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        if foreign {
            return;
        }
        self.separate(tag);
        if nests(tag, self.name()) {
            self.close_before(tag);
            self.push(tag, names);
            if self.is_xml && closed {
                self.close(tag);
            }
        }
        if tag.flags() & ACTS != 0 && !(self.is_xml && closed) {
            self.enter(tag);
        }
    }

    /// Updates what is open after a start tag.
    fn enter(&mut self, tag: Tag) {
        let raw = match tag {
            Tag::Template => {
                self.templates += 1;
                return;
            }
            Tag::A => {
                self.anchors = 1;
                return;
            }
            Tag::Title | Tag::Textarea => Raw::Referenced,
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed => Raw::Literal,
            Tag::Script => Raw::Script,
            Tag::Plaintext => Raw::Endless,
            _ => return,
        };
        self.raw = Some(tag);
        self.scanner.raw(raw);
    }

    fn end(&mut self) {
        let tag = self.tag();
        self.raw = None;
        self.foreign.end(tag, self.scanner.tag().key);
        self.scanner.allow_cdata(self.is_xml || self.foreign.inside());
        self.separate(tag);
        match tag {
            Tag::Template => self.templates = self.templates.saturating_sub(1),
            Tag::A => self.anchors = 0,
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
        let prose = std::mem::take(&mut self.prose);
        let linked = std::mem::take(&mut self.linked);
        if prose.len() > 0 {
            let text = prose.finish();
            self.written += text.len();
            self.out.pieces.push(OutlineBlock { frame: self.frame, text, linked });
        }
    }

    fn push(&mut self, tag: Tag, names: &mut TagNames) {
        if self.open.len() >= DEPTH {
            self.deeper += 1;
            return;
        }
        let TagNames { id, class, role, .. } = std::mem::take(names);
        self.open.push(OpenElement { tag, name: self.scanner.tag().name.clone(), id, class, role, frame: None });
    }

    /// Applies the implied end tags of a start tag.
    fn close_before(&mut self, tag: Tag) {
        let (siblings, within): (&[Tag], &[Tag]) = match tag {
            Tag::Li => (&[Tag::Li, Tag::P], &[Tag::Ul, Tag::Ol, Tag::Menu, Tag::Dir]),
            Tag::Dt | Tag::Dd => (&[Tag::Dt, Tag::Dd, Tag::P], &[Tag::Dl]),
            Tag::Td | Tag::Th => (&[Tag::Td, Tag::Th], &[Tag::Tr, Tag::Table]),
            Tag::Tr => (&[Tag::Tr], &[Tag::Table, Tag::Tbody, Tag::Thead, Tag::Tfoot]),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => (&[Tag::Tbody, Tag::Thead, Tag::Tfoot], &[Tag::Table]),
            Tag::Choice => (&[Tag::Choice], &[Tag::Optgroup]),
            _ if tag.flags() & BLOCK != 0 => (&[Tag::P], &[Tag::Td, Tag::Th, Tag::Li, Tag::Div, Tag::Section]),
            _ => return,
        };
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
        let src = self.src.as_bytes();
        let same = |o: &OpenElement| {
            o.tag == tag && (tag != Tag::Other || src.get(o.name.clone()).is_some_and(|n| n.eq_ignore_ascii_case(name)))
        };
        if let Some(at) = self.open.iter().rposition(same) {
            self.open.truncate(at);
        }
    }

    /// The index of the innermost open element. Assigns indices to it and its ancestors if they
    /// have none yet.
    fn frame_here(&mut self) -> usize {
        let mut parent = None;
        for i in 0..self.open.len() {
            let open = &self.open[i];
            parent = Some(match open.frame {
                Some(frame) => frame,
                None => {
                    let text = |range: &Option<Range<usize>>| range.clone().and_then(|r| self.src.get(r)).unwrap_or("");
                    let name = self.src.get(open.name.clone()).unwrap_or("");
                    let (id, class, role) = (text(&open.id), text(&open.class), text(&open.role));
                    let written = StartTag { tag: open.tag, name, id, class, role };
                    let frame = OutlineElement::new(&written, parent, &self.out.frames);
                    self.out.frames.push(frame);
                    let number = self.out.frames.len() - 1;
                    self.open[i].frame = Some(number);
                    number
                }
            });
        }
        parent.unwrap_or(usize::MAX)
    }
}

/// Whether an element goes on the stack: blocks, cells and custom elements.
fn nests(tag: Tag, name: &[u8]) -> bool {
    let own = tag == Tag::Other && name.contains(&b'-');
    (tag.flags() & (BLOCK | CELL) != 0 || own) && tag.flags() & VOID == 0
}
