//! What do the tables say?
//!
//! One read-only statement, with a limit on its time, its rows and its bytes; few run at once.

use crate::accepted::preferred;
use crate::list::{FORMS, ListPage};
use crate::openapi::RouteShape;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json, typed};
use crate::routes::{Right, RouteRow};
use crate::sheet::{cell_of, csv_line};
use crate::tables::{MOST_BYTES, MOST_ROWS, MOST_TIME, SqlRows, TableQuestion, ask_tables};
use crate::whole::whole;
use orb_answers::{TableNote, schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::post("/api/v1/projects/{p}/sql", Right::Sql, |request| Box::pin(ask(request)), "Ask in SQL")
        .shaped(RouteShape::gives::<SqlRows>().takes::<SqlWish>().or(&["application/x-ndjson", "text/csv"])),
    RouteRow::get("/api/v1/projects/{p}/sql", Right::Sql, |request| Box::pin(tables(request)), "The tables there are")
        .shaped(RouteShape::gives::<ListPage<TableNote>>()),
];

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

async fn ask(request: AdmittedRequest) -> Handled {
    let SqlWish { query, limit, seconds } = request.json()?;
    let rows = limit.unwrap_or(1_000).clamp(1, MOST_ROWS);
    let seconds = seconds.filter(|s| s.is_finite()).map(|s| s.clamp(0.01, MOST_TIME.as_secs_f64()));
    let time = seconds.map_or(MOST_TIME, Duration::from_secs_f64);
    let rows = ask_tables(&request, TableQuestion { query, time, rows, bytes: MOST_BYTES }).await??;
    match preferred(&request.parts.headers, FORMS) {
        "application/x-ndjson" => {
            let lines: String = rows.objects().map(|row| format!("{}\n", Value::Object(row))).collect();
            Ok(typed("application/x-ndjson", lines))
        }
        "text/csv" => Ok(typed("text/csv; charset=utf-8", csv(&rows))),
        _ => json(&rows),
    }
}

fn csv(rows: &SqlRows) -> String {
    let head = (!rows.columns.is_empty()).then(|| csv_line(&rows.columns));
    head.into_iter().chain(rows.rows.iter().map(|row| csv_line(row.iter().map(cell_of)))).collect()
}

async fn tables(request: AdmittedRequest) -> Handled {
    let tables = request.ask(schema).await?;
    ListPage { items: tables, next: None }.respond(&request)
}
