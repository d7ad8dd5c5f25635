//! How is a query understood, given the words of the collection?
//!
//! - Function words ("how do I …") are dropped as long as other words remain. In quotation marks,
//!   or
//!   after `+`, they are searched for.
//! - A word that no page has, or hardly any, is replaced by its most likely neighbour in the
//!   dictionary, or split in two (`pushBack`), and the answer says so. `+word` insists.
//! - An identifier that no page has is searched for by its components: `std::string::find` where
//!   pages say `basic_string::find`.
//! - A word stands for its other forms too (`sort`: `sorting`), and for what it gives together with
//!   its neighbours (`file name`: `filename`); in a question also for other words
//!   that mean the same.

use super::Searcher;
use super::gather::{SoftClauses, gather};
use super::lexicon::{ENDING, Neighbour};
use super::source::{Clause, MatchSource};
use crate::analyze::{IndexToken, begins_question, is_of_pairs, without_contraction, words};
use crate::error::Result;
use crate::query::{How, Leaf, Node};
use crate::schema::TextField;
use std::collections::HashMap;
use std::sync::Arc;
use tantivy::Term;
use tantivy::query::{Occur, PhraseQuery};

/// Other forms than the one typed, and what each counts.
type OtherForms = Vec<(String, f32)>;

/// What two words in one count.
const COMPOUND: f32 = 0.7;

/// Words joined to a compound at most.
const JOINED: usize = 3;

/// A part of a word must have at least this many letters to be split off.
const SHORTEST_PART: usize = 3;

/// A word of the query that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpellingCorrection {
    /// As typed.
    pub typed: String,
    /// What was searched for instead.
    pub used: String,
}

/// A query as it is searched for.
#[derive(Debug)]
pub(super) struct QueryReading {
    pub(super) node: Node,
    pub(super) corrections: Vec<SpellingCorrection>,
    /// For each word, its other forms.
    pub(super) forms: HashMap<String, OtherForms>,
    /// Whether it is a question in words.
    pub(super) is_question: bool,
}

impl Searcher {
    /// Reads a query; with `inflect` words stand for their other forms, too.
    pub(super) fn read(&self, node: Node, inflect: bool) -> Result<QueryReading> {
        let node = self.in_full(node);
        let is_question = self.is_question(&node);
        let node = self.in_components(self.telling(node))?;
        let mut reading = QueryReading { node, corrections: Vec::new(), forms: HashMap::new(), is_question };
        let mut leaves = Vec::new();
        plain_leaves(&mut reading.node, &mut leaves);
        let known = self.known_words(&leaves);
        let has_another = |leaf: &Leaf| is_question && single(leaf).is_some_and(|word| self.has_another(&word));
        for leaf in leaves.iter_mut().filter(|leaf| !has_another(leaf)) {
            if let Some(correction) = self.correct(leaf, &known)? {
                reading.corrections.push(correction);
            }
        }
        if inflect {
            for word in leaves.iter().filter_map(|leaf| single(leaf)) {
                let mut forms = self.inflections(&word)?;
                if is_question {
                    forms.extend(self.words_for_the_same(&word, &forms)?);
                }
                reading.forms.insert(word, forms);
            }
            for word in leaves.iter().filter_map(|leaf| words(&leaf.text).pop()).map(|last| last.text) {
                let ending = self.inflections(&word)?.into_iter().filter(|(_, worth)| *worth >= ENDING);
                reading.forms.entry(word).or_insert_with(|| ending.collect());
            }
        }
        self.compounds(&reading.node, &mut reading.forms);
        Ok(reading)
    }

    /// The query with contracted words as they are in full: *what* for `what's`, *python* for
    /// `python's`.
    fn in_full(&self, node: Node) -> Node {
        let Node::And(nodes) = node else { return node };
        let in_full = |node| match node {
            Node::Leaf(leaf) if is_plain(&leaf) => {
                let text = without_contraction(&leaf.text, self.language()).to_owned();
                Node::Leaf(Leaf { text, ..leaf })
            }
            other => other,
        };
        Node::And(nodes.into_iter().map(in_full).collect())
    }

    /// Whether a query begins, or ends, as a question does.
    fn is_question(&self, node: &Node) -> bool {
        let Node::And(nodes) = node else { return false };
        let plain = |node: Option<&Node>| match node {
            Some(Node::Leaf(leaf)) if is_plain(leaf) => Some(leaf.clone()),
            _ => None,
        };
        let begins = |leaf: Leaf| single(&leaf).is_some_and(|word| begins_question(&word, self.language()));
        let ends = |leaf: Leaf| leaf.text.ends_with(['?', '？']);
        plain(nodes.first()).is_some_and(begins) || plain(nodes.last()).is_some_and(ends)
    }

    /// The query without function words, unless it has nothing else.
    fn telling(&self, node: Node) -> Node {
        let Node::And(nodes) = node else { return node };
        let is_loose = |node: &Node| match node {
            Node::Leaf(leaf) if is_plain(leaf) => single(leaf).is_some_and(|word| self.is_function_word(&word)),
            _ => false,
        };
        let tells = |node: &Node| !is_loose(node) && !matches!(node, Node::Not(_) | Node::Filter(_) | Node::All);
        if !nodes.iter().any(tells) {
            return Node::And(nodes);
        }
        let mut kept: Vec<Node> = nodes.into_iter().filter(|node| !is_loose(node)).collect();
        if kept.len() == 1 { kept.remove(0) } else { Node::And(kept) }
    }

    /// The query with identifiers that no page has replaced by their components.
    fn in_components(&self, node: Node) -> Result<Node> {
        let (is_list, nodes) = match node {
            Node::And(nodes) => (true, nodes),
            other => (false, vec![other]),
        };
        let mut out = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Leaf(leaf) if is_plain(&leaf) && self.is_unknown_identifier(&leaf)? => {
                    let component = |text: &str| Node::Leaf(Leaf { text: text.to_owned(), ..leaf.clone() });
                    out.extend(components(&leaf.text).map(component));
                }
                other => out.push(other),
            }
        }
        Ok(if is_list || out.len() > 1 { Node::And(out) } else { out.pop().unwrap_or(Node::All) })
    }

    /// Whether a leaf has several components, all of which exist, but nowhere together.
    fn is_unknown_identifier(&self, leaf: &Leaf) -> Result<bool> {
        if components(&leaf.text).nth(1).is_none() {
            return Ok(false);
        }
        let tokens: Vec<String> = words(&leaf.text).into_iter().map(|word| word.text).collect();
        if tokens.iter().any(|word| is_of_pairs(word) || self.pages_with(word) == 0) {
            return Ok(false);
        }
        for part in [TextField::Body, TextField::Title, TextField::Headings, TextField::Url, TextField::Around] {
            let terms = tokens.iter().map(|word| Term::from_field_text(part.field(), word)).collect();
            let phrase = MatchSource::Query(Arc::new(PhraseQuery::new(terms)));
            let clause = Clause::new(Occur::Must, vec![phrase]);
            if gather(&self.engine, &[clause], &SoftClauses::NONE, 1).map_err(|e| self.failed(&e))?.total > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The words of the query that exist, rarest first.
    fn known_words(&self, leaves: &[&mut Leaf]) -> Vec<String> {
        let tokens = leaves.iter().flat_map(|leaf| words(&leaf.text)).map(|word| word.text);
        let mut known: Vec<(u64, String)> = tokens.map(|word| (self.pages_with(&word), word)).collect();
        known.retain(|(pages, _)| *pages > 0);
        known.sort();
        known.into_iter().map(|(_, word)| word).collect()
    }

    /// Corrects the words of a leaf.
    fn correct(&self, leaf: &mut Leaf, known: &[String]) -> Result<Option<SpellingCorrection>> {
        let tokens = words(&leaf.text);
        let mut text = leaf.text.clone();
        let mut changed = false;
        for token in tokens.iter().rev() {
            if let Some(better) = self.better(leaf, token, known)? {
                text.replace_range(token.from..token.to, &better);
                changed = true;
            }
        }
        if !changed {
            return Ok(None);
        }
        let typed = std::mem::replace(&mut leaf.text, text.clone());
        Ok(Some(SpellingCorrection { typed, used: text }))
    }

    /// What to search for in place of a word, if it should be replaced.
    fn better(&self, leaf: &Leaf, token: &IndexToken, known: &[String]) -> Result<Option<String>> {
        let neighbours = self.neighbours(&token.text)?;
        if let Some(best) = self.most_likely(&neighbours, known.iter().find(|word| **word != token.text))? {
            return Ok(Some(best.word.clone()));
        }
        if self.pages_with(&token.text) > 0 || is_of_pairs(&token.text) {
            return Ok(None);
        }
        let written = leaf.text.get(token.from..token.to).unwrap_or_default();
        Ok(self.parts(written))
    }

    /// The neighbour that goes best with another word of the query.
    fn most_likely<'n>(&self, found: &'n [Neighbour], other: Option<&String>) -> Result<Option<&'n Neighbour>> {
        let Some(other) = other else { return Ok(found.first()) };
        let mut best: Option<(f64, &Neighbour)> = None;
        for one in found {
            let worth = one.worth + self.attraction(&one.word, one.pages, other)?;
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, one));
            }
        }
        Ok(best.map(|(_, one)| one))
    }

    /// How much more often two words share a page than by chance, as a bounded logarithm.
    #[expect(clippy::cast_precision_loss, reason = "a logarithm")]
    fn attraction(&self, word: &str, pages: u64, other: &str) -> Result<f64> {
        let clause = |word: &str| {
            let term = Term::from_field_text(TextField::Body.field(), word);
            Clause::new(Occur::Must, vec![MatchSource::Word(term, 1.0)])
        };
        let both = gather(&self.engine, &[clause(word), clause(other)], &SoftClauses::NONE, 1)
            .map_err(|e| self.failed(&e))?
            .total;
        let chance = pages as f64 * self.pages_with(other) as f64 / (self.engine.num_docs().max(1) as f64);
        Ok(((both as f64 + 0.2) / (chance + 0.2)).ln().clamp(-2.0, 2.0))
    }

    /// A word that does not exist as two that do: where its letter case says so, or anywhere.
    fn parts(&self, written: &str) -> Option<String> {
        let both = |at: usize| {
            let (a, b) = written.split_at_checked(at)?;
            let (a, b) = (Self::as_kept(a)?, Self::as_kept(b)?);
            let long = a.len().min(b.len()) >= SHORTEST_PART;
            let pages = self.pages_with(&a).min(self.pages_with(&b));
            (long && pages > 0).then(|| (pages, format!("{a}_{b}")))
        };
        let is_hump = |(_, pair): &(usize, (char, char))| pair.0.is_lowercase() && pair.1.is_uppercase();
        let pairs =
            || written.char_indices().zip(written.chars().skip(1)).map(|((at, a), b)| (at + a.len_utf8(), (a, b)));
        let hump = pairs().filter(is_hump).filter_map(|(at, _)| both(at)).max();
        let anywhere = || pairs().take(64).filter_map(|(at, _)| both(at)).max();
        hump.or_else(anywhere).map(|(_, parts)| parts)
    }

    /// Adds to adjacent words of the query what they are in one word.
    fn compounds(&self, node: &Node, forms: &mut HashMap<String, OtherForms>) {
        let Node::And(nodes) = node else { return };
        let word = |node: &Node| match node {
            Node::Leaf(leaf) if is_plain(leaf) => single(leaf).filter(|word| !is_of_pairs(word)),
            _ => None,
        };
        let words: Vec<Option<String>> = nodes.iter().map(word).collect();
        for count in 2..=JOINED {
            for row in words.windows(count) {
                let Some(row) = row.iter().cloned().collect::<Option<Vec<String>>>() else { continue };
                let joined = row.concat();
                if self.pages_with(&joined) == 0 {
                    continue;
                }
                for word in row {
                    let known = forms.entry(word).or_default();
                    if known.iter().all(|(form, _)| *form != joined) {
                        known.push((joined.clone(), COMPOUND));
                    }
                }
            }
        }
    }
}

/// Whether a leaf is a word or an identifier as typed, in any field, and not insisted upon.
pub(super) fn is_plain(leaf: &Leaf) -> bool {
    leaf.how == How::Exactly && leaf.part.is_none() && !leaf.required
}

/// The one token of a leaf.
pub(super) fn single(leaf: &Leaf) -> Option<String> {
    Searcher::as_kept(&leaf.text)
}

/// The components of a qualified name.
fn components(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !words(part).is_empty())
}

/// The plain leaves of a query, in order.
fn plain_leaves<'n>(node: &'n mut Node, out: &mut Vec<&'n mut Leaf>) {
    match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.iter_mut().for_each(|node| plain_leaves(node, out)),
        Node::Leaf(leaf) if is_plain(leaf) => out.push(leaf),
        Node::Leaf(_) | Node::Not(_) | Node::All | Node::Filter(_) => {}
    }
}
