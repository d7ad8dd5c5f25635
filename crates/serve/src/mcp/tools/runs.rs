//! How does a model start, stop and acknowledge runs?
//!
//! These tools act, so they take the right to run the project, and on the command line a flag. What
//! a run visits is what its project's settings say: no tool takes an address.

use super::super::Assistant;
use super::{ToolAnswer, value};
use crate::launch::{LaunchKind, LaunchState, RunWish, begun};
use crate::problem::ProblemDetails;
use crate::routes::Right;
use orb_answers::last_run;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// A run to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArguments {
    /// The project.
    project: String,
    /// crawl: collect what is in scope and not collected yet; track: visit known pages again and
    /// report what changed.
    kind: LaunchKind,
    /// With track: only the pages that are due under the project's budget.
    #[serde(default)]
    due: bool,
    /// With track: so many of the known pages, the most worthwhile first.
    budget: Option<u64>,
}

/// A project whose run is to end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StopArguments {
    /// The project.
    project: String,
}

/// A run whose changes were looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AckArguments {
    /// The project.
    project: String,
    /// The run; with it, all before it [default: the last].
    run: Option<u32>,
    /// A note.
    note: Option<String>,
}

pub(super) fn run(assistant: &Assistant<'_>, given: &RunArguments) -> ToolAnswer {
    let project = assistant.project(&given.project, Right::Run)?;
    let wish = RunWish { kind: given.kind, due: given.due, budget: given.budget };
    let launched = assistant.launcher.start(assistant.home, &project, &wish, assistant.who().into())?;
    let (state, run) = match begun(&launched)? {
        LaunchState::Starting => ("starting", None),
        LaunchState::Running(run) => ("running", Some(run)),
        LaunchState::Ended(record) => ("ended", record.run),
    };
    Ok(json!({"project": project.name, "kind": wish.kind.name(), "run": run, "state": state}))
}

pub(super) fn stop(assistant: &Assistant<'_>, given: &StopArguments) -> ToolAnswer {
    let project = assistant.project(&given.project, Right::Run)?;
    let never = || ProblemDetails::conflict("ended", format!("project {} does not run", project.name));
    let run = last_run(&project)?.ok_or_else(never)?.id.0;
    assistant.launcher.end(assistant.home, &project, run, assistant.who())?;
    Ok(json!({"project": project.name, "run": run, "state": "stopping"}))
}

pub(super) fn acknowledge(assistant: &Assistant<'_>, given: &AckArguments) -> ToolAnswer {
    let (project, by) = (assistant.project(&given.project, Right::Run)?, assistant.who());
    let row = assistant.launcher.acknowledge(assistant.home, &project, given.run, (by, given.note.as_deref()))?;
    value(&row)
}
