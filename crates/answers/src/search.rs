//! Which pages answer a query?
//!
//! The text index finds and scores them, the graph gives their importance, the catalogue and the
//! archive say what they are and where in their text the terms occur.

use crate::content::document_at;
use crate::guard::guarded;
use crate::importance::Importance;
use crate::{AnswerError, Collection, Result};
use orb_extract::PartedText;
use orb_index::{Aspect, Hit, Marker, SearchError, SearchRequest, SearchResults, Snippet, mark};
use orb_page::{Document, Moment, PageId, PageSection};
use orb_store::PageRow;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// A section with less text than this, in bytes, is not shown alone.
const SHORT: usize = 20;

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
    /// Whether no page has all the words.
    pub relaxed: bool,
    /// Words of the query that were replaced.
    pub corrections: Vec<Correction>,
    /// The requested results, best first.
    pub hits: Vec<SearchHit>,
    /// What the reader should know about the index, if anything.
    pub note: Option<String>,
}

/// A word of a query that was replaced, since hardly any page has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Correction {
    /// As typed.
    pub typed: String,
    /// What was searched for instead.
    pub used: String,
}

/// The section of a page that answers a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HitSection {
    /// Its `id` in the page.
    pub id: String,
    /// Its heading, or the term it defines.
    pub title: String,
    /// Its URL, `page#id`.
    pub url: String,
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
    /// Words of the query that were replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<Correction>,
    /// The section that answers, if it is not the page as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<HitSection>,
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
    /// The field, or what else of the page counts: `section`, `section name`, `name`, `near`.
    pub field: &'static str,
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
    for (hit, rank) in answer.hits.iter().zip(query.offset.saturating_add(1)..) {
        // The catalogue lost this page since: the index is behind, and it is left out.
        let Some(page) = collection.catalogue().page(hit.page)? else { continue };
        found.push((rank, hit, page, Excerpt::default()));
    }
    if query.snippets {
        let (archive, limits) = (collection.archive(), collection.limits()?);
        // Extracting pages again is most of a search's work, so all cores take part.
        found.par_iter_mut().for_each(|(_, hit, page, excerpt)| {
            let document = page.warc().and_then(|at| document_at(archive, &at, &page.url, limits));
            *excerpt = document.map(|document| excerpt_of(&answer.marker, hit, page, &document)).unwrap_or_default();
        });
    }
    let corrections: Vec<Correction> = answer.corrections.iter().map(correction).collect();
    let told = |(rank, hit, page, excerpt)| told(&answer, rank, hit, (page, excerpt, corrections.clone()));
    let hits = found.into_iter().map(told).collect();
    Ok(SearchAnswer { total: answer.total, relaxed: answer.relaxed, corrections, hits, note })
}

/// How the words that begin like a text may end, for a search box: best first.
pub fn complete(collection: &Collection, text: &str, limit: u64) -> Result<Vec<Completion>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = guarded(collection.project(), || collection.searcher()?.completions(text, limit).map_err(Into::into))?;
    let completion = |(text, weight)| Completion { text, weight };
    found.map(|found: Vec<(String, u64)>| found.into_iter().map(completion).collect())
}

/// A way to complete a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Completion {
    /// The text with its last word completed.
    pub text: String,
    /// Its weight: pages with the word, those with it in their title counted more.
    pub weight: u64,
}

fn correction(one: &orb_index::SpellingCorrection) -> Correction {
    Correction { typed: one.typed.clone(), used: one.used.clone() }
}

/// What is shown of a page: the section that answers, and an excerpt of it.
#[derive(Clone, Debug, Default)]
struct Excerpt {
    section: Option<HitSection>,
    snippet: Snippet,
}

fn excerpt_of(marker: &Marker, hit: &Hit, page: &PageRow, document: &Document) -> Excerpt {
    let lang = page.lang.as_deref();
    let parted = PartedText::of(document);
    let place = |section: &PageSection| parted.place(document, section.offset);
    let place_of = |number: usize| document.sections.get(number).map(|section| (section, place(section).0));
    let Some((number, (section, begin))) = hit.section.and_then(|number| Some((number, place_of(number)?))) else {
        // From what stands around only if the page's own text has nothing of the query.
        let own = marker.snippet(&parted.own, lang);
        let snippet = if own.marks.is_empty() { marker.snippet(&document.text, lang) } else { own };
        return Excerpt { section: None, snippet };
    };
    let next = document.sections.iter().skip(number + 1).map(place).find(|(_, is_own)| *is_own);
    let end = next.map_or(parted.own.len(), |(next, _)| next);
    // A section that says nothing else is shown with what follows it.
    let end = if end.saturating_sub(begin) > SHORT + section.title.len() { end } else { parted.own.len() };
    let text = parted.own.get(begin..end).unwrap_or_default().trim();
    // The main heading is the page itself. A section without an id is linked to by the one before.
    let above = || document.sections[..=number].iter().rev().find(|one| !one.id.is_empty());
    let linked = above().filter(|one| section.level > 1 && one.level > 1);
    let section = linked.map(|one| HitSection {
        id: one.id.clone(),
        title: section.title.clone(),
        url: format!("{}#{}", page.url, one.id),
    });
    Excerpt { section, snippet: marker.snippet(text, lang) }
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

fn told(
    answer: &SearchResults,
    rank: u64,
    hit: &Hit,
    (page, excerpt, corrections): (PageRow, Excerpt, Vec<Correction>),
) -> SearchHit {
    let share = |(words, aspect, score): &(String, Aspect, f64)| ScoreShare {
        words: words.clone(),
        field: aspect.name(),
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
        corrections,
        section: excerpt.section,
        snippet: excerpt.snippet.text,
        marks: excerpt.snippet.marks,
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
