//! `orb mcp`: how does a language model on this machine ask what was collected?

use crate::args::Common;
use crate::failure::CommandFailure;

pub(crate) fn run(common: &Common) -> Result<(), CommandFailure> {
    Ok(orb_serve::converse(&common.home, std::io::stdin().lock(), std::io::stdout().lock())?)
}
