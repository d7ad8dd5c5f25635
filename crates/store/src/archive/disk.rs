//! How do records get onto the disk?
//!
//! They are appended to the last file through a buffer, synced once per batch, and the file is
//! rotated when it is large. Until the catalogue has committed, everything since its last commit
//! can be rolled back: that makes a full disk a pause and not a loss.

use super::seal::{self, tail_path};
use super::{ArchiveEnd, FileEnd};
use crate::error::{Result, StoreError};
use crate::fault;
use crate::replace::sync_dir;
use crate::warc::{self, Encoded};
use orb_page::{Body, Moment, WarcPosition};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BUFFER: usize = 1 << 20;

/// The writer of the archive.
pub struct Archive {
    pub(super) dir: PathBuf,
    pub(super) project: String,
    pub(super) roll: u64,
    pub(super) serial: u32,
    /// The current file last, preceded by those rotated since the last commit.
    pub(super) open: Vec<Growing>,
}

/// A growing file, with the CDXJ lines of its records beside it.
pub(super) struct Growing {
    name: Arc<str>,
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    end: GrowingEnd,
    committed: Option<GrowingEnd>,
    tail: File,
    lines: Vec<u8>,
}

/// How far a growing file has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GrowingEnd {
    length: u64,
    records: u64,
    lines: u64,
}

impl Archive {
    /// The default length at which a file is rotated.
    pub const ROLL: u64 = 1_000_000_000;

    /// Rotates files at another length.
    pub fn roll_at(&mut self, bytes: u64) {
        self.roll = bytes;
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Appends the records of one exchange and returns the position of its response.
    pub fn append(&mut self, record: &Encoded) -> Result<WarcPosition> {
        fault::point("before-record").map_err(|e| StoreError::io("write", &self.dir, e))?;
        if self.open.last().is_none_or(|g| g.end.length >= self.roll) {
            self.begin_file()?;
        }
        let Some(growing) = self.open.last_mut() else {
            return Err(StoreError::damaged(&self.dir, "no file to write to"));
        };
        let position = WarcPosition { file: growing.name.clone(), offset: growing.end.length, length: record.answer };
        growing.write(&record.members)?;
        if let Some(line) = &record.line {
            let lines = growing.lines.len();
            line.write_at(&mut growing.lines, position.length, position.offset, &growing.name);
            growing.end.lines += (growing.lines.len() - lines) as u64;
            growing.end.records += 1;
        }
        Ok(position)
    }

    /// Flushes the buffer and syncs the files.
    pub fn flush(&mut self) -> Result<()> {
        for growing in &mut self.open {
            growing.flush()?;
        }
        Ok(())
    }

    /// The files that changed since the last commit.
    pub fn end(&self) -> ArchiveEnd {
        let changed = self.open.iter().filter(|g| g.committed != Some(g.end));
        let files = changed.map(|g| FileEnd { name: g.name.clone(), length: g.end.length, records: g.end.records });
        ArchiveEnd { files: files.collect() }
    }

    /// The catalogue has committed: what is there stays.
    pub fn committed(&mut self) {
        for growing in &mut self.open {
            growing.committed = Some(growing.end);
        }
    }

    /// Whether something was appended since the last commit.
    pub fn is_ahead(&self) -> bool {
        self.open.iter().any(|g| g.committed != Some(g.end))
    }

    /// Closes rotated files that are committed; may be retried after a failure.
    pub fn close_rolled(&mut self) -> Result<()> {
        while self.open.len() > 1 && self.open.iter().all(|g| g.committed.is_some()) {
            self.open.first_mut().map_or(Ok(()), Growing::seal)?;
            self.open.remove(0);
        }
        Ok(())
    }

    /// Rolls back everything since the last commit.
    pub fn roll_back(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        self.open.retain_mut(|growing| match growing.committed {
            Some(end) => {
                outcome = std::mem::replace(&mut outcome, Ok(())).and(growing.cut_to(end));
                true
            }
            None => {
                let removed = fs::remove_file(&growing.path).map_err(|e| StoreError::io("remove", &growing.path, e));
                outcome = std::mem::replace(&mut outcome, Ok(())).and(removed);
                // A tail without its file is removed at the next start.
                let _ = fs::remove_file(tail_path(&growing.path));
                false
            }
        });
        outcome
    }

    /// Closes the current file and writes its sorted CDXJ file. The next record starts another
    /// file.
    pub fn close(&mut self) -> Result<()> {
        while let Some(growing) = self.open.first_mut() {
            growing.seal()?;
            self.open.remove(0);
        }
        Ok(())
    }

    fn begin_file(&mut self) -> Result<()> {
        let at = Moment::now();
        let name: Arc<str> = format!("{}-{}-{:05}.warc.gz", self.project, at.compact(), self.serial).into();
        let path = self.dir.join(&*name);
        let fail = |e| StoreError::io("make", &path, e);
        fault::point("before-file").map_err(fail)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(fail)?;
        let tail = File::create(tail_path(&path)).map_err(fail)?;
        let mut growing = Growing {
            name,
            path: path.clone(),
            file,
            buffer: Vec::new(),
            end: GrowingEnd::default(),
            committed: None,
            tail,
            lines: Vec::new(),
        };
        self.serial += 1;
        let first = warc::warcinfo(&growing.name, &self.project, at);
        growing.end.length = first.len() as u64;
        growing.buffer = first;
        self.open.push(growing);
        // The name itself must survive a power cut before the catalogue refers to it.
        sync_dir(&self.dir)?;
        fault::point("after-file").map_err(|e| StoreError::io("make", &self.dir, e))
    }
}

impl Growing {
    fn write(&mut self, members: &Body) -> Result<()> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |e| StoreError::io("write", &path, e)
        };
        match members {
            Body::Memory(bytes) => {
                self.buffer.extend_from_slice(bytes);
                if self.buffer.len() >= BUFFER {
                    self.drain().map_err(fail(&self.path))?;
                }
            }
            Body::Spooled { .. } => {
                self.drain().map_err(fail(&self.path))?;
                let mut reader = members.reader().map_err(fail(&self.path))?;
                let copied = io::copy(&mut reader, &mut self.file).map_err(fail(&self.path))?;
                if copied != members.len() {
                    return Err(StoreError::damaged(&self.path, "a spooled record is shorter than it was"));
                }
            }
        }
        self.end.length += members.len();
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        fault::point("before-bytes")?;
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let all = self
            .drain()
            .and_then(|()| self.tail.write_all(&self.lines))
            .and_then(|()| if self.committed == Some(self.end) { Ok(()) } else { self.sync() });
        self.lines.clear();
        all.map_err(|e| StoreError::io("write", &self.path, e))
    }

    fn sync(&self) -> io::Result<()> {
        fault::point("before-sync")?;
        self.file.sync_data()
    }

    fn cut_to(&mut self, end: GrowingEnd) -> Result<()> {
        use std::io::{Seek, SeekFrom};
        self.buffer.clear();
        self.lines.clear();
        let cut = |file: &mut File, length: u64| {
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length)).map(|_| ())
        };
        cut(&mut self.file, end.length)
            .and_then(|()| cut(&mut self.tail, end.lines))
            .map_err(|e| StoreError::io("cut back", &self.path, e))?;
        self.end = end;
        Ok(())
    }

    fn seal(&mut self) -> Result<()> {
        self.flush()?;
        let end = FileEnd { name: self.name.clone(), length: self.end.length, records: self.end.records };
        seal::seal(&self.path, &end)
    }
}
