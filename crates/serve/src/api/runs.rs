//! Which runs were there, how did they go, and what did they find?

use crate::choice;
use crate::list::{self, Continued, ListPage};
use crate::openapi::{AskedField, RouteShape};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json, typed};
use crate::routes::{Right, RouteRow};
use orb_answers::{AnswerError, ListedRun, ReportRow, ReportWish, RunReport, Window, log_text, report, run, runs};
use orb_crawl::{PaceSeries, SpeedAccount, why};
use orb_page::RunId;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/projects/{p}/runs", Right::Read, |request| Box::pin(all(request)), "The runs, latest first")
        .shaped(RouteShape::gives::<ListPage<ListedRun>>().paged_by("^[0-9]{1,9}$")),
    RouteRow::get("/api/v1/projects/{p}/runs/{n}", Right::Read, |request| Box::pin(one(request)), "A run")
        .shaped(RouteShape::gives::<ListedRun>()),
    RouteRow::get(
        "/api/v1/projects/{p}/runs/{n}/why",
        Right::Read,
        |request| Box::pin(speed(request)),
        "Why the last run is as fast as it is",
    )
    .shaped(RouteShape::gives::<SpeedAccount>()),
    RouteRow::get("/api/v1/projects/{p}/runs/{n}/pace", Right::Read, |request| Box::pin(pace(request)), "A run's pace")
        .shaped(RouteShape::gives::<PaceSeries>()),
    RouteRow::get("/api/v1/projects/{p}/runs/{n}/log", Right::Read, |request| Box::pin(log(request)), "A run's log")
        .shaped(RouteShape::streams(&["text/plain"])),
    RouteRow::get(
        "/api/v1/projects/{p}/runs/{n}/report",
        Right::Read,
        |request| Box::pin(found(request)),
        "What a run found new, updated, missing",
    )
    .shaped(RouteShape::gives::<Continued<ReportedRun>>().query(REPORT).paged()),
];

const REPORT: &[AskedField] = &[
    AskedField::like(
        "flag",
        choice::FLAG_LIST,
        "NEW, SAM, UPD, MIS or ERR; several with commas. Changes without a wish",
    ),
    AskedField::flag("around", "Of unchanged documents, those that changed around their main content"),
];

/// The account of a run with some of its documents.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReportedRun {
    /// The account.
    #[serde(flatten)]
    pub(crate) account: RunReport,
    /// The documents.
    pub(crate) changes: Vec<ReportRow>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let (before, limit) = (request.query().parsed("after")?, list::limit(&request)?);
    let rows = Window { limit: limit as u64 + 1, offset: 0 };
    let found = request.ask(move |collection| runs(collection, before, rows)).await?;
    ListPage::of(found, limit, |row| row.run.to_string()).respond(&request)
}

async fn one(request: AdmittedRequest) -> Handled {
    let number = request.number("n")?;
    json(&request.ask(move |collection| run(collection, number)).await?)
}

/// A run writes down what it needs for this while it goes on, and only the last one's is asked for.
async fn speed(request: AdmittedRequest) -> Handled {
    let (project, number) = (request.project()?.clone(), request.number::<u32>("n")?);
    let account = request.work::<_, AnswerError, _>(move |_| why(&project)).await?;
    if account.run != number {
        return Err(ProblemDetails::not_found(format!("only the last run, {}, is accounted for", account.run)));
    }
    json(&account)
}

/// Runs of earlier versions wrote none down.
async fn pace(request: AdmittedRequest) -> Handled {
    let (project, number) = (request.project()?.clone(), request.number("n")?);
    let series = request.ask(move |collection| {
        run(collection, number)?;
        let unknown = || AnswerError::Unknown(format!("run {number} did not record its pace"));
        PaceSeries::read(&project, RunId(number)).ok_or_else(unknown)
    });
    json(&series.await?)
}

async fn log(request: AdmittedRequest) -> Handled {
    let number = request.number("n")?;
    let text = request.ask(move |collection| log_text(collection, number)).await?;
    Ok(typed("text/plain; charset=utf-8", text))
}

async fn found(request: AdmittedRequest) -> Handled {
    let (query, limit) = (request.query(), list::limit(&request)?);
    let passed: u64 = query.parsed("after")?.unwrap_or(0);
    let around = choice::is_set(&query, "around")?;
    let named = query.one("flag").is_some();
    let flags = if named { choice::flags(query.all("flag"))? } else { Vec::new() };
    let wish =
        ReportWish { run: Some(request.number("n")?), flags, around, limit: Some(limit as u64 + 1), offset: passed };
    let mut page = request.ask(move |collection| report_page(collection, &wish)).await?;
    let is_cut = page.changes.len() > limit;
    page.changes.truncate(limit);
    let next = is_cut.then(|| (passed + limit as u64).to_string());
    Continued { answer: page, next }.respond(&request)
}

/// The report that is wished for, in memory.
pub(crate) fn report_page(collection: &orb_answers::Collection, wish: &ReportWish) -> Result<ReportedRun, AnswerError> {
    report(collection, wish, |report| {
        let mut changes = Vec::new();
        report.each(|row| {
            changes.push(row);
            Ok(())
        })?;
        Ok(ReportedRun { account: report.account.clone(), changes })
    })?
}
