//! Which failures of our own can the index have?

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError};

/// A failure of the text index, naming what was attempted and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index.
    #[error("there is no text index in {}", dir.display())]
    Absent {
        /// Where it would be.
        dir: PathBuf,
    },
    /// It cannot be read.
    #[error("the text index {} cannot be used: {what}", dir.display())]
    Unfit {
        /// Where it is.
        dir: PathBuf,
        /// Why.
        what: String,
    },
    /// It was written by another version of this program.
    #[error("the text index {} was written by another version of orb", dir.display())]
    Outdated {
        /// Where it is.
        dir: PathBuf,
    },
    /// The disk is full.
    #[error("no space left on the disk that holds {}", dir.display())]
    NoSpace {
        /// What was being written.
        dir: PathBuf,
    },
    /// Any other failure.
    #[error("cannot {what} the text index {}: {why}", dir.display())]
    Failed {
        /// What was attempted.
        what: &'static str,
        /// Where.
        dir: PathBuf,
        /// Why it failed.
        why: String,
    },
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, IndexError>;

impl IndexError {
    /// Classifies an error of the engine.
    pub(crate) fn of(what: &'static str, dir: &Path, source: &TantivyError) -> Self {
        let dir = dir.to_owned();
        if is_full(source) {
            return Self::NoSpace { dir };
        }
        let damaged = io_of(source)
            .is_some_and(|e| matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof))
            || matches!(
                source,
                TantivyError::DataCorruption(_)
                    | TantivyError::OpenReadError(
                        OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_)
                    )
                    | TantivyError::SchemaError(_)
                    | TantivyError::IncompatibleIndex(_)
                    | TantivyError::FieldNotFound(_)
            );
        let why = source.to_string().lines().collect::<Vec<_>>().join(" ");
        if damaged { Self::Unfit { dir, what: why } } else { Self::Failed { what, dir, why } }
    }

    /// Whether rebuilding it would help.
    pub fn is_unfit(&self) -> bool {
        matches!(self, Self::Unfit { .. } | Self::Absent { .. } | Self::Outdated { .. })
    }
}

/// Whether the disk was full.
fn is_full(error: &TantivyError) -> bool {
    io_of(error).is_some_and(|e| matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// The failure of the disk behind a failure of the engine.
fn io_of(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(e) => Some(e),
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => Some(io_error),
        _ => None,
    }
}
