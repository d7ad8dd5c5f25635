//! How do the bytes of a shared project come to its copy?
//!
//! Object by object, each whole or not at all, with its CDXJ file. An object never changes, so what
//! is there is not fetched again.

use super::objects::ObjectArchive;
use crate::FileEnd;
use crate::archive::{index_path, seal};
use crate::error::{Result, StoreError};
use crate::fault;
use crate::home::ProjectDir;
use crate::replace::sync_dir;
use crate::sqlite::Catalogue;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Bytes read at once.
const PART: u64 = 8 << 20;

/// What was fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FetchedFiles {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// Fetches the files that the catalogue names and the copy lacks.
pub(super) fn fetch(from: &ObjectArchive, catalogue: &Catalogue, dir: &ProjectDir) -> Result<FetchedFiles> {
    let to = dir.archive();
    fs::create_dir_all(&to).map_err(|e| StoreError::io("make", &to, e))?;
    let mut fetched = FetchedFiles::default();
    for file in catalogue.archive_files()? {
        if file.name.contains(['/', '\\', '\0']) || file.name.starts_with('.') {
            return Err(StoreError::damaged(catalogue.path(), format!("{:?} is no name of a file", file.name)));
        }
        let path = to.join(&*file.name);
        let whole = fs::metadata(&path).is_ok_and(|meta| meta.len() == file.length) && index_path(&path).exists();
        if !whole {
            fault::point("before-copied-bytes").map_err(|e| StoreError::io("write", &path, e))?;
            fetch_file(from, &file, &path)?;
            fault::point("after-copied-bytes").map_err(|e| StoreError::io("write", &path, e))?;
            fetched.files += 1;
            fetched.bytes += file.length;
        }
    }
    sync_dir(&to)?;
    Ok(fetched)
}

/// Removes files that the catalogue names no more: their records are in others.
pub(super) fn forget(catalogue: &Catalogue, dir: &ProjectDir) -> Result<()> {
    let to = dir.archive();
    let named: HashSet<Arc<str>> = catalogue.archive_files()?.into_iter().map(|file| file.name).collect();
    for entry in fs::read_dir(&to).map_err(|e| StoreError::io("list", &to, e))? {
        let entry = entry.map_err(|e| StoreError::io("list", &to, e))?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.ends_with(".warc.gz")) else { continue };
        if !named.contains(name) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, e))?;
            // It may never have been written.
            let _ = fs::remove_file(index_path(&path));
        }
    }
    Ok(())
}

fn fetch_file(from: &ObjectArchive, file: &FileEnd, path: &Path) -> Result<()> {
    let part = path.with_extension("part");
    let fail = |e| StoreError::io("write", &part, e);
    let mut out = File::create(&part).map_err(fail)?;
    let mut at = 0;
    while at < file.length {
        let bytes = from.read(&file.name, at, PART.min(file.length - at))?;
        if bytes.is_empty() {
            let place = from.place_of(&file.name);
            return Err(StoreError::damaged(&place, format!("it ends at byte {at} and not at {}", file.length)));
        }
        out.write_all(&bytes).map_err(fail)?;
        at += bytes.len() as u64;
    }
    out.sync_data().map_err(fail)?;
    fs::rename(&part, path).map_err(|e| StoreError::io("rename", &part, e))?;
    seal(path, file)
}
