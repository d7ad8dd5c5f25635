//! What can go wrong with an export?

use orb_store::StoreError;

/// A failure of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// What is exported could not be read, or not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A PostgreSQL server refused.
    #[error("cannot {what} in PostgreSQL: {}", said(source))]
    Postgres {
        /// What was attempted.
        what: &'static str,
        /// What it said.
        #[source]
        source: postgres::Error,
    },
}

/// What exports give back.
pub(crate) type Result<T> = std::result::Result<T, ExportError>;

/// What a server said, or else what went wrong on the way to it.
fn said(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => db.message().to_owned(),
        None => std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string),
    }
}
