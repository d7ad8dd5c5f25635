//! `orb mcp`: how does a language model on this machine ask what was collected?

use super::serve::launch;
use crate::args::Common;
use crate::failure::CommandFailure;
use clap::Args;

/// `orb mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Let the model start, stop and acknowledge runs, and call for visits
    #[arg(long)]
    act: bool,
}

pub(crate) fn run(common: &Common, args: &McpArgs) -> Result<(), CommandFailure> {
    let launch = args.act.then(|| launch(common)).transpose()?;
    Ok(orb_serve::converse(&common.home, launch, std::io::stdin().lock(), std::io::stdout().lock())?)
}
