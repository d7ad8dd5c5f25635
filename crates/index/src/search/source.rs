//! What is searched for, and how much does it count?
//!
//! A query is a list of clauses: required, optional or excluded. A clause is a list of sources, any
//! of which matches: a term in each of its fields, a phrase, pages found by anchor text. This flat
//! form is what [`super::gather`] can evaluate quickly; nested queries become engine queries.

use super::hits::HitsQuery;
use std::sync::Arc;
use tantivy::query::{BooleanQuery, BoostQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Score, Term};

/// Something that matches pages, with its weight.
#[derive(Clone)]
pub(super) enum MatchSource {
    /// A term in a field, weighted by this times its BM25 score.
    Word(Term, Score),
    /// Matches from another index, weighted by this times their score.
    Hits(HitsQuery, Score),
    /// Anything else.
    Query(Arc<dyn Query>),
}

impl MatchSource {
    /// The same source with its weight multiplied.
    pub(super) fn times(self, more: Score) -> Self {
        match self {
            Self::Word(term, boost) => Self::Word(term, boost * more),
            Self::Hits(hits, boost) => Self::Hits(hits, boost * more),
            Self::Query(query) => Self::Query(Arc::new(BoostQuery::new(query.box_clone(), more))),
        }
    }

    /// The same source as an engine query.
    pub(super) fn query(&self) -> Box<dyn Query> {
        let boosted = |query: Box<dyn Query>, boost| Box::new(BoostQuery::new(query, boost));
        match self {
            Self::Word(term, boost) => {
                boosted(Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs)), *boost)
            }
            Self::Hits(hits, boost) => boosted(Box::new(hits.clone()), *boost),
            Self::Query(query) => query.box_clone(),
        }
    }
}

/// Sources, any of which matches; their scores add up.
pub(super) struct Clause {
    pub(super) occur: Occur,
    pub(super) sources: Vec<MatchSource>,
}

impl Clause {
    pub(super) fn new(occur: Occur, sources: Vec<MatchSource>) -> Self {
        Self { occur, sources }
    }
}

/// A clause of which a page may lack, as long as it has enough others.
pub(super) struct SoftClause {
    pub(super) weight: f32,
    pub(super) sources: Vec<MatchSource>,
}

/// A query in the form in which it is evaluated.
pub(super) struct QueryPlan {
    pub(super) clauses: Vec<Clause>,
    /// By weight, heaviest first.
    pub(super) soft: Vec<SoftClause>,
    /// The pages that links call by the words of the query: for each unit, by its number.
    pub(super) anchored: Vec<(usize, HitsQuery)>,
}

/// A disjunction of sources, as an engine query.
pub(super) fn any_of(sources: &[MatchSource]) -> Box<dyn Query> {
    match sources {
        [] => Box::new(EmptyQuery),
        [one] => one.query(),
        more => Box::new(BooleanQuery::union(more.iter().map(MatchSource::query).collect())),
    }
}

/// Clauses as an engine query.
pub(super) fn as_query(clauses: &[Clause]) -> Box<dyn Query> {
    match clauses {
        [Clause { occur: Occur::Must, sources }] => any_of(sources),
        more => {
            Box::new(BooleanQuery::new(more.iter().map(|clause| (clause.occur, any_of(&clause.sources))).collect()))
        }
    }
}
