//! `orb status`: which projects are there, and what is running?

use crate::args::{Common, StatusArgs};
use crate::failure::{CommandFailure, complain, one_line};
use crate::out;
use orb_answers::{
    AnswerError, ContestedAddress, HomeStatus, ProjectStatus, RunStanding, SharedStatus, SharedWorkerStatus,
    StoreStatus,
};
use orb_crawl::SpeedAccount;
use orb_project::{Home, ProjectDir, StoreError};
use serde::Serialize;
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &StatusArgs) -> Result<(), CommandFailure> {
    let rows = args.listing.window(u64::MAX);
    let home = Home::look(&common.home)?;
    let here = args.project.as_ref().map(|name| home.find(name));
    // One of the home goes before one that only the environment may mean.
    let there = match &here {
        _ if args.place.store.is_some() => Some(args.place.database()?),
        Some(Err(StoreError::NoSuchProject { .. })) => args.place.named_database(),
        _ => None,
    };
    match (here.transpose(), there) {
        (_, Some(at)) if args.project.is_some() => {
            shared(common, &orb_answers::shared_status(&at, args.project.as_deref())?, args.why)
        }
        (_, Some(at)) => all_shared(common, orb_answers::store_status(&at, rows)?, args.why),
        (here, None) => match here? {
            Some(project) if args.why => why(common, &project),
            Some(project) => one(common, &project),
            None => all(common, orb_answers::status(&home, rows)?),
        },
    }
}

/// The states of all projects of a shared store, and which of them cannot be read.
fn all_shared(common: &Common, found: StoreStatus, why: bool) -> Result<(), CommandFailure> {
    let StoreStatus { projects, unreadable } = found;
    if !common.json && projects.is_empty() && unreadable.is_empty() {
        let mut stdout = out::stdout();
        writeln!(stdout, "no projects on this store; orb crawl URL --store URL begins one")?;
        return Ok(stdout.flush()?);
    }
    shared(common, &projects, why)?;
    told(unreadable)
}

/// Says which projects cannot be read.
fn told(unreadable: Vec<(String, AnswerError)>) -> Result<(), CommandFailure> {
    let is_whole = unreadable.is_empty();
    for (project, why) in unreadable {
        complain(&format!("project {project}: {}", one_line(&why.into())));
    }
    if is_whole { Ok(()) } else { Err(CommandFailure::Found) }
}

/// The state of one project.
fn one(common: &Common, project: &ProjectDir) -> Result<(), CommandFailure> {
    let status = orb_answers::status_of(project)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &status)?;
    } else {
        print(&mut stdout, &[status])?;
    }
    Ok(stdout.flush()?)
}

/// The states of the projects of the home, and which of them cannot be read.
fn all(common: &Common, found: HomeStatus) -> Result<(), CommandFailure> {
    let HomeStatus { projects, unreadable } = found;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &projects)?;
    } else if !projects.is_empty() {
        print(&mut stdout, &projects)?;
    } else if unreadable.is_empty() {
        writeln!(stdout, "no projects in {}; orb crawl URL begins one", common.home.display())?;
    }
    stdout.flush()?;
    told(unreadable)
}

/// A shared project, and where the time of the workers of this home goes.
#[derive(Serialize)]
struct ExplainedStatus<'a> {
    #[serde(flatten)]
    status: &'a SharedStatus,
    accounts: Vec<WorkerAccount>,
}

/// Where the time of a worker goes.
#[derive(Serialize)]
struct WorkerAccount {
    worker: String,
    account: SpeedAccount,
}

/// The machines of shared projects, and what they wait for.
fn shared(common: &Common, projects: &[SharedStatus], why: bool) -> Result<(), CommandFailure> {
    let explained =
        |status| ExplainedStatus { status, accounts: if why { accounts(common, status) } else { Vec::new() } };
    let mut stdout = out::stdout();
    match (common.json, why) {
        (true, false) => out::json(&mut stdout, &projects)?,
        (true, true) => out::json(&mut stdout, &projects.iter().map(explained).collect::<Vec<_>>())?,
        (false, _) => {
            for status in projects {
                print_shared(&mut stdout, status)?;
                if why {
                    print_reasons(&mut stdout, &explained(status))?;
                }
            }
        }
    }
    Ok(stdout.flush()?)
}

/// The accounts of those workers whose scratch copy is in this home.
fn accounts(common: &Common, status: &SharedStatus) -> Vec<WorkerAccount> {
    let found = status.workers.iter().filter_map(|worker| {
        let scratch = common.home.join("workers").join(&worker.name);
        let home = Home::look(&scratch).ok()?;
        let project = home.find(&status.project).ok()?;
        Some(WorkerAccount { worker: worker.name.clone(), account: orb_crawl::why(&project).ok()? })
    });
    found.collect()
}

fn print_shared(stdout: &mut impl std::io::Write, p: &SharedStatus) -> std::io::Result<()> {
    let state = p.state.map_or("no run yet", RunStanding::name);
    let (known, visited) = (out::grouped(p.known), out::grouped(p.visited));
    writeln!(stdout, "project {}, run {}: {state}", p.project, p.run.unwrap_or(0))?;
    let short = match p.shards_without_budget {
        0 => String::new(),
        short => format!(" ({short} for want of budget)"),
    };
    let (held, all, idle) = (p.shards_held, p.shards, p.shards_idle);
    writeln!(stdout, "  {visited} of {known} pages visited; {held} of {all} shards held, {idle} idle{short}")?;
    let oldest = p.oldest_letter.map(|s| format!(", the oldest for {}", out::seconds(s))).unwrap_or_default();
    writeln!(stdout, "  {} letters wait{oldest}", out::grouped(p.letters))?;
    let (leased, contested) = (out::grouped(p.addresses), out::grouped(p.addresses_contested));
    writeln!(stdout, "  {leased} addresses leased, {contested} of them wanted by another worker")?;
    writeln!(stdout, "  {} splits of the text index", out::grouped(p.splits))?;
    let cells = |w: &SharedWorkerStatus| {
        let (speed, heard) = (format!("{:.1}", w.pages_per_second), format!("{:.1} s ago", w.heard));
        let (shards, queued) = (w.shards.to_string(), out::grouped(w.queued));
        vec![w.id.to_string(), w.name.clone(), w.machine.clone(), shards, speed, queued, heard, w.why.clone()]
    };
    let heads = ["worker", "name", "machine", "shards", "pages/s", "queued", "heard", "waits for"];
    out::table(stdout, &heads, &p.workers.iter().map(cells).collect::<Vec<_>>())
}

/// The addresses that have been wanted for longest, and where the time of the workers here goes.
fn print_reasons(stdout: &mut impl std::io::Write, p: &ExplainedStatus<'_>) -> std::io::Result<()> {
    if !p.status.contested.is_empty() {
        writeln!(stdout, "\naddresses that have been wanted for longest")?;
        let cells = |a: &ContestedAddress| {
            vec![a.address.clone(), a.holder.clone(), a.waiting.clone(), out::seconds(a.seconds)]
        };
        let rows: Vec<_> = p.status.contested.iter().map(cells).collect();
        out::table(stdout, &["address", "held by", "wanted by", "for"], &rows)?;
    }
    for WorkerAccount { worker, account } in &p.accounts {
        writeln!(stdout, "\nworker {worker}")?;
        super::why::print(account, stdout)?;
    }
    Ok(())
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
