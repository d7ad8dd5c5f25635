//! Which projects are due, and in which order do they run?
//!
//! One after another, by name. Whether a project is due is decided when its turn comes, since the
//! runs before it take their time. No state is kept: schedules and runs say what is due. A project
//! that fails does not keep the others from running; one that the user stops ends the round.

use crate::Summary;
use orb_answers::{AnswerError, DueProject, due_project};
use orb_page::{Moment, RunState};
use orb_store::{Home, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of a project that was due.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DueRun {
    /// The project.
    pub project: String,
    /// `crawl`, `track`, or `none` if its settings could not be read.
    pub kind: &'static str,
    /// How its run went; `None` if another process is using the project, or it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl DueRun {
    fn is_stopped(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary.state == RunState::Stopped)
    }
}

/// What was due, and what will be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DueAccount {
    /// The time of the round.
    pub now: String,
    /// What was run.
    pub ran: Vec<DueRun>,
    /// When the projects with a schedule are due next.
    pub next: Vec<DueProject>,
    /// Projects of which that cannot be said, and why.
    #[serde(skip)]
    #[schemars(skip)]
    pub unknown: Vec<(String, String)>,
}

impl DueAccount {
    /// Whether the user stopped it.
    pub fn is_stopped(&self) -> bool {
        self.ran.iter().any(DueRun::is_stopped)
    }

    /// Whether a project failed or could not be read.
    pub fn has_failed(&self) -> bool {
        !self.unknown.is_empty() || self.ran.iter().any(|one| one.error.is_some())
    }
}

/// How a round of due projects is carried out.
pub trait RunDue {
    /// The current time.
    fn now(&self) -> Moment;

    /// Whether projects are run, or only listed.
    fn runs(&self) -> bool;

    /// Runs a project as its file says; `None` if another process is using it.
    fn run(&mut self, next: &DueProject) -> Result<Option<Summary>, String>;

    /// Why nothing is known about a project, in one line.
    fn told(&self, error: AnswerError) -> String;
}

/// Runs every project of a home that is due.
pub fn run_due(home: &Home, rounds: &mut impl RunDue) -> Result<DueAccount, StoreError> {
    let (mut ran, runs) = (Vec::new(), rounds.runs());
    let projects = home.list()?;
    for project in projects.iter().filter(|_| runs) {
        let name = project.name.clone();
        let one = match due_project(project, rounds.now()) {
            Ok(Some(next)) if next.is_due => {
                let (summary, error) = match rounds.run(&next) {
                    Ok(summary) => (summary, None),
                    Err(why) => (None, Some(why)),
                };
                DueRun { project: name, kind: next.kind.name(), summary, error }
            }
            Ok(_) => continue,
            Err(e) => DueRun { project: name, kind: "none", summary: None, error: Some(rounds.told(e)) },
        };
        let stopped = one.is_stopped();
        ran.push(one);
        if stopped {
            break;
        }
    }
    let (mut next, mut unknown) = (Vec::new(), Vec::new());
    for project in &projects {
        match due_project(project, rounds.now()) {
            Ok(found) => next.extend(found),
            Err(e) => unknown.push((project.name.clone(), rounds.told(e))),
        }
    }
    Ok(DueAccount { now: rounds.now().to_string(), ran, next, unknown })
}
