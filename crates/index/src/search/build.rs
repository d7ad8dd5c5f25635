//! How is a query translated for the engine?
//!
//! Every word becomes a sum over the fields. Plain words are soft clauses: a page need not have all
//! of them, only enough, weighed by rarity, so that a common word is not missed and a rare one is.
//! Phrases, words after `+` or in a named field, groups and filters are required.

use super::Searcher;
use super::gather::MOST_SOFT;
use super::hits::HitsQuery;
use super::reading::QueryReading;
use super::source::{Clause, MatchSource, QueryPlan, SoftClause, any_of, as_query};
use super::units::QueryUnit;
use crate::analyze::{Stems, is_of_pairs, words};
use crate::entry::EVERY;
use crate::query::{Filter, How, Leaf, Node};
use crate::rank::Weights;
use crate::schema::{AT, TAG, TextField};
use std::ops::Bound;
use std::sync::Arc;
use tantivy::Term;
use tantivy::query::{ConstScoreQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;

/// A word in the text counts this many times more here than when a page is judged, so that what is
/// said nowhere else is judged at all.
const IN_TEXT: f32 = 4.0;

/// The context in which a query is built.
pub(super) struct Builder<'a> {
    pub(super) own: &'a Searcher,
    pub(super) reading: &'a QueryReading,
    pub(super) units: &'a [QueryUnit],
    pub(super) stems: &'a Stems,
    pub(super) weights: &'a Weights,
    /// The next unit, as the leaves are gone through in the same order.
    pub(super) next: usize,
    pub(super) anchored: Vec<(usize, HitsQuery)>,
}

impl Builder<'_> {
    /// Builds the whole query.
    pub(super) fn plan(mut self) -> crate::Result<QueryPlan> {
        let reading = self.reading;
        let (mut clauses, mut soft) = (Vec::new(), Vec::new());
        match &reading.node {
            Node::And(nodes) => self.all(nodes, &mut clauses, &mut soft)?,
            node => clauses = self.build(node)?,
        }
        Ok(QueryPlan { clauses, soft, anchored: self.anchored })
    }

    fn build(&mut self, node: &Node) -> crate::Result<Vec<Clause>> {
        match node {
            Node::And(nodes) => {
                let mut clauses = Vec::new();
                for node in nodes {
                    clauses.push(self.firm(node)?);
                }
                Ok(with_any_required(clauses))
            }
            other => Ok(with_any_required(vec![self.firm(other)?])),
        }
    }

    /// A clause that is required, or excludes.
    fn firm(&mut self, node: &Node) -> crate::Result<Clause> {
        Ok(match node {
            Node::Not(node) => Clause::new(Occur::MustNot, self.excluded(node)?),
            Node::Filter(filter) => Clause::new(Occur::Must, vec![narrowing(filter)]),
            node => Clause::new(Occur::Must, self.sources(node)?),
        })
    }

    /// The sources of a node, any of which matches.
    fn sources(&mut self, node: &Node) -> crate::Result<Vec<MatchSource>> {
        match node {
            Node::All => Ok(vec![every()]),
            Node::Filter(filter) => Ok(vec![narrowing(filter)]),
            Node::Leaf(leaf) => {
                let unit = self.next;
                self.next += 1;
                let units = self.units;
                self.leaf(leaf, units.get(unit), Some(unit))
            }
            Node::Or(nodes) => {
                let each: Vec<_> = nodes.iter().map(|node| self.sources(node)).collect::<crate::Result<_>>()?;
                Ok(each.into_iter().flatten().collect())
            }
            Node::And(_) | Node::Not(_) => Ok(vec![MatchSource::Query(as_query(&self.build(node)?).into())]),
        }
    }

    /// The sources of what is excluded, which is no unit of the query.
    fn excluded(&mut self, node: &Node) -> crate::Result<Vec<MatchSource>> {
        match node {
            Node::Leaf(leaf) => self.leaf(leaf, None, None),
            Node::Or(nodes) => {
                let each: Vec<_> = nodes.iter().map(|node| self.excluded(node)).collect::<crate::Result<_>>()?;
                Ok(each.into_iter().flatten().collect())
            }
            Node::And(nodes) => {
                let mut clauses = Vec::new();
                for node in nodes {
                    let occur = if matches!(node, Node::Not(_)) { Occur::MustNot } else { Occur::Must };
                    let inner = if let Node::Not(inner) = node { inner } else { node };
                    clauses.push(Clause::new(occur, self.excluded(inner)?));
                }
                Ok(vec![MatchSource::Query(as_query(&with_any_required(clauses)).into())])
            }
            Node::Not(node) => {
                let clauses = with_any_required(vec![Clause::new(Occur::MustNot, self.excluded(node)?)]);
                Ok(vec![MatchSource::Query(as_query(&clauses).into())])
            }
            Node::All => Ok(vec![every()]),
            Node::Filter(filter) => Ok(vec![narrowing(filter)]),
        }
    }

    /// The clauses of a query: those that are firm, and plain words, of which enough must match.
    fn all(&mut self, nodes: &[Node], clauses: &mut Vec<Clause>, soft: &mut Vec<SoftClause>) -> crate::Result<()> {
        for node in nodes {
            match node {
                Node::Leaf(leaf) if leaf.part.is_none() && !leaf.required => {
                    let weight =
                        self.units.get(self.next).map_or(0.0, |unit| if unit.exists { unit.rarity } else { 0.0 });
                    let sources = self.sources(node)?;
                    soft.push(SoftClause { weight, sources });
                }
                node => clauses.push(self.firm(node)?),
            }
        }
        soft.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for clause in soft.drain(MOST_SOFT.min(soft.len())..) {
            clauses.push(Clause::new(Occur::Should, clause.sources));
        }
        if soft.len() == 1 {
            clauses.extend(soft.pop().map(|clause| Clause::new(Occur::Must, clause.sources)));
        }
        if soft.is_empty() {
            *clauses = with_any_required(std::mem::take(clauses));
        }
        Ok(())
    }

    fn leaf(
        &mut self,
        leaf: &Leaf,
        unit: Option<&QueryUnit>,
        number: Option<usize>,
    ) -> crate::Result<Vec<MatchSource>> {
        let cut = cut(&leaf.text);
        let only = leaf.part.map(|part| [part]);
        let parts = only.as_ref().map_or(TextField::ALL, |only| only.as_slice());
        let mut out = Vec::new();
        for part in parts.iter().copied() {
            let term = |word: &str| Term::from_field_text(part.field(), word);
            let mut sources = match (&leaf.how, cut.as_slice()) {
                (_, []) => Vec::new(),
                (How::Exactly | How::Phrase, [word]) => self.word(word, part, unit),
                (How::Beginning, [word]) => vec![as_source(FuzzyTermQuery::new_prefix(term(word), 0, true))],
                (How::Nearly(distance), [word]) => vec![as_source(FuzzyTermQuery::new(term(word), *distance, true))],
                (_, words) => self.phrase(words, part),
            };
            if part == TextField::Anchor {
                sources = self.joined(&sources, number)?;
            }
            let weight = self.weights.of(part) * if part == TextField::Body { IN_TEXT } else { 1.0 };
            out.extend(sources.into_iter().map(|source| source.times(weight)));
        }
        Ok(out)
    }

    /// A term with its other forms, and its stems if words are stemmed; a single character of a
    /// bigram script is a prefix.
    fn word(&self, word: &str, part: TextField, unit: Option<&QueryUnit>) -> Vec<MatchSource> {
        let term = |word: &str| Term::from_field_text(part.field(), word);
        if is_of_pairs(word) && word.chars().count() == 1 {
            return vec![as_source(FuzzyTermQuery::new_prefix(term(word), 0, true))];
        }
        let mut sources: Vec<MatchSource> =
            self.stems.forms(word).iter().map(|form| MatchSource::Word(term(form), 1.0)).collect();
        let Some(unit) = unit else { return sources };
        for form in unit.forms.iter().skip(1) {
            if let [other] = form.tokens.as_slice() {
                // A rare form does not make the word rarer.
                let share = (unit.rarity / self.own.rarity(self.own.pages_with(other))).min(1.0);
                sources.push(MatchSource::Word(term(other), form.worth * share));
            }
        }
        sources
    }

    /// A phrase, and if words are stemmed, the phrase of stems in each language.
    fn phrase(&self, words: &[String], part: TextField) -> Vec<MatchSource> {
        let forms: Vec<Vec<String>> = words.iter().map(|word| self.stems.forms(word)).collect();
        let most = forms.iter().map(Vec::len).max().unwrap_or(1);
        let row = |which: usize| {
            let form = |forms: &Vec<String>| Term::from_field_text(part.field(), &forms[which.min(forms.len() - 1)]);
            as_source(PhraseQuery::new(forms.iter().map(form).collect()))
        };
        (0..most).map(row).collect()
    }

    /// Matches in the anchor index, mapped to page documents.
    fn joined(&mut self, sources: &[MatchSource], unit: Option<usize>) -> crate::Result<Vec<MatchSource>> {
        let Some(anchors) = &self.own.anchors else { return Ok(Vec::new()) };
        let join = self.own.join(anchors)?;
        let hits = HitsQuery::of(any_of(sources).as_ref(), anchors, join, &self.own.engine)?;
        let Some(hits) = hits else { return Ok(Vec::new()) };
        self.anchored.extend(unit.map(|unit| (unit, hits.clone())));
        Ok(vec![MatchSource::Hits(hits, 1.0)])
    }
}

/// The clauses, with every page required if nothing else is.
fn with_any_required(mut clauses: Vec<Clause>) -> Vec<Clause> {
    if !clauses.iter().any(|clause| clause.occur == Occur::Must) {
        clauses.push(Clause::new(Occur::Must, vec![every()]));
    }
    clauses
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
pub(super) fn cut(text: &str) -> Vec<String> {
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
