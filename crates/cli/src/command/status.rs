//! `orb status`: what is there, what is running.

use super::why::Account;
use crate::args::{Common, StatusArgs};
use crate::failure::Failure;
use crate::out;
use orb_crawl::Counters;
use orb_page::Moment;
use orb_project::Settings;
use orb_store::{CatalogueReader, Home, ProjectDir, ProjectLock, RunRecord};
use serde::Serialize;
use std::io::Write as _;

#[derive(Serialize)]
struct Status {
    project: String,
    running: bool,
    run: Option<u32>,
    kind: Option<String>,
    state: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
    /// When its schedule wants it to run again.
    next_due: Option<String>,
    #[serde(flatten)]
    counters: Counters,
}

pub(crate) fn run(common: &Common, args: &StatusArgs) -> Result<(), Failure> {
    let home = Home::open(&common.home)?;
    if let (true, Some(name)) = (args.why, &args.project) {
        return why(common, &home.find(name)?);
    }
    let projects = match &args.project {
        Some(name) => vec![home.find(name)?],
        None => home.list()?,
    };
    let rows = projects.iter().map(status).collect::<Result<Vec<_>, _>>()?;
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

fn status(project: &ProjectDir) -> Result<Status, Failure> {
    let running = ProjectLock::is_held(project);
    let blank = Status {
        project: project.name.clone(),
        running,
        run: None,
        kind: None,
        state: None,
        started_at: None,
        finished_at: None,
        next_due: next_due(project),
        counters: Counters::default(),
    };
    if project.is_empty() {
        return Ok(blank);
    }
    let Some(last) = last_run(project)? else { return Ok(blank) };
    Ok(Status {
        state: Some(state_of(&last, running).to_owned()),
        run: Some(last.id.0),
        kind: Some(last.kind),
        started_at: Some(last.started_at.to_string()),
        finished_at: last.finished_at.map(|m| m.to_string()),
        counters: serde_json::from_str(&last.counters).unwrap_or_default(),
        ..blank
    })
}

/// When its schedule wants it to run; what cannot be read is told by whoever needs it.
fn next_due(project: &ProjectDir) -> Option<String> {
    let settings = Settings::kept(project).ok().flatten()?;
    super::run_due::due(project, &settings, Moment::now()).ok()?.at.map(|at| at.to_string())
}

/// A time without its fractions.
fn short(time: Option<&str>) -> String {
    time.map_or("-", |t| t.get(..19).unwrap_or(t)).replace('T', " ")
}

/// The run that is under way or ended last.
fn last_run(project: &ProjectDir) -> Result<Option<RunRecord>, Failure> {
    Ok(CatalogueReader::open(&project.catalogue())?.runs()?.into_iter().next())
}

/// Why a project's last run is as fast as it is.
fn why(common: &Common, project: &ProjectDir) -> Result<(), Failure> {
    let last = if project.is_empty() { None } else { last_run(project)? };
    let Some(last) = last else {
        return Err(anyhow::anyhow!("project {} was never crawled; orb crawl does that", project.name).into());
    };
    let account = Account::of(project, &last, state_of(&last, ProjectLock::is_held(project)))?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else {
        account.print(&mut stdout)?;
    }
    Ok(stdout.flush()?)
}

/// A run that says it is running while nobody works on the project was cut off.
fn state_of(run: &RunRecord, running: bool) -> &str {
    if run.state == "running" && !running { "interrupted" } else { &run.state }
}

fn print(stdout: &mut impl std::io::Write, rows: &[Status]) -> std::io::Result<()> {
    let cells = |s: &Status| {
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
