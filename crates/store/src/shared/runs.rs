//! How does a shared run begin, and who may say that it has ended?
//!
//! A run begins with its row, its seeds and a letter for each of them in one transaction. It has
//! ended when, in one snapshot, every shard is idle for it and no letter waits: work comes only
//! from shards that are not idle and from letters, so that nothing can follow such a snapshot.

use super::connect::SharedLine;
use super::letters::{self, FoundLetter, Letter};
use super::schema::AFTER_A_RUN;
use super::seeds::{self, SeedToPlant};
use super::{ShardId, SharedProject, shard_of};
use crate::error::{Result, StoreError};
use crate::sqlite::{RunRecord, RunStatus};
use orb_page::{LinkKind, Moment, RunId, RunKind, RunState, Verdict};
use orb_urls::Address;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_postgres::Row;

/// A run of a shared project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRun {
    /// The run itself.
    pub record: RunRecord,
    /// How many pages of its budget nobody has drawn yet; `None` if it has no budget.
    pub budget: Option<u64>,
    /// The machines it is meant for; empty means any.
    pub machines: Vec<String>,
}

/// A run to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedRun {
    /// What it is for.
    pub kind: RunKind,
    /// Its settings, as text.
    pub settings: String,
    /// How many pages it may fetch.
    pub budget: Option<u64>,
    /// The machines it is meant for; empty means any.
    pub machines: Vec<String>,
    /// Where it starts.
    pub seeds: Vec<SeedToPlant>,
    /// Who plants the seeds.
    pub by: Arc<str>,
}

const COLUMNS: &str =
    "id, kind, state, started_at, finished_at, coalesce(counters, ''), coalesce(settings, ''), budget_left, machines";

pub(super) fn read_run(row: &Row) -> SharedRun {
    let record = RunRecord {
        id: RunId(row.get::<_, i32>(0).cast_unsigned()),
        kind: RunKind::of(row.get(1)),
        state: RunStatus::of(row.get(2)),
        started_at: Moment(row.get(3)),
        finished_at: row.get::<_, Option<i64>>(4).map(Moment),
        counters: row.get(5),
        settings: row.get(6),
    };
    SharedRun { record, budget: row.get::<_, Option<i64>>(7).map(i64::cast_unsigned), machines: row.get(8) }
}

/// The last run of the project.
pub(super) fn last(line: &mut SharedLine) -> Result<Option<SharedRun>> {
    let sql = line.prepared("read the last run", &format!("SELECT {COLUMNS} FROM run_row ORDER BY id DESC LIMIT 1"))?;
    Ok(line.wait("read the last run", line.client().query_opt(&sql, &[]))?.as_ref().map(read_run))
}

impl SharedProject {
    /// The last run, ended or not.
    pub fn last_run(&mut self) -> Result<Option<SharedRun>> {
        self.with(last)
    }

    /// Begins a run: its row, its seeds, and a letter for each of these.
    pub fn plant(&mut self, run: &PlantedRun) -> Result<RunId> {
        let letters = seed_letters(&run.seeds, &run.by, self.shards)?;
        self.with(|line| {
            line.run("begin a run", "BEGIN")?;
            let sql = "UPDATE project SET next_run = next_run + 1 RETURNING next_run - 1";
            let id: i32 = line.wait("begin a run", line.client().query_one(sql, &[]))?.get(0);
            let open = "SELECT id FROM run_row WHERE finished_at IS NULL LIMIT 1";
            if let Some(row) = line.wait("begin a run", line.client().query_opt(open, &[]))? {
                return Err(StoreError::Shared(format!("run {} has not ended", row.get::<_, i32>(0))));
            }
            let sql = "INSERT INTO run_row (id, kind, state, started_at, settings, budget_left, machines)
                       VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $4, $5, $6)";
            let budget = run.budget.map(u64::cast_signed);
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                [&id, &run.kind.name(), &RunStatus::Running.name(), &run.settings, &budget, &run.machines];
            line.wait("begin a run", line.client().execute(sql, &values))?;
            seeds::write(line, run.seeds.iter().map(|seed| (seed, None)))?;
            letters::write_from_nobody(line, &letters)?;
            line.run("begin a run", "COMMIT")?;
            Ok(RunId(id.cast_unsigned()))
        })
    }

    /// Adds seeds to a run that goes on.
    pub fn add_seeds(&mut self, run: RunId, planted: &[SeedToPlant]) -> Result<()> {
        let letters = seed_letters(planted, &Arc::from("orb"), self.shards)?;
        self.with(|line| {
            line.run("add seeds", "BEGIN")?;
            let sql = "SELECT 1 FROM run_row WHERE id = $1 AND finished_at IS NULL FOR UPDATE";
            let open = line.wait("add seeds", line.client().query_opt(sql, &[&run.0.cast_signed()]))?;
            if open.is_none() {
                return Err(StoreError::Shared(format!("run {} does not go on", run.0)));
            }
            seeds::write(line, planted.iter().map(|seed| (seed, None)))?;
            letters::write_from_nobody(line, &letters)?;
            line.run("add seeds", "COMMIT")
        })
    }

    /// Takes up a run that was stopped, with another budget if one is given.
    pub fn resume_run(&mut self, run: RunId, budget: Option<u64>) -> Result<()> {
        let sql =
            "UPDATE run_row SET state = $2, finished_at = NULL, budget_left = coalesce($3, budget_left) WHERE id = $1";
        let budget = budget.map(u64::cast_signed);
        self.set_run(sql, &[&run.0.cast_signed(), &RunStatus::Running.name(), &budget])
    }

    /// Ends a run that is stopped, or whose budget is used up.
    pub fn finish_run(&mut self, run: RunId, state: RunState) -> Result<()> {
        let sql = "UPDATE run_row SET state = $2, finished_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                   WHERE id = $1 AND finished_at IS NULL";
        self.set_run(sql, &[&run.0.cast_signed(), &state.name()])?;
        self.with(|line| line.run("index the links", AFTER_A_RUN))
    }

    fn set_run(&mut self, sql: &str, values: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Result<()> {
        self.with(|line| match line.wait("write the run", line.client().execute(sql, values))? {
            1 => Ok(()),
            _ => Err(StoreError::Shared("there is no such run, or it has ended".to_owned())),
        })
    }

    /// Ends a run if everything is done; whether it is over, by whomever it was ended.
    pub fn end_if_done(&mut self, run: RunId) -> Result<bool> {
        let id = run.0.cast_signed();
        let sql = "UPDATE run_row SET state = $2, finished_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                   WHERE id = $1 AND finished_at IS NULL
                   AND NOT EXISTS (SELECT 1 FROM shard WHERE idle IS DISTINCT FROM $1) AND NOT EXISTS (SELECT 1 FROM letter)";
        let ended =
            self.with(|line| line.wait("end the run", line.client().execute(sql, &[&id, &RunState::Done.name()])))?;
        if ended > 0 {
            self.with(|line| line.run("index the links", AFTER_A_RUN))?;
            return Ok(true);
        }
        let sql = "SELECT finished_at IS NOT NULL FROM run_row WHERE id = $1";
        let row = self.with(|line| line.wait("read the run", line.client().query_opt(sql, &[&id])))?;
        Ok(row.is_some_and(|row| row.get(0)))
    }
}

/// A letter for every seed, by the shards they go to.
fn seed_letters(seeds: &[SeedToPlant], by: &Arc<str>, shards: u16) -> Result<BTreeMap<ShardId, Vec<Letter>>> {
    let mut letters: BTreeMap<ShardId, Vec<Letter>> = BTreeMap::new();
    for seed in seeds {
        let address = Address::from_canonical(&seed.url)
            .map_err(|e| StoreError::Shared(format!("the seed {} is not canonical: {e}", seed.url)))?;
        let letter = Letter::Found(FoundLetter {
            from: None,
            at: Moment::now(),
            by: Arc::clone(by),
            step: seed.step,
            depth: 0,
            redirects: 0,
            url: seed.url.clone(),
            asked: None,
            kind: LinkKind::A,
            anchor: String::new(),
            rel: String::new(),
            count: 1,
            priority: 1.0,
            verdict: Verdict::Follow,
            row: false,
        });
        letters.entry(shard_of(address.host(), shards)).or_default().push(letter);
    }
    Ok(letters)
}
