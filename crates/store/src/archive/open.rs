//! What did the last start leave behind?

use super::FileEnd;
use super::disk::Archive;
use super::seal::{index_path, seal, tail_path};
use crate::error::{Result, StoreError};
use crate::fault;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// CDXJ files up to this length are read completely when the archive is opened.
const READ_WHOLE: u64 = 4 << 20;

/// What had to be repaired when the archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveStart {
    /// Files truncated to what the catalogue knows, and by how many bytes.
    pub cut: Vec<(String, u64)>,
    /// Files removed because no commit ever referred to them.
    pub removed: Vec<String>,
    /// Closed files unknown to the catalogue: renamed with the suffix `.orphan`.
    pub orphans: Vec<String>,
    /// Files known to the catalogue that are missing, too short, or unreadable, and what is wrong
    /// with them.
    pub damaged: Vec<(String, String)>,
}

impl Archive {
    /// Opens the archive in `dir`: truncates what the catalogue does not know, closes what is still
    /// open. The first record starts a new file.
    pub fn open(dir: &Path, project: &str, known: &[FileEnd]) -> Result<(Self, ArchiveStart)> {
        fs::create_dir_all(dir).map_err(|e| StoreError::io("make", dir, e))?;
        let mut start = ArchiveStart::default();
        let mut serial = 0;
        let by_name: HashMap<&str, &FileEnd> = known.iter().map(|f| (&*f.name, f)).collect();
        for entry in fs::read_dir(dir).map_err(|e| StoreError::io("list", dir, e))? {
            let entry = entry.map_err(|e| StoreError::io("list", dir, e))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some(number) = is_ours(project, &name) else { continue };
            serial = serial.max(number + 1);
            if !by_name.contains_key(name.as_str()) {
                put_aside(&entry.path(), name, &mut start)?;
            }
        }
        for file in known {
            serial = serial.max(is_ours(project, &file.name).map_or(0, |n| n + 1));
            if let Err(damage) = restore(dir, file, &mut start)? {
                start.damaged.push((file.name.to_string(), damage));
            }
        }
        let archive =
            Self { dir: dir.to_owned(), project: project.to_owned(), roll: Self::ROLL, serial, open: Vec::new() };
        Ok((archive, start))
    }
}

/// The serial number in a name of the form `project-YYYYMMDDhhmmss-00000.warc.gz`.
pub(crate) fn is_ours(project: &str, name: &str) -> Option<u32> {
    let rest = name.strip_prefix(project)?.strip_prefix('-')?.strip_suffix(".warc.gz")?;
    let (time, serial) = rest.split_once('-')?;
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    (time.len() == 14 && digits(time) && serial.len() >= 5 && digits(serial)).then(|| serial.parse().ok())?
}

/// Handles a file unknown to the catalogue. One that was never closed contains only a failed batch;
/// one that was closed was known once, so the catalogue has been lost or replaced, and the bytes
/// are worth keeping.
fn put_aside(path: &Path, name: String, start: &mut ArchiveStart) -> Result<()> {
    fault::point("before-removal").map_err(|e| StoreError::io("remove", path, e))?;
    if index_path(path).exists() {
        let aside = path.with_file_name(format!("{name}.orphan"));
        fs::rename(path, &aside).map_err(|e| StoreError::io("rename", path, e))?;
        start.orphans.push(name);
    } else {
        fs::remove_file(path).map_err(|e| StoreError::io("remove", path, e))?;
        // The tail may never have been created.
        let _ = fs::remove_file(tail_path(path));
        start.removed.push(name);
    }
    fault::point("after-removal").map_err(|e| StoreError::io("remove", path, e))
}

fn cut(path: &Path, length: u64) -> io::Result<()> {
    fault::point("before-cut")?;
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_data()?;
    fault::point("after-cut")
}

/// Whether a CDXJ file exists and seems complete: of a large one only the end is read.
fn is_whole(index: &Path, records: u64) -> io::Result<bool> {
    let mut file = match File::open(index) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let length = file.metadata()?.len();
    let begin = if length > READ_WHOLE { length - (64 << 10) } else { 0 };
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(begin))?;
    file.read_to_end(&mut text)?;
    let all = begin > 0 || memchr::memchr_iter(b'\n', &text).count() as u64 == records;
    let ends = if records == 0 { text.is_empty() } else { text.ends_with(b"}\n") };
    Ok(all && ends && !text.iter().any(|byte| *byte < b' ' && *byte != b'\n'))
}

/// Truncates a known file to its known length, and closes it if it is open.
fn restore(dir: &Path, known: &FileEnd, start: &mut ArchiveStart) -> Result<std::result::Result<(), String>> {
    let path = dir.join(&*known.name);
    let length = match fs::metadata(&path) {
        Ok(meta) => meta.len(),
        Err(e) => return Ok(Err(format!("it cannot be read: {e}"))),
    };
    if length < known.length {
        return Ok(Err(format!("it has {length} bytes where the catalogue knows {}", known.length)));
    }
    let index = index_path(&path);
    if length > known.length {
        cut(&path, known.length).map_err(|e| StoreError::io("cut", &path, e))?;
        start.cut.push((known.name.to_string(), length - known.length));
        // It may contain lines for what was truncated.
        let _ = fs::remove_file(&index);
    }
    if !tail_path(&path).exists() && is_whole(&index, known.records).map_err(|e| StoreError::io("read", &index, e))? {
        return Ok(Ok(()));
    }
    match seal(&path, known) {
        Err(StoreError::Damaged { what, .. }) => Ok(Err(what)),
        other => other.map(Ok),
    }
}
