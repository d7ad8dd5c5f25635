//! Why can a project not be made, changed, named or acknowledged?

use crate::{SettingsError, Wrong};
use orb_store::StoreError;
use std::path::{Path, PathBuf};

/// Why something about a project was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// What was asked for makes no sense: a seed that is no URL, a project without seeds.
    #[error("{0}")]
    Malformed(String),
    /// What was asked for cannot be done as things are: a project that is there already, a run that
    /// is not.
    #[error("{0}")]
    Refused(String),
    /// Somebody else has changed the settings file since it was read.
    #[error("somebody else has changed the settings meanwhile; load them again and make your change there")]
    Stale,
    /// A file could not be read or written.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A settings file cannot be read.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A setting is invalid.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ProjectError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}
