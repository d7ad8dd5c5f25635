//! `orb deliver`: how are pending changes delivered to a project's outputs?

use crate::args::Common;
use crate::failure::{CommandFailure, complain};
use crate::{out, signals};
use clap::Args;
use orb_crawl::outputs::{Delivered, Delivery, RunEnd, deliver};
use orb_crawl::{CrawlError, Stop, Summary};
use orb_page::RunKind;
use orb_project::{Home, ProjectDir, Settings};
use std::io::Write as _;
use std::sync::Arc;

/// `orb deliver`.
#[derive(Debug, Args)]
pub(crate) struct DeliverArgs {
    /// The project
    project: String,
    /// Deliver everything after this change again, whatever was delivered before; 0 for everything
    #[arg(long, value_name = "CURSOR")]
    from: Option<u64>,
    /// Deliver nothing, but send every webhook a test
    #[arg(long = "try", conflicts_with = "from")]
    trial: bool,
}

pub(crate) fn run(common: &Common, args: &DeliverArgs) -> Result<(), CommandFailure> {
    let project = Home::look(&common.home)?.find(&args.project)?;
    let stop = Stop::new();
    let _listening = signals::watch(Arc::clone(&stop))?;
    if args.trial {
        return try_webhooks(&project, &stop);
    }
    let account = deliver(&project, &variable, &stop, args.from)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else if !common.quiet {
        for one in &account.outputs {
            writeln!(stdout, "{}: {} changes", one.output, out::grouped(one.told))?;
        }
    }
    stdout.flush()?;
    let failed = account.outputs.iter().filter(|one| one.problem.is_some()).collect::<Vec<_>>();
    failed.iter().for_each(|one| lament(&project.name, one));
    match (stop.is_set(), failed.is_empty()) {
        (true, _) => Err(CommandFailure::Stopped),
        (_, true) => Ok(()),
        (_, false) => Err(CommandFailure::Found),
    }
}

/// Delivers after a run, which has succeeded in any case: failures are reported, and retried next
/// time.
pub(crate) fn after_run(common: &Common, project: &ProjectDir, settings: &Settings) -> Result<(), CommandFailure> {
    if settings.outputs.is_empty() {
        return Ok(());
    }
    let stop = Stop::new();
    let _listening = signals::watch(Arc::clone(&stop))?;
    let delivery = Delivery { project, settings, variable: &variable, stop: &stop, from: None };
    match delivery.run().map_err(CommandFailure::from) {
        Ok(delivered) => {
            let failed = delivered.iter().filter(|one| one.problem.is_some() && !common.quiet);
            failed.for_each(|one| lament(&project.name, one));
        }
        Err(CommandFailure::Failed(why)) => {
            complain(&format!("the changes were not delivered: {why:#}; orb deliver {} delivers them", project.name));
        }
        Err(other) => return Err(other),
    }
    if stop.is_set() { Err(CommandFailure::Stopped) } else { Ok(()) }
}

/// Sends every webhook a test, and says which did not take it.
fn try_webhooks(project: &ProjectDir, stop: &Stop) -> Result<(), CommandFailure> {
    let settings = Settings::kept(project)?.unwrap_or_default();
    if settings.outputs.webhook.is_empty() {
        return Err(CommandFailure::Failed(anyhow::anyhow!("project {} has no webhooks", project.name)));
    }
    let delivery = Delivery { project, settings: &settings, variable: &variable, stop, from: None };
    let missed = delivery.tell_end(&RunEnd::Trial);
    missed.iter().for_each(|(hook, why)| complain(&format!("{hook} did not take the test: {why}")));
    if missed.is_empty() { Ok(()) } else { Err(CommandFailure::Found) }
}

/// Tells the webhooks that ask for it how a run has ended. That they were not reached changes
/// nothing about the run.
pub(crate) fn tell_end(
    home: &Home,
    (name, settings): (&str, &Settings),
    kind: RunKind,
    result: &Result<Summary, CrawlError>,
) {
    // A project that was refused is gone again.
    let Ok(project) = home.find(name) else { return };
    let stop = Stop::new();
    let delivery = Delivery { project: &project, settings, variable: &variable, stop: &stop, from: None };
    let missed = match result {
        Ok(summary) => delivery.tell_end(&RunEnd::Finished(summary)),
        Err(error) => delivery.tell_end(&RunEnd::Failed { kind: kind.name(), why: &error.to_string() }),
    };
    for (hook, why) in missed {
        complain(&format!("{hook} was not told how the run has ended: {why}"));
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn lament(project: &str, one: &Delivered) {
    let why = one.problem.as_deref().unwrap_or_default();
    let left = out::grouped(one.left);
    complain(&format!(
        "{}: {left} changes not delivered: {why} (orb deliver {project}, or the next run, delivers them)",
        one.output
    ));
}
