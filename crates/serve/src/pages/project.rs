//! How does a project stand?

use super::unreached::{UnreachedPage, unreached};
use crate::chart::{TrendBar, trend};
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, Verb, table};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{AnswerError, Column, Overview, ProjectStatus, RunStanding, grouped, overview};
use orb_page::RunState;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}",
    Right::Read,
    |request| Box::pin(show(request)),
    "A project: its last run, what it contains, how it changes",
)
.for_guests()];

#[derive(Template)]
#[template(path = "project.html")]
struct ProjectPage<'a> {
    frame: Frame,
    p: &'a str,
    status: &'a ProjectStatus,
    can_run: bool,
    /// Whether the last run was a crawl that was stopped: nothing else begins before it is resumed.
    is_unfinished: bool,
    is_guest: bool,
    when: String,
    next: String,
    /// Changes that were not seen yet, if that is more than none.
    unread: Option<String>,
    overview: Option<OverviewCards<'a>>,
    /// Why there is nothing, if nothing could be fetched.
    unreached: Vec<UnreachedPage>,
}

/// What is shown of a project that has collected something.
struct OverviewCards<'a> {
    overview: &'a Overview,
    /// What a run found: flag, number, and the word for it.
    flags: Vec<(&'static str, String, &'static str)>,
    known: String,
    accounted: String,
    unaccounted: String,
    table: Vec<StatsLine>,
    /// When that was counted, if something was recorded since.
    counted_at: Option<String>,
    trend: Vec<TrendBar>,
}

/// A line of Table 1.
struct StatsLine {
    label: String,
    seeds: String,
    whole: String,
    /// Where in the project they are listed.
    list: Option<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let status = request.status().await?;
    let (overview, unreached) = match status.run {
        Some(_) => {
            request.count_stats().await?;
            let found = request.ask(|collection| {
                let overview = overview(collection)?;
                let unreached = unreached(collection, &overview.account)?;
                Ok::<_, AnswerError>((overview, unreached))
            });
            let (overview, unreached) = found.await?;
            (Some(overview), unreached)
        }
        None => (None, Vec::new()),
    };
    let starts = table().any(|row| row.verb == Verb::Post && row.path == "/p/{p}/runs");
    let (last, seen) = request.unread().await?;
    let page = ProjectPage {
        frame: request.frame(),
        is_guest: request.is_guest(),
        unread: (last > seen).then(|| grouped(last - seen)),
        p: &status.project,
        can_run: starts && request.identity()?.may(Right::Run, &status.project),
        is_unfinished: status.kind.as_deref() == Some("crawl") && status.state.is_some_and(is_unfinished),
        when: status.finished_at.as_deref().or(status.started_at.as_deref()).map(minute).unwrap_or_default(),
        next: status.next_due.as_deref().map(minute).unwrap_or_default(),
        overview: overview.as_ref().map(|overview| cards(overview, request.is_guest())),
        status: &status,
        unreached,
    };
    match &overview {
        Some(overview) => request.page(&page, overview),
        None => request.page(&page, &status),
    }
}

/// Whether a run that ended so is resumed by the next one.
pub(super) fn is_unfinished(state: RunStanding) -> bool {
    matches!(state, RunStanding::Interrupted | RunStanding::Ended(RunState::Stopped))
}

fn cards(overview: &Overview, is_guest: bool) -> OverviewCards<'_> {
    let account = &overview.account;
    let flags = &account.flags;
    let flags = [
        ("NEW", flags.new, "new"),
        ("UPD", flags.updated, "updated"),
        ("MIS", flags.missing, "missing"),
        ("ERR", flags.error, "in error"),
        ("SAM", flags.same, "the same"),
    ];
    OverviewCards {
        flags: flags.into_iter().map(|(flag, n, word)| (flag, grouped(n), word)).collect(),
        known: grouped(account.known),
        accounted: grouped(account.accounted),
        unaccounted: grouped(account.unaccounted),
        table: overview
            .stats
            .as_ref()
            .map(|stats| table_one(&stats.counts.seeds, &stats.counts.whole, !is_guest))
            .unwrap_or_default(),
        counted_at: overview.counted_at.as_deref().map(minute),
        trend: trend(&overview.runs),
        overview,
    }
}

/// Table 1, line by line.
fn table_one(seeds: &Column, whole: &Column, may_ask_sql: bool) -> Vec<StatsLine> {
    let mut lines = Vec::new();
    let mut count = |label: &str, list: Option<&str>, of: fn(&Column) -> u64| {
        lines.push(line(label, list.map(str::to_owned), [grouped(of(seeds)), grouped(of(whole))]));
    };
    count("Sites", Some("/hosts"), |column| column.sites);
    count("Pages fetched", Some("/pages"), |column| column.pages);
    count("HTML", Some("/pages?kind=HTML"), |column| column.html);
    count("Duplicates", Some("/pages?kind=DUPLICATE"), |column| column.duplicates);
    count("Other types", Some("/pages?kind=BINARY"), |column| column.binary);
    count("Redirects", Some("/pages?kind=REDIRECT"), |column| column.redirects);
    count("Images on pages", may_ask_sql.then_some("/sql?q=SELECT+*+FROM+image"), |column| column.images);
    count("Links", may_ask_sql.then_some("/sql?q=SELECT+*+FROM+link"), |column| column.links);
    count("Disallowed by robots.txt", Some("/pages?kind=DISALLOWED"), |column| column.disallowed);
    count("Outside the scope", Some("/pages?kind=OUTSIDE"), |column| column.outside);
    count("Still queued", Some("/pages?kind=FRONTIER"), |column| column.frontier);
    lines.push(line("Transferred by the last run", None, [bytes(seeds.bytes), bytes(whole.bytes)]));
    let both = |of_seeds: Option<&u64>, n: &u64| [grouped(of_seeds.copied().unwrap_or(0)), grouped(*n)];
    for (kind, n) in &whole.errors {
        let label = format!("Failed: {}", failure(kind));
        lines.push(line(&label, Some(format!("/pages?kind={kind}")), both(seeds.errors.get(kind), n)));
    }
    for (kind, n) in &whole.documents {
        let list = format!("/pages?kind=BINARY&mime={kind}");
        lines.push(line(&format!("Documents: {kind}"), Some(list), both(seeds.documents.get(kind), n)));
    }
    lines
}

/// A kind of failure as people call it.
fn failure(kind: &str) -> String {
    match kind {
        "HTTP_ERROR" => "the server refused or failed".to_owned(),
        "DOMAIN_ERROR" => "the host was not reached".to_owned(),
        "TIMEOUT" => "no answer in time".to_owned(),
        "BROWSER_ERROR" => "the browser could not draw it".to_owned(),
        other => other.to_lowercase().replace('_', " "),
    }
}

fn line(label: &str, list: Option<String>, [seeds, whole]: [String; 2]) -> StatsLine {
    StatsLine { label: label.to_owned(), seeds, whole, list }
}
