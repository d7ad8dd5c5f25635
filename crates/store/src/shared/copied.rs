//! Of which shared project is a local one the copy?
//!
//! `copy.json` in its directory says so: it is written before anything else is copied, so that
//! nobody takes a copy for a project of its own. What was copied last, [`CopyMark`], is kept in the
//! catalogue, in the transaction that changes the rows.

use super::connect::{S3Options, SharedAddress};
use super::objects::ObjectArchive;
use super::pull::its_own;
use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use crate::replace::replace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;

/// Where a copy was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOrigin {
    /// The database, without user and password.
    pub store: String,
    /// The project there.
    pub project: String,
    /// Where its bytes are.
    pub archive: String,
}

impl CopyOrigin {
    /// What a copy of this project says of itself.
    pub(super) fn at(address: &SharedAddress, project: &str) -> Result<Self> {
        Ok(Self { store: address.place()?, project: project.to_owned(), archive: address.archive.clone() })
    }

    /// Where a project was copied from; `None` if it is a project of its own.
    pub fn of(dir: &ProjectDir) -> Result<Option<Self>> {
        let path = dir.dir.join("copy.json");
        match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|e| StoreError::damaged(&path, format!("it does not say where the copy is from: {e}"))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::io("read", &path, e)),
        }
    }

    /// Makes a directory the place of this copy, unless something else is there.
    pub(super) fn claim(&self, dir: &ProjectDir) -> Result<()> {
        let name = &dir.name;
        match Self::of(dir)? {
            Some(kept) if (&kept.store, &kept.project) != (&self.store, &self.project) => {
                Err(StoreError::Shared(format!(
                    "project {name} is a copy of {} from {}: choose another name with --as",
                    kept.project, kept.store
                )))
            }
            Some(kept) if kept == *self => Ok(()),
            None if dir.catalogue().exists() || dir.settings().exists() => Err(its_own(dir)),
            _ => {
                let text = serde_json::to_vec_pretty(self).unwrap_or_default();
                replace(&dir.dir.join("copy.json"), &text, ["copy-written", "copy-claimed"])
            }
        }
    }
}

/// What was copied last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CopyMark {
    /// When the project was made: another one of its name has another.
    pub(super) made_at: i64,
    /// The history that transactions are numbered in: the database cluster and its timeline.
    pub(super) history: String,
    /// Transactions before this one had ended.
    pub(super) horizon: i64,
    /// Transactions from this one on had not begun.
    pub(super) end: i64,
    /// The last batch of the copy, to tell whether somebody else has written to it.
    pub(super) batch: (u64, u64),
    /// How many rows each table has.
    pub(super) rows: BTreeMap<String, u64>,
}

/// How this process reaches S3 for copies without bytes of their own.
static S3: OnceLock<S3Options> = OnceLock::new();

/// Says once how S3 is reached where the bytes of a copy are read from there.
pub fn reach_s3(options: S3Options) {
    // Said twice, the first stays.
    let _ = S3.set(options);
}

/// Where the objects of a copy's origin are.
pub(super) fn origin_address(origin: &CopyOrigin) -> SharedAddress {
    let s3 = S3.get().cloned().unwrap_or_default();
    SharedAddress { archive: origin.archive.clone(), s3, ..SharedAddress::default() }
}

/// The bytes of a copy that are not beside it.
pub(crate) struct ElsewhereArchive {
    origin: CopyOrigin,
    opened: OnceLock<ObjectArchive>,
}

impl ElsewhereArchive {
    /// Those of a project, if it is a copy.
    pub(crate) fn of(dir: &ProjectDir) -> Option<Self> {
        // A file that cannot be read is told by whoever pulls; here the bytes are simply not found.
        let origin = CopyOrigin::of(dir).ok().flatten()?;
        Some(Self { origin, opened: OnceLock::new() })
    }

    /// The objects, opened when they are first needed.
    pub(crate) fn objects(&self) -> Result<&ObjectArchive> {
        if let Some(objects) = self.opened.get() {
            return Ok(objects);
        }
        let objects = ObjectArchive::open(&origin_address(&self.origin), &self.origin.project)?;
        Ok(self.opened.get_or_init(|| objects))
    }
}

impl std::fmt::Debug for ElsewhereArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ElsewhereArchive").field(&self.origin).finish()
    }
}
