//! What is there, and what is running?

use crate::{Result, due};
use orb_page::Moment;
use orb_project::Settings;
use orb_store::{CatalogueReader, Home, ProjectDir, ProjectLock, RunRecord, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectStatus {
    /// The project.
    pub project: String,
    /// Whether a process is using it.
    pub running: bool,
    /// Its last run.
    pub run: Option<u32>,
    /// `crawl` or `track`.
    pub kind: Option<String>,
    /// The state of that run.
    pub state: Option<String>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// When its schedule is due next.
    pub next_due: Option<String>,
    /// What the run has done so far.
    #[serde(flatten)]
    pub counters: RunCounters,
}

/// What a run has done so far, as stored in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunCounters {
    /// Pages fetched, of every kind.
    pub pages: u64,
    /// HTML pages with original content.
    pub html: u64,
    /// Anything else.
    pub binary: u64,
    /// Pages with the same content as an earlier one.
    pub duplicates: u64,
    /// Responses that point elsewhere.
    pub redirects: u64,
    /// Pages not fetched because of robots.txt.
    pub disallowed: u64,
    /// Pages that could not be fetched, or only with an error.
    pub errors: u64,
    /// Hosts of which a page was fetched.
    pub hosts: u64,
    /// Links recorded, one for each source, target and kind.
    pub links: u64,
    /// Images recorded.
    pub images: u64,
    /// Bytes of bodies as transferred.
    pub bytes: u64,
    /// Pages discovered.
    pub discovered: u64,
    /// Pages still queued.
    pub frontier: u64,
    /// Pages cut off as belonging to a trap, by its name.
    pub traps: BTreeMap<String, u64>,
    /// Seconds of work, over all resumptions.
    pub seconds: f64,
    /// Previously known documents that the run is to visit.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u64,
    /// Pages requested again that had no document before and have none now.
    #[serde(skip_serializing_if = "is_zero")]
    pub absent: u64,
    /// Visits by flag.
    pub flags: FlagTally,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Visits by flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlagTally {
    /// New documents.
    #[serde(rename = "NEW")]
    pub new: u64,
    /// Unchanged documents.
    #[serde(rename = "SAM")]
    pub same: u64,
    /// Updated documents.
    #[serde(rename = "UPD")]
    pub updated: u64,
    /// Documents that are gone.
    #[serde(rename = "MIS")]
    pub missing: u64,
    /// Documents that could not be fetched.
    #[serde(rename = "ERR")]
    pub error: u64,
}

/// The state of a project, or of all projects of a home.
pub fn status(home: &Home, project: Option<&str>) -> Result<Vec<ProjectStatus>> {
    let projects = match project {
        Some(name) => vec![home.find(name)?],
        None => home.list()?,
    };
    projects.iter().map(of).collect()
}

fn of(project: &ProjectDir) -> Result<ProjectStatus> {
    let running = ProjectLock::is_held(project);
    let blank = ProjectStatus {
        project: project.name.clone(),
        running,
        run: None,
        kind: None,
        state: None,
        started_at: None,
        finished_at: None,
        next_due: next_due(project),
        counters: RunCounters::default(),
    };
    let Some(last) = last_run(project)? else { return Ok(blank) };
    Ok(ProjectStatus {
        state: Some(state_of(&last, running).to_owned()),
        run: Some(last.id.0),
        kind: Some(last.kind.name().to_owned()),
        started_at: Some(last.started_at.to_string()),
        finished_at: last.finished_at.map(|m| m.to_string()),
        counters: serde_json::from_str(&last.counters).unwrap_or_default(),
        ..blank
    })
}

/// When its schedule is due; commands that need the settings report unreadable ones.
fn next_due(project: &ProjectDir) -> Option<String> {
    let settings = Settings::kept(project).ok().flatten()?;
    due(project, &settings, Moment::now()).ok()?.at.map(|at| at.to_string())
}

/// The run that is in progress or ended last; `None` if there was never one.
pub fn last_run(project: &ProjectDir) -> Result<Option<RunRecord>> {
    if project.is_empty() {
        return Ok(None);
    }
    Ok(CatalogueReader::open(project)?.runs()?.into_iter().next())
}

/// The state of a run: one marked as running while nobody uses the project was interrupted.
pub fn state_of(run: &RunRecord, running: bool) -> &'static str {
    if run.state == RunStatus::Running && !running { "interrupted" } else { run.state.name() }
}
