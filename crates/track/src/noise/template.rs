//! Which words of a block vary from response to response?
//!
//! Two back-to-back responses show it: the words they share are fixed, and between them are slots.
//! A slot remembers how much it held and of what kind, and lets an older response differ there and
//! nowhere else. Where a clock moved, the day, month and year next to it belong to the slot too,
//! although two back-to-back responses agree on them; likewise the other groups of a number such as
//! `1 234 567`. If two blocks share too few words, there is no template: the block was replaced as
//! a whole, and shares words by chance.

use super::words::{Class, ClassedWord, word_count};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Time limit for aligning two blocks; after it the alignment is coarse.
const PATIENCE: Duration = Duration::from_millis(200);
/// Longer blocks are not templates.
const MOST_WORDS: usize = 20_000;

/// What a slot was seen to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotShape {
    /// Numbers.
    Digits,
    /// A date or a time, in words and numbers.
    Moment,
    /// Words of letters and digits, of about this length in bytes.
    Token {
        /// The shortest seen.
        least: usize,
        /// The longest seen.
        most: usize,
    },
    /// Any words.
    Free,
}

/// A position at which words vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordSlot {
    /// Maximum number of words it held.
    pub(crate) most: usize,
    /// Their kind.
    pub(crate) shape: SlotShape,
    /// Whether it may be empty.
    pub(crate) optional: bool,
    /// Hash of the preceding word; 0 at the beginning.
    pub(crate) before: u64,
    /// Hash of the following word; 0 at the end.
    pub(crate) after: u64,
}

impl WordSlot {
    /// Whether these words may be here.
    pub(crate) fn accepts(&self, words: &[ClassedWord<'_>]) -> bool {
        if words.is_empty() {
            return self.optional || self.shape == SlotShape::Free;
        }
        match self.shape {
            SlotShape::Digits => {
                words.len() <= self.most && words.iter().all(|w| matches!(w.class, Class::Digits | Class::Mark))
            }
            SlotShape::Moment => words.len() <= self.most + 3 && words.iter().all(|w| w.class != Class::Plain),
            SlotShape::Token { least, most } => {
                let long =
                    |w: &ClassedWord<'_>| w.class == Class::Mark || (least / 2..=most * 2).contains(&w.text.len());
                words.len() <= self.most && words.iter().all(long)
            }
            SlotShape::Free => words.len() <= 2 * self.most + 2,
        }
    }

    /// A slot that accepts what either of two does.
    pub(crate) fn widened(self, other: Self) -> Self {
        let shape = match (self.shape, other.shape) {
            (a, b) if a == b => a,
            (SlotShape::Free, _) | (_, SlotShape::Free) => SlotShape::Free,
            (SlotShape::Token { least, most }, SlotShape::Token { least: l, most: m }) => {
                SlotShape::Token { least: least.min(l), most: most.max(m) }
            }
            (SlotShape::Token { least, most }, SlotShape::Digits)
            | (SlotShape::Digits, SlotShape::Token { least, most }) => SlotShape::Token { least, most },
            _ => SlotShape::Moment,
        };
        Self { most: self.most.max(other.most), shape, optional: self.optional || other.optional, ..self }
    }
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(crate) enum TemplatePart<'a> {
    /// These words.
    Fixed(Vec<ClassedWord<'a>>),
    /// Anything that the slot accepts.
    Drawn(WordSlot),
}

/// A block in which some words vary.
#[derive(Clone, Debug)]
pub(crate) struct BlockTemplate<'a> {
    pieces: Vec<TemplatePart<'a>>,
}

impl<'a> BlockTemplate<'a> {
    /// The common template of two responses, if there is one.
    pub(crate) fn of(one: &[ClassedWord<'a>], other: &[ClassedWord<'a>]) -> Option<Self> {
        if one.len().max(other.len()) > MOST_WORDS {
            return None;
        }
        let drawn = Spans::of(one, other);
        let words = |spans: &[WordSpan]| -> usize { spans.iter().map(|s| word_count(&one[s.one.0..s.one.1])).sum() };
        let fixed = word_count(one) - words(&drawn.0);
        let total = word_count(one).max(word_count(other));
        let lexical = drawn.0.iter().any(|s| s.shape(one, other) == SlotShape::Free);
        let trusted = if lexical { fixed * 4 >= total * 3 } else { fixed > 0 || total <= 2 };
        trusted.then(|| Self { pieces: drawn.pieces(one, other) })
    }

    /// The slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = WordSlot> {
        self.pieces.iter().filter_map(|p| match p {
            TemplatePart::Drawn(slot) => Some(*slot),
            TemplatePart::Fixed(_) => None,
        })
    }

    /// Whether a block matches this template with other words in its slots.
    pub(crate) fn matches(&self, words: &[ClassedWord<'_>]) -> bool {
        let mut rest = words;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            match (piece, pieces.peek()) {
                (TemplatePart::Fixed(fixed), _) => match rest.strip_prefix(fixed.as_slice()) {
                    Some(after) => rest = after,
                    None => return false,
                },
                (TemplatePart::Drawn(slot), None) => return slot.accepts(rest),
                (TemplatePart::Drawn(slot), Some(TemplatePart::Fixed(fixed))) => {
                    // The last fixed words must end the block; all others match as early as
                    // possible.
                    let last = self
                        .pieces
                        .last()
                        .is_some_and(|p| matches!(p, TemplatePart::Fixed(f) if std::ptr::eq(f, fixed)));
                    let at = match last {
                        true => rest.len().checked_sub(fixed.len()).filter(|&at| rest[at..] == fixed[..]),
                        false => rest.windows(fixed.len()).position(|w| w == fixed.as_slice()),
                    };
                    match at {
                        Some(at) if slot.accepts(&rest[..at]) => rest = &rest[at..],
                        _ => return false,
                    }
                }
                (TemplatePart::Drawn(_), Some(TemplatePart::Drawn(_))) => return false,
            }
        }
        rest.is_empty()
    }
}

/// A difference between two blocks: the range in each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordSpan {
    pub(crate) one: (usize, usize),
    pub(crate) other: (usize, usize),
}

impl WordSpan {
    /// The kind of the differing words.
    fn shape(&self, one: &[ClassedWord<'_>], other: &[ClassedWord<'_>]) -> SlotShape {
        let words = || one[self.one.0..self.one.1].iter().chain(&other[self.other.0..self.other.1]);
        let has = |class: Class| words().any(|w| w.class == class);
        if has(Class::Plain) {
            SlotShape::Free
        } else if has(Class::Temporal) || words().any(ClassedWord::is_clock) {
            SlotShape::Moment
        } else if has(Class::Mixed) {
            let lengths = || words().filter(|w| w.class != Class::Mark).map(|w| w.text.len());
            SlotShape::Token { least: lengths().min().unwrap_or(0), most: lengths().max().unwrap_or(0) }
        } else if has(Class::Digits) {
            SlotShape::Digits
        } else {
            SlotShape::Free
        }
    }

    /// The slot it makes.
    pub(crate) fn slot(&self, one: &[ClassedWord<'_>], other: &[ClassedWord<'_>]) -> WordSlot {
        let hash = |word: Option<&ClassedWord<'_>>| word.map_or(0, |w| xxh3_64(w.text.as_bytes()) | 1);
        WordSlot {
            most: (self.one.1 - self.one.0).max(self.other.1 - self.other.0),
            shape: self.shape(one, other),
            optional: self.one.0 == self.one.1 || self.other.0 == self.other.1,
            before: hash(self.one.0.checked_sub(1).and_then(|i| one.get(i))),
            after: hash(one.get(self.one.1)),
        }
    }
}

/// The differences between two blocks, sorted and disjoint.
pub(crate) struct Spans(pub(crate) Vec<WordSpan>);

impl Spans {
    /// Aligns two blocks; dates and grouped numbers are taken whole.
    pub(crate) fn of(one: &[ClassedWord<'_>], other: &[ClassedWord<'_>]) -> Self {
        let mut spans: Vec<WordSpan> = Vec::new();
        let deadline = Some(Instant::now() + PATIENCE);
        for op in capture_diff_slices_deadline(Algorithm::Myers, one, other, deadline) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let (a, b) = (op.old_range(), op.new_range());
            let span = WordSpan { one: (a.start, a.end), other: (b.start, b.end) };
            match spans.last_mut() {
                Some(last) if last.one.1 == span.one.0 && last.other.1 == span.other.0 => {
                    (last.one.1, last.other.1) = (span.one.1, span.other.1);
                }
                _ => spans.push(span),
            }
        }
        let found = spans.clone();
        for (i, span) in spans.iter_mut().enumerate() {
            // What both share is bounded by the differences before and after it.
            let first = i.checked_sub(1).and_then(|i| found.get(i)).map_or(0, |before| before.one.1);
            let last = found.get(i + 1).map_or(one.len(), |behind| behind.one.0);
            widen(span, one, other, first..last);
        }
        Self(joined(spans))
    }

    fn pieces<'a>(&self, one: &[ClassedWord<'a>], other: &[ClassedWord<'a>]) -> Vec<TemplatePart<'a>> {
        let mut pieces = Vec::new();
        let mut from = 0;
        for span in &self.0 {
            if span.one.0 > from {
                pieces.push(TemplatePart::Fixed(one[from..span.one.0].to_vec()));
            }
            pieces.push(TemplatePart::Drawn(span.slot(one, other)));
            from = span.one.1;
        }
        if from < one.len() {
            pieces.push(TemplatePart::Fixed(one[from..].to_vec()));
        }
        pieces
    }
}

/// Extends a span to the rest of a date or grouped number, within the `shared` words.
fn widen(span: &mut WordSpan, one: &[ClassedWord<'_>], other: &[ClassedWord<'_>], shared: Range<usize>) {
    let words: Vec<ClassedWord<'_>> =
        one[span.one.0..span.one.1].iter().chain(&other[span.other.0..span.other.1]).copied().collect();
    let clock = words.iter().any(|w| w.is_clock() || w.class == Class::Temporal);
    let group = !words.is_empty() && words.iter().all(|w| w.is_group(3..=3));
    let counted = !words.is_empty() && words.iter().all(|w| w.class == Class::Digits);
    let before = |w: &ClassedWord<'_>| if clock { is_of_a_date(w) } else { group && w.is_group(1..=3) };
    let behind = |w: &ClassedWord<'_>| if clock { is_of_a_date(w) } else { counted && w.class == Class::Temporal };
    while span.one.0 > shared.start && before(&one[span.one.0 - 1]) {
        (span.one.0, span.other.0) = (span.one.0 - 1, span.other.0 - 1);
    }
    while span.one.1 < shared.end && behind(&one[span.one.1]) {
        (span.one.1, span.other.1) = (span.one.1 + 1, span.other.1 + 1);
    }
    // Punctuation at either end belongs to the sentence.
    while span.one.0 < span.one.1 && span.other.0 < span.other.1 && edge(one[span.one.0], other[span.other.0]) {
        (span.one.0, span.other.0) = (span.one.0 + 1, span.other.0 + 1);
    }
    while span.one.0 < span.one.1 && span.other.0 < span.other.1 && edge(one[span.one.1 - 1], other[span.other.1 - 1]) {
        (span.one.1, span.other.1) = (span.one.1 - 1, span.other.1 - 1);
    }
}

fn edge(a: ClassedWord<'_>, b: ClassedWord<'_>) -> bool {
    a.class == Class::Mark && a == b
}

/// Whether a word next to a clock belongs to its date.
fn is_of_a_date(word: &ClassedWord<'_>) -> bool {
    match word.class {
        Class::Digits | Class::Temporal => true,
        Class::Mixed => word.text.len() <= 4,
        Class::Mark => matches!(word.text, "," | "." | "/" | "-" | ":" | "(" | ")" | "+"),
        Class::Plain => false,
    }
}

/// Merges spans that touch or overlap.
fn joined(spans: Vec<WordSpan>) -> Vec<WordSpan> {
    let mut out: Vec<WordSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.one.0 <= last.one.1 || span.other.0 <= last.other.1 => {
                last.one = (last.one.0.min(span.one.0), last.one.1.max(span.one.1));
                last.other = (last.other.0.min(span.other.0), last.other.1.max(span.other.1));
            }
            _ => out.push(span),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, same: &[&str], changed: &[&str]) {
        let (one, other) = (words(one), words(other));
        let template = BlockTemplate::of(&one, &other).expect("a template");
        for text in same {
            assert!(template.matches(&words(text)), "{text} is not {template:?}");
        }
        for text in changed {
            assert!(!template.matches(&words(text)), "{text} is {template:?}");
        }
    }

    #[test]
    fn a_token_is_drawn_and_the_other_words_are_not() {
        check(
            "Your ticket x7f3a2 costs 20 EUR.",
            "Your ticket 9b01cc costs 20 EUR.",
            &["Your ticket a0a0a0 costs 20 EUR.", "Your ticket abcdef costs 20 EUR."],
            &["Your ticket a0a0a0 costs 25 EUR.", "Your ticket a0a0a0 costs 20 EUR", "Your ticket costs 20 EUR."],
        );
        check("Visitors: 12345", "Visitors: 12346", &["Visitors: 9"], &["Readers: 12345", "Visitors: none"]);
        check("17", "18", &["3"], &["three", "3 4"]);
    }

    #[test]
    fn the_day_beside_a_clock_belongs_to_it() {
        check(
            "Generated on Sunday, 12 May 2026 at 13:40:01 UTC by orb",
            "Generated on Sunday, 12 May 2026 at 13:40:02 UTC by orb",
            &["Generated on Monday, 3 June 2025 at 01:02:03 UTC by orb"],
            &[
                "Generated on Monday, 3 June 2025 at 01:02:03 UTC by web",
                "Made on Sunday, 12 May 2026 at 13:40:01 UTC by orb",
            ],
        );
        check("1 234 567 visits", "1 234 568 visits", &["1 230 001 visits", "999 001 visits"], &["1 234 567 calls"]);
        check("5 seconds ago, by me", "6 seconds ago, by me", &["2 days ago, by me"], &["5 seconds ago, by you"]);
    }

    #[test]
    fn slots_that_grow_towards_each_other_become_one() {
        let (one, other) = (words("1 234 567, May 7, 12:00:01"), words("1 235 568, May 8, 12:00:02"));
        let spans = Spans::of(&one, &other).0;
        assert!(
            spans.windows(2).all(|pair| pair[0].one.1 < pair[1].one.0 && pair[0].other.1 < pair[1].other.0),
            "{spans:?}"
        );
    }

    #[test]
    fn what_shares_few_words_was_replaced_as_a_whole() {
        let of = |a: &str, b: &str| BlockTemplate::of(&words(a), &words(b)).is_some();
        assert!(!of("Buy now great shoes!", "Buy now red cars!"));
        assert!(!of("Cheap flights to Rome", "The best shoes in town"));
        assert!(of("Today we recommend all of our readers: tea", "Today we recommend all of our readers: wine"));
    }
}
