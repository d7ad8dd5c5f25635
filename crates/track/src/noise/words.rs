//! What are the words of a block, and which of them look like noise?
//!
//! A word is a run of letters and digits, with the punctuation that holds it together (`13:40:01`,
//! `1,234`, `a-b`). Any other punctuation character is a word of its own, and so is every character
//! of a script without spaces. Words differ in how likely a machine generated them: numbers,
//! mixtures of letters and digits, and the words of dates are likely; plain words are not.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The class of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Letters.
    Plain,
    /// Digits, with punctuation between them.
    Digits,
    /// Letters and digits.
    Mixed,
    /// A word of dates and times.
    Temporal,
    /// A punctuation mark.
    Mark,
}

/// A word of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassedWord<'a> {
    pub(crate) text: &'a str,
    pub(crate) class: Class,
}

impl PartialEq for ClassedWord<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ClassedWord<'_> {}

impl std::hash::Hash for ClassedWord<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for ClassedWord<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ClassedWord<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(other.text)
    }
}

impl ClassedWord<'_> {
    /// Whether it is a time of day: `13:40`, `13:40:01`, `2026-05-12T13:40:01`.
    pub(crate) fn is_clock(&self) -> bool {
        let bytes = self.text.as_bytes();
        bytes
            .windows(4)
            .any(|w| w[0].is_ascii_digit() && w[1] == b':' && w[2].is_ascii_digit() && w[3].is_ascii_digit())
    }

    /// Whether it consists of digits only, and of this many.
    pub(crate) fn is_group(&self, digits: std::ops::RangeInclusive<usize>) -> bool {
        digits.contains(&self.text.len()) && self.text.bytes().all(|b| b.is_ascii_digit())
    }
}

/// Words of dates and times in lower case: months and weekdays in the languages of most pages, time
/// zones, halves of the day, units.
const TEMPORAL: &str = "abril ago agosto am août apr april aprile at aug august avril cest cet date day days dec december dez dezember \
    di dicembre diciembre dienstag dimanche do domenica domingo donnerstag décembre edt enero est feb febbraio \
    febrero februar february fr freitag fri friday février gennaio giovedì giugno gmt hour hours jan januar january \
    janvier jeudi jueves juillet juin jul juli julio july jun june juni junio luglio lundi lunedì lunes maggio mai \
    mar march mardi mars martedì martes marzo may mayo mercoledì mercredi mi minute minutes mittwoch miércoles mo \
    mon monday montag month months mär märz nov november novembre noviembre oct october octobre octubre okt oktober \
    ottobre pdt pm pst sa sabato samedi samstag sat saturday second seconds sekunde sekunden sep sept september \
    septembre septiembre settembre so sonntag stunde stunden sun sunday sábado tag tage tagen thu thursday tue \
    tuesday uhr um utc vendredi venerdì viernes wed wednesday week weeks year years z";

/// Length of the longest one.
const LONGEST_TEMPORAL: usize = 12;

/// The same as a set.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| TEMPORAL.split(' ').collect());

/// Whether it is a word of dates.
fn is_temporal(word: &str) -> bool {
    if word.len() > LONGEST_TEMPORAL {
        return false;
    }
    let lower = word.to_lowercase();
    KNOWN.contains(lower.as_str())
}

/// Whether a character is a word by itself: Han, kana, hangul.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a mark holds the two parts of a word together.
fn holds(mark: char) -> bool {
    matches!(mark, '.' | ',' | ':' | '-' | '_' | '\'' | '’' | '/' | '@' | '+' | '%')
}

/// The words of a text.
pub(crate) fn words(text: &str) -> Vec<ClassedWord<'_>> {
    let mut out = Vec::with_capacity(text.len() / 5);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = end_of_word(rest, first);
        let (word, after) = rest.split_at(end);
        out.push(ClassedWord { text: word, class: class(word, first) });
        rest = after;
    }
    out
}

fn end_of_word(text: &str, first: char) -> usize {
    if !first.is_alphanumeric() || stands_alone(first) {
        return first.len_utf8();
    }
    let mut end = first.len_utf8();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let inside = holds(c) && next.is_some_and(|next| next.is_alphanumeric() && !stands_alone(next));
        if (stands_alone(c) || !c.is_alphanumeric()) && !inside {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

fn class(word: &str, first: char) -> Class {
    if !first.is_alphanumeric() {
        return Class::Mark;
    }
    let digits = word.chars().any(char::is_numeric);
    let letters = word.chars().any(char::is_alphabetic);
    match (letters, digits) {
        (true, true) => Class::Mixed,
        (false, _) => Class::Digits,
        _ if is_temporal(word) => Class::Temporal,
        _ => Class::Plain,
    }
}

/// Number of words, without punctuation.
pub(crate) fn word_count(words: &[ClassedWord<'_>]) -> usize {
    words.iter().filter(|w| w.class != Class::Mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_together_by_marks_within_and_classed_by_their_characters() {
        let found: Vec<_> =
            words("Sold: 1,234 items (a-b)! 13:40:01, x9f May.").iter().map(|w| (w.text, w.class)).collect();
        use Class::{Digits, Mark, Mixed, Plain, Temporal};
        let expected = [
            ("Sold", Plain),
            (":", Mark),
            ("1,234", Digits),
            ("items", Plain),
            ("(", Mark),
            ("a-b", Plain),
            (")", Mark),
            ("!", Mark),
            ("13:40:01", Digits),
            (",", Mark),
            ("x9f", Mixed),
            ("May", Temporal),
            (".", Mark),
        ];
        assert_eq!(found, expected);
        assert!(words("at 2026-05-12T13:40:01Z")[1].is_clock() && !words("1:2")[0].is_clock());
    }

    #[test]
    fn characters_written_without_spaces_are_words() {
        let found: Vec<_> = words("東京abc 1都").iter().map(|w| w.text).collect();
        assert_eq!(found, ["東", "京", "abc", "1", "都"]);
    }
}
