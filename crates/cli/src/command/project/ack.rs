//! `orb project ack`: how are a run's changes acknowledged?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_project::{Home, acknowledge};
use std::io::Write as _;

/// `orb project ack`.
#[derive(Debug, Args)]
pub(crate) struct AckArgs {
    /// The project
    project: String,
    /// The run, and all before it [default: the last]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run: Option<u32>,
    /// Who acknowledges [default: the user's name]
    #[arg(long, value_name = "WHO")]
    by: Option<String>,
    /// A note
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

pub(super) fn run(common: &Common, home: &Home, args: &AckArgs) -> Result<(), CommandFailure> {
    let project = home.find(&args.project)?;
    let by = args.by.clone().or_else(|| ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()));
    let ack = acknowledge(&project, args.run, by.as_deref(), args.note.as_deref())?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &ack)?;
    } else if !common.quiet {
        writeln!(stdout, "project {}, run {}: acknowledged", project.name, ack.run)?;
    }
    Ok(stdout.flush()?)
}
