//! What do the tables say?

use crate::problem::Handled;
use crate::queries::{self, SavedQuery};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::sheet::{cell_of, csv_line};
use crate::tables::{MOST_BYTES, MOST_ROWS, MOST_TIME, SqlRows, TableQuestion, ask_tables};
use crate::view::Frame;
use askama::Template;
use orb_answers::{AnswerError, TableNote, clip, schema};
use serde::Serialize;
use serde_json::Value;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/sql", Right::Sql, |request| Box::pin(show(request)), "Ask the tables in SQL"),
    RouteRow::post("/p/{p}/sql/saved", Right::Edit, |request| Box::pin(keep(request)), "Keep a query under a name"),
    RouteRow::post(
        "/p/{p}/sql/saved/remove",
        Right::Edit,
        |request| Box::pin(remove(request)),
        "Remove a query that was kept",
    ),
];

/// The rows and bytes of an answer on a screen, and the characters of a cell.
const ROWS: u64 = 500;
const BYTES: usize = 4 << 20;
const CELL: usize = 2_000;

#[derive(Template)]
#[template(path = "sql.html")]
struct SqlPage<'a> {
    frame: Frame,
    p: &'a str,
    asked: &'a str,
    refused: Option<&'a str>,
    found: Option<&'a SqlAnswer>,
    csv: String,
    tables: &'a [TableNote],
    saved: Vec<QueryLine>,
    may_edit: bool,
}

/// A query that was kept.
struct QueryLine {
    name: String,
    path: String,
    by: String,
}

/// What a query returned.
#[derive(Serialize)]
struct SqlAnswer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Whether there are more rows.
    more: bool,
}

impl SqlAnswer {
    /// A row as it is shown.
    fn shown(&self, row: &[Value]) -> Vec<String> {
        row.iter().map(|value| clip(&cell_of(value), CELL)).collect()
    }
}

async fn show(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let asked = fields.one("q").unwrap_or_default().to_owned();
    let as_csv = fields.one("as") == Some("csv");
    let (rows, bytes) = if as_csv || request.wants_json() { (MOST_ROWS, MOST_BYTES) } else { (ROWS, BYTES) };
    let (mut found, mut refused) = (None, None);
    if !asked.is_empty() {
        let question = TableQuestion { query: asked.clone(), time: MOST_TIME, rows, bytes };
        match ask_tables(&request, question).await? {
            Ok(rows) => found = Some(answered(rows)),
            Err(AnswerError::Refused(why)) if !as_csv && !request.wants_json() => refused = Some(why),
            Err(e) => return Err(e.into()),
        }
    }
    if let (true, Some(found)) = (as_csv, &found) {
        return Ok(typed("text/csv; charset=utf-8", csv(found)));
    }
    let tables = request.ask(schema).await?;
    let project = request.project()?.clone();
    let saved = request.work(move |_| queries::saved(&project)).await?;
    let line = |query: SavedQuery| QueryLine {
        path: request.here_with(&[("q", Some(&query.query)), ("as", None)]),
        name: query.name,
        by: query.by,
    };
    let page = SqlPage {
        frame: request.frame(),
        p: &request.project()?.name,
        asked: &asked,
        refused: refused.as_deref(),
        found: found.as_ref(),
        csv: request.here_with(&[("as", Some("csv"))]),
        tables: &tables,
        saved: saved.into_iter().map(line).collect(),
        may_edit: request.may(Right::Edit),
    };
    match &found {
        Some(found) => request.page(&page, found),
        None => request.page(&page, &tables),
    }
}

async fn keep(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (name, query) = (form.needed("name")?.to_owned(), form.needed("q")?.to_owned());
    let by = request.user()?.name.clone();
    let (project, wanted) = (request.project()?.clone(), SavedQuery { name, query: query.clone(), by });
    request.work(move |_| queries::keep(&project, wanted)).await?;
    let asked: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    AdmittedRequest::redirect(&format!("/p/{}/sql?q={asked}", request.project()?.name))
}

async fn remove(request: AdmittedRequest) -> Handled {
    let name = request.form()?.needed("name")?.to_owned();
    let project = request.project()?.clone();
    request.work(move |_| queries::remove(&project, &name)).await?;
    AdmittedRequest::redirect(&format!("/p/{}/sql", request.project()?.name))
}

/// The answer as it is shown, and as programs read it.
fn answered(SqlRows { columns, rows, truncated }: SqlRows) -> SqlAnswer {
    SqlAnswer { columns, rows, more: truncated }
}

/// The rows as CSV.
fn csv(found: &SqlAnswer) -> String {
    let rows = found.rows.iter().map(|row| csv_line(row.iter().map(cell_of)));
    [csv_line(&found.columns)].into_iter().chain(rows).collect()
}
