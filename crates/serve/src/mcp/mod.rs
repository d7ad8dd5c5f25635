//! What can a language model ask?
//!
//! Tools and resources of the Model Context Protocol, over HTTP (`doors/mcp.rs`) and over standard
//! input and output (`orb mcp`). The protocol is JSON-RPC; of it we need a handful of methods
//! ([`protocol`]). Tools read, and only what was collected, except for a few that start, stop and
//! acknowledge runs or ask for visits. Whoever asks has the rights of their token; on the command
//! line they read what they may read as files, and act only if a flag says so.
//!
//! A model's memory is short: an answer has at most [`budget::USUAL`] bytes unless more was asked
//! for, says so when it was cut, and how to go on. What it quotes was written by strangers: tools
//! say so where they hand it out.

mod budget;
mod lines;
mod protocol;
mod resources;
mod tools;

pub use lines::converse;
pub(crate) use protocol::{VERSIONS, other_version, reply};

use crate::counting::Counting;
use crate::desk::OpenShelf;
use crate::gate::Identity;
use crate::launch::Launcher;
use crate::problem::ProblemDetails;
use crate::routes::Right;
use crate::shared::ServedHome;
use orb_answers::Collection;
use orb_project::ProjectDir;

/// Who answers a model, and on whose behalf.
pub(crate) struct Assistant<'a> {
    /// The home.
    pub(crate) home: &'a ServedHome,
    /// Collections that are kept open.
    pub(crate) shelf: &'a OpenShelf,
    /// Who starts runs.
    pub(crate) launcher: &'a Launcher,
    /// Who counts what takes long, beside the others who ask; `None` on the command line, where
    /// there are none.
    pub(crate) counting: Option<&'a Counting>,
    /// Who is asking; `None` on the command line, where the file system decides.
    pub(crate) identity: Option<&'a Identity>,
    /// Whether somebody on the command line may act, too.
    pub(crate) may_act: bool,
}

impl Assistant<'_> {
    fn may(&self, right: Right, project: &str) -> bool {
        match self.identity {
            Some(identity) => identity.may(right, project),
            None => self.may_act || right != Right::Run,
        }
    }

    /// Whether whoever asks may act on some project.
    fn may_act_somewhere(&self) -> Result<bool, ProblemDetails> {
        match self.identity {
            Some(_) => Ok(self.projects()?.iter().any(|project| self.may(Right::Run, &project.name))),
            None => Ok(self.may_act),
        }
    }

    /// Who acts, as it is recorded.
    fn who(&self) -> &str {
        self.identity.map_or("mcp", |identity| &identity.user.name)
    }

    /// The project of this name, on which whoever asks has this right.
    fn project(&self, name: &str, right: Right) -> Result<ProjectDir, ProblemDetails> {
        let unknown = || ProblemDetails::not_found(format!("there is no project {name}; the tool projects lists them"));
        let project = self.home.find(name).ok().filter(|project| self.may(Right::Read, &project.name));
        let project = project.ok_or_else(unknown)?;
        if !self.may(right, name) {
            let lacks = match self.identity {
                Some(_) => format!("this takes a token with the scope {}", right.name()),
                None => "this takes orb mcp --act".to_owned(),
            };
            return Err(ProblemDetails::forbidden(lacks));
        }
        Ok(project)
    }

    /// Asks a project's collection.
    fn ask<T, E: Into<ProblemDetails>>(
        &self,
        (name, right): (&str, Right),
        question: impl FnOnce(&Collection) -> Result<T, E>,
    ) -> Result<T, ProblemDetails> {
        self.shelf.ask(self.project(name, right)?, question)
    }

    /// The projects that whoever asks may read.
    fn projects(&self) -> Result<Vec<ProjectDir>, ProblemDetails> {
        let mut all = self.home.list()?;
        all.retain(|project| self.may(Right::Read, &project.name));
        Ok(all)
    }
}
