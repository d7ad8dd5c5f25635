//! What becomes of a run that was started?
//!
//! A thread per run waits for its process. Until the run has its number it looks at the project's
//! lock and last run, a few times a second; afterwards it sleeps until the end.

use super::record::last_words;
use super::{LaunchRecord, Launched, Occupied, now};
use orb_answers::{last_run, state_of};
use orb_page::{Moment, RunId};
use orb_project::{ProjectDir, ProjectLock};
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::watch as channel;

/// Between two looks at a run that has not begun.
const LOOK: Duration = Duration::from_millis(40);

/// By how much the clock of a file system may be late.
const TICK: Duration = Duration::from_millis(10);

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

/// Waits for a run in a thread of its own.
pub(super) fn watch(
    mut child: Child,
    project: ProjectDir,
    mut record: LaunchRecord,
    (launched, place): (Moment, Occupied),
) -> io::Result<Launched> {
    let (tell, state) = channel::channel(LaunchState::Starting);
    record.keep(&project);
    let wait = move || {
        let ended = begin(&mut child, &project, &mut record, launched);
        if let (None, Some(run)) = (&ended, record.run) {
            record.keep_asker(&project, run);
            record.keep(&project);
            tell.send_replace(LaunchState::Running(run));
        }
        let was_short = ended.is_some();
        let ended = ended.map_or_else(|| child.wait(), Ok);
        if was_short && let Some(run) = since(&project, launched) {
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

/// Waits until the run has begun, or its process has ended before that. A run has its number before
/// its settings are put to use and its steps are walked, which may fail: it has begun when its log
/// says so.
fn begin(child: &mut Child, project: &ProjectDir, record: &mut LaunchRecord, launched: Moment) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            // Then nothing else is learned either.
            Err(_) => return None,
            Ok(None) => {}
        }
        if ProjectLock::holder(project) == Some(record.pid)
            && let Ok(Some(run)) = last_run(project)
            && state_of(&run, true) == "running"
            && has_logged(project, run.id, launched)
        {
            record.run = Some(run.id.0);
            return None;
        }
        std::thread::sleep(LOOK);
    }
}

/// Whether a run has written to its log since this moment.
fn has_logged(project: &ProjectDir, run: RunId, launched: Moment) -> bool {
    let written = std::fs::metadata(project.run(run).join("run.log")).and_then(|log| log.modified());
    let since = written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    // The clock of a file system may be a tick behind.
    since.is_some_and(|at| at + TICK >= Duration::from_millis(launched.0.max(0).cast_unsigned()))
}

/// The run that ended after this moment: one so short that nobody saw it run.
fn since(project: &ProjectDir, launched: Moment) -> Option<u32> {
    let run = last_run(project).ok().flatten()?;
    run.finished_at.filter(|at| *at >= launched).map(|_| run.id.0)
}
