//! Which tools are there?
//!
//! One table. To add a tool: a function in one of the files here that takes its arguments as a type
//! with `Deserialize` and `JsonSchema`, and a row of the table.

mod changes;
mod overview;
mod pages;
mod runs;
mod structure;
mod visit;

use super::Assistant;
use crate::problem::ProblemDetails;
use orb_page::PageId;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a tool answers.
pub(super) type ToolAnswer = Result<Value, ProblemDetails>;

/// A tool.
struct ToolRow {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    schema: fn() -> Value,
    /// Whether it leaves something behind.
    is_lasting: bool,
    call: fn(&Assistant<'_>, &Value) -> ToolAnswer,
}

const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: "projects",
        title: "Projects",
        about: "The collections there are: what each holds, when it was last crawled, whether it runs now.",
        schema: arguments::<overview::NoArguments>,
        is_lasting: false,
        call: |assistant, given| overview::projects(assistant, &read(given)?),
    },
    ToolRow {
        name: "search",
        title: "Search",
        about: "Finds pages by their text, best first. Understands \"phrases\", -not, site:, title:, lang:, filetype:. \
                Without a project all are searched. Use fetch with the id of a result to read it.",
        schema: arguments::<pages::SearchArguments>,
        is_lasting: false,
        call: |assistant, given| pages::search(assistant, &read(given)?),
    },
    ToolRow {
        name: "fetch",
        title: "Read a page",
        about: "The text of a collected page, as it was last fetched or as a run saw it. Nothing is requested from the \
                web. Long pages come in parts: pass next_start as start.",
        schema: arguments::<pages::FetchArguments>,
        is_lasting: false,
        call: |assistant, given| pages::fetch(assistant, &read(given)?),
    },
    ToolRow {
        name: "changes",
        title: "Changes",
        about: "What runs found new (NEW), updated (UPD), missing (MIS) or failing (ERR), oldest first. Pass next as \
                since to go on.",
        schema: arguments::<changes::ChangeArguments>,
        is_lasting: false,
        call: |assistant, given| changes::changes(assistant, &read(given)?),
    },
    ToolRow {
        name: "diff",
        title: "Difference",
        about: "What differs between two versions of a page, as a unified diff; by default the last two that differ.",
        schema: arguments::<changes::DiffArguments>,
        is_lasting: false,
        call: |assistant, given| changes::diff(assistant, &read(given)?),
    },
    ToolRow {
        name: "versions",
        title: "Versions",
        about: "What each run saw of a page, latest first.",
        schema: arguments::<changes::PageArguments>,
        is_lasting: false,
        call: |assistant, given| changes::versions(assistant, &read(given)?),
    },
    ToolRow {
        name: "links",
        title: "Links",
        about: "The links of a page, or those to it, with their anchor texts; with since, those that are new, lost or \
                changed since a run.",
        schema: arguments::<structure::LinkArguments>,
        is_lasting: false,
        call: |assistant, given| structure::links(assistant, &read(given)?),
    },
    ToolRow {
        name: "top",
        title: "Most important pages",
        about: "The pages or hosts that matter most by PageRank or another measure of the link graph.",
        schema: arguments::<structure::TopArguments>,
        is_lasting: false,
        call: |assistant, given| structure::top(assistant, &read(given)?),
    },
    ToolRow {
        name: "health",
        title: "Health",
        about: "What is wrong with a site: without a kind, how many problems of each kind; with one, the problems.",
        schema: arguments::<structure::HealthArguments>,
        is_lasting: false,
        call: |assistant, given| structure::health(assistant, &read(given)?),
    },
    ToolRow {
        name: "sql",
        title: "SQL",
        about: "One read-only SQLite statement over the tables page, visit, link, change, run, host and others; the \
                resource orb://{project}/schema describes them.",
        schema: arguments::<overview::SqlArguments>,
        is_lasting: false,
        call: |assistant, given| overview::sql(assistant, &read(given)?),
    },
    ToolRow {
        name: "status",
        title: "Status",
        about: "Whether a project runs, how far it is, why it is as fast as it is and what would help.",
        schema: arguments::<overview::ProjectArguments>,
        is_lasting: false,
        call: |assistant, given| overview::status(assistant, &read(given)?),
    },
    ToolRow {
        name: "visit",
        title: "Visit again",
        about: "Has pages of a collection visited by its next run, before all others. Needs the right to run it.",
        schema: arguments::<visit::VisitArguments>,
        is_lasting: true,
        call: |assistant, given| visit::visit(assistant, &read(given)?),
    },
    ToolRow {
        name: "run",
        title: "Start a run",
        about: "Starts a crawl, or a track that looks for changes, of a project as its settings say. Returns when it has \
                begun; the tool status says how it goes on. Needs the right to run the project.",
        schema: arguments::<runs::RunArguments>,
        is_lasting: true,
        call: |assistant, given| runs::run(assistant, &read(given)?),
    },
    ToolRow {
        name: "stop",
        title: "Stop a run",
        about: "Asks the run of a project to end with everything saved; the next run resumes it. Needs the right to run \
                the project.",
        schema: arguments::<runs::StopArguments>,
        is_lasting: true,
        call: |assistant, given| runs::stop(assistant, &read(given)?),
    },
    ToolRow {
        name: "acknowledge",
        title: "Acknowledge a run",
        about: "Records that the changes of a run, and of all before it, were looked at. A project that waits for that \
                goes on. Needs the right to run the project.",
        schema: arguments::<runs::AckArguments>,
        is_lasting: true,
        call: |assistant, given| runs::acknowledge(assistant, &read(given)?),
    },
];

/// The tools, as the protocol lists them; those that act only for whoever may.
pub(super) fn list(acts: bool) -> Vec<Value> {
    let row = |tool: &ToolRow| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.about,
            "inputSchema": (tool.schema)(),
            "annotations": {
                "title": tool.title, "readOnlyHint": !tool.is_lasting, "destructiveHint": false,
                "idempotentHint": tool.name != "run", "openWorldHint": false,
            },
        })
    };
    TOOLS.iter().filter(|tool| acts || !tool.is_lasting).map(row).collect()
}

/// What a tool answers; `None` if there is none of this name.
pub(super) fn call(assistant: &Assistant<'_>, name: &str, given: &Value) -> Option<ToolAnswer> {
    TOOLS.iter().find(|tool| tool.name == name).map(|tool| (tool.call)(assistant, given))
}

/// The schema of a tool's arguments, with nothing to look up elsewhere.
fn arguments<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.for_deserialize().into_generator().into_root_schema_for::<T>());
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
        members.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

fn read<T: DeserializeOwned>(given: &Value) -> Result<T, ProblemDetails> {
    let given = if given.is_null() { json!({}) } else { given.clone() };
    serde_json::from_value(given).map_err(ProblemDetails::malformed)
}

/// An answer as JSON.
pub(super) fn value(answer: &impl Serialize) -> ToolAnswer {
    serde_json::to_value(answer).map_err(|e| ProblemDetails::failed(&e))
}

/// How a page is named: project and number.
fn id_of(project: &str, page: u64) -> String {
    format!("{project}/{page}")
}

/// The project and number of a page.
fn read_id(id: &str) -> Result<(&str, PageId), ProblemDetails> {
    let parts = id.rsplit_once('/').and_then(|(project, page)| Some((project, PageId(page.parse().ok()?))));
    parts.ok_or_else(|| ProblemDetails::malformed(format!("'{id}' is not the id of a page; it is like project/12")))
}
