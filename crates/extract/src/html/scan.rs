//! Where does a tag begin, where does it end, and what is in between?
//!
//! A single pass over the bytes that follows the states of the WHATWG tokenizer (HTML, 13.2.5)
//! without emitting characters one by one: `memchr` jumps from one `<` to the next, and inside a
//! tag every byte is inspected once. Nothing is decoded or copied: tokens are ranges of the source,
//! and attributes go to an [`Attributes`] sink as they are met. Only the reader knows the elements,
//! so the reader requests raw text ([`Scanner::raw`]) and enables CDATA sections. The same scanner
//! reads XML.
//!
//! Every method only moves forward, so the time is linear whatever the input, and unterminated
//! constructs end with the input.

use super::name::{LONG, NameKey};
use super::raw::{self, Raw};
use memchr::{memchr, memmem};
use std::ops::Range;

/// A sink for the attributes of a tag.
pub(crate) trait Attributes {
    /// A new tag begins.
    fn clear(&mut self);
    /// One attribute: its key, the range of its name, and the range of its value without quotes.
    fn attribute(&mut self, key: NameKey, name: Range<usize>, value: Range<usize>);
}

/// A start or end tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagToken {
    /// Offset of its `<`.
    pub(crate) at: usize,
    /// Its name's key.
    pub(crate) key: NameKey,
    /// Its name as written.
    pub(crate) name: Range<usize>,
    /// Whether it ends with `/>`.
    pub(crate) self_closing: bool,
}

/// How the characters of a text are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextMode {
    /// Ordinary text or RCDATA: character references are expanded.
    Referenced,
    /// Raw text or a CDATA section: every character is literal.
    Literal,
}

/// What the scanner emits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HtmlToken {
    /// Characters.
    Text(Range<usize>, TextMode),
    /// A start tag: [`Scanner::tag`].
    Start,
    /// An end tag: [`Scanner::tag`].
    End,
    /// A comment, or a bogus comment.
    Comment(Range<usize>),
    /// A doctype.
    Doctype(Range<usize>),
}

/// A scanner's position in a document.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    src: &'a [u8],
    at: usize,
    /// The current tag, filled in place: returning it by value takes a tenth of the total time.
    tag: TagToken,
    raw: Option<Raw>,
    cdata: bool,
}

/// White space as defined by HTML.
#[inline]
pub(crate) const fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\n' | b'\t' | b'\r' | 0x0C)
}

const TAG_END: u8 = 1;
const NAME_END: u8 = 2;
const VALUE_END: u8 = 4;

/// Bit flags per byte: which constructs it terminates.
static ENDS: [u8; 256] = {
    let mut table = [0; 256];
    let spaces = *b" \n\t\r\x0C";
    let mut i = 0;
    while i < spaces.len() {
        table[spaces[i] as usize] = TAG_END | NAME_END | VALUE_END;
        i += 1;
    }
    table[b'/' as usize] = TAG_END | NAME_END;
    table[b'>' as usize] = TAG_END | NAME_END | VALUE_END;
    table[b'=' as usize] = NAME_END;
    table
};

#[inline]
fn ends(byte: u8, what: u8) -> bool {
    ENDS[byte as usize] & what != 0
}

/// The next `<`. Where tags are dense, the text between them is too short to be worth a call to
/// `memchr`: on syntax-highlighted code, checking the first few bytes inline saves a tenth of the
/// total time.
#[inline(always)]
fn find_bracket(rest: &[u8]) -> Option<usize> {
    const NEAR: usize = 12;
    let near = rest.get(..NEAR).unwrap_or(rest);
    match near.iter().position(|&b| b == b'<') {
        Some(i) => Some(i),
        None => memchr(b'<', rest.get(near.len()..)?).map(|i| near.len() + i),
    }
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of a document.
    pub(crate) fn new(src: &'a str) -> Self {
        Self::of_bytes(src.as_bytes())
    }

    /// The same for bytes that are not decoded yet.
    pub(crate) fn of_bytes(src: &'a [u8]) -> Self {
        Self { src, at: 0, tag: TagToken::default(), raw: None, cdata: false }
    }

    /// Continues after the first `at` bytes as if they were the name of the element just opened.
    #[cfg(test)]
    pub(crate) fn start_at(&mut self, at: usize) {
        self.at = at;
        self.tag.name = 0..at;
    }

    /// Treats what follows as raw text of the element just opened, up to its end tag.
    pub(crate) fn raw(&mut self, kind: Raw) {
        self.raw = Some(kind);
    }

    /// Sets whether `<![CDATA[` opens a section from here on.
    #[inline]
    pub(crate) fn allow_cdata(&mut self, allowed: bool) {
        self.cdata = allowed;
    }

    /// The next token, with its attributes passed to `sink`; `None` at the end.
    #[inline(always)]
    pub(crate) fn next<S: Attributes>(&mut self, sink: &mut S) -> Option<HtmlToken> {
        if self.raw.is_some() {
            return self.raw_text();
        }
        let start = self.at;
        if self.src.get(start) != Some(&b'<') {
            return self.text(start);
        }
        match self.src.get(start + 1) {
            Some(b) if b.is_ascii_alphabetic() => self.read_tag(start, start + 1, sink).map(|()| HtmlToken::Start),
            Some(b'/') => self.end_tag(start, sink),
            Some(b'!') => Some(self.declaration(start)),
            Some(b'?') => Some(HtmlToken::Comment(self.up_to_bracket(start + 1))),
            _ => self.text(start),
        }
    }

    /// Text from `start` to the next `<` after the first byte; `None` if nothing is left.
    #[inline]
    fn text(&mut self, start: usize) -> Option<HtmlToken> {
        let rest = self.src.get(start + 1..).unwrap_or(&[]);
        if start >= self.src.len() {
            return None;
        }
        self.at = find_bracket(rest).map_or(self.src.len(), |i| start + 1 + i);
        Some(HtmlToken::Text(start..self.at, TextMode::Referenced))
    }

    #[cold]
    fn raw_text(&mut self) -> Option<HtmlToken> {
        let kind = self.raw.take()?;
        let start = self.at;
        self.at = raw::end(self.src, start, kind, self.src.get(self.tag.name.clone()).unwrap_or(&[]));
        let reading = if kind == Raw::Referenced { TextMode::Referenced } else { TextMode::Literal };
        Some(HtmlToken::Text(start..self.at, reading))
    }

    /// The current tag.
    #[inline]
    pub(crate) fn tag(&self) -> &TagToken {
        &self.tag
    }

    /// Reads a tag whose name starts at `name`; `None` if the input ends inside it, which drops it.
    fn read_tag<S: Attributes>(&mut self, at: usize, name: usize, sink: &mut S) -> Option<()> {
        sink.clear();
        let end = self.whole_tag(at, name, sink);
        self.at = end.unwrap_or(self.src.len());
        end.map(|_| ())
    }

    /// Reads the tag and returns the offset after it.
    #[inline]
    fn whole_tag<S: Attributes>(&mut self, at: usize, name: usize, sink: &mut S) -> Option<usize> {
        let (key, end) = self.name(name, TAG_END)?;
        self.tag = TagToken { at, key, name: name..end, self_closing: false };
        let mut i = end;
        loop {
            match *self.src.get(i)? {
                b'>' => return Some(i + 1),
                b'/' => {
                    i += 1;
                    self.tag.self_closing = self.src.get(i) == Some(&b'>');
                }
                b if is_space(b) => i += 1,
                _ => i = self.attribute(i, sink)?,
            }
        }
    }

    /// A name from `start` to a byte that ends it, and its key.
    #[inline]
    fn name(&self, start: usize, end: u8) -> Option<(NameKey, usize)> {
        let mut key: NameKey = 0;
        let rest = self.src.get(start..)?;
        let length = rest.iter().position(|&b| {
            let over = ends(b, end);
            if !over {
                key = (key << 8) | NameKey::from(b.to_ascii_lowercase());
            }
            over
        })?;
        Some((if length > 8 { LONG } else { key }, start + length))
    }

    /// Reads the attribute at `start` and returns the offset after it.
    #[inline]
    fn attribute<S: Attributes>(&self, start: usize, sink: &mut S) -> Option<usize> {
        let (key, name_end) = if self.src.get(start) == Some(&b'=') {
            (LONG, self.name(start + 1, NAME_END)?.1)
        } else {
            self.name(start, NAME_END)?
        };
        let mut i = self.skip_space(name_end)?;
        let mut value = name_end..name_end;
        if self.src.get(i) == Some(&b'=') {
            i = self.skip_space(i + 1)?;
            (value, i) = self.value(i)?;
        }
        sink.attribute(key, start..name_end, value);
        Some(i)
    }

    /// The value that starts at `i`, and the offset after it.
    #[inline]
    fn value(&self, i: usize) -> Option<(Range<usize>, usize)> {
        match *self.src.get(i)? {
            quote @ (b'"' | b'\'') => {
                let end = i + 1 + memchr(quote, self.src.get(i + 1..)?)?;
                Some((i + 1..end, end + 1))
            }
            _ => {
                let end = i + self.src.get(i..)?.iter().position(|&b| ends(b, VALUE_END))?;
                Some((i..end, end))
            }
        }
    }

    #[inline]
    fn skip_space(&self, mut i: usize) -> Option<usize> {
        while is_space(*self.src.get(i)?) {
            i += 1;
        }
        Some(i)
    }

    fn end_tag<S: Attributes>(&mut self, start: usize, sink: &mut S) -> Option<HtmlToken> {
        match self.src.get(start + 2) {
            Some(b) if b.is_ascii_alphabetic() => self.read_tag(start, start + 2, sink).map(|()| HtmlToken::End),
            Some(b'>') => {
                self.at = start + 3;
                Some(HtmlToken::Comment(start + 2..start + 2))
            }
            Some(_) => Some(HtmlToken::Comment(self.up_to_bracket(start + 2))),
            None => self.text(start),
        }
    }

    #[cold]
    fn declaration(&mut self, start: usize) -> HtmlToken {
        let rest = self.src.get(start + 2..).unwrap_or(&[]);
        if rest.starts_with(b"--") {
            return HtmlToken::Comment(self.comment(start + 4));
        }
        if rest.get(..7).is_some_and(|w| w.eq_ignore_ascii_case(b"doctype")) {
            return HtmlToken::Doctype(self.up_to_bracket(start + 9));
        }
        if self.cdata && rest.starts_with(b"[CDATA[") {
            return self.cdata_section(start + 9);
        }
        HtmlToken::Comment(self.up_to_bracket(start + 2))
    }

    /// The comment whose content starts at `start`, after `<!--`. The opening dashes may double as
    /// the closing ones.
    fn comment(&mut self, start: usize) -> Range<usize> {
        let mut from = start;
        while let Some(i) = memchr(b'>', self.src.get(from..).unwrap_or(&[])).map(|i| from + i) {
            let before = |n: usize| self.src.get(i.saturating_sub(n)..i).unwrap_or(&[]);
            let dashes = if before(2) == b"--" {
                2
            } else if before(3) == b"--!" && i >= start + 3 {
                3
            } else {
                from = i + 1;
                continue;
            };
            self.at = i + 1;
            return start..i.saturating_sub(dashes).max(start);
        }
        self.at = self.src.len();
        let content = self.src.get(start..).unwrap_or(&[]);
        let unfinished = [&b"--!"[..], b"--", b"-"].into_iter().find(|end| content.ends_with(end));
        start..(start + content.len() - unfinished.map_or(0, <[u8]>::len))
    }

    /// The range from `start` to the next `>`: a bogus comment or a doctype.
    fn up_to_bracket(&mut self, start: usize) -> Range<usize> {
        let end = memchr(b'>', self.src.get(start..).unwrap_or(&[])).map_or(self.src.len(), |i| start + i);
        self.at = (end + 1).min(self.src.len());
        start.min(end)..end
    }

    fn cdata_section(&mut self, start: usize) -> HtmlToken {
        let rest = self.src.get(start..).unwrap_or(&[]);
        let end = memmem::find(rest, b"]]>").map_or(self.src.len(), |i| start + i);
        self.at = (end + 3).min(self.src.len());
        HtmlToken::Text(start..end, TextMode::Literal)
    }
}
