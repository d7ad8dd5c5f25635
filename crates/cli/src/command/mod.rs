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
pub(crate) mod top;
pub(crate) mod track;
pub(crate) mod user;
pub(crate) mod why;
pub(crate) mod words;
pub(crate) mod worker;

use crate::args::Common;
use crate::failure::{CommandFailure, complain};
use orb_answers::Collection;
use orb_project::Home;

/// Opens a project for questions.
pub(crate) fn open(common: &Common, project: &str) -> Result<Collection, CommandFailure> {
    Ok(Collection::open(&Home::open(&common.home)?, project)?)
}

/// Prints a note about an answer, unless `--quiet` is set.
pub(crate) fn tell(common: &Common, note: Option<&String>) {
    if let Some(note) = note.filter(|_| !common.quiet) {
        complain(note);
    }
}
