//! What is looked for, and what does it count?
//!
//! A query is clauses, of which a page must have some, may have others and must not have the rest; a clause is sources, any of which will do: a
//! word in each of its fields, a phrase, pages that links call so. It is put to the engine in this flat form because that is what can be read
//! quickly ([`super::gather`]); a query within a query becomes one of the engine's own.

use super::hits::HitsQuery;
use crate::schema::Part;
use std::sync::Arc;
use tantivy::query::{BooleanQuery, BoostQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Score, Term};

/// Something that pages have, and how much it counts.
#[derive(Clone)]
pub(super) enum Source {
    /// A word of a field, so many times its BM25.
    Word(Term, Score),
    /// Pages found elsewhere, so many times what they scored there.
    Hits(HitsQuery, Score),
    /// Anything else.
    Query(Arc<dyn Query>),
}

impl Source {
    /// The same, counting so many times as much.
    pub(super) fn times(self, more: Score) -> Self {
        match self {
            Self::Word(term, boost) => Self::Word(term, boost * more),
            Self::Hits(hits, boost) => Self::Hits(hits, boost * more),
            Self::Query(query) => Self::Query(Arc::new(BoostQuery::new(query.box_clone(), more))),
        }
    }

    /// The same as a query of the engine.
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

/// Sources, any of which will do; what they count is added.
pub(super) struct Clause {
    pub(super) occur: Occur,
    pub(super) sources: Vec<Source>,
}

impl Clause {
    pub(super) fn new(occur: Occur, sources: Vec<Source>) -> Self {
        Self { occur, sources }
    }
}

/// Where a part of a score comes from, for whoever asks why.
pub(super) struct Share {
    pub(super) words: String,
    pub(super) part: Part,
    pub(super) sources: Vec<Source>,
}

/// A query as it is put to the engine.
pub(super) struct Plan {
    pub(super) clauses: Vec<Clause>,
    /// Where scores come from.
    pub(super) shares: Vec<Share>,
    /// What counts besides for the best: words of the query that are neighbours.
    pub(super) near: Vec<Source>,
}

/// Any of these sources, as a query of the engine.
pub(super) fn any_of(sources: &[Source]) -> Box<dyn Query> {
    match sources {
        [] => Box::new(EmptyQuery),
        [one] => one.query(),
        more => Box::new(BooleanQuery::union(more.iter().map(Source::query).collect())),
    }
}

/// These clauses, as a query of the engine.
pub(super) fn as_query(clauses: &[Clause]) -> Box<dyn Query> {
    match clauses {
        [Clause { occur: Occur::Must, sources }] => any_of(sources),
        more => {
            Box::new(BooleanQuery::new(more.iter().map(|clause| (clause.occur, any_of(&clause.sources))).collect()))
        }
    }
}
