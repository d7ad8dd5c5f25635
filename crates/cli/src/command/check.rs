//! `orb check`: do archive, catalogue, index and graph agree?
//!
//! Of a project on a shared store the objects of the archive are compared with the rows that name
//! them, and a run that is done must have left no letters. Exits with 1 and says where if something
//! is wrong.

use super::{ProjectPlace, find};
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_answers::{ArchiveAccount, CheckReport, archive_account, check};
use orb_crawl::SharedAddress;
use std::io::Write;

/// `orb check`.
#[derive(Debug, Default, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// Remove the objects of a shared archive that no row names and none will
    #[arg(long)]
    remove_orphans: bool,
}

impl CheckArgs {
    /// A check of a project of the home.
    pub(crate) fn of(project: &str) -> Self {
        Self { of: ProjectArgs::named(project), remove_orphans: false }
    }
}

pub(crate) fn run(common: &Common, args: &CheckArgs) -> Result<(), CommandFailure> {
    // Whoever names an archive means a shared project, also where the store is in the environment.
    let named = args.of.place.address(args.of.place.archive.is_some())?;
    let place = named.map_or_else(|| find(common, &args.of), |at| Ok(ProjectPlace::There(Box::new(at))))?;
    let project = match place {
        ProjectPlace::There(at) => return check_archive(common, &at, args),
        ProjectPlace::Here(_) if args.remove_orphans => {
            let why = "--remove-orphans is for a project on a shared store: name it with --store and --archive";
            return Err(CommandFailure::Usage(why.to_owned()));
        }
        ProjectPlace::Here(project) => project,
    };
    orb_answers::need_bytes(&project)?;
    let report = check(&project)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &report)?;
    } else {
        print(&mut stdout, &args.of.project, &report)?;
    }
    stdout.flush()?;
    if report.is_clean() { Ok(()) } else { Err(CommandFailure::Found) }
}

fn print(stdout: &mut impl Write, project: &str, report: &CheckReport) -> std::io::Result<()> {
    for finding in &report.findings {
        writeln!(stdout, "{}: {}", finding.store, finding.what)?;
    }
    for note in &report.notes {
        writeln!(stdout, "note: {note}")?;
    }
    let c = &report.counts;
    let n = out::grouped;
    writeln!(
        stdout,
        "project {project}: {} pages, {} visits, {} links, {} records in {} WARC files, {} digests compared, {} queued, {} arcs, {} indexed: {}",
        n(c.pages),
        n(c.visits),
        n(c.links),
        n(c.records),
        n(c.files),
        n(c.digests),
        n(c.queued),
        n(c.arcs),
        n(c.indexed),
        if report.is_clean() { "all agree".to_owned() } else { format!("{} findings", n(report.found)) },
    )
}

/// Compares the objects of a shared archive with the rows that name them.
fn check_archive(common: &Common, at: &SharedAddress, args: &CheckArgs) -> Result<(), CommandFailure> {
    let account = archive_account(at, &args.of.project, args.remove_orphans)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else {
        print_account(&mut stdout, &account)?;
    }
    stdout.flush()?;
    if account.is_clean() { Ok(()) } else { Err(CommandFailure::Found) }
}

fn print_account(stdout: &mut impl Write, account: &ArchiveAccount) -> std::io::Result<()> {
    for lost in &account.lost {
        let what = lost.found.map_or_else(|| "is missing".to_owned(), |length| format!("has {length} bytes"));
        writeln!(stdout, "archive: {} {what}; rows name it with {} bytes", lost.name, lost.length)?;
    }
    if let Some(unread) = &account.unread {
        writeln!(stdout, "letters: run {} is done, and {} wait to be read", unread.run, out::grouped(unread.letters))?;
    }
    for orphan in &account.orphans {
        writeln!(stdout, "orphan: {}, {}", orphan.name, out::bytes(orphan.length))?;
    }
    let (n, orphans) = (out::grouped, account.orphans.len() as u64);
    let removed = match (orphans, account.removed) {
        (0, _) => "",
        (_, true) => ", removed",
        (_, false) => "; --remove-orphans removes them",
    };
    let lost = account.lost.len() as u64;
    writeln!(
        stdout,
        "project {}: {} objects ({}) are named and whole, {} missing or too short, {} of batches under way, {} orphans ({}){removed}",
        account.project,
        n(account.objects),
        out::bytes(account.bytes),
        n(lost),
        n(account.under_way),
        n(orphans),
        out::bytes(account.orphan_bytes),
    )
}
