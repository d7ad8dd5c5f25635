//! What is there, and what is running?

use crate::{AnswerError, Result, Window, due, is_shared_copy};
use orb_page::{Moment, RunState};
use orb_project::Settings;
use orb_store::{Home, ProjectDir, ProjectLock, RunCounters, RunReader, RunRecord, RunStatus};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
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
    /// How that run stands.
    pub state: Option<RunStanding>,
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

/// The states of the projects of a home.
#[derive(Debug, Default)]
pub struct HomeStatus {
    /// Those that can be read, by name.
    pub projects: Vec<ProjectStatus>,
    /// Those that cannot, by name, with the reason.
    pub unreadable: Vec<(String, AnswerError)>,
}

/// The states of some projects of a home. One that cannot be read hides none of the others.
pub fn status(home: &Home, rows: Window) -> Result<HomeStatus> {
    let mut found = HomeStatus::default();
    for project in rows.of(home.list()?) {
        match status_of(&project) {
            Ok(status) => found.projects.push(status),
            Err(why) => found.unreadable.push((project.name, why)),
        }
    }
    Ok(found)
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
        state: Some(RunStanding::of(last, running)),
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

/// The same for callers that know the last run. Who works on a shared project is not known here,
/// and who brings its copy up to date does not: its run is open or not.
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

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStanding {
    /// It is under way.
    Running,
    /// It was cut off, by a crash or a power failure.
    Interrupted,
    /// It has ended.
    Ended(RunState),
}

impl RunStanding {
    /// The standing of a run: one marked as running while nobody uses the project was interrupted.
    pub fn of(run: &RunRecord, running: bool) -> Self {
        match run.state {
            RunStatus::Running if running => Self::Running,
            RunStatus::Running => Self::Interrupted,
            RunStatus::Ended(state) => Self::Ended(state),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => RunStatus::Running.name(),
            Self::Interrupted => "interrupted",
            Self::Ended(state) => state.name(),
        }
    }

    /// Whether it is under way.
    pub fn is_running(self) -> bool {
        self == Self::Running
    }

    /// Whether it has visited everything.
    pub fn is_done(self) -> bool {
        self == Self::Ended(RunState::Done)
    }
}

impl fmt::Display for RunStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for RunStanding {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A string, like every name in JSON.
impl JsonSchema for RunStanding {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
