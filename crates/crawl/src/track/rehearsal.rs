//! What would be gained by visiting where it is worth most?
//!
//! Visiting policies are compared on a mix of generated pages, described in a file such as
//! `examples/freshness-mix.toml`, or on on the visits that a project recorded: a change that a
//! visit saw happened somewhere since the previous visit, and is placed at a random moment in
//! between.

use super::forecast::{Forecast, each_page};
use crate::CrawlError;
use orb_answers::AnswerError;
use orb_page::{Flag, Moment};
use orb_project::units::{HumanDuration, Pace};
use orb_project::{Settings, SettingsError};
use orb_store::{CatalogueReader, ProjectDir};
use orb_track::rate::days_between;
use orb_track::rate::simulate::{
    ChangeTimes, Dice, PageGroup, Policy, PolicyOutcome, SimulatedPage, World, optimum, simulate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum pages of a world.
const MOST: u64 = 50_000;

/// The random seed: the figures are reproducible.
const SEED: u64 = 1;

/// What policies are compared on.
#[derive(Clone, Copy, Debug)]
pub enum Rehearsed<'a> {
    /// The visits that a project recorded.
    Recorded(&'a ProjectDir),
    /// Synthetic pages, as described in a file.
    Mix(&'a Path),
}

/// A comparison of policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VisitRehearsal {
    /// Number of pages.
    pub pages: usize,
    /// Length of the simulation.
    pub days: f64,
    /// The budget.
    pub visits_a_day: f64,
    /// The upper bound of freshness, if changes are random with the given rates.
    pub optimum: Option<f64>,
    /// The policies.
    pub policies: Vec<PolicyTrial>,
}

/// The result of a policy, compared with uniform visits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyTrial {
    /// The result.
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub outcome: PolicyOutcome,
    /// Freshness relative to uniform visits.
    pub against_uniform: f64,
}

/// Compares visiting policies; all of them where none is named.
pub fn rehearse(on: Rehearsed<'_>, policies: &[Policy]) -> Result<VisitRehearsal, CrawlError> {
    let world = match on {
        Rehearsed::Mix(file) => mixed(file)?,
        Rehearsed::Recorded(project) => {
            if project.is_empty() {
                let why = format!("project {} has collected nothing yet; run orb crawl first", project.name);
                return Err(AnswerError::NotBuilt(why).into());
            }
            let budget = Settings::kept(project)?.unwrap_or_default().track.budget;
            recorded(&CatalogueReader::open(project)?, budget.map(Pace::a_day))?
        }
    };
    let uniform = simulate(&world, Policy::Uniform, SEED);
    let asked = |policy: &Policy| policies.is_empty() || policies.contains(policy);
    let trial = |policy: Policy| {
        let outcome = if policy == Policy::Uniform { uniform.clone() } else { simulate(&world, policy, SEED) };
        let against_uniform = outcome.freshness / uniform.freshness.max(f64::MIN_POSITIVE);
        PolicyTrial { outcome, against_uniform }
    };
    Ok(VisitRehearsal {
        pages: world.pages.len(),
        days: world.span,
        visits_a_day: world.budget,
        optimum: matches!(on, Rehearsed::Mix(_)).then(|| optimum(&world)),
        policies: Policy::ALL.into_iter().filter(asked).map(trial).collect(),
    })
}

/// A file with a mix of pages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mix {
    budget: Pace,
    span: HumanDuration,
    #[serde(default)]
    seed: u64,
    pages: Vec<PageMix>,
}

/// Similar pages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageMix {
    /// What they are, for readers of the file.
    #[serde(rename = "name")]
    _name: String,
    count: u32,
    every: HumanDuration,
    #[serde(default = "alike")]
    spread: f64,
}

const fn alike() -> f64 {
    1.0
}

/// The world of a file.
fn mixed(path: &Path) -> Result<World, CrawlError> {
    let read = std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.to_owned(), source });
    let mix: Mix = Settings::parse_as(&read?, path)?;
    let days = |span: HumanDuration| span.0.as_secs_f64() / 86_400.0;
    let count: u64 = mix.pages.iter().map(|kind| u64::from(kind.count)).sum();
    let wrong = |what: String| Err(CrawlError::Setting(format!("{}: {what}", path.display())));
    if count == 0 || count > MOST {
        return wrong(format!("a mix has 1 to {MOST} pages, not {count}"));
    }
    if !(1.0..=36_500.0).contains(&days(mix.span)) {
        return wrong(format!("the span is {}; it should be 1d to 36500d", mix.span));
    }
    let alike = |kind: &&PageMix| kind.every.0.is_zero() || !(1.0..=1e6).contains(&kind.spread);
    if let Some(kind) = mix.pages.iter().find(alike) {
        return wrong(format!(
            "every = \"{}\" and spread = {}: pages change after some time, and a spread is at least 1",
            kind.every, kind.spread
        ));
    }
    let group = |kind: &PageMix| PageGroup { pages: kind.count, every: days(kind.every), spread: kind.spread };
    let groups: Vec<PageGroup> = mix.pages.iter().map(group).collect();
    Ok(World::of(&groups, days(mix.span), mix.budget.a_day(), mix.seed))
}

/// The world as a project's visits saw it, with this many visits per day, or as many as there were.
fn recorded(reader: &CatalogueReader, budget: Option<f64>) -> Result<World, CrawlError> {
    let (mut begin, mut end) = (Moment(i64::MAX), Moment(i64::MIN));
    reader.each_seen(|seen| (begin, end) = (begin.min(seen.at), end.max(seen.at)))?;
    let span = days_between(begin, end);
    let (mut pages, mut looks) = (Vec::new(), 0_usize);
    let mut changes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut histories = Vec::new();
    each_page(
        reader,
        |page, visit| {
            if page.clone().add(visit).is_some_and(|(_, changed)| changed) && visit.flag != Flag::Error {
                let (from, to) = (days_between(begin, page.seen), days_between(begin, visit.at));
                let at = from + (to - from) * Dice::new(page.page.0).unit();
                changes.entry(page.page.0).or_default().push(at);
            }
        },
        |page| {
            if page.history.looks() > 0 && (histories.len() as u64) < MOST {
                looks += page.history.looks();
                histories.push(page);
            }
        },
    )?;
    if histories.is_empty() || span <= 0.0 {
        let what =
            "no page was visited twice yet; orb track does that, and --history FILE takes a mix of made-up pages";
        return Err(CrawlError::Setting(what.to_owned()));
    }
    let budget = budget.unwrap_or(looks as f64 / span);
    let priors = Forecast::of(reader, budget)?.priors;
    for page in &histories {
        let rate = page.history.belief(&priors, page.host.0).rate();
        let at = changes.remove(&page.page.0).unwrap_or_default();
        pages.push(SimulatedPage { host: page.host.0, rate, changes: ChangeTimes::At(at) });
    }
    Ok(World { pages, span, budget })
}
