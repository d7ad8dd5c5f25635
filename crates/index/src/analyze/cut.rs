//! How are the tokens of a text passed to the index?
//!
//! As the tokens in their indexed form, back to back, with the length of each: between reading and
//! indexing, more than a thousand pages can be waiting, so a token takes one byte more than its
//! letters. The thread that read a page tokenizes it while the text is still in the processor's
//! cache. The index then only looks tokens up.
//!
//! Token boundaries are found sixty-four bytes at a time: a bit mask says which bytes can belong to
//! a token, and only the positions where bits change are processed. Only runs with non-ASCII
//! characters are read character by character ([`Cutter`]).

use super::cutter::{Cutter, LONGEST, signed};
use super::{StemLanguage, stem};
use std::ops::Range;

/// Padding after the last token, so that eight bytes can be read from the start of any token.
const BEHIND: [u8; 8] = [0; 8];
const SLACK: usize = BEHIND.len();

/// Most tokens are shorter: so many bytes are copied at once, without a loop.
const SHORT: usize = 16;

/// Bytes of text per token, at least, that its buffer is made for.
const SPARSE: usize = 5;

/// Bytes per bit mask.
const BLOCK: usize = 64;

/// The tokens of a text, in order.
#[derive(Clone, Debug, Default)]
pub struct TokenizedText {
    letters: Vec<u8>,
    lens: Vec<u8>,
}

impl TokenizedText {
    /// Tokenizes a text; beyond four gigabytes, only its beginning.
    pub fn of(text: &str) -> Self {
        Self::with_positions(text, &[]).0
    }

    /// Tokenizes a text and tells the position of the first token at or after each of these byte
    /// offsets, which are in order and not within a word.
    pub fn with_positions(text: &str, offsets: &[usize]) -> (Self, Vec<u32>) {
        let mut cut =
            Self { letters: Vec::with_capacity(text.len() + SHORT), lens: Vec::with_capacity(text.len() / SPARSE + 1) };
        let mut marks = OffsetMarks::new(offsets);
        cut.fill(text, &mut marks);
        cut.letters.shrink_to_fit();
        cut.lens.shrink_to_fit();
        (cut, marks.positions)
    }

    /// Tokenizes another text into the same buffers.
    pub(crate) fn refill(&mut self, text: &str) {
        self.fill(text, &mut OffsetMarks::new(&[]));
    }

    fn fill(&mut self, text: &str, marks: &mut OffsetMarks<'_>) {
        self.letters.clear();
        self.lens.clear();
        let text = super::up_to(text, (u32::MAX / 2) as usize);
        let mut other = String::new();
        // Where the run begins that extends beyond the last block, and the end of the last block
        // that is not pure ASCII.
        let (mut begun, mut wide) = (None, 0);
        for at in (0..text.len()).step_by(BLOCK) {
            let (run, is_ascii) = look(&text.as_bytes()[at..]);
            if !is_ascii {
                wide = at + BLOCK;
            }
            let before = run << 1 | u64::from(begun.is_some());
            let (mut begins, mut ends) = (run & !before, before & !run);
            while ends != 0 {
                let begin = begun.take().unwrap_or_else(|| at + next(&mut begins));
                marks.pass(begin, self.lens.len());
                self.run(text, begin..(at + next(&mut ends)).min(text.len()), wide > begin, &mut other);
            }
            if begins != 0 {
                begun = Some(at + next(&mut begins));
            }
        }
        if let Some(begin) = begun {
            marks.pass(begin, self.lens.len());
            self.run(text, begin..text.len(), wide > begin, &mut other);
        }
        marks.pass(usize::MAX, self.lens.len());
        self.letters.extend_from_slice(&BEHIND);
    }

    /// Adds the tokens of a run of token bytes; `other` is a buffer.
    #[inline]
    fn run(&mut self, text: &str, run: Range<usize>, may_be_wide: bool, other: &mut String) {
        let (bytes, Range { start: begin, end }) = (text.as_bytes(), run);
        if may_be_wide && !bytes[begin..end].is_ascii() {
            return self.wide(text, begin..end, other);
        }
        let is_signed =
            matches!(bytes.get(end), Some(b'+' | b'#')) && end - begin <= 2 && bytes[begin].is_ascii_alphabetic();
        let end = if is_signed { signed(bytes, end) } else { end };
        let (len, before) = ((end - begin).min(LONGEST), self.letters.len());
        match bytes.get(begin..begin + SHORT).and_then(|short| <[u8; SHORT]>::try_from(short).ok()) {
            Some(mut short) if len <= SHORT => {
                short.make_ascii_lowercase();
                self.letters.extend_from_slice(&short);
                self.letters.truncate(before + len);
            }
            _ => {
                self.letters.extend_from_slice(&bytes[begin..begin + len]);
                self.letters[before..].make_ascii_lowercase();
            }
        }
        self.lens.push(u8::try_from(len).unwrap_or(u8::MAX));
    }

    /// Adds the tokens of a run with non-ASCII characters.
    fn wide(&mut self, text: &str, run: Range<usize>, other: &mut String) {
        let mut cutter = Cutter::within(text, run.start, run.end);
        other.clear();
        while cutter.next_into(other).is_some() {
            self.push(other);
            other.clear();
        }
    }

    /// Adds a token in its indexed form.
    fn push(&mut self, word: &str) {
        let word = super::up_to(word, usize::from(u8::MAX));
        self.letters.extend_from_slice(word.as_bytes());
        self.lens.push(u8::try_from(word.len()).unwrap_or(u8::MAX));
    }

    /// Wraps words that are already tokenized.
    pub(crate) fn of_words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut cut = Self::default();
        words.for_each(|word| cut.push(word));
        cut.letters.extend_from_slice(&BEHIND);
        cut
    }

    /// The same tokens, stemmed.
    pub(crate) fn stemmed(&self, language: StemLanguage) -> Self {
        let stems = stem::stems(language, self.words());
        Self::of_words(stems.iter().map(String::as_str))
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.lens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    /// Approximate memory use in bytes.
    pub fn heap_bytes(&self) -> u64 {
        (self.letters.capacity() + self.lens.capacity()) as u64
    }

    /// The tokens.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.letters.as_slice();
        self.lens.iter().map_while(move |len| {
            let (word, after) = rest.split_at_checked(usize::from(*len))?;
            rest = after;
            str::from_utf8(word).ok()
        })
    }

    /// The tokens as bytes, each with its first eight bytes as an integer, zero-padded.
    #[inline]
    pub(crate) fn each(&self, mut tell: impl FnMut(&[u8], u64)) {
        let mut rest = self.letters.as_slice();
        for len in &self.lens {
            let len = usize::from(*len);
            let (Some(first), Some((word, after))) = (rest.first_chunk::<SLACK>(), rest.split_at_checked(len)) else {
                return;
            };
            let kept = if len >= SLACK { u64::MAX } else { (1 << (8 * len)) - 1 };
            tell(word, u64::from_le_bytes(*first) & kept);
            rest = after;
        }
    }
}

/// Offsets of a text that is being tokenized, and the positions of the tokens that follow them.
struct OffsetMarks<'a> {
    rest: &'a [usize],
    positions: Vec<u32>,
}

impl<'a> OffsetMarks<'a> {
    fn new(offsets: &'a [usize]) -> Self {
        Self { rest: offsets, positions: Vec::with_capacity(offsets.len()) }
    }

    /// A run of letters begins here, whose first token has this position.
    #[inline]
    fn pass(&mut self, begin: usize, position: usize) {
        while let Some((_, rest)) = self.rest.split_first().filter(|(offset, _)| **offset <= begin) {
            self.positions.push(u32::try_from(position).unwrap_or(u32::MAX));
            self.rest = rest;
        }
    }
}

/// Compares the tokens, not where they are stored.
impl PartialEq for TokenizedText {
    fn eq(&self, other: &Self) -> bool {
        self.words().eq(other.words())
    }
}

impl Eq for TokenizedText {}

impl From<&str> for TokenizedText {
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

/// Clears the lowest set bit and returns its position.
#[inline]
fn next(bits: &mut u64) -> usize {
    let lowest = bits.trailing_zeros() as usize;
    *bits &= bits.wrapping_sub(1);
    lowest
}

/// A bit mask of the next bytes that can belong to a token (letters, digits, and all non-ASCII
/// bytes), and whether all of them are ASCII.
#[inline]
fn look(bytes: &[u8]) -> (u64, bool) {
    let mut block = [0u8; BLOCK];
    let len = bytes.len().min(BLOCK);
    block[..len].copy_from_slice(&bytes[..len]);
    let (mut flags, mut all) = ([0u8; BLOCK], 0);
    for (flag, byte) in flags.iter_mut().zip(block) {
        // The bit 0x20 tells a lower-case letter from an upper-case one.
        let (letter, digit) = ((byte | 0x20).wrapping_sub(b'a') < 26, byte.wrapping_sub(b'0') < 10);
        *flag = u8::from(letter | digit | (byte >= 0x80));
        all |= byte;
    }
    let mut bits = 0;
    for (eight, at) in flags.as_chunks::<8>().0.iter().zip(0..) {
        // Moves the lowest bit of byte n to bit 56 + n.
        bits |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    (bits, all < 0x80)
}
