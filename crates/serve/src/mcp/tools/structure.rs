//! How are pages connected, which matter, and what is wrong with them?

use super::super::Assistant;
use super::super::budget::fit;
use super::{ToolAnswer, id_of, read_id, value};
use crate::api::health::TIME;
use crate::choice;
use crate::problem::ProblemDetails;
use crate::routes::Right;
use orb_answers::{
    AnswerError, Collection, HealthPart, HealthWish, LinkFilter, LinkRow, RankedKind, Window, health_rows, links_in,
    links_out, links_since,
};
use orb_page::RunId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Links of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkArguments {
    /// The page: project/number.
    id: String,
    /// out (the default) for its links, in for the links to it.
    direction: Option<String>,
    /// Links at most [default: 50, at most 500].
    limit: Option<u64>,
    /// Only its links that are new, lost or changed since this run.
    since: Option<u32>,
}

/// A ranking.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TopArguments {
    /// The project.
    project: String,
    /// pagerank (the default), backlinks, hub, authority, harmonic or outdegree.
    by: Option<String>,
    /// Rows at most [default: 20, at most 200].
    limit: Option<u64>,
    /// Rank hosts instead of pages.
    #[serde(default)]
    hosts: bool,
}

/// Problems of pages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthArguments {
    /// The project.
    project: String,
    /// The kind of problem, such as broken_link; all are counted without one.
    kind: Option<String>,
    /// Rows at most [default: 50, at most 500].
    limit: Option<u64>,
}

/// The first rows of a list.
fn first(limit: Option<u64>, usual: u64, most: u64) -> Window {
    Window { limit: limit.unwrap_or(usual).clamp(1, most), offset: 0 }
}

pub(super) fn links(assistant: &Assistant<'_>, given: &LinkArguments) -> ToolAnswer {
    let (project, page) = read_id(&given.id)?;
    let is_in = choice::choose("direction", given.direction.as_deref(), &[("out", false), ("in", true)])?;
    let rows = first(given.limit, 50, 500);
    if let Some(since) = given.since {
        if is_in {
            return Err(ProblemDetails::malformed("since is for the links of a page, not for those to it"));
        }
        let changed = assistant.ask((project, Right::Read), |collection| changed(collection, (page.0, since), rows))?;
        return Ok(fit(json!({"id": given.id, "since": since, "links": changed}), "links"));
    }
    let (found, note) = assistant.ask((project, Right::Read), |collection| {
        let url = collection.numbered(page.0)?.url;
        if is_in {
            let found = links_in(collection, &url, rows)?;
            return Ok((found.links, found.note));
        }
        Ok::<_, AnswerError>((links_out(collection, &url, rows)?, None))
    })?;
    let row = |link: &LinkRow| {
        let other = if is_in { link.src } else { link.dst };
        json!({
            "id": id_of(project, other), "url": link.url, "anchor": link.anchor, "kind": link.kind,
            "count": link.count, "rel": link.rel, "first_run": link.first_run, "last_run": link.last_run,
        })
    };
    let rows: Vec<Value> = found.iter().map(row).collect();
    Ok(fit(json!({"id": given.id, "links": rows, "note": note}), "links"))
}

fn changed(collection: &Collection, (page, since): (u64, u32), rows: Window) -> Result<Vec<Value>, AnswerError> {
    let url = collection.numbered(page)?.url;
    let mut found = Vec::new();
    links_since(collection, (RunId(since), Some(&url)), LinkFilter::default(), rows, |row| {
        found.push(json!(row));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

pub(super) fn top(assistant: &Assistant<'_>, given: &TopArguments) -> ToolAnswer {
    let by = choice::choose("by", given.by.as_deref(), choice::BY)?;
    let kind = if given.hosts { RankedKind::Hosts } else { RankedKind::Pages };
    let rows = first(given.limit, 20, 200);
    let asked = |collection: &Collection| orb_answers::top(collection, by, kind, rows);
    let found = assistant.ask((given.project.as_str(), Right::Read), asked)?;
    let row = |row: &orb_answers::TopRow| {
        let id = (!given.hosts).then(|| id_of(&given.project, row.id));
        json!({
            "place": row.place, "id": id, "url": row.url, "title": row.title, "score": row.score,
            "indegree": row.merit.indegree, "outdegree": row.merit.outdegree,
        })
    };
    let rows: Vec<Value> = found.rows.iter().map(row).collect();
    Ok(fit(json!({"rows": rows, "note": found.note}), "rows"))
}

pub(super) fn health(assistant: &Assistant<'_>, given: &HealthArguments) -> ToolAnswer {
    let (project, wish) = ((given.project.as_str(), Right::Read), HealthWish { run: None, time: TIME });
    match (&given.kind, assistant.counting) {
        // Nobody else waits for a model that asks on the command line.
        (None, None) => value(&assistant.ask(project, |collection| orb_answers::health(collection, wish))?),
        (None, Some(counting)) => {
            value(&counting.health_here(assistant.shelf, &assistant.project(&given.project, Right::Read)?)?)
        }
        (Some(kind), _) => {
            let (kind, rows) = (choice::health_kind(kind)?, first(given.limit, 50, 500));
            let asked = |collection: &Collection| health_rows(collection, kind, HealthPart::All, wish, rows);
            Ok(fit(value(&assistant.ask(project, asked)?)?, "rows"))
        }
    }
}
