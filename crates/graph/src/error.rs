//! What can go wrong with a graph?
//!
//! Only our own failures: disks, locks, damage. A graph is derived data: whatever is wrong,
//! rebuilding it helps.

use std::io;
use std::path::{Path, PathBuf};

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, GraphError>;

/// A failure, naming what was attempted and on which file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A file could not be read or written.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no graph.
    #[error("no graph has been built in {}", dir.display())]
    Missing {
        /// Where it would be.
        dir: PathBuf,
    },
    /// A file does not match its checksum or format.
    #[error("{} is damaged: {why}; rebuild the graph", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It was written by another version of this program.
    #[error("{} has format {found}, and this program knows format {known}; rebuild the graph", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format this program supports.
        known: u32,
    },
    /// Another process is building the graph.
    #[error("another process is building the graph in {}; wait for it to end", dir.display())]
    Busy {
        /// Where.
        dir: PathBuf,
    },
    /// Compression failed.
    #[error("cannot {what} {}: {why}", path.display())]
    Compression {
        /// What was attempted.
        what: &'static str,
        /// The common base name of the files.
        path: PathBuf,
        /// What the library said.
        why: String,
    },
    /// The graph has not been ranked.
    #[error("the graph in {} has no ranks; orb graph build makes them", dir.display())]
    NotRanked {
        /// Where it is.
        dir: PathBuf,
    },
    /// The output file already exists.
    #[error("{} already exists; --force replaces it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There are no pages to build a graph from.
    #[error("there are no pages yet to make a graph of")]
    Empty,
    /// There are more pages than node numbers.
    #[error("a graph has at most {} pages", u32::MAX - 1)]
    TooLarge,
}

impl GraphError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into() }
    }
}
