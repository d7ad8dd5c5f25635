//! How does a project stand?

use crate::chart::{TrendBar, trend};
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, Verb, table};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{Column, Overview, ProjectStatus, grouped, overview};

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
    is_guest: bool,
    when: String,
    next: String,
    /// Changes that were not seen yet, if that is more than none.
    unread: Option<String>,
    overview: Option<OverviewCards<'a>>,
}

/// What is shown of a project that has collected something.
struct OverviewCards<'a> {
    overview: &'a Overview,
    flags: Vec<(&'static str, String)>,
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
    /// The fields of the list of these pages.
    query: Option<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let status = request.status().await?;
    let overview = match status.run {
        Some(_) => {
            request.count_stats().await?;
            Some(request.ask(overview).await?)
        }
        None => None,
    };
    let starts = table().any(|row| row.verb == Verb::Post && row.path == "/p/{p}/runs");
    let (last, seen) = request.unread().await?;
    let page = ProjectPage {
        frame: request.frame(),
        is_guest: request.is_guest(),
        unread: (last > seen).then(|| grouped(last - seen)),
        p: &status.project,
        can_run: starts && request.identity()?.may(Right::Run, &status.project),
        when: status.finished_at.as_deref().or(status.started_at.as_deref()).map(minute).unwrap_or_default(),
        next: status.next_due.as_deref().map(minute).unwrap_or_default(),
        overview: overview.as_ref().map(cards),
        status: &status,
    };
    match &overview {
        Some(overview) => request.page(&page, overview),
        None => request.page(&page, &status),
    }
}

fn cards(overview: &Overview) -> OverviewCards<'_> {
    let account = &overview.account;
    let flags = &account.flags;
    let flags =
        [("NEW", flags.new), ("UPD", flags.updated), ("MIS", flags.missing), ("ERR", flags.error), ("SAM", flags.same)];
    OverviewCards {
        flags: flags.into_iter().map(|(flag, n)| (flag, grouped(n))).collect(),
        known: grouped(account.known),
        accounted: grouped(account.accounted),
        unaccounted: grouped(account.unaccounted),
        table: overview
            .stats
            .as_ref()
            .map(|stats| table_one(&stats.counts.seeds, &stats.counts.whole))
            .unwrap_or_default(),
        counted_at: overview.counted_at.as_deref().map(minute),
        trend: trend(&overview.runs),
        overview,
    }
}

/// Table 1, line by line.
fn table_one(seeds: &Column, whole: &Column) -> Vec<StatsLine> {
    let mut lines = vec![line("Sites", None, grouped(seeds.sites), grouped(whole.sites))];
    let mut count = |label: &str, query: Option<&str>, of: fn(&Column) -> u64| {
        lines.push(line(label, query, grouped(of(seeds)), grouped(of(whole))));
    };
    count("Pages fetched", Some(""), |column| column.pages);
    count("HTML", Some("kind=HTML"), |column| column.html);
    count("Duplicates", Some("kind=DUPLICATE"), |column| column.duplicates);
    count("Other types", Some("kind=BINARY"), |column| column.binary);
    count("Redirects", Some("kind=REDIRECT"), |column| column.redirects);
    count("Images on pages", None, |column| column.images);
    count("Links", None, |column| column.links);
    count("Disallowed by robots.txt", Some("kind=DISALLOWED"), |column| column.disallowed);
    count("Outside", Some("kind=OUTSIDE"), |column| column.outside);
    count("Queued", Some("kind=FRONTIER"), |column| column.frontier);
    lines.push(line("Transferred", None, bytes(seeds.bytes), bytes(whole.bytes)));
    for (kind, n) in &whole.errors {
        let label = format!("Failed: {}", kind.to_lowercase().replace('_', " "));
        let of_seeds = grouped(seeds.errors.get(kind).copied().unwrap_or(0));
        lines.push(line(&label, Some(&format!("kind={kind}")), of_seeds, grouped(*n)));
    }
    for (kind, n) in &whole.documents {
        let of_seeds = grouped(seeds.documents.get(kind).copied().unwrap_or(0));
        lines.push(line(&format!("Documents: {kind}"), None, of_seeds, grouped(*n)));
    }
    lines
}

fn line(label: &str, query: Option<&str>, seeds: String, whole: String) -> StatsLine {
    StatsLine { label: label.to_owned(), seeds, whole, query: query.map(str::to_owned) }
}
