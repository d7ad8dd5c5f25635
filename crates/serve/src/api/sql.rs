//! What do the tables say?
//!
//! One read-only statement, with a limit on its time, its rows and its bytes; few run at once.

use crate::list::ListPage;
use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json, text_of, typed};
use crate::routes::{Right, RouteRow};
use crate::whole::whole;
use http::header::ACCEPT;
use orb_answers::{AnswerError, Collection, SqlQuery, TableNote, Window, cell_value, schema, sql};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::post("/api/v1/projects/{p}/sql", Right::Sql, |request| Box::pin(ask(request)), "Ask in SQL")
        .shaped(RouteShape::gives::<SqlRows>().takes::<SqlWish>().or(&["application/x-ndjson", "text/csv"])),
    RouteRow::get("/api/v1/projects/{p}/sql", Right::Sql, |request| Box::pin(tables(request)), "The tables there are")
        .shaped(RouteShape::gives::<ListPage<TableNote>>()),
];

/// The most rows, seconds and bytes of an answer.
const MOST_ROWS: u64 = 10_000;
const MOST_SECONDS: f64 = 10.0;
const MOST_BYTES: usize = 16 << 20;

/// A question in SQL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SqlWish {
    /// One statement that reads.
    #[schemars(length(min = 1))]
    query: String,
    /// Rows at most: 1,000 without a wish, never more than 10,000.
    #[serde(default, deserialize_with = "whole")]
    limit: Option<u64>,
    /// Seconds at most: 10 without a wish, never more.
    seconds: Option<f64>,
}

/// The rows of an SQL query.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SqlRows {
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows, each with a value for every column.
    pub(crate) rows: Vec<Vec<Value>>,
    /// Whether there are more.
    pub(crate) truncated: bool,
}

impl SqlRows {
    fn objects(&self) -> impl Iterator<Item = Map<String, Value>> {
        self.rows.iter().map(|row| self.columns.iter().cloned().zip(row.iter().cloned()).collect())
    }
}

/// Asks in SQL, for at most so many rows and bytes.
pub(crate) fn sql_rows(
    collection: &Collection,
    (query, time): (&str, Duration),
    (limit, bytes): (u64, usize),
) -> Result<SqlRows, AnswerError> {
    let found = RefCell::new((SqlRows::default(), 0));
    let rows = Window { limit: limit.saturating_add(1), offset: 0 };
    sql(
        collection,
        SqlQuery { text: query, time, rows },
        |names| found.borrow_mut().0.columns = names.iter().map(|name| (*name).to_owned()).collect(),
        |row| {
            let (found, taken) = &mut *found.borrow_mut();
            let values: Vec<Value> = row.iter().map(cell_value).collect();
            *taken += values.iter().map(|value| value.as_str().map_or(8, str::len)).sum::<usize>();
            if found.rows.len() as u64 >= limit || *taken > bytes {
                found.truncated = true;
                return ControlFlow::Break(());
            }
            found.rows.push(values);
            ControlFlow::Continue(())
        },
    )?;
    Ok(found.into_inner().0)
}

async fn ask(request: AdmittedRequest) -> Handled {
    let SqlWish { query, limit, seconds } = request.json()?;
    let limit = limit.unwrap_or(1_000).clamp(1, MOST_ROWS);
    let seconds = seconds.filter(|s| s.is_finite()).unwrap_or(MOST_SECONDS).clamp(0.01, MOST_SECONDS);
    let _turn = request.state.queries.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let time = Duration::from_secs_f64(seconds);
    let rows = request.ask(move |collection| sql_rows(collection, (&query, time), (limit, MOST_BYTES))).await?;
    let accept = text_of(&request.parts.headers, &ACCEPT);
    if accept.contains("application/x-ndjson") {
        let lines: String = rows.objects().map(|row| format!("{}\n", Value::Object(row))).collect();
        return Ok(typed("application/x-ndjson", lines));
    }
    if accept.contains("text/csv") {
        return Ok(typed("text/csv; charset=utf-8", csv(&rows)?));
    }
    json(&rows)
}

fn csv(rows: &SqlRows) -> Result<Vec<u8>, ProblemDetails> {
    let failed = |e: &dyn std::fmt::Display| ProblemDetails::failed(e);
    let mut out = csv::Writer::from_writer(Vec::new());
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if !rows.columns.is_empty() {
        out.write_record(&rows.columns).map_err(|e| failed(&e))?;
    }
    for row in &rows.rows {
        out.write_record(row.iter().map(text)).map_err(|e| failed(&e))?;
    }
    out.into_inner().map_err(|e| failed(&e))
}

async fn tables(request: AdmittedRequest) -> Handled {
    let tables = request.ask(schema).await?;
    ListPage { items: tables, next: None }.respond(&request)
}
