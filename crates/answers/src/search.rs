//! Which pages answer a query?
//!
//! The text index finds and scores them, the graph gives their importance, the catalogue and the
//! archive say what they are and where in their text the terms occur.

use crate::content::text_at;
use crate::guard::guarded;
use crate::importance::Importance;
use crate::{AnswerError, Collection, Result};
use orb_index::{Hit, SearchError, SearchRequest, SearchResults, Snippet, TextField, mark};
use orb_page::{Moment, PageId};
use orb_store::PageRow;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// A search request.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The query as typed.
    pub text: &'a str,
    /// Maximum number of results.
    pub limit: u64,
    /// Number of results to skip.
    pub offset: u64,
    /// Maximum results per host, 0 for no limit; by default as in the project's settings.
    pub per_host: Option<usize>,
    /// Whether to explain each score.
    pub explain: bool,
    /// Whether to show the snippet of each text.
    pub snippets: bool,
}

/// The answer to a query.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SearchAnswer {
    /// Number of matching pages, before duplicates are collapsed.
    pub total: u64,
    /// Whether no page matches all terms, so that matches of any term are returned.
    pub relaxed: bool,
    /// The requested results, best first.
    pub hits: Vec<SearchHit>,
    /// What the reader should know about the index, if anything.
    pub note: Option<String>,
}

/// A matching page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SearchHit {
    /// Its position among the results, from 1.
    pub rank: u64,
    /// Number of matching pages.
    pub total: u64,
    /// Whether it matches only some of the terms, like all others.
    pub relaxed: bool,
    /// Its number.
    pub page: u64,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Its score.
    #[serde(serialize_with = "rounded")]
    #[schemars(with = "f64")]
    pub score: f64,
    /// The excerpt of its text in which the terms occur.
    pub snippet: String,
    /// The character ranges of the terms in it.
    pub marks: Vec<(usize, usize)>,
    /// Its language.
    pub lang: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<String>,
    /// Duplicates collapsed into this page.
    #[schemars(with = "Vec<u64>")]
    pub alike: Vec<PageId>,
    /// The parts of its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explanation>,
}

/// The parts of a score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// The text score.
    #[serde(serialize_with = "rounded")]
    #[schemars(with = "f64")]
    pub text: f64,
    /// The page's importance, between 0 and 1.
    #[serde(serialize_with = "rounded")]
    #[schemars(with = "f64")]
    pub importance: f64,
    /// The score of each term in each field.
    pub shares: Vec<ScoreShare>,
}

/// The score of a term in a field.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScoreShare {
    /// The term, or the terms of a phrase.
    pub words: String,
    /// The field.
    pub field: TextField,
    /// The score.
    #[serde(serialize_with = "rounded")]
    #[schemars(with = "f64")]
    pub score: f64,
}

/// The pages that answer a query.
pub fn search(collection: &Collection, query: &Query<'_>) -> Result<SearchAnswer> {
    let answer = ask(collection, query)?;
    let note = lag(collection)?;
    let mut found = Vec::with_capacity(answer.hits.len());
    for (rank, hit) in (query.offset + 1..).zip(&answer.hits) {
        // The catalogue lost this page since: the index is behind, and it is left out.
        let Some(page) = collection.catalogue().page(hit.page)? else { continue };
        found.push((rank, hit, page, Snippet::default()));
    }
    if query.snippets {
        let archive = collection.archive();
        // Extracting pages again is most of a search's work, so all cores take part.
        found.par_iter_mut().for_each(|(_, _, page, snippet)| {
            let text = page.warc().and_then(|at| text_at(archive, &at, &page.url));
            *snippet = text.map(|text| answer.marker.snippet(&text, page.lang.as_deref())).unwrap_or_default();
        });
    }
    let hits = found.into_iter().map(|(rank, hit, page, snippet)| told(&answer, rank, hit, (page, snippet))).collect();
    Ok(SearchAnswer { total: answer.total, relaxed: answer.relaxed, hits, note })
}

fn ask(collection: &Collection, query: &Query<'_>) -> Result<SearchResults> {
    let (searcher, settings) = (collection.searcher()?, &collection.settings()?.search);
    let request = SearchRequest {
        query: query.text,
        limit: usize::try_from(query.limit).unwrap_or(usize::MAX),
        offset: usize::try_from(query.offset).unwrap_or(usize::MAX),
        per_host: query.per_host.unwrap_or(settings.per_host),
        weights: &settings.weights,
        now: Moment::now(),
        explain: query.explain,
    };
    // Search works without a graph that is missing or damaged.
    let ranks = collection.ranks().ok().flatten().map(Importance::new);
    let importance = |pages: &[PageId]| ranks.as_ref().map(|ranks| ranks.of(pages)).unwrap_or_default();
    let known: Option<orb_index::ImportanceFn<'_>> = if ranks.is_some() { Some(&importance) } else { None };
    guarded(collection.project(), || searcher.search(&request, known))?.map_err(|e| match e {
        SearchError::Query(e) => AnswerError::Malformed(e.to_string()),
        SearchError::Index(e) => e.into(),
    })
}

/// A note if the index is incomplete.
pub(crate) fn lag(collection: &Collection) -> Result<Option<String>> {
    let extent = collection.catalogue().extent()?;
    let current = collection.searcher()?.mark() == Some(mark(extent.batch, extent.nonce).as_str());
    let name = collection.name();
    Ok((!current).then(|| {
        format!("note: the text index lags behind what was collected; orb index update {name} brings it up to date")
    }))
}

fn told(answer: &SearchResults, rank: u64, hit: &Hit, (page, snippet): (PageRow, Snippet)) -> SearchHit {
    let share = |(words, field, score): &(String, TextField, f64)| ScoreShare {
        words: words.clone(),
        field: *field,
        score: *score,
    };
    let explain = (!hit.shares.is_empty()).then(|| Explanation {
        text: hit.text,
        importance: hit.importance,
        shares: hit.shares.iter().map(share).collect(),
    });
    SearchHit {
        rank,
        total: answer.total,
        relaxed: answer.relaxed,
        page: page.id,
        url: page.url,
        title: page.title,
        score: hit.score,
        snippet: snippet.text,
        marks: snippet.marks,
        lang: page.lang,
        mime: page.mime,
        fetched_at: page.fetched_at,
        alike: hit.alike.clone(),
        explain,
    }
}

/// Rounds to the significant digits.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn rounded<S: serde::Serializer>(x: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_f64((x * 1e4).round() / 1e4)
}
