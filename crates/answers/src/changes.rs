//! What changed, run after run?
//!
//! The changes of all runs are one list that only grows. A reader keeps the number of the last
//! change it has read and asks for those after it.

use crate::{AnswerError, Collection, Result};
use orb_page::{Flag, RunId};
use orb_store::ReportRow;
use schemars::JsonSchema;
use serde::Serialize;

/// The flags of changes: everything but "the same".
pub const CHANGES: [Flag; 4] = [Flag::New, Flag::Updated, Flag::Missing, Flag::Error];

/// Some changes, and where to continue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangePage {
    /// The changes, oldest first.
    pub changes: Vec<ReportRow>,
    /// Where to continue: the changes after this one.
    pub next: u64,
}

/// How a reading of the changes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedEnd {
    /// Where to continue: the changes after this one.
    pub next: u64,
    /// How many changes were given.
    pub count: u64,
}

/// The changes with these flags after a cursor, at most so many.
pub fn changes(collection: &Collection, after: u64, flags: &[Flag], limit: u32) -> Result<ChangePage> {
    collection.catalogue().at_one_moment(|reader| {
        let changes = reader.feed(after, flags, limit)?;
        let last = changes.last().and_then(|row| row.seq).unwrap_or(after);
        let is_all = u32::try_from(changes.len()).is_ok_and(|given| given < limit);
        // If everything was read, changes with other flags are behind the reader, too.
        let next = if is_all { reader.last_change()?.max(last) } else { last };
        Ok(ChangePage { changes, next })
    })
}

/// The last changes, latest first.
pub fn latest_changes(collection: &Collection, limit: u32) -> Result<Vec<ReportRow>> {
    Ok(collection.catalogue().latest_changes(limit)?)
}

/// Where to begin so that everything since then is read: a cursor, `run:3` for that run and later
/// ones, or a moment such as `2026-11-15T06:30:00Z` for the runs that began after it.
pub fn cursor_since(collection: &Collection, since: &str) -> Result<u64> {
    if let Ok(cursor) = since.parse() {
        return Ok(cursor);
    }
    let reader = collection.catalogue();
    let run = match since.strip_prefix("run:") {
        Some(number) => number.trim().parse().ok().map(RunId),
        None => {
            let day = since.len() == 10;
            let at = orb_project::moment(&if day { format!("{since}T00:00:00Z") } else { since.to_owned() });
            let first = |at| -> Result<RunId> {
                let runs = reader.runs()?;
                let later = runs.iter().filter(|run| run.started_at >= at).map(|run| run.id).min();
                Ok(later.unwrap_or(RunId(u32::MAX)))
            };
            at.ok().map(first).transpose()?
        }
    };
    let wrong = || AnswerError::Malformed(format!("'{since}' is no cursor, no run:N and no moment"));
    Ok(reader.last_change_before(run.ok_or_else(wrong)?)?)
}

/// The changes with these flags before one of them, latest first, at most so many; the last ones
/// where none is named.
pub fn changes_before(
    collection: &Collection,
    before: Option<u64>,
    flags: &[Flag],
    limit: u32,
) -> Result<Vec<ReportRow>> {
    Ok(collection.catalogue().feed_before(before.unwrap_or(u64::MAX), flags, limit)?)
}
