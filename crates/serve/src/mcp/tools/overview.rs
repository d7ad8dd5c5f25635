//! What is there, how is it, and what do the tables say?

use super::super::Assistant;
use super::super::budget::{USUAL as BYTES, fit};
use super::{ToolAnswer, value};
use crate::problem::ProblemDetails;
use crate::routes::Right;
use crate::tables::{MOST_TIME, TableQuestion};
use orb_answers::AnswerError;
use orb_crawl::why;
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// A project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectArguments {
    /// The project.
    project: String,
}

/// A question in SQL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SqlArguments {
    /// The project.
    project: String,
    /// One statement that reads.
    query: String,
    /// Rows at most [default: 100, at most 1000].
    limit: Option<u64>,
}

pub(super) fn projects(assistant: &Assistant<'_>, _: &NoArguments) -> ToolAnswer {
    let row = |project: &ProjectDir| match orb_answers::status_of(project) {
        Ok(state) => json!({
            "project": project.name, "running": state.running, "last_run": state.run, "state": state.state,
            "started_at": state.started_at, "finished_at": state.finished_at, "next_due": state.next_due,
            "pages": state.counters.pages, "queued": state.counters.frontier, "errors": state.counters.errors,
        }),
        // The others can be asked nevertheless.
        Err(error) => json!({"project": project.name, "problem": ProblemDetails::from(error).detail}),
    };
    let rows: Vec<Value> = assistant.projects()?.iter().map(row).collect();
    Ok(fit(json!({"projects": rows}), "projects"))
}

pub(super) fn status(assistant: &Assistant<'_>, given: &ProjectArguments) -> ToolAnswer {
    let project = assistant.project(&given.project, Right::Read)?;
    let mut told = value(&orb_answers::status_of(&project)?)?;
    // A project that was never crawled, or whose run wrote nothing down, has no more to tell.
    match why(&project) {
        Ok(account) => {
            told["pages_per_second"] = json!(account.pages_per_second);
            told["eta_seconds"] = json!(account.eta_seconds);
            told["pause"] = json!(account.pause);
            told["waiting"] = value(&account.waiting)?;
            told["advice"] = account.advice.iter().map(|advice| advice.text.clone()).collect();
        }
        Err(AnswerError::NotBuilt(_) | AnswerError::Unknown(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(fit(told, "waiting"))
}

pub(super) fn sql(assistant: &Assistant<'_>, given: &SqlArguments) -> ToolAnswer {
    let limit = given.limit.unwrap_or(100).clamp(1, 1_000);
    let question = TableQuestion { query: given.query.clone(), time: MOST_TIME, rows: limit, bytes: BYTES };
    let rows = assistant.ask((given.project.as_str(), Right::Sql), |collection| question.ask(collection))?;
    Ok(fit(value(&rows)?, "rows"))
}
