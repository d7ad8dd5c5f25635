//! Which runs were there, and what did each of them find?

use super::unreached::{UnreachedPage, unreached};
use crate::launch::asked_by;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, Verb, has_page, table};
use crate::steer::{FilterChoice, ListSteps};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{AnswerError, ListedRun, ReportRow, ReportWish, RunReport, Window, grouped, report, runs};
use orb_page::Flag;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/runs", Right::Read, |request| Box::pin(all(request)), "The runs of a project").for_guests(),
    RouteRow::get("/p/{p}/runs/{n}", Right::Read, |request| Box::pin(one(request)), "What a run found").for_guests(),
];

/// Rows on one screen.
const ROWS: u64 = 100;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage<'a> {
    frame: Frame,
    p: &'a str,
    rows: Vec<RunLine<'a>>,
    is_guest: bool,
    may_run: bool,
    steps: ListSteps,
}

struct RunLine<'a> {
    run: &'a ListedRun,
    /// Who asked for it; empty if nobody did here.
    by: String,
    when: String,
    took: String,
    pages: String,
    bytes: String,
    flags: Vec<(&'static str, String)>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let offset = request.offset()?;
    let window = Window { limit: ROWS + 1, offset };
    let mut found = match request.project()?.is_empty() {
        true => Vec::new(),
        false => request.ask(move |collection| runs(collection, None, window)).await?,
    };
    let has_more = found.len() as u64 > ROWS;
    found.truncate(ROWS as usize);
    let (project, numbers) = (request.project()?.clone(), found.iter().map(|run| run.run).collect::<Vec<_>>());
    let is_guest = request.is_guest();
    let askers = request.work(move |_| {
        let asker = |run: u32| asked_by(&project, run).filter(|_| !is_guest).unwrap_or_default();
        Ok::<_, AnswerError>(numbers.into_iter().map(asker).collect::<Vec<_>>())
    });
    let askers = askers.await?;
    let page = RunsPage {
        frame: request.frame(),
        p: &request.project()?.name,
        rows: found.iter().zip(askers).map(|(run, by)| line(run, by)).collect(),
        is_guest,
        may_run: request.may(Right::Run),
        steps: request.around(offset, ROWS, has_more),
    };
    request.page(&page, &found)
}

fn line(run: &ListedRun, by: String) -> RunLine<'_> {
    let flags = &run.counters.flags;
    let flags = [("NEW", flags.new), ("UPD", flags.updated), ("MIS", flags.missing), ("ERR", flags.error)];
    RunLine {
        by,
        when: minute(&run.started_at),
        took: duration(run.counters.seconds),
        pages: grouped(run.counters.pages),
        bytes: bytes(run.counters.bytes),
        flags: flags.into_iter().filter(|(_, n)| *n > 0).map(|(flag, n)| (flag, grouped(n))).collect(),
        run,
    }
}

/// Seconds as people say them.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// A report with its documents.
#[derive(Serialize)]
struct ListedReport {
    #[serde(flatten)]
    account: RunReport,
    documents: Vec<ReportRow>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    frame: Frame,
    p: &'a str,
    account: &'a RunReport,
    started: String,
    took: String,
    known: String,
    accounted: String,
    unaccounted: String,
    sum: String,
    new: String,
    failed: String,
    choices: Vec<FilterChoice>,
    rows: Vec<ReportLine<'a>>,
    steps: ListSteps,
    live: bool,
    can_acknowledge: bool,
    acknowledged: Option<String>,
    csv: String,
    text: String,
    is_guest: bool,
    /// Why there is nothing, if nothing could be fetched.
    unreached: Vec<UnreachedPage>,
}

struct ReportLine<'a> {
    row: &'a ReportRow,
    flag: &'static str,
    title: &'a str,
}

async fn one(request: AdmittedRequest) -> Handled {
    let run: u32 = request.number("n")?;
    let (fields, offset) = (request.query(), request.offset()?);
    let chosen: Vec<Flag> = fields.all("flag").filter_map(Flag::from_name).collect();
    let around = fields.one("around").is_some();
    let wish = ReportWish { run: Some(run), flags: chosen.clone(), around, limit: Some(ROWS + 1), offset };
    let found = request.ask(move |collection| {
        let found = report(collection, &wish, |report| {
            let mut documents = Vec::new();
            report.each(|row| {
                documents.push(row);
                Ok(())
            })?;
            Ok::<_, AnswerError>(ListedReport { account: report.account.clone(), documents })
        })??;
        let unreached = unreached(collection, &found.account)?;
        Ok::<_, AnswerError>((found, unreached))
    });
    let (mut found, unreached) = found.await?;
    let has_more = found.documents.len() as u64 > ROWS;
    found.documents.truncate(ROWS as usize);
    let account = &found.account;
    let acknowledges = table().any(|row| row.verb == Verb::Post && row.path == "/p/{p}/runs/{n}/ack");
    let page = ReportPage {
        frame: request.frame(),
        p: &request.project()?.name,
        started: minute(&account.started_at.to_string()),
        took: duration(account.seconds),
        known: grouped(account.known),
        accounted: grouped(account.accounted),
        unaccounted: grouped(account.unaccounted),
        sum: sum(account),
        new: grouped(account.flags.new),
        failed: grouped(account.flags.error),
        choices: choices(&request, account, &chosen, around),
        rows: found.documents.iter().map(document).collect(),
        steps: request.around(offset, ROWS, has_more),
        live: account.state.is_running() && has_page("/p/{p}/runs/{n}/live"),
        can_acknowledge: acknowledges && request.identity()?.may(Right::Run, &request.project()?.name),
        acknowledged: account.acknowledged.as_ref().map(|ack| {
            let by = ack.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            let note = ack.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            format!("{}{by}{note}", minute(&ack.at))
        }),
        csv: file(&request, "csv"),
        text: file(&request, "txt"),
        is_guest: request.is_guest(),
        account,
        unreached,
    };
    request.page(&page, &found)
}

/// Where the same report is as a file.
fn file(request: &AdmittedRequest, ending: &str) -> String {
    let here = request.here_with(&[("offset", None), ("around", None)]);
    let (path, query) = here.split_once('?').map_or((here.as_str(), String::new()), |(p, q)| (p, format!("?{q}")));
    format!("{path}/report.{ending}{query}")
}

/// How the documents that were known add up.
fn sum(account: &RunReport) -> String {
    let flags = &account.flags;
    let parts =
        [("the same", flags.same), ("updated", flags.updated), ("missing", flags.missing), ("in error", flags.error)];
    parts.map(|(what, n)| format!("{} {what}", grouped(n))).join(" + ")
}

fn choices(request: &AdmittedRequest, account: &RunReport, chosen: &[Flag], around: bool) -> Vec<FilterChoice> {
    let flags = &account.flags;
    let counts = [
        (Flag::New, flags.new),
        (Flag::Updated, flags.updated),
        (Flag::Missing, flags.missing),
        (Flag::Error, flags.error),
        (Flag::Same, flags.same),
    ];
    let mut out = vec![FilterChoice {
        label: "All changes".to_owned(),
        path: request.here_with(&[("flag", None), ("around", None), ("offset", None)]),
        is_chosen: chosen.is_empty() && !around,
    }];
    out.extend(counts.into_iter().map(|(flag, n)| FilterChoice {
        label: format!("{} {}", flag.name(), grouped(n)),
        path: request.here_with(&[("flag", Some(flag.name())), ("around", None), ("offset", None)]),
        is_chosen: chosen == [flag] && !around,
    }));
    out.extend((account.around > 0).then(|| FilterChoice {
        label: format!("changed around {}", grouped(account.around)),
        path: request.here_with(&[("flag", None), ("around", Some("1")), ("offset", None)]),
        is_chosen: around,
    }));
    out
}

fn document(row: &ReportRow) -> ReportLine<'_> {
    let title = row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.url);
    ReportLine { row, flag: row.flag.name(), title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_the_unit_people_use() {
        assert_eq!([3.84, 61.0, 600.0, 9_000.0].map(duration), ["3.8 s", "61 s", "10 min", "2.5 h"]);
    }
}
