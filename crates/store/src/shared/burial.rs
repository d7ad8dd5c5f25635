//! Who is taken for dead, and what becomes of what it held?
//!
//! A worker is dead when its lease has run out by PostgreSQL's clock, the server having been up
//! long enough to have heard it. Connections of its that are in the middle of something are ended
//! first: a process that was stopped there, or whose line went dark, still holds the locks of its
//! transaction, and its burial would wait for them like everybody else. Its row is then marked and
//! what it had drawn of a budget goes back, in one statement: whoever is stopped while it buries
//! others holds nothing.

use super::WorkerId;
use super::connect::SharedLine;
use crate::error::Result;
use xxhash_rust::xxh3::xxh3_64;

/// Marks these workers as dead, with what they have drawn and not spent going back to their runs.
/// One that is in the middle of a commit is passed over.
const DEAD: &str = "dead AS MATERIALIZED (SELECT id, ticket_run, ticket, byte_ticket FROM worker WHERE ";
const REFUND: &str =
    "back AS (UPDATE run_row r SET budget_left = r.budget_left + t.pages, bytes_left = r.bytes_left + t.bytes FROM
      (SELECT ticket_run AS run, sum(ticket)::bigint AS pages, sum(byte_ticket)::bigint AS bytes FROM dead
       WHERE ticket > 0 OR byte_ticket > 0 GROUP BY ticket_run) t WHERE r.id = t.run)";
const MARK: &str = "UPDATE worker w SET alive = false, ticket = 0, byte_ticket = 0 FROM dead WHERE w.id = dead.id";

/// What a worker's connections are called before what each is for and the worker's name: something
/// that no other worker of any project on the server has.
pub(super) fn line_name(project: &str, worker: WorkerId) -> String {
    format!("orb {}-{}", tag(project), worker.0)
}

/// A short name for a project: PostgreSQL cuts the names of connections.
fn tag(project: &str) -> String {
    format!("{:08x}", xxh3_64(project.as_bytes()) >> 32)
}

/// Whether a worker's lease has run out, and the server has been up long enough for it to say so;
/// or whether it joined before a failover and will not be heard again.
fn expired(timeline: i64) -> String {
    format!(
        "alive AND (timeline <> {timeline}
           OR greatest(until, pg_postmaster_start_time() + lease_ms * interval '1 millisecond') < now())"
    )
}

/// Buries whoever's lease has run out, also by whoever does not work on the project.
pub(super) fn bury_expired(line: &mut SharedLine, project: &str) -> Result<()> {
    let timeline = line.timeline()?;
    bury(line, project, timeline)
}

/// Buries whoever's lease has run out. One whose connection has not ended yet is buried at the next
/// heartbeat of anybody.
pub(super) fn bury(line: &mut SharedLine, project: &str, timeline: i64) -> Result<()> {
    let sql = format!("SELECT count(*) FROM worker WHERE {}", expired(timeline));
    let look = line.prepared("look for the dead", &sql)?;
    if line.wait("look for the dead", line.client().query_one(&look, &[]))?.get::<_, i64>(0) == 0 {
        return Ok(());
    }
    silence_dead(line, project, timeline)?;
    bury_dead(line, timeline)
}

/// Ends the connections of the dead that are in the middle of something.
fn silence_dead(line: &SharedLine, project: &str, timeline: i64) -> Result<()> {
    let sql = format!(
        "SELECT count(pg_terminate_backend(a.pid, 500)) FROM worker w JOIN pg_stat_activity a
           ON a.application_name LIKE 'orb {tag}-' || w.id || ' %'
         WHERE {expired} AND a.state <> 'idle' AND a.datname = current_database() AND a.usename = current_user",
        tag = tag(project),
        expired = expired(timeline),
    );
    line.wait("end the connections of the dead", line.client().query(&sql, &[])).map(drop)
}

/// Buries whoever's lease has run out and whose row nobody holds.
pub(super) fn bury_dead(line: &SharedLine, timeline: i64) -> Result<()> {
    let sql = format!("WITH {DEAD} {} FOR UPDATE SKIP LOCKED), {REFUND} {MARK}", expired(timeline));
    line.wait("bury a worker", line.client().execute(&sql, &[])).map(drop)
}

/// Ends a worker that leaves: its shards and addresses are free at once.
pub(super) fn leave(line: &SharedLine, worker: WorkerId) -> Result<()> {
    let sql = format!(
        "WITH {DEAD} id = $1 AND alive FOR UPDATE), {REFUND},
           freed AS (UPDATE shard SET worker = NULL, since = now() WHERE worker = $1),
           closed AS (UPDATE address SET until = now() WHERE worker = $1) {MARK}"
    );
    line.wait("leave", line.client().execute(&sql, &[&worker.0])).map(drop)
}
