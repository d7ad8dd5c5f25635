//! Is the index still as it was left?
//!
//! A clean shutdown leaves a fingerprint of the index's files beside it, which is compared before
//! it is opened again. After a crash there is none: then the files are examined one by one
//! (`sound`), every entry is read once, and the stored counts must match.

use super::layout::{FOLDED, IndexMark, QueueKey, parse_number, parse_queue_key};
use super::open::beside;
use super::{Spaces, sound};
use crate::error::{Result, StoreError};
use orb_page::HostId;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// If all files together are larger than this, only the small ones are hashed, so that a large
/// crawl resumes at once; of the others only the length is compared.
const ALL: u64 = 64 << 20;
const SMALL: u64 = 1 << 20;

/// What is known about the files before the database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// As they were left.
    Intact,
    /// Left by a crash.
    Unknown,
    /// Not as they were left.
    Changed,
}

/// Compares the files with their fingerprint, which is valid only until the database is opened and
/// is removed.
pub(super) fn examine(dir: &Path) -> Result<Condition> {
    let file = beside(dir, "intact");
    let left = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let sound = sound::is_sound(dir, ALL).map_err(|e| StoreError::io("read", dir, e))?;
            return Ok(if sound { Condition::Unknown } else { Condition::Changed });
        }
        Err(e) => return Err(StoreError::io("read", &file, e)),
    };
    let found = fingerprint(dir).map_err(|e| StoreError::io("read", dir, e))?;
    fs::remove_file(&file).map_err(|e| StoreError::io("remove", &file, e))?;
    Ok(if left.trim() == found { Condition::Intact } else { Condition::Changed })
}

/// Writes the fingerprint of a closed database.
pub(super) fn leave(dir: &Path) -> Result<()> {
    let file = beside(dir, "intact");
    let found = fingerprint(dir).map_err(|e| StoreError::io("read", dir, e))?;
    fs::write(&file, found + "\n").map_err(|e| StoreError::io("write", &file, e))
}

/// Reads everything, unless that would take long; returns whether the counts match.
pub(super) fn read_through(spaces: &Spaces) -> fjall::Result<bool> {
    let all = [&spaces.seen, &spaces.digest, &spaces.queue, &spaces.host];
    if all.iter().map(|s| s.disk_space()).sum::<u64>() > ALL {
        return Ok(true);
    }
    let mut seen = 0;
    for entry in spaces.seen.iter() {
        entry.into_inner()?;
        seen += 1;
    }
    for entry in spaces.digest.iter() {
        entry.into_inner()?;
    }
    for entry in spaces.host.iter() {
        entry.into_inner()?;
    }
    let (mut queued, mut told) = (BTreeMap::<u32, u64>::new(), BTreeMap::new());
    let mut mark = None;
    for entry in spaces.queue.iter() {
        let (key, value) = entry.into_inner()?;
        let Ok(place) = QueueKey::try_from(&*key) else { return Ok(false) };
        match parse_queue_key(&place) {
            _ if place == FOLDED => mark = IndexMark::decode(&value),
            (HostId(0), host, _) => told.extend(u32::try_from(host).ok().zip(parse_number(&value))),
            (host, ..) => *queued.entry(host.0).or_default() += 1,
        }
    }
    // An interrupted fold may have ingested keys but not the mark.
    Ok(told == queued && mark.is_none_or(|mark| mark.seen <= seen))
}

fn fingerprint(dir: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    list(dir, &mut files)?;
    files.sort();
    let all = files.iter().map(|(_, length)| length).sum::<u64>() <= ALL;
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; 256 << 10];
    for (path, length) in &files {
        hash.update(path.strip_prefix(dir).unwrap_or(path).as_os_str().as_encoded_bytes());
        hash.update(&length.to_le_bytes());
        if all || *length <= SMALL {
            let mut file = File::open(path)?;
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    n => hash.update(&buffer[..n]),
                }
            }
        }
    }
    Ok(format!("{:032x}", hash.digest128()))
}

fn list(dir: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.push((entry.path(), entry.metadata()?.len()));
        }
    }
    Ok(())
}
