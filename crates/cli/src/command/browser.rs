//! `orb __browser`: how does this program become a browser?

use crate::failure::CommandFailure;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// `orb __browser`, which `orb crawl` calls.
#[derive(Debug, Args)]
pub(crate) struct BrowserArgs {
    /// The browser
    program: PathBuf,
    /// What it is told
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<OsString>,
}

pub(crate) fn run(args: &BrowserArgs) -> Result<(), CommandFailure> {
    let error = orb_crawl::become_browser(&args.program, &args.flags);
    Err(CommandFailure::Failed(anyhow::Error::new(error).context(format!("cannot start {}", args.program.display()))))
}
