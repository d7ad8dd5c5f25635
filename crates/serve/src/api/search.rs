//! Which pages answer a query, where do words occur, and which pages matter most?

use crate::choice;
use crate::list::{self, Continued, ListStretch};
use crate::openapi::{AskedField, RouteShape};
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use orb_answers::{Query, RankedKind, SearchAnswer, Top, WordPlace, WordRow, Words, search, top, words};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/api/v1/projects/{p}/search",
        Right::Read,
        |request| Box::pin(find(request)),
        "The pages that answer a query, best first",
    )
    .shaped(RouteShape::gives::<Continued<SearchAnswer>>().query(SEARCH).paged()),
    RouteRow::get(
        "/api/v1/projects/{p}/words/{word}",
        Right::Read,
        |request| Box::pin(occurrences(request)),
        "Where a word occurs; with a trailing *, the words with that prefix",
    )
    .shaped(RouteShape::gives::<Continued<WordPage>>().paged()),
    RouteRow::get(
        "/api/v1/projects/{p}/top",
        Right::Read,
        |request| Box::pin(best(request)),
        "The pages or hosts that matter most",
    )
    .shaped(RouteShape::gives::<Continued<Top>>().query(TOP).paged()),
];

const SEARCH: &[AskedField] = &[
    AskedField::text("q", "The query").needed(),
    AskedField::flag("explain", "Say what each score is made of"),
    AskedField::number("per_host", "Results per host at most, 0 for no limit"),
];

const TOP: &[AskedField] = &[
    AskedField::one_of(
        "by",
        || choice::names(choice::BY),
        "pagerank (the default), backlinks, hub, authority, harmonic or outdegree",
    ),
    AskedField::one_of("of", || choice::names(RANKED), "pages (the default), fetched or hosts"),
];

/// What is ranked.
const RANKED: &[(&str, RankedKind)] =
    &[("pages", RankedKind::Pages), ("fetched", RankedKind::FetchedPages), ("hosts", RankedKind::Hosts)];

/// Results of a search at most: each takes a look into the archive.
const MOST_HITS: usize = 100;

/// What the dictionary says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct WordPage {
    /// Words with the prefix.
    words: Vec<WordRow>,
    /// Occurrences of the word.
    places: Vec<WordPlace>,
    /// What the reader should know about the index, if anything.
    note: Option<String>,
}

async fn find(request: AdmittedRequest) -> Handled {
    let (query, limit) = (request.query(), list::limit(&request)?.min(MOST_HITS) as u64);
    let (text, offset) = (query.needed("q")?.to_owned(), query.parsed("after")?.unwrap_or(0u64));
    let (explain, per_host) = (choice::is_set(&query, "explain")?, query.parsed("per_host")?);
    let asked = move |collection: &orb_answers::Collection| {
        search(collection, &Query { text: &text, limit, offset, per_host, explain, snippets: true })
    };
    let answer = request.ask(asked).await?;
    let is_cut = answer.hits.len() as u64 == limit && offset.saturating_add(limit) < answer.total;
    Continued { answer, next: is_cut.then(|| (offset + limit).to_string()) }.respond(&request)
}

async fn occurrences(request: AdmittedRequest) -> Handled {
    let (word, part) = (request.param("word")?.to_owned(), ListStretch::of(&request)?);
    let (found, note) = request.ask(move |collection| words(collection, &word, part.window())).await?;
    let (mut words, mut places) = match found {
        Words::Beginning(words) => (words, Vec::new()),
        Words::Whole(found) => (Vec::new(), found.places),
    };
    // One of them is empty.
    let next = part.cut(&mut words).or(part.cut(&mut places));
    Continued { answer: WordPage { words, places, note }, next }.respond(&request)
}

async fn best(request: AdmittedRequest) -> Handled {
    let (query, part) = (request.query(), ListStretch::of(&request)?);
    let by = choice::choose("by", query.one("by"), choice::BY)?;
    let kind = choice::choose("of", query.one("of"), RANKED)?;
    let mut answer = request.ask(move |collection| top(collection, by, kind, part.window())).await?;
    let next = part.cut(&mut answer.rows);
    Continued { answer, next }.respond(&request)
}
