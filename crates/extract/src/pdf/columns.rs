//! In which order are the rows of a page read?
//!
//! From top to bottom, except where the page has columns: where the rows that follow each other
//! leave the same strip free, and there is enough running text on both sides of it, everything on
//! the left is read before everything on the right. A heading across the columns ends them, and so
//! does a row that crosses the strip. Tables, whose cells are short, are read row by row. This is
//! the idea of the recursive XY cut (Nagy and Seth, 1984), with cuts that follow the rows.

use super::words::{Row, WordSegment};

/// How wide a strip between columns is at least, in font sizes.
const MIN_STRIP: f32 = 0.5;
/// How many rows a column has at least.
const MIN_ROWS: usize = 3;
/// How long the segments of a column are on average, in glyphs.
const MIN_LENGTH: usize = 12;
/// How deep columns may be nested.
const MAX_DEPTH: u32 = 6;
/// A row on one side only that is further below than this, in font sizes, stands below the columns.
const MAX_DISTANCE: f32 = 3.0;
/// How many strips are followed at once.
const MAX_STRIPS: usize = 16;

/// Rows that are read together.
pub(super) type TextBlock = Vec<Row>;

/// A part of the width that rows leave free.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Strip {
    from: f32,
    to: f32,
    /// Whether something stands to its left, and to its right.
    sides: (bool, bool),
}

impl Strip {
    fn width(self) -> f32 {
        self.to - self.from
    }
}

/// Puts the rows of a page into blocks, in reading order.
pub(super) fn blocks(rows: Vec<Row>) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    arrange(rows, 0, &mut blocks);
    blocks
}

fn arrange(rows: Vec<Row>, depth: u32, blocks: &mut Vec<TextBlock>) {
    let mut plain: TextBlock = Vec::new();
    let mut rows = std::collections::VecDeque::from(rows);
    while !rows.is_empty() {
        let (taken, strip) = columns(rows.make_contiguous());
        let group: Vec<Row> = rows.drain(..taken.max(1)).collect();
        let Some(middle) = strip.filter(|_| depth < MAX_DEPTH).map(|strip| (strip.from + strip.to) / 2.0) else {
            plain.extend(group);
            continue;
        };
        if !plain.is_empty() {
            blocks.push(std::mem::take(&mut plain));
        }
        let side = |is_left: bool| {
            let on_side = |row: &Row| -> Row { row.iter().filter(|s| (s.x0 < middle) == is_left).cloned().collect() };
            group.iter().map(on_side).filter(|row| !row.is_empty()).collect::<Vec<Row>>()
        };
        arrange(side(true), depth + 1, blocks);
        arrange(side(false), depth + 1, blocks);
    }
    if !plain.is_empty() {
        blocks.push(plain);
    }
}

/// How many of the first rows leave a strip free, and the strip, if there are columns beside it.
fn columns(rows: &[Row]) -> (usize, Option<Strip>) {
    let mut strips: Vec<Strip> = rows.first().map(|row| free(row)).unwrap_or_default();
    let mut taken = 1;
    for (number, row) in rows.iter().enumerate().skip(1) {
        let mut left: Vec<Strip> = Vec::new();
        let free = free(row);
        let size = row.first().map_or(0.0, |segment| segment.size);
        let least = size * MIN_STRIP;
        let above = rows[number - 1].first().map_or(f32::MAX, |segment| segment.y);
        let y = row.first().map_or(above, |segment| segment.y);
        if row.len() == 1 && above - y > MAX_DISTANCE * size {
            break;
        }
        for strip in &strips {
            left.extend(free.iter().filter_map(|other| common(*strip, *other)).filter(|s| s.width() >= least));
        }
        // A margin is no strip: what is free on one side of the first row must prove itself in the
        // second.
        left.retain(|strip| strip.sides == (true, true));
        left.sort_by(|a, b| b.width().total_cmp(&a.width()));
        left.truncate(MAX_STRIPS);
        if left.is_empty() {
            break;
        }
        strips = left;
        taken = number + 1;
    }
    let group = &rows[..taken];
    let found = strips.into_iter().find(|strip| strip.sides == (true, true) && is_text_beside(group, *strip));
    (taken, found)
}

/// What a row leaves free, the margins included.
fn free(row: &[WordSegment]) -> Vec<Strip> {
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return Vec::new() };
    let mut strips = vec![
        Strip { from: f32::MIN / 4.0, to: first.x0, sides: (false, true) },
        Strip { from: last.x1, to: f32::MAX / 4.0, sides: (true, false) },
    ];
    let between = row.windows(2).map(|pair| Strip { from: pair[0].x1, to: pair[1].x0, sides: (true, true) });
    strips.extend(between.filter(|strip| strip.width() > 0.0));
    strips
}

fn common(a: Strip, b: Strip) -> Option<Strip> {
    let (from, to) = (a.from.max(b.from), a.to.min(b.to));
    let sides = (a.sides.0 || b.sides.0, a.sides.1 || b.sides.1);
    (from < to).then_some(Strip { from, to, sides })
}

/// Whether there is running text on both sides of a strip.
fn is_text_beside(rows: &[Row], strip: Strip) -> bool {
    let middle = (strip.from + strip.to) / 2.0;
    [true, false].into_iter().all(|is_left| {
        let on_side = |row: &&Row| row.iter().any(|segment| (segment.x0 < middle) == is_left);
        let segments = rows.iter().flatten().filter(|segment| (segment.x0 < middle) == is_left);
        let (count, length) = segments.fold((0, 0), |(count, length), segment| (count + 1, length + segment.len()));
        rows.iter().filter(on_side).count() >= MIN_ROWS && length >= count * MIN_LENGTH
    })
}
