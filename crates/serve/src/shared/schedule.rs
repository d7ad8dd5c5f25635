//! When are runs on the shared store started?
//!
//! When they are due, by the store's clock, and by one server alone: the one that has the store's
//! row ([`ScheduleDesk`]), which it renews while it lives. What is due is read from the store and
//! not from a copy, and the run that is begun is the one that was found to be due or none.

use super::SharedProjects;
use crate::launch::{LaunchedBy, RunWish};
use crate::scheduler::{SCHEDULE, has_just_failed};
use crate::state::AppState;
use orb_crawl::machine::MachineState;
use orb_crawl::{ScheduleDesk, SharedTimetable, Stop};
use orb_project::{Due, Home, ProjectDir, Settings, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a server that says nothing keeps the right.
const LEASE: Duration = Duration::from_secs(15);

/// Between two looks, with which the right is renewed.
const LOOK: Duration = Duration::from_secs(5);

/// Starts what is due on the shared store until it is asked to stop.
pub(crate) fn keep_shared_schedule(
    (shared, state): (&Arc<SharedProjects>, &AppState),
    at_once: usize,
    stop: &Stop,
) -> Result<(), StoreError> {
    let (home, holder) = (Home::open(&shared.home)?, orb_project::fresh_secret()?);
    let mut desk = ScheduleDesk::new(&shared.at, &holder);
    let machine = MachineState::now().name;
    let (mut has_right, mut is_told) = (false, false);
    loop {
        let claimed = desk.claim(LEASE).and_then(|has| {
            has_right = has;
            if has { desk.timetables() } else { Ok(Vec::new()) }
        });
        match claimed {
            Ok(tables) => {
                is_told = false;
                start_due(&home, (shared, state), (&tables, machine.as_deref()), at_once);
            }
            Err(error) if !is_told => {
                tracing::warn!("cannot tell what is due on the shared store: {error}");
                is_told = true;
            }
            Err(_) => {}
        }
        if stop.wait(LOOK) {
            // What cannot be given back runs out.
            return if has_right { desk.release() } else { Ok(()) };
        }
    }
}

/// Starts the projects that are due, as far as there is room.
fn start_due(
    home: &Home,
    (shared, state): (&SharedProjects, &AppState),
    (tables, machine): (&[SharedTimetable], Option<&str>),
    at_once: usize,
) {
    for table in tables {
        let launcher = &state.launcher;
        if launcher.under_way() >= at_once {
            return;
        }
        let project =
            ProjectDir { name: table.project.clone(), dir: shared.place(&table.project), created_at: table.made_at };
        if launcher.is_under_way(&project.name) || has_just_failed(&project, table.now) {
            continue;
        }
        if let Some((wish, run)) = wish(table, &project, machine) {
            let by = LaunchedBy { name: SCHEDULE, run: Some(run) };
            if let Err(problem) = launcher.start(home, &project, &wish, by) {
                tracing::warn!("project {} is due and was not started: {}", project.name, problem.detail);
            }
        }
    }
}

/// What a project is to do now, if anything, and as which run. Settings that cannot be read are
/// told by those who look at the project.
fn wish(table: &SharedTimetable, project: &ProjectDir, machine: Option<&str>) -> Option<(RunWish, u32)> {
    let settings = Settings::parse(&table.settings, Path::new("project.toml")).ok()?;
    let last = table.last.as_ref();
    let is_open = last.is_some_and(|run| run.finished_at.is_none());
    let is_ours = table.machines.is_empty() || machine.is_some_and(|name| table.machines.iter().any(|of| of == name));
    // An open run on which nobody works is resumed by a machine that it is meant for.
    let running = is_open && (table.workers > 0 || !is_ours);
    let due = Due::of(&settings.schedule, project, last, running, table.now);
    let before = last.map_or(0, |run| run.id.0);
    let run = if due.resumes { before } else { before + 1 };
    let wish = RunWish { kind: due.kind.into(), due: settings.track.budget.is_some(), budget: None };
    due.now.then_some((wish, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::LaunchKind;
    use orb_crawl::{RunRecord, RunStatus};
    use orb_page::{Moment, RunId, RunKind, RunState};

    const HOUR: i64 = 3_600_000;

    #[test]
    fn what_is_due_is_a_run_of_a_certain_number() {
        let project = ProjectDir { name: "p".into(), dir: "/nowhere/p".into(), created_at: Moment(0) };
        let mut table = SharedTimetable {
            project: "p".into(),
            settings: "schedule.every = '1h'".into(),
            made_at: Moment(0),
            last: None,
            machines: Vec::new(),
            workers: 0,
            now: Moment(HOUR),
        };
        let due = |table: &SharedTimetable| wish(table, &project, Some("here")).map(|(wish, run)| (wish.kind, run));
        assert_eq!(due(&table), Some((LaunchKind::Crawl, 1)));
        let run = RunRecord {
            id: RunId(4),
            kind: RunKind::Track,
            state: RunStatus::Ended(RunState::Done),
            started_at: Moment(0),
            finished_at: Some(Moment(1)),
            counters: String::new(),
            settings: String::new(),
        };
        table.last = Some(run.clone());
        assert_eq!(due(&table), Some((LaunchKind::Track, 5)));
        table.last = Some(RunRecord { state: RunStatus::Running, finished_at: None, ..run });
        assert_eq!(due(&table), Some((LaunchKind::Track, 4)), "nobody works on it");
        table.workers = 1;
        assert_eq!(due(&table), None, "somebody does");
        (table.workers, table.machines) = (0, vec!["there".into()]);
        assert_eq!(due(&table), None, "it waits for another machine");
    }
}
