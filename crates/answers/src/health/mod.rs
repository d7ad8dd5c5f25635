//! What is wrong with the pages of a collection?
//!
//! Kinds of problems, each with what it means, how to repair it, how many there are, how many of
//! them are new, and the statement that finds them. The catalogue finds them (views of the same
//! names); here they get their words.

mod kinds;

pub use kinds::Severity;

use crate::kept::{FiguresMark, KeptFigures, keep, recall};
use crate::sql::refused;
use crate::{AnswerError, Collection, Result, Window};
use orb_page::RunId;
use orb_store::{HealthFindings, HealthKind, HealthRow, HealthTally, QueryLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What counts as new, and how long a kind may take.
#[derive(Clone, Copy, Debug)]
pub struct HealthWish {
    /// What is there since this run or later is new [default: the last run].
    pub run: Option<u32>,
    /// Maximum time for one kind.
    pub time: Duration,
}

/// Which problems of a kind are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthPart {
    /// All of them.
    All,
    /// New ones.
    New,
}

impl Default for HealthWish {
    fn default() -> Self {
        Self { run: None, time: Duration::from_secs(60) }
    }
}

/// The health of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Health {
    /// The project.
    pub project: String,
    /// What is there since this run or later is new; `None` if that would be everything.
    pub run: Option<u32>,
    /// Whether the counts are those of the collection as it is now.
    pub standing: CountStanding,
    /// When they were counted.
    pub counted_at: Option<String>,
    /// The kinds, the gravest first.
    pub kinds: Vec<HealthCount>,
}

/// How counts relate to the collection as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CountStanding {
    /// They are its counts.
    Current,
    /// Something was recorded since; it is counted again.
    Earlier,
    /// There are none yet; it is being counted.
    Counting,
}

/// A kind of problem, and how often it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthCount {
    /// Its name.
    pub kind: HealthKind,
    /// How grave it is.
    pub severity: Severity,
    /// How many there are; `None` if that was not counted yet, or took too long.
    pub count: Option<u64>,
    /// How many of them are new; `None` if the catalogue cannot tell or nothing came before.
    pub new: Option<u64>,
    /// What it means.
    pub about: &'static str,
    /// How to repair it.
    pub fix: &'static str,
    /// The statement that lists them, for `orb sql`.
    pub sql: String,
}

/// Problems of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthRows {
    /// The kind.
    pub kind: HealthKind,
    /// How grave it is.
    pub severity: Severity,
    /// What it means.
    pub about: &'static str,
    /// How to repair it.
    pub fix: &'static str,
    /// The statement that lists them, for `orb sql`.
    pub sql: String,
    /// The wanted ones.
    pub rows: Vec<HealthRow>,
}

/// Counts the problems of every kind, unless they were counted since the last commit.
pub fn health(collection: &Collection, wish: HealthWish) -> Result<Health> {
    if let Some(found) = counted_health(collection, wish)?.filter(|found| found.standing == CountStanding::Current) {
        return Ok(found);
    }
    let (mark, run) = (FiguresMark::now(collection)?, base_run(collection, wish.run)?);
    let mut tallies = Vec::with_capacity(HealthKind::ALL.len());
    let mut findings = Vec::with_capacity(HealthKind::ALL.len());
    for kind in HealthKind::ALL {
        let found = collection.catalogue().health_findings(kind, run, wish.time, KEPT_ROWS)?;
        tallies.push((kind, found.as_ref().map(|found| found.tally)));
        findings.extend(found.map(|found| (kind, found)));
    }
    let kept = KeptFigures::new(mark, HealthTallies { run: run.map(|run| run.0), tallies });
    if findings.len() == HealthKind::ALL.len() {
        for (kind, found) in findings {
            let first = KeptRows { run: kept.figures.run, found };
            keep(collection.project(), &rows_name(kind, wish), &KeptFigures::new(mark, first));
        }
        keep(collection.project(), counts_name(wish), &kept);
    }
    Ok(told(collection, kept, CountStanding::Current))
}

/// The problems of every kind as they were last counted; `None` if they never were. Nothing is
/// counted, so this is quick.
pub fn counted_health(collection: &Collection, wish: HealthWish) -> Result<Option<Health>> {
    let run = base_run(collection, wish.run)?.map(|run| run.0);
    let kept = recall::<HealthTallies>(collection.project(), counts_name(wish));
    // Another version may have counted other kinds.
    let is_whole = |kept: &HealthTallies| kept.tallies.iter().map(|(kind, _)| *kind).eq(HealthKind::ALL);
    let Some(kept) = kept.filter(|kept| is_whole(&kept.figures)) else { return Ok(None) };
    let is_current = kept.is_of(&FiguresMark::now(collection)?) && kept.figures.run == run;
    let standing = if is_current { CountStanding::Current } else { CountStanding::Earlier };
    Ok(Some(told(collection, kept, standing)))
}

/// The kinds without any counts, for a collection that is being counted for the first time.
pub fn uncounted_health(collection: &Collection, wish: HealthWish) -> Result<Health> {
    let run = base_run(collection, wish.run)?.map(|run| run.0);
    let tallies = HealthKind::ALL.map(|kind| (kind, None)).into();
    let nothing = KeptFigures::new(FiguresMark::now(collection)?, HealthTallies { run, tallies });
    Ok(Health { counted_at: None, ..told(collection, nothing, CountStanding::Counting) })
}

fn told(collection: &Collection, kept: KeptFigures<HealthTallies>, standing: CountStanding) -> Health {
    let kinds = kept.figures.tallies.into_iter().map(|(kind, counted)| {
        let (severity, about, fix) = kinds::meaning(kind);
        let (count, new) = (counted.map(|n| n.all), counted.and_then(|n| n.new));
        HealthCount { kind, severity, count, new, about, fix, sql: kind.sql(None) }
    });
    Health {
        project: collection.name().to_owned(),
        run: kept.figures.run,
        standing,
        counted_at: Some(kept.at.to_string()),
        kinds: kinds.collect(),
    }
}

/// Rows of each kind that are kept with the counts.
const KEPT_ROWS: usize = 300;

/// Whether rows of a kind are beyond those that are kept with the counts, and take a look at all
/// pages or links.
pub fn is_beyond_kept(wanted: Window) -> bool {
    wanted.offset.saturating_add(wanted.limit) > KEPT_ROWS as u64
}

/// What is kept of the counts: the run from which on something was new, and the kinds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HealthTallies {
    run: Option<u32>,
    tallies: Vec<(HealthKind, Option<HealthTally>)>,
}

/// What is kept of the rows of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptRows {
    run: Option<u32>,
    found: HealthFindings,
}

/// Under which name counts are kept: those since a run that somebody named, whichever it was last,
/// apart from the others.
const fn counts_name(wish: HealthWish) -> &'static str {
    if wish.run.is_some() { "health-since" } else { "health" }
}

fn rows_name(kind: HealthKind, wish: HealthWish) -> String {
    format!("{}-{}", counts_name(wish), kind.name())
}

/// The wanted rows of a kind, if they are among those that were kept of the catalogue as it is now.
fn kept_rows(
    collection: &Collection,
    (kind, part): (HealthKind, HealthPart),
    wish: HealthWish,
    wanted: Window,
) -> Result<Option<Vec<HealthRow>>> {
    let run = base_run(collection, wish.run)?.map(|run| run.0);
    let Some(kept) = recall::<KeptRows>(collection.project(), &rows_name(kind, wish)) else { return Ok(None) };
    if kept.figures.run != run || !kept.is_of(&FiguresMark::now(collection)?) {
        return Ok(None);
    }
    let KeptRows { found, .. } = kept.figures;
    let (rows, all) = match part {
        HealthPart::New if run.is_some() => (found.first_new, found.tally.new.unwrap_or(0)),
        _ => (found.first, found.tally.all),
    };
    let is_enough = all == rows.len() as u64 || wanted.offset.saturating_add(wanted.limit) <= rows.len() as u64;
    Ok(is_enough.then(|| wanted.of(rows)))
}

/// Lists problems of one kind, in the order in which they are stored.
pub fn health_rows(
    collection: &Collection,
    kind: HealthKind,
    part: HealthPart,
    wish: HealthWish,
    wanted: Window,
) -> Result<HealthRows> {
    let run = base_run(collection, wish.run)?;
    let since = run.filter(|_| part == HealthPart::New);
    if since.is_some() && !kind.knows_since() {
        let why = format!("the catalogue does not know since when a row of {} is there", kind.name());
        return Err(AnswerError::Refused(why));
    }
    let limits = QueryLimits { time: wish.time, rows: wanted.limit, ..QueryLimits::default() };
    let rows = match kept_rows(collection, (kind, part), wish, wanted)? {
        Some(rows) => rows,
        None => collection.catalogue().health_rows(kind, since, limits, wanted.offset).map_err(refused)?,
    };
    let (severity, about, fix) = kinds::meaning(kind);
    Ok(HealthRows { kind, severity, about, fix, sql: kind.sql(since), rows })
}

/// The run from which on something is new: the given one, or the last, unless it is the first.
fn base_run(collection: &Collection, wanted: Option<u32>) -> Result<Option<RunId>> {
    let run = match wanted {
        Some(run) => Some(known_run(collection, run)?),
        None => collection.catalogue().last_run()?.map(|run| run.id),
    };
    Ok(run.filter(|run| run.0 > 1))
}

fn known_run(collection: &Collection, run: u32) -> Result<RunId> {
    let known = collection.catalogue().run(RunId(run))?;
    let unknown = || AnswerError::Unknown(format!("project {} has no run {run}", collection.name()));
    known.map(|run| run.id).ok_or_else(unknown)
}
