//! `orb pull`: how does a shared project become a local one?

use super::index;
use crate::args::{Common, StoreArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_answers::{Collection, PullReport};
use orb_project::Home;
use serde::Serialize;
use std::io::Write as _;
use std::time::Instant;

/// `orb pull`.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// The project on the shared store
    project: String,
    /// The name of the local project [default: the same]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Leave the archive where it is: content is then read from there
    #[arg(long)]
    no_archive: bool,
    #[command(flatten)]
    place: StoreArgs,
}

/// What was pulled, and how long it took.
#[derive(Debug, Serialize)]
struct TimedPull<'a> {
    #[serde(flatten)]
    done: &'a PullReport,
    seconds: f64,
}

pub(crate) fn run(common: &Common, args: &PullArgs) -> Result<(), CommandFailure> {
    let Some(at) = args.place.address(true)? else { return Ok(()) };
    let begin = Instant::now();
    let name = args.name.as_ref().unwrap_or(&args.project);
    let home = Home::open(&common.home)?;
    let done = orb_answers::pull_with_splits(&home, &at, &args.project, name, !args.no_archive)?;
    // Without parts that workers have made, the index is made when somebody asks for it.
    if done.splits > 0 {
        let collection = Collection::open(&home, name)?;
        if !collection.has_current_index()? && index::bring_up_to_date(common, collection.project(), false)?.stopped {
            return Err(CommandFailure::Stopped);
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &TimedPull { done: &done, seconds: out::milliseconds(seconds) })?;
    } else if !common.quiet {
        let n = out::grouped;
        let what = match done.change {
            "made" => "made",
            "updated" => "brought up to date",
            "replaced" => "made again, the store has another history",
            _ => "nothing new",
        };
        writeln!(
            stdout,
            "project {name}, a copy of {}: {what}; {} pages, {} visits, {} links; {} rows and {} archive files ({}) read in {}",
            done.of,
            n(done.pages),
            n(done.visits),
            n(done.links),
            n(done.rows),
            n(done.files),
            out::bytes(done.bytes),
            out::seconds(seconds)
        )?;
    }
    Ok(stdout.flush()?)
}
