//! `orb store`: how is a store that several machines share prepared and maintained?

use crate::args::{Common, ProjectArgs, StoreArgs};
use crate::failure::{CommandFailure, complain};
use crate::out;
use clap::{Args, Subcommand};
use orb_answers::StitchReport;
use orb_project::units::ByteSize;
use std::io::Write as _;

/// `orb store`.
#[derive(Debug, Args)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    what: StoreCommand,
}

/// What can be done with a store.
#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Prepare a database for projects that several machines share; it need not be, and may be
    /// again
    Init(InitArgs),
    /// Stitch the small objects of a project's archive together into large ones
    Stitch(StitchArgs),
}

/// `orb store init`.
#[derive(Debug, Args)]
struct InitArgs {
    /// Distribute the tables of new projects over the servers of a Citus cluster
    #[arg(long)]
    citus: bool,
    /// How many shards new projects have, a power of two from 16 to 1024; more than 256 are for
    /// more than about 50 workers [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(16..=1_024))]
    shards: Option<u16>,
    #[command(flatten)]
    place: StoreArgs,
}

/// `orb store stitch`.
#[derive(Debug, Args)]
struct StitchArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// How large the objects become
    #[arg(long, value_name = "SIZE", default_value = "1GB")]
    size: ByteSize,
    /// Leave the small objects where they are; orb check --remove-orphans removes them
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(common: &Common, args: &StoreCommandArgs) -> Result<(), CommandFailure> {
    match &args.what {
        StoreCommand::Init(args) => init(common, args),
        StoreCommand::Stitch(args) => stitch(common, args),
    }
}

fn init(common: &Common, args: &InitArgs) -> Result<(), CommandFailure> {
    let done = orb_answers::prepare(&args.place.database()?, args.citus, args.shards)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &done)?;
        return Ok(stdout.flush()?);
    }
    let what = if done.known { "was prepared before" } else { "is prepared" };
    let tables = match &done.citus {
        Some(version) => {
            format!("tables of new projects are distributed over {} by Citus {version}", servers(done.servers))
        }
        None => "tables of projects are on this server".to_owned(),
    };
    writeln!(
        stdout,
        "the database {what}: PostgreSQL {}; {tables}; new projects have {} shards",
        done.server, done.shards
    )?;
    for project in &done.undistributed {
        writeln!(stdout, "project {project} was made before, and its tables stay on this server")?;
    }
    Ok(stdout.flush()?)
}

fn servers(count: u64) -> String {
    if count == 1 { "1 server".to_owned() } else { format!("{count} servers") }
}

fn stitch(common: &Common, args: &StitchArgs) -> Result<(), CommandFailure> {
    let Some(at) = args.of.place.address(true)? else { return Ok(()) };
    let told = |report: &StitchReport| {
        format!(
            "{} objects ({}) became {}; the archive has {} objects",
            out::grouped(report.objects),
            out::bytes(report.bytes),
            out::grouped(report.into),
            out::grouped(report.left)
        )
    };
    let each = |report: &StitchReport| {
        if common.verbose {
            complain(&told(report));
        }
    };
    let report = orb_answers::stitch((&at, &args.of.project), (args.size.0, args.keep), each)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &report)?;
    } else if !common.quiet {
        writeln!(stdout, "project {}: {}", report.project, told(&report))?;
    }
    Ok(stdout.flush()?)
}
