//! Which glyphs make a word, and which words stand in a row?
//!
//! A PDF places glyphs, not words. Glyphs that follow each other on one baseline without a gap are
//! a word; words on the same baseline are a row, however far apart they were drawn; a wide gap in a
//! row separates its segments, which may belong to different columns. All lengths are relative to
//! the font size.

use super::content::Glyph;
use std::ops::Range;

/// A gap wider than this separates words.
const WORD_GAP: f32 = 0.13;
/// How far a glyph may reach back into the one before it.
const OVERLAP: f32 = 0.35;
/// How far baselines within a word may differ.
const SAME_WORD: f32 = 0.2;
/// How far baselines within a row may differ: indices and exponents belong to their row.
const SAME_ROW: f32 = 0.45;
/// Lines of text are at least this far apart, in font sizes.
const MIN_LEADING: f32 = 0.95;
/// How many glyphs on one baseline are a line of text, and no exponents or numerators.
const MIN_LINE: usize = 12;
/// How many words of a row are examined for being in the place of one below.
const MAX_EXAMINED: usize = 64;
/// A gap wider than this separates segments.
const SEGMENT_GAP: f32 = 0.9;
/// Words that begin within this distance of each other and say the same are one, drawn twice.
const DRAWN_TWICE: f32 = 0.15;

/// A word: glyphs drawn one after the other.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Its glyphs.
    pub(super) glyphs: Range<usize>,
    /// Where it begins.
    pub(super) x0: f32,
    /// Where it ends.
    pub(super) x1: f32,
    /// Its baseline.
    pub(super) y: f32,
    /// Its font size.
    pub(super) size: f32,
    /// Whether white space was drawn to its left, and to its right.
    spaces: (bool, bool),
}

/// Words of a row that stand close together.
#[derive(Clone, Debug)]
pub(super) struct WordSegment {
    /// From left to right.
    pub(super) words: Vec<Word>,
    /// Where it begins.
    pub(super) x0: f32,
    /// Where it ends.
    pub(super) x1: f32,
    /// The row's baseline.
    pub(super) y: f32,
    /// The row's font size.
    pub(super) size: f32,
}

impl WordSegment {
    /// How many glyphs it has.
    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| word.glyphs.len()).sum()
    }
}

/// Segments on one baseline, from left to right.
pub(super) type Row = Vec<WordSegment>;

/// The rows of the glyphs in one direction, from top to bottom.
pub(super) fn rows(glyphs: &[Glyph], turn: i16) -> Vec<Row> {
    let mut words = words(glyphs, turn);
    words.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x0.total_cmp(&b.x0)));
    let mut rows: Vec<Row> = Vec::new();
    let mut row: Vec<Word> = Vec::new();
    // The baseline of a row is that of its largest word.
    let (mut y, mut size) = (0.0, 0.0);
    for word in words {
        let is_far = (y - word.y).abs() > SAME_ROW * word.size.max(size);
        if !row.is_empty() && (is_far || is_below(&row, &word)) {
            rows.push(segments(std::mem::take(&mut row), y, size, glyphs));
            size = 0.0;
        }
        if word.size > size {
            (y, size) = (word.y, word.size);
        }
        row.push(word);
    }
    if !row.is_empty() {
        rows.push(segments(row, y, size, glyphs));
    }
    rows
}

/// Whether a word stands in the line below a word of a row. A heading in the next column, whose
/// size makes small distances of large ones, must not put two lines into one row.
fn is_below(row: &[Word], word: &Word) -> bool {
    let Some(top) = row.first() else { return false };
    let line = || row.iter().take(MAX_EXAMINED).take_while(|other| top.y - other.y < SAME_WORD * top.size);
    top.y - word.y > MIN_LEADING * top.size.min(word.size)
        && line().map(|other| other.glyphs.len()).sum::<usize>() >= MIN_LINE
        && line().any(|other| other.x0 < word.x1 && word.x0 < other.x1)
}

/// Whether two neighbours in a row are parts of one word.
pub(super) fn touch(left: &Word, right: &Word) -> bool {
    let gap = right.x0 - left.x1;
    !left.spaces.1 && !right.spaces.0 && gap < WORD_GAP * left.size.max(right.size)
}

/// The words in the order in which they are drawn.
fn words(glyphs: &[Glyph], turn: i16) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut space = false;
    for (place, glyph) in glyphs.iter().enumerate().filter(|(_, glyph)| glyph.turn == turn) {
        if glyph.is_space {
            space = true;
            continue;
        }
        let spaced = std::mem::take(&mut space);
        if let Some(word) = words.last_mut() {
            if !spaced && word.glyphs.end == place && continues(word, glyph) {
                word.glyphs.end = place + 1;
                word.x1 = word.x1.max(glyph.x1);
                continue;
            }
            if spaced && glyph.x0 >= word.x0 {
                word.spaces.1 = true;
            } else if spaced {
                word.spaces.0 = true;
            }
        }
        let back = words.last().is_some_and(|word| glyph.x0 < word.x0);
        let spaces = (spaced && !back, spaced && back);
        let Glyph { x0, x1, y, size, .. } = *glyph;
        words.push(Word { glyphs: place..place + 1, x0, x1, y, size, spaces });
    }
    words
}

/// Whether a glyph belongs to the word before it.
fn continues(word: &Word, glyph: &Glyph) -> bool {
    let size = word.size.max(glyph.size);
    let gap = glyph.x0 - word.x1;
    (glyph.y - word.y).abs() < SAME_WORD * size && gap < WORD_GAP * size && gap > -OVERLAP * size && glyph.x0 >= word.x0
}

/// The segments of a row.
fn segments(mut words: Vec<Word>, y: f32, size: f32, glyphs: &[Glyph]) -> Row {
    words.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    words.dedup_by(|b, a| {
        (b.x0 - a.x0).abs() < DRAWN_TWICE * a.size.max(b.size)
            && (b.y - a.y).abs() < DRAWN_TWICE * a.size.max(b.size)
            && same_text(&glyphs[a.glyphs.clone()], &glyphs[b.glyphs.clone()])
    });
    let mut row: Row = Vec::new();
    for word in words {
        match row.last_mut() {
            Some(segment) if word.x0 - segment.x1 <= SEGMENT_GAP * gap_size(segment, &word, size) => {
                segment.x1 = segment.x1.max(word.x1);
                segment.words.push(word);
            }
            _ => row.push(WordSegment { x0: word.x0, x1: word.x1, y, size, words: vec![word] }),
        }
    }
    row
}

/// The font size by which the gap between a segment and a word is judged: that of the smaller one
/// of two neighbours, unless it is that of a mark or an index.
fn gap_size(segment: &WordSegment, word: &Word, size: f32) -> f32 {
    const INDEX: f32 = 0.6;
    segment.words.last().map_or(size, |last| last.size.min(word.size).max(INDEX * size))
}

fn same_text(a: &[Glyph], b: &[Glyph]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
}
