//! What becomes of a run that was started?
//!
//! A thread per run waits for its process. Until the run has begun it looks at the project's lock,
//! last run and log, a few times a second; afterwards it sleeps until the end.

use super::record::last_words;
use super::there::SharedOutset;
use super::{LaunchRecord, Launched, Occupied, now};
use orb_answers::{RunStanding, is_opening, last_run};
use orb_page::{Moment, RunId};
use orb_project::{ProjectDir, ProjectLock};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Duration;
use tokio::sync::watch as channel;

/// Between two looks at a run that has not begun.
const LOOK: Duration = Duration::from_millis(40);

/// How much of a log is searched for the line that a run begins with.
const SEARCHED: u64 = 1 << 20;

/// A run as the server that started it knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaunchState {
    /// Its process was started.
    Starting,
    /// It has a number.
    Running(u32),
    /// Its process has ended.
    Ended(LaunchRecord),
}

/// Between two looks at a store on which a run has not begun.
const LOOK_THERE: Duration = Duration::from_millis(250);

/// A project as it was before a run was started, here or on a shared store.
pub(super) enum Outset {
    /// In the home.
    Here(Before),
    /// On a shared store.
    There(Box<SharedOutset>),
}

impl Outset {
    /// The run that has begun since, by this process.
    fn begun(&self, project: &ProjectDir, pid: u32) -> Option<u32> {
        match self {
            Self::Here(before) => before.begun(project, pid),
            Self::There(before) => before.begun(),
        }
    }

    /// The run that has ended since: one so short that nobody saw it run.
    fn ended(&self, project: &ProjectDir) -> Option<u32> {
        match self {
            Self::Here(before) => before.ended(project),
            Self::There(before) => before.ended(),
        }
    }

    fn pause(&self) -> Duration {
        match self {
            Self::Here(_) => LOOK,
            Self::There(_) => LOOK_THERE,
        }
    }
}

/// A project of the home as it was before a run was started.
pub(super) struct Before {
    launched: Moment,
    /// The last run and the length of its log, which a process that resumes the run appends to.
    log: Option<(RunId, u64)>,
}

impl Before {
    pub(super) fn of(project: &ProjectDir) -> Self {
        let last = last_run(project).ok().flatten();
        let log = last.map(|run| (run.id, std::fs::metadata(log_of(project, run.id)).map_or(0, |log| log.len())));
        Self { launched: Moment::now(), log }
    }

    /// Whether a run has begun since. It has its number before its settings are put to use and its
    /// steps are walked, either of which may fail; its log says when that is behind it.
    fn has_begun(&self, project: &ProjectDir, run: RunId) -> bool {
        let start = self.log.filter(|(logged, _)| *logged == run).map_or(0, |(_, length)| length);
        let added = || -> io::Result<bool> {
            let mut log = File::open(log_of(project, run))?;
            log.seek(SeekFrom::Start(start))?;
            let mut lines = BufReader::new(log.take(SEARCHED)).split(b'\n');
            Ok(lines.any(|line| line.is_ok_and(|line| is_opening(&String::from_utf8_lossy(&line)))))
        };
        added().unwrap_or(false)
    }

    /// The run that has begun since, by this process.
    fn begun(&self, project: &ProjectDir, pid: u32) -> Option<u32> {
        let run = last_run(project).ok().flatten().filter(|_| ProjectLock::holder(project) == Some(pid))?;
        (RunStanding::of(&run, true).is_running() && self.has_begun(project, run.id)).then_some(run.id.0)
    }

    fn ended(&self, project: &ProjectDir) -> Option<u32> {
        let run = last_run(project).ok().flatten()?;
        run.finished_at.filter(|at| *at >= self.launched).map(|_| run.id.0)
    }
}

fn log_of(project: &ProjectDir, run: RunId) -> PathBuf {
    project.run(run).join("run.log")
}

/// Waits for a run in a thread of its own.
pub(super) fn watch(
    mut child: Child,
    project: ProjectDir,
    mut record: LaunchRecord,
    (before, place): (Outset, Occupied),
) -> io::Result<Launched> {
    let (tell, state) = channel::channel(LaunchState::Starting);
    record.keep(&project);
    let wait = move || {
        let ended = begin(&mut child, &project, &mut record, &before);
        if let (None, Some(run)) = (&ended, record.run) {
            record.keep_asker(&project, run);
            record.keep(&project);
            tell.send_replace(LaunchState::Running(run));
        }
        let was_short = ended.is_some();
        let ended = ended.map_or_else(|| child.wait(), Ok);
        if was_short && let Some(run) = before.ended(&project) {
            record.run = Some(run);
            record.keep_asker(&project, run);
        }
        record.ended_at = Some(now());
        record.code = ended.ok().and_then(|status| status.code());
        record.told = last_words(&LaunchRecord::told_at(&project));
        record.keep(&project);
        drop(place);
        tell.send_replace(LaunchState::Ended(record));
    };
    std::thread::Builder::new().name("run".into()).spawn(wait)?;
    Ok(state)
}

/// Waits until the run has begun, or its process has ended before that.
fn begin(child: &mut Child, project: &ProjectDir, record: &mut LaunchRecord, before: &Outset) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            // Then nothing else is learned either.
            Err(_) => return None,
            Ok(None) => {}
        }
        record.run = before.begun(project, record.pid);
        if record.run.is_some() {
            return None;
        }
        std::thread::sleep(before.pause());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_begun_when_its_log_says_so_since() {
        let home = tempfile::tempdir().unwrap();
        let project = ProjectDir { name: "p".into(), dir: home.path().into(), created_at: Moment::now() };
        let (run, log) = (RunId(1), log_of(&project, RunId(1)));
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let again = Before { launched: Moment::now(), log: None };
        assert!(!again.has_begun(&project, run));
        let first = "2026-11-18T09:00:00Z signed in\n";
        std::fs::write(&log, first).unwrap();
        assert!(!again.has_begun(&project, run));
        let begun = format!("{first}2026-11-18T09:00:01Z begun\n");
        std::fs::write(&log, &begun).unwrap();
        assert!(again.has_begun(&project, run));
        let again = Before { launched: Moment::now(), log: Some((run, begun.len() as u64)) };
        std::fs::write(&log, format!("{begun}2026-11-18T09:00:02Z error: cannot read /nowhere.pem\n")).unwrap();
        assert!(!again.has_begun(&project, run));
        std::fs::write(&log, format!("{begun}2026-11-18T09:00:02Z resumed after 3 pages\n")).unwrap();
        assert!(again.has_begun(&project, run));
    }
}
