//! Which pages answer a query?

use crate::fields::FormFields;
use crate::foreign::{MarkedPiece, pieces};
use crate::list;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::steer::ListSteps;
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{AnswerError, Query, SearchAnswer, SearchHit, complete, grouped, search};
use orb_project::ProjectDir;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/search", Right::SignedIn, |request| Box::pin(everywhere(request)), "Search all collections"),
    RouteRow::get("/p/{p}/search", Right::Read, |request| Box::pin(within(request)), "Search a collection")
        .for_guests(),
    RouteRow::get(
        "/p/{p}/complete",
        Right::Read,
        |request| Box::pin(completions(request)),
        "How the words of a query may end",
    )
    .for_guests(),
];

/// Hits on one screen.
const HITS: u64 = 20;

/// Hits of one of many collections.
const FEW: u64 = 5;

/// What one collection answers.
#[derive(Serialize)]
struct CollectionAnswer {
    project: String,
    #[serde(flatten)]
    answer: SearchAnswer,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage<'a> {
    frame: Frame,
    /// The one collection that is searched.
    within: Option<&'a str>,
    asked: &'a str,
    filters: SearchFilters,
    /// Where the same is shown with reasons for the order, or without.
    explanation: Option<String>,
    is_explained: bool,
    sections: Vec<AnswerCards<'a>>,
    steps: ListSteps,
}

/// What one collection answers, as it is shown.
struct AnswerCards<'a> {
    p: &'a str,
    total: String,
    is_one: bool,
    relaxed: bool,
    corrections: Vec<(&'a str, &'a str)>,
    note: Option<&'a str>,
    hits: Vec<HitCard<'a>>,
    more: Option<String>,
}

struct HitCard<'a> {
    page: u64,
    title: &'a str,
    section: Option<&'a str>,
    url: &'a str,
    snippet: Vec<MarkedPiece>,
    facts: String,
    alike: usize,
    score: Vec<String>,
}

/// What hits must be besides, as fields of the form; each is a word of the query language, too.
#[derive(Default)]
struct SearchFilters {
    site: String,
    lang: String,
    filetype: String,
}

impl SearchFilters {
    /// Those of a request. What is no single word is none.
    fn of(fields: &FormFields) -> Self {
        let word = |name: &str| {
            let word = fields.one(name).unwrap_or_default().trim();
            let is_word = word.chars().all(|c| c.is_alphanumeric() || "-._:/".contains(c));
            if is_word { word.to_owned() } else { String::new() }
        };
        Self { site: word("site"), lang: word("lang"), filetype: word("filetype") }
    }

    fn added_to(&self, asked: &str) -> String {
        let filters = [("site", &self.site), ("lang", &self.lang), ("filetype", &self.filetype)];
        let set = filters.into_iter().filter(|(_, word)| !word.is_empty());
        set.fold(asked.to_owned(), |query, (name, word)| format!("{query} {name}:{word}"))
    }

    fn is_set(&self) -> bool {
        !(self.site.is_empty() && self.lang.is_empty() && self.filetype.is_empty())
    }
}

async fn within(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let (asked, offset) = (fields.one("q").unwrap_or_default().to_owned(), request.offset()?);
    let explain = fields.one("explain").is_some();
    let filters = SearchFilters::of(&fields);
    let name = request.project()?.name.clone();
    let mut found = Vec::new();
    if !asked.is_empty() {
        let text = filters.added_to(&asked);
        let answer = request.ask(move |collection| {
            search(collection, &Query { text: &text, limit: HITS, offset, per_host: None, explain, snippets: true })
        });
        found.push(CollectionAnswer { project: name.clone(), answer: answer.await? });
    }
    let has_more = found.first().is_some_and(|found| offset.saturating_add(HITS) < found.answer.total);
    let page = SearchPage {
        frame: request.frame(),
        within: Some(&name),
        asked: &asked,
        explanation: Some(request.here_with(&[("explain", (!explain).then_some("1"))])),
        is_explained: explain,
        filters,
        sections: found.iter().map(|found| cards(found, &asked, false)).collect(),
        steps: request.around(offset, HITS, has_more),
    };
    match found.first() {
        Some(found) => request.page(&page, &found.answer),
        None => request.page(&page, &serde_json::Value::Null),
    }
}

async fn everywhere(request: AdmittedRequest) -> Handled {
    let asked = request.query().one("q").unwrap_or_default().to_owned();
    let identity = request.identity()?.clone();
    let readable = move |home: &ServedHome| {
        let mut projects = home.list()?;
        projects.retain(|project: &ProjectDir| identity.may(Right::Read, &project.name));
        Ok::<_, AnswerError>(projects)
    };
    let mut found = Vec::new();
    if !asked.is_empty() {
        for project in request.work(readable).await? {
            let text = asked.clone();
            let question = move |collection: &_| {
                search(
                    collection,
                    &Query { text: &text, limit: FEW, offset: 0, per_host: None, explain: false, snippets: true },
                )
            };
            // A collection without an index has no answer; those of the others count.
            if let Ok(answer) = request.state.desk.ask::<_, AnswerError, _>(&project, question).await {
                found.push(CollectionAnswer { project: project.name, answer });
            }
        }
        found.retain(|found| found.answer.total > 0);
        found.sort_by(|a, b| best(b).total_cmp(&best(a)));
    }
    let page = SearchPage {
        frame: request.frame(),
        within: None,
        asked: &asked,
        explanation: None,
        is_explained: false,
        filters: SearchFilters::default(),
        sections: found.iter().map(|found| cards(found, &asked, true)).collect(),
        steps: ListSteps { before: None, after: None },
    };
    request.page(&page, &found)
}

async fn completions(request: AdmittedRequest) -> Handled {
    let text = request.query().one("q").unwrap_or_default().to_owned();
    let limit = list::limit(&request)?.min(20) as u64;
    json(&request.ask(move |collection| complete(collection, &text, limit)).await?)
}

fn best(found: &CollectionAnswer) -> f64 {
    found.answer.hits.first().map_or(0.0, |hit| hit.score)
}

fn cards<'a>(found: &'a CollectionAnswer, asked: &str, is_one_of_many: bool) -> AnswerCards<'a> {
    let answer = &found.answer;
    let query: String = url::form_urlencoded::byte_serialize(asked.as_bytes()).collect();
    let more = is_one_of_many.then(|| format!("/p/{}/search?q={query}", found.project));
    AnswerCards {
        p: &found.project,
        total: grouped(answer.total),
        is_one: answer.total == 1,
        relaxed: answer.relaxed,
        corrections: answer.corrections.iter().map(|one| (one.typed.as_str(), one.used.as_str())).collect(),
        note: answer.note.as_deref(),
        hits: answer.hits.iter().map(hit).collect(),
        more,
    }
}

fn hit(hit: &SearchHit) -> HitCard<'_> {
    let facts = [hit.fetched_at.as_deref().map(minute), hit.lang.clone(), hit.mime.clone()];
    let share = |share: &orb_answers::ScoreShare| format!("{} in {}: {:.2}", share.words, share.field, share.score);
    HitCard {
        page: hit.page,
        title: hit.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&hit.url),
        section: hit.section.as_ref().map(|section| section.title.as_str()),
        url: hit.section.as_ref().map_or(&hit.url, |section| &section.url),
        snippet: pieces(&hit.snippet, &hit.marks),
        facts: facts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        alike: hit.alike.len(),
        score: hit.explain.iter().flat_map(|explanation| explanation.shares.iter().map(share)).collect(),
    }
}
