//! How is what was understood put to the engine?
//!
//! Every word becomes a sum over the fields. All words are wanted, but one that more than a quarter of the pages have ("how", "the") only counts,
//! as long as a rarer one is wanted: who asks a whole sentence means its rare words. Where no page has them all, the same query is put once
//! more with any of them.

use super::hits::{HitsQuery, PageMap};
use crate::analyze::{Stems, is_of_pairs, words};
use crate::anchors::Anchors;
use crate::entry::EVERY;
use crate::query::{Filter, How, Leaf, Node};
use crate::rank::Weights;
use crate::schema::{AT, Part, TAG};
use orb_page::PageId;
use std::ops::Bound;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, RangeQuery,
    TermQuery,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{Score, Searcher, Term};

/// Letters apart that neighbouring words may be, in words.
const NEAR: u32 = 2;

/// A query of the engine with what it stands for, for whoever asks why.
pub(super) struct Share {
    pub(super) words: String,
    pub(super) part: Part,
    pub(super) query: Box<dyn Query>,
}

/// What a query is built with.
pub(super) struct Builder<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) anchors: Option<&'a Anchors>,
    pub(super) stems: &'a Stems,
    pub(super) weights: &'a Weights,
    /// Where every page lies.
    pub(super) map: &'a dyn Fn() -> crate::Result<&'a PageMap>,
    /// Whether one word is enough.
    pub(super) any: bool,
    pub(super) shares: Vec<Share>,
    /// What counts besides for the best: words of the query that are neighbours.
    pub(super) near: Vec<Built>,
}

/// Where neighbours count.
const NEAR_PARTS: &[Part] = &[Part::Title, Part::Headings, Part::Body];

type Built = Box<dyn Query>;

impl Builder<'_> {
    /// The whole query.
    pub(super) fn build(&mut self, node: &Node) -> crate::Result<Built> {
        match node {
            Node::All => Ok(every()),
            Node::Filter(filter) => Ok(narrowing(filter)),
            Node::Leaf(leaf) => self.leaf(leaf),
            Node::Not(node) => {
                let without = vec![(Occur::Must, every()), (Occur::MustNot, self.build(node)?)];
                Ok(Box::new(BooleanQuery::new(without)))
            }
            Node::Or(nodes) => {
                let nodes = nodes.iter().map(|node| self.build(node)).collect::<crate::Result<_>>()?;
                Ok(Box::new(BooleanQuery::union(nodes)))
            }
            Node::And(nodes) => self.all(nodes),
        }
    }

    fn all(&mut self, nodes: &[Node]) -> crate::Result<Built> {
        let common: Vec<bool> = nodes.iter().map(|node| self.is_common(node)).collect();
        let wanted =
            |(node, common): (&Node, &bool)| matches!(node, Node::Leaf(_) | Node::Or(_) | Node::And(_)) && !common;
        let rare = nodes.iter().zip(&common).any(wanted);
        let (mut clauses, mut enough) = (Vec::new(), Vec::new());
        for (node, common) in nodes.iter().zip(common) {
            match node {
                Node::Not(node) => clauses.push((Occur::MustNot, self.build(node)?)),
                Node::Filter(filter) => clauses.push((Occur::Must, narrowing(filter))),
                node if self.any && !is_required(node) => enough.push(self.build(node)?),
                node if common && rare => clauses.push((Occur::Should, self.build(node)?)),
                node => clauses.push((Occur::Must, self.build(node)?)),
            }
        }
        if !enough.is_empty() {
            clauses.push((Occur::Must, Box::new(BooleanQuery::union(enough))));
        }
        if !clauses.iter().any(|(occur, _)| *occur == Occur::Must) {
            clauses.push((Occur::Must, every()));
        }
        for pair in neighbours(nodes) {
            let near = self.in_parts(&pair.join(" "), NEAR_PARTS, |builder, part| builder.near(&pair, part))?;
            self.near.push(near);
        }
        Ok(Box::new(BooleanQuery::new(clauses)))
    }

    /// Whether a node is a word that so many pages have that it says little.
    fn is_common(&self, node: &Node) -> bool {
        let Node::Leaf(leaf) = node else { return false };
        let cut = words(&leaf.text);
        let [word] = cut.as_slice() else { return false };
        let plain = leaf.how == How::Exactly && leaf.part.is_none() && !leaf.required && !is_of_pairs(&word.text);
        let pages = || self.searcher.doc_freq(&Term::from_field_text(Part::Body.field(), &word.text)).unwrap_or(0);
        plain && pages() > self.searcher.num_docs() / 4
    }

    fn leaf(&mut self, leaf: &Leaf) -> crate::Result<Built> {
        let cut = cut(&leaf.text);
        let only = leaf.part.map(|part| [part]);
        let parts = only.as_ref().map_or(Part::ALL, |only| only.as_slice());
        self.in_parts(&leaf.text, parts, |builder, part| match (&leaf.how, cut.as_slice()) {
            (_, []) => Ok(Box::new(EmptyQuery)),
            (How::Exactly | How::Phrase, [word]) => builder.word(word, part),
            (How::Beginning, [word]) => {
                Ok(Box::new(FuzzyTermQuery::new_prefix(Term::from_field_text(part.field(), word), 0, true)))
            }
            (How::Nearly(distance), [word]) => {
                Ok(Box::new(FuzzyTermQuery::new(Term::from_field_text(part.field(), word), *distance, true)))
            }
            (_, words) => builder.phrase(words, part, 0),
        })
    }

    /// The same looked for in these fields, weighted.
    fn in_parts(
        &mut self,
        name: &str,
        parts: &[Part],
        mut build: impl FnMut(&mut Self, Part) -> crate::Result<Built>,
    ) -> crate::Result<Built> {
        let mut built: Vec<Built> = Vec::new();
        for part in parts.iter().copied() {
            if part == Part::Anchor && self.anchors.is_none() {
                continue;
            }
            let mut query = build(self, part)?;
            if part == Part::Anchor {
                query = self.joined(query.as_ref())?;
            }
            let query: Built = Box::new(BoostQuery::new(query, self.weights.of(part)));
            self.shares.push(Share { words: name.to_owned(), part, query: query.box_clone() });
            built.push(query);
        }
        Ok(match built.len() {
            0 => Box::new(EmptyQuery),
            1 => built.remove(0),
            _ => Box::new(BooleanQuery::union(built)),
        })
    }

    /// A word, or a form of it where words are stemmed; a single character of a script of pairs begins one.
    fn word(&self, word: &str, part: Part) -> crate::Result<Built> {
        let term = |word: &str| Term::from_field_text(part.field(), word);
        if is_of_pairs(word) && word.chars().count() == 1 {
            return Ok(Box::new(FuzzyTermQuery::new_prefix(term(word), 0, true)));
        }
        let one = |word: &str| -> Built { Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)) };
        let mut forms: Vec<Built> = self.stems.forms(word).iter().map(|form| one(form)).collect();
        Ok(if forms.len() == 1 { forms.remove(0) } else { Box::new(BooleanQuery::union(forms)) })
    }

    /// Words in a row; where words are stemmed, their stems of each language in a row.
    fn phrase(&self, words: &[String], part: Part, slop: u32) -> crate::Result<Built> {
        let forms: Vec<Vec<String>> = words.iter().map(|word| self.stems.forms(word)).collect();
        let most = forms.iter().map(Vec::len).max().unwrap_or(1);
        let row = |which: usize| -> Built {
            let form = |forms: &Vec<String>| Term::from_field_text(part.field(), &forms[which.min(forms.len() - 1)]);
            let mut query = PhraseQuery::new(forms.iter().map(form).collect());
            query.set_slop(slop);
            Box::new(query)
        };
        let mut rows: Vec<Built> = (0..most).map(row).collect();
        Ok(if rows.len() == 1 { rows.remove(0) } else { Box::new(BooleanQuery::union(rows)) })
    }

    /// Two words of the query close to each other, in its order.
    fn near(&self, pair: &[String; 2], part: Part) -> crate::Result<Built> {
        let near = self.phrase(pair, part, if part == Part::Body { NEAR } else { 1 })?;
        Ok(Box::new(BoostQuery::new(near, self.weights.phrase())))
    }

    /// Matches of the anchors as documents of the pages' index.
    fn joined(&self, query: &dyn Query) -> crate::Result<Built> {
        let Some(anchors) = self.anchors else { return Ok(Box::new(EmptyQuery)) };
        let found: Vec<(PageId, Score)> = anchors.matches(query)?;
        if found.is_empty() {
            return Ok(Box::new(EmptyQuery));
        }
        Ok(Box::new(HitsQuery::new((self.map)()?, found)))
    }
}

/// Whether somebody said that a page must have it.
fn is_required(node: &Node) -> bool {
    matches!(node, Node::Leaf(leaf) if leaf.required) || matches!(node, Node::All)
}

/// Every page that can be found.
fn every() -> Built {
    narrowing(&Filter::Tag(EVERY.to_owned()))
}

/// The words of a leaf as they are looked for: the last character of a run of pairs is in the pair before it.
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

/// Single words of a query that stand next to each other in it.
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

fn narrowing(filter: &Filter) -> Built {
    let query: Built = match filter {
        Filter::Tag(tag) => Box::new(TermQuery::new(Term::from_field_text(TAG, tag), IndexRecordOption::Basic)),
        Filter::Since(at) => {
            Box::new(RangeQuery::new(Bound::Included(Term::from_field_i64(AT, *at)), Bound::Unbounded))
        }
        Filter::Until(at) => {
            Box::new(RangeQuery::new(Bound::Unbounded, Bound::Excluded(Term::from_field_i64(AT, *at))))
        }
    };
    Box::new(ConstScoreQuery::new(query, 0.0))
}
