//! `orb track`: how are pages revisited, and what is new, the same, updated, gone or in error?

use super::crawl;
use super::deliver;
use crate::args::{Common, TrackArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::RunCounters;
use orb_crawl::track::RevisitSelection;
use orb_crawl::{CrawlRequest, Summary, may_begin};
use orb_page::RunKind;
use orb_project::Home;
use std::io::Write;

pub(crate) fn run(common: &Common, args: &TrackArgs) -> Result<(), CommandFailure> {
    if args.simulate {
        return super::simulate::run(common, args);
    }
    if let Some(at) = args.crawl.place.address(args.crawl.shared)? {
        let home = Home::open(&common.home)?;
        let asked = crawl::shared_request(&home, &at, &args.crawl)?;
        let request = CrawlRequest { kind: RunKind::Track, choice: choice(args), ..asked };
        let Some(summary) = crawl::shared(common, request, at, &args.crawl)? else { return Ok(()) };
        crawl::finish(common, &summary, crawl::THERE)?;
        return fail_on_change(args, &summary);
    }
    let home = Home::look(&common.home)?;
    let request = CrawlRequest { kind: RunKind::Track, choice: choice(args), ..crawl::request(&home, &args.crawl)? };
    let project = home.find(&request.name)?;
    may_begin(&project, &request.settings)?;
    let settings = request.settings.clone();
    let seed = request.seeds.first().map(ToString::to_string).unwrap_or_default();
    let summary = crawl::crawl(common, &home, request)?;
    crawl::finish(common, &summary, "")?;
    crawl::reached(&home, &summary, &seed)?;
    deliver::after_run(common, &project, &settings)?;
    fail_on_change(args, &summary)
}

/// Whether something is new, updated or gone, for who wants to know it by the exit code.
fn fail_on_change(args: &TrackArgs, summary: &Summary) -> Result<(), CommandFailure> {
    let flags = &summary.counters.flags;
    let changed = flags.new + flags.updated + flags.missing > 0;
    if changed && args.fail_on_change { Err(CommandFailure::Changed) } else { Ok(()) }
}

/// Which known pages to visit.
fn choice(args: &TrackArgs) -> RevisitSelection {
    match (args.due, args.budget) {
        (true, _) => RevisitSelection::Due,
        (false, Some(visits)) => RevisitSelection::Best(visits),
        (false, None) => RevisitSelection::All,
    }
}

/// What happened to the known documents, and what is new.
pub(crate) fn account(stdout: &mut impl Write, c: &RunCounters) -> std::io::Result<()> {
    let (flags, grouped) = (&c.flags, out::grouped);
    let visited = flags.same + flags.updated + flags.missing + flags.error;
    writeln!(
        stdout,
        "  {} known before: {} the same, {} updated, {} missing, {} failed; {} new",
        grouped(c.known),
        grouped(flags.same),
        grouped(flags.updated),
        grouped(flags.missing),
        grouped(flags.error),
        grouped(flags.new),
    )?;
    match c.known.checked_sub(visited) {
        Some(0) => Ok(()),
        Some(left) => writeln!(stdout, "  {} of them not visited yet", grouped(left)),
        None => writeln!(stdout, "  the account does not add up: {} were visited", grouped(visited)),
    }
}
