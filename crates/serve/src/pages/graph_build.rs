//! How does a project get its web graph?
//!
//! By `orb graph build`, an errand that outlives the server. The pages that show the graph offer to
//! begin it, and say so while it goes on.

use crate::errand;
use crate::launch::{Launcher, last_words};
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use orb_project::{Home, ProjectDir};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::post("/p/{p}/graph", Right::Run, |request| Box::pin(begin(request)), "Build the web graph")];

/// How long whoever asks waits for the end: small graphs are built in a moment.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether a graph is being built, and who may begin it.
pub(super) struct GraphWork {
    /// Whether it is being built now.
    pub(super) is_under_way: bool,
    /// Whether this visitor may begin it.
    pub(super) may_begin: bool,
    /// The last words of the last time it was built here.
    pub(super) told: Option<String>,
}

impl GraphWork {
    /// As it is for this request.
    pub(super) async fn of(request: &AdmittedRequest) -> Result<Self, ProblemDetails> {
        let project = request.project()?.clone();
        let may_begin = request.identity()?.may(Right::Run, &project.name) && !project.is_empty();
        let look = move |_: &ServedHome| {
            (errand::is_under_way(&place(&project, "lock")), last_words(&place(&project, "told.log")))
        };
        let (is_under_way, told) = request.state.desk.work(look).await?;
        Ok(Self { is_under_way, may_begin, told })
    }
}

/// Where the errand keeps its lock and what it said.
fn place(project: &ProjectDir, name: &str) -> PathBuf {
    project.dir.join("graph-build").join(name)
}

async fn begin(request: AdmittedRequest) -> Handled {
    let back = request.form()?.one("back").filter(|back| *back == "structure").unwrap_or("graph").to_owned();
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let (state, lock) = (Arc::clone(&request.state), place(&project, "lock"));
    request.work(move |home| start(home, &state.launcher, &project, &by)).await?;
    errand::wait(lock, PATIENCE).await;
    AdmittedRequest::redirect(&format!("/p/{}/{back}", request.project()?.name))
}

/// Starts to build, unless that goes on already.
fn start(home: &Home, launcher: &Launcher, project: &ProjectDir, by: &str) -> Result<(), ProblemDetails> {
    let failed = |e: io::Error| ProblemDetails::failed(&format!("cannot begin to build the graph: {e}"));
    let busy = || ProblemDetails::conflict("building", format!("the graph of project {} is being built", project.name));
    let mut command = launcher.command(&["graph".to_owned(), "build".to_owned(), project.name.clone()])?;
    fs::create_dir_all(project.dir.join("graph-build")).map_err(failed)?;
    home.accounts().note(Some(by), &format!("built the graph of project {}", project.name))?;
    command.stdout(Stdio::null());
    let begun = errand::begin(command, &place(project, "lock"), &place(project, "told.log")).map_err(failed)?;
    begun.map(drop).ok_or_else(busy)
}
