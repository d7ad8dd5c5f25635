//! `orb project ack`: how are a run's changes acknowledged?

use crate::args::Common;
use crate::command::open_reader;
use crate::failure::CommandFailure;
use crate::out;
use anyhow::anyhow;
use clap::Args;
use orb_page::RunId;
use orb_store::acknowledge;
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

pub(super) fn run(common: &Common, args: &AckArgs) -> Result<(), CommandFailure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let run = match args.run.map(RunId) {
        Some(run) => reader.run(run)?.map(|run| run.id),
        None => reader.runs()?.first().map(|run| run.id),
    };
    let run = run.ok_or_else(|| match args.run {
        Some(run) => anyhow!("project {} has no run {run}", project.name),
        None => anyhow!("project {} was never run", project.name),
    })?;
    let by = args.by.clone().or_else(|| ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()));
    acknowledge(&project, run, by.as_deref(), args.note.as_deref())?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &reader.ack(run)?)?;
    } else if !common.quiet {
        writeln!(stdout, "project {}, run {}: acknowledged", project.name, run.0)?;
    }
    Ok(stdout.flush()?)
}
