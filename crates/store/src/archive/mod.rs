//! Where are the bytes?
//!
//! Step 1 of the commit protocol: finished records are appended and synced before the catalogue
//! refers to them. An archive file belongs to one start of the program: files left by an earlier
//! start are truncated to what the catalogue knows and closed.

mod disk;
mod lines;
mod open;
mod seal;

pub use disk::Archive;
pub use lines::{IndexLines, index_lines};
pub use open::ArchiveStart;
pub(crate) use open::is_ours;
pub(crate) use seal::{index_path, seal, tail_path};
use std::sync::Arc;

/// How far the archive's files go. Only those that changed since the last commit are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveEnd {
    /// The files that changed.
    pub files: Vec<FileEnd>,
}

/// The end of one archive file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEnd {
    /// Its name, without directory.
    pub name: Arc<str>,
    /// Its length in bytes.
    pub length: u64,
    /// Number of responses in it.
    pub records: u64,
}
