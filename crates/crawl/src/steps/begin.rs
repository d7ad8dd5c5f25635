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
use orb_store::{Project, RunCounters};
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
    let rules = &config.read.steps;
    let mut known = HashSet::new();
    for (step, rules) in rules.iter() {
        for url in project.seed_urls(Some(*step))? {
            known.insert(*step);
            if let Ok(moved) = Address::from_canonical(&url) {
                rules.scope.add(&moved);
            }
        }
    }
    let journal = Journal::open(project.dir(), run)?;
    let mut path =
        Path::new(settings, Arc::clone(rules), (way_out, config.walking()), stop).drawing(render).knowing(known);
    let walked = path.walk();
    for line in path.notes() {
        journal.log(line)?;
    }
    match walked {
        Ok(roots) => {
            let roots = roots.unwrap_or_default();
            for found in &roots {
                if let Some(rules) = rules.get(&found.step) {
                    found.addresses.iter().for_each(|root| rules.scope.add(root));
                }
            }
            Ok(roots)
        }
        Err(wrong) => {
            journal.log(&wrong.to_string())?;
            project.finish_run(run, RunState::Stopped, &counters.to_json())?;
            Err(wrong)
        }
    }
}
