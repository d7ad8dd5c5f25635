//! How does a file appear completely or not at all?
//!
//! It is written without a name (`O_TMPFILE`) if the file system supports that, so that even a
//! killed process leaves nothing behind; otherwise under a temporary name. At the end it is moved
//! into place. An existing file is refused up front, unless it may be replaced.

use crate::error::{GraphError, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// A file being written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    unfinished: PathBuf,
    /// The file, while it has no name.
    nameless: Option<File>,
    force: bool,
    settled: bool,
}

impl OutputFile {
    /// Starts a file. An existing one is refused unless `force` is set.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        if !force && path.symlink_metadata().is_ok() {
            return Err(GraphError::Exists { path: path.to_owned() });
        }
        let name = path.file_name().map_or_else(OsString::new, OsString::from);
        let mut unfinished = OsString::from(".");
        unfinished.push(&name);
        unfinished.push(format!(".{}.new", std::process::id()));
        let unfinished = path.with_file_name(unfinished);
        Ok(Self { path: path.to_owned(), unfinished, nameless: None, force, settled: false })
    }

    /// The file to write to.
    pub fn file(&mut self) -> Result<BufWriter<File>> {
        let fail = GraphError::io("write", &self.path);
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = match openat(CWD, dir, flags, Mode::from_raw_mode(0o666)).map(File::from) {
            Ok(file) => {
                self.nameless = Some(file.try_clone().map_err(&fail)?);
                file
            }
            Err(_) => File::create(&self.unfinished).map_err(&fail)?,
        };
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Moves the written and flushed file into place.
    pub fn settle(mut self) -> Result<()> {
        if !self.force && self.path.symlink_metadata().is_ok() {
            return Err(GraphError::Exists { path: self.path.clone() });
        }
        self.named()
            .and_then(|()| fs::rename(&self.unfinished, &self.path))
            .map_err(GraphError::io("write", &self.path))?;
        self.settled = true;
        Ok(())
    }

    /// Links the unnamed file, once synced, under its final name.
    fn named(&self) -> io::Result<()> {
        let Some(file) = &self.nameless else {
            return File::open(&self.unfinished).and_then(|file| file.sync_all());
        };
        file.sync_all()?;
        let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, handle, CWD, &self.unfinished, AtFlags::SYMLINK_FOLLOW)?)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.settled {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_appears_whole_and_an_existing_one_is_spared() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a.xml");
        let mut half = OutputFile::create(&path, false).unwrap();
        half.file().unwrap().write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(half);
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 0);
        for (force, text) in [(false, "one"), (true, "two")] {
            let mut whole = OutputFile::create(&path, force).unwrap();
            whole.file().unwrap().write_all(text.as_bytes()).unwrap();
            whole.settle().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(matches!(OutputFile::create(&path, false), Err(GraphError::Exists { .. })));
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
    }
}
