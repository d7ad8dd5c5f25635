//! How is a small file replaced atomically?
//!
//! It is written to a temporary file, synced, and only then renamed: after a crash or a power cut
//! there is the old file or the new one.

use crate::error::{Result, StoreError};
use crate::fault;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

/// Replaces the file at `path`; `points` are the fault injection points after writing and after
/// renaming.
pub fn replace(path: &Path, content: &[u8], points: [&'static str; 2]) -> Result<()> {
    let fail = |e| StoreError::io("write", path, e);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let unfinished = path.with_file_name(name);
    let written = File::create(&unfinished).and_then(|mut f| f.write_all(content).and_then(|()| f.sync_data()));
    written.map_err(fail)?;
    fault::point(points[0]).map_err(fail)?;
    fs::rename(&unfinished, path).map_err(fail)?;
    fault::point(points[1]).map_err(fail)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Syncs a directory.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(|e| StoreError::io("write", dir, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_has_the_new_content_and_leaves_nothing_beside_it() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a.toml");
        for content in ["one", "two"] {
            replace(&path, content.as_bytes(), ["settings-written", "settings-kept"]).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
    }
}
