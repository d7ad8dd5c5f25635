//! How do workers share a budget?
//!
//! Each draws a ticket, a part of what is left of its run's budget, and gives back what it does not
//! need. Both are one statement: the run's row is locked in it, which every commit needs, and a
//! worker that is stopped between two statements would hold it.

use super::join::ShardClerk;
use crate::error::Result;
use orb_page::RunId;

/// Kinds of budgets: the column of the run, and what is added to a worker's tickets of each kind.
struct BudgetColumns {
    left: &'static str,
    pages: &'static str,
    bytes: &'static str,
}

const PAGES: BudgetColumns = BudgetColumns { left: "budget_left", pages: "d.amount", bytes: "0" };
const BYTES: BudgetColumns = BudgetColumns { left: "bytes_left", pages: "0", bytes: "d.amount" };

/// The run's row is locked before the worker's, as in a commit.
const GIVE_BACK: &str = "WITH run AS MATERIALIZED (SELECT id FROM run_row WHERE id = $2 FOR UPDATE),
      mine AS MATERIALIZED (SELECT id, ticket_run, ticket, byte_ticket FROM worker
        WHERE id = $1 AND alive AND EXISTS (SELECT 1 FROM run) FOR NO KEY UPDATE),
      back AS (UPDATE run_row r SET budget_left = r.budget_left + m.ticket, bytes_left = r.bytes_left + m.byte_ticket
        FROM mine m WHERE r.id = m.ticket_run)
    UPDATE worker w SET ticket = 0, byte_ticket = 0 FROM mine WHERE w.id = mine.id";

impl ShardClerk {
    /// Draws up to `pages` from the budget of a run; `None` if it has none.
    pub fn draw(&mut self, run: RunId, pages: u64) -> Result<Option<u64>> {
        self.draw_from(&PAGES, run, pages)
    }

    /// Draws up to `bytes` from its budget of bytes; `None` if it has none.
    pub fn draw_bytes(&mut self, run: RunId, bytes: u64) -> Result<Option<u64>> {
        self.draw_from(&BYTES, run, bytes)
    }

    fn draw_from(&mut self, columns: &BudgetColumns, run: RunId, amount: u64) -> Result<Option<u64>> {
        let BudgetColumns { left, pages, bytes } = columns;
        // What is left of a ticket for another run is worth nothing.
        let sql = format!(
            "WITH run AS MATERIALIZED (SELECT {left} AS remains FROM run_row WHERE id = $2 FOR UPDATE),
               d AS MATERIALIZED (SELECT greatest(0, least(remains, $3)) AS amount FROM run WHERE remains IS NOT NULL),
               known AS (UPDATE worker w SET ticket = CASE WHEN ticket_run = $2 THEN ticket ELSE 0 END + {pages},
                   byte_ticket = CASE WHEN ticket_run = $2 THEN byte_ticket ELSE 0 END + {bytes}, ticket_run = $2
                 FROM d WHERE w.id = $1 AND w.alive RETURNING w.id),
               drawn AS (UPDATE run_row r SET {left} = r.{left} - d.amount FROM d WHERE r.id = $2 AND EXISTS (SELECT 1 FROM known))
             SELECT d.amount, EXISTS (SELECT 1 FROM known) FROM d"
        );
        let (member, most) = (&self.member, i64::try_from(amount).unwrap_or(i64::MAX));
        let row = self.line.with(|line| {
            let draw = line.prepared("draw on the budget", &sql)?;
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&member.id.0, &run.0.cast_signed(), &most];
            line.wait("draw on the budget", line.client().query_opt(&draw, &values))
        })?;
        match row {
            None => Ok(None),
            Some(row) if row.get(1) => Ok(Some(row.get::<_, i64>(0).cast_unsigned())),
            Some(_) => Err(member.fenced()),
        }
    }

    /// Gives back what was drawn for a run and is not spent: nothing is under way. Others may need
    /// it.
    pub fn give_back(&mut self, run: RunId) -> Result<()> {
        let (id, run) = (self.member.id.0, run.0.cast_signed());
        self.line.with(|line| line.wait("give a budget back", line.client().execute(GIVE_BACK, &[&id, &run])).map(drop))
    }
}
