//! How can users query anything without being able to break anything?
//!
//! A query runs on its own read-only connection, may only select (an authorizer refuses the rest),
//! is interrupted when its time is up and returns its rows one by one.
//!
//! SQLite asks whether to go on between two steps of its program, never within a function. So a
//! query that may come from anybody is kept from taking long in one step: what a step may do grows
//! with the values, the patterns and the functions of the query, and all of them are limited
//! ([`QueryCaller::Stranger`]; sqlite.org/security.html names the limits).

use super::CatalogueReader;
use super::reader::connect;
use crate::error::{Result, StoreError};
use rusqlite::ffi::ErrorCode;
use rusqlite::functions::FunctionFlags;
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

/// Who asks, and so how much of SQL there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryCaller {
    /// Whoever owns the files, and can stop the program.
    #[default]
    Owner,
    /// Whoever reaches a server.
    Stranger,
}

/// The limits of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Maximum running time.
    pub time: Duration,
    /// Maximum number of rows.
    pub rows: u64,
    /// Who asks.
    pub caller: QueryCaller,
}

/// The longest value that the owner's queries may make.
const LONGEST_VALUE: i32 = 64 << 20;

/// Limits of SQLite for queries of strangers. A search within a value of 256 kB takes less than a
/// second at the worst.
const STRANGER_LIMITS: [(Limit, i32); 6] = [
    (Limit::SQLITE_LIMIT_LENGTH, 256 << 10),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 20_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_COLUMN, 500),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_VDBE_OP, 50_000),
];

/// Functions that may take time by the product of the lengths of two values.
const SLOW_FUNCTIONS: [&str; 4] = ["instr", "replace", "like", "glob"];

/// How often a stranger's query may name one of them: as many calls may come between two looks at
/// the clock.
const SLOW_CALLS: u32 = 8;

/// Functions that strangers do not have: in one step they take minutes over 256 kB, or fill the
/// memory.
const DENIED_FUNCTIONS: [&str; 4] = ["unhex", "json_patch", "jsonb_patch", "load_extension"];

/// The most characters that `trim(text, characters)` looks for on behalf of a stranger.
const TRIMMED: usize = 100;

/// The steps of a program between two looks at the clock. A look takes as long as a step or two.
const OWNER_STEPS: i32 = 10_000;
const STRANGER_STEPS: i32 = 10;

impl Default for QueryLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), rows: u64::MAX, caller: QueryCaller::Owner }
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
        restrict(&mut db, limits.time, limits.caller).map_err(self.fail("prepare a query"))?;
        let told = |e: Error| explain(&e, limits.time);
        let mut statement = db.prepare(query).map_err(told)?;
        if statement.column_count() == 0 {
            return Err(StoreError::Query("there is no SELECT in it".to_owned()));
        }
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

/// Lets a connection read only, for so long, and nobody do more than they may.
pub(super) fn restrict(db: &mut Connection, time: Duration, caller: QueryCaller) -> rusqlite::Result<()> {
    let end = Instant::now().checked_add(time);
    let is_over = move || end.is_some_and(|end| Instant::now() >= end);
    match caller {
        QueryCaller::Owner => {
            db.progress_handler(OWNER_STEPS, Some(is_over))?;
            db.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
            db.authorizer(Some(authorize))
        }
        QueryCaller::Stranger => {
            db.progress_handler(STRANGER_STEPS, Some(is_over))?;
            STRANGER_LIMITS.into_iter().try_for_each(|(limit, most)| db.set_limit(limit, most).map(drop))?;
            trim_little(db)?;
            let mut slow = 0;
            db.authorizer(Some(move |context: AuthContext<'_>| authorize_stranger(context, &mut slow)))
        }
    }
}

fn authorize_stranger(context: AuthContext<'_>, slow: &mut u32) -> Authorization {
    let AuthAction::Function { function_name } = context.action else { return authorize(context) };
    let is = |known: &&str| function_name.eq_ignore_ascii_case(known);
    if SLOW_FUNCTIONS.iter().any(is) {
        *slow += 1;
    }
    let is_denied = *slow > SLOW_CALLS || DENIED_FUNCTIONS.iter().any(is);
    if is_denied { Authorization::Deny } else { Authorization::Allow }
}

/// Replaces the functions that look for each of many characters at both ends of a long text.
fn trim_little(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, at_start, at_end) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        db.create_scalar_function(name, 2, flags, move |context| {
            let (Some(text), Some(set)) = (text_of(context.get_raw(0)), text_of(context.get_raw(1))) else {
                return Ok(None);
            };
            let set: Vec<char> = set.chars().take(TRIMMED + 1).collect();
            if set.len() > TRIMMED {
                return Err(Error::UserFunctionError(format!("{name} takes at most {TRIMMED} characters").into()));
            }
            let text = if at_start { text.trim_start_matches(&set[..]) } else { &text };
            let text = if at_end { text.trim_end_matches(&set[..]) } else { text };
            Ok(Some(text.to_owned()))
        })?;
    }
    Ok(())
}

/// A value as the text that functions take it for.
fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(x.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
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

/// Whether a function was refused to a stranger.
fn is_slow_function(message: &str) -> bool {
    let name = message.strip_prefix("not authorized to use function: ");
    name.is_some_and(|name| !name.eq_ignore_ascii_case("load_extension"))
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
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) if is_slow_function(msg) => {
            format!("{msg} here; instr, replace, LIKE and GLOB may be used {SLOW_CALLS} times")
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
