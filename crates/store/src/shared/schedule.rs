//! Which server starts the runs that are due?
//!
//! Several servers may show one store, and each could start what is due. One of them at a time has
//! the right to: a row of the store names it until a moment, by PostgreSQL's clock. It renews the
//! row while it lives; when it is gone, the next one takes the row over. The row belongs to the
//! store and not to a project, so it has a schema of its own.
//!
//! A server that was suspended with the right in its hands may act on what it saw before. The row
//! cannot keep it from that. The transaction that begins a run can: it is told which run is meant
//! ([`super::RunTerms::number`]), and begins no other.

use super::connect::{Redial, SharedAddress, SharedLine, quoted};
use super::runs;
use crate::error::{Result, StoreError};
use crate::sqlite::RunRecord;
use orb_page::Moment;
use std::sync::Arc;
use std::time::Duration;

/// The row, and the schema it is in. No project has this schema: theirs begin with `orb_`.
const TABLE: &str = "CREATE SCHEMA IF NOT EXISTS orbweaver;
    CREATE TABLE IF NOT EXISTS orbweaver.scheduler (
      id integer PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL) WITH (fillfactor = 10)";

const CLAIM: &str = "INSERT INTO orbweaver.scheduler AS s (id, holder, until)
      VALUES (1, $1, clock_timestamp() + make_interval(secs => $2))
    ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE s.holder = excluded.holder OR s.until <= clock_timestamp()";

/// A server that wants to start what is due.
pub struct ScheduleDesk {
    line: Redial,
    holder: String,
}

/// What says when a project of the store is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTimetable {
    /// The project.
    pub project: String,
    /// Its settings, as text.
    pub settings: String,
    /// When it was made.
    pub made_at: Moment,
    /// Its last run.
    pub last: Option<RunRecord>,
    /// The machines that run is meant for; empty means any.
    pub machines: Vec<String>,
    /// How many workers it has.
    pub workers: u64,
    /// What time it is, by the clock of the store.
    pub now: Moment,
}

impl ScheduleDesk {
    /// For a server that no other is named like.
    pub fn new(at: &SharedAddress, holder: &str) -> Self {
        Self { line: Redial::new(Arc::new(at.clone()), "pg_catalog", "orb"), holder: holder.to_owned() }
    }

    /// Takes the right to start what is due, or keeps it, for so long; whether this server has it.
    pub fn claim(&mut self, lease: Duration) -> Result<bool> {
        let (holder, seconds) = (&self.holder, lease.as_secs_f64());
        self.line.with(|line| {
            make(line)?;
            let sql = line.prepared("claim the schedule", CLAIM)?;
            let claimed = line.wait("claim the schedule", line.client().execute(&sql, &[holder, &seconds]))?;
            Ok(claimed == 1)
        })
    }

    /// Gives the right up, so that another need not wait for its end.
    pub fn release(&mut self) -> Result<()> {
        let holder = &self.holder;
        let sql = "UPDATE orbweaver.scheduler SET until = clock_timestamp() WHERE holder = $1";
        self.line.with(|line| line.wait("release the schedule", line.client().execute(sql, &[holder])).map(drop))
    }

    /// What says when the projects of the store are due.
    pub fn timetables(&mut self) -> Result<Vec<SharedTimetable>> {
        self.line.with(|line| {
            let sql = "SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
                       WHERE n.nspname LIKE 'orb\\_%' AND c.relname = 'project' AND c.relkind IN ('r', 'p') ORDER BY 1";
            let schemas = line.wait("read the schedules", line.client().query(sql, &[]))?;
            let mut found = Vec::with_capacity(schemas.len());
            for schema in &schemas {
                match timetable(line, schema.get(0)) {
                    // A schema of another program, or a project that is being removed.
                    Err(StoreError::Shared(_)) => {}
                    read => found.extend(read?),
                }
            }
            Ok(found)
        })
    }
}

/// Makes the row's table where it is not there yet.
fn make(line: &SharedLine) -> Result<()> {
    let sql = "SELECT to_regclass('orbweaver.scheduler') IS NOT NULL";
    if line.wait("look for the schedule", line.client().query_one(sql, &[]))?.get(0) {
        return Ok(());
    }
    // Of two who make it at once, the second finds it there.
    let all = format!("BEGIN; SELECT pg_advisory_xact_lock(hashtext('orbweaver')); {TABLE}; COMMIT");
    line.run("make the schedule", &all)
}

fn timetable(line: &SharedLine, schema: &str) -> Result<Option<SharedTimetable>> {
    line.run("read the schedules", &format!("SET search_path = {}, pg_catalog", quoted(schema)))?;
    let sql = "SELECT name, settings, made_at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                 (SELECT count(*) FROM worker WHERE alive AND until > now()) FROM project";
    // Statements are not prepared here: each schema has tables of its own.
    let Some(row) = line.wait("read the schedules", line.client().query_opt(sql, &[]))? else { return Ok(None) };
    let last = runs::last_once(line)?;
    Ok(Some(SharedTimetable {
        project: row.get(0),
        settings: row.get(1),
        made_at: Moment(row.get(2)),
        machines: last.as_ref().map(|run| run.machines.clone()).unwrap_or_default(),
        last: last.map(|run| run.record),
        workers: row.get::<_, i64>(4).cast_unsigned(),
        now: Moment(row.get(3)),
    }))
}
