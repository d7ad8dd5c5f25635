//! How does somebody start, stop and acknowledge a run?

use crate::fields::FormFields;
use crate::launch::{LaunchKind, LaunchRecord, LaunchState, RunWish, acknowledge_run, start_run, stop_run};
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{ProjectStatus, RunStanding, grouped};
use orb_crawl::machine::MachineState;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/run", Right::Run, |request| Box::pin(show(request)), "The form to start a run"),
    RouteRow::post("/p/{p}/runs", Right::Run, |request| Box::pin(start(request)), "Start a run"),
    RouteRow::post("/p/{p}/runs/{n}/stop", Right::Run, |request| Box::pin(stop(request)), "Stop a run"),
    RouteRow::post("/p/{p}/runs/{n}/ack", Right::Run, |request| Box::pin(acknowledge(request)), "Acknowledge a run"),
];

/// The state of a project, and the run that was started here last.
#[derive(Serialize, JsonSchema)]
struct RunDesk {
    status: ProjectStatus,
    last: Option<LaunchRecord>,
}

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage<'a> {
    frame: Frame,
    name: &'a str,
    running: bool,
    run: Option<u32>,
    kind: &'a str,
    state: &'a str,
    pages: String,
    queued: u64,
    /// This machine, which the run is begun on.
    machine: String,
    last: Option<LastLaunch>,
}

/// The last run that was started here, to be shown.
struct LastLaunch {
    by: String,
    at: String,
    kind: &'static str,
    failed: bool,
    told: Option<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let (project, status) = (request.project()?.clone(), request.status().await?);
    let last = request.work(move |_| Ok::<_, ProblemDetails>(LaunchRecord::read(&project))).await?;
    let shown = last.clone().map(|record| LastLaunch {
        failed: record.has_failed(),
        by: record.by,
        at: minute(&record.at),
        kind: record.kind.name(),
        told: record.told,
    });
    let page = RunPage {
        frame: request.frame(),
        name: &status.project,
        running: status.running,
        run: status.run,
        kind: status.kind.as_deref().unwrap_or_default(),
        state: status.state.map_or("new", RunStanding::name),
        pages: grouped(status.counters.pages),
        queued: status.counters.frontier,
        machine: MachineState::now().name.unwrap_or_else(|| "this machine".to_owned()),
        last: shown,
    };
    request.page(&page, &RunDesk { status: status.clone(), last })
}

/// What a form asks for.
fn wish(form: &FormFields) -> Result<RunWish, ProblemDetails> {
    let kind = match form.needed("kind")? {
        "crawl" => LaunchKind::Crawl,
        "track" => LaunchKind::Track,
        other => return Err(ProblemDetails::malformed(format!("a run is a crawl or a track, not '{other}'"))),
    };
    let budget = if form.one("choice") == Some("budget") { form.parsed("budget")? } else { None };
    Ok(RunWish { kind, due: form.one("choice") == Some("due"), budget })
}

async fn start(request: AdmittedRequest) -> Handled {
    let wish = wish(&request.form()?)?;
    let project = request.project()?.name.clone();
    match start_run(&request, wish).await? {
        LaunchState::Running(run) => AdmittedRequest::redirect(&format!("/p/{project}/runs/{run}/live")),
        LaunchState::Starting | LaunchState::Ended(_) => AdmittedRequest::redirect(&format!("/p/{project}/run")),
    }
}

async fn stop(request: AdmittedRequest) -> Handled {
    let run = stop_run(&request).await?;
    AdmittedRequest::redirect(&format!("/p/{}/runs/{run}/live", request.project()?.name))
}

async fn acknowledge(request: AdmittedRequest) -> Handled {
    let note = request.form()?.one("note").map(str::to_owned);
    let row = acknowledge_run(&request, note).await?;
    let project = &request.project()?.name;
    AdmittedRequest::redirect(&format!("/p/{project}/runs/{}", row.run))
}
