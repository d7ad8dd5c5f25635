//! `orb project ack`: how are a run's changes acknowledged?

use crate::args::{Common, ProjectArgs};
use crate::command::{ProjectPlace, find_facts};
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_project::{acknowledge, acknowledge_shared};
use std::io::Write as _;

/// `orb project ack`.
#[derive(Debug, Args)]
pub(crate) struct AckArgs {
    #[command(flatten)]
    of: ProjectArgs,
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

pub(super) fn run(common: &Common, args: &AckArgs) -> Result<(), CommandFailure> {
    let (name, place) = (&args.of.project, find_facts(common, &args.of)?);
    let by = args.by.clone().or_else(|| ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()));
    let (by, note) = (by.as_deref(), args.note.as_deref());
    let ack = match place {
        ProjectPlace::Here(project) => acknowledge(&project, args.run, by, note)?,
        ProjectPlace::There(at) => acknowledge_shared((&at, name), args.run, by, note)?,
    };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &ack)?;
    } else if !common.quiet {
        writeln!(stdout, "project {}, run {}: acknowledged", name, ack.run)?;
    }
    Ok(stdout.flush()?)
}
