//! `orb graph`: who points to whom.

mod build;
mod export;
mod neighbours;
mod ranks;
mod stats;

use crate::args::{Common, ProjectArgs};
use crate::failure::{Failure, complain};
use crate::out;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use orb_crawl::structure::{Standing, standing};
use orb_graph::{GraphError, Ranks, WebGraph};
use orb_store::{CatalogueReader, ProjectDir};

/// `orb graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(subcommand)]
    what: GraphCommand,
}

/// What can be done with the graph.
#[derive(Debug, Subcommand)]
enum GraphCommand {
    /// Build it from the links collected so far
    Build(build::BuildArgs),
    /// Show its size and how far it is behind
    Stats(ProjectArgs),
    /// List the neighbourhood of a page
    Neighbours(neighbours::NeighbourArgs),
    /// Export it or a part of it for other tools, or as a drawing
    Export(export::ExportArgs),
}

pub(crate) fn run(common: &Common, args: &GraphArgs) -> Result<(), Failure> {
    match &args.what {
        GraphCommand::Build(a) => build::run(common, a),
        GraphCommand::Stats(a) => stats::run(common, a),
        GraphCommand::Neighbours(a) => neighbours::run(common, a),
        GraphCommand::Export(a) => export::run(common, a),
    }
}

/// A project's graph, which must have been built; says so where the catalogue has gone on since.
pub(crate) fn open_graph(common: &Common, project: &ProjectDir, reader: &CatalogueReader) -> Result<WebGraph, Failure> {
    let graph = match WebGraph::open(&project.graph()) {
        Err(GraphError::Missing { .. }) => {
            return Err(anyhow!("project {0} has no graph yet; orb graph build {0} makes one", project.name).into());
        }
        other => other?,
    };
    let note = match standing(&graph.manifest().mark, &reader.extent()?) {
        Standing::Current => None,
        Standing::Behind { pages, .. } => Some(format!(
            "the graph is older than the catalogue, which has {} pages more; orb graph build {} brings it up",
            out::grouped(pages),
            project.name
        )),
        Standing::Foreign => {
            Some(format!("the graph was built from another catalogue; orb graph build {} makes it anew", project.name))
        }
    };
    if let Some(note) = note.filter(|_| !common.quiet) {
        complain(&note);
    }
    Ok(graph)
}

/// The ranks of a graph, which must have been made.
pub(crate) fn open_ranks(project: &ProjectDir, graph: &WebGraph) -> Result<Ranks, Failure> {
    let missing = || anyhow!("the graph of {0} has no ranks; orb graph build {0} makes them", project.name);
    Ok(graph.ranks()?.ok_or_else(missing)?)
}
