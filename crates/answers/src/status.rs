//! What is there, and what is running?

use crate::{Result, due, is_shared_copy};
use orb_page::Moment;
use orb_project::Settings;
use orb_store::{Home, ProjectDir, ProjectLock, RunCounters, RunReader, RunRecord, RunStatus};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::SystemTime;

/// The state of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectStatus {
    /// The project.
    pub project: String,
    /// Whether a process is using it.
    pub running: bool,
    /// Its last run.
    pub run: Option<u32>,
    /// `crawl` or `track`.
    pub kind: Option<String>,
    /// The state of that run.
    pub state: Option<String>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// When its schedule is due next.
    pub next_due: Option<String>,
    /// What the run has done so far.
    #[serde(flatten)]
    pub counters: RunCounters,
}

impl ProjectStatus {
    /// The state of a project of which nothing is known.
    pub fn blank(project: &str) -> Self {
        Self {
            project: project.to_owned(),
            running: false,
            run: None,
            kind: None,
            state: None,
            started_at: None,
            finished_at: None,
            next_due: None,
            counters: RunCounters::default(),
        }
    }
}

/// The state of a project, or of all projects of a home.
pub fn status(home: &Home, project: Option<&str>) -> Result<Vec<ProjectStatus>> {
    let projects = match project {
        Some(name) => vec![home.find(name)?],
        None => home.list()?,
    };
    projects.iter().map(status_of).collect()
}

/// The state of a project that was already looked up.
pub fn status_of(project: &ProjectDir) -> Result<ProjectStatus> {
    // Commands that need the settings report unreadable ones.
    let settings = Settings::kept(project).ok().flatten();
    Ok(of(project, last_run(project)?.as_ref(), settings.as_ref()))
}

/// The state of a project with this last run and these settings.
pub(crate) fn of(project: &ProjectDir, last: Option<&RunRecord>, settings: Option<&Settings>) -> ProjectStatus {
    let running = runs_now(project, last);
    let next_due = settings.and_then(|s| due::of(project, s, last, Moment::now()).at).map(|at| at.to_string());
    let blank = ProjectStatus { running, next_due, ..ProjectStatus::blank(&project.name) };
    let Some(last) = last else { return blank };
    ProjectStatus {
        state: Some(state_of(last, running).to_owned()),
        run: Some(last.id.0),
        kind: Some(last.kind.name().to_owned()),
        started_at: Some(last.started_at.to_string()),
        finished_at: last.finished_at.map(|m| m.to_string()),
        counters: RunCounters::of(&last.counters),
        ..blank
    }
}

/// Whether a project is running: the quickest question of all, unless it is a copy.
pub fn is_running(project: &ProjectDir) -> bool {
    if is_shared_copy(project) {
        return last_run(project).is_ok_and(|last| runs_now(project, last.as_ref()));
    }
    ProjectLock::is_held(project)
}

/// The same for whoever knows the last run. Who works on a shared project is not known here, and
/// who brings its copy up to date does not: its run is open or not.
pub(crate) fn runs_now(project: &ProjectDir, last: Option<&RunRecord>) -> bool {
    match is_shared_copy(project) {
        true => last.is_some_and(|run| run.state == RunStatus::Running),
        false => ProjectLock::is_held(project),
    }
}

/// Whether somebody may be working on a run of the project that has not ended.
pub fn is_attended(project: &ProjectDir) -> bool {
    is_shared_copy(project) || ProjectLock::is_held(project)
}

/// Whether more may be recorded of a run that has ended: it may be resumed, or machines that share
/// it are still leaving.
pub(crate) fn may_go_on(project: &ProjectDir, run: &RunRecord) -> bool {
    ProjectLock::is_held(project) || (is_shared_copy(project) && run.state.is_resumed())
}

/// When something was last recorded in a project; `None` if it has collected nothing.
pub fn last_written(project: &ProjectDir) -> Option<SystemTime> {
    let catalogue = project.catalogue();
    let mut log = catalogue.clone().into_os_string();
    log.push("-wal");
    // What is committed is in the log first.
    let written = [catalogue, log.into()].into_iter().filter_map(|file| file.metadata().ok()?.modified().ok());
    written.max()
}

/// The run that is in progress or ended last; `None` if there was never one.
pub fn last_run(project: &ProjectDir) -> Result<Option<RunRecord>> {
    if project.is_empty() {
        return Ok(None);
    }
    Ok(RunReader::open(project)?.last()?)
}

/// The state of a run: one marked as running while nobody uses the project was interrupted.
pub fn state_of(run: &RunRecord, running: bool) -> &'static str {
    if run.state == RunStatus::Running && !running { "interrupted" } else { run.state.name() }
}
