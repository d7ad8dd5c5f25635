//! What can go wrong with an export?

use orb_store::StoreError;

/// A failure of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The data could not be read.
    #[error(transparent)]
    Store(StoreError),
    /// The output could not be written.
    #[error("cannot write what is exported")]
    Output(#[source] std::io::Error),
    /// The caller wanted to stop.
    #[error("stopped")]
    Stopped,
    /// What was asked for cannot be exported, or not there.
    #[error("{0}")]
    Refused(String),
    /// An error from a PostgreSQL server.
    #[error("PostgreSQL: cannot {what}: {}", said(reason))]
    Postgres {
        /// What was attempted.
        what: &'static str,
        /// Its message, with whatever caused it.
        reason: postgres::Error,
    },
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Output(source) => Self::Output(source),
            StoreError::Stopped => Self::Stopped,
            other => Self::Store(other),
        }
    }
}

/// The result type of this crate.
pub(crate) type Result<T> = std::result::Result<T, ExportError>;

/// A server's message, or else what went wrong on the way to it.
fn said(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => db.message().to_owned(),
        None => std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string),
    }
}
