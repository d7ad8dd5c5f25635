//! Where do the tokens of a text begin and end?
//!
//! A single pass over the bytes. ASCII, which is most of the web, is classified by table without
//! decoding characters. The rules are in [`super`].

use super::fold::{LETTERS, NO_LETTER, UNTOLD, fold};
use super::script::{is_joiner, is_paired};

/// Maximum significant length of a token in bytes.
pub(crate) const LONGEST: usize = 64;

/// Byte classes: separator, lower-case letter or digit, upper-case letter, part of a non-ASCII
/// character.
const PARTING: u8 = 0;
const PLAIN: u8 = 1;
const UPPER: u8 = 3;
const WIDE: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [PARTING; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => PLAIN,
            b'A'..=b'Z' => UPPER,
            0x80.. => WIDE,
            _ => PARTING,
        };
        byte += 1;
    }
    classes
};

/// Iterates over a text token by token.
pub(crate) struct Cutter<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self::within(text, 0, text.len())
    }

    /// Reads a part of a text that begins at a character boundary and ends at the end of a run or
    /// of the text.
    pub(super) fn within(text: &'a str, at: usize, end: usize) -> Self {
        Self { text, at, end }
    }

    /// Appends the next token in its indexed form and returns its byte range in the text.
    #[inline]
    pub(crate) fn next_into(&mut self, out: &mut String) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let before = out.len();
        while self.at < self.end {
            let class = CLASSES[usize::from(*bytes.get(self.at)?)];
            let from = self.at;
            let to = match class {
                PARTING => {
                    self.at += 1;
                    continue;
                }
                WIDE => self.character(out)?,
                _ => self.plain(out),
            };
            // A run of ignorable characters is not a token.
            if out.len() > before {
                return Some((from, to));
            }
        }
        None
    }

    /// Reads an ASCII token; falls back to the general path if it contains other characters.
    #[inline]
    fn plain(&mut self, out: &mut String) -> usize {
        let (from, bytes) = (self.at, self.text.as_bytes());
        let (mut to, mut seen) = (from, 0);
        while let Some(class) = bytes.get(to).map(|byte| CLASSES[usize::from(*byte)]) {
            if class & PLAIN == 0 {
                if class == WIDE && !self.is_parting(to) {
                    return self.wide(out);
                }
                break;
            }
            seen |= class;
            to += 1;
        }
        if to - from <= 2 && bytes[from].is_ascii_alphabetic() {
            to = signed(bytes, to);
        }
        let before = out.len();
        out.push_str(&self.text[from..to.min(from + LONGEST)]);
        if seen == UPPER {
            out[before..].make_ascii_lowercase();
        }
        self.at = to;
        to
    }

    /// Whether a separator, or a character of a script without word separators, is here.
    fn is_parting(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        match two_bytes(bytes, at).map(|code| LETTERS[code]) {
            Some(UNTOLD) | None => {
                self.text[at..].chars().next().is_none_or(|c| is_paired(c) || !(c.is_alphanumeric() || is_joiner(c)))
            }
            Some(letter) => letter == NO_LETTER,
        }
    }

    /// Reads a token that begins with a non-ASCII character; `None` at the end of the text.
    fn character(&mut self, out: &mut String) -> Option<usize> {
        match two_bytes(self.text.as_bytes(), self.at).map(|code| LETTERS[code]) {
            Some(UNTOLD) | None => {}
            Some(NO_LETTER) => {
                self.at += 2;
                return Some(self.at);
            }
            Some(_) => return Some(self.wide(out)),
        }
        let c = self.text[self.at..].chars().next()?;
        if is_paired(c) {
            return Some(self.pair(c, out));
        }
        if c.is_alphanumeric() {
            return Some(self.wide(out));
        }
        self.at += c.len_utf8();
        Some(self.at)
    }

    /// Reads a token of any letters.
    fn wide(&mut self, out: &mut String) -> usize {
        let (before, bytes) = (out.len(), self.text.as_bytes());
        let letters = LETTERS.as_slice();
        while let Some(byte) = bytes.get(self.at).copied() {
            let (letter, len) = match (byte, two_bytes(bytes, self.at)) {
                (_, Some(code)) => (letters[code], 2),
                (0..0x80, _) if CLASSES[usize::from(byte)] != PARTING => (char::from(byte.to_ascii_lowercase()), 1),
                (0..0x80, _) => (NO_LETTER, 1),
                _ => (UNTOLD, 0),
            };
            match letter {
                NO_LETTER => return self.at,
                UNTOLD => return self.any(before, out),
                letter => {
                    self.at += len;
                    if out.len() - before + 8 <= LONGEST {
                        out.push(letter);
                    }
                }
            }
        }
        self.at
    }

    /// Continues a token, of which the part since `before` is read.
    fn any(&mut self, before: usize, out: &mut String) -> usize {
        for c in self.text[self.at..].chars() {
            let joins = is_joiner(c);
            if !(joins || c.is_alphanumeric()) || is_paired(c) {
                break;
            }
            self.at += c.len_utf8();
            if !joins && out.len() - before + 8 <= LONGEST {
                fold(c, out);
            }
        }
        self.at
    }

    /// Reads a bigram of a script without word separators, or its last character alone. Bigrams
    /// overlap by one character.
    fn pair(&mut self, first: char, out: &mut String) -> usize {
        self.at += first.len_utf8();
        out.push(first);
        let second = self.text[self.at..].chars().next().filter(|c| is_paired(*c));
        out.extend(second);
        self.at + second.map_or(0, char::len_utf8)
    }
}

/// The character at an offset as a number, if it is one of those with two bytes.
#[inline]
fn two_bytes(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..at + 2) {
        Some([first @ 0xc2..=0xdf, second]) => Some(usize::from(first & 0x1f) << 6 | usize::from(second & 0x3f)),
        _ => None,
    }
}

/// The end of a short token including the symbols that belong to it: `c++`, `c#`.
pub(super) fn signed(bytes: &[u8], end: usize) -> usize {
    let signs = match bytes.get(end..) {
        Some([b'+', b'+', ..]) => 2,
        Some([b'#', ..]) => 1,
        _ => return end,
    };
    let parted = bytes.get(end + signs).is_none_or(|b| CLASSES[usize::from(*b)] == PARTING && *b != b'+');
    if parted { end + signs } else { end }
}
