//! How do all projects stand, asked again and again?
//!
//! A command that shows the state of projects opens each of them once. A server is asked every
//! second, so it keeps what the question needs: of a catalogue that is being written to, a bare
//! connection, which sees every commit; of all others, which are most, the last run alone, as long
//! as the catalogue's files are the same; and the settings as long as their file is. A connection
//! takes half a megabyte, mostly for what it knows of the tables. The size of a project is measured
//! by looking at all its files, and kept for a few seconds.

use crate::{DueProject, ProjectStatus, Result, UpcomingRuns, due, project_size, status};
use orb_page::Moment;
use orb_project::Settings;
use orb_store::{CatalogueReader, FileStamp, ProjectDir, RunCounters, RunReader, RunRecord};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Projects that are kept at most.
const KEPT: usize = 128;

/// How long ago a catalogue was last written to that can be told from one written to again.
const SETTLED: Duration = Duration::from_secs(2);

/// Runs whose changes are counted.
const TREND: u32 = 14;

/// How long the size of a project is kept.
const SIZE_LIFE: Duration = Duration::from_secs(10);

/// What is kept of the projects of a home.
#[derive(Default)]
pub struct StatusBoard(Mutex<VecDeque<BoardEntry>>);

/// What was last recorded in a project.
#[derive(Clone, Default)]
struct LastRecorded {
    run: Option<RunRecord>,
    change: u64,
    /// How much each of the last runs found changed, the latest last.
    trend: Vec<u64>,
}

/// What is kept of a project.
struct BoardEntry {
    project: ProjectDir,
    runs: Option<RunReader>,
    last: Option<([Option<FileStamp>; 2], LastRecorded)>,
    settings: Option<(FileStamp, Settings)>,
    size: Option<(Instant, u64)>,
}

impl StatusBoard {
    /// The state of a project.
    pub fn status(&self, project: &ProjectDir) -> Result<ProjectStatus> {
        self.with(project, |entry| {
            let last = entry.last_run()?;
            // Commands that need the settings report unreadable ones.
            let settings = entry.settings().ok().flatten();
            Ok(status::of(project, last.as_ref(), settings))
        })
    }

    /// When a project is due; `None` without a schedule.
    pub fn due(&self, project: &ProjectDir, now: Moment) -> Result<Option<DueProject>> {
        self.with(project, |entry| {
            let last = entry.last_run()?;
            Ok(entry.settings()?.and_then(|settings| due::scheduled(project, settings, last.as_ref(), now)))
        })
    }

    /// When a project will run until a moment; `None` without a schedule.
    pub fn upcoming(&self, project: &ProjectDir, now: Moment, until: Moment) -> Result<Option<UpcomingRuns>> {
        self.with(project, |entry| {
            let last = entry.last_run()?;
            let settings = entry.settings()?;
            Ok(settings.and_then(|settings| due::upcoming(project, settings, last.as_ref(), (now, until))))
        })
    }

    /// The run that somebody must acknowledge before the next one begins, if there is one.
    pub fn held_by(&self, project: &ProjectDir) -> Result<Option<u32>> {
        let holds = |settings: &Settings| settings.track.hold_until_acknowledged;
        // Commands that need the settings report unreadable ones.
        let is_held = self.with(project, |entry| Ok(entry.settings().ok().flatten().is_some_and(holds)))?;
        if !is_held || project.is_empty() {
            return Ok(None);
        }
        Ok(CatalogueReader::open(project)?.unacknowledged()?.map(|run| run.0))
    }

    /// The run that is in progress or ended last; `None` if there was never one.
    pub fn last_run(&self, project: &ProjectDir) -> Result<Option<RunRecord>> {
        self.with(project, BoardEntry::last_run)
    }

    /// The number of the last change of a project; 0 if there was never one. Changes are numbered
    /// one after the other, so the difference of two numbers is how many there are between them.
    pub fn last_change(&self, project: &ProjectDir) -> Result<u64> {
        self.with(project, |entry| Ok(entry.last_recorded()?.change))
    }

    /// How many changes each of the last runs of a project found, the latest last. The first run,
    /// to which everything is new, is left out.
    pub fn trend(&self, project: &ProjectDir) -> Result<Vec<u64>> {
        self.with(project, |entry| Ok(entry.last_recorded()?.trend))
    }

    /// The bytes of all files of a project, as they were at most a few seconds ago.
    pub fn size(&self, project: &ProjectDir) -> Result<u64> {
        self.with(project, |entry| match entry.size {
            Some((at, size)) if at.elapsed() < SIZE_LIFE => Ok(size),
            _ => {
                let size = project_size(project)?;
                entry.size = Some((Instant::now(), size));
                Ok(size)
            }
        })
    }

    /// Takes what is kept of a project, asks it, and puts it back. The one that was unused longest
    /// is dropped for it.
    fn with<T>(&self, project: &ProjectDir, ask: impl FnOnce(&mut BoardEntry) -> Result<T>) -> Result<T> {
        let kept = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // The whole directory is compared: a project removed and made again is another.
            let place = all.iter().position(|entry| entry.project == *project);
            place.and_then(|place| all.remove(place))
        };
        let blank = || BoardEntry { project: project.clone(), runs: None, last: None, settings: None, size: None };
        let mut entry = kept.unwrap_or_else(blank);
        let answer = ask(&mut entry);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Two threads may have asked about one project at a time: one entry is enough.
        if !all.iter().any(|other| other.project == entry.project) {
            all.push_back(entry);
        }
        let surplus = if all.len() > KEPT { all.pop_front() } else { None };
        drop(all);
        drop(surplus);
        answer
    }
}

impl BoardEntry {
    fn last_run(&mut self) -> Result<Option<RunRecord>> {
        Ok(self.last_recorded()?.run)
    }

    fn last_recorded(&mut self) -> Result<LastRecorded> {
        if self.project.is_empty() {
            (self.runs, self.last) = (None, None);
            return Ok(LastRecorded::default());
        }
        // Before the catalogue is read: what is written meanwhile changes them.
        let stamps = RunReader::stamps(&self.project);
        if let Some((_, last)) = self.last.as_ref().filter(|(then, _)| *then == stamps) {
            return Ok(last.clone());
        }
        let runs = match self.runs.take().filter(RunReader::is_latest) {
            Some(runs) => runs,
            None => RunReader::open(&self.project)?,
        };
        let changed = |run: &RunCounters| run.flags.new + run.flags.updated + run.flags.missing + run.flags.error;
        let trend = runs.later_counters(TREND)?.iter().rev().map(changed).collect();
        let last = LastRecorded { run: runs.last()?, change: runs.last_change()?, trend };
        let settled = Moment(Moment::now().0.saturating_sub(SETTLED.as_millis().try_into().unwrap_or(0)));
        let is_settled = stamps.iter().flatten().all(|stamp| stamp.is_before(settled));
        (self.runs, self.last) = if is_settled { (None, Some((stamps, last.clone()))) } else { (Some(runs), None) };
        Ok(last)
    }

    fn settings(&mut self) -> Result<Option<&Settings>> {
        let Some(now) = FileStamp::of(&self.project.settings()) else { return Ok(None) };
        if self.settings.as_ref().is_none_or(|(stamp, _)| *stamp != now) {
            self.settings = Settings::kept(&self.project)?.map(|settings| (now, settings));
        }
        Ok(self.settings.as_ref().map(|(_, settings)| settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunStanding;
    use orb_page::{RunKind, RunState};
    use orb_store::{Home, Project};

    #[test]
    fn a_project_is_seen_as_it_is_now_also_when_it_was_made_again() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let dir = home.project("p").unwrap();
        let board = StatusBoard::default();
        assert_eq!(board.status(&dir).unwrap().run, None);
        for run in 1..=2 {
            let mut project = Project::open(&dir).unwrap();
            let id = project.begin_run(RunKind::Crawl, "").unwrap();
            let running = board.status(&dir).unwrap();
            assert_eq!((running.run, running.state), (Some(run), Some(RunStanding::Running)));
            project.finish_run(id, RunState::Done, r#"{"pages":7}"#).unwrap();
            project.close().unwrap();
            let ended = board.status(&dir).unwrap();
            assert_eq!(
                (ended.running, ended.state.map(RunStanding::name), ended.counters.pages),
                (false, Some("done"), 7)
            );
        }
        let file = std::fs::File::options().append(true).open(dir.catalogue()).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(board.status(&dir).unwrap().run, Some(2));
        let is_open = |board: &StatusBoard| board.0.lock().unwrap()[0].runs.is_some();
        assert!(!is_open(&board), "a catalogue that nobody writes to is kept open");
        let mut project = Project::open(&dir).unwrap();
        let id = project.begin_run(RunKind::Track, "").unwrap();
        assert_eq!((board.status(&dir).unwrap().run, is_open(&board)), (Some(3), true));
        project.finish_run(id, RunState::Done, "").unwrap();
        project.close().unwrap();
        home.remove("p").unwrap();
        let again = home.project("p").unwrap();
        assert_eq!(board.status(&again).unwrap().run, None);
        let settings = |schedule: &str| {
            let text = format!("name = \"p\"\nseeds = [\"http://a.test/\"]\n{schedule}");
            std::fs::write(again.settings(), text).unwrap();
        };
        settings("");
        assert!(board.status(&again).unwrap().next_due.is_none());
        settings("[schedule]\nevery = \"1d\"\n");
        assert!(board.status(&again).unwrap().next_due.is_some());
    }
}
