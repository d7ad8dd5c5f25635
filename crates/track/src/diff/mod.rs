//! What differs between two texts, for people to read?
//!
//! Lines are aligned first (Myers 1986, from the crate `similar`), then the words of lines that
//! replaced each other. The result is a list of [`DiffLine`]s, one per line on either side: as it
//! is, a two-column table; grouped into hunks, a unified diff ([`unified`]); with tags around it,
//! HTML ([`html`]). Time is bounded: after the deadline the alignment becomes coarse, and a change
//! looks larger than it is.

pub mod html;
mod marks;
pub mod unified;

use crate::noise::likeness;
use marks::marked;
use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Time limit for aligning lines and the words in them.
const PATIENCE: Duration = Duration::from_secs(2);
/// Changes with up to this many lines are compared pairwise.
const NEAR: usize = 48;
/// Minimum similarity for two lines to count as one changed line.
const ALIKE: f64 = 0.3;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece<'a> {
    /// Its text, including spaces.
    pub text: &'a str,
    /// Whether it is missing on the other side.
    pub marked: bool,
}

/// A line of one or both texts; numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DiffLine<'a> {
    /// A line of both texts.
    Same {
        /// Its number in the old text.
        old_line: usize,
        /// Its number in the new text.
        new_line: usize,
        /// Its text.
        text: &'a str,
    },
    /// A line that changed.
    Changed {
        /// Its number in the old text.
        old_line: usize,
        /// Its number in the new text.
        new_line: usize,
        /// Its old text.
        old: Vec<Piece<'a>>,
        /// Its new text.
        new: Vec<Piece<'a>>,
    },
    /// A line of the old text only.
    Removed {
        /// Its number in the old text.
        old_line: usize,
        /// Its text.
        text: &'a str,
    },
    /// A line of the new text only.
    Added {
        /// Its number in the new text.
        new_line: usize,
        /// Its text.
        text: &'a str,
    },
}

impl DiffLine<'_> {
    /// Whether both texts contain it.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same { .. })
    }
}

/// The difference between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    /// Every line, in order.
    pub rows: Vec<DiffLine<'a>>,
}

/// Number of lines that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Changed lines.
    pub changed: usize,
    /// Lines of the new text only.
    pub added: usize,
    /// Lines of the old text only.
    pub removed: usize,
}

impl<'a> Diff<'a> {
    /// Compares two texts line by line.
    pub fn of(old: &[&'a str], new: &[&'a str]) -> Self {
        let deadline = Instant::now() + PATIENCE;
        let hashes = |lines: &[&str]| lines.iter().map(|l| xxh3_64(l.as_bytes())).collect::<Vec<_>>();
        let mut diff = Self::default();
        for op in capture_diff_slices_deadline(Algorithm::Myers, &hashes(old), &hashes(new), Some(deadline)) {
            let (tag, before, now) = op.as_tag_tuple();
            match tag {
                DiffTag::Equal => {
                    let same =
                        before.zip(now).map(|(i, j)| DiffLine::Same { old_line: i + 1, new_line: j + 1, text: new[j] });
                    diff.rows.extend(same);
                }
                _ => diff.replace(old, new, before, now, deadline),
            }
        }
        diff
    }

    /// Whether the texts are equal.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(DiffLine::is_same)
    }

    /// Counts the lines that differ.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in &self.rows {
            match row {
                DiffLine::Same { .. } => {}
                DiffLine::Changed { .. } => counts.changed += 1,
                DiffLine::Added { .. } => counts.added += 1,
                DiffLine::Removed { .. } => counts.removed += 1,
            }
        }
        counts
    }

    /// The hunks: rows that differ with this many rows of context, merged where they touch.
    pub fn groups(&self, context: usize) -> Vec<&[DiffLine<'a>]> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for at in self.rows.iter().enumerate().filter(|(_, row)| !row.is_same()).map(|(i, _)| i) {
            let (from, to) = (at.saturating_sub(context), (at + context + 1).min(self.rows.len()));
            match ranges.last_mut() {
                Some(last) if from <= last.end => last.end = to,
                _ => ranges.push(from..to),
            }
        }
        ranges.into_iter().map(|range| &self.rows[range]).collect()
    }

    /// Adds a block of lines that was replaced.
    fn replace(
        &mut self,
        old: &[&'a str],
        new: &[&'a str],
        before: Range<usize>,
        now: Range<usize>,
        deadline: Instant,
    ) {
        let (mut i, mut j) = (before.start, now.start);
        for (a, b) in partners(old, new, &before, &now) {
            self.alone(old, new, i..a, j..b);
            let (said, says) = marked(old[a], new[b], deadline);
            self.rows.push(DiffLine::Changed { old_line: a + 1, new_line: b + 1, old: said, new: says });
            (i, j) = (a + 1, b + 1);
        }
        self.alone(old, new, i..before.end, j..now.end);
    }

    /// Adds lines without a counterpart.
    fn alone(&mut self, old: &[&'a str], new: &[&'a str], before: Range<usize>, now: Range<usize>) {
        self.rows.extend(before.map(|i| DiffLine::Removed { old_line: i + 1, text: old[i] }));
        self.rows.extend(now.map(|j| DiffLine::Added { new_line: j + 1, text: new[j] }));
    }
}

/// Pairs the old and new lines of a change, in order.
fn partners(old: &[&str], new: &[&str], before: &Range<usize>, now: &Range<usize>) -> Vec<(usize, usize)> {
    if before.len() == 1 && now.len() == 1 {
        return vec![(before.start, now.start)];
    }
    if before.len().max(now.len()) > NEAR {
        return if before.len() == now.len() { before.clone().zip(now.clone()).collect() } else { Vec::new() };
    }
    let words = |line: &str| line.split_whitespace().map(|w| xxh3_64(w.as_bytes())).collect::<Vec<_>>();
    let later: Vec<(usize, Vec<u64>)> = now.clone().map(|j| (j, words(new[j]))).collect();
    let mut out = Vec::new();
    let mut from = 0;
    for i in before.clone() {
        let line = words(old[i]);
        let alike = later.iter().skip(from).map(|(j, other)| (likeness(&line, other), *j));
        let best = alike.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((_, j)) = best.filter(|(likeness, _)| *likeness >= ALIKE) {
            out.push((i, j));
            from = j - now.start + 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_and_the_words_in_them_are_told_apart() {
        let old = ["one", "the price is 20 EUR", "three", "gone"];
        let new = ["one", "the price is 25 EUR", "new here", "three"];
        let diff = Diff::of(&old, &new);
        let piece = |text, marked| Piece { text, marked };
        assert_eq!(
            diff.rows,
            [
                DiffLine::Same { old_line: 1, new_line: 1, text: "one" },
                DiffLine::Changed {
                    old_line: 2,
                    new_line: 2,
                    old: vec![piece("the price is ", false), piece("20", true), piece(" EUR", false)],
                    new: vec![piece("the price is ", false), piece("25", true), piece(" EUR", false)],
                },
                DiffLine::Added { new_line: 3, text: "new here" },
                DiffLine::Same { old_line: 3, new_line: 4, text: "three" },
                DiffLine::Removed { old_line: 4, text: "gone" },
            ]
        );
        assert_eq!(diff.counts(), Counts { changed: 1, added: 1, removed: 1 });
        assert!(Diff::of(&old, &old).is_empty());
    }

    #[test]
    fn huge_texts_that_share_nothing_end_soon() {
        let began = Instant::now();
        let line = |i: usize, salt: usize| format!("{} {}", xxh3_64(&(i * salt).to_le_bytes()) % 7, i * salt % 1_001);
        let (old, new): (Vec<_>, Vec<_>) =
            ((0..100_000).map(|i| line(i, 3)).collect(), (0..100_000).map(|i| line(i, 7)).collect());
        let (a, b): (Vec<&str>, Vec<&str>) =
            (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        assert!(!Diff::of(&a, &b).is_empty());
        let long = ["word ".repeat(200_000), "other ".repeat(200_000)];
        assert_eq!(Diff::of(&[&long[0]], &[&long[1]]).counts().changed, 1);
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn each_side_of_the_rows_is_its_text(old in "[ab \n]{0,60}", new in "[abc \n]{0,60}") {
            let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            let diff = Diff::of(&a, &b);
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let joined = |pieces: &[Piece<'_>]| pieces.iter().map(|p| p.text).collect::<String>();
            for row in &diff.rows {
                match row {
                    DiffLine::Same { text, .. } => { left.push((*text).to_owned()); right.push((*text).to_owned()); }
                    DiffLine::Changed { old, new, .. } => { left.push(joined(old)); right.push(joined(new)); }
                    DiffLine::Removed { text, .. } => left.push((*text).to_owned()),
                    DiffLine::Added { text, .. } => right.push((*text).to_owned()),
                }
            }
            prop_assert_eq!(left, a);
            prop_assert_eq!(right, b);
            prop_assert_eq!(diff.is_empty(), old.lines().eq(new.lines()));
        }
    }
}
