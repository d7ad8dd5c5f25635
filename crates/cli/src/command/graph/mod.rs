//! `orb graph`: who links to whom?

mod build;
mod export;
mod neighbours;
mod ranks;
mod stats;

use super::tell;
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use clap::{Args, FromArgMatches as _, Subcommand};
use orb_answers::{Collection, WebGraph};

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
    Export(export::GraphExportArgs),
}

/// Builds the graph of a project as `orb graph build` does without flags.
pub(crate) fn build_plainly(common: &Common, project: &str) -> Result<(), CommandFailure> {
    let command = build::BuildArgs::augment_args(clap::Command::new("build"));
    let args = command
        .try_get_matches_from(["build", project])
        .and_then(|matches| build::BuildArgs::from_arg_matches(&matches))
        .map_err(|e| CommandFailure::Usage(e.to_string()))?;
    build::run(common, &args)
}

pub(crate) fn run(common: &Common, args: &GraphArgs) -> Result<(), CommandFailure> {
    match &args.what {
        GraphCommand::Build(a) => build::run(common, a),
        GraphCommand::Stats(a) => stats::run(common, a),
        GraphCommand::Neighbours(a) => neighbours::run(common, a),
        GraphCommand::Export(a) => export::run(common, a),
    }
}

/// A project's graph, which must have been built; warns if the catalogue has advanced since.
pub(super) fn open_graph<'a>(common: &Common, collection: &'a Collection) -> Result<&'a WebGraph, CommandFailure> {
    let (graph, note) = collection.web_graph()?;
    tell(common, note.as_ref());
    Ok(graph)
}
