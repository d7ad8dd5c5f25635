//! When has a batch happened?
//!
//! When the transaction has that sets the worker's row from the batch before to this one. It begins
//! by holding that row against being buried (which lets heartbeats through) and ends by changing
//! it, so that a worker that was buried, paused or left behind by a failover records nothing, and
//! one whose answer was lost finds its nonce there. Pages and visits are recorded only in shards
//! that the worker's row holds at that moment. Everything else is in between: rows by COPY,
//! then what changes rows, letters written and letters consumed.

use super::connect::SharedLine;
use super::facts::FactColumns;
use super::rowing::BatchRows;
use super::rows::CopyRows;
use super::writer::{SharedWriter, point};
use super::{ShardId, letters, seeds};
use crate::Batch;
use crate::error::{Result, StoreError};
use crate::sqlite::Catalogue;
use bytes::Bytes;
use futures_util::SinkExt as _;
use orb_page::SkipReason;
use std::pin::pin;
use tokio_postgres::types::ToSql;

/// Bytes sent at once.
const CHUNK: usize = 256 << 10;

/// What happened to a worker's row.
enum Standing {
    /// The batch before is the last: go on.
    Next,
    /// This batch has happened already.
    Done,
}

/// What the shards that are loaded are idle for from now on: the number of a run, or less than
/// nothing where only its budget is used up.
struct NowIdle {
    run: Option<i32>,
    held: Vec<i16>,
}

impl SharedWriter {
    /// Records a batch; trying again what has happened does nothing.
    pub(crate) fn commit(&mut self, batch: &Batch, scratch: &Catalogue) -> Result<()> {
        self.refill(0)?;
        let Self { line, names, learnt, .. } = self;
        learnt.extend(line.with(|line| names.learn(line, names_in(batch)))?);
        let rows = BatchRows::of(self, batch, scratch)?;
        let facts = FactColumns::of(self, batch, scratch)?;
        let (no, nonce, uncertain) = {
            let attempt = self.attempt()?;
            (attempt.no, attempt.nonce, attempt.uncertain)
        };
        let letters = letters::rows(self.worker(), no, &batch.letters)?;
        let held = self.held().iter().map(|shard| shard.sql()).collect();
        let rests = batch.idle.map(|run| if batch.short { -run.0.cast_signed() } else { run.0.cast_signed() });
        let idle = (self.idle != Some(rests)).then_some(NowIdle { run: rests, held });
        let member = self.member.clone();
        if let Some(attempt) = &mut self.attempt {
            attempt.uncertain = true;
        }
        let done = self.line.with(|line| {
            line.begin("begin a batch")?;
            match stand(line, member.worker().0, (no, nonce), uncertain)?.ok_or_else(|| member.fenced())? {
                Standing::Done => return line.run("begin a batch", "ROLLBACK"),
                Standing::Next => {}
            }
            point("after-shared-fence")?;
            if !rows.write(line)? {
                return Err(member.fenced());
            }
            copy(line, "letter (to_shard, sender, batch, letters, body)", letters)?;
            facts.write(line, batch.run)?;
            letters::consume(line, &batch.read)?;
            let seeds: Vec<_> = batch.moved_seeds.iter().map(seed).collect();
            seeds::write(line, seeds.iter().map(|(seed, from)| (seed, from.as_deref())))?;
            settle_shards(line, member.worker().0, &batch.gifts, idle)?;
            count(line, batch)?;
            let sql = "UPDATE worker SET batch = $2::bigint, nonce = $3, until = greatest(until, now() + lease_ms * interval '1 millisecond'),
                         ticket = greatest(0, ticket - $4), byte_ticket = greatest(0, byte_ticket - $5), backend = pg_backend_pid()
                       WHERE id = $1 AND alive AND batch = $2::bigint - 1";
            let sql = line.prepared("record a batch", sql)?;
            let (no, nonce, spent) = (no.cast_signed(), nonce.cast_signed(), batch.spent.cast_signed());
            let bytes = batch.visits.iter().map(|v| v.visit.transferred).sum::<u64>().cast_signed();
            let values: [&(dyn ToSql + Sync); 5] = [&member.worker().0, &no, &nonce, &spent, &bytes];
            if line.wait("record a batch", line.client().execute(&sql, &values))? != 1 {
                return Err(member.fenced());
            }
            point("before-shared-commit")?;
            line.run("commit a batch", "COMMIT")
        });
        self.check(done)?;
        point("after-shared-commit")?;
        self.idle = Some(rests);
        Ok(())
    }

    /// A batch that says of itself that it cannot be recorded has not been.
    fn check(&mut self, done: Result<()>) -> Result<()> {
        if let (Err(StoreError::BadBatch(_)), Some(attempt)) = (&done, &mut self.attempt) {
            attempt.uncertain = false;
        }
        done
    }
}

/// Every name that the batch's rows refer to.
fn names_in(batch: &Batch) -> impl Iterator<Item = &str> {
    let discovered = batch.discovered.iter().flat_map(|d| [Some(&*d.by), d.why.map(SkipReason::name)]);
    let visits = batch.visits.iter().map(|v| Some(&*v.visit.by));
    let dropped = batch.dropped.iter().map(|d| Some(d.why.name()));
    let aliases = batch.aliases.iter().map(|a| Some(&*a.name));
    discovered.chain(visits).chain(dropped).chain(aliases).flatten()
}

fn seed(seed: &super::SharedSeed) -> (super::SeedToPlant, Option<String>) {
    (super::SeedToPlant { url: seed.url.clone(), step: seed.step }, seed.from.clone())
}

/// Where the worker stands; `None` if it was buried, or the store has gone back. Holds its row
/// against burial until the transaction ends. After an attempt whose end is not known, it also
/// waits for that attempt's transaction to end.
fn stand(line: &mut SharedLine, worker: i64, (no, nonce): (u64, u64), uncertain: bool) -> Result<Option<Standing>> {
    let lock = if uncertain { "UPDATE" } else { "KEY SHARE" };
    let sql = format!("SELECT batch, nonce FROM worker WHERE id = $1 AND alive FOR {lock}");
    let sql = line.prepared("begin a batch", &sql)?;
    let Some(row) = line.wait("begin a batch", line.client().query_opt(&sql, &[&worker]))? else { return Ok(None) };
    let (last, last_nonce) = (row.get::<_, i64>(0).cast_unsigned(), row.get::<_, i64>(1).cast_unsigned());
    Ok(if last + 1 == no {
        Some(Standing::Next)
    } else if (last, last_nonce) == (no, nonce) {
        Some(Standing::Done)
    } else {
        None
    })
}

/// What is said of the worker's shards: those it gives away, and what those it has loaded are idle
/// for. One that was taken and is not loaded yet may hold work that nobody has looked at.
fn settle_shards(line: &mut SharedLine, worker: i64, gifts: &[ShardId], idle: Option<NowIdle>) -> Result<()> {
    if let Some(NowIdle { run: idle, held }) = idle {
        let sql = "UPDATE shard SET idle = $2 WHERE worker = $1 AND id = ANY($3) AND idle IS DISTINCT FROM $2";
        let sql = line.prepared("mark shards", sql)?;
        line.wait("mark shards", line.client().execute(&sql, &[&worker, &idle, &held]))?;
    }
    if !gifts.is_empty() {
        let gifts: Vec<i16> = gifts.iter().map(|shard| shard.sql()).collect();
        let sql = "UPDATE shard SET worker = NULL, since = now() WHERE worker = $1 AND id = ANY($2)";
        line.wait("give shards away", line.client().execute(sql, &[&worker, &gifts]))?;
    }
    Ok(())
}

/// Adds the batch's counters to those of its run. The run's row is locked until the commit, which
/// comes next.
fn count(line: &mut SharedLine, batch: &Batch) -> Result<()> {
    if batch.counters.is_empty() {
        return Ok(());
    }
    let run = batch.run.0.cast_signed();
    let sql = line.prepared("count", "SELECT coalesce(counters, '') FROM run_row WHERE id = $1 FOR UPDATE")?;
    let Some(row) = line.wait("count", line.client().query_opt(&sql, &[&run]))? else {
        return Err(StoreError::BadBatch("there is no such run".to_owned()));
    };
    let counters = batch.counters.added_to(row.get(0));
    let sql = line.prepared("count", "UPDATE run_row SET counters = $2 WHERE id = $1")?;
    line.wait("count", line.client().execute(&sql, &[&run, &counters])).map(drop)
}

/// Copies rows into a table.
pub(super) fn copy(line: &SharedLine, table: &str, rows: CopyRows) -> Result<()> {
    if rows.len() == 0 {
        return Ok(());
    }
    let want = rows.len();
    let mut bytes = Bytes::from(rows.finish());
    let sql = format!("COPY {table} FROM STDIN (FORMAT binary)");
    let sink = line.wait("copy rows", line.client().copy_in::<_, Bytes>(&sql))?;
    let mut sink = pin!(sink);
    while !bytes.is_empty() {
        let chunk = bytes.split_to(bytes.len().min(CHUNK));
        line.wait("copy rows", sink.as_mut().send(chunk))?;
    }
    let copied = line.wait("copy rows", sink.as_mut().finish())?;
    if copied == want {
        Ok(())
    } else {
        Err(StoreError::Shared(format!("{copied} of {want} rows were copied into {table}")))
    }
}
