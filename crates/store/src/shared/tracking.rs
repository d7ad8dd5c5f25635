//! What must be known of all shards to visit pages again?
//!
//! Which pages are worth a visit, and when the others are due, is decided over the whole project by
//! whoever plants a run or ends it: shares of a budget that every worker spent on its own would be
//! spent on the wrong pages.

use super::SharedProject;
use super::commit::copy;
use super::connect::SharedLine;
use super::rows::CopyRows;
use crate::error::Result;
use crate::sqlite::{DueRow, PastVisit, RunStatus};
use futures_util::StreamExt as _;
use orb_page::{Flag, HostId, Moment, PageId, RunId};
use std::pin::pin;

impl SharedProject {
    /// Calls back with every visit of every page that may be revisited, page by page, earliest
    /// first.
    pub fn each_seen(&mut self, mut each: impl FnMut(PastVisit)) -> Result<()> {
        let sql = "SELECT v.page, p.host, v.at, v.flag FROM visit_row v JOIN page_row p ON p.id = v.page AND p.shard = v.shard AND p.kind = 0
                   ORDER BY v.page, v.run";
        self.with(|line| {
            let none: [&(dyn tokio_postgres::types::ToSql + Sync); 0] = [];
            let rows = line.wait_long("read the visits", line.client().query_raw(sql, none))?;
            let mut rows = pin!(rows);
            while let Some(row) = line.wait_long("read the visits", async { rows.next().await.transpose() })? {
                each(PastVisit {
                    page: PageId(row.get::<_, i64>(0).cast_unsigned()),
                    host: HostId(row.get::<_, i32>(1).cast_unsigned()),
                    at: Moment(row.get(2)),
                    flag: u8::try_from(row.get::<_, i16>(3)).ok().and_then(Flag::from_code).unwrap_or(Flag::Error),
                });
            }
            Ok(())
        })
    }

    /// Replaces all due times.
    pub fn replace_dues(&mut self, dues: &[DueRow]) -> Result<()> {
        let mut rows = CopyRows::default();
        for due in dues {
            let row = rows.row(3).page(due.page).double(due.rate);
            row.maybe(due.due.map(|due| due.0), CopyRows::big);
        }
        self.with(|line| {
            line.run(
                "write when pages are due",
                "BEGIN; DELETE FROM due_row;
                 CREATE TEMP TABLE new_due (page bigint, rate double precision, due bigint) ON COMMIT DROP",
            )?;
            copy(line, "new_due (page, rate, due)", rows)?;
            let sql = "INSERT INTO due_row (shard, page, rate, due)
                       SELECT p.shard, d.page, d.rate, d.due FROM new_due d JOIN page_row p ON p.id = d.page";
            line.wait_long("write when pages are due", line.client().execute(sql, &[]))?;
            line.run("write when pages are due", "COMMIT")
        })
    }

    /// When the last run but this one began.
    pub fn began_before(&mut self, run: Option<RunId>) -> Result<Option<Moment>> {
        let sql = "SELECT started_at FROM run_row WHERE $1::integer IS NULL OR id < $1 ORDER BY id DESC LIMIT 1";
        let run = run.map(|run| run.0.cast_signed());
        let row = self.with(|line| line.wait("read the runs", line.client().query_opt(sql, &[&run])))?;
        Ok(row.map(|row| Moment(row.get(0))))
    }

    /// The last run that has ended and reported something, unless it or a later one was
    /// acknowledged.
    pub fn unacknowledged(&mut self) -> Result<Option<RunId>> {
        self.with(unacknowledged)
    }
}

fn unacknowledged(line: &mut SharedLine) -> Result<Option<RunId>> {
    let told: Vec<i16> = [Flag::New, Flag::Updated, Flag::Missing].map(|flag| i16::from(flag.code())).to_vec();
    let sql = "SELECT r.id, r.state, r.finished_at IS NOT NULL, EXISTS (SELECT 1 FROM ack_row a WHERE a.run >= r.id)
               FROM run_row r WHERE r.id = (SELECT run FROM change_row WHERE flag = ANY($1) ORDER BY seq DESC LIMIT 1)";
    let Some(row) = line.wait("read the reports", line.client().query_opt(sql, &[&told]))? else { return Ok(None) };
    let ended = row.get::<_, bool>(2) && !RunStatus::of(row.get(1)).is_resumed();
    Ok((ended && !row.get::<_, bool>(3)).then(|| RunId(row.get::<_, i32>(0).cast_unsigned())))
}
