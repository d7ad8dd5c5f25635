//! Which commands are there? One file each.

pub(crate) mod answer_ssh;
pub(crate) mod browser;
pub(crate) mod cat;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod crawl;
pub(crate) mod deliver;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod export;
mod forms;
pub(crate) mod graph;
pub(crate) mod health;
pub(crate) mod index;
pub(crate) mod inspect;
pub(crate) mod intake;
pub(crate) mod links;
pub(crate) mod mcp;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod pull;
pub(crate) mod read_aside;
pub(crate) mod report;
pub(crate) mod run_due;
pub(crate) mod search;
pub(crate) mod serve;
mod sessions;
pub(crate) mod show;
mod simulate;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod top;
pub(crate) mod track;
pub(crate) mod user;
pub(crate) mod why;
pub(crate) mod words;
pub(crate) mod worker;

use crate::args::{Common, ProjectArgs, StoreArgs};
use crate::failure::{CommandFailure, complain};
use orb_answers::Collection;
use orb_crawl::SharedAddress;
use orb_project::{Home, ProjectDir, StoreError};

/// Where a project is.
pub(crate) enum ProjectPlace {
    /// In the home.
    Here(ProjectDir),
    /// On a shared store.
    There(Box<SharedAddress>),
}

/// Looks a project up. One of the home goes before one that only the environment may mean.
pub(crate) fn find(common: &Common, of: &ProjectArgs) -> Result<ProjectPlace, CommandFailure> {
    if let Some(at) = of.place.address(false)? {
        return Ok(ProjectPlace::There(Box::new(at)));
    }
    match (Home::look(&common.home)?.find(&of.project), of.place.elsewhere()?) {
        (Err(StoreError::NoSuchProject { .. }), Some(at)) => Ok(ProjectPlace::There(Box::new(at))),
        (here, _) => Ok(ProjectPlace::Here(here?)),
    }
}

/// The same for what is asked of the database alone.
pub(crate) fn find_facts(common: &Common, of: &ProjectArgs) -> Result<ProjectPlace, CommandFailure> {
    if of.place.store.is_some() {
        return Ok(ProjectPlace::There(Box::new(of.place.database()?)));
    }
    match (Home::look(&common.home)?.find(&of.project), of.place.named_database()) {
        (Err(StoreError::NoSuchProject { .. }), Some(at)) => Ok(ProjectPlace::There(Box::new(at))),
        (here, _) => Ok(ProjectPlace::Here(here?)),
    }
}

/// Opens a project for questions; of one on a shared store a copy, brought up to date.
pub(crate) fn open(common: &Common, of: &ProjectArgs) -> Result<Collection, CommandFailure> {
    Ok(match find(common, of)? {
        ProjectPlace::Here(project) => Collection::of(project)?,
        ProjectPlace::There(at) => orb_answers::shared_collection(&common.home, &at, &of.project)?,
    })
}

/// Opens the home, which is made if it is missing, for a command that leaves something there. If
/// the command fails and nothing came of it, a home that it has made is removed again.
pub(crate) fn with_home(
    common: &Common,
    act: impl FnOnce(&Home) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    let is_new = !common.home.exists();
    let home = Home::open(&common.home)?;
    let done = act(&home);
    if is_new && done.is_err() {
        home.discard_if_empty();
    }
    done
}

/// The name of a project to which rights are given: one of the home, or of the shared store that
/// the environment names.
pub(crate) fn known_name(home: &Home, name: &str) -> Result<String, CommandFailure> {
    let here = home.find(name);
    if let (Err(StoreError::NoSuchProject { .. }), Some(at)) = (&here, StoreArgs::default().elsewhere()?)
        && orb_answers::shared_projects(&at)?.iter().any(|there| there.project == name)
    {
        return Ok(name.to_owned());
    }
    Ok(here?.name)
}

/// Prints a note about an answer, unless `--quiet` is set.
pub(crate) fn tell(common: &Common, note: Option<&String>) {
    if let Some(note) = note.filter(|_| !common.quiet) {
        complain(note);
    }
}
