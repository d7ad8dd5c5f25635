//! How can users query a shared project without being able to break anything?
//!
//! As on one machine: one statement that selects, in a transaction that only reads, stopped when
//! its time is up, its rows one by one. Its words are PostgreSQL's; its tables are those of the
//! contract, and values come as SQLite would have them.

use super::SharedProject;
use super::connect::SharedLine;
use super::schema::schema_of;
use crate::error::{Result, StoreError};
use crate::sqlite::{Cell, QueryEnd, QueryLimits, TableNote, described_tables};
use futures_util::StreamExt as _;
use std::error::Error as StdError;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Error, Row};

/// How much longer than its time a query is waited for: the server stops it.
const GRACE: Duration = Duration::from_secs(20);

impl SharedProject {
    /// Runs one `SELECT`: `names` gets the column names, then `each` every row, until it breaks off
    /// or a limit is reached.
    pub fn sql(
        &self,
        query: &str,
        limits: QueryLimits,
        names: impl FnOnce(&[&str]),
        each: impl FnMut(&[Cell<'_>]) -> ControlFlow<()>,
    ) -> Result<QueryEnd> {
        if !selects(query) {
            return Err(StoreError::Query("only SELECT is allowed: the store is read, never written, here".to_owned()));
        }
        // A connection of its own: what is left of a query that nobody wants to see goes with it.
        let line = self.address.connect(Some(&schema_of(&self.name)), "orb sql")?;
        let time = limits.time.as_millis().clamp(1, i32::MAX as u128);
        line.run(
            "begin a query",
            &format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {time}"),
        )?;
        ask(&line, query, limits, (names, each)).map_err(|error| match error {
            StoreError::Query(text) => StoreError::Query(hinted(text, &self.name)),
            other => other,
        })
    }

    /// The tables and views that users may rely on, with their meanings: those that the store has.
    pub fn schema(&mut self) -> Result<Vec<TableNote>> {
        self.with(|line| {
            let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns
                       WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position";
            let rows = line.wait("describe the tables", line.client().query(sql, &[]))?;
            let columns: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
            Ok(described_tables(|table| {
                columns.iter().filter(|(of, _)| of == table).map(|(_, column)| column.clone()).collect()
            }))
        })
    }
}

/// Whether a statement begins as one that selects.
fn selects(query: &str) -> bool {
    let mut rest = query;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(' || c == ';');
        rest = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else {
            break;
        };
    }
    let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    ["select", "with", "values", "table"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Runs a query within a transaction.
fn ask(
    line: &SharedLine,
    query: &str,
    limits: QueryLimits,
    (names, mut each): (impl FnOnce(&[&str]), impl FnMut(&[Cell<'_>]) -> ControlFlow<()>),
) -> Result<QueryEnd> {
    let patience = limits.time.saturating_add(GRACE);
    let silent = |e: tokio::time::error::Elapsed| StoreError::StoreAway { what: "run a query", source: e.into() };
    let told = |error: Error| explain(line, &error, limits.time);
    let statement = line.wait_for(patience, line.client().prepare(query), told).map_err(silent)??;
    if !statement.params().is_empty() {
        return Err(StoreError::Query("the query has placeholders, and nothing to put into them".to_owned()));
    }
    names(&statement.columns().iter().map(tokio_postgres::Column::name).collect::<Vec<_>>());
    let types: Vec<Type> = statement.columns().iter().map(|column| column.type_().clone()).collect();
    if let Some(strange) = types.iter().find(|kind| !AnyValue::accepts(kind)) {
        return Err(StoreError::Query(format!("a column is of type {strange}: cast it to text")));
    }
    let none: [i32; 0] = [];
    let stream = line.wait_for(patience, line.client().query_raw(&statement, none), told).map_err(silent)??;
    let mut stream = pin!(stream);
    let mut given = 0;
    loop {
        let next = line.wait_for(patience, async { stream.next().await.transpose() }, told).map_err(silent)??;
        let Some(row) = next else { return Ok(QueryEnd { rows: given, more: false }) };
        if given == limits.rows {
            return Ok(QueryEnd { rows: given, more: true });
        }
        let values = values_of(&row).map_err(told)?;
        given += 1;
        if each(&values.iter().map(AnyValue::cell).collect::<Vec<_>>()).is_break() {
            return Ok(QueryEnd { rows: given, more: false });
        }
    }
}

fn values_of(row: &Row) -> std::result::Result<Vec<AnyValue<'_>>, Error> {
    (0..row.len()).map(|at| Ok(row.try_get::<_, Option<AnyValue<'_>>>(at)?.unwrap_or(AnyValue::Null))).collect()
}

/// The error of a user's query, in one line.
fn explain(line: &SharedLine, error: &Error, time: Duration) -> StoreError {
    let Some(said) = error.as_db_error() else { return line.failed("run a query", error) };
    let text = match *said.code() {
        SqlState::QUERY_CANCELED => format!("the query was stopped after {time:?} (--timeout raises the limit)"),
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            "only SELECT is allowed: the store is read, never written, here".to_owned()
        }
        SqlState::SYNTAX_ERROR if said.message().contains("multiple commands") => "give one statement only".to_owned(),
        _ if said.code().code().starts_with("57") || said.code().code().starts_with("08") => {
            return line.failed("run a query", error);
        }
        _ => said.message().to_owned(),
    };
    StoreError::Query(text)
}

/// Says where a table is to be had that only a local project has.
fn hinted(text: String, project: &str) -> String {
    let only_local = |name: &str| text.contains(&format!("relation \"{name}\" does not exist"));
    let known = described_tables(|_| Vec::new()).into_iter().any(|note| only_local(note.table));
    if known { format!("{text} in the store; pull it first: orb pull {project}") } else { text }
}

/// A value that PostgreSQL has sent.
#[derive(Debug)]
enum AnyValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Made(String),
    Blob(&'a [u8]),
}

impl AnyValue<'_> {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(n) => Cell::Integer(*n),
            Self::Real(x) => Cell::Real(*x),
            Self::Text(text) => Cell::Text(text),
            Self::Made(text) => Cell::Text(text),
            Self::Blob(bytes) => Cell::Blob(bytes),
        }
    }
}

impl<'a> FromSql<'a> for AnyValue<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => Self::Integer(i64::from(bool::from_sql(kind, raw)?)),
            Type::INT2 => Self::Integer(i64::from(i16::from_sql(kind, raw)?)),
            Type::INT4 => Self::Integer(i64::from(i32::from_sql(kind, raw)?)),
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::OID => Self::Integer(i64::from(u32::from_sql(kind, raw)?)),
            Type::FLOAT4 => Self::Real(f64::from(f32::from_sql(kind, raw)?)),
            Type::FLOAT8 => Self::Real(f64::from_sql(kind, raw)?),
            Type::BYTEA => Self::Blob(raw),
            Type::NUMERIC => numeric(raw).ok_or("a number cannot be read")?,
            Type::TIMESTAMPTZ | Type::TIMESTAMP => {
                // Microseconds since 2000.
                let at = i64::from_be_bytes(raw.try_into()?) / 1_000 + 946_684_800_000;
                Self::Made(orb_page::Moment(at).to_string())
            }
            _ => Self::Text(std::str::from_utf8(raw)?),
        })
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::BOOL
                | Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::OID
                | Type::FLOAT4
                | Type::FLOAT8
                | Type::BYTEA
                | Type::NUMERIC
                | Type::TIMESTAMPTZ
                | Type::TIMESTAMP
                | Type::TEXT
                | Type::VARCHAR
                | Type::BPCHAR
                | Type::NAME
                | Type::UNKNOWN
                | Type::VOID
                | Type::JSON
        )
    }
}

/// A number of any size: an integer where it has no decimals, as sums of integers have none and
/// averages have some, in SQLite too.
fn numeric<'a>(raw: &[u8]) -> Option<AnyValue<'a>> {
    let word = |at: usize| Some(i16::from_be_bytes(raw.get(2 * at..2 * at + 2)?.try_into().ok()?));
    let (digits, weight, sign) = (usize::try_from(word(0)?).ok()?, word(1)?, word(2)?.cast_unsigned());
    let sign = match sign {
        0 => "",
        0x4000 => "-",
        0xc000 => return Some(AnyValue::Null),
        0xd000 => return Some(AnyValue::Real(f64::INFINITY)),
        _ => return Some(AnyValue::Real(f64::NEG_INFINITY)),
    };
    let mut text = format!("{sign}0");
    for at in 0..=usize::try_from(weight).unwrap_or(0) {
        let digit = if weight >= 0 && at < digits { word(4 + at)? } else { 0 };
        text += &format!("{digit:04}");
    }
    let before = usize::try_from(i32::from(weight) + 1).unwrap_or(0);
    let after: Vec<i16> = (before..digits).map(|at| word(4 + at)).collect::<Option<_>>()?;
    if word(3)? == 0
        && let Ok(whole) = text.parse()
    {
        return Some(AnyValue::Integer(whole));
    }
    // Digits of ten thousand each; those that begin behind the point are pushed further by zeros.
    text.push('.');
    text += &"0000".repeat(usize::try_from(-i32::from(weight) - 1).unwrap_or(0));
    after.iter().for_each(|digit| text += &format!("{digit:04}"));
    text.parse().ok().map(AnyValue::Real)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;

    #[test]
    fn only_what_selects_is_asked() {
        for query in ["SELECT 1", " ( select 1)", "-- a\nWITH x AS (SELECT 1) SELECT * FROM x", "/* b */ VALUES (1)"] {
            assert!(selects(query), "{query}");
        }
        for query in ["COPY page TO PROGRAM 'x'", "DELETE FROM page", "SET x = 1", "selection", "", "-- SELECT"] {
            assert!(!selects(query), "{query}");
        }
    }

    #[test]
    fn numbers_are_as_sqlite_has_them() {
        let raw = |words: &[i16]| -> Vec<u8> { words.iter().flat_map(|word| word.to_be_bytes()).collect() };
        let read = |words: &[i16]| format!("{:?}", numeric(&raw(words)).unwrap());
        assert_eq!(read(&[0, 0, 0, 0]), "Integer(0)");
        assert_eq!(read(&[2, 1, 0, 0, 1, 2345]), "Integer(12345)");
        // Trailing zeros are left out.
        assert_eq!(read(&[1, 1, 0x4000, 0, 3]), "Integer(-30000)");
        assert_eq!(read(&[2, 0, 0, 1, 2, 5000]), "Real(2.5)");
        assert_eq!(read(&[1, 0, 0, 16, 3]), "Real(3.0)");
        assert_eq!(read(&[1, -1, 0, 2, 2500]), "Real(0.25)");
        assert_eq!(read(&[1, -2, 0, 8, 2500]), "Real(2.5e-5)");
    }
}
