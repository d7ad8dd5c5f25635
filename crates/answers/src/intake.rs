//! Which pages wait to be visited, and how far are those who call for them believed?

use crate::Result;
use orb_store::{IntakeCall, ProjectDir, SourceRecord};
use schemars::JsonSchema;
use serde::Serialize;

/// The calls of a project.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntakeState {
    /// Pages that wait for the next run.
    pub waiting: u64,
    /// Since when the first of them waits.
    pub since: Option<String>,
    /// Who has called, the most reliable first.
    pub sources: Vec<CallSource>,
}

/// Somebody who calls, and whether it was worth listening.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallSource {
    /// Who.
    pub source: String,
    /// How their calls went so far.
    #[serde(flatten)]
    pub record: SourceRecord,
    /// The chance that their next call is right.
    pub belief: f64,
}

/// The calls that wait, those that were made last first, at most so many.
pub fn waiting_calls(project: &ProjectDir, limit: usize) -> Result<Vec<IntakeCall>> {
    let mut waiting = project.intake().waiting()?;
    waiting.reverse();
    waiting.truncate(limit);
    Ok(waiting)
}

/// What waits in a project's intake, and from whom.
pub fn intake(project: &ProjectDir) -> Result<IntakeState> {
    let intake = project.intake();
    let waiting = intake.waiting()?;
    let mut sources = intake.sources()?;
    for call in &waiting {
        sources.entry(call.source.clone()).or_default();
    }
    let known = sources.into_iter().map(|(source, record)| CallSource { belief: record.belief(), source, record });
    let mut sources: Vec<CallSource> = known.collect();
    sources.sort_by(|a, b| b.belief.total_cmp(&a.belief).then_with(|| a.source.cmp(&b.source)));
    Ok(IntakeState { waiting: waiting.len() as u64, since: waiting.first().map(|call| call.at.clone()), sources })
}
