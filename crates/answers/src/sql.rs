//! What do the tables say?
//!
//! Users may run any read-only query on the catalogue: one statement, on a connection that cannot
//! write, with a time limit. Rows may be many and are streamed.

use crate::{AnswerError, Collection, Result, Window};
use orb_store::{Cell, QueryCaller, QueryEnd, QueryLimits, StoreError, TableNote};
use serde_json::Value;
use std::ops::ControlFlow;
use std::time::Duration;

/// An SQL query.
#[derive(Clone, Copy, Debug)]
pub struct SqlQuery<'a> {
    /// One read-only statement.
    pub text: &'a str,
    /// Maximum running time.
    pub time: Duration,
    /// Who asks.
    pub caller: QueryCaller,
    /// Which of its rows are wanted.
    pub rows: Window,
}

/// Runs an SQL query: `names` gets the column names, then `each` every wanted row, until it breaks
/// off.
pub fn sql(
    collection: &Collection,
    query: SqlQuery<'_>,
    names: impl FnOnce(&[&str]),
    mut each: impl FnMut(&[Cell<'_>]) -> ControlFlow<()>,
) -> Result<QueryEnd> {
    let limits = QueryLimits {
        time: query.time,
        rows: query.rows.limit.saturating_add(query.rows.offset),
        caller: query.caller,
    };
    let mut skip = query.rows.offset;
    let given = collection.catalogue().sql(query.text, limits, names, |row| {
        if skip > 0 {
            skip -= 1;
            return ControlFlow::Continue(());
        }
        each(row)
    });
    given.map_err(refused)
}

/// Why a query was not answered.
pub(crate) fn refused(error: StoreError) -> AnswerError {
    match error {
        StoreError::Query(why) => AnswerError::Refused(why),
        other => other.into(),
    }
}

/// The available tables and columns.
pub fn schema(collection: &Collection) -> Result<Vec<TableNote>> {
    Ok(collection.catalogue().schema()?)
}

/// A cell as JSON; bytes are in hexadecimal.
pub fn cell_value(cell: &Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(n) => Value::from(*n),
        Cell::Real(x) => Value::from(*x),
        Cell::Text(_) | Cell::Blob(_) => Value::from(cell_text(cell)),
    }
}

/// A cell as text; bytes are in hexadecimal.
pub fn cell_text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(n) => n.to_string(),
        Cell::Real(x) => x.to_string(),
        Cell::Text(t) => (*t).to_owned(),
        Cell::Blob(b) => b.iter().map(|x| format!("{x:02x}")).collect(),
    }
}
