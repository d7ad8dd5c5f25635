//! `orb __read`: reads documents for another process of this program.
//!
//! Hidden: nobody types it. It answers on standard output what it is asked on standard input, and
//! gives up everything else it could do (`orb_aside`).

use crate::failure::CommandFailure;
use clap::Args;
use orb_aside::{HelperLimits, HelperProgram};
use std::time::Duration;

/// `orb __read`.
#[derive(Debug, Args)]
pub(crate) struct ReadAsideArgs {
    /// Maximum memory in bytes
    memory: u64,
    /// Maximum processor time for a document in seconds
    seconds: u64,
}

/// Says how this program reads documents aside: by starting itself again, even if its file has been
/// replaced since.
pub(crate) fn install() {
    orb_aside::install(HelperProgram { path: "/proc/self/exe".into(), arguments: vec!["__read".to_owned()] });
}

pub(crate) fn run(args: &ReadAsideArgs) -> Result<(), CommandFailure> {
    let cpu = Duration::from_secs(args.seconds);
    let limits = HelperLimits { memory: args.memory, cpu, ..HelperLimits::default() };
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    orb_aside::serve(input, output, &limits).map_err(|why| CommandFailure::Failed(why.into()))
}
