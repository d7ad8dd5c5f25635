//! What is removed before a worker begins again?

use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use std::io;
use std::path::Path;

/// Removes what a scratch project consists of.
pub(crate) fn wipe(dir: &ProjectDir) -> Result<()> {
    let catalogue = dir.catalogue();
    for suffix in ["", "-wal", "-shm"] {
        let mut name = catalogue.clone().into_os_string();
        name.push(suffix);
        gone(Path::new(&name), std::fs::remove_file(&name))?;
    }
    for place in [dir.frontier(), dir.keys()] {
        gone(&place, std::fs::remove_dir_all(&place))?;
    }
    for mark in ["suspect", "intact"] {
        let file = dir.frontier().with_extension(mark);
        gone(&file, std::fs::remove_file(&file))?;
    }
    Ok(())
}

fn gone(path: &Path, removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, e)),
        _ => Ok(()),
    }
}
