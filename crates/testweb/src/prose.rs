//! What do the pages say?
//!
//! Prose is generated once, as a stock of a few hundred pieces; a page is a selection of them, so a
//! page of 20 kB costs a copy and not two thousand random words. Word frequencies roughly follow
//! Zipf's law, as in natural language.

use crate::chance::Chance;
use crate::words::{ADJECTIVES, NOUNS, PAPERS, TURNS, VERBS};
use std::sync::LazyLock;

/// Number of pieces, single paragraphs first.
pub(crate) const STOCK: usize = 512;
/// How many of them are single paragraphs; the others are passages of several, which compress
/// better.
pub(crate) const SINGLE: usize = 256;
/// Paragraphs per passage.
const PASSAGE: u64 = 4;
/// With more space left than this, a passage fits.
pub(crate) const PASSAGE_ROOM: usize = 6_000;

/// The pieces, as HTML in ASCII.
static PIECES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let single = (0..SINGLE as u64).map(paragraph);
    let passage = |n| (n * PASSAGE..(n + 1) * PASSAGE).flat_map(paragraph).collect();
    single.chain((SINGLE as u64..STOCK as u64).map(passage)).collect()
});

/// Text without characters to escape, longer than any paragraph.
static PADDING: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = Vec::new();
    let mut chance = Chance::of(&[u64::MAX]);
    while text.len() < 8_192 {
        sentence(&mut chance, &mut text);
        text.push(b' ');
    }
    text
});

/// The HTML of a piece in the stock.
pub(crate) fn stock(number: usize) -> &'static [u8] {
    PIECES.get(number % STOCK).map_or(&[], Vec::as_slice)
}

/// Up to this many bytes of text, from the beginning of a sentence that the key selects.
pub(crate) fn padding(key: u64, length: usize) -> &'static [u8] {
    let from = key as usize % (PADDING.len() / 2);
    let sentence = PADDING.get(from..).and_then(|text| memchr::memchr(b'.', text)).map_or(0, |end| from + end + 2);
    PADDING.get(sentence..sentence.saturating_add(length)).or_else(|| PADDING.get(..length)).unwrap_or(&PADDING)
}

/// The noun in the title of the same key.
pub(crate) fn subject(key: u64) -> &'static str {
    let mut chance = Chance::of(&[key]);
    let (_form, _adjective) = (chance.draw(), chance.draw());
    chance.one_of(NOUNS)
}

/// Appends a title; the same key has the same title.
pub(crate) fn title(key: u64, out: &mut Vec<u8>) {
    let mut chance = Chance::of(&[key]);
    let (form, adjective) = (chance.below(10), chance.one_of(ADJECTIVES));
    let (noun, other) = (chance.one_of(NOUNS), chance.one_of(NOUNS));
    match form {
        0 => write(out, &["The ", adjective, " ", noun]),
        1 => write(out, &["A short history of the ", noun]),
        2 => write(out, &["How the ", noun, " found the ", other]),
        3 => write(out, &["Notes on a ", adjective, " ", noun]),
        4 => write(out, &["Why the ", noun, " is ", adjective]),
        5 => write(out, &["Letters from the ", noun]),
        6 => write(out, &["The ", noun, " and the ", other]),
        7 => write(out, &["What the ", other, " knows about the ", noun]),
        8 => write(out, &["In praise of the ", adjective, " ", noun]),
        _ => write(out, &["Seven questions about the ", noun]),
    }
}

/// Appends the name of a host's site.
pub(crate) fn site_name(key: u64, out: &mut Vec<u8>) {
    let mut chance = Chance::of(&[key, 7]);
    let (adjective, noun, paper) = (chance.one_of(ADJECTIVES), chance.one_of(NOUNS), chance.one_of(PAPERS));
    write(out, &["The "]);
    capital(adjective, out);
    write(out, &[" "]);
    capital(noun, out);
    write(out, &[" ", paper]);
}

/// Appends a few words that say what a page is about.
pub(crate) fn gist(key: u64, out: &mut Vec<u8>) {
    let mut chance = Chance::of(&[key, 11]);
    let (noun, verb) = (chance.one_of(NOUNS), chance.one_of(VERBS));
    write(out, &["where the ", noun, " ", verb, " the ", chance.one_of(NOUNS)]);
}

fn write(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

fn capital(word: &str, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(word.as_bytes());
    if let Some(first) = out.get_mut(at) {
        first.make_ascii_uppercase();
    }
}

fn sentence(chance: &mut Chance, out: &mut Vec<u8>) {
    let (adjective, verb) = (chance.frequent_of(ADJECTIVES), chance.frequent_of(VERBS));
    let (noun, other) = (chance.frequent_of(NOUNS), chance.frequent_of(NOUNS));
    match chance.below(6) {
        0 => write(out, &["The ", adjective, " ", noun, " ", verb, " the ", other, "."]),
        1 => write(out, &[chance.one_of(TURNS), ", the ", noun, " ", verb, " a ", adjective, " ", other, "."]),
        2 => write(out, &["No ", noun, " ", verb, " a ", other, " that is not ", adjective, "."]),
        3 => write(out, &["When the ", noun, " ", verb, " the ", other, ", the day is ", adjective, "."]),
        4 => write(out, &["Who ", verb, " the ", noun, " needs a ", adjective, " ", other, " first."]),
        _ => {
            let again = chance.frequent_of(VERBS);
            write(out, &["The ", noun, " ", verb, " the ", other, "; the ", other, " ", again, " the ", noun, "."]);
        }
    }
}

fn paragraph(number: u64) -> Vec<u8> {
    let mut chance = Chance::of(&[number, 13]);
    let mut out = Vec::new();
    if chance.below(4) == 0 {
        out.extend_from_slice(b"<h2>");
        title(chance.draw(), &mut out);
        out.extend_from_slice(b"</h2>\n");
    }
    let (open, close): (&[u8], &[u8]) = match chance.below(12) {
        0 => (b"<blockquote><p>", b"</p></blockquote>\n"),
        1 => (b"<p><em>Then &amp; now:</em> ", b"</p>\n"),
        2 => (b"<p>&ldquo;", b"&rdquo;</p>\n"),
        _ => (b"<p>", b"</p>\n"),
    };
    out.extend_from_slice(open);
    for n in 0..2 + chance.below(14) {
        if n > 0 {
            out.push(b' ');
        }
        sentence(&mut chance, &mut out);
    }
    out.extend_from_slice(close);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stock_is_ascii_and_no_piece_is_longer_than_its_room() {
        for number in 0..STOCK {
            let longest = if number < SINGLE { PADDING.len() - 8 } else { PASSAGE_ROOM };
            assert!(stock(number).is_ascii() && stock(number).len() <= longest);
        }
        assert!((0..9_000).all(|key| padding(key, 100).len() == 100 && padding(key, 8_000).len() == 8_000));
        assert!(padding(1, usize::MAX).len() >= 8_192);
    }

    #[test]
    fn a_title_reads_well() {
        let mut out = Vec::new();
        title(3, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "In praise of the bright bridge");
        assert_eq!(subject(3), "bridge");
    }
}
