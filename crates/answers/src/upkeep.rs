//! How is a store that several machines share kept in order?
//!
//! A database is prepared, objects that no row names are found and removed, small ones are stitched
//! together, and what rows name and is not there is told.

use crate::{AnswerError, Result};
use orb_page::RunState;
use orb_store::{RunStatus, SharedAddress, SharedProject, StorePreparation, prepare_store};
use schemars::JsonSchema;
use serde::Serialize;

/// The largest objects that are made by stitching: an upload has 10,000 parts of 8 MiB.
const LARGEST: u64 = 64_000_000_000;

/// What the archive of a shared project holds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ArchiveAccount {
    /// The project.
    pub project: String,
    /// Objects that rows name and that are whole.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects of batches that may still be recorded.
    pub under_way: u64,
    /// Objects that no row names, and none will.
    pub orphans: Vec<OrphanAccount>,
    /// Their bytes.
    pub orphan_bytes: u64,
    /// Whether they were removed.
    pub removed: bool,
    /// Objects that rows name and that are missing or too short.
    pub lost: Vec<LossAccount>,
    /// Letters that nobody has read although the last run is done.
    pub unread: Option<UnreadLetters>,
}

impl ArchiveAccount {
    /// Whether everything is as it should be.
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.unread.is_none()
    }
}

/// Letters that a run has left behind.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct UnreadLetters {
    /// The run.
    pub run: u32,
    /// How many.
    pub letters: u64,
}

/// An object that no row names.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OrphanAccount {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: u64,
}

/// An object that is missing or too short.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LossAccount {
    /// Its name.
    pub name: String,
    /// The length that the row says.
    pub length: u64,
    /// Its length, if it is there.
    pub found: Option<u64>,
}

/// What stitching has done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StitchReport {
    /// The project.
    pub project: String,
    /// Objects that were stitched together.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that they became.
    pub into: u64,
    /// Objects that rows name now.
    pub left: u64,
    /// Whether the old objects were kept, as orphans.
    pub kept: bool,
}

/// What was done to prepare a store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PreparedStore {
    /// The server's version.
    pub server: String,
    /// Whether it was prepared before.
    pub known: bool,
    /// The version of Citus, where tables of new projects are distributed.
    pub citus: Option<String>,
    /// How many servers keep them.
    pub servers: u64,
    /// How many shards new projects have unless they say otherwise.
    pub shards: u16,
    /// Projects whose tables are on one server alone, because they were made before.
    pub undistributed: Vec<String>,
}

/// Prepares a database for shared projects, distributed by Citus where that is wanted, with so many
/// shards unless they say otherwise.
pub fn prepare(at: &SharedAddress, distributed: bool, shards: Option<u16>) -> Result<PreparedStore> {
    let StorePreparation { server, known, citus, servers, shards, undistributed } =
        prepare_store(at, distributed, shards)?;
    Ok(PreparedStore { server, known, citus, servers, shards, undistributed })
}

/// Letters that a run has left behind although it is done: their links and pages are missing.
fn unread(store: &mut SharedProject) -> Result<Option<UnreadLetters>> {
    let Some(run) = store.last_run()? else { return Ok(None) };
    let letters = store.overview()?.letters;
    let done = run.record.state == RunStatus::Ended(RunState::Done);
    Ok((done && letters > 0).then_some(UnreadLetters { run: run.record.id.0, letters }))
}

/// Compares the archive of a shared project with the rows that name its objects, and removes the
/// objects that no row will ever name where that is wanted.
pub fn archive_account(at: &SharedAddress, project: &str, remove: bool) -> Result<ArchiveAccount> {
    let mut store = SharedProject::open(at, project)?;
    let stock = store.take_stock()?;
    if remove {
        store.remove_orphans(&stock.orphans)?;
    }
    let orphan_bytes = stock.orphans.iter().map(|orphan| orphan.length).sum();
    let orphans = stock.orphans.into_iter().map(|o| OrphanAccount { name: o.name, length: o.length });
    let lost = stock.lost.into_iter().map(|o| LossAccount { name: o.name, length: o.wanted, found: o.found });
    Ok(ArchiveAccount {
        project: project.to_owned(),
        objects: stock.objects,
        bytes: stock.bytes,
        under_way: stock.under_way,
        orphans: orphans.collect(),
        orphan_bytes,
        removed: remove,
        lost: lost.collect(),
        unread: unread(&mut store)?,
    })
}

/// Stitches the small objects of a shared project together into objects of about this size; `each`
/// hears how far it is.
pub fn stitch(
    (at, project): (&SharedAddress, &str),
    (size, keep): (u64, bool),
    mut each: impl FnMut(&StitchReport),
) -> Result<StitchReport> {
    if !(2..=LARGEST).contains(&size) {
        return Err(AnswerError::Malformed("the size of stitched objects is at most 64GB".to_owned()));
    }
    let report = |done: &orb_store::StitchAccount| StitchReport {
        project: project.to_owned(),
        objects: done.objects,
        bytes: done.bytes,
        into: done.into,
        left: done.left,
        kept: keep,
    };
    let done = SharedProject::open(at, project)?.stitch(size, keep, |done| each(&report(done)))?;
    Ok(report(&done))
}
