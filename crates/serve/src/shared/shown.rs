//! How is a project listed, wherever it is?

use super::SharedMark;
use crate::state::AppState;
use orb_answers::{AnswerError, ProjectStatus, RunStanding, is_shared_copy};
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::Serialize;

/// A project in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ShownProject {
    /// Its state.
    #[serde(flatten)]
    pub(crate) status: ProjectStatus,
    /// Of a project on the shared store, how old this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<SharedMark>,
    /// Of a project whose files cannot be read, what can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

impl AppState {
    /// A project as it is listed beside others. One that cannot be read is listed, too, and takes
    /// none of the others away; the log says why.
    pub(crate) fn listed(&self, project: &ProjectDir) -> ShownProject {
        self.shown(project).unwrap_or_else(|error| {
            tracing::error!("project {} cannot be read: {error}", project.name);
            let problem = format!("it cannot be read; `orb check {}` says why", project.name);
            ShownProject { status: ProjectStatus::blank(&project.name), shared: None, problem: Some(problem) }
        })
    }

    /// A project as it is listed. The copy of one on the shared store is brought up to date for
    /// whoever asks next; where there is none yet, the list of the store is what is known.
    pub(crate) fn shown(&self, project: &ProjectDir) -> Result<ShownProject, AnswerError> {
        let Some(shared) = self.shared.as_ref().filter(|_| is_shared_copy(project)) else {
            return Ok(ShownProject { status: self.board.status(project)?, shared: None, problem: None });
        };
        if !project.is_empty() {
            shared.want(&project.name);
            let status = self.board.status(project)?;
            return Ok(ShownProject { status, shared: Some(shared.mark(project)), problem: None });
        }
        let run = shared.open_run(&project.name);
        let (running, state) = (run.is_some(), run.map(|_| RunStanding::Running));
        let status = ProjectStatus { run, running, state, ..ProjectStatus::blank(&project.name) };
        Ok(ShownProject { status, shared: Some(shared.mark(project)), problem: None })
    }
}
