//! What do the tokens of a rich text mean?

use super::fonts::page_of_charset;
use super::object::RtfObject;
use super::tokens::{RtfToken, RtfTokens};
use crate::flow::TextFlow;
use crate::legacy::code_page;
use crate::office::{formula, heading_by_name, hyperlink};
use crate::prose::folded_literal;
use crate::stamp::moment;
use encoding_rs::{Encoding, WINDOWS_1252};
use std::collections::HashMap;

/// How deep groups have a state of their own; deeper ones share that of their parent.
const MAX_DEPTH: usize = 1_000;
/// Maximum number of fonts and of styles.
const MAX_TABLE: usize = 10_000;
/// Maximum length of a field's code, a property or a name.
const MAX_ASIDE: usize = 16 << 10;
/// Maximum length of a property in characters.
const MAX_PROPERTY: usize = 1_000;
/// Maximum number of embedded objects that are read.
const MAX_OBJECTS: usize = 100;
/// Properties of shapes and pictures that are text: what they show, and what is said of them.
const SAID: [&str; 2] = ["gtextUNICODE", "wzDescription"];

/// Where the text of a group belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RtfPlace {
    #[default]
    Text,
    Skipped,
    Fonts,
    Styles,
    Code,
    Title,
    Author,
    Comment,
    /// A picture, whose properties may be text.
    Picture,
    ShapeName,
    ShapeValue,
    /// An embedded file in hexadecimal digits.
    Object,
    Created,
    Modified,
}

/// The state of a group, which its end restores.
#[derive(Clone, Copy, Debug)]
struct RtfGroup {
    place: RtfPlace,
    encoding: &'static Encoding,
    /// How many characters stand in for one in Unicode.
    fallback: usize,
    /// The heading level of the paragraph.
    level: Option<u8>,
    /// Whether its end is that of a field, or of a link.
    field: bool,
    linked: bool,
    /// Whether nothing of it has been read yet.
    fresh: bool,
    /// Whether it began with `\*`.
    optional: bool,
    /// Whether it stands apart from the text around it.
    apart: bool,
    /// Whether it says the same twice: first in a code page, then in Unicode.
    twofold: bool,
}

pub(super) struct RtfReader<'a> {
    tokens: RtfTokens<'a>,
    group: RtfGroup,
    outer: Vec<RtfGroup>,
    /// Groups beyond the depth that is kept.
    deeper: usize,
    /// Bytes of text that are not decoded yet.
    bytes: Vec<u8>,
    /// Characters to be skipped after one in Unicode.
    skip: usize,
    /// The first half of a character beyond 16 bits.
    half: Option<u16>,
    default: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    default_font: i32,
    styles: HashMap<i32, u8>,
    style: i32,
    fields: Vec<String>,
    aside: String,
    date: [i32; 5],
    in_heading: bool,
    /// The name of the property of a shape, the value of which comes next.
    property: String,
    object: RtfObject,
    /// What is embedded, to be read behind the text.
    objects: Vec<RtfObject>,
}

impl<'a> RtfReader<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        let group = RtfGroup {
            place: RtfPlace::Text,
            encoding: WINDOWS_1252,
            fallback: 1,
            level: None,
            field: false,
            linked: false,
            fresh: false,
            optional: false,
            apart: false,
            twofold: false,
        };
        Self {
            tokens: RtfTokens::new(src),
            group,
            outer: Vec::new(),
            deeper: 0,
            bytes: Vec::new(),
            skip: 0,
            half: None,
            default: WINDOWS_1252,
            fonts: HashMap::new(),
            font: 0,
            default_font: 0,
            styles: HashMap::new(),
            style: 0,
            fields: Vec::new(),
            aside: String::new(),
            date: [0; 5],
            in_heading: false,
            property: String::new(),
            object: RtfObject::default(),
            objects: Vec::new(),
        }
    }

    pub(super) fn run(mut self, flow: &mut TextFlow<'_>) {
        while let Some(token) = self.tokens.next() {
            match token {
                RtfToken::Byte(byte) => self.byte(byte, flow),
                RtfToken::Open => self.open(flow),
                RtfToken::Close => {
                    self.close(flow);
                    // What follows the document is none of it.
                    if self.outer.is_empty() && self.deeper == 0 {
                        break;
                    }
                }
                RtfToken::Word(name, number) => self.word(name, number, flow),
                RtfToken::Symbol(symbol) => self.symbol(symbol, flow),
            }
            if flow.is_full() {
                break;
            }
        }
        self.flush(flow);
        self.objects.iter().for_each(|object| object.write(flow));
    }

    fn byte(&mut self, byte: u8, flow: &mut TextFlow<'_>) {
        self.group.fresh = false;
        if self.group.place == RtfPlace::Object {
            self.object.digit(byte);
        } else if self.skip > 0 {
            self.skip -= 1;
        } else if !matches!(self.group.place, RtfPlace::Skipped | RtfPlace::Picture) {
            self.bytes.push(byte);
            if self.bytes.len() > MAX_ASIDE && byte == b' ' {
                self.flush(flow);
            }
        }
    }

    /// Decodes the bytes of text so far.
    fn flush(&mut self, flow: &mut TextFlow<'_>) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let text = self.group.encoding.decode_without_bom_handling(&bytes).0;
            self.put(&text, flow);
            self.bytes = bytes;
            self.bytes.clear();
        }
    }

    fn put(&mut self, text: &str, flow: &mut TextFlow<'_>) {
        match self.group.place {
            RtfPlace::Text => {
                if !self.in_heading
                    && !text.trim().is_empty()
                    && let Some(level) = self.group.level
                {
                    flow.begin_heading(level);
                    self.in_heading = true;
                }
                flow.text(text);
            }
            RtfPlace::Code => {
                if let Some(code) = self.fields.last_mut().filter(|c| c.len() + text.len() <= MAX_ASIDE) {
                    code.push_str(text);
                }
            }
            RtfPlace::Styles => self.style_name(text),
            RtfPlace::Title | RtfPlace::Author | RtfPlace::Comment | RtfPlace::ShapeName | RtfPlace::ShapeValue
                if self.aside.len() < MAX_ASIDE =>
            {
                self.aside.push_str(text);
            }
            _ => {}
        }
    }

    fn style_name(&mut self, text: &str) {
        if let Some(level) =
            heading_by_name(text.trim().trim_end_matches(';')).filter(|_| self.styles.len() < MAX_TABLE)
        {
            self.styles.insert(self.style, level);
        }
    }

    fn open(&mut self, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        self.skip = 0;
        if self.outer.len() >= MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        self.outer.push(self.group);
        let place = if self.group.twofold { RtfPlace::Skipped } else { self.group.place };
        let (field, linked, optional, apart, twofold) = Default::default();
        self.group = RtfGroup { place, field, linked, fresh: true, optional, apart, twofold, ..self.group };
    }

    fn close(&mut self, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        self.skip = 0;
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(outer) = self.outer.pop() else { return };
        if self.group.linked {
            flow.end_link();
        }
        if self.group.apart {
            flow.line();
        }
        if self.group.field
            && let Some(formula) = self.fields.pop().and_then(|code| formula(&code))
        {
            self.put(&formula, flow);
        }
        let place = self.group.place;
        if place != outer.place {
            self.end_of_place(flow);
        }
        let level = self.group.level;
        self.group = outer;
        if place == RtfPlace::Fonts {
            self.group.encoding = self.default_encoding();
        }
        // The style of a paragraph is not that of a group, if the group is part of its text.
        if self.group.place == RtfPlace::Text {
            self.group.level = level;
        }
    }

    /// Keeps what a destination held.
    fn end_of_place(&mut self, flow: &mut TextFlow<'_>) {
        let place = self.group.place;
        match place {
            RtfPlace::Object => {
                let object = std::mem::take(&mut self.object);
                if self.objects.len() < MAX_OBJECTS {
                    self.objects.push(object);
                }
                return;
            }
            RtfPlace::ShapeName => return self.property = std::mem::take(&mut self.aside),
            RtfPlace::ShapeValue => {
                if SAID.contains(&self.property.trim()) {
                    flow.space();
                    flow.text(&self.aside);
                    flow.space();
                }
                return self.aside.clear();
            }
            _ => {}
        }
        let value = || Some(folded_literal(&self.aside, MAX_PROPERTY)).filter(|v| !v.is_empty());
        let doc = &mut flow.found.doc;
        match place {
            RtfPlace::Title => doc.title = value(),
            RtfPlace::Author => doc.author = value(),
            RtfPlace::Comment => doc.description = value(),
            RtfPlace::Created | RtfPlace::Modified => {
                let [year, month, day, hour, minute] = self.date;
                let at = moment(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}"));
                if place == RtfPlace::Created { doc.created = at } else { doc.modified = at }
            }
            _ => return,
        }
        self.aside.clear();
    }

    fn symbol(&mut self, symbol: u8, flow: &mut TextFlow<'_>) {
        let fresh = std::mem::take(&mut self.group.fresh);
        if symbol == b'*' {
            // Elsewhere than at the beginning it says nothing of the group.
            self.group.optional = fresh;
        } else if self.skip > 0 {
            self.skip -= 1;
        } else {
            match symbol {
                b'{' | b'}' | b'\\' => self.bytes.push(symbol),
                b'~' => self.bytes.push(b' '),
                b'_' => self.bytes.push(b'-'),
                _ => {}
            }
            self.flush(flow);
        }
    }

    fn word(&mut self, name: &str, number: Option<i32>, flow: &mut TextFlow<'_>) {
        if name == "u" {
            return self.unicode(number.unwrap_or(0), flow);
        }
        self.flush(flow);
        self.half = None;
        self.group.fresh = false;
        if name == "bin" {
            let len = number.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let passed = self.tokens.pass(len);
            if self.group.place == RtfPlace::Object {
                self.object.bytes(passed);
            }
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if name == "ud"
            && let Some(outer) = self.outer.last().filter(|outer| outer.twofold)
        {
            (self.group.place, self.group.optional) = (outer.place, false);
            return;
        }
        if self.group.place == RtfPlace::Skipped {
            return;
        }
        let optional = std::mem::take(&mut self.group.optional);
        if name == "nofpages" {
            flow.found.doc.page_count = number.and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
            return;
        }
        if !self.destination(name, flow) && !self.setting(name, number) && !self.character(name, flow) && optional {
            self.group.place = RtfPlace::Skipped;
        }
    }

    fn unicode(&mut self, number: i32, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        self.group.fresh = false;
        self.skip = self.group.fallback;
        // Numbers above 32,767 are written as negative ones.
        let unit = u16::try_from(number.rem_euclid(65_536)).unwrap_or(0);
        let units = match (self.half.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => vec![high, unit],
            (_, 0xD800..=0xDBFF) => return self.half = Some(unit),
            _ => vec![unit],
        };
        let text: String = char::decode_utf16(units).filter_map(Result::ok).filter(|&c| c != '\0').collect();
        self.put(&text, flow);
    }

    /// A word that says where the text of its group belongs.
    fn destination(&mut self, name: &str, flow: &mut TextFlow<'_>) -> bool {
        let place = match name {
            "fonttbl" => RtfPlace::Fonts,
            "stylesheet" => RtfPlace::Styles,
            "title" => RtfPlace::Title,
            "author" => RtfPlace::Author,
            "doccomm" => RtfPlace::Comment,
            "creatim" => RtfPlace::Created,
            "revtim" => RtfPlace::Modified,
            "fldinst" => RtfPlace::Code,
            "objdata" => RtfPlace::Object,
            "pict" | "sp" => RtfPlace::Picture,
            "sn" => RtfPlace::ShapeName,
            "sv" => RtfPlace::ShapeValue,
            "upr" => {
                self.group.twofold = true;
                return true;
            }
            "field" => {
                if self.fields.len() < MAX_DEPTH {
                    self.fields.push(String::new());
                    self.group.field = true;
                }
                return true;
            }
            "fldrslt" => {
                let code = self.fields.last_mut().map(std::mem::take).unwrap_or_default();
                if let Some(formula) = formula(&code) {
                    self.put(&formula, flow);
                }
                let target = hyperlink(&code);
                if let Some(target) = target.filter(|_| self.group.place == RtfPlace::Text && !self.group.linked) {
                    flow.begin_link(&target);
                    self.group.linked = true;
                }
                return true;
            }
            // Text that stands elsewhere on the page.
            "footnote" | "header" | "footer" | "headerl" | "headerr" | "headerf" | "footerl" | "footerr"
            | "footerf" | "shptxt" | "dptxbxtext" | "annotation" | "atnid" | "atnauthor" => {
                flow.line();
                self.group.apart = true;
                RtfPlace::Text
            }
            "shpinst" | "shp" | "shpgrp" | "shppict" | "picprop" | "do" | "info" | "formfield" => return true,
            "colortbl" | "nonshppict" | "shprslt" | "themedata" | "datastore" | "listtable" | "listoverridetable"
            | "rsidtbl" | "generator" | "xmlnstbl" | "mmathPr" | "latentstyles" | "keywords" | "comment"
            | "operator" | "company" | "manager" | "category" | "subject" | "printim" | "buptim" | "bkmkstart"
            | "bkmkend" | "filetbl" | "revtbl" | "pntxta" | "pntxtb" | "pnseclvl" | "template" | "ftnsep"
            | "ftnsepc" | "aftnsep" | "atnref" | "atrfstart" | "atrfend" | "atndate" | "listtext" | "pntext"
            | "hlinkbase" | "userprops" | "wgrffmtfilter" | "blipuid" | "falt" | "panose" | "mhtmltag" | "htmltag"
            | "docvar" | "xe" | "tc" => RtfPlace::Skipped,
            _ => return false,
        };
        self.group.place = place;
        self.aside.clear();
        self.date = [0; 5];
        true
    }

    /// A word that changes how text is read.
    fn setting(&mut self, name: &str, number: Option<i32>) -> bool {
        let value = number.unwrap_or(0);
        match name {
            "ansicpg" => self.set_default(u32::try_from(value).ok().and_then(code_page)),
            "mac" => self.set_default(code_page(10_000)),
            "deff" => (self.default_font, self.font) = (value, value),
            "f" => {
                self.font = value;
                if self.group.place != RtfPlace::Fonts {
                    self.group.encoding = self.fonts.get(&value).copied().unwrap_or(self.default);
                }
            }
            "plain" => self.group.encoding = self.default_encoding(),
            "fcharset" | "cpg" if self.group.place == RtfPlace::Fonts => {
                let page = if name == "cpg" { u32::try_from(value).ok() } else { page_of_charset(value) };
                if let Some(encoding) = page.and_then(code_page).filter(|_| self.fonts.len() < MAX_TABLE) {
                    self.fonts.insert(self.font, encoding);
                }
            }
            "uc" => self.group.fallback = usize::try_from(value).unwrap_or(0).min(8),
            "s" if self.group.place == RtfPlace::Styles => self.style = value,
            "s" => self.group.level = self.styles.get(&value).copied(),
            "pard" => self.group.level = None,
            "outlinelevel" => self.group.level = u8::try_from(value).ok().filter(|&l| l < 9).map(|l| (l + 1).min(6)),
            "yr" => self.date[0] = value,
            "mo" => self.date[1] = value,
            "dy" => self.date[2] = value,
            "hr" => self.date[3] = value,
            "min" => self.date[4] = value,
            _ => return false,
        }
        true
    }

    /// The encoding of text without a font of its own.
    fn default_encoding(&self) -> &'static Encoding {
        self.fonts.get(&self.default_font).copied().unwrap_or(self.default)
    }

    fn set_default(&mut self, encoding: Option<&'static Encoding>) {
        if let Some(encoding) = encoding {
            self.default = encoding;
            self.group.encoding = encoding;
        }
    }

    /// A word that stands for a character.
    fn character(&mut self, name: &str, flow: &mut TextFlow<'_>) -> bool {
        let text = match name {
            "par" | "line" | "sect" | "page" | "cell" | "nestcell" | "row" | "nestrow" | "column" => {
                if self.group.place == RtfPlace::Text {
                    if std::mem::take(&mut self.in_heading) {
                        flow.end_heading();
                    }
                    flow.line();
                }
                return true;
            }
            "tab" | "emspace" | "enspace" | "qmspace" => " ",
            "emdash" => "\u{2014}",
            "endash" => "\u{2013}",
            "lquote" => "\u{2018}",
            "rquote" => "\u{2019}",
            "ldblquote" => "\u{201C}",
            "rdblquote" => "\u{201D}",
            "bullet" => "\u{2022}",
            _ => return false,
        };
        self.put(text, flow);
        true
    }
}
