//! When does the server start runs by itself?
//!
//! When they are due, as `orb run-due` would: every half minute, by name, as many at once as the
//! operator allows. Nothing is kept between two looks: schedules and runs say what is due. A
//! project whose run failed is left alone for a while, so that one that cannot start does not start
//! for ever.

use crate::launch::{LaunchRecord, RunWish};
use crate::state::AppState;
use orb_answers::due_project;
use orb_page::Moment;
use orb_project::{Home, ProjectDir, Settings};
use std::sync::Arc;
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(30);

/// How long a project is left alone after its run failed.
const REST: Duration = Duration::from_secs(600);

/// Who asks for a run that is due.
pub(crate) const SCHEDULE: &str = "schedule";

/// Starts what is due until the server stops.
pub(crate) async fn keep_schedule(state: Arc<AppState>, at_once: usize) {
    let mut closing = state.closing.clone();
    loop {
        let shared = Arc::clone(&state);
        // A look that failed has said so in the log; the next one comes anyway.
        let _ = state.desk.work(move |home| start_due(home, &shared, at_once)).await;
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
    }
}

/// Starts the projects that are due, as far as there is room.
fn start_due(home: &Home, state: &AppState, at_once: usize) {
    let projects = match home.list() {
        Ok(projects) => projects,
        Err(error) => return tracing::warn!("cannot tell what is due: {error}"),
    };
    for project in projects {
        if state.launcher.under_way() >= at_once {
            return;
        }
        if let Some(wish) = wish(&project, Moment::now())
            && let Err(problem) = state.launcher.start(home, &project, &wish, SCHEDULE.into())
        {
            tracing::warn!("project {} is due and was not started: {}", project.name, problem.detail);
        }
    }
}

/// What a project is to do now, if anything. Settings that cannot be read are told by those who
/// look at the project.
fn wish(project: &ProjectDir, now: Moment) -> Option<RunWish> {
    let due = due_project(project, now).ok().flatten().filter(|due| due.is_due && !due.running)?;
    if has_just_failed(project, now) {
        return None;
    }
    let has_budget = Settings::kept(project).ok().flatten()?.track.budget.is_some();
    Some(RunWish { kind: due.kind.into(), due: has_budget, budget: None })
}

/// Whether the last run of a project that was started here failed a short while ago.
pub(crate) fn has_just_failed(project: &ProjectDir, now: Moment) -> bool {
    let failed = LaunchRecord::read(project).filter(LaunchRecord::has_failed).and_then(|record| record.ended_at);
    failed.and_then(|at| Moment::parse(&at)).is_some_and(|at| now < at.plus(REST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::LaunchKind;

    #[test]
    fn what_is_due_is_started_unless_it_has_just_failed() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let now = Moment::now();
        std::fs::write(project.settings(), "seeds = ['http://a.test/']\n").unwrap();
        assert_eq!(wish(&project, now), None, "it has no schedule");
        std::fs::write(project.settings(), "seeds = ['http://a.test/']\nschedule.every = '1h'\n").unwrap();
        let crawl = Some(RunWish { kind: LaunchKind::Crawl, due: false, budget: None });
        assert_eq!(wish(&project, now), crawl);
        let record = format!(
            r#"{{"kind":"crawl","by":"schedule","at":"{now}","pid":1,"run":null,"ended_at":"{now}","code":1,"told":"no"}}"#
        );
        std::fs::write(project.dir.join("launch.json"), record).unwrap();
        assert_eq!(wish(&project, now), None, "it would fail again");
        assert_eq!(wish(&project, now.plus(REST + Duration::from_secs(1))), crawl);
    }
}
