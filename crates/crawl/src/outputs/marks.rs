//! How far has each output been served?
//!
//! `outputs.json` in the project's directory, replaced atomically. The delivering process holds the
//! lock beside it: two processes would deliver twice. The catalogue is only read, so outputs can be
//! served while a run writes.

use crate::CrawlError;
use orb_store::replace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How far an output has been served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeliveryMark {
    /// The last change delivered.
    pub(super) cursor: u64,
    /// The last change of the delivery in progress, so that after a crash the same delivery is
    /// repeated under the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<u64>,
}

/// A delivery that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryFailure {
    /// When.
    pub at: String,
    /// Why.
    pub why: String,
}

/// What is kept of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptMark {
    #[serde(flatten)]
    pub(super) mark: DeliveryMark,
    /// How the last delivery failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<DeliveryFailure>,
}

/// The cursors of all outputs, locked by one process.
pub(super) struct Marks {
    path: PathBuf,
    marks: Mutex<BTreeMap<String, KeptMark>>,
    _lock: File,
}

/// What was kept last, for callers that only look.
pub(super) fn kept(dir: &Path) -> Result<BTreeMap<String, KeptMark>, CrawlError> {
    let path = dir.join("outputs.json");
    let fail = |source| CrawlError::Output { path: path.clone(), source };
    match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|e| fail(e.into())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(e) => Err(fail(e)),
    }
}

impl Marks {
    /// Locks the cursors of a project; fails if another process holds them.
    pub(super) fn open(dir: &Path) -> Result<Self, CrawlError> {
        let (path, lock) = (dir.join("outputs.json"), dir.join("outputs.lock"));
        let fail = |path: &Path, source| CrawlError::Output { path: path.to_owned(), source };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&lock);
        let file = file.map_err(|e| fail(&lock, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(CrawlError::Delivering),
            Err(TryLockError::Error(e)) => return Err(fail(&lock, e)),
        }
        Ok(Self { path, marks: Mutex::new(kept(dir)?), _lock: file })
    }

    /// The cursor of an output; the beginning for a new one.
    pub(super) fn get(&self, name: &str) -> DeliveryMark {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).get(name).map(|kept| kept.mark).unwrap_or_default()
    }

    /// Advances a cursor.
    pub(super) fn set(&self, name: &str, mark: DeliveryMark) -> Result<(), CrawlError> {
        self.change(name, |kept| kept.mark = mark)
    }

    /// Remembers how a delivery failed, or that it did not.
    pub(super) fn note(&self, name: &str, failure: Option<DeliveryFailure>) -> Result<(), CrawlError> {
        self.change(name, |kept| kept.failure = failure)
    }

    /// Changes what is kept of an output, and writes the file if that is something else than
    /// before.
    fn change(&self, name: &str, change: impl FnOnce(&mut KeptMark)) -> Result<(), CrawlError> {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let before = marks.get(name);
        let mut kept = before.cloned().unwrap_or_default();
        change(&mut kept);
        if before == Some(&kept) {
            return Ok(());
        }
        marks.insert(name.to_owned(), kept);
        let text = serde_json::to_string_pretty(&*marks).unwrap_or_default() + "\n";
        Ok(replace(&self.path, text.as_bytes(), ["report-written", "report-kept"])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_kept_and_held_by_one_at_a_time() {
        let tmp = tempfile::tempdir().unwrap();
        let marks = Marks::open(tmp.path()).unwrap();
        assert_eq!(marks.get("a"), DeliveryMark::default());
        marks.set("a", DeliveryMark { cursor: 7, until: Some(9) }).unwrap();
        assert!(matches!(Marks::open(tmp.path()), Err(CrawlError::Delivering)));
        let failure = Some(DeliveryFailure { at: "now".into(), why: "nobody is there".into() });
        marks.note("a", failure.clone()).unwrap();
        assert_eq!(kept(tmp.path()).unwrap()["a"].failure, failure);
        drop(marks);
        assert_eq!(Marks::open(tmp.path()).unwrap().get("a"), DeliveryMark { cursor: 7, until: Some(9) });
        std::fs::write(tmp.path().join("outputs.json"), "{").unwrap();
        assert!(matches!(Marks::open(tmp.path()), Err(CrawlError::Output { .. })));
    }
}
