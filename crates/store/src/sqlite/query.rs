//! How can users query anything without being able to break anything?
//!
//! A query runs on its own read-only connection, may only select (an authorizer refuses the rest),
//! is interrupted when its time is up and returns its rows one by one.

use super::CatalogueReader;
use super::reader::connect;
use crate::error::{Result, StoreError};
use rusqlite::ffi::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A value of a row, valid while the row is processed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text; bytes that are not UTF-8 come as [`Cell::Blob`].
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

/// The limits of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Maximum running time.
    pub time: Duration,
    /// Maximum number of rows.
    pub rows: u64,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), rows: u64::MAX }
    }
}

/// How a query ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryEnd {
    /// Number of rows returned.
    pub rows: u64,
    /// Whether there were more than the limit.
    pub more: bool,
}

impl CatalogueReader {
    /// Runs one `SELECT`: `names` gets the column names, then `each` every row, until it breaks off
    /// or a limit is reached.
    pub fn sql(
        &self,
        query: &str,
        limits: QueryLimits,
        names: impl FnOnce(&[&str]),
        mut each: impl FnMut(&[Cell<'_>]) -> ControlFlow<()>,
    ) -> Result<QueryEnd> {
        let mut db = connect(&self.path)?;
        restrict(&mut db, limits.time).map_err(self.fail("prepare a query"))?;
        let told = |e: Error| explain(&e, limits.time);
        let mut statement = db.prepare(query).map_err(told)?;
        if statement.parameter_count() > 0 {
            return Err(StoreError::Query("the query has placeholders, and nothing to put into them".to_owned()));
        }
        if !statement.readonly() {
            return Err(StoreError::Query("the query would write, and the catalogue is only read here".to_owned()));
        }
        names(&statement.column_names().collect::<Vec<_>>());
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(told)?;
        let mut given = 0;
        while let Some(row) = rows.next().map_err(told)? {
            if given == limits.rows {
                return Ok(QueryEnd { rows: given, more: true });
            }
            let cells: Vec<Cell<'_>> =
                (0..columns).map(|i| row.get_ref(i).map(cell)).collect::<rusqlite::Result<_>>().map_err(told)?;
            given += 1;
            if each(&cells).is_break() {
                return Ok(QueryEnd { rows: given, more: false });
            }
        }
        Ok(QueryEnd { rows: given, more: false })
    }
}

pub(super) fn restrict(db: &mut Connection, time: Duration) -> rusqlite::Result<()> {
    let end = Instant::now().checked_add(time);
    db.progress_handler(10_000, Some(move || end.is_some_and(|end| Instant::now() >= end)))?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, 64 << 20)?;
    db.authorizer(Some(authorize))
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        AuthAction::Pragma { pragma_name: "table_info" | "table_xinfo" | "table_list" | "index_list", .. } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

pub(super) fn cell(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(n) => Cell::Integer(n),
        ValueRef::Real(x) => Cell::Real(x),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_or(Cell::Blob(bytes), Cell::Text),
        ValueRef::Blob(bytes) => Cell::Blob(bytes),
    }
}

/// Whether a query was stopped because its time was up.
pub(super) fn is_interrupted(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// The error of a user's query, in one line.
pub(super) fn explain(error: &Error, time: Duration) -> StoreError {
    let text = match error {
        Error::MultipleStatement => "give one statement only".to_owned(),
        e if is_interrupted(e) => {
            format!("the query was stopped after {time:?} (--timeout raises the limit)")
        }
        e if e.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) => {
            "only SELECT is allowed: the catalogue is read, never written, here".to_owned()
        }
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        e => e.to_string(),
    };
    match text.as_str() {
        "no such table: rank" | "no such table: host_rank" => {
            StoreError::Query(format!("{text}; orb graph build makes it"))
        }
        _ => StoreError::Query(text),
    }
}
