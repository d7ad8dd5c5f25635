//! Which copies of shared projects are kept for questions, and how old are they?
//!
//! They are below the home, for each store by itself, and look like projects. A command brings one
//! up to date before it asks; a server does so beside its answers, and says how old they are.

use crate::pulled::{pull, pull_with_splits};
use crate::{Collection, Result};
use orb_page::Moment;
use orb_store::{Home, ProjectDir, SharedAddress, SharedProject, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The directory in a home where copies are kept for questions: no project has such a name.
const COPIES: &str = ".shared";

/// A project of a shared store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedShared {
    /// Its name.
    pub project: String,
    /// Its run, if one is open.
    pub run: Option<u32>,
}

/// The projects of a shared store, by name.
pub fn shared_projects(at: &SharedAddress) -> Result<Vec<ListedShared>> {
    let listed = SharedProject::list(at)?.into_iter();
    let mut all: Vec<ListedShared> =
        listed.map(|one| ListedShared { project: one.name, run: one.run.map(|run| run.0) }).collect();
    all.sort_by(|a, b| a.project.cmp(&b.project));
    Ok(all)
}

/// The copies of this store's projects, as a home of their own.
pub fn shared_copies(home: &Path, at: &SharedAddress) -> Result<Home> {
    Ok(Home::open(&home.join(COPIES).join(at.key()?))?)
}

/// Brings the copy of a project up to date, or makes it.
pub fn refresh_copy(copies: &Home, at: &SharedAddress, project: &str) -> Result<ProjectDir> {
    pull(copies, at, project, project, false)?;
    found_current(copies, project)
}

/// Removes the copy of a project, if there is one.
pub fn forget_copy(home: &Path, at: &SharedAddress, project: &str) -> Result<()> {
    if !home.join(COPIES).exists() {
        return Ok(());
    }
    match shared_copies(home, at)?.remove(project) {
        Err(StoreError::NoSuchProject { .. }) => Ok(()),
        done => Ok(done?),
    }
}

/// A copy that has just been brought up to date.
fn found_current(copies: &Home, project: &str) -> Result<ProjectDir> {
    let copy = copies.find(project)?;
    // A copy whose age is unknown counts as older.
    let _ = File::options().write(true).open(turn(&copy)).and_then(|file| file.set_modified(SystemTime::now()));
    Ok(copy)
}

/// Opens a project on a shared store for questions, as it is now.
pub fn shared_collection(home: &Path, at: &SharedAddress, project: &str) -> Result<Collection> {
    let copies = shared_copies(home, at)?;
    Collection::of(refresh_copy(&copies, at, project)?)
}

/// The same for questions to the text index, which can then be brought up to date.
pub fn shared_searchable(home: &Path, at: &SharedAddress, project: &str) -> Result<Collection> {
    let copies = shared_copies(home, at)?;
    pull_with_splits(&copies, at, project, project, false)?;
    Collection::of(found_current(&copies, project)?)
}

/// Whether a project is a copy that is kept for questions.
pub fn is_shared_copy(project: &ProjectDir) -> bool {
    let store = project.dir.parent();
    store.and_then(Path::parent).and_then(Path::file_name).is_some_and(|name| name == COPIES)
}

/// When a copy was last found, or brought, up to date.
pub fn copied_at(copy: &ProjectDir) -> Option<Moment> {
    let modified = turn(copy).metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Moment)
}

/// The file by which those who bring a copy up to date wait for each other.
fn turn(copy: &ProjectDir) -> PathBuf {
    copy.dir.join("copy.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_for_questions_are_told_from_projects() {
        let of = |dir: &str| ProjectDir { name: "p".into(), dir: dir.into(), created_at: Moment(1) };
        assert!(is_shared_copy(&of("/home/.shared/0123/p")));
        assert!(!is_shared_copy(&of("/home/p")) && !is_shared_copy(&of("/home/.shared/p")));
        assert_eq!(copied_at(&of("/nowhere/.shared/0123/p")), None);
    }
}
