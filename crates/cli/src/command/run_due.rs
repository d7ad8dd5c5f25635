//! `orb run-due`: which projects are due, and how are they run one after another?
//!
//! Called every few minutes by a system timer. No state is kept between two calls: schedules and
//! runs say what is due. A project that fails does not keep the others from running.

use super::crawl::{self, CrawlRequest};
use super::deliver;
use crate::args::Common;
use crate::failure::{CommandFailure, complain, one_line};
use crate::out;
use clap::Args;
use orb_answers::{DueProject, due_project};
use orb_crawl::{Summary, may_begin};
use orb_page::Moment;
use orb_page::{RunKind, RunState};
use orb_store::{Home, StoreError};
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
struct DueReport {
    now: String,
    ran: Vec<Ran>,
    next: Vec<DueProject>,
}

pub(crate) fn run(common: &Common, args: &RunDueArgs) -> Result<(), CommandFailure> {
    let home = Home::open(&common.home)?;
    let now = || args.now.unwrap_or_else(Moment::now);
    let mut ran = Vec::new();
    let projects = home.list()?;
    for project in projects.iter().filter(|_| !args.dry_run) {
        let one = match due_project(project, now()).map_err(CommandFailure::from) {
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
        match due_project(project, now()).map_err(CommandFailure::from) {
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
    print(common, &DueReport { now: now().to_string(), ran, next })?;
    match (stopped, failed) {
        (true, _) => Err(CommandFailure::Stopped),
        (_, true) => Err(CommandFailure::Found),
        _ => Ok(()),
    }
}

/// Runs a project as its file says.
fn carry_out(common: &Common, home: &Home, next: &DueProject) -> Ran {
    let blank = Ran { project: next.project.clone(), kind: next.kind.name(), summary: None, error: None };
    match one_run(common, home, next) {
        Ok(summary) => Ran { summary: Some(summary), ..blank },
        Err(CommandFailure::Failed(e)) if matches!(e.downcast_ref(), Some(StoreError::InUse { .. })) => blank,
        Err(failure) => Ran { error: Some(one_line(&failure)), ..blank },
    }
}

fn one_run(common: &Common, home: &Home, next: &DueProject) -> Result<Summary, CommandFailure> {
    let project = home.find(&next.project)?;
    let request = CrawlRequest::kept(home, &next.project, next.kind)?;
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

fn print(common: &Common, account: &DueReport) -> Result<(), CommandFailure> {
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
            let row = |next: &DueProject| vec![next.project.clone(), next.kind.name().to_owned(), next.shown.clone()];
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
