//! `orb graph`: who points to whom.

mod build;
mod stats;

use crate::args::{Common, ProjectArgs};
use crate::failure::Failure;
use clap::{Args, Subcommand};

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
    /// Its size, and how old it is
    Stats(ProjectArgs),
}

pub(crate) fn run(common: &Common, args: &GraphArgs) -> Result<(), Failure> {
    match &args.what {
        GraphCommand::Build(a) => build::run(common, a),
        GraphCommand::Stats(a) => stats::run(common, a),
    }
}
