//! Do the stores of a project agree?
//!
//! `orb check` reads everything, which may take long: it is an errand that outlives the server.
//! What it found is kept until the next check.

use crate::errand;
use crate::launch::last_words;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::grouped;
use orb_page::Moment;
use orb_project::{Home, ProjectDir};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/check", Right::Run, |request| Box::pin(show(request)), "What the last check found"),
    RouteRow::post("/p/{p}/check", Right::Run, |request| Box::pin(begin(request)), "Check whether the stores agree"),
];

/// How long whoever asks waits for the end: small collections are checked in a moment.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who asked for a check.
#[derive(Serialize, Deserialize)]
struct CheckAsker {
    by: String,
    at: String,
}

/// What a check found, as `orb check --json` tells it.
#[derive(Serialize, Deserialize)]
struct KeptCheck {
    findings: Vec<KeptFinding>,
    found: u64,
    notes: Vec<String>,
    counts: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct KeptFinding {
    store: String,
    what: String,
}

/// The last check of a project.
#[derive(Serialize)]
struct CheckAnswer {
    /// `never`, `checking`, `done` or `failed`.
    state: &'static str,
    asked: Option<CheckAsker>,
    report: Option<KeptCheck>,
    /// Why it failed.
    told: Option<String>,
}

#[derive(Template)]
#[template(path = "check.html")]
struct CheckPage<'a> {
    frame: Frame,
    p: &'a str,
    is_empty: bool,
    answer: &'a CheckAnswer,
    when: String,
    found: String,
    counts: Vec<(&'a str, String)>,
}

/// Where the last check of a project is kept.
fn place(project: &ProjectDir, name: &str) -> PathBuf {
    project.dir.join("check").join(name)
}

/// The last check, as its directory tells it.
fn look(project: &ProjectDir) -> CheckAnswer {
    let read = |name: &str| fs::read(place(project, name)).ok();
    let is_under_way = errand::is_under_way(&place(project, "lock"));
    let asked: Option<CheckAsker> = read("asked.json").and_then(|text| serde_json::from_slice(&text).ok());
    let report: Option<KeptCheck> = read("found.json").and_then(|text| serde_json::from_slice(&text).ok());
    let (state, told) = match (&asked, &report) {
        _ if is_under_way => ("checking", None),
        (_, Some(_)) => ("done", None),
        (None, None) => ("never", None),
        (Some(_), None) => {
            let told = last_words(&place(project, "told.log")).unwrap_or_else(|| "it was killed".to_owned());
            ("failed", Some(told))
        }
    };
    CheckAnswer { state, asked, report: report.filter(|_| !is_under_way), told }
}

async fn show(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    let answer = request.state.desk.work(move |_| look(&project)).await?;
    let report = answer.report.as_ref();
    let count = |(name, value): (&'_ String, &serde_json::Value)| (name.clone(), grouped(value.as_u64().unwrap_or(0)));
    let counts: Vec<(String, String)> = report.into_iter().flat_map(|report| &report.counts).map(count).collect();
    let page = CheckPage {
        frame: request.frame(),
        p: &request.project()?.name,
        is_empty: request.project()?.is_empty(),
        when: answer.asked.as_ref().map(|asked| minute(&asked.at)).unwrap_or_default(),
        found: grouped(report.map_or(0, |report| report.found)),
        counts: counts.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
        answer: &answer,
    };
    request.page(&page, &answer)
}

async fn begin(request: AdmittedRequest) -> Handled {
    request.form()?;
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let (state, lock) = (Arc::clone(&request.state), place(&project, "lock"));
    request.work(move |home| start(home, &state.launcher, &project, by)).await?;
    errand::wait(lock, PATIENCE).await;
    AdmittedRequest::redirect(&format!("/p/{}/check", request.project()?.name))
}

/// Starts a check, unless one goes on.
fn start(
    home: &Home,
    launcher: &crate::launch::Launcher,
    project: &ProjectDir,
    by: String,
) -> Result<(), ProblemDetails> {
    let failed = |e: io::Error| ProblemDetails::failed(&format!("cannot begin a check: {e}"));
    let busy = || ProblemDetails::conflict("checking", format!("project {} is being checked", project.name));
    let lock = place(project, "lock");
    if errand::is_under_way(&lock) {
        return Err(busy());
    }
    let mut command = launcher.command(&["check".to_owned(), project.name.clone()])?;
    fs::create_dir_all(project.dir.join("check")).map_err(failed)?;
    home.accounts().note(Some(&by), &format!("checked project {}", project.name))?;
    let asked = serde_json::to_vec(&CheckAsker { by, at: Moment::now().to_string() }).map_err(io::Error::from);
    asked.and_then(|asked| fs::write(place(project, "asked.json"), asked)).map_err(failed)?;
    command.stdout(File::create(place(project, "found.json")).map_err(failed)?);
    let begun = errand::begin(command, &lock, &place(project, "told.log")).map_err(failed)?;
    begun.map(drop).ok_or_else(busy)
}
