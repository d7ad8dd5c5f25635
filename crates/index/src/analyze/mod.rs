//! What are the words of a text?
//!
//! Pages and queries are cut by the same rules, so that whatever was typed as it stands on a page is found there:
//!
//! - A word is a run of letters and digits, in lower case, accents taken off (`Müller` is `muller`): who searches seldom types them.
//! - Everything else parts words. `push_back`, `std::vector` and `json.load` are two words each, next to each other: their parts are found
//!   alone, and the whole as a phrase, without a word more in the index. A letter or two with `++` or `#` behind (`c++`, `c#`) is one word.
//! - Scripts that do not part words (Chinese, Japanese, Korean, Thai and their neighbours) are cut into overlapping pairs of characters, the
//!   last character of a run alone: a query of two characters or more is a phrase of pairs, one of a single character a beginning.
//! - A word of more than [`LONGEST`] bytes is known by its beginning.
//!
//! One pass over the bytes; ASCII, which is most of the web, by table and without a look at characters. Words are stemmed only in the
//! languages a project names (`stem`): it costs about as much again as everything else here.

mod fold;
mod script;
mod stem;

pub(crate) use fold::fold;
pub(crate) use stem::stems;
pub use stem::{StemLanguage, Stems};

use script::{is_joiner, is_paired};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Bytes of a word that count.
pub(crate) const LONGEST: usize = 64;

/// The name the analyzer is known by in the index's own files.
pub(crate) const NAME: &str = "orb-words-1";

/// What a byte is to us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Parting,
    Plain,
    Upper,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Parting; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => Class::Plain,
            b'A'..=b'Z' => Class::Upper,
            0x80.. => Class::Wide,
            _ => Class::Parting,
        };
        byte += 1;
    }
    classes
};

/// Cuts texts into words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words;

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream::new(text)
    }
}

/// The words of one text, in order.
pub(crate) struct WordStream<'a> {
    text: &'a str,
    at: usize,
    token: Token,
}

impl<'a> WordStream<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, token: Token::default() }
    }

    /// A word of ASCII letters and digits from here on; one with other characters in it is read again as such.
    fn plain(&mut self, from: usize) {
        let bytes = self.text.as_bytes();
        let mut to = from;
        let mut upper = false;
        loop {
            match bytes.get(to).map(|byte| CLASSES[usize::from(*byte)]) {
                Some(Class::Plain) => to += 1,
                Some(Class::Upper) => (to, upper) = (to + 1, true),
                Some(Class::Wide) if !self.pair_at(to) => return self.wide(from),
                _ => break,
            }
        }
        if to - from <= 2 && bytes[from].is_ascii_alphabetic() {
            to = signed(bytes, to);
        }
        let kept = to.min(from + LONGEST);
        self.token.text.push_str(&self.text[from..kept]);
        if upper {
            self.token.text.make_ascii_lowercase();
        }
        self.end(from, to);
    }

    /// Whether a character of a script without parted words, or one that parts words, stands here.
    fn pair_at(&self, at: usize) -> bool {
        self.text[at..].chars().next().is_none_or(|c| is_paired(c) || !(c.is_alphanumeric() || is_joiner(c)))
    }

    /// A word of any letters from here on.
    fn wide(&mut self, from: usize) {
        let mut to = from;
        for c in self.text[from..].chars() {
            let joins = is_joiner(c);
            if !(joins || c.is_alphanumeric()) || is_paired(c) {
                break;
            }
            to += c.len_utf8();
            if !joins && self.token.text.len() + 8 <= LONGEST {
                fold(c, &mut self.token.text);
            }
        }
        self.end(from, to);
    }

    /// Two characters of a script without parted words, or the last of them.
    fn pair(&mut self, from: usize, first: char) {
        let next = from + first.len_utf8();
        self.token.text.push(first);
        let mut to = next;
        if let Some(second) = self.text[next..].chars().next().filter(|c| is_paired(*c)) {
            self.token.text.push(second);
            to += second.len_utf8();
        }
        self.end(from, to);
        self.at = next;
    }

    fn end(&mut self, from: usize, to: usize) {
        self.at = to;
        self.token.offset_from = from;
        self.token.offset_to = to;
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        self.token.text.clear();
        self.token.position = self.token.position.wrapping_add(1);
        while let Some(byte) = bytes.get(self.at) {
            match CLASSES[usize::from(*byte)] {
                Class::Parting => {
                    self.at += 1;
                    continue;
                }
                Class::Plain | Class::Upper => self.plain(self.at),
                Class::Wide => {
                    let Some(c) = self.text[self.at..].chars().next() else { return false };
                    match () {
                        () if is_paired(c) => self.pair(self.at, c),
                        () if c.is_alphanumeric() => self.wide(self.at),
                        () => {
                            self.at += c.len_utf8();
                            continue;
                        }
                    }
                }
            }
            // A run of nothing but what is left out is no word.
            if !self.token.text.is_empty() {
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The end of a short word with the signs that belong to it: `c++`, `c#`.
fn signed(bytes: &[u8], end: usize) -> usize {
    let signs = match bytes.get(end..) {
        Some([b'+', b'+', ..]) => 2,
        Some([b'#', ..]) => 1,
        _ => return end,
    };
    let parted = bytes.get(end + signs).is_none_or(|b| CLASSES[usize::from(*b)] == Class::Parting && *b != b'+');
    if parted { end + signs } else { end }
}

/// A word of a text and where it stands there, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The words of a text, as they are looked for.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut stream = WordStream::new(text);
    let mut out = Vec::new();
    while stream.advance() {
        let token = stream.token();
        out.push(Word { text: token.text.clone(), from: token.offset_from, to: token.offset_to });
    }
    out
}

/// The beginning of a text, of so many bytes at most, cut between characters.
pub fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a word is of a script that is cut into pairs.
pub(crate) fn is_of_pairs(word: &str) -> bool {
    word.chars().next().is_some_and(is_paired)
}

#[cfg(test)]
mod tests;
