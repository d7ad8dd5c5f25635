//! When is a project due next?

use crate::{Result, last_run};
use orb_page::{Moment, RunKind};
use orb_project::{Due, Settings};
use orb_store::{ProjectDir, ProjectLock, RunRecord};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A project with a schedule, and when it is due.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DueProject {
    /// The project.
    pub project: String,
    /// What is to be done: `crawl` or `track`.
    #[serde(serialize_with = "named")]
    #[schemars(with = "String")]
    pub kind: RunKind,
    /// When it is due; `None` if it never runs again, or is running.
    pub due: Option<String>,
    /// Whether that time has come.
    pub is_due: bool,
    /// Whether a run that was cut off is resumed.
    pub resumes: bool,
    /// Whether it is running.
    pub running: bool,
    /// When it is due, in words and by the clock of its schedule.
    #[serde(skip)]
    pub shown: String,
}

fn named<S: Serializer>(kind: &RunKind, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(kind.name())
}

/// When a project is to run, by its settings and its runs.
pub fn due(project: &ProjectDir, settings: &Settings, now: Moment) -> Result<Due> {
    Ok(of(project, settings, last_run(project)?.as_ref(), now))
}

/// The same for whoever knows the last run.
pub(crate) fn of(project: &ProjectDir, settings: &Settings, last: Option<&RunRecord>, now: Moment) -> Due {
    Due::of(&settings.schedule, project, last, ProjectLock::is_held(project), now)
}

/// When a project is due; `None` without a schedule.
pub fn due_project(project: &ProjectDir, now: Moment) -> Result<Option<DueProject>> {
    let Some(settings) = Settings::kept(project)? else { return Ok(None) };
    if settings.schedule.schedule().is_none() {
        return Ok(None);
    }
    Ok(scheduled(project, &settings, last_run(project)?.as_ref(), now))
}

/// The same for whoever knows the settings and the last run.
pub(crate) fn scheduled(
    project: &ProjectDir,
    settings: &Settings,
    last: Option<&RunRecord>,
    now: Moment,
) -> Option<DueProject> {
    settings.schedule.schedule()?;
    let due = of(project, settings, last, now);
    let zone = &settings.schedule.zone;
    let running = ProjectLock::is_held(project);
    let shown = match due.at {
        Some(at) if due.now => format!("now, since {}", zone.show(at)),
        Some(at) => zone.show(at),
        None => if running { "runs" } else { "never" }.to_owned(),
    };
    Some(DueProject {
        project: project.name.clone(),
        kind: due.kind,
        due: due.at.map(|at| at.to_string()),
        is_due: due.now,
        resumes: due.resumes,
        running,
        shown,
    })
}
