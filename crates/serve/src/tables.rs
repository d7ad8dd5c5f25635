//! How are the tables asked in SQL, by whoever may?
//!
//! Pages, programs and language models ask in one way, with one limit on how many do so at once: a
//! query may take a core for its whole time, and threads that answer others must be left. Who comes
//! when all places are taken is told to come again rather than kept waiting, and a place is given
//! back by the thread that answers, not by the request, which may be gone long before.

use crate::problem::ProblemDetails;
use crate::request::AdmittedRequest;
use crate::state::AppState;
use orb_answers::{AnswerError, Collection, QueryCaller, SqlQuery, Window, cell_value, sql};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The most rows, time and bytes of an answer.
pub(crate) const MOST_ROWS: u64 = 10_000;
pub(crate) const MOST_TIME: Duration = Duration::from_secs(10);
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// What a value takes besides its text.
const VALUE: usize = size_of::<Value>();

/// A question to the tables, with its limits.
pub(crate) struct TableQuestion {
    /// One statement that reads.
    pub(crate) query: String,
    /// Its time.
    pub(crate) time: Duration,
    /// Its rows.
    pub(crate) rows: u64,
    /// Its bytes.
    pub(crate) bytes: usize,
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
    /// The rows, each with the names of its columns.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Map<String, Value>> {
        self.rows.iter().map(|row| self.columns.iter().cloned().zip(row.iter().cloned()).collect())
    }
}

impl TableQuestion {
    /// Asks a collection.
    pub(crate) fn ask(&self, collection: &Collection) -> Result<SqlRows, AnswerError> {
        let found = RefCell::new((SqlRows::default(), 0));
        let rows = Window { limit: self.rows.saturating_add(1), offset: 0 };
        sql(
            collection,
            SqlQuery { text: &self.query, time: self.time, caller: QueryCaller::Stranger, rows },
            |names| found.borrow_mut().0.columns = names.iter().map(|name| (*name).to_owned()).collect(),
            |row| {
                let (found, taken) = &mut *found.borrow_mut();
                let values: Vec<Value> = row.iter().map(cell_value).collect();
                *taken += values.iter().map(|value| VALUE + value.as_str().map_or(0, str::len)).sum::<usize>();
                if found.rows.len() as u64 >= self.rows || *taken > self.bytes {
                    found.truncated = true;
                    return ControlFlow::Break(());
                }
                found.rows.push(values);
                ControlFlow::Continue(())
            },
        )?;
        Ok(found.into_inner().0)
    }
}

impl AppState {
    /// A place for one more query, if there is one.
    pub(crate) fn query_turn(&self) -> Result<OwnedSemaphorePermit, ProblemDetails> {
        let busy = |_| ProblemDetails::busy("two queries are running; try again");
        Arc::clone(&self.queries).try_acquire_owned().map_err(busy)
    }
}

/// Asks the tables of the request's project.
pub(crate) async fn ask_tables(
    request: &AdmittedRequest,
    question: TableQuestion,
) -> Result<Result<SqlRows, AnswerError>, ProblemDetails> {
    let turn = request.state.query_turn()?;
    let answer = move |collection: &Collection| {
        let _turn = turn;
        Ok::<_, AnswerError>(question.ask(collection))
    };
    request.ask(answer).await
}
