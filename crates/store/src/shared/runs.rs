//! How does a shared run begin?
//!
//! With its row, its budgets, the pages chosen to be visited again, its seeds and a letter for each
//! of these, in one transaction. How it ends is in `ending.rs`.

use super::connect::SharedLine;
use super::letters::{self, FoundLetter, Letter};
use super::seeds::{self, SeedToPlant};
use super::{ShardId, SharedProject, shard_of};
use crate::error::{Result, StoreError};
use crate::sqlite::{RunRecord, RunStatus};
use orb_page::{Moment, PageId, RunId, RunKind};
use orb_urls::Address;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;

/// A run of a shared project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRun {
    /// The run itself.
    pub record: RunRecord,
    /// How many pages of its budget nobody has drawn yet; `None` if it has no budget.
    pub budget: Option<u64>,
    /// How many bytes of its budget nobody has drawn yet.
    pub bytes: Option<u64>,
    /// How long it may take, over all resumptions.
    pub time: Option<Duration>,
    /// How long it has taken.
    pub elapsed: Duration,
    /// Which known pages it visits, as its planter wrote it down.
    pub choice: Option<String>,
    /// The machines it is meant for; empty means any.
    pub machines: Vec<String>,
}

/// What limits a run besides a number of pages, and what it visits again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTerms {
    /// How many bytes it may fetch.
    pub bytes: Option<u64>,
    /// How long it may take.
    pub time: Option<Duration>,
    /// Which known pages it visits, in its planter's words.
    pub choice: Option<String>,
    /// These pages, if they are not all.
    pub chosen: Vec<PageId>,
    /// The number that the run must get: none is begun if somebody else has begun one since.
    pub number: Option<RunId>,
    /// The project's settings from then on, if they change with it.
    pub kept: Option<String>,
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

const COLUMNS: &str = "id, kind, state, started_at, finished_at, coalesce(counters, ''), coalesce(settings, ''), budget_left, machines,
    bytes_left, max_ms, used_ms + CASE WHEN finished_at IS NULL THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint - resumed_at ELSE 0 END,
    choice";

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
    let amount = |at| row.get::<_, Option<i64>>(at).map(|left| left.max(0).cast_unsigned());
    SharedRun {
        record,
        budget: amount(7),
        bytes: amount(9),
        time: amount(10).map(Duration::from_millis),
        elapsed: Duration::from_millis(amount(11).unwrap_or(0)),
        choice: row.get(12),
        machines: row.get(8),
    }
}

/// The last run of the project.
pub(super) fn last(line: &mut SharedLine) -> Result<Option<SharedRun>> {
    let sql = line.prepared("read the last run", &format!("SELECT {COLUMNS} FROM run_row ORDER BY id DESC LIMIT 1"))?;
    Ok(line.wait("read the last run", line.client().query_opt(&sql, &[]))?.as_ref().map(read_run))
}

/// The same where the tables are another project's next time.
pub(super) fn last_once(line: &SharedLine) -> Result<Option<SharedRun>> {
    let sql = format!("SELECT {COLUMNS} FROM run_row ORDER BY id DESC LIMIT 1");
    Ok(line.wait("read the last run", line.client().query_opt(&sql, &[]))?.as_ref().map(read_run))
}

impl SharedProject {
    /// The last run, ended or not.
    pub fn last_run(&mut self) -> Result<Option<SharedRun>> {
        self.with(last)
    }

    /// Begins a run: its row, its seeds, and a letter for each of these.
    pub fn plant(&mut self, run: &PlantedRun) -> Result<RunId> {
        self.plant_on(run, &RunTerms::default())
    }

    /// The same with other limits than a number of pages, or with pages to visit again.
    pub fn plant_on(&mut self, run: &PlantedRun, terms: &RunTerms) -> Result<RunId> {
        let letters = seed_letters(&run.seeds, &run.by, self.shards)?;
        self.with(|line| {
            line.begin("begin a run")?;
            let sql = "UPDATE project SET next_run = next_run + 1 RETURNING next_run - 1";
            let id: i32 = line.wait("begin a run", line.client().query_one(sql, &[]))?.get(0);
            if terms.number.is_some_and(|number| number.0.cast_signed() != id) {
                return Err(StoreError::Shared(format!("run {} was begun by somebody else", id - 1)));
            }
            let open = "SELECT id FROM run_row WHERE finished_at IS NULL LIMIT 1";
            if let Some(row) = line.wait("begin a run", line.client().query_opt(open, &[]))? {
                return Err(StoreError::Shared(format!("run {} has not ended", row.get::<_, i32>(0))));
            }
            let sql = "INSERT INTO run_row (id, kind, state, started_at, resumed_at, settings, budget_left, machines, bytes_left, max_ms, choice)
                       SELECT $1, $2, $3, n.at, n.at, $4, $5, $6, $7, $8, $9
                       FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at) n";
            let budget = run.budget.map(u64::cast_signed);
            let (bytes, time) = (terms.bytes.map(u64::cast_signed), millis(terms.time));
            let (kind, running) = (run.kind.name(), RunStatus::Running.name());
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 9] =
                [&id, &kind, &running, &run.settings, &budget, &run.machines, &bytes, &time, &terms.choice];
            line.wait("begin a run", line.client().execute(sql, &values))?;
            keep_settings(line, terms)?;
            choose(line, &terms.chosen)?;
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
            line.begin("add seeds")?;
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
        self.resume_on(run, budget, &RunTerms::default(), &[])
    }

    /// The same with other limits than a number of pages, where those that are not given stay, and
    /// with more seeds. All at once: a run that goes on with nothing to do would end before its
    /// seeds come. One that goes on already keeps its limits.
    pub fn resume_on(
        &mut self,
        run: RunId,
        budget: Option<u64>,
        terms: &RunTerms,
        planted: &[SeedToPlant],
    ) -> Result<()> {
        const WHAT: &str = "resume a run";
        let letters = seed_letters(planted, &Arc::from("orb"), self.shards)?;
        self.with(|line| {
            line.begin(WHAT)?;
            let id = run.0.cast_signed();
            let sql = "SELECT state, finished_at IS NULL FROM run_row WHERE id = $1 FOR UPDATE";
            let row = line.wait(WHAT, line.client().query_opt(sql, &[&id]))?;
            let row = row.filter(|row| RunStatus::of(row.get(0)).is_resumed());
            let row = row.ok_or_else(|| StoreError::Shared(format!("run {} does not go on", run.0)))?;
            if !row.get::<_, bool>(1) {
                reopen(line, id, budget, terms)?;
            }
            keep_settings(line, terms)?;
            seeds::write(line, planted.iter().map(|seed| (seed, None)))?;
            letters::write_from_nobody(line, &letters)?;
            line.run(WHAT, "COMMIT")
        })
    }

    pub(super) fn set_run(&mut self, sql: &str, values: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Result<()> {
        self.with(|line| match line.wait("write the run", line.client().execute(sql, values))? {
            1 => Ok(()),
            _ => Err(StoreError::Shared("there is no such run, or it has ended".to_owned())),
        })
    }
}

/// Lets a stopped run go on, within a transaction.
fn reopen(line: &SharedLine, run: i32, budget: Option<u64>, terms: &RunTerms) -> Result<()> {
    let sql = "UPDATE run_row SET state = $2, finished_at = NULL, budget_left = coalesce($3, budget_left),
                 bytes_left = coalesce($4, bytes_left), max_ms = coalesce($5, max_ms),
                 resumed_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
               WHERE id = $1";
    let (budget, bytes) = (budget.map(u64::cast_signed), terms.bytes.map(u64::cast_signed));
    let (running, time) = (RunStatus::Running.name(), millis(terms.time));
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] = [&run, &running, &budget, &bytes, &time];
    line.wait("resume a run", line.client().execute(sql, &values)).map(drop)
}

/// Writes the project's settings down if they change with a run, within its transaction: a run that
/// is refused leaves them as they were.
fn keep_settings(line: &SharedLine, terms: &RunTerms) -> Result<()> {
    let Some(text) = &terms.kept else { return Ok(()) };
    let sql = "UPDATE project SET settings = $1";
    line.wait("keep the settings", line.client().execute(sql, &[text])).map(drop)
}

fn millis(span: Option<Duration>) -> Option<i64> {
    span.map(|span| i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
}

/// Writes down which known pages a run visits, for whoever takes their shards.
fn choose(line: &SharedLine, chosen: &[PageId]) -> Result<()> {
    line.run("choose pages", "DELETE FROM chosen_row")?;
    for some in chosen.chunks(100_000) {
        let pages: Vec<i64> = some.iter().map(|page| page.0.cast_signed()).collect();
        let sql = "INSERT INTO chosen_row (shard, page) SELECT shard, id FROM page_row WHERE id = ANY($1) ON CONFLICT DO NOTHING";
        line.wait("choose pages", line.client().execute(sql, &[&pages]))?;
    }
    Ok(())
}

/// A letter for every seed, by the shards they go to.
fn seed_letters(seeds: &[SeedToPlant], by: &Arc<str>, shards: u16) -> Result<BTreeMap<ShardId, Vec<Letter>>> {
    let mut letters: BTreeMap<ShardId, Vec<Letter>> = BTreeMap::new();
    for seed in seeds {
        let address = Address::from_canonical(&seed.url)
            .map_err(|e| StoreError::Shared(format!("the seed {} is not canonical: {e}", seed.url)))?;
        let letter = Letter::Found(FoundLetter::root(&seed.url, seed.step, Moment::now(), by));
        letters.entry(shard_of(address.host(), shards)).or_default().push(letter);
    }
    Ok(letters)
}
