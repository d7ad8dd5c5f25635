//! What does the web graph say, and how old is it?

mod check;
mod map;
mod neighbours;
mod stats;

pub(crate) use check::check_graph;
pub use map::{GraphMap, MapPart, graph_map};
pub use neighbours::{NeighbourRow, PageNeighbours, neighbours};
pub use stats::{GraphAge, GraphDegree, GraphFigures, GraphLag, GraphStats, RankAccount, RankAccounts, graph_stats};

use crate::{AnswerError, Collection, Result, grouped};
use orb_graph::{CatalogueMark, GraphError, GraphFreshness, Ranks, WebGraph};
use orb_store::Extent;

/// How a graph relates to a catalogue of this extent.
pub(crate) fn standing(graph: &WebGraph, now: &Extent) -> GraphFreshness {
    graph.manifest().mark.standing(&mark(now))
}

/// The extent of a catalogue as a graph keeps it.
fn mark(extent: &Extent) -> CatalogueMark {
    let Extent { batch, nonce, run, pages, sources } = *extent;
    CatalogueMark { batch, nonce, run, pages, sources }
}

/// The graph, which must have been built.
fn built(collection: &Collection) -> Result<&WebGraph> {
    collection.graph().map_err(|e| match e {
        GraphError::Missing { .. } => {
            let name = collection.name();
            AnswerError::NotBuilt(format!("project {name} has no graph yet; orb graph build {name} makes one"))
        }
        other => other.into(),
    })
}

impl Collection {
    /// The graph, which must have been built, for exporting it; and a note if the catalogue has
    /// advanced since.
    pub fn web_graph(&self) -> Result<(&WebGraph, Option<String>)> {
        dated(self)
    }

    /// How the graph relates to the current catalogue.
    pub fn graph_standing(&self) -> Result<GraphFreshness> {
        Ok(standing(built(self)?, &self.catalogue().extent()?))
    }
}

/// The graph, which must have been built; and a note if the catalogue has advanced since.
pub(crate) fn dated(collection: &Collection) -> Result<(&WebGraph, Option<String>)> {
    let (graph, name) = (built(collection)?, collection.name());
    let note = match standing(graph, &collection.catalogue().extent()?) {
        GraphFreshness::Current => None,
        GraphFreshness::Behind { pages, .. } => Some(format!(
            "the graph is older than the catalogue, which has {} pages more; orb graph build {name} brings it up",
            grouped(pages)
        )),
        GraphFreshness::Foreign => {
            Some(format!("the graph was built from another catalogue; run orb graph build {name}"))
        }
    };
    Ok((graph, note))
}

/// The ranks of the graph, which must have been computed.
pub(crate) fn ranked(collection: &Collection) -> Result<&Ranks> {
    let name = collection.name();
    collection.ranks()?.ok_or_else(|| {
        AnswerError::NotBuilt(format!("the graph of {name} has no ranks; orb graph build {name} makes them"))
    })
}
