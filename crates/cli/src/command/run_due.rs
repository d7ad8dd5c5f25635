//! `orb run-due`: which projects are due, and how are they run one after another?
//!
//! Called every few minutes by a system timer. No state is kept between two calls: schedules and
//! runs say what is due. A project that fails does not keep the others from running.

use super::crawl::{self, Request};
use super::deliver;
use crate::args::Common;
use crate::failure::{Failure, complain, one_line};
use crate::out;
use clap::Args;
use orb_answers::due;
use orb_crawl::{Summary, may_begin};
use orb_page::Moment;
use orb_page::{RunKind, RunState};
use orb_project::Settings;
use orb_store::{Home, ProjectDir, ProjectLock, StoreError};
use orb_track::schedule::Zone;
use serde::Serialize;
use std::io::Write as _;

/// `orb run-due`.
#[derive(Debug, Args)]
pub(crate) struct RunDueArgs {
    /// Only print what is due, and when the others are
    #[arg(long)]
    dry_run: bool,
    /// Use this time instead of the clock, e.g. 2026-11-15T06:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Moment>,
}

fn moment(text: &str) -> Result<Moment, String> {
    orb_track::schedule::moment(text).map_err(|e| e.to_string())
}

/// A project and its due time.
#[derive(Serialize)]
struct Next {
    project: String,
    #[serde(serialize_with = "named")]
    kind: RunKind,
    /// When it is due; `None` if it never runs again, or is running.
    due: Option<String>,
    is_due: bool,
    resumes: bool,
    running: bool,
    #[serde(skip)]
    shown: String,
}

fn named<S: serde::Serializer>(kind: &RunKind, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(kind.name())
}

/// The result of a project that was due.
#[derive(Serialize)]
struct Ran {
    project: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The result of a call.
#[derive(Serialize)]
struct Account {
    now: String,
    ran: Vec<Ran>,
    next: Vec<Next>,
}

pub(crate) fn run(common: &Common, args: &RunDueArgs) -> Result<(), Failure> {
    let home = Home::open(&common.home)?;
    let now = || args.now.unwrap_or_else(Moment::now);
    let mut ran = Vec::new();
    let projects = home.list()?;
    for project in projects.iter().filter(|_| !args.dry_run) {
        let one = match standing(project, now()) {
            Ok(Some(next)) if next.is_due => carry_out(common, &home, &next),
            Ok(_) => continue,
            Err(failure) => {
                Ran { project: project.name.clone(), kind: "none", summary: None, error: Some(one_line(&failure)) }
            }
        };
        let stopped = one.summary.as_ref().is_some_and(|summary| summary.state == RunState::Stopped);
        ran.push(one);
        if stopped {
            break;
        }
    }
    let mut unread = false;
    let mut next = Vec::new();
    for project in &projects {
        match standing(project, now()) {
            Ok(found) => next.extend(found),
            Err(failure) => {
                unread = true;
                if args.dry_run {
                    complain(&format!("project {}: {}", project.name, one_line(&failure)));
                }
            }
        }
    }
    let failed = unread || ran.iter().any(|one| one.error.is_some());
    let stopped = ran.iter().any(|one| one.summary.as_ref().is_some_and(|summary| summary.state == RunState::Stopped));
    print(common, &Account { now: now().to_string(), ran, next })?;
    match (stopped, failed) {
        (true, _) => Err(Failure::Stopped),
        (_, true) => Err(Failure::Found),
        _ => Ok(()),
    }
}

/// When a project is due; `None` without a schedule.
fn standing(project: &ProjectDir, now: Moment) -> Result<Option<Next>, Failure> {
    let Some(settings) = Settings::kept(project)? else { return Ok(None) };
    if settings.schedule.schedule().is_none() {
        return Ok(None);
    }
    let due = due(project, &settings, now)?;
    let shown = |at: Moment| due_words(at, &settings.schedule.zone, due.now);
    let running = ProjectLock::is_held(project);
    Ok(Some(Next {
        project: project.name.clone(),
        kind: due.kind,
        due: due.at.map(|at| at.to_string()),
        is_due: due.now,
        resumes: due.resumes,
        running,
        shown: due.at.map_or_else(|| if running { "runs" } else { "never" }.to_owned(), shown),
    }))
}

fn due_words(at: Moment, zone: &Zone, now: bool) -> String {
    if now { format!("now, since {}", zone.show(at)) } else { zone.show(at) }
}

/// Runs a project as its file says.
fn carry_out(common: &Common, home: &Home, next: &Next) -> Ran {
    let blank = Ran { project: next.project.clone(), kind: next.kind.name(), summary: None, error: None };
    match one_run(common, home, next) {
        Ok(summary) => Ran { summary: Some(summary), ..blank },
        Err(Failure::Failed(e)) if matches!(e.downcast_ref(), Some(StoreError::InUse { .. })) => blank,
        Err(failure) => Ran { error: Some(one_line(&failure)), ..blank },
    }
}

fn one_run(common: &Common, home: &Home, next: &Next) -> Result<Summary, Failure> {
    let project = home.find(&next.project)?;
    let request = Request::kept(home, &next.project, next.kind)?;
    let settings = request.settings.clone();
    if next.kind == RunKind::Track {
        may_begin(&project, &settings)?;
    }
    let summary = crawl::crawl(common, home, request)?;
    if next.kind == RunKind::Track {
        deliver::after_run(common, &project, &settings)?;
    }
    Ok(summary)
}

fn print(common: &Common, account: &Account) -> Result<(), Failure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, account)?;
    } else if !common.quiet {
        for summary in account.ran.iter().filter_map(|one| one.summary.as_ref()) {
            crawl::print(&mut stdout, summary)?;
        }
        if account.next.is_empty() {
            writeln!(
                stdout,
                "no project has a schedule; orb project edit PROJECT gives it one: [schedule] every = \"6h\""
            )?;
        } else {
            let row = |next: &Next| vec![next.project.clone(), next.kind.name().to_owned(), next.shown.clone()];
            out::table(&mut stdout, &["project", "does", "due"], &account.next.iter().map(row).collect::<Vec<_>>())?;
        }
    }
    stdout.flush()?;
    for one in &account.ran {
        if let Some(error) = &one.error {
            complain(&format!("project {}: {error}", one.project));
        }
    }
    Ok(())
}
