//! `orb run-due`: which projects are due, and how are they run one after another?
//!
//! Called every few minutes by a system timer. No state is kept between two calls: schedules and
//! runs say what is due. A project that fails does not keep the others from running.

use super::{crawl, deliver};
use crate::args::Common;
use crate::failure::{CommandFailure, complain, one_line};
use crate::out;
use clap::Args;
use orb_answers::{AnswerError, DueProject};
use orb_crawl::{CrawlRequest, DueAccount, RunDue, Summary, may_begin, run_due};
use orb_page::{Moment, RunKind};
use orb_project::{AskedProject, Home, StoreError};
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
    orb_project::moment(text).map_err(|e| e.to_string())
}

/// A round of the projects that are due, with a display for each.
struct Round<'a> {
    common: &'a Common,
    home: &'a Home,
    args: &'a RunDueArgs,
}

pub(crate) fn run(common: &Common, args: &RunDueArgs) -> Result<(), CommandFailure> {
    let home = Home::look(&common.home)?;
    let account = run_due(&home, &mut Round { common, home: &home, args })?;
    for (project, why) in account.unknown.iter().filter(|_| args.dry_run) {
        complain(&format!("project {project}: {why}"));
    }
    print(common, &account)?;
    match (account.is_stopped(), account.has_failed()) {
        (true, _) => Err(CommandFailure::Stopped),
        (_, true) => Err(CommandFailure::Found),
        _ => Ok(()),
    }
}

impl RunDue for Round<'_> {
    fn now(&self) -> Moment {
        self.args.now.unwrap_or_else(Moment::now)
    }

    fn runs(&self) -> bool {
        !self.args.dry_run
    }

    fn run(&mut self, next: &DueProject) -> Result<Option<Summary>, String> {
        match one_run(self.common, self.home, next) {
            Ok(summary) => Ok(Some(summary)),
            Err(CommandFailure::Failed(e)) if matches!(e.downcast_ref(), Some(StoreError::InUse { .. })) => Ok(None),
            Err(failure) => Err(one_line(&failure)),
        }
    }

    fn told(&self, error: AnswerError) -> String {
        one_line(&error.into())
    }
}

fn one_run(common: &Common, home: &Home, next: &DueProject) -> Result<Summary, CommandFailure> {
    let project = home.find(&next.project)?;
    let request = CrawlRequest::scheduled(AskedProject::kept(home, &next.project)?, next.kind);
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

fn print(common: &Common, account: &DueAccount) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, account)?;
    } else if !common.quiet {
        for summary in account.ran.iter().filter_map(|one| one.summary.as_ref()) {
            crawl::print(&mut stdout, summary, "")?;
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
