//! Which things does a query ask for, and how rare is each?
//!
//! A unit is a word with its other forms, or words that belong together: an identifier, a phrase.
//! A page is judged by the units it has, each weighed by its rarity.

use super::Searcher;
use super::build::cut;
use super::lexicon::OTHER_FORM;
use super::reading::{QueryReading, single};
use crate::analyze::{is_light_in_question, is_of_pairs};
use crate::error::Result;
use crate::query::{How, Leaf, Node};
use crate::schema::TextField;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

/// What the last component of a qualified name counts alone: `vector` of `std::vector`.
const LAST_COMPONENT: f32 = 0.4;

/// Further words of a phrase make it rarer by this part of their own rarity.
const FURTHER: f32 = 0.3;

/// What a word counts that says little in a question.
const LIGHT: f32 = 0.3;

/// Maximum number of terms that a prefix or a fuzzy word stands for when a page is judged.
const MOST_TERMS: usize = 32;

/// A way to write a unit: tokens in a row, and what an occurrence counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrittenForm {
    pub(super) tokens: Vec<String>,
    pub(super) worth: f32,
}

/// A word, an identifier or a phrase of the query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryUnit {
    /// As typed, or as corrected.
    pub(super) text: String,
    pub(super) forms: Vec<WrittenForm>,
    /// The only field in which it counts.
    pub(super) part: Option<TextField>,
    /// Its inverse document frequency.
    pub(super) rarity: f32,
    /// Whether any page has it.
    pub(super) exists: bool,
}

impl QueryUnit {
    /// Number of its tokens.
    pub(super) fn len(&self) -> usize {
        self.forms.first().map_or(1, |form| form.tokens.len())
    }
}

impl Searcher {
    /// The units of a query, in order.
    pub(super) fn units(&self, reading: &QueryReading) -> Result<Vec<QueryUnit>> {
        let mut leaves = Vec::new();
        positive(&reading.node, &mut leaves);
        leaves.into_iter().map(|leaf| self.unit(leaf, reading)).collect()
    }

    /// The unit of one leaf.
    pub(super) fn unit(&self, leaf: &Leaf, reading: &QueryReading) -> Result<QueryUnit> {
        let tokens = cut(&leaf.text);
        let forms = match leaf.how {
            How::Beginning | How::Nearly(_) if tokens.len() == 1 => self.expanded(leaf, &tokens[0])?,
            _ => written(leaf, &tokens, reading),
        };
        let pages = |word: &String| if is_short_pair(word) { 1 } else { self.pages_with(word) };
        let (rarity, exists) = match tokens.as_slice() {
            // A word is as common as its most common form; other words for the same count only if
            // there is none.
            [_] => {
                let most = |least: f32| {
                    let forms = forms.iter().filter(|form| form.worth >= least);
                    forms.flat_map(|form| &form.tokens).map(pages).max().filter(|most| *most > 0)
                };
                let most = most(OTHER_FORM).or_else(|| most(0.0)).unwrap_or(0);
                (self.rarity(most), most > 0)
            }
            _ => {
                let mut rarities: Vec<f32> = tokens.iter().map(|word| self.rarity(pages(word))).collect();
                rarities.sort_by(|a, b| b.total_cmp(a));
                let further: f32 = rarities.iter().skip(1).sum();
                (rarities.first().copied().unwrap_or(0.0) + FURTHER * further, tokens.iter().all(|w| pages(w) > 0))
            }
        };
        let light = reading.is_question && tokens.iter().all(|word| is_light_in_question(word, self.language()));
        let rarity = if light { LIGHT * rarity } else { rarity };
        Ok(QueryUnit { text: leaf.text.clone(), forms, part: leaf.part, rarity, exists })
    }

    /// The most frequent terms that a prefix or a fuzzy word stands for.
    fn expanded(&self, leaf: &Leaf, word: &str) -> Result<Vec<WrittenForm>> {
        let part = leaf.part.filter(|part| *part != TextField::Anchor).unwrap_or(TextField::Body);
        let term = Term::from_field_text(part.field(), word);
        let query = match leaf.how {
            How::Nearly(distance) => FuzzyTermQuery::new(term, distance, true),
            _ => FuzzyTermQuery::new_prefix(term, 0, true),
        };
        let mut terms: std::collections::HashMap<String, u64> = std::collections::HashMap::new();
        for segment in self.engine.segment_readers() {
            let index = segment.inverted_index(part.field()).map_err(|e| self.failed(&e))?;
            let automaton = query.automaton().map_err(|e| self.failed(&e))?;
            let mut found = index.terms().search(automaton).into_stream().map_err(|e| self.failed(&e.into()))?;
            while let Some((term, place)) = found.next() {
                if let Ok(term) = std::str::from_utf8(term) {
                    *terms.entry(term.to_owned()).or_default() += u64::from(place.doc_freq);
                }
            }
        }
        let mut terms: Vec<(u64, String)> = terms.into_iter().map(|(term, pages)| (pages, term)).collect();
        terms.sort_by(|a, b| b.cmp(a));
        terms.truncate(MOST_TERMS);
        Ok(terms.into_iter().map(|(_, term)| WrittenForm { tokens: vec![term], worth: 1.0 }).collect())
    }
}

/// A single character of a script that is indexed as bigrams is no term of its own.
fn is_short_pair(word: &str) -> bool {
    is_of_pairs(word) && word.chars().count() == 1
}

/// The forms of a word, an identifier or a phrase.
fn written(leaf: &Leaf, tokens: &[String], reading: &QueryReading) -> Vec<WrittenForm> {
    let mut forms = vec![WrittenForm { tokens: tokens.to_vec(), worth: 1.0 }];
    if leaf.how != How::Exactly || leaf.required {
        return forms;
    }
    if let Some(others) = single(leaf).and_then(|word| reading.forms.get(&word)) {
        forms.extend(others.iter().map(|(form, worth)| WrittenForm { tokens: vec![form.clone()], worth: *worth }));
    }
    // The last of several words may be in the plural or not.
    if let [before @ .., last] = tokens
        && !before.is_empty()
        && let Some(others) = reading.forms.get(last)
    {
        let tokens = |form: &String| before.iter().chain(std::iter::once(form)).cloned().collect();
        forms.extend(others.iter().map(|(form, worth)| WrittenForm { tokens: tokens(form), worth: *worth }));
    }
    let last = leaf.text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|part| !part.is_empty());
    let last = last.map(cut).unwrap_or_default();
    if last.len() < tokens.len() && last.iter().map(String::len).sum::<usize>() > 2 {
        forms.push(WrittenForm { tokens: last, worth: LAST_COMPONENT });
    }
    forms
}

/// The leaves of a query that a page should have, in order.
pub(super) fn positive<'n>(node: &'n Node, out: &mut Vec<&'n Leaf>) {
    match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.iter().for_each(|node| positive(node, out)),
        Node::Leaf(leaf) => out.push(leaf),
        Node::Not(_) | Node::All | Node::Filter(_) => {}
    }
}
