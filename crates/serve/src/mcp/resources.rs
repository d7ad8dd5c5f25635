//! What can a model read by name?

use super::budget::{MOST, excerpt, fit};
use super::{Assistant, tools};
use crate::api::runs::report_page;
use crate::problem::ProblemDetails;
use crate::routes::Right;
use orb_answers::{ContentExtent, ContentForm, ReportWish, content, schema};
use serde_json::{Value, json};

/// Changes of a report that are listed.
const CHANGES: u64 = 200;

/// The resources that can be listed; pages and runs are too many.
pub(super) fn list(assistant: &Assistant<'_>) -> Result<Value, ProblemDetails> {
    let projects = assistant.projects()?.into_iter().filter(|project| assistant.may(Right::Sql, &project.name));
    let row = |name: String| {
        json!({
            "uri": format!("orb://{name}/schema"),
            "name": format!("{name} schema"),
            "description": format!("The tables and columns of {name}, for the tool sql"),
            "mimeType": "application/json",
        })
    };
    Ok(json!({"resources": projects.map(|project| row(project.name)).collect::<Vec<_>>()}))
}

/// The kinds of resources.
pub(super) fn templates() -> Value {
    json!([
        {"uriTemplate": "orb://{project}/pages/{id}", "name": "page", "mimeType": "text/markdown",
         "description": "The main content of a page as Markdown, as it was last fetched"},
        {"uriTemplate": "orb://{project}/runs/{n}/report", "name": "report", "mimeType": "application/json",
         "description": "What a run found new, updated, missing"},
        {"uriTemplate": "orb://{project}/schema", "name": "schema", "mimeType": "application/json",
         "description": "The tables and columns that the tool sql can ask"},
    ])
}

/// The resource of this name.
pub(super) fn read(assistant: &Assistant<'_>, uri: &str) -> Result<Value, ProblemDetails> {
    let unknown = || ProblemDetails::not_found(format!("there is no resource {uri}"));
    let parts: Vec<&str> = uri.strip_prefix("orb://").ok_or_else(unknown)?.split('/').collect();
    let number = |text: &str| text.parse::<u32>().map_err(|_| unknown());
    let (kind, text) = match parts[..] {
        [project, "schema"] => {
            let tables = assistant.ask((project, Right::Sql), schema)?;
            ("application/json", json!(tables).to_string())
        }
        [project, "pages", page] => {
            let page = page.parse().map_err(|_| unknown())?;
            let read = assistant.ask((project, Right::Content), |collection| {
                let url = collection.numbered(page)?.url;
                content(collection, &url, None)?.content(ContentForm::Markdown, ContentExtent::Main)
            })?;
            let (part, rest) = excerpt(&read.content, 0, (usize::MAX, MOST));
            let more = rest.map_or(String::new(), |next| format!("\n\n[cut here; fetch goes on at start {next}]\n"));
            ("text/markdown", format!("{part}{more}"))
        }
        [project, "runs", run, "report"] => {
            let wish = ReportWish { run: Some(number(run)?), limit: Some(CHANGES), ..ReportWish::default() };
            let report = assistant.ask((project, Right::Read), |collection| report_page(collection, &wish))?;
            ("application/json", fit(tools::value(&report)?, "changes").to_string())
        }
        _ => return Err(unknown()),
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]}))
}
