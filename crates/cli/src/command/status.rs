//! `orb status`: which projects are there, and what is running?

use crate::args::{Common, StatusArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::ProjectStatus;
use orb_project::{Home, ProjectDir};
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &StatusArgs) -> Result<(), CommandFailure> {
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
            s.state.clone().unwrap_or_else(|| "-".into()),
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
