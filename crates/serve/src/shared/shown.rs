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
}

impl AppState {
    /// A project as it is listed. The copy of one on the shared store is brought up to date for
    /// whoever asks next; where there is none yet, the list of the store is what is known.
    pub(crate) fn shown(&self, project: &ProjectDir) -> Result<ShownProject, AnswerError> {
        let Some(shared) = self.shared.as_ref().filter(|_| is_shared_copy(project)) else {
            return Ok(ShownProject { status: self.board.status(project)?, shared: None });
        };
        if !project.is_empty() {
            shared.want(&project.name);
            let status = self.board.status(project)?;
            return Ok(ShownProject { status, shared: Some(shared.mark(project)) });
        }
        let run = shared.open_run(&project.name);
        let (running, state) = (run.is_some(), run.map(|_| RunStanding::Running));
        let status = ProjectStatus { run, running, state, ..ProjectStatus::blank(&project.name) };
        Ok(ShownProject { status, shared: Some(shared.mark(project)) })
    }
}
