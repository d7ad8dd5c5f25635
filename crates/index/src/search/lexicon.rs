//! Which words does the collection itself use?
//!
//! The term dictionary answers three questions about a word of a query: on how many pages it is,
//! which other forms of it there are (`sort`, `sorts`, `sorting`), and what was probably meant if
//! there is no such word. Nothing but the collection is consulted: a name that only this site knows
//! is a word like any other, and a word that it never uses is no correction.

use super::Searcher;
use crate::analyze::{
    StemLanguage, irregular_forms, is_function_word, is_of_pairs, other_spellings, words_for_the_same,
};
use crate::error::Result;
use crate::schema::{TAG, TextField};
use std::collections::HashMap;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

/// Words shorter than this have no other forms and are never corrected.
const SHORTEST: usize = 3;
const SHORTEST_CORRECTED: usize = 4;

/// Maximum number of terms examined for one word, and of forms kept.
const MOST_EXAMINED: usize = 3_000;
const MOST_FORMS: usize = 6;

/// What another form of a word counts, compared with the word itself: if it only lacks or has an
/// ending such as the plural's, and otherwise.
pub(super) const ENDING: f32 = 0.9;
pub(super) const OTHER_FORM: f32 = 0.6;

/// What another word for the same thing counts.
const SAME: f32 = 0.3;

/// A word that exists is corrected only if it is on at most this many pages and its neighbour on
/// this many times more.
const RARE: u64 = 3;
const FAR_MORE: u64 = 60;

/// How many corrections are compared with the rest of the query.
const COMPARED: usize = 6;

/// A candidate in place of a word that is not there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) word: String,
    pub(super) pages: u64,
    pub(super) worth: f64,
}

impl Searcher {
    /// Number of pages with a word in their text, or if it is only in titles, URLs or anchor texts,
    /// there.
    pub(super) fn pages_with(&self, word: &str) -> u64 {
        let of = |part: TextField| {
            let engine = self.engine_of(part)?;
            engine.doc_freq(&Term::from_field_text(part.field(), word)).ok()
        };
        let about = TextField::OWN.iter().chain(&[TextField::Anchor]).filter_map(|part| of(*part)).max().unwrap_or(0);
        // Around the texts alone it is on few pages, whatever their number: menus lead there.
        if about == 0 { of(TextField::Around).unwrap_or(0).min(1) } else { about }
    }

    /// Whether a page is named with this word, in its title, a heading or a link to it.
    fn is_a_name(&self, word: &str) -> bool {
        [TextField::Title, TextField::Headings, TextField::Anchor].into_iter().any(|part| {
            let engine = self.engine_of(part);
            engine.is_some_and(|engine| {
                engine.doc_freq(&Term::from_field_text(part.field(), word)).is_ok_and(|pages| pages > 0)
            })
        })
    }

    /// Inverse document frequency of a word that is on this many pages.
    #[expect(clippy::cast_precision_loss, reason = "a logarithm")]
    pub(super) fn rarity(&self, pages: u64) -> f32 {
        let all = self.engine.num_docs().max(pages) as f32;
        (1.0 + (all - pages as f32 + 0.5) / (pages as f32 + 0.5)).ln()
    }

    /// The language of most pages, as its code.
    pub(super) fn language(&self) -> &str {
        self.language.get_or_init(|| {
            let mut counts: HashMap<String, u64> = HashMap::new();
            let _ = self.each_term(TAG, "lang=", |tag, pages| {
                let code = tag.trim_start_matches("lang=");
                if code.len() == 2 {
                    *counts.entry(code.to_owned()).or_default() += pages;
                }
            });
            let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
            most.map_or_else(|| "en".to_owned(), |(code, _)| code)
        })
    }

    /// Whether a word only holds others together, in the collection's language.
    pub(super) fn is_function_word(&self, word: &str) -> bool {
        is_function_word(word, Some(self.language()))
    }

    /// Calls back with the terms of a field that have a prefix and the number of their pages, of
    /// each segment.
    pub(super) fn each_term(
        &self,
        field: tantivy::schema::Field,
        start: &str,
        mut tell: impl FnMut(&str, u64),
    ) -> Result<()> {
        for segment in self.engine.segment_readers() {
            let index = segment.inverted_index(field).map_err(|e| self.failed(&e))?;
            let mut terms = index.terms().range().ge(start).into_stream().map_err(|e| self.failed(&e.into()))?;
            let mut examined = 0;
            while let Some((term, place)) = terms.next() {
                examined += 1;
                if !term.starts_with(start.as_bytes()) || examined > MOST_EXAMINED {
                    break;
                }
                if let Ok(term) = std::str::from_utf8(term) {
                    tell(term, u64::from(place.doc_freq));
                }
            }
        }
        Ok(())
    }

    /// The other forms of a word that the collection uses, and what each counts.
    pub(super) fn inflections(&self, word: &str) -> Result<Vec<(String, f32)>> {
        let mut forms = self.regular_forms(word)?;
        for other in irregular_forms(word, self.language()) {
            if self.pages_with(other) > 0 && forms.iter().all(|(form, _)| form != other) {
                forms.push((other.to_owned(), OTHER_FORM));
            }
        }
        for other in other_spellings(word, self.language()) {
            if self.pages_with(&other) > 0 && forms.iter().all(|(form, _)| *form != other) {
                forms.push((other, ENDING));
            }
        }
        Ok(forms)
    }

    /// Other words for the same thing that the collection uses, in all their forms, and what each
    /// counts.
    pub(super) fn words_for_the_same(&self, word: &str, forms: &[(String, f32)]) -> Result<Vec<(String, f32)>> {
        let known = |other: &str| other == word || forms.iter().any(|(form, _)| form == other);
        let mut out: Vec<(String, f32)> = Vec::new();
        for form in std::iter::once(word).chain(forms.iter().map(|(form, _)| form.as_str())) {
            for other in words_for_the_same(form, self.language()).filter(|other| !known(other)) {
                let others = self.inflections(other)?.into_iter().map(|(other, worth)| (other, SAME * worth));
                out.extend(std::iter::once((other.to_owned(), SAME)).chain(others));
            }
        }
        out.retain(|(other, _)| !known(other) && self.pages_with(other) > 0);
        out.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        out.dedup_by(|a, b| a.0 == b.0);
        Ok(out)
    }

    /// Whether the collection uses another word for the same thing.
    pub(super) fn has_another(&self, word: &str) -> bool {
        words_for_the_same(word, self.language()).any(|other| self.pages_with(other) > 0)
    }

    /// The forms that an ending tells.
    fn regular_forms(&self, word: &str) -> Result<Vec<(String, f32)>> {
        let language = StemLanguage::of(self.language());
        let Some(language) = language.filter(|_| is_inflected(word)) else { return Ok(Vec::new()) };
        let Some(stem) = language.stems(std::iter::once(word)).pop() else { return Ok(Vec::new()) };
        let shared = word.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
        let Some(start) = word.get(..shared).filter(|start| start.len() >= SHORTEST) else { return Ok(Vec::new()) };
        let mut pages: HashMap<String, u64> = HashMap::new();
        self.each_term(TextField::Body.field(), start, |term, of| {
            if term != word && term.len() <= word.len() + 5 && term.bytes().all(|b| b.is_ascii_alphabetic()) {
                *pages.entry(term.to_owned()).or_default() += of;
            }
        })?;
        let mut terms: Vec<(String, u64)> = pages.into_iter().collect();
        terms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let stems = language.stems(terms.iter().map(|(term, _)| term.as_str()));
        let same = terms.into_iter().zip(stems).filter(|(_, other)| *other == stem);
        Ok(same.take(MOST_FORMS).map(|((term, _), _)| (worth_of(word, &term), term)).map(|(w, t)| (t, w)).collect())
    }

    /// What was probably meant by a word that no page has, or hardly any; best first.
    pub(super) fn neighbours(&self, word: &str) -> Result<Vec<Neighbour>> {
        let letters = word.chars().count();
        if letters < SHORTEST_CORRECTED || is_of_pairs(word) || !word.chars().all(char::is_alphabetic) {
            return Ok(Vec::new());
        }
        let own = self.pages_with(word);
        if own > RARE || (own > 0 && self.is_a_name(word)) {
            return Ok(Vec::new());
        }
        let distance = if letters <= 5 { 1 } else { 2 };
        let mut pages: HashMap<String, u64> = HashMap::new();
        let fail = |e| self.failed(&e);
        for part in [TextField::Body, TextField::Title] {
            let query = FuzzyTermQuery::new(Term::from_field_text(part.field(), word), distance, true);
            for segment in self.engine.segment_readers() {
                let index = segment.inverted_index(part.field()).map_err(fail)?;
                let near = index.terms().search(query.automaton().map_err(fail)?).into_stream();
                let mut near = near.map_err(|e| self.failed(&e.into()))?;
                while let Some((term, place)) = near.next() {
                    if let Ok(term) = std::str::from_utf8(term) {
                        *pages.entry(term.to_owned()).or_default() += u64::from(place.doc_freq);
                    }
                }
            }
        }
        pages.remove(word);
        pages.retain(|_, pages| *pages > own * FAR_MORE);
        let mut found: Vec<Neighbour> = pages.into_iter().map(|(other, pages)| neighbour(word, other, pages)).collect();
        found.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.word.cmp(&b.word)));
        found.truncate(COMPARED);
        Ok(found)
    }
}

/// Whether a word may have other forms: it is long enough and no number.
fn is_inflected(word: &str) -> bool {
    word.len() >= SHORTEST && word.bytes().all(|b| b.is_ascii_alphabetic())
}

/// What another form of a word counts.
fn worth_of(word: &str, other: &str) -> f32 {
    let (short, long) = if word.len() < other.len() { (word, other) } else { (other, word) };
    let ending = long.strip_prefix(short);
    if matches!(ending, Some("s" | "es" | "n" | "en" | "e")) { ENDING } else { OTHER_FORM }
}

/// A neighbour with its worth: frequent words are more likely meant, and one edit more likely than
/// two. People seldom mistake the first letter.
#[expect(clippy::cast_precision_loss, reason = "a logarithm")]
fn neighbour(word: &str, other: String, pages: u64) -> Neighbour {
    let edits = edits(word, &other);
    let first = if word.chars().next() == other.chars().next() { 0.0 } else { 2.0 };
    let worth = (1.0 + pages as f64).ln() - 2.5 * f64::from(edits) - first;
    Neighbour { word: other, pages, worth }
}

/// Edit distance with transpositions (Damerau–Levenshtein).
fn edits(a: &str, b: &str) -> u32 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut last): (Vec<u32>, Vec<u32>) = (Vec::new(), (0..).take(b.len() + 1).collect());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![last[0] + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + u32::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}
