//! Which pages should be visited next?
//!
//! It leaves something behind, so it takes the right to run the project; and it takes pages of the
//! collection alone, by number: a page that tells a model to call for some address elsewhere gets
//! nowhere.

use super::super::Assistant;
use super::{ToolAnswer, read_id, value};
use crate::problem::ProblemDetails;
use crate::routes::Right;
use orb_answers::{Collection, is_shared_copy};
use orb_project::{CallAccount, call_for};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Pages of one call at most.
const MOST: usize = 100;

/// Pages to be visited.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VisitArguments {
    /// The pages: project/number, at most 100.
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<String>,
}

pub(super) fn visit(assistant: &Assistant<'_>, given: &VisitArguments) -> ToolAnswer {
    if given.ids.len() > MOST {
        return Err(ProblemDetails::malformed(format!("name at most {MOST} pages")));
    }
    let mut wanted: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for id in &given.ids {
        let (project, page) = read_id(id)?;
        let url = assistant.ask((project, Right::Run), |collection: &Collection| collection.numbered(page.0))?.url;
        wanted.entry(project).or_default().push(url);
    }
    let source = assistant.identity.map_or("mcp".to_owned(), |identity| format!("mcp: {}", identity.user.name));
    let calls = wanted.into_iter().map(|(name, urls)| {
        let project = assistant.project(name, Right::Run)?;
        if is_shared_copy(&project) {
            let why = format!("project {name} is on a shared store, where nobody looks for calls");
            return Err(ProblemDetails::conflict("shared", why));
        }
        Ok::<CallAccount, ProblemDetails>(call_for(&project, &urls, &source)?)
    });
    value(&calls.collect::<Result<Vec<_>, _>>()?)
}
