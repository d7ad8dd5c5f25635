//! What does a human reader see?
//!
//! Accumulates the visible text of a document: white space collapsed, blocks on lines of their own,
//! character references expanded on the way. Anchor texts, headings and options are slices of it,
//! so no character is processed twice. Bounded: text beyond the cap is kept only while a slice of
//! it is needed.

use crate::bytewise::{equal, low};
use crate::entity::{self, ReferenceContext};
use memchr::memchr;

/// Maximum text kept, in bytes.
pub(crate) const TEXT_CAP: usize = 2 << 20;
/// Maximum text kept of a document that is no web page.
pub(crate) const DOCUMENT_CAP: usize = 4 << 20;
/// How far the text may exceed the cap while slices are open.
const SLACK: usize = 64 << 10;

/// What separates the last word from the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum WordGap {
    #[default]
    None,
    Space,
    Line,
}

/// The text so far.
#[derive(Debug)]
pub(crate) struct Prose {
    out: String,
    gap: WordGap,
    /// How much is kept, in bytes.
    pub(crate) cap: usize,
    /// Whether anything was cut off.
    pub(crate) truncated: bool,
}

impl Default for Prose {
    fn default() -> Self {
        Self { out: String::new(), gap: WordGap::None, cap: TEXT_CAP, truncated: false }
    }
}

/// An ordinary byte.
const PLAIN: u8 = 0;
const SPACE: u8 = 1;
const AMPERSAND: u8 = 2;
/// The first byte of a no-break space.
const LATIN: u8 = 3;
const NUL: u8 = 4;

static CLASS: [u8; 256] = {
    let mut table = [PLAIN; 256];
    table[b' ' as usize] = SPACE;
    table[b'\n' as usize] = SPACE;
    table[b'\t' as usize] = SPACE;
    table[b'\r' as usize] = SPACE;
    table[0x0C] = SPACE;
    table[b'&' as usize] = AMPERSAND;
    table[0xC2] = LATIN;
    table[0] = NUL;
    table
};

/// Bytes tested together for being plain text.
const STRIDE: usize = 32;

/// Whether this many bytes can be copied unchanged, whatever follows the byte after them.
///
/// Every byte is compared with the same few values without branches in between, so the compiler
/// vectorises it.
#[inline]
fn is_run(bytes: &[u8; STRIDE + 1]) -> bool {
    let ends = |byte: u8| u8::from(byte < b' ') | u8::from(byte == b'&') | u8::from(byte == 0xC2);
    let pairs = bytes.iter().zip(&bytes[1..]);
    let stops = pairs.fold(ends(bytes[0]), |stops, (&here, &next)| {
        stops | ends(next) | (u8::from(here == b' ') & u8::from(next == b' '))
    });
    stops == 0
}

/// The end of the run that can be copied unchanged: words separated by single spaces.
///
/// Tests thirty-two bytes at a time while possible, then eight, which takes a third of the time of
/// eight alone.
#[inline]
fn end_of_run(src: &[u8], mut i: usize) -> usize {
    while src.get(i..).and_then(|rest| rest.first_chunk()).is_some_and(is_run) {
        i += STRIDE;
    }
    while let Some(eight) = src.get(i..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*eight);
        let other = low(word, b' ') | equal(word, b'&') | equal(word, 0xC2);
        let spaces = equal(word, b' ');
        // A space is kept if a plain byte follows; what follows the last of the eight is seen in
        // the next round.
        let ends = (other & !spaces) | (spaces & (other >> 8));
        if ends != 0 {
            return i + (ends.trailing_zeros() / 8) as usize;
        }
        i += if spaces >> 63 == 0 { 8 } else { 7 };
    }
    while let Some(&byte) = src.get(i) {
        let single = byte == b' ' && src.get(i + 1).is_some_and(|&next| is_plain(next));
        if !single && !is_plain(byte) {
            break;
        }
        i += 1;
    }
    i
}

/// Whether a byte is ordinary: not white space, a control character, a reference, or the start of a
/// no-break space.
#[inline]
fn is_plain(byte: u8) -> bool {
    byte > b' ' && byte != b'&' && byte != 0xC2
}

impl Prose {
    /// An empty text with capacity for a document of `len` bytes.
    pub(crate) fn with_room_for(len: usize) -> Self {
        Self::within(String::new(), len)
    }

    /// The same in the buffer of a text that is no longer needed.
    pub(crate) fn within(mut room: String, len: usize) -> Self {
        room.clear();
        room.reserve((len / 2).min(TEXT_CAP));
        Self { out: room, ..Self::default() }
    }

    /// The same for a document that is no web page.
    pub(crate) fn of_document(room: String, len: usize) -> Self {
        Self { cap: DOCUMENT_CAP, ..Self::within(room, len) }
    }

    /// A text of a document that goes on behind another one.
    pub(crate) fn behind(mut text: String) -> Self {
        text.truncate(text.trim_end().len());
        Self { out: text, cap: DOCUMENT_CAP, gap: WordGap::Line, ..Self::default() }
    }

    /// Its length: the offset at which a new slice begins.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Starts a new line before the next word.
    #[inline]
    pub(crate) fn line(&mut self) {
        self.gap = WordGap::Line;
    }

    /// Starts a new word.
    #[inline]
    pub(crate) fn space(&mut self) {
        self.gap = self.gap.max(WordGap::Space);
    }

    /// Adds text with character references.
    #[inline]
    pub(crate) fn referenced(&mut self, text: &str) {
        self.push(text, true);
    }

    /// Adds literal text.
    pub(crate) fn literal(&mut self, text: &str) {
        self.push(text, false);
    }

    /// Adds text and keeps its newlines, collapsing runs of them.
    pub(crate) fn lines(&mut self, mut text: &str) {
        while let Some((line, rest)) = memchr(b'\n', text.as_bytes()).and_then(|i| text.split_at_checked(i)) {
            self.push(line, false);
            self.line();
            text = rest.get(1..).unwrap_or("");
        }
        self.push(text, false);
    }

    fn push(&mut self, text: &str, references: bool) {
        let src = text.as_bytes();
        let mut i = 0;
        while let Some(&byte) = src.get(i) {
            match CLASS[byte as usize] {
                SPACE => {
                    self.space();
                    i += 1;
                }
                AMPERSAND if references => i += self.reference(src.get(i..).unwrap_or(&[])),
                LATIN if src.get(i + 1) == Some(&0xA0) => {
                    self.space();
                    i += 2;
                }
                NUL => i += 1,
                _ => {
                    let end = end_of_run(src, i + 1);
                    self.word(text.get(i..end).unwrap_or(""));
                    i = end;
                }
            }
        }
        if self.out.len() > self.cap + SLACK {
            self.truncate();
        }
    }

    #[inline]
    fn word(&mut self, word: &str) {
        if self.gap != WordGap::None && !self.out.is_empty() {
            self.out.push(if self.gap == WordGap::Line { '\n' } else { ' ' });
        }
        self.gap = WordGap::None;
        self.out.push_str(word);
    }

    fn reference(&mut self, src: &[u8]) -> usize {
        let Some(expansion) = entity::reference(src, ReferenceContext::Text) else {
            self.word("&");
            return 1;
        };
        match expansion.text() {
            " " | "\n" | "\t" | "\r" | "\u{C}" | "\u{A0}" => self.space(),
            text => self.word(text),
        }
        expansion.consumed
    }

    #[cold]
    fn truncate(&mut self) {
        self.truncated = true;
        self.out.truncate(boundary(&self.out, self.cap));
    }

    /// The text since offset `start` on one line, cut to `cap` characters.
    pub(crate) fn since(&self, start: usize, cap: usize) -> String {
        let text = first(self.out.get(start..).unwrap_or("").trim_ascii_start(), cap);
        let mut line = match memchr(b'\n', text.as_bytes()) {
            Some(_) => text.replace('\n', " "),
            None => text.to_owned(),
        };
        cut(&mut line, cap);
        line
    }

    /// The same with the `alt` texts of images inserted at their offsets.
    pub(crate) fn with_alts(&self, start: usize, alts: &[(usize, String)], cap: usize) -> String {
        let mut parts = Vec::with_capacity(alts.len() * 2 + 1);
        let mut from = start.min(self.out.len());
        for (at, alt) in alts {
            parts.push(self.out.get(from..*at).unwrap_or(""));
            parts.push(alt);
            from = *at;
        }
        parts.push(self.out.get(from..).unwrap_or(""));
        let mut joined = Self::default();
        for part in parts {
            joined.push(first(part, cap), false);
            joined.space();
        }
        joined.since(0, cap)
    }

    /// The text so far.
    pub(crate) fn text(&self) -> &str {
        &self.out
    }

    /// Returns everything that was kept, which may exceed the cap a little.
    pub(crate) fn into_text(self) -> String {
        self.out
    }

    /// Returns the whole text.
    pub(crate) fn finish(mut self) -> String {
        if self.out.len() > self.cap {
            self.truncate();
        }
        self.out
    }
}

/// At most the first `cap` characters of a text.
fn first(text: &str, cap: usize) -> &str {
    text.get(..boundary(text, cap * 4)).unwrap_or(text)
}

/// The last character boundary at or before `end`.
fn boundary(text: &str, end: usize) -> usize {
    let mut end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Cuts a text to `cap` characters.
pub(crate) fn cut(text: &mut String, cap: usize) {
    if text.len() > cap
        && let Some((end, _)) = text.char_indices().nth(cap)
    {
        text.truncate(end);
    }
}

/// A text with white space collapsed and references expanded, cut to `cap` characters.
pub(crate) fn folded(source: &str, cap: usize) -> String {
    let mut prose = Prose::default();
    let end = boundary(source, cap.saturating_mul(32));
    prose.referenced(source.get(..end).unwrap_or(source));
    prose.since(0, cap)
}

/// A text without references, with white space collapsed, cut to `cap` characters.
pub(crate) fn folded_literal(source: &str, cap: usize) -> String {
    let mut prose = Prose::default();
    let end = boundary(source, cap.saturating_mul(32));
    prose.literal(source.get(..end).unwrap_or(source));
    prose.since(0, cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_folds_and_references_expand() {
        let mut prose = Prose::default();
        prose.line();
        prose.referenced("  a\n\t b&nbsp;&nbsp;c&amp;d & e\u{A0}f\0g ");
        prose.line();
        prose.space();
        prose.literal("&amp;");
        assert_eq!(prose.finish(), "a b c&d & e fg\n&amp;");
    }

    #[test]
    fn a_slice_is_one_line() {
        let mut prose = Prose::default();
        prose.referenced("before");
        let start = prose.len();
        prose.line();
        prose.referenced("in");
        prose.line();
        prose.referenced("side");
        assert_eq!(prose.since(start, 100), "in side");
        assert_eq!(prose.since(start, 4), "in s");
        assert_eq!(prose.since(usize::MAX, 4), "");
    }

    #[test]
    fn text_beyond_the_cap_is_cut_at_a_character() {
        let mut prose = Prose::default();
        prose.referenced("a");
        for _ in 0..40 {
            prose.referenced(&"é".repeat(40_000));
        }
        let truncated = prose.truncated;
        let text = prose.finish();
        assert!(truncated && text.len() <= TEXT_CAP && text.ends_with('é'));
    }

    proptest! {
        #[test]
        fn a_run_ends_where_a_look_at_each_byte_says(text in "([a-c]{0,40}[ &é\u{A0}\n]{0,2}){0,8}") {
            let src = text.as_bytes();
            let goes_on = |i: usize| {
                let follows = || src.get(i + 1).is_some_and(|&next| is_plain(next));
                is_plain(src[i]) || (src[i] == b' ' && follows())
            };
            for start in 0..src.len() {
                let end = (start..src.len()).find(|&i| !goes_on(i)).unwrap_or(src.len());
                prop_assert_eq!(end_of_run(src, start), end);
            }
        }

        #[test]
        fn folding_is_what_splitting_at_white_space_gives(text in "[a-c é\u{A0}\n\t]{0,40}") {
            let folded = folded(&text, 1000);
            let words: Vec<_> = text.split([' ', '\n', '\t', '\u{A0}']).filter(|w| !w.is_empty()).collect();
            prop_assert_eq!(folded, words.join(" "));
        }
    }
}
