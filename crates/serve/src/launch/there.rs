//! How is a run on a shared store started and stopped?
//!
//! Which run is open, and who works on it, is in the store: that is looked at before and after the
//! process is started, and told apart by numbers that are never used again.

use super::{LaunchKind, RunWish};
use crate::problem::ProblemDetails;
use orb_answers::{RunStanding, shared_status};
use orb_crawl::{SharedAddress, may_begin, stop_shared};
use orb_page::RunId;
use orb_project::{ProjectDir, Settings};

/// A project on a shared store as it was before a run was started.
pub(super) struct SharedOutset {
    at: SharedAddress,
    project: String,
    /// Its last run, and whether that was over.
    run: u32,
    is_over: bool,
    /// The last worker that had joined.
    worker: i64,
}

/// Refuses what the process would refuse, as far as the copy knows.
pub(super) fn may_start(copy: &ProjectDir, wish: &RunWish) -> Result<(), ProblemDetails> {
    if wish.kind == LaunchKind::Track
        && let Some(settings) = Settings::kept(copy).ok().flatten()
    {
        may_begin(copy, &settings)?;
    }
    Ok(())
}

/// The arguments of the command, which finds the store in its environment.
pub(super) fn arguments(wish: &RunWish, project: &str, run: Option<u32>) -> Vec<String> {
    let mut out = wish.arguments(project);
    out.push("--shared".to_owned());
    out.extend(run.into_iter().flat_map(|run| ["--run-number".to_owned(), run.to_string()]));
    out
}

/// Ends the open run of this number for all machines; whether there was one.
pub(super) fn end(at: &SharedAddress, project: &str, run: u32) -> Result<bool, ProblemDetails> {
    let now = shared_status(at, Some(project))?.pop();
    let is_open = now.is_some_and(|now| now.run == Some(run) && now.state == Some(RunStanding::Running));
    if is_open {
        stop_shared(at, project, RunId(run))?;
    }
    Ok(is_open)
}

impl SharedOutset {
    pub(super) fn of(at: &SharedAddress, project: &str) -> Result<Self, ProblemDetails> {
        let now = shared_status(at, Some(project))?.pop();
        let (run, state) = now.as_ref().map_or((None, None), |now| (now.run, now.state));
        Ok(Self {
            at: at.clone(),
            project: project.to_owned(),
            run: run.unwrap_or(0),
            is_over: state.is_some_and(RunStanding::is_done),
            worker: now.iter().flat_map(|now| &now.workers).map(|worker| worker.id).max().unwrap_or(0),
        })
    }

    /// The run that was begun or joined since.
    pub(super) fn begun(&self) -> Option<u32> {
        let now = shared_status(&self.at, Some(&self.project)).ok()?.pop()?;
        let has_joined = now.workers.iter().any(|worker| worker.id > self.worker);
        let is_open = now.state == Some(RunStanding::Running);
        now.run.filter(|run| is_open && (*run > self.run || has_joined))
    }

    /// The run that was begun or resumed since, and may be over.
    pub(super) fn ended(&self) -> Option<u32> {
        let now = shared_status(&self.at, Some(&self.project)).ok()?.pop()?;
        now.run.filter(|run| *run > self.run || !self.is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_on_the_command_line() {
        let wish = RunWish { kind: LaunchKind::Track, due: true, budget: None };
        assert_eq!(arguments(&wish, "p", Some(4)).join(" "), "track p --due --shared --run-number 4");
        assert_eq!(arguments(&wish, "p", None).join(" "), "track p --due --shared");
    }
}
