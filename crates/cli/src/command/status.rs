//! `orb status`: which projects are there, and what is running?

use crate::args::{Common, StatusArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{ProjectStatus, RunStanding, SharedStatus, SharedWorkerStatus};
use orb_project::{Home, ProjectDir};
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &StatusArgs) -> Result<(), CommandFailure> {
    if let Some(at) = args.place.address(false)? {
        return shared(common, &orb_answers::shared_status(&at, args.project.as_deref())?);
    }
    let home = Home::open(&common.home)?;
    if let (true, Some(name)) = (args.why, &args.project) {
        return why(common, &home.find(name)?);
    }
    let rows = orb_answers::status(&home, args.project.as_deref())?;
    let mut stdout = out::stdout();
    match (common.json, &args.project) {
        (true, Some(_)) => out::json(&mut stdout, &rows.first())?,
        (true, None) => out::json(&mut stdout, &rows)?,
        (false, _) if rows.is_empty() => {
            writeln!(stdout, "no projects in {}; orb crawl URL begins one", common.home.display())?;
        }
        (false, _) => print(&mut stdout, &rows)?,
    }
    Ok(stdout.flush()?)
}

/// The machines of shared projects, and what they wait for.
fn shared(common: &Common, projects: &[SharedStatus]) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &projects)?;
        return Ok(stdout.flush()?);
    }
    for p in projects {
        let state = p.state.map_or("no run yet", RunStanding::name);
        let (known, visited) = (out::grouped(p.known), out::grouped(p.visited));
        writeln!(stdout, "project {}, run {}: {state}", p.project, p.run.unwrap_or(0))?;
        writeln!(
            stdout,
            "  {visited} of {known} pages visited; {} of {} shards held, {} idle",
            p.shards_held, p.shards, p.shards_idle
        )?;
        let oldest = p.oldest_letter.map(|s| format!(", the oldest for {}", out::seconds(s))).unwrap_or_default();
        writeln!(stdout, "  {} letters wait{oldest}", out::grouped(p.letters))?;
        writeln!(
            stdout,
            "  {} addresses leased, {} of them wanted by another worker",
            out::grouped(p.addresses),
            out::grouped(p.addresses_contested)
        )?;
        writeln!(stdout, "  {} splits of the text index", out::grouped(p.splits))?;
        let cells = |w: &SharedWorkerStatus| {
            let (speed, heard) = (format!("{:.1}", w.pages_per_second), format!("{:.1} s ago", w.heard));
            let (shards, queued) = (w.shards.to_string(), out::grouped(w.queued));
            vec![w.id.to_string(), w.name.clone(), w.machine.clone(), shards, speed, queued, heard, w.why.clone()]
        };
        let heads = ["worker", "name", "machine", "shards", "pages/s", "queued", "heard", "waits for"];
        out::table(&mut stdout, &heads, &p.workers.iter().map(cells).collect::<Vec<_>>())?;
    }
    Ok(stdout.flush()?)
}

/// A time without its fractions.
fn short(time: Option<&str>) -> String {
    time.map_or("-", |t| t.get(..19).unwrap_or(t)).replace('T', " ")
}

/// Why a project's last run is as fast as it is.
fn why(common: &Common, project: &ProjectDir) -> Result<(), CommandFailure> {
    let account = orb_crawl::why(project)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else {
        super::why::print(&account, &mut stdout)?;
    }
    Ok(stdout.flush()?)
}

fn print(stdout: &mut impl std::io::Write, rows: &[ProjectStatus]) -> std::io::Result<()> {
    let cells = |s: &ProjectStatus| {
        vec![
            s.project.clone(),
            s.run.map_or_else(|| "-".into(), |r| r.to_string()),
            s.state.map_or("-", RunStanding::name).to_owned(),
            out::grouped(s.counters.pages),
            out::grouped(s.counters.frontier),
            out::grouped(s.counters.errors),
            out::grouped(s.counters.traps.values().sum()),
            out::bytes(s.counters.bytes),
            out::seconds(s.counters.seconds),
            short(s.started_at.as_deref()),
            short(s.next_due.as_deref()),
        ]
    };
    let heads = [
        "project",
        "run",
        "state",
        "pages",
        "queued",
        "errors",
        "traps",
        "bytes",
        "time",
        "started (UTC)",
        "due (UTC)",
    ];
    out::table(stdout, &heads, &rows.iter().map(cells).collect::<Vec<_>>())
}
