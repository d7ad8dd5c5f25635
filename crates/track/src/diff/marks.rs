//! Which words of a changed line are missing on the other side?

use super::Piece;
use crate::noise::words;
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::Instant;

/// Lines with more words are marked as a whole.
const MOST_WORDS: usize = 5_000;

/// Splits two lines into pieces and marks what they do not share.
pub(super) fn marked<'a>(old: &'a str, new: &'a str, deadline: Instant) -> (Vec<Piece<'a>>, Vec<Piece<'a>>) {
    let whole = || (vec![Piece { text: old, marked: true }], vec![Piece { text: new, marked: true }]);
    if Instant::now() > deadline {
        return whole();
    }
    let (a, b) = (words(old), words(new));
    if a.len().max(b.len()) > MOST_WORDS {
        return whole();
    }
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for op in capture_diff_slices_deadline(Algorithm::Myers, &a, &b, Some(deadline)) {
        let (tag, before, now) = op.as_tag_tuple();
        if tag != DiffTag::Equal {
            gone.extend(span(old, a.get(before).unwrap_or(&[])));
            come.extend(span(new, b.get(now).unwrap_or(&[])));
        }
    }
    (pieces(old, &gone), pieces(new, &come))
}

/// The byte range of consecutive words in their line.
fn span(line: &str, words: &[crate::noise::ClassedWord<'_>]) -> Option<Range<usize>> {
    let at = |word: &crate::noise::ClassedWord<'_>| word.text.as_ptr() as usize - line.as_ptr() as usize;
    let (first, last) = (words.first()?, words.last()?);
    Some(at(first)..at(last) + last.text.len())
}

/// Cuts a line at the marks, which are sorted.
fn pieces<'a>(line: &'a str, marks: &[Range<usize>]) -> Vec<Piece<'a>> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut push = |range: Range<usize>, marked: bool| {
        if let Some(text) = line.get(range).filter(|t| !t.is_empty()) {
            out.push(Piece { text, marked });
        }
    };
    for mark in marks {
        push(from..mark.start, false);
        push(mark.clone(), true);
        from = mark.end;
    }
    push(from..line.len(), false);
    out
}
