//! How is a shared project doing?

use super::connect::SharedLine;
use super::{SharedProject, WorkerId};
use crate::error::Result;
use std::time::Duration;
use tokio_postgres::Row;

/// A shared project at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedOverview {
    /// The living workers, by number.
    pub workers: Vec<WorkerOverview>,
    /// Its shards.
    pub shards: ShardOverview,
    /// How many letters wait.
    pub letters: u64,
    /// For how long the oldest of them has.
    pub oldest_letter: Option<Duration>,
    /// How many addresses are leased.
    pub addresses: u64,
    /// How many of these another worker wants.
    pub contested: u64,
    /// Those that have been wanted for longest.
    pub disputes: Vec<AddressDispute>,
}

/// An address that another worker waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressDispute {
    /// The address.
    pub address: String,
    /// Who has it.
    pub holder: String,
    /// Who was the first to ask for it since then.
    pub waiter: String,
    /// How long ago that was.
    pub waiting: Duration,
}

/// So many disputes are named.
const DISPUTES: i64 = 10;

const LONGEST: &str =
    "SELECT a.key, coalesce(h.name, '?'), coalesce(w.name, '?'), extract(epoch FROM now() - a.wanted)::double precision
    FROM address a LEFT JOIN worker h ON h.id = a.worker LEFT JOIN worker w ON w.id = a.wanted_by
    WHERE a.until > now() AND a.wanted IS NOT NULL ORDER BY a.wanted, a.key LIMIT $1";

/// A worker at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerOverview {
    /// Its number.
    pub id: WorkerId,
    /// Its name.
    pub name: String,
    /// The machine it runs on.
    pub machine: String,
    /// How many shards it holds.
    pub shards: u64,
    /// How many batches it has committed.
    pub batches: u64,
    /// Its speed.
    pub pages_per_second: f32,
    /// How many pages are queued in its shards.
    pub queued: u64,
    /// When it was last heard of.
    pub heard: Duration,
    /// Why it is not faster.
    pub why: String,
}

/// The shards of a project, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardOverview {
    /// All of them.
    pub all: u64,
    /// Held by the living.
    pub held: u64,
    /// Those that rest in the last run: nothing is left in them, or they lack budget.
    pub idle: u64,
    /// Those of them that rest for want of budget.
    pub short: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages visited.
    pub fetched: u64,
}

impl SharedProject {
    /// How it is doing.
    pub fn overview(&mut self) -> Result<SharedOverview> {
        self.with(|line| {
            let count = |n: i64| n.cast_unsigned();
            let sql = "SELECT w.id, w.name, w.machine, (SELECT count(*) FROM shard s WHERE s.worker = w.id), w.batch, w.pages_per_second,
                         w.queued, extract(epoch FROM now() - w.beaten)::double precision, w.why FROM worker w WHERE w.alive ORDER BY w.id";
            let rows = line.wait("read the workers", line.client().query(sql, &[]))?;
            let workers = rows.iter().map(|row| WorkerOverview {
                id: WorkerId(row.get(0)),
                name: row.get(1),
                machine: row.get(2),
                shards: count(row.get(3)),
                batches: count(row.get(4)),
                pages_per_second: row.get(5),
                queued: count(row.get(6)),
                heard: seconds(row.get(7)),
                why: row.get(8),
            });
            let workers = workers.collect();
            let sql = "SELECT count(*), count(w.id), count(*) FILTER (WHERE abs(s.idle) = r.last), count(*) FILTER (WHERE s.idle = -r.last),
                         coalesce(sum(s.pages), 0)::bigint, coalesce(sum(s.fetched), 0)::bigint
                       FROM shard s LEFT JOIN worker w ON w.id = s.worker AND w.alive CROSS JOIN (SELECT max(id) AS last FROM run_row) r";
            let row = line.wait("read the shards", line.client().query_one(sql, &[]))?;
            let shards = ShardOverview {
                all: count(row.get(0)),
                held: count(row.get(1)),
                idle: count(row.get(2)),
                short: count(row.get(3)),
                pages: count(row.get(4)),
                fetched: count(row.get(5)),
            };
            let sql = "SELECT coalesce(sum(letters), 0)::bigint, extract(epoch FROM now() - min(at))::double precision FROM letter";
            let row = line.wait("count the letters", line.client().query_one(sql, &[]))?;
            let (letters, oldest_letter) = (count(row.get(0)), row.get::<_, Option<f64>>(1).map(seconds));
            let sql = "SELECT count(*), count(wanted) FROM address WHERE until > now()";
            let row = line.wait("count the addresses", line.client().query_one(sql, &[]))?;
            let (addresses, contested) = (count(row.get(0)), count(row.get(1)));
            let disputes = disputes(line)?;
            Ok(SharedOverview { workers, shards, letters, oldest_letter, addresses, contested, disputes })
        })
    }
}

/// The addresses that have been wanted for longest.
fn disputes(line: &SharedLine) -> Result<Vec<AddressDispute>> {
    let rows = line.wait("read the addresses", line.client().query(LONGEST, &[&DISPUTES]))?;
    let dispute = |row: &Row| AddressDispute {
        address: row.get(0),
        holder: row.get(1),
        waiter: row.get(2),
        waiting: seconds(row.get(3)),
    };
    Ok(rows.iter().map(dispute).collect())
}

fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.max(0.0)).unwrap_or_default()
}
