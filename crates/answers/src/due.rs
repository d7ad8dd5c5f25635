//! When is a project due next?

use crate::status::runs_now;
use crate::{Result, last_run};
use orb_page::{Moment, RunKind};
use orb_project::{Due, Settings};
use orb_store::{ProjectDir, RunRecord};
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

/// The same for callers that know the last run.
pub(crate) fn of(project: &ProjectDir, settings: &Settings, last: Option<&RunRecord>, now: Moment) -> Due {
    Due::of(&settings.schedule, project, last, runs_now(project, last), now)
}

/// When a project is due; `None` without a schedule.
pub fn due_project(project: &ProjectDir, now: Moment) -> Result<Option<DueProject>> {
    let Some(settings) = Settings::kept(project)? else { return Ok(None) };
    if settings.schedule.schedule().is_none() {
        return Ok(None);
    }
    Ok(scheduled(project, &settings, last_run(project)?.as_ref(), now))
}

/// When a project will run in the days to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UpcomingRuns {
    /// The project.
    pub project: String,
    /// When it is due, the next first; at most a thousand times.
    pub due: Vec<String>,
    /// Visits that its budget allows, as its settings say it.
    pub budget: Option<String>,
}

/// The most times that are listed.
const MOST_TIMES: usize = 1_000;

/// When a project will run until a moment, if every run begins when it is due; `None` without a
/// schedule.
pub(crate) fn upcoming(
    project: &ProjectDir,
    settings: &Settings,
    last: Option<&RunRecord>,
    (now, until): (Moment, Moment),
) -> Option<UpcomingRuns> {
    let schedule = settings.schedule.schedule()?;
    let next = |after: Option<Moment>, now: Moment| schedule.due(&project.name, after, project.created_at, now);
    let first = of(project, settings, last, now).at.or_else(|| next(last.map(|run| run.started_at), now));
    let mut due = Vec::new();
    let mut at = first.map(|at| at.max(now));
    while let Some(time) = at.filter(|time| *time <= until && due.len() < MOST_TIMES) {
        due.push(time.to_string());
        at = next(Some(time), time).filter(|later| *later > time);
    }
    let budget = settings.track.budget.map(|budget| budget.to_string());
    Some(UpcomingRuns { project: project.name.clone(), due, budget })
}

/// When a project is due, for callers that know its settings and its last run.
pub(crate) fn scheduled(
    project: &ProjectDir,
    settings: &Settings,
    last: Option<&RunRecord>,
    now: Moment,
) -> Option<DueProject> {
    settings.schedule.schedule()?;
    let due = of(project, settings, last, now);
    let zone = &settings.schedule.zone;
    let running = runs_now(project, last);
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

#[cfg(test)]
mod tests {
    use super::*;
    use orb_project::Home;
    use std::path::Path;

    #[test]
    fn the_days_to_come_are_known_from_the_schedule() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let now = Moment::parse("2026-11-18T09:00:00Z").unwrap();
        let until = Moment::parse("2026-11-20T09:00:00Z").unwrap();
        let project = ProjectDir { created_at: now, ..project };
        let due = |text: &str| {
            let settings = Settings::parse(text, Path::new("p.toml")).unwrap();
            upcoming(&project, &settings, None, (now, until)).map(|runs| runs.due)
        };
        assert_eq!(due(""), None);
        let at = due("[schedule]\ncron = '30 6 * * *'").unwrap();
        assert_eq!(at, ["2026-11-19T06:30:00.000Z", "2026-11-20T06:30:00.000Z"]);
        let every = due("[schedule]\nevery = '1d'").unwrap();
        assert_eq!(every, ["2026-11-18T09:00:00.000Z", "2026-11-19T09:00:00.000Z", "2026-11-20T09:00:00.000Z"]);
        assert_eq!(due("[schedule]\nevery = '1m'").unwrap().len(), MOST_TIMES);
        assert_eq!(due("[schedule]\nevery = '1d'\nuntil = '2026-11-18 23:00'").unwrap().len(), 1);
    }
}
