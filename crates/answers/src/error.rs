//! Why is there no answer?

use std::error::Error;

/// Why there is no answer.
///
/// All but the last are about the question and mean the same in every interface. The last is a
/// failure of ours, whose cause is for people and logs, not for programs.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The question is malformed: an invalid URL, a query that does not parse.
    #[error("{0}")]
    Malformed(String),
    /// What was asked about does not exist: a page, a run, a version.
    #[error("{0}")]
    Unknown(String),
    /// What would answer has not been built yet, or must be rebuilt: the catalogue of a project
    /// never crawled, a graph, an index.
    #[error("{0}")]
    NotBuilt(String),
    /// The question was understood and refused: an SQL statement that is invalid, would write, or
    /// takes too long.
    #[error("{0}")]
    Refused(String),
    /// The reader of the answer takes no more of it.
    #[error("cannot write what is exported")]
    Output(#[source] std::io::Error),
    /// Reading failed.
    #[error("{0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl From<orb_store::StoreError> for AnswerError {
    fn from(error: orb_store::StoreError) -> Self {
        match error {
            orb_store::StoreError::Output(source) => Self::Output(source),
            other => Self::Failed(Box::new(other)),
        }
    }
}

impl From<orb_graph::GraphError> for AnswerError {
    fn from(error: orb_graph::GraphError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<orb_index::IndexError> for AnswerError {
    fn from(error: orb_index::IndexError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<orb_project::SettingsError> for AnswerError {
    fn from(error: orb_project::SettingsError) -> Self {
        Self::Failed(Box::new(error))
    }
}
