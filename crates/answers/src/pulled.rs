//! How does a project on a shared store become one that can be asked?
//!
//! By a copy of its facts: one that people made and named, with its bytes, or one that is kept
//! below the home for questions and brought up to date before each of them. Whatever can be asked
//! of a project can then be asked of it, by the same code. Only SQL goes to the store itself.

use crate::sql::refused;
use crate::{AnswerError, Result, SqlQuery};
use orb_store::{
    Cell, CopyChange, CopyOrigin, CopySplits, Home, ProjectDir, PulledCopy, QueryEnd, QueryLimits, SharedAddress,
    SharedProject, TableNote,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::ControlFlow;

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
    /// Splits of the text index that there are.
    pub splits: u64,
}

/// Makes a local project of a shared one, or brings it up to date.
pub fn pull(home: &Home, at: &SharedAddress, of: &str, project: &str, bytes: bool) -> Result<PullReport> {
    pull_from(&mut SharedProject::open(at, of)?, home, project, bytes)
}

/// The same, noting which parts of its text index there are, for the caller that brings its own up
/// to date.
pub fn pull_with_splits(home: &Home, at: &SharedAddress, of: &str, project: &str, bytes: bool) -> Result<PullReport> {
    let mut store = SharedProject::open(at, of)?;
    // What is in these is in the copy, which is made later.
    let splits = store.splits()?;
    let pulled = pull_from(&mut store, home, project, bytes)?;
    CopySplits::note(&home.find(project)?, &splits)?;
    Ok(PullReport { splits: splits.len() as u64, ..pulled })
}

fn pull_from(store: &mut SharedProject, home: &Home, project: &str, bytes: bool) -> Result<PullReport> {
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
    let (project, of, splits) = (project.to_owned(), store.name().to_owned(), 0);
    Ok(PullReport { project, of, change, pages, visits, links, rows, files, bytes, splits })
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
    let limits = QueryLimits {
        time: query.time,
        rows: query.rows.limit.saturating_add(query.rows.offset),
        caller: query.caller,
    };
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
