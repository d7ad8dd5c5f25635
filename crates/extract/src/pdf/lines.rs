//! What does a block of rows say?
//!
//! Rows become lines of words, with what is written from right to left in the order in which it is
//! read; lines that fill their block are continued by the next one, and a word that was divided at
//! the end of a line is put together again.

use super::columns::TextBlock;
use super::content::Glyph;
use super::fonts::GlyphTexts;
use super::words::{Row, Word, touch};

/// A line continues in the next one if it reaches this far to the right within its block.
const FULL: f32 = 0.85;
/// Lines of a paragraph are at most this far apart, in font sizes.
const MAX_LEADING: f32 = 1.75;
/// How far back the spelling of a divided word is looked for.
const LOOK_BACK: usize = 32 << 10;
/// Lines of a paragraph differ at most by this factor in size.
const SAME_SIZE: f32 = 1.2;

/// Appends the text of a block: a line for each paragraph.
pub(super) fn write(block: &TextBlock, glyphs: &[Glyph], texts: &GlyphTexts, out: &mut String) {
    let edges = block.iter().filter_map(|row| Some((row.first()?.x0, row.last()?.x1)));
    let (left, right) = edges.fold((f32::MAX, f32::MIN), |(l, r), (x0, x1)| (l.min(x0), r.max(x1)));
    let mut before: Option<&Row> = None;
    let mut line = String::new();
    for row in block {
        line.clear();
        spell(row, glyphs, texts, &mut line);
        if line.is_empty() {
            continue;
        }
        let is_near = before.is_some_and(|before| is_next(before, row));
        // A row with wide gaps is one of a table.
        let alone = before.filter(|before| before.len() == 1).and_then(|before| before.last());
        let is_full = alone.is_some_and(|segment| segment.x1 - left >= FULL * (right - left));
        if is_near && is_divided(out, &line) {
            // Where the word stands elsewhere with its hyphen, it is spelt with one.
            if !is_hyphenated(out, &line) {
                out.pop();
            }
        } else if !is_near || !is_full {
            end_paragraph(out);
        } else if !is_unspaced(out, &line) {
            out.push(' ');
        }
        out.push_str(&line);
        before = Some(row);
    }
    end_paragraph(out);
}

/// Ends the last line, if there is one.
fn end_paragraph(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Whether a row looks like the next line of the row before it.
fn is_next(before: &Row, row: &Row) -> bool {
    let (Some(last), Some(first)) = (before.last(), row.first()) else { return false };
    let distance = last.y - first.y;
    let size = last.size.max(first.size);
    let alike = size <= SAME_SIZE * last.size.min(first.size);
    alike && distance > 0.0 && distance < MAX_LEADING * size
}

/// Whether a word is divided between two lines: a hyphen after a letter, then a small letter.
fn is_divided(before: &str, next: &str) -> bool {
    let mut end = before.chars().rev();
    let hyphen = matches!(end.next(), Some('-' | '\u{AD}' | '\u{2010}'));
    hyphen && end.next().is_some_and(char::is_alphabetic) && next.chars().next().is_some_and(char::is_lowercase)
}

/// Whether the word that two lines divide at a hyphen has one wherever it stands on one line.
fn is_hyphenated(before: &str, next: &str) -> bool {
    let start = before.len().saturating_sub(LOOK_BACK);
    let recent = before.get(before.ceil_char_boundary(start)..).unwrap_or(before);
    let Some((text, first)) = recent.rsplit_once(|c: char| c.is_whitespace()) else { return false };
    let end = next.find(|c: char| !c.is_alphabetic()).unwrap_or(next.len());
    let word = format!("{first}{}", next.get(..end).unwrap_or(next));
    text.contains(&word)
}

/// Whether a line continues without a space, as in scripts that write none.
fn is_unspaced(before: &str, next: &str) -> bool {
    before.chars().next_back().is_some_and(is_ideographic) && next.chars().next().is_some_and(is_ideographic)
}

fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// A piece of a line: a glyph, or the space between two words.
#[derive(Clone, Copy)]
struct LinePiece<'t> {
    text: &'t str,
    direction: WrittenTo,
}

/// Where a piece is written to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenTo {
    Left,
    Right,
    Either,
}

/// The characters of a row, as they are read.
pub(super) fn spell(row: &Row, glyphs: &[Glyph], texts: &GlyphTexts, line: &mut String) {
    let mut pieces: Vec<LinePiece<'_>> = Vec::new();
    let mut before: Option<&Word> = None;
    for word in row.iter().flat_map(|segment| &segment.words) {
        if before.is_some_and(|before| !touch(before, word)) {
            pieces.push(LinePiece { text: " ", direction: WrittenTo::Either });
        }
        let said = glyphs.get(word.glyphs.clone()).unwrap_or_default().iter().map(|glyph| texts.get(glyph.text));
        pieces.extend(said.map(|text| LinePiece { text, direction: direction(text) }));
        before = Some(word);
    }
    if pieces.iter().any(|piece| piece.direction == WrittenTo::Left) {
        reorder(&mut pieces);
    }
    let start = line.len();
    for c in pieces.iter().flat_map(|piece| piece.text.chars()) {
        if c != ' ' || (line.len() > start && !line.ends_with(' ')) {
            line.push(c);
        }
    }
    while line.len() > start && line.ends_with(' ') {
        line.pop();
    }
}

/// From the order on the page, from left to right, to the order of reading. The simple case of the
/// bidirectional algorithm: one direction for the line, runs of the other one in it.
fn reorder(pieces: &mut [LinePiece<'_>]) {
    let count = |direction| pieces.iter().filter(|piece| piece.direction == direction).count();
    let main = if count(WrittenTo::Left) >= count(WrittenTo::Right) { WrittenTo::Left } else { WrittenTo::Right };
    let other = if main == WrittenTo::Left { WrittenTo::Right } else { WrittenTo::Left };
    if main == WrittenTo::Left {
        pieces.reverse();
    }
    // A run of the other direction reaches from its first to its last strong piece.
    let mut at = 0;
    while at < pieces.len() {
        if pieces[at].direction != other {
            at += 1;
            continue;
        }
        let rest = pieces[at..].iter().take_while(|piece| piece.direction != main);
        let end = at + rest.enumerate().filter(|(_, p)| p.direction == other).map(|(i, _)| i + 1).last().unwrap_or(1);
        pieces[at..end].reverse();
        at = end;
    }
}

fn direction(text: &str) -> WrittenTo {
    if text.is_ascii() {
        let strong = text.bytes().any(|b| b.is_ascii_alphanumeric());
        return if strong { WrittenTo::Right } else { WrittenTo::Either };
    }
    if text.chars().any(|c| matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}')) {
        // Arabic digits run from left to right.
        let digits = text.chars().all(|c| matches!(c, '\u{660}'..='\u{669}' | '\u{6F0}'..='\u{6F9}'));
        return if digits { WrittenTo::Right } else { WrittenTo::Left };
    }
    if text.chars().any(char::is_alphanumeric) { WrittenTo::Right } else { WrittenTo::Either }
}
