//! How do the steps start a run?

use super::path::{Path, Roots};
use crate::CrawlError;
use crate::config::Config;
use crate::drive::way_out::WayOut;
use crate::render::RenderDesk;
use crate::shared::Stop;
use crate::watch::journal::Journal;
use hashbrown::HashSet;
use orb_page::RunId;
use orb_page::RunState;
use orb_project::Settings;
use orb_store::{Project, ProjectDir, RunCounters};
use orb_urls::Address;
use std::sync::Arc;

/// Walks the steps and returns the roots of those that collect. On failure the run is left to be
/// resumed; if the user asks to stop, there are none.
pub(crate) fn walk(
    project: &mut Project,
    settings: &Settings,
    (config, way_out, render): (&Config, &WayOut, Option<&Arc<RenderDesk>>),
    (run, counters): (RunId, &RunCounters),
    stop: &Stop,
) -> Result<Vec<Roots>, CrawlError> {
    if settings.steps.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = Vec::new();
    for step in config.read.steps.keys() {
        known.extend(project.seed_urls(Some(*step))?.into_iter().map(|url| (*step, url)));
    }
    let by = (config, way_out, render);
    walk_from(project.dir(), settings, by, (run, &known), stop).or_else(|wrong| {
        project.finish_run(run, RunState::Stopped, &counters.to_json())?;
        Err(wrong)
    })
}

/// The same from where earlier walks have led to: the seeds of steps.
pub(crate) fn walk_from(
    dir: &ProjectDir,
    settings: &Settings,
    (config, way_out, render): (&Config, &WayOut, Option<&Arc<RenderDesk>>),
    (run, seeds): (RunId, &[(u32, String)]),
    stop: &Stop,
) -> Result<Vec<Roots>, CrawlError> {
    let rules = &config.read.steps;
    let mut known = HashSet::new();
    for (step, url) in seeds {
        known.insert(*step);
        if let (Some(rules), Ok(moved)) = (rules.get(step), Address::from_canonical(url)) {
            rules.scope.add(&moved);
        }
    }
    let journal = Journal::open(dir, run)?;
    let mut path =
        Path::new(settings, Arc::clone(rules), (way_out, config.walking()), stop).drawing(render).knowing(known);
    let walked = path.walk();
    for line in path.notes() {
        journal.log(line)?;
    }
    let roots = walked.inspect_err(|wrong| _ = journal.fail_for(&wrong.to_string()))?.unwrap_or_default();
    for found in &roots {
        if let Some(rules) = rules.get(&found.step) {
            found.addresses.iter().for_each(|root| rules.scope.add(root));
        }
    }
    Ok(roots)
}
