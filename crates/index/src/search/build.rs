//! How is a parsed query translated for the engine?
//!
//! Every term becomes a sum over the fields. All terms are required, but one that occurs in more
//! than a quarter of the pages ("how", "the") is optional as long as a rarer one is required: in a
//! query that is a whole sentence, the rare words carry the meaning. If no page matches all terms,
//! the query is repeated with any of them.

use super::hits::HitsQuery;
use super::join::Join;
use super::source::{Clause, MatchSource, QueryPlan, ScorePart, any_of, as_query};
use crate::analyze::{Stems, is_of_pairs, words};
use crate::anchors::Anchors;
use crate::entry::EVERY;
use crate::query::{Filter, How, Leaf, Node};
use crate::rank::Weights;
use crate::schema::{AT, TAG, TextField};
use std::ops::Bound;
use std::sync::Arc;
use tantivy::query::{ConstScoreQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, Term};

/// Maximum distance (slop) of neighbouring terms, in words.
const NEAR: u32 = 2;

/// The context in which a query is built.
pub(super) struct Builder<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) anchors: Option<&'a Anchors>,
    pub(super) stems: &'a Stems,
    pub(super) weights: &'a Weights,
    /// Maps documents of the anchor index to pages.
    pub(super) join: &'a dyn Fn(&Anchors) -> crate::Result<&'a Join>,
    /// Whether any term is enough.
    pub(super) any: bool,
    pub(super) shares: Vec<ScorePart>,
    pub(super) near: Vec<MatchSource>,
}

/// The fields in which proximity counts.
const NEAR_PARTS: &[TextField] = &[TextField::Title, TextField::Headings, TextField::Body];

impl Builder<'_> {
    /// Builds the whole query.
    pub(super) fn plan(mut self, node: &Node) -> crate::Result<QueryPlan> {
        let clauses = self.build(node)?;
        Ok(QueryPlan { clauses, shares: self.shares, near: self.near })
    }

    fn build(&mut self, node: &Node) -> crate::Result<Vec<Clause>> {
        match node {
            Node::And(nodes) => self.all(nodes),
            Node::Not(node) => {
                let (every, without) = (vec![every()], self.sources(node)?);
                Ok(vec![Clause::new(Occur::Must, every), Clause::new(Occur::MustNot, without)])
            }
            other => Ok(vec![Clause::new(Occur::Must, self.sources(other)?)]),
        }
    }

    /// The sources of a node, any of which matches.
    fn sources(&mut self, node: &Node) -> crate::Result<Vec<MatchSource>> {
        match node {
            Node::All => Ok(vec![every()]),
            Node::Filter(filter) => Ok(vec![narrowing(filter)]),
            Node::Leaf(leaf) => self.leaf(leaf),
            Node::Or(nodes) => {
                let each: Vec<_> = nodes.iter().map(|node| self.sources(node)).collect::<crate::Result<_>>()?;
                Ok(each.into_iter().flatten().collect())
            }
            Node::And(_) | Node::Not(_) => Ok(vec![MatchSource::Query(as_query(&self.build(node)?).into())]),
        }
    }

    fn all(&mut self, nodes: &[Node]) -> crate::Result<Vec<Clause>> {
        let common: Vec<bool> = nodes.iter().map(|node| self.is_common(node)).collect();
        let wanted =
            |(node, common): (&Node, &bool)| matches!(node, Node::Leaf(_) | Node::Or(_) | Node::And(_)) && !common;
        let rare = nodes.iter().zip(&common).any(wanted);
        let (mut clauses, mut enough) = (Vec::new(), Vec::new());
        for (node, common) in nodes.iter().zip(common) {
            match node {
                Node::Not(node) => clauses.push(Clause::new(Occur::MustNot, self.sources(node)?)),
                Node::Filter(filter) => clauses.push(Clause::new(Occur::Must, vec![narrowing(filter)])),
                node if self.any && !is_required(node) => enough.append(&mut self.sources(node)?),
                node if common && rare => clauses.push(Clause::new(Occur::Should, self.sources(node)?)),
                node => clauses.push(Clause::new(Occur::Must, self.sources(node)?)),
            }
        }
        if !enough.is_empty() {
            clauses.push(Clause::new(Occur::Must, enough));
        }
        if !clauses.iter().any(|clause| clause.occur == Occur::Must) {
            clauses.push(Clause::new(Occur::Must, vec![every()]));
        }
        for pair in neighbours(nodes) {
            let near = self.in_parts(&pair.join(" "), NEAR_PARTS, |builder, part| builder.near(&pair, part))?;
            self.near.extend(near);
        }
        Ok(clauses)
    }

    /// Whether a node is a term so common that it says little.
    fn is_common(&self, node: &Node) -> bool {
        let Node::Leaf(leaf) = node else { return false };
        let cut = words(&leaf.text);
        let [word] = cut.as_slice() else { return false };
        let plain = leaf.how == How::Exactly && leaf.part.is_none() && !leaf.required && !is_of_pairs(&word.text);
        let pages = || self.searcher.doc_freq(&Term::from_field_text(TextField::Body.field(), &word.text)).unwrap_or(0);
        plain && pages() > self.searcher.num_docs() / 4
    }

    fn leaf(&mut self, leaf: &Leaf) -> crate::Result<Vec<MatchSource>> {
        let cut = cut(&leaf.text);
        let only = leaf.part.map(|part| [part]);
        let parts = only.as_ref().map_or(TextField::ALL, |only| only.as_slice());
        self.in_parts(&leaf.text, parts, |builder, part| {
            let term = |word: &str| Term::from_field_text(part.field(), word);
            match (&leaf.how, cut.as_slice()) {
                (_, []) => Vec::new(),
                (How::Exactly | How::Phrase, [word]) => builder.word(word, part),
                (How::Beginning, [word]) => vec![as_source(FuzzyTermQuery::new_prefix(term(word), 0, true))],
                (How::Nearly(distance), [word]) => vec![as_source(FuzzyTermQuery::new(term(word), *distance, true))],
                (_, words) => builder.phrase(words, part, 0),
            }
        })
    }

    /// Searches in these fields, with their weights.
    fn in_parts(
        &mut self,
        name: &str,
        parts: &[TextField],
        build: impl Fn(&Self, TextField) -> Vec<MatchSource>,
    ) -> crate::Result<Vec<MatchSource>> {
        let mut out = Vec::new();
        for part in parts.iter().copied() {
            let mut sources = build(self, part);
            if part == TextField::Anchor {
                sources = self.joined(&sources)?;
            }
            let weight = self.weights.of(part);
            sources = sources.into_iter().map(|source| source.times(weight)).collect();
            out.extend(sources.iter().cloned());
            self.shares.push(ScorePart { words: name.to_owned(), part, sources });
        }
        Ok(out)
    }

    /// A term, and its stems if words are stemmed; a single character of a bigram script is a
    /// prefix.
    fn word(&self, word: &str, part: TextField) -> Vec<MatchSource> {
        let term = |word: &str| Term::from_field_text(part.field(), word);
        if is_of_pairs(word) && word.chars().count() == 1 {
            return vec![as_source(FuzzyTermQuery::new_prefix(term(word), 0, true))];
        }
        self.stems.forms(word).iter().map(|form| MatchSource::Word(term(form), 1.0)).collect()
    }

    /// A phrase, and if words are stemmed, the phrase of stems in each language.
    fn phrase(&self, words: &[String], part: TextField, slop: u32) -> Vec<MatchSource> {
        let forms: Vec<Vec<String>> = words.iter().map(|word| self.stems.forms(word)).collect();
        let most = forms.iter().map(Vec::len).max().unwrap_or(1);
        let row = |which: usize| {
            let form = |forms: &Vec<String>| Term::from_field_text(part.field(), &forms[which.min(forms.len() - 1)]);
            let mut query = PhraseQuery::new(forms.iter().map(form).collect());
            query.set_slop(slop);
            as_source(query)
        };
        (0..most).map(row).collect()
    }

    /// Two terms of the query close to each other, in order.
    fn near(&self, pair: &[String; 2], part: TextField) -> Vec<MatchSource> {
        let near = self.phrase(pair, part, if part == TextField::Body { NEAR } else { 1 });
        near.into_iter().map(|source| source.times(self.weights.phrase())).collect()
    }

    /// Matches in the anchor index, mapped to page documents.
    fn joined(&self, sources: &[MatchSource]) -> crate::Result<Vec<MatchSource>> {
        let Some(anchors) = self.anchors else { return Ok(Vec::new()) };
        let hits = HitsQuery::of(any_of(sources).as_ref(), anchors, (self.join)(anchors)?, self.searcher)?;
        Ok(hits.map(|hits| MatchSource::Hits(hits, 1.0)).into_iter().collect())
    }
}

/// Whether the user marked it as required.
fn is_required(node: &Node) -> bool {
    matches!(node, Node::Leaf(leaf) if leaf.required) || matches!(node, Node::All)
}

/// Every page that can be found.
fn every() -> MatchSource {
    narrowing(&Filter::Tag(EVERY.to_owned()))
}

fn as_source(query: impl Query) -> MatchSource {
    MatchSource::Query(Arc::new(query))
}

/// The indexed tokens of a leaf. The last character of a bigram run is dropped, since the previous
/// bigram contains it.
fn cut(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut end = 0;
    for word in words(text) {
        let within = word.to <= end;
        end = word.to;
        if !within {
            out.push(word.text);
        }
    }
    out
}

/// Pairs of single terms that are adjacent in the query.
fn neighbours(nodes: &[Node]) -> Vec<[String; 2]> {
    let single = |node: &Node| match node {
        Node::Leaf(leaf) if leaf.how == How::Exactly && leaf.part.is_none() => {
            let mut words = cut(&leaf.text);
            (words.len() == 1).then(|| words.remove(0))
        }
        _ => None,
    };
    let words: Vec<Option<String>> = nodes.iter().map(single).collect();
    words.windows(2).filter_map(|pair| Some([pair[0].clone()?, pair[1].clone()?])).filter(|[a, b]| a != b).collect()
}

fn narrowing(filter: &Filter) -> MatchSource {
    let query: Box<dyn Query> = match filter {
        Filter::Tag(tag) => Box::new(TermQuery::new(Term::from_field_text(TAG, tag), IndexRecordOption::Basic)),
        Filter::Since(at) => {
            Box::new(RangeQuery::new(Bound::Included(Term::from_field_i64(AT, *at)), Bound::Unbounded))
        }
        Filter::Until(at) => {
            Box::new(RangeQuery::new(Bound::Unbounded, Bound::Excluded(Term::from_field_i64(AT, *at))))
        }
    };
    as_source(ConstScoreQuery::new(query, 0.0))
}
