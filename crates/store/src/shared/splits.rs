//! Where are the parts of the text index that workers have made?
//!
//! Each part, a split, is one object beside the archive's, below a prefix of its own (`splits`), so
//! that nobody takes it for an object of the archive: `<worker>-<number>-<bytes>-<nonce>.split`. A
//! name is never used twice, and says how long the object is. A split counts once its row says so,
//! and a worker that was taken for dead adds none: everything in a split has been committed.
//! Whoever asks knows the splits as they were before the facts were copied (`splits.json` beside
//! the copy), so a split holds nothing that the copy has not heard of.

use super::SharedProject;
use super::copied::{CopyOrigin, origin_address};
use super::join::Membership;
use super::objects::ObjectArchive;
use super::pull::take_turn;
use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

/// Bytes read at once.
const PART: u64 = 8 << 20;

/// A part of the text index of a shared project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRow {
    /// Its number.
    pub id: i64,
    /// Its object.
    pub object: String,
    /// How many pages it holds.
    pub pages: u64,
}

/// Adds splits to a shared project, for one incarnation of a worker.
pub struct SplitDesk {
    member: Membership,
    objects: ObjectArchive,
    number: u32,
}

/// The splits that a copy may take its text index from.
pub struct CopySplits {
    /// Those that there were when it was copied.
    pub rows: Vec<SplitRow>,
    objects: ObjectArchive,
}

/// Keeps others from bringing a copy up to date, or its index.
pub struct CopyTurn {
    _file: Option<File>,
}

/// The objects of splits are below the project's.
fn place(project: &str) -> String {
    format!("{project}/splits")
}

impl Membership {
    /// Where it adds splits.
    pub fn splits(&self) -> Result<SplitDesk> {
        let objects = ObjectArchive::open(&self.address, &place(&self.project))?;
        Ok(SplitDesk { member: self.clone(), objects, number: 0 })
    }
}

impl SplitDesk {
    /// Uploads a file with so many pages and makes it known. After an error, whether it has become
    /// known or not, it may be added again: a page that two splits hold is taken from one.
    pub fn add(&mut self, file: &Path, pages: u64) -> Result<()> {
        self.objects.probe()?;
        self.number += 1;
        let worker = self.member.worker().0;
        let nonce = getrandom::u64().map_err(|e| StoreError::StoreAway { what: "draw a nonce", source: e.into() })?;
        let bytes = fs::read(file).map_err(|e| StoreError::io("read", file, e))?;
        let name = format!("{worker}-{}-{}-{nonce:016x}.split", self.number, bytes.len());
        self.objects.put(&name, bytes)?;
        let (id, pages) = (worker << 32 | i64::from(self.number), pages.cast_signed());
        let member = &self.member;
        // A connection for a moment, every few minutes.
        member.redial("splits").with(|line| {
            const WHAT: &str = "add a split";
            line.begin(WHAT)?;
            // As in a commit: held against burial until the transaction ends.
            let sql = "SELECT batch FROM worker WHERE id = $1 AND alive FOR KEY SHARE";
            let row = line.wait(WHAT, line.client().query_opt(sql, &[&worker]))?;
            let batch: i64 = row.ok_or_else(|| member.fenced())?.get(0);
            let sql = "INSERT INTO split (id, object, worker, docs, mark) VALUES ($1, $2, $3, $4, $5)";
            line.wait(WHAT, line.client().execute(sql, &[&id, &name, &worker, &pages, &batch]))?;
            line.run(WHAT, "COMMIT")
        })
    }
}

impl SharedProject {
    /// The splits of its text index, in the order in which their workers made them.
    pub fn splits(&mut self) -> Result<Vec<SplitRow>> {
        let sql = "SELECT id, object, docs FROM split ORDER BY id";
        self.with(|line| {
            let rows = line.wait_long("list the splits", line.client().query(sql, &[]))?;
            let row = |row: &tokio_postgres::Row| SplitRow {
                id: row.get(0),
                object: row.get(1),
                pages: row.get::<_, i64>(2).cast_unsigned(),
            };
            Ok(rows.iter().map(row).collect())
        })
    }

    /// How many splits there are.
    pub fn split_count(&mut self) -> Result<u64> {
        let sql = "SELECT count(*) FROM split";
        let count = |row: tokio_postgres::Row| row.get::<_, i64>(0).cast_unsigned();
        self.with(|line| line.wait("count the splits", line.client().query_one(sql, &[])).map(count))
    }
}

impl CopySplits {
    /// Notes which splits there were before the project was copied to a directory.
    pub fn note(dir: &ProjectDir, rows: &[SplitRow]) -> Result<()> {
        let path = dir.dir.join("splits.json");
        let text = serde_json::to_vec(rows).unwrap_or_default();
        fs::write(&path, text).map_err(|e| StoreError::io("write", &path, e))
    }

    /// Those of a copy; nothing if it is no copy, or none were noted.
    pub fn of(dir: &ProjectDir) -> Result<Option<Self>> {
        let Some(origin) = CopyOrigin::of(dir)? else { return Ok(None) };
        // What was cut off by a crash is written again by the next copy.
        let text = fs::read(dir.dir.join("splits.json")).unwrap_or_default();
        let rows: Vec<SplitRow> = serde_json::from_slice(&text).unwrap_or_default();
        if rows.is_empty() {
            return Ok(None);
        }
        let objects = ObjectArchive::open(&origin_address(&origin), &place(&origin.project))?;
        Ok(Some(Self { rows, objects }))
    }

    /// Downloads one into a file.
    pub fn fetch(&self, row: &SplitRow, to: &Path) -> Result<()> {
        let fail = |e| StoreError::io("write", to, e);
        let damaged = |what: String| StoreError::damaged(&self.objects.place_of(&row.object), what);
        let length = row.object.split('-').nth(2).and_then(|length| length.parse::<u64>().ok());
        let length = length.ok_or_else(|| damaged("its name does not say how long it is".to_owned()))?;
        let mut out = File::create(to).map_err(fail)?;
        let mut at = 0;
        while at < length {
            let bytes = self.objects.read(&row.object, at, PART.min(length - at))?;
            if bytes.is_empty() {
                return Err(damaged(format!("it ends at byte {at} and not at {length}")));
            }
            out.write_all(&bytes).map_err(fail)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }
}

impl CopyTurn {
    /// Waits until nobody else brings this copy up to date; at once for a project that is no copy.
    pub fn take(dir: &ProjectDir) -> Result<Self> {
        let is_copy = CopyOrigin::of(dir)?.is_some();
        Ok(Self { _file: is_copy.then(|| take_turn(dir)).transpose()? })
    }
}
