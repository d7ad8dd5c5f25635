//! Is a file still the one that was read?

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What tells a file from one that has taken its place, or was written to since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    identity: (u64, u64),
    content: (u64, i64, i64),
}

impl FileStamp {
    /// The stamp of the file that lies there now; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        Some(Self { identity: (file.dev(), file.ino()), content: (file.len(), file.mtime(), file.mtime_nsec()) })
    }

    /// Whether both are of one file, whatever was written to it.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grew_is_the_same_and_one_in_its_place_is_not() {
        let tmp = tempfile::tempdir().unwrap();
        let (path, other) = (tmp.path().join("a"), tmp.path().join("b"));
        assert_eq!(FileStamp::of(&path), None);
        fs::write(&path, "one").unwrap();
        let first = FileStamp::of(&path).unwrap();
        assert_eq!(FileStamp::of(&path), Some(first));
        fs::write(&path, "longer").unwrap();
        let second = FileStamp::of(&path).unwrap();
        assert!(second != first && second.is_same_file(&first));
        fs::write(&other, "longer").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(!FileStamp::of(&path).unwrap().is_same_file(&first));
    }
}
