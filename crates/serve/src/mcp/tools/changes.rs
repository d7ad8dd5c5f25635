//! What changed?

use super::super::Assistant;
use super::super::budget::{USUAL, excerpt, fit};
use super::{ToolAnswer, id_of, read_id};
use crate::choice;
use crate::routes::Right;
use orb_answers::{DiffWish, ReportRow, VisitRow, cursor_since, show};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Lines around a difference.
const CONTEXT: usize = 3;

/// Changes after a cursor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeArguments {
    /// The project.
    project: String,
    /// Where to begin: a cursor (`next`), run:N for that run and later ones, or a moment such as
    /// 2026-11-15 [default: everything].
    since: Option<String>,
    /// Only changes with these flags: NEW, UPD, MIS, ERR.
    flags: Option<Vec<String>>,
    /// Changes at most [default: 50, at most 500].
    limit: Option<u32>,
}

/// A page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PageArguments {
    /// The page: project/number.
    id: String,
}

/// Two versions of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffArguments {
    /// The page: project/number.
    id: String,
    /// The run of the old version [default: the last that differs].
    from: Option<u32>,
    /// The run of the new version [default: the latest].
    to: Option<u32>,
    /// text (the default), main or source.
    by: Option<String>,
}

pub(super) fn changes(assistant: &Assistant<'_>, given: &ChangeArguments) -> ToolAnswer {
    let flags = choice::flags(given.flags.iter().flatten().map(String::as_str))?;
    let limit = given.limit.unwrap_or(50).clamp(1, 500);
    let page = assistant.ask((given.project.as_str(), Right::Read), |collection| {
        let after = cursor_since(collection, given.since.as_deref().unwrap_or("0"))?;
        orb_answers::changes(collection, after, &flags, limit)
    })?;
    let row = |row: &ReportRow| {
        json!({
            "seq": row.seq, "flag": row.flag, "id": id_of(&given.project, row.page.0), "url": row.url,
            "title": row.title, "detail": row.detail, "moved_to": row.moved_to, "run": row.run,
            "at": row.at.to_string(),
        })
    };
    let rows: Vec<Value> = page.changes.iter().map(row).collect();
    let mut answer = fit(json!({"changes": rows, "next": page.next}), "changes");
    if answer["truncated"] == true {
        // Whoever goes on must not miss what was cut.
        let last = answer["changes"].as_array().and_then(|rows| rows.last()?.get("seq").cloned());
        answer["next"] = last.unwrap_or(Value::Null);
    }
    Ok(answer)
}

pub(super) fn diff(assistant: &Assistant<'_>, given: &DiffArguments) -> ToolAnswer {
    let (project, page) = read_id(&given.id)?;
    let by = choice::choose("by", given.by.as_deref(), choice::DIFFS)?;
    assistant.ask((project, Right::Content), |collection| {
        let url = collection.numbered(page.0)?.url;
        let wish = DiffWish { url: &url, from: given.from, to: given.to, by, context: CONTEXT };
        orb_answers::diff(collection, wish, |diff| {
            let text = diff.unified(CONTEXT);
            let (text, rest) = excerpt(&text, 0, (usize::MAX, USUAL));
            json!({
                "url": diff.url, "by": diff.by, "from": diff.from, "to": diff.to, "counts": diff.counts,
                "diff": text, "note": diff.same(), "truncated": rest.is_some(),
            })
        })
    })
}

pub(super) fn versions(assistant: &Assistant<'_>, given: &PageArguments) -> ToolAnswer {
    let (project, page) = read_id(&given.id)?;
    let shown = assistant.ask((project, Right::Read), |collection| {
        let url = collection.numbered(page.0)?.url;
        show(collection, &url, 0)
    })?;
    let row = |visit: &VisitRow| {
        json!({
            "run": visit.run, "at": visit.at, "flag": visit.flag, "status": visit.status, "digest": visit.digest,
            "length": visit.length, "problem": visit.problem,
        })
    };
    let rows: Vec<Value> = shown.visits.iter().map(row).collect();
    Ok(fit(json!({"id": given.id, "url": shown.page.url, "versions": rows}), "versions"))
}
