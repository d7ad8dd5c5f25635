//! When is a project due next, and what is to be done then?
//!
//! Between two runs: `[schedule]` and the list of runs determine it; no other state is kept. A
//! project that was never run is crawled, any other tracked; a run that crashed is resumed at once,
//! one that the user stopped when it is due.

use crate::examine::Wrong;
use crate::units::HumanDuration;
use orb_page::Moment;
use orb_page::RunKind;
use orb_store::{ProjectDir, RunRecord, RunStatus};
use orb_track::schedule::{Cron, Rhythm, Stamp, Timetable, Zone};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Minimum time between runs.
const SHORTEST: Duration = Duration::from_secs(60);

/// Section `[schedule]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleSettings {
    /// Run again this long after the start of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<HumanDuration>,
    /// Run at these clock times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<Cron>,
    /// Its time zone.
    pub zone: Zone,
    /// Maximum random delay.
    pub jitter: HumanDuration,
    /// Not before this date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Stamp>,
    /// Not after this date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Stamp>,
    /// Whether missed runs are made up as soon as possible.
    pub catch_up: bool,
}

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self {
            every: None,
            cron: None,
            zone: Zone::default(),
            jitter: HumanDuration::default(),
            not_before: None,
            until: None,
            catch_up: true,
        }
    }
}

impl ScheduleSettings {
    /// The schedule, if there is one.
    pub fn schedule(&self) -> Option<Timetable> {
        let every = self.every.map(|every| Rhythm::Every(every.0));
        let rhythm = every.or_else(|| self.cron.clone().map(Rhythm::At))?;
        Some(Timetable {
            rhythm,
            zone: self.zone.clone(),
            jitter: self.jitter.0,
            not_before: self.not_before,
            until: self.until,
            catch_up: self.catch_up,
        })
    }

    /// What is invalid.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        let every = self.every.map(|every| every.0);
        let never = self.every.is_none() && self.cron.is_none() && *self != Self::default();
        [
            ("schedule.cron", every.is_some() && self.cron.is_some(), "say every or cron, not both"),
            ("schedule.every", every.is_some_and(|every| every < SHORTEST), "runs follow each other by 1m at least"),
            ("schedule.jitter", every.is_some_and(|every| self.jitter.0 >= every), "the jitter is as long as every"),
            ("schedule", never, "a schedule needs every = \"6h\" or cron = \"30 6 * * mon-fri\""),
        ]
        .into_iter()
        .filter(|(_, wrong, _)| *wrong)
        .map(|(key, _, what)| Wrong::new(key, what))
        .collect()
    }
}

/// When a project is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it is or was due; `None` if it never runs again, is running or has no schedule.
    pub at: Option<Moment>,
    /// Whether it is due now.
    pub now: bool,
    /// What is to be done.
    pub kind: RunKind,
    /// Whether an unfinished run is resumed.
    pub resumes: bool,
}

impl Due {
    /// When a project is due, given its last run and whether a process is using it.
    pub fn of(
        settings: &ScheduleSettings,
        project: &ProjectDir,
        last: Option<&RunRecord>,
        running: bool,
        now: Moment,
    ) -> Self {
        let unfinished = last.filter(|run| run.state.is_resumed());
        let kind = match (last, unfinished) {
            (None, _) => RunKind::Crawl,
            (_, Some(run)) => run.kind,
            _ => RunKind::Track,
        };
        let at = settings.schedule().filter(|_| !running).and_then(|schedule| {
            let cut_off = unfinished.filter(|run| run.state == RunStatus::Running);
            let next = || schedule.due(&project.name, last.map(|run| run.started_at), project.created_at, now);
            cut_off.map_or_else(next, |run| Some(run.started_at))
        });
        Self { at, now: at.is_some_and(|at| at <= now), kind, resumes: unfinished.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use orb_page::{RunId, RunState};
    use std::path::Path;

    const HOUR: i64 = 3_600_000;

    fn settings(text: &str) -> Settings {
        Settings::parse(text, Path::new("p.toml")).unwrap()
    }

    fn run(kind: RunKind, state: RunStatus, began: i64) -> RunRecord {
        RunRecord {
            id: RunId(1),
            kind,
            state,
            started_at: Moment(began),
            finished_at: (state != RunStatus::Running).then_some(Moment(began + 1)),
            counters: String::new(),
            settings: String::new(),
        }
    }

    fn due(last: Option<&RunRecord>, running: bool, now: i64) -> (Option<i64>, bool, &'static str, bool) {
        let settings = settings("schedule.every = '6h'").schedule;
        let project = ProjectDir { name: "p".into(), dir: "p".into(), created_at: Moment(HOUR) };
        let due = Due::of(&settings, &project, last, running, Moment(now));
        (due.at.map(|at| at.0 / HOUR), due.now, due.kind.name(), due.resumes)
    }

    #[test]
    fn what_is_due_follows_from_the_last_run() {
        assert_eq!(due(None, false, 2 * HOUR), (Some(1), true, "crawl", false));
        let done = run(RunKind::Crawl, RunStatus::Ended(RunState::Done), 2 * HOUR);
        assert_eq!(due(Some(&done), false, 3 * HOUR), (Some(8), false, "track", false));
        assert_eq!(due(Some(&done), false, 9 * HOUR), (Some(8), true, "track", false));
        assert_eq!(due(Some(&done), true, 9 * HOUR), (None, false, "track", false), "somebody works on it");
        let cut_off = run(RunKind::Crawl, RunStatus::Running, 2 * HOUR);
        assert_eq!(due(Some(&cut_off), false, 3 * HOUR), (Some(2), true, "crawl", true));
        let stopped = run(RunKind::Track, RunStatus::Ended(RunState::Stopped), 2 * HOUR);
        assert_eq!(due(Some(&stopped), false, 3 * HOUR), (Some(8), false, "track", true));
    }

    #[test]
    fn a_project_without_a_schedule_is_never_due() {
        let project = ProjectDir { name: "p".into(), dir: "p".into(), created_at: Moment(0) };
        let due = Due::of(&ScheduleSettings::default(), &project, None, false, Moment(HOUR));
        assert_eq!((due.at, due.now), (None, false));
    }

    #[test]
    fn a_schedule_that_cannot_be_meant_is_refused_with_its_place() {
        for (text, said) in [
            ("[schedule]\nevery = '6h'\ncron = '@daily'", "p.toml:3:8: say every or cron, not both"),
            ("[schedule]\nevery = '5s'", "p.toml:2:9: runs follow each other by 1m at least"),
            ("[schedule]\nevery = '1h'\njitter = '2h'", "p.toml:3:10: the jitter is as long as every"),
            ("[schedule]\nzone = 'Europe/Berlin'", "p.toml:1:2: a schedule needs every"),
        ] {
            let path = Path::new("p.toml");
            let wrong = settings(text).examined(text, path).unwrap_err().to_string();
            assert!(wrong.starts_with(said), "{text}: {wrong}");
        }
        for (text, said) in [
            ("[schedule]\ncron = '61 * * * *'", "p.toml:2:8: '61' is not a minute (0 to 59, ranges, steps, lists)"),
            ("[schedule]\nzone = 'Mars/Olympus'", "p.toml:2:8: 'Mars/Olympus' is not a time zone; write it like UTC"),
            ("[schedule]\nuntil = 'soon'", "p.toml:2:9: 'soon' is not a date; write it like 2026-12-24"),
        ] {
            let wrong = Settings::parse(text, Path::new("p.toml")).unwrap_err().to_string();
            assert!(wrong.starts_with(said), "{text}: {wrong}");
        }
    }
}
