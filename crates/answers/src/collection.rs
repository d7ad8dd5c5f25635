//! How is a collection opened, and kept open?
//!
//! Opening one costs a connection to its catalogue; graph, ranks and text index are opened by the
//! first question that needs them. A command asks one question and exits. A server keeps
//! collections open, one per answering thread, and calls [`Collection::refresh`] between questions,
//! which reopens what was rebuilt since. Facts need no refresh, since every catalogue query sees
//! the last commit.

use crate::guard::guarded;
use crate::{AnswerError, Result};
use orb_aside::HelperLimits;
use orb_graph::{GraphError, Ranks, WebGraph};
use orb_index::Searcher;
use orb_project::{DocumentSettings, Settings};
use orb_store::{ArchiveReader, CatalogueReader, Home, ProjectDir};
use std::cell::OnceCell;

/// A project, opened for reading.
pub struct Collection {
    project: ProjectDir,
    catalogue: CatalogueReader,
    archive: ArchiveReader,
    settings: OnceCell<Settings>,
    graph: OnceCell<WebGraph>,
    ranks: OnceCell<Option<Ranks>>,
    searcher: OnceCell<Searcher>,
}

/// What a process that reads documents may use.
pub fn helper_limits(documents: &DocumentSettings) -> HelperLimits {
    HelperLimits { memory: documents.memory.0, ..HelperLimits::default() }
}

/// Fails for a project that has collected nothing.
pub(crate) fn must_have_collected(project: &ProjectDir) -> Result<()> {
    let why = || format!("project {} has collected nothing yet; run orb crawl first", project.name);
    if project.is_empty() { Err(AnswerError::NotBuilt(why())) } else { Ok(()) }
}

impl Collection {
    /// Opens a project of a home, which must have collected something.
    pub fn open(home: &Home, name: &str) -> Result<Self> {
        Self::of(home.find(name)?)
    }

    /// Opens a project that was already looked up.
    pub fn of(project: ProjectDir) -> Result<Self> {
        must_have_collected(&project)?;
        let catalogue = CatalogueReader::open(&project)?;
        let archive = ArchiveReader::open(&project);
        let (settings, graph, ranks, searcher) = Default::default();
        Ok(Self { project, catalogue, archive, settings, graph, ranks, searcher })
    }

    /// Closes what was rebuilt since it was opened, and the settings, so that the next question
    /// sees the current ones.
    pub fn refresh(&mut self) -> Result<()> {
        self.settings.take();
        // The catalogue attaches the rank tables when it is opened.
        let is_latest = self.catalogue.is_latest();
        if !is_latest {
            self.catalogue = CatalogueReader::open(&self.project)?;
        }
        if !is_latest || self.graph.get().is_some_and(|graph| !graph.is_latest()) {
            self.graph.take();
            self.ranks.take();
        }
        if self.searcher.get().is_some_and(|searcher| !searcher.is_latest()) {
            self.searcher.take();
        }
        Ok(())
    }

    /// The project's name.
    pub fn name(&self) -> &str {
        &self.project.name
    }

    /// The project's directory.
    pub fn project(&self) -> &ProjectDir {
        &self.project
    }

    /// The facts.
    pub(crate) fn catalogue(&self) -> &CatalogueReader {
        &self.catalogue
    }

    /// The bytes.
    pub(crate) fn archive(&self) -> &ArchiveReader {
        &self.archive
    }

    /// The project's settings, or the defaults if it has none.
    pub(crate) fn settings(&self) -> Result<&Settings> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let settings = Settings::kept(&self.project)?.unwrap_or_default();
        Ok(self.settings.get_or_init(|| settings))
    }

    /// What a process that reads its documents may use.
    pub(crate) fn limits(&self) -> Result<HelperLimits> {
        Ok(helper_limits(&self.settings()?.documents))
    }

    /// The web graph as last built, however old.
    pub(crate) fn graph(&self) -> std::result::Result<&WebGraph, GraphError> {
        if let Some(graph) = self.graph.get() {
            return Ok(graph);
        }
        let graph = WebGraph::open(&self.project.graph())?;
        Ok(self.graph.get_or_init(|| graph))
    }

    /// The ranks of the graph; `None` if it was not ranked.
    pub(crate) fn ranks(&self) -> std::result::Result<Option<&Ranks>, GraphError> {
        if let Some(ranks) = self.ranks.get() {
            return Ok(ranks.as_ref());
        }
        let ranks = self.graph()?.ranks()?;
        Ok(self.ranks.get_or_init(|| ranks).as_ref())
    }

    /// Whether the text index was written by another version of this program and must be rebuilt.
    pub fn has_outdated_index(&self) -> bool {
        let opened = guarded(&self.project, || Searcher::open(&self.project.text_index()));
        matches!(opened, Ok(Err(orb_index::IndexError::Outdated { .. })))
    }

    /// Whether the text index holds everything that was collected.
    pub fn has_current_index(&self) -> Result<bool> {
        let extent = self.catalogue.extent()?;
        let opened = guarded(&self.project, || Searcher::open(&self.project.text_index()))?;
        let now = orb_index::mark(extent.batch, extent.nonce);
        Ok(opened.is_ok_and(|index| index.mark() == Some(now.as_str())))
    }

    /// The text index; if there is none, the error says how to get one.
    pub(crate) fn searcher(&self) -> Result<&Searcher> {
        if let Some(searcher) = self.searcher.get() {
            return Ok(searcher);
        }
        let opened = guarded(&self.project, || Searcher::open(&self.project.text_index()))?;
        let searcher = opened.map_err(|e| match e.is_unfit() {
            true => AnswerError::NotBuilt(format!(
                "{e}; orb index rebuild {} makes one from the archive",
                self.project.name
            )),
            false => e.into(),
        })?;
        Ok(self.searcher.get_or_init(|| searcher))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server moves collections between threads.
    #[test]
    fn a_collection_may_move_to_another_thread() {
        fn movable<T: Send>() {}
        movable::<Collection>();
    }
}
