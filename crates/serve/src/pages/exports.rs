//! How does a collection leave, and who was told of its changes?

use crate::api::exports::file;
use crate::errand;
use crate::exports::{
    self, ExportStage, ExportWish, KeptExport, OfferedFormat, OfferedTable, make_export, remove_export,
};
use crate::hooks::without_secrets;
use crate::launch::last_words;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::grouped;
use orb_crawl::outputs::{OutputStanding, output_standings};
use serde::Serialize;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/exports", Right::Content, |request| Box::pin(show(request)), "Exports and deliveries")
        .with_secret(),
    RouteRow::post("/p/{p}/exports", Right::Run, |request| Box::pin(make(request)), "Begin an export"),
    RouteRow::get(
        "/p/{p}/exports/{export}/file",
        Right::Content,
        |request| Box::pin(file(request)),
        "Download an export",
    ),
    RouteRow::post(
        "/p/{p}/exports/{export}/remove",
        Right::Run,
        |request| Box::pin(remove(request)),
        "Remove an export",
    ),
    RouteRow::post(
        "/p/{p}/deliver",
        Right::Run,
        |request| Box::pin(deliver(request)),
        "Deliver changes to the outputs",
    ),
];

/// How long whoever asks waits for an export to be made, or changes to be delivered.
const PATIENCE: Duration = Duration::from_secs(3);

/// Exports and outputs of a project.
#[derive(Serialize)]
struct ExportsAnswer {
    exports: Vec<KeptExport>,
    outputs: Vec<OutputStanding>,
    /// Why the outputs cannot be told.
    problem: Option<String>,
    /// Whether changes are being delivered now.
    delivering: bool,
}

#[derive(Template)]
#[template(path = "exports.html")]
struct ExportsPage<'a> {
    frame: Frame,
    p: &'a str,
    can_make: bool,
    is_empty: bool,
    is_making: bool,
    delivering: bool,
    rows: Vec<ExportLine<'a>>,
    outputs: Vec<OutputLine<'a>>,
    problem: Option<&'a str>,
    has_hooks: bool,
    /// How trying the webhooks went: what was said, and whether it is bad.
    tried: Option<(String, bool)>,
    formats: Vec<(&'static str, &'static str)>,
    tables: Vec<&'static str>,
}

struct ExportLine<'a> {
    export: &'a KeptExport,
    chip: &'static str,
    state: &'static str,
    size: String,
    when: String,
}

struct OutputLine<'a> {
    output: &'a OutputStanding,
    left: String,
    failed: String,
}

impl<'a> ExportLine<'a> {
    fn of(export: &'a KeptExport) -> Self {
        let (chip, state) = match export.state {
            ExportStage::Making => (" run", "being made"),
            ExportStage::Done => ("", "whole"),
            ExportStage::Failed => (" bad", "failed"),
        };
        let size = if export.bytes > 0 { bytes(export.bytes) } else { String::new() };
        Self { export, chip, state, size, when: minute(&export.at) }
    }
}

async fn show(request: AdmittedRequest) -> Handled {
    let (project, may_edit) = (request.project()?.clone(), request.may(Right::Edit));
    let known = move |_: &ServedHome| {
        let delivering = errand::is_under_way(&project.dir.join("deliver.lock"));
        let (outputs, problem) = match output_standings(&project) {
            Ok(outputs) if may_edit => (outputs, None),
            Ok(outputs) => (without_secrets(outputs), None),
            Err(error) => (Vec::new(), Some(ProblemDetails::from(error).detail)),
        };
        ExportsAnswer { exports: exports::list(&project), outputs, problem, delivering }
    };
    let answer = request.state.desk.work(known).await?;
    let project = request.project()?;
    let tried = request.query().one("tried").filter(|_| !answer.delivering).map(|_| {
        let told = last_words(&project.dir.join("deliver.log"));
        told.map_or_else(|| ("The webhooks took the test.".to_owned(), false), |told| (told, true))
    });
    let page = ExportsPage {
        frame: request.frame(),
        p: &project.name,
        can_make: request.identity()?.may(Right::Run, &project.name),
        is_empty: project.is_empty(),
        is_making: answer.exports.iter().any(|export| export.state == ExportStage::Making),
        delivering: answer.delivering,
        rows: answer.exports.iter().map(ExportLine::of).collect(),
        outputs: answer.outputs.iter().map(output_line).collect(),
        problem: answer.problem.as_deref(),
        has_hooks: answer.outputs.iter().any(|output| output.output.starts_with("http")),
        tried,
        formats: OfferedFormat::ALL.iter().map(|(format, about)| (format.name(), *about)).collect(),
        tables: OfferedTable::ALL.iter().map(|table| table.name()).collect(),
    };
    request.page(&page, &answer)
}

fn output_line(output: &OutputStanding) -> OutputLine<'_> {
    let failed = output.failure.as_ref().map(|failure| format!("{}: {}", minute(&failure.at), failure.why));
    OutputLine { output, left: grouped(output.left), failed: failed.unwrap_or_default() }
}

async fn make(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let wrong = |what: &str| ProblemDetails::malformed(format!("there is no such {what}"));
    let named = OfferedFormat::ALL.iter().find(|(format, _)| form.one("format") == Some(format.name()));
    let format = named.ok_or_else(|| wrong("format"))?.0;
    let table = form.one("table").map(|name| OfferedTable::ALL.into_iter().find(|table| table.name() == name));
    let table = table.map(|table| table.ok_or_else(|| wrong("table"))).transpose()?;
    let wish = ExportWish { format, table, since: None, whole: false };
    // The form offers tables beside every format; those that have none ignore it.
    let wish = if wish.examine().is_ok() { wish } else { ExportWish { table: None, ..wish } };
    let made = make_export(&request, wish).await?;
    let place = format!("/p/{}/exports", request.project()?.name);
    // Most are made in a moment.
    errand::wait(exports::lock(request.project()?, &made), PATIENCE).await;
    AdmittedRequest::redirect(&place)
}

async fn remove(request: AdmittedRequest) -> Handled {
    request.form()?;
    remove_export(&request).await?;
    AdmittedRequest::redirect(&format!("/p/{}/exports", request.project()?.name))
}

/// Delivers in a process of its own, as `orb deliver` does; how it went is in the marks. Or tries
/// the webhooks, and what that process said last tells how it went.
async fn deliver(request: AdmittedRequest) -> Handled {
    let is_trial = request.form()?.one("try").is_some();
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let (lock, state) = (project.dir.join("deliver.lock"), Arc::clone(&request.state));
    let held = lock.clone();
    let begin = move |home: &ServedHome| {
        let asked = ["deliver".to_owned(), project.name.clone()].into_iter();
        let asked: Vec<String> = asked.chain(is_trial.then(|| "--try".to_owned())).collect();
        let mut command = state.launcher.command(&asked)?;
        command.stdout(Stdio::null());
        let what = if is_trial { "tried the webhooks" } else { "delivered the changes" };
        home.accounts().note(Some(&by), &format!("{what} of project {}", project.name))?;
        let begun = errand::begin(command, &held, &project.dir.join("deliver.log"));
        begun.map_err(|e| ProblemDetails::failed(&format!("cannot deliver: {e}")))
    };
    request.work(begin).await?;
    errand::wait(lock, PATIENCE).await;
    let said = if is_trial { "?tried=1" } else { "" };
    AdmittedRequest::redirect(&format!("/p/{}/exports{said}#deliveries", request.project()?.name))
}
