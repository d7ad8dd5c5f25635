//! How does a project on a shared store become one that can be asked?
//!
//! By a copy of its facts: one that people made and named, with its bytes, or one that is kept
//! below the home for questions and brought up to date before each of them. Whatever can be asked
//! of a project can then be asked of it, by the same code. Only SQL goes to the store itself.

use crate::sql::refused;
use crate::{AnswerError, Collection, Result, SqlQuery};
use orb_store::{
    Cell, CopyChange, CopyOrigin, Home, ProjectDir, PulledCopy, QueryEnd, QueryLimits, SharedAddress, SharedProject,
    TableNote,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;

/// The directory in a home where copies are kept for questions: no project has such a name.
const COPIES: &str = ".shared";

/// What `orb pull` has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PullReport {
    /// The local project.
    pub project: String,
    /// The project on the store.
    pub of: String,
    /// `made`, `updated`, `replaced` or `unchanged`.
    pub change: &'static str,
    /// Pages it has now.
    pub pages: u64,
    /// Visits it has now.
    pub visits: u64,
    /// Links it has now.
    pub links: u64,
    /// Rows that were read from the store.
    pub rows: u64,
    /// Archive files that were copied.
    pub files: u64,
    /// The bytes of these.
    pub bytes: u64,
}

/// Makes a local project of a shared one, or brings it up to date.
pub fn pull(home: &Home, at: &SharedAddress, of: &str, project: &str, bytes: bool) -> Result<PullReport> {
    let mut store = SharedProject::open(at, of)?;
    // Listed when it is whole: until then there is no such project.
    let copy = store.pull(&home.place(project)?, bytes)?;
    home.project(project)?;
    let PulledCopy { pages, visits, links, rows, files, bytes, .. } = copy;
    let change = match copy.change {
        CopyChange::Made => "made",
        CopyChange::Updated => "updated",
        CopyChange::Replaced => "replaced",
        CopyChange::Unchanged => "unchanged",
    };
    Ok(PullReport { project: project.to_owned(), of: of.to_owned(), change, pages, visits, links, rows, files, bytes })
}

/// Opens a project on a shared store for questions, as it is now.
pub fn shared_collection(home: &Path, at: &SharedAddress, project: &str) -> Result<Collection> {
    let copies = Home::open(&home.join(COPIES).join(at.key()?))?;
    pull(&copies, at, project, project, false)?;
    Collection::open(&copies, project)
}

/// Fails for a copy whose bytes are on the store alone.
pub fn need_bytes(project: &ProjectDir) -> Result<()> {
    match CopyOrigin::of(project)? {
        Some(origin) if !project.archive().exists() => Err(AnswerError::NotBuilt(format!(
            "the bytes of {} are in {}; pull it first: orb pull {}",
            project.name, origin.archive, origin.project
        ))),
        _ => Ok(()),
    }
}

/// Runs an SQL query on the store itself: `names` gets the column names, then `each` every wanted
/// row, until it breaks off.
pub fn shared_sql(
    (at, project): (&SharedAddress, &str),
    query: SqlQuery<'_>,
    names: impl FnOnce(&[&str]),
    mut each: impl FnMut(&[Cell<'_>]) -> ControlFlow<()>,
) -> Result<QueryEnd> {
    let store = SharedProject::open(at, project)?;
    let limits = QueryLimits { time: query.time, rows: query.rows.limit.saturating_add(query.rows.offset) };
    let mut skip = query.rows.offset;
    let given = store.sql(query.text, limits, names, |row| {
        if skip > 0 {
            skip -= 1;
            return ControlFlow::Continue(());
        }
        each(row)
    });
    given.map_err(refused)
}

/// The tables and columns of the store.
pub fn shared_schema(at: &SharedAddress, project: &str) -> Result<Vec<TableNote>> {
    Ok(SharedProject::open(at, project)?.schema()?)
}
