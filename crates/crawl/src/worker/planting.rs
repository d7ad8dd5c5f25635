//! How does a run on a shared store begin?
//!
//! Whoever asks for it plants it: its settings, budgets and seeds, and the pages to visit again if
//! these are not all. That choice is made once, over the whole project, so that a budget of visits
//! is spent where a visit is worth most, whichever machine makes it.

use crate::run::has_reached_nothing;
use crate::steps;
use crate::track::RevisitSelection;
use crate::track::forecast::{VisitAllowance, choose, dues};
use crate::{CrawlError, Summary};
use orb_page::{Moment, PageId, RunId, RunKind, RunState};
use orb_project::units::Pace;
use orb_project::{RenderWhen, Settings};
use orb_store::{
    PlantedRun, RunCounters, RunTerms, SeedToPlant, SharedAddress, SharedMaking, SharedProject, SharedRun,
};
use orb_urls::Address;
use std::cell::RefCell;

/// What a crawl visits again after one that has reached none of its seeds.
pub(super) const SEEDS_AGAIN: &str = "seeds again";

/// A run that somebody asks for.
pub struct SharedRequest<'a> {
    /// The project.
    pub name: &'a str,
    /// Its settings.
    pub settings: &'a Settings,
    /// The settings to keep: budgets given as flags apply to one run only.
    pub kept: &'a Settings,
    /// Where it starts.
    pub seeds: &'a [Address],
    /// Whether to collect or to revisit.
    pub kind: RunKind,
    /// Which known pages to revisit.
    pub choice: RevisitSelection,
    /// The run that is meant, for whoever has decided by those before it: no other is begun.
    pub number: Option<RunId>,
}

/// The settings of a project on a shared store, if it is there.
pub fn shared_settings(at: &SharedAddress, name: &str) -> Result<Option<Settings>, CrawlError> {
    if !SharedProject::list(at)?.iter().any(|listed| listed.name == name) {
        return Ok(None);
    }
    let text = SharedProject::open(at, name)?.settings()?;
    Ok(Some(Settings::parse(&text, std::path::Path::new("project.toml"))?))
}

/// Puts a project on a shared store and begins a run there, or resumes the one that is open.
pub fn plant(at: &SharedAddress, request: &SharedRequest<'_>) -> Result<RunId, CrawlError> {
    let SharedRequest { name, settings, kept, seeds, kind, choice, number } = *request;
    settings.examine()?;
    refuse_unshared(settings)?;
    let (text, kept) = (settings.without_passwords().to_toml(), kept.without_passwords().to_toml());
    let mut store = match kind {
        RunKind::Crawl => {
            SharedProject::create(at, name, &SharedMaking { shards: settings.store.shards, settings: kept.clone() })?
        }
        RunKind::Track => SharedProject::open(at, name)?,
    };
    if kind == RunKind::Track
        && settings.track.hold_until_acknowledged
        && let Some(run) = store.unacknowledged()?
    {
        return Err(CrawlError::Held { project: name.to_owned(), run: run.0 });
    }
    let seed = |seed: &Address| SeedToPlant { url: seed.as_str().to_owned(), step: None };
    let seeds: Vec<SeedToPlant> = seeds.iter().map(seed).collect();
    let last = store.last_run()?;
    if let Some(last) = last.as_ref().filter(|last| last.record.state.is_resumed()) {
        return resume(&mut store, request, (last, kept), &seeds);
    }
    let mut terms = RunTerms { number, kept: Some(kept), ..terms(settings) };
    if kind == RunKind::Track {
        terms.choice = Some(choice.text());
        terms.chosen = chosen(&mut store, settings, choice)?;
    } else if last.is_some_and(|last| has_reached_nothing(&last.record)) {
        // Its servers were down: they are asked again.
        terms.choice = Some(SEEDS_AGAIN.to_owned());
    }
    let planted = PlantedRun {
        kind,
        settings: text,
        budget: settings.frontier.max_pages,
        machines: settings.machines.clone(),
        seeds,
        by: settings.crawl.worker_name.as_str().into(),
    };
    Ok(store.plant_on(&planted, &terms)?)
}

/// Why a run on a shared store has fetched nothing at all, given its first seed; `None` if it did
/// fetch something, or earlier runs fetched the seed.
pub fn why_unreached_there(at: &SharedAddress, summary: &Summary, seed: &str) -> Result<Option<String>, CrawlError> {
    if summary.counters.pages > 0 || summary.state != RunState::Done {
        return Ok(None);
    }
    let why = SharedProject::open(at, &summary.project)?.why_unreached(seed)?;
    Ok(why
        .map(|why| why.or(summary.waiting.first().cloned()).unwrap_or_else(|| "its server does not answer".to_owned())))
}

/// Asks all machines to end a run with everything saved: each leaves it when it next says that it
/// is alive.
pub fn stop_shared(at: &SharedAddress, name: &str, run: RunId) -> Result<(), CrawlError> {
    Ok(SharedProject::open(at, name)?.finish_run(run, RunState::Stopped)?)
}

/// Takes up a run that has not ended.
fn resume(
    store: &mut SharedProject,
    request: &SharedRequest<'_>,
    (last, kept): (&SharedRun, String),
    seeds: &[SeedToPlant],
) -> Result<RunId, CrawlError> {
    let (record, settings) = (&last.record, request.settings);
    if request.kind == RunKind::Track && record.kind == RunKind::Crawl {
        return Err(CrawlError::Unfinished { run: record.id.0, project: request.name.to_owned() });
    }
    if request.number.is_some_and(|number| number != record.id) {
        return Err(CrawlError::Setting(format!("run {} was begun by somebody else", record.id.0)));
    }
    let done = RunCounters::of(&record.counters);
    let RunTerms { bytes, time, .. } = terms(settings);
    let bytes = bytes.map(|most| most.saturating_sub(done.bytes));
    let terms = RunTerms { bytes, time, kept: Some(kept), ..RunTerms::default() };
    let pages = settings.frontier.max_pages.map(|most| most.saturating_sub(done.pages));
    store.resume_on(record.id, pages, &terms, seeds)?;
    Ok(record.id)
}

/// What limits a run besides a number of pages.
fn terms(settings: &Settings) -> RunTerms {
    let frontier = &settings.frontier;
    let (bytes, time) = (frontier.max_bytes.map(|most| most.0), frontier.max_time.map(|most| most.0));
    RunTerms { bytes, time, ..RunTerms::default() }
}

/// The pages to visit again, if these are not all.
fn chosen(store: &mut SharedProject, settings: &Settings, choice: RevisitSelection) -> Result<Vec<PageId>, CrawlError> {
    let now = Moment::now();
    let since = store.began_before(None)?.unwrap_or(now);
    let allowance = VisitAllowance::of(choice, settings.track.budget.map(Pace::a_day), since, now)?;
    Ok(choose(&RefCell::new(store), choice, allowance, now)?.unwrap_or_default())
}

/// Writes down when pages are due, after a run of a project with a budget of visits.
pub fn write_shared_dues(at: &SharedAddress, name: &str, settings: &Settings) -> Result<(), CrawlError> {
    let Some(budget) = settings.track.budget else { return Ok(()) };
    let mut store = SharedProject::open(at, name)?;
    let rows = dues(&RefCell::new(&mut store), budget.a_day())?;
    Ok(store.replace_dues(&rows)?)
}

/// What one machine alone can do.
pub(super) fn refuse_unshared(settings: &Settings) -> Result<(), CrawlError> {
    let why = if settings.render.when != RenderWhen::Never {
        // What a browser loads with a page is not under the leases of addresses.
        "render.when"
    } else if steps::any_waits(settings) {
        "steps that choose links on collected pages"
    } else {
        return Ok(());
    };
    Err(CrawlError::Setting(format!("a project on a shared store cannot use {why}")))
}
