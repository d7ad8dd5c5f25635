//! `orb check`: do archive, catalogue, index and graph agree?
//!
//! Exits with 1 and says where if they do not.

use super::{ProjectPlace, find};
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{CheckReport, check};
use std::io::Write;

pub(crate) fn run(common: &Common, args: &ProjectArgs) -> Result<(), CommandFailure> {
    let ProjectPlace::Here(project) = find(common, args)? else {
        let why = format!("a check reads every byte; pull it first: orb pull {}", args.project);
        return Err(CommandFailure::Usage(why));
    };
    orb_answers::need_bytes(&project)?;
    let report = check(&project)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &report)?;
    } else {
        print(&mut stdout, &args.project, &report)?;
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
