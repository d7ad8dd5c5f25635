//! `orb index`: how complete is the text index, and how is it brought up to date?

use super::{ProjectPlace, find, open};
use crate::args::{Common, ProjectArgs};
use crate::failure::{CommandFailure, complain};
use crate::meter::Meter;
use crate::{out, signals};
use clap::{Args, Subcommand};
use orb_answers::Collection;
use orb_crawl::{Stop, indexing};
use orb_project::{ProjectDir, Settings};
use serde::Serialize;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// `orb index`.
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    what: IndexCommand,
}

/// What can be done with the index.
#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Show its size and what is missing
    Status(ProjectArgs),
    /// Index what is missing, from the archive
    Update(ProjectArgs),
    /// Rebuild it from the archive
    Rebuild(ProjectArgs),
}

/// What an update has done.
#[derive(Debug, Serialize)]
struct IndexUpdate<'a> {
    project: &'a str,
    /// Pages it has now.
    pages: u64,
    /// Pages read from the archive.
    read: u64,
    /// Pages taken out.
    removed: u64,
    /// Splits taken over, and the pages in them.
    splits: u64,
    taken: u64,
    /// Why it had to be rebuilt, if so.
    remade: Option<&'a str>,
    stopped: bool,
    seconds: f64,
}

impl<'a> IndexUpdate<'a> {
    fn of(project: &'a str, caught: &'a indexing::Caught, seconds: f64) -> Self {
        Self {
            project,
            pages: caught.pages,
            read: caught.read,
            removed: caught.removed,
            splits: caught.gathered.splits,
            taken: caught.gathered.pages,
            remade: caught.remade.as_deref(),
            stopped: caught.stopped,
            seconds: out::milliseconds(seconds),
        }
    }
}

pub(crate) fn run(common: &Common, args: &IndexArgs) -> Result<(), CommandFailure> {
    match &args.what {
        IndexCommand::Status(a) => status(common, a),
        IndexCommand::Update(a) => update(common, a, false),
        IndexCommand::Rebuild(a) => update(common, a, true),
    }
}

fn status(common: &Common, of: &ProjectArgs) -> Result<(), CommandFailure> {
    let status = orb_answers::index_status(&open_readable(common, of)?)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &status)?;
        return Ok(stdout.flush()?);
    }
    let state = if status.current { "current" } else { "behind" };
    writeln!(
        stdout,
        "text index of {}: {state}, {} pages, {} in {} segments; texts of links: {}",
        status.project,
        out::grouped(status.pages),
        out::bytes(status.bytes),
        status.segments,
        status.anchors
    )?;
    for line in status.notes.iter().chain(status.findings.iter().map(|finding| &finding.what)) {
        writeln!(stdout, "  {line}")?;
    }
    Ok(stdout.flush()?)
}

/// Opens a project whose text index will be asked. That of a copy of a shared project is brought up
/// to date first.
pub(super) fn open_searchable(common: &Common, of: &ProjectArgs) -> Result<Collection, CommandFailure> {
    let ProjectPlace::There(at) = find(common, of)? else { return open_readable(common, of) };
    let collection = orb_answers::shared_searchable(&common.home, &at, &of.project)?;
    if collection.has_current_index()? {
        return Ok(collection);
    }
    let caught = bring_up_to_date(common, collection.project(), false)?;
    if caught.stopped {
        return Err(CommandFailure::Stopped);
    }
    Ok(Collection::of(collection.project().clone())?)
}

/// Opens a project whose text index will be read as it is. One that another version of this program
/// wrote is rebuilt from the archive first.
fn open_readable(common: &Common, of: &ProjectArgs) -> Result<Collection, CommandFailure> {
    let collection = open(common, of)?;
    if !collection.has_outdated_index() {
        return Ok(collection);
    }
    let begin = Instant::now();
    let caught = bring_up_to_date(common, collection.project(), true)?;
    if caught.stopped {
        return Err(CommandFailure::Stopped);
    }
    if !common.quiet {
        complain(&format!(
            "note: the text index was written by another version of orb; it was rebuilt from the archive: {} pages in {}",
            out::grouped(caught.pages),
            out::seconds(begin.elapsed().as_secs_f64())
        ));
    }
    open(common, of)
}

/// Indexes what is missing, from splits and the archive, or everything, from the archive, with a
/// progress display.
pub(super) fn bring_up_to_date(
    common: &Common,
    project: &ProjectDir,
    from_scratch: bool,
) -> Result<indexing::Caught, CommandFailure> {
    let settings = Settings::kept(project)?.unwrap_or_default();
    let stop = Stop::new();
    let _listening = signals::watch(Arc::clone(&stop))?;
    let meter = Meter::start(common, &format!("index {}", project.name));
    let said = meter.said();
    let caught = indexing::update(project, &settings, from_scratch, &mut |done, of| {
        said.tell("reading pages", done, of);
        !stop.is_set()
    });
    drop(meter);
    Ok(caught?)
}

fn update(common: &Common, of: &ProjectArgs, from_scratch: bool) -> Result<(), CommandFailure> {
    let collection = match find(common, of)? {
        ProjectPlace::There(at) => orb_answers::shared_searchable(&common.home, &at, &of.project)?,
        ProjectPlace::Here(project) => Collection::of(project)?,
    };
    let project = collection.project().clone();
    let begin = Instant::now();
    let caught = bring_up_to_date(common, &project, from_scratch)?;
    let seconds = begin.elapsed().as_secs_f64();
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &IndexUpdate::of(&project.name, &caught, seconds))?;
    } else if !common.quiet {
        let why = caught.remade.as_ref().map(|why| format!(" (rebuilt: {why})")).unwrap_or_default();
        let (splits, taken) = (out::grouped(caught.gathered.splits), out::grouped(caught.gathered.pages));
        let taken = if caught.gathered.splits > 0 { format!("{taken} from {splits} splits, ") } else { String::new() };
        writeln!(
            stdout,
            "text index of {}: {} pages, {taken}{} read from the archive, {} taken out in {}{why}",
            project.name,
            out::grouped(caught.pages),
            out::grouped(caught.read),
            out::grouped(caught.removed),
            out::seconds(seconds)
        )?;
    }
    stdout.flush()?;
    if caught.stopped { Err(CommandFailure::Stopped) } else { Ok(()) }
}
