//! What is there, and what is running?

use crate::{Result, due};
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

/// The state of a project, or of all projects of a home.
pub fn status(home: &Home, project: Option<&str>) -> Result<Vec<ProjectStatus>> {
    let projects = match project {
        Some(name) => vec![home.find(name)?],
        None => home.list()?,
    };
    projects
        .iter()
        .map(|project| {
            // Commands that need the settings report unreadable ones.
            let settings = Settings::kept(project).ok().flatten();
            Ok(of(project, last_run(project)?.as_ref(), settings.as_ref()))
        })
        .collect()
}

/// The state of a project with this last run and these settings.
pub(crate) fn of(project: &ProjectDir, last: Option<&RunRecord>, settings: Option<&Settings>) -> ProjectStatus {
    let running = ProjectLock::is_held(project);
    let blank = ProjectStatus {
        project: project.name.clone(),
        running,
        run: None,
        kind: None,
        state: None,
        started_at: None,
        finished_at: None,
        next_due: settings.and_then(|s| due::of(project, s, last, Moment::now()).at).map(|at| at.to_string()),
        counters: RunCounters::default(),
    };
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

/// Whether a process is using a project: the quickest question of all.
pub fn is_running(project: &ProjectDir) -> bool {
    ProjectLock::is_held(project)
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
