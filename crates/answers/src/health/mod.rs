//! What is wrong with the pages of a collection?
//!
//! Kinds of problems, each with what it means, how to repair it, how many there are, how many of
//! them are new, and the statement that finds them. The catalogue finds them (views of the same
//! names); here they get their words.

mod kinds;

pub use kinds::Severity;

use crate::sql::refused;
use crate::{AnswerError, Collection, Result, Window};
use orb_page::RunId;
use orb_store::{HealthKind, HealthRow, QueryLimits};
use schemars::JsonSchema;
use serde::Serialize;
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
    /// The kinds, the gravest first.
    pub kinds: Vec<HealthCount>,
}

/// A kind of problem, and how often it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthCount {
    /// Its name.
    pub kind: HealthKind,
    /// How grave it is.
    pub severity: Severity,
    /// How many there are; `None` if counting them took too long.
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

/// Counts the problems of every kind.
pub fn health(collection: &Collection, wish: HealthWish) -> Result<Health> {
    let run = base_run(collection, wish.run)?;
    let kinds = HealthKind::ALL.into_iter().map(|kind| {
        let counted = collection.catalogue().health_count(kind, run, wish.time)?;
        let (severity, about, fix) = kinds::meaning(kind);
        let (count, new) = (counted.map(|n| n.all), counted.and_then(|n| n.new));
        Ok(HealthCount { kind, severity, count, new, about, fix, sql: kind.sql(None) })
    });
    let kinds = kinds.collect::<Result<_>>()?;
    Ok(Health { project: collection.name().to_owned(), run: run.map(|run| run.0), kinds })
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
    let limits = QueryLimits { time: wish.time, rows: wanted.limit };
    let rows = collection.catalogue().health_rows(kind, since, limits, wanted.offset).map_err(refused)?;
    let (severity, about, fix) = kinds::meaning(kind);
    Ok(HealthRows { kind, severity, about, fix, sql: kind.sql(since), rows })
}

/// The run from which on something is new: the given one, or the last, unless it is the first.
fn base_run(collection: &Collection, wanted: Option<u32>) -> Result<Option<RunId>> {
    let run = match wanted {
        Some(run) => Some(known_run(collection, run)?),
        None => collection.catalogue().runs()?.first().map(|run| run.id),
    };
    Ok(run.filter(|run| run.0 > 1))
}

fn known_run(collection: &Collection, run: u32) -> Result<RunId> {
    let known = collection.catalogue().run(RunId(run))?;
    let unknown = || AnswerError::Unknown(format!("project {} has no run {run}", collection.name()));
    known.map(|run| run.id).ok_or_else(unknown)
}
