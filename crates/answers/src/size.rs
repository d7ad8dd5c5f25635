//! How much of the disk does a project take?

use crate::Result;
use orb_store::{ProjectDir, StoreError};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The unit in which systems count what a file takes on the disk.
const BLOCK: u64 = 512;

/// Only longer files are looked at for holes: some file systems keep short ones elsewhere.
const LONG: u64 = 1 << 20;

/// The bytes of all files of a project, without their holes. Links are not followed, and files that
/// a crawl removes meanwhile do not count.
pub fn project_size(project: &ProjectDir) -> Result<u64> {
    Ok(below(&project.dir)?)
}

fn below(dir: &Path) -> std::result::Result<u64, StoreError> {
    let fail = |e| StoreError::io("look at the size of", dir, e);
    let entries = match fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(fail)?,
    };
    let mut sum = 0;
    for entry in entries {
        let entry = entry.map_err(fail)?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sum += below(&entry.path())?,
            Ok(metadata) => sum += taken(&metadata),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(fail(e)),
        }
    }
    Ok(sum)
}

/// The bytes that a file takes. A journal is made as long as it may become and is a hole at first.
fn taken(file: &Metadata) -> u64 {
    let on_disk = file.blocks().saturating_mul(BLOCK);
    if file.len() > LONG { file.len().min(on_disk) } else { file.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;

    #[test]
    fn the_files_of_all_directories_count_and_links_do_not() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        assert_eq!(project_size(&project).unwrap(), 0);
        fs::create_dir_all(project.dir.join("a/b")).unwrap();
        fs::write(project.dir.join("x"), [0; 10]).unwrap();
        fs::write(project.dir.join("a/b/y"), [0; 100]).unwrap();
        let before = project_size(&project).unwrap();
        assert_eq!(before, 110);
        fs::File::create(project.dir.join("hole")).unwrap().set_len(1 << 30).unwrap();
        assert!(project_size(&project).unwrap() < 1 << 20, "a hole takes nothing");
        fs::remove_file(project.dir.join("hole")).unwrap();
        std::os::unix::fs::symlink(tmp.path(), project.dir.join("loop")).unwrap();
        assert!(project_size(&project).unwrap() < before + 4_096);
        fs::remove_dir_all(&project.dir).unwrap();
        assert_eq!(project_size(&project).unwrap(), 0);
    }
}
