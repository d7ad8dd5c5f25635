//! Is a file still the one that was read?

use orb_page::Moment;
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

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.content.0 == 0
    }

    /// Whether it was last written before this moment, as far as the clock of the disk tells, which
    /// is coarse: of a file that was written just now, a later write may leave the same stamp.
    pub fn is_before(&self, at: Moment) -> bool {
        self.content.1.saturating_mul(1_000).saturating_add(self.content.2 / 1_000_000) < at.0
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
        let third = FileStamp::of(&path).unwrap();
        assert!(!third.is_same_file(&first) && !third.is_empty());
        let (past, future) = (Moment(0), Moment::now().plus(std::time::Duration::from_secs(60)));
        assert!(third.is_before(future) && !third.is_before(past));
    }
}
