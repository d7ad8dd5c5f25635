//! Where does an export go, and how does it appear atomically?
//!
//! A file is written under a temporary name, synced, and only then renamed. If dropped before that,
//! it is deleted.

use crate::failure::CommandFailure;
use anyhow::{Context as _, anyhow};
use orb_export::ExportError;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// An incomplete file.
pub(crate) struct Unfinished {
    file: NamedTempFile,
    path: PathBuf,
    force: bool,
}

impl Unfinished {
    /// Starts a file; an existing one is refused unless it may be overwritten.
    pub(crate) fn begin(path: &Path, force: bool) -> Result<Self, CommandFailure> {
        refuse_existing(path, force)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !dir.is_dir() {
            return Err(anyhow!("cannot write {}: there is no directory {}", path.display(), dir.display()).into());
        }
        let file =
            Builder::new().prefix(".orb-").suffix(".part").permissions(Permissions::from_mode(0o666)).tempfile_in(dir);
        let file = file.with_context(|| format!("cannot write to {}", dir.display()))?;
        Ok(Self { file, path: path.to_owned(), force })
    }

    /// The file to write to.
    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// It is complete: renames it.
    pub(crate) fn keep(self) -> Result<(), CommandFailure> {
        let cannot = || format!("cannot write {}", self.path.display());
        self.file.as_file().sync_data().with_context(cannot)?;
        let kept = if self.force { self.file.persist(&self.path) } else { self.file.persist_noclobber(&self.path) };
        kept.map_err(|e| e.error).with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }
}

/// Refuses an existing path.
pub(crate) fn refuse_existing(path: &Path, force: bool) -> Result<(), CommandFailure> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(anyhow!("{} is a directory", path.display()).into()),
        Ok(meta) if !meta.is_file() => Err(anyhow!("{} is not a regular file", path.display()).into()),
        Ok(_) if !force => Err(anyhow!("{} already exists; --force writes over it", path.display()).into()),
        _ => Ok(()),
    }
}

/// A failure to write to a place; who stopped reading our output has heard enough.
pub(crate) fn unwritten(e: std::io::Error, path: &Path) -> CommandFailure {
    if path == Path::new("-") && e.kind() == std::io::ErrorKind::BrokenPipe {
        return CommandFailure::OutputClosed;
    }
    let e = anyhow::Error::from(ExportError::Output(e));
    CommandFailure::Failed(e.context(format!("cannot write {}", path.display())))
}

/// A failure to write, with the path; a closed output is not one.
pub(crate) fn tell<T>(done: Result<T, ExportError>, path: &Path) -> Result<T, CommandFailure> {
    match done {
        Err(ExportError::Output(e)) => Err(unwritten(e, path)),
        other => Ok(other?),
    }
}
