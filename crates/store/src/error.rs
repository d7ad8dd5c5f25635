//! What can go wrong with what we store?
//!
//! Only our own failures: disks, locks, damage. What the web does wrong is data and never gets
//! here.

use std::io;
use std::path::{Path, PathBuf};

/// The cause as the underlying library reports it, boxed: which library that is stays private to
/// the store.
pub type BoxedSource = Box<dyn std::error::Error + Send + Sync>;

/// A failure of the store, naming what was attempted and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
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
    /// The disk is full; the batch was rolled back, and the same commit may be retried.
    #[error("no space left on the disk that holds {}", path.display())]
    NoSpace {
        /// What was being written.
        path: PathBuf,
    },
    /// The home cannot be written to.
    #[error("the home {} is not writable", path.display())]
    NotWritable {
        /// The home.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process is using the project.
    #[error("project {project} is in use by another process{}", pid.map_or(String::new(), |p| format!(" (pid {p})")))]
    InUse {
        /// The project.
        project: String,
        /// The process that holds it, if known.
        pid: Option<u32>,
    },
    /// Written by a later version of this program.
    #[error("{} has format version {found}, and this program knows versions up to {known}: use a newer orb", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version this program supports.
        known: i64,
    },
    /// Not a valid project name.
    #[error(
        "{name:?} is not a project name: use 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The file was written by an older version of this program, and could not be upgraded.
    #[error("{} has format {found}, of an older version: any command upgrades it to format {known} where it may write to its directory", path.display())]
    OlderVersion {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: i64,
        /// The version known.
        known: i64,
    },
    /// No such project in the home.
    #[error("there is no project {name} in {}", home.display())]
    NoSuchProject {
        /// The name.
        name: String,
        /// The home.
        home: PathBuf,
    },
    /// Nobody of this name has an account.
    #[error("there is no user {name}")]
    NoSuchUser {
        /// The name.
        name: String,
    },
    /// An account or token cannot be made like this.
    #[error("{0}")]
    BadAccount(String),
    /// A failure of the catalogue.
    #[error("cannot {what} in the catalogue {}", path.display())]
    Sql {
        /// What was attempted.
        what: &'static str,
        /// The database.
        path: PathBuf,
        /// Why it failed.
        source: BoxedSource,
    },
    /// A user's query is invalid, forbidden or too slow.
    #[error("{0}")]
    Query(String),
    /// A failure of the frontier index.
    #[error("cannot {what} in the frontier index {}", path.display())]
    Index {
        /// What was attempted.
        what: &'static str,
        /// Its directory.
        path: PathBuf,
        /// Why it failed.
        source: BoxedSource,
    },
    /// A file's content is not what it should be.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Exported data could not be written.
    #[error("cannot write what is exported")]
    Output(#[source] io::Error),
    /// The caller wanted to stop.
    #[error("stopped")]
    Stopped,
    /// A worker of a shared project was taken for dead, or the store has lost what it had recorded.
    #[error("worker {worker} was given up by the others: it has to join again")]
    Fenced {
        /// Its name.
        worker: String,
    },
    /// PostgreSQL does not answer; the same call may be made again.
    #[error("cannot {what}: the store does not answer")]
    StoreAway {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        source: BoxedSource,
    },
    /// The object store does not answer; the same call may be made again.
    #[error("cannot {what} in the shared archive: it does not answer")]
    ArchiveAway {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        source: BoxedSource,
    },
    /// A shared store says no.
    #[error("{0}")]
    Shared(String),
    /// A batch contradicts itself or the catalogue.
    #[error("the batch cannot be recorded: {0}")]
    BadBatch(String),
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// An I/O failure; a full disk becomes [`StoreError::NoSpace`].
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::NoSpace { path: path.to_owned() };
        }
        Self::Io { what, path: path.to_owned(), source }
    }

    /// An SQL failure; a full disk becomes [`StoreError::NoSpace`], a broken file
    /// [`StoreError::Damaged`].
    pub(crate) fn sql(what: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let code = source.sqlite_error();
        // No space for the shared-memory file of the WAL is reported as an I/O error.
        if code.is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE) {
            return Self::NoSpace { path: path.to_owned() };
        }
        match code.map(|e| e.code) {
            Some(rusqlite::ErrorCode::DiskFull) => Self::NoSpace { path: path.to_owned() },
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged { path: path.to_owned(), what: format!("cannot {what}: {source}") }
            }
            _ => Self::Sql { what, path: path.to_owned(), source: source.into() },
        }
    }

    /// A failure of the index; a full disk becomes [`StoreError::NoSpace`].
    pub(crate) fn index(what: &'static str, path: &Path, source: fjall::Error) -> Self {
        let io = match &source {
            fjall::Error::Io(e) | fjall::Error::Storage(fjall::LsmError::Io(e)) => Some(e.kind()),
            _ => None,
        };
        if matches!(io, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) {
            return Self::NoSpace { path: path.to_owned() };
        }
        Self::Index { what, path: path.to_owned(), source: source.into() }
    }

    /// Damage found in a file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
