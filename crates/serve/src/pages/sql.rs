//! What do the tables say?

use crate::problem::{Handled, ProblemDetails};
use crate::queries::{self, SavedQuery};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::sheet::csv_line;
use crate::view::Frame;
use askama::Template;
use orb_answers::{AnswerError, Collection, SqlQuery, TableNote, Window, cell_text, cell_value, schema, sql};
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::sync::Semaphore;

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

/// Limits of a query: its time, its rows on a screen and as CSV, and the characters of a cell.
const TIME: Duration = Duration::from_secs(10);
const ROWS: u64 = 500;
const ROWS_OF_CSV: u64 = 10_000;
const CELL: usize = 2_000;

/// How many are answered at once, so that others get answers meanwhile.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

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
    #[serde(skip)]
    shown: Vec<Vec<String>>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let asked = fields.one("q").unwrap_or_default().to_owned();
    let as_csv = fields.one("as") == Some("csv");
    let limit = if as_csv || request.wants_json() { ROWS_OF_CSV } else { ROWS };
    let (mut found, mut refused) = (None, None);
    if !asked.is_empty() {
        let _turn = AT_ONCE.try_acquire().map_err(|_| ProblemDetails::busy("two queries are running; try again"))?;
        let text = asked.clone();
        match request.ask(move |collection| Ok::<_, AnswerError>(ask(collection, &text, limit))).await? {
            Ok(answer) => found = Some(answer),
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

fn ask(collection: &Collection, text: &str, limit: u64) -> Result<SqlAnswer, AnswerError> {
    let query = SqlQuery { text, time: TIME, rows: Window { limit, offset: 0 } };
    let (mut columns, mut rows, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    let end = sql(
        collection,
        query,
        |names| columns = names.iter().map(|&name| name.to_owned()).collect(),
        |row| {
            rows.push(row.iter().map(cell_value).collect());
            shown.push(row.iter().map(|cell| orb_answers::clip(&cell_text(cell), CELL)).collect());
            ControlFlow::Continue(())
        },
    )?;
    Ok(SqlAnswer { columns, rows, more: end.more, shown })
}

/// The rows as CSV.
fn csv(found: &SqlAnswer) -> String {
    let value = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rows = found.rows.iter().map(|row| csv_line(row.iter().map(value)));
    [csv_line(&found.columns)].into_iter().chain(rows).collect()
}
