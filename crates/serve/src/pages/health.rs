//! What is wrong with the pages, and how is it repaired?

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::{FilterChoice, ListSteps};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{
    Collection, CountStanding, Health, HealthCount, HealthKind, HealthPart, HealthRow, HealthRows, HealthWish,
    Severity, Window, grouped, health_rows,
};
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/health", Right::Read, |request| Box::pin(all(request)), "What is wrong with the pages")
        .for_guests(),
    RouteRow::get("/p/{p}/health/{kind}", Right::Read, |request| Box::pin(one(request)), "Problems of one kind")
        .for_guests(),
];

/// Time for the rows of a kind that are not kept with the counts.
const TIME: Duration = Duration::from_secs(15);

/// The same while they are counted.
const PATIENCE: Duration = Duration::from_secs(1);

/// Rows on one screen.
const ROWS: u64 = 100;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage<'a> {
    frame: Frame,
    p: &'a str,
    since: Option<u32>,
    /// Whether these are not the counts of the collection as it is now.
    is_counting: bool,
    counted_at: Option<String>,
    found: Vec<KindLine<'a>>,
    absent: Vec<KindLine<'a>>,
}

struct KindLine<'a> {
    kind: &'a HealthCount,
    name: &'static str,
    label: String,
    chip: &'static str,
    count: String,
    new: Option<String>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let found: Health = request.health(request.query().parsed("run")?).await?;
    let (there, absent) = found.kinds.iter().partition(|kind| kind.count != Some(0));
    let lines = |kinds: Vec<_>| kinds.into_iter().map(line).collect();
    let page = HealthPage {
        frame: request.frame(),
        p: &request.project()?.name,
        since: found.run,
        is_counting: found.standing != CountStanding::Current,
        counted_at: found.counted_at.as_deref().map(minute),
        found: lines(there),
        absent: lines(absent),
    };
    request.page(&page, &found)
}

fn line(kind: &HealthCount) -> KindLine<'_> {
    KindLine {
        name: kind.kind.name(),
        label: label(kind.kind),
        chip: chip(kind.severity),
        count: kind.count.map_or_else(|| "–".to_owned(), grouped),
        new: kind.new.filter(|new| *new > 0).map(grouped),
        kind,
    }
}

/// The kind in words.
fn label(kind: HealthKind) -> String {
    let words = kind.name().replace('_', " ");
    let (first, rest) = words.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

const fn chip(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => " bad",
        Severity::Warning => " hold",
        Severity::Notice => "",
    }
}

#[derive(Template)]
#[template(path = "health_kind.html")]
struct KindPage<'a> {
    frame: Frame,
    p: &'a str,
    label: String,
    chip: &'static str,
    found: &'a HealthRows,
    choices: Vec<FilterChoice>,
    rows: Vec<ProblemLine<'a>>,
    steps: ListSteps,
    /// Where the same is asked in SQL, by whoever may.
    ask: Option<String>,
}

struct ProblemLine<'a> {
    row: &'a HealthRow,
    facts: String,
}

async fn one(request: AdmittedRequest) -> Handled {
    let named = request.param("kind")?;
    let unknown = || ProblemDetails::not_found(format!("there is no kind of problem called '{named}'"));
    let kind = HealthKind::from_name(named).ok_or_else(unknown)?;
    let (fields, offset) = (request.query(), request.offset()?);
    let part = if fields.one("new").is_some() { HealthPart::New } else { HealthPart::All };
    // The first rows are kept with the counts. While these are made, nobody waits for anything
    // else.
    let is_counted = request.health(fields.parsed("run")?).await?.standing == CountStanding::Current;
    let wish = HealthWish { run: fields.parsed("run")?, time: if is_counted { TIME } else { PATIENCE } };
    let window = Window { limit: ROWS + 1, offset };
    let turn = request.health_turn(window)?;
    let rows = move |collection: &Collection| {
        let _turn = turn;
        health_rows(collection, kind, part, wish, window)
    };
    let mut found = request.ask(rows).await?;
    let has_more = found.rows.len() as u64 > ROWS;
    found.rows.truncate(ROWS as usize);
    let choice = |label: &str, new: Option<&str>, is_chosen| FilterChoice {
        label: label.to_owned(),
        path: request.here_with(&[("new", new), ("offset", None)]),
        is_chosen,
    };
    let choices = [choice("All", None, part == HealthPart::All), choice("New", Some("1"), part == HealthPart::New)];
    let name = request.project()?.name.clone();
    let page = KindPage {
        frame: request.frame(),
        p: &name,
        label: label(kind),
        chip: chip(found.severity),
        choices: if kind.knows_since() { choices.into() } else { Vec::new() },
        rows: found.rows.iter().map(|row| ProblemLine { row, facts: facts(row) }).collect(),
        steps: request.around(offset, ROWS, has_more),
        ask: request.may(Right::Sql).then(|| sql_at(&name, &found.sql)),
        found: &found,
    };
    request.page(&page, &found)
}

/// The screen that asks a project this.
fn sql_at(project: &str, query: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/p/{project}/sql?q={query}")
}

/// What else is known of a problem, in one line.
fn facts(row: &HealthRow) -> String {
    let facts = [
        row.status.map(|status| format!("status {status}")),
        row.problem.clone(),
        row.title.as_ref().map(|title| format!("title “{title}”")),
        row.anchor.as_ref().filter(|anchor| !anchor.is_empty()).map(|anchor| format!("link “{anchor}”")),
        row.hops.map(|hops| format!("{hops} redirects")),
        row.pages.map(|pages| format!("{pages} pages share it")),
        row.depth.map(|depth| format!("{depth} links from a seed")),
        row.elapsed_ms.map(|ms| format!("took {} ms", grouped(ms))),
        row.length.map(bytes),
        row.why.clone(),
        row.since.map(|run| format!("since run {run}")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
