//! Who may say that a run has ended, and what is put in order then?
//!
//! A run has ended when, in one snapshot, every shard rests and no letter waits: work comes only
//! from shards that do not rest and from letters, so that nothing can follow such a snapshot. A
//! shard rests because nothing is left in it, or for want of budget; then the budget must be used
//! up, and nobody may hold a part of it.
//!
//! Two things need everything to be there and are done in that moment. A page that was visited
//! again tells which links it has, some of them by letters; those it has no more are closed now.
//! And where depth matters, pages that a shorter path leads to are corrected, and their shards told
//! so by letters: with these the run goes on, and pages that were too deep come in.

use super::connect::SharedLine;
use super::letters::{self, Letter, NearerLetter};
use super::schema::{ANALYZE_FACTS, DROP_LINK_INDEX, LINK_INDEX, schema_of};
use super::{ShardId, SharedProject};
use crate::error::Result;
use orb_page::{Flag, LinkKind, PageId, RunId, RunState};
use std::collections::BTreeMap;

/// Which links count for the distance from the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthRule {
    /// Whether `nofollow` links are followed.
    pub follow_nofollow: bool,
}

/// How an open run stands: whether everything rests, whether something rests for want of budget,
/// and whether that is used up.
const STANDING: &str = "SELECT NOT EXISTS (SELECT 1 FROM shard WHERE idle IS NULL OR abs(idle) <> $1) AND NOT EXISTS (SELECT 1 FROM letter),
      EXISTS (SELECT 1 FROM shard WHERE idle = -$1),
      coalesce(r.budget_left <= 0 AND NOT EXISTS (SELECT 1 FROM worker WHERE alive AND ticket_run = $1 AND ticket > 0), false)
      OR coalesce(r.bytes_left <= 0 AND NOT EXISTS (SELECT 1 FROM worker WHERE alive AND ticket_run = $1 AND byte_ticket > 0), false)
      OR coalesce(r.used_ms + (extract(epoch FROM clock_timestamp()) * 1000)::bigint - r.resumed_at >= r.max_ms, false)
    FROM run_row r WHERE r.id = $1 AND r.finished_at IS NULL";

/// What is left in the queues: pages never visited, or meant to be visited again since. Tables are
/// joined by the shard as well wherever that is known, so that each server can answer for itself
/// where they are distributed.
const QUEUED: &str = "SELECT count(*) FROM page_row p WHERE p.kind = 0 AND NOT EXISTS
      (SELECT 1 FROM visit_row v WHERE v.page = p.id AND v.shard = p.shard AND v.run >= coalesce(p.again, 0))";

/// Its time is counted here: several machines cannot.
const FINISH: &str = "UPDATE run_row r SET state = $2, finished_at = n.at, used_ms = r.used_ms + n.at - r.resumed_at,
      counters = (coalesce(nullif(r.counters, ''), '{}')::jsonb || jsonb_build_object(
        'seconds', (r.used_ms + n.at - r.resumed_at) / 1000.0, 'frontier', $3::bigint))::text
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at) n
    WHERE r.id = $1 AND r.finished_at IS NULL";

/// Links that pages visited in this run had before and have no more.
const CLOSE: &str = "UPDATE link_row l SET last_run = s.before FROM (
      SELECT v.shard, v.page, max(p.run) AS before FROM visit_row v
      JOIN visit_row p ON p.page = v.page AND p.shard = v.shard AND p.run < $1
      WHERE v.run = $1 AND (v.flag = ANY($2) OR v.flag = $3 AND EXISTS
        (SELECT 1 FROM link_row k WHERE k.source = v.page AND k.shard = v.shard AND k.seen_run = $1))
      GROUP BY v.shard, v.page) s
    WHERE l.source = s.page AND l.shard = s.shard AND l.last_run IS NULL AND l.seen_run < $1";

/// What a pass over the links brings nearer: by all of them, or by those of these pages. A link is
/// in the shard of its source; where its target is, nobody knows before.
const NEARER: &str = "WITH reached AS MATERIALIZED (
      SELECT page, step, min(depth) AS depth FROM (
        SELECT l.dst AS page, s.step, s.depth + CASE WHEN l.kind = $1 THEN 0 ELSE 1 END AS depth
        FROM link_row l JOIN page_row s ON s.id = l.source AND s.shard = l.shard
        WHERE ($4::bigint[] IS NULL OR l.source = ANY($4)) AND l.last_run IS NULL AND l.kind <> $2
          AND ($3 OR l.rel IS NULL OR l.rel NOT LIKE '%nofollow%')) r GROUP BY page, step)
    UPDATE page_row p SET depth = r.depth FROM reached r
    WHERE p.id = r.page AND r.depth < p.depth AND p.step IS NOT DISTINCT FROM r.step RETURNING p.shard, p.id, p.depth";

/// The same by aliases, which are of one host.
const NEARER_ALIAS: &str = "UPDATE page_row t SET depth = r.depth FROM (
      SELECT a.shard, a.target, min(p.depth) AS depth FROM alias_row a JOIN page_row p ON p.id = a.page AND p.shard = a.shard
      WHERE ($1::bigint[] IS NULL OR a.page = ANY($1)) AND a.tested = 0 GROUP BY a.shard, a.target) r
    WHERE t.id = r.target AND t.shard = r.shard AND r.depth < t.depth RETURNING t.shard, t.id, t.depth";

impl SharedProject {
    /// Ends a run if everything is done; whether it is over, by whomever it was ended.
    pub fn end_if_done(&mut self, run: RunId) -> Result<bool> {
        self.end_if_over(run, None)
    }

    /// The same where depth matters: pages that a shorter path brings in are not done yet.
    pub fn end_if_over(&mut self, run: RunId, depths: Option<DepthRule>) -> Result<bool> {
        let id = run.0.cast_signed();
        match self.with(|line| standing(line, id))? {
            Some(None) => return Ok(false),
            Some(Some(_)) => {}
            None => {
                let sql = "SELECT finished_at IS NOT NULL FROM run_row WHERE id = $1";
                let row = self.with(|line| line.wait("read the run", line.client().query_opt(sql, &[&id])))?;
                return Ok(row.is_some_and(|row| row.get(0)));
            }
        }
        let over = self.with(|line| {
            line.begin("end the run")?;
            let over = end(line, id, depths)?;
            line.run("end the run", "COMMIT")?;
            Ok(over)
        })?;
        if over {
            self.index_links()?;
        }
        Ok(over)
    }

    /// Ends a run that is stopped.
    pub fn finish_run(&mut self, run: RunId, state: RunState) -> Result<()> {
        let queued = self.with(queued)?;
        self.set_run(FINISH, &[&run.0.cast_signed(), &state.name(), &queued])?;
        self.index_links()
    }

    /// Makes what people's questions need and a crawl does not. Workers of the next run may commit
    /// meanwhile. Of several who try, one does it: the lock is given up with the connection.
    fn index_links(&mut self) -> Result<()> {
        const WHAT: &str = "index the links";
        let schema = schema_of(&self.name);
        self.with(|line| {
            let mine = "SELECT pg_try_advisory_lock(hashtext($1), hashtext('links'))";
            if !line.wait(WHAT, line.client().query_one(mine, &[&schema]))?.get::<_, bool>(0) {
                return Ok(());
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('link_by_source') AND NOT indisvalid)";
            if line.wait(WHAT, line.client().query_one(sql, &[]))?.get(0) {
                line.wait_long(WHAT, line.client().batch_execute(DROP_LINK_INDEX))?;
            }
            line.wait_long(WHAT, line.client().batch_execute(LINK_INDEX))?;
            line.wait_long(WHAT, line.client().batch_execute(ANALYZE_FACTS))?;
            let unlock = "SELECT pg_advisory_unlock(hashtext($1), hashtext('links'))";
            line.wait(WHAT, line.client().query_one(unlock, &[&schema])).map(drop)
        })
    }
}

/// How many pages are left in the queues.
fn queued(line: &mut SharedLine) -> Result<i64> {
    Ok(line.wait_long("count what is queued", line.client().query_one(QUEUED, &[]))?.get(0))
}

/// How an open run could end now, if it could; nothing if it is not open.
fn standing(line: &mut SharedLine, run: i32) -> Result<Option<Option<RunState>>> {
    let sql = line.prepared("look at the run", STANDING)?;
    let Some(row) = line.wait("look at the run", line.client().query_opt(&sql, &[&run]))? else { return Ok(None) };
    let (rests, short, spent): (bool, bool, bool) = (row.get(0), row.get(1), row.get(2));
    Ok(Some(match (rests, short, spent) {
        (true, false, _) => Some(RunState::Done),
        (true, true, true) => Some(RunState::Budget),
        _ => None,
    }))
}

/// Ends the run within a transaction, unless it goes on; whether it is over.
fn end(line: &mut SharedLine, run: i32, depths: Option<DepthRule>) -> Result<bool> {
    let sql = "SELECT 1 FROM run_row WHERE id = $1 AND finished_at IS NULL FOR UPDATE";
    if line.wait("end the run", line.client().query_opt(sql, &[&run]))?.is_none() {
        return Ok(true);
    }
    let Some(Some(state)) = standing(line, run)? else { return Ok(false) };
    if run > 1 {
        let [new, updated, missing, same] =
            [Flag::New, Flag::Updated, Flag::Missing, Flag::Same].map(|flag| i16::from(flag.code()));
        let seen = vec![new, updated, missing];
        line.wait_long("close links", line.client().execute(CLOSE, &[&run, &seen, &same]))?;
    }
    if let Some(rule) = depths.filter(|_| state == RunState::Done)
        && bring_nearer(line, rule)?
    {
        return Ok(false);
    }
    let queued = queued(line)?;
    line.wait_long("end the run", line.client().execute(FINISH, &[&run, &state.name(), &queued]))?;
    Ok(true)
}

/// Corrects depths that are larger than the shortest path over followed links (Bellman and Ford, as
/// `sqlite/depth.rs` does), and tells the shards; whether there were any.
fn bring_nearer(line: &mut SharedLine, rule: DepthRule) -> Result<bool> {
    let mut nearer: BTreeMap<PageId, (ShardId, u32)> = BTreeMap::new();
    let [redirect, form] = [LinkKind::Redirect, LinkKind::Form].map(|kind| i16::from(kind.code()));
    let mut changed: Option<Vec<i64>> = None;
    loop {
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&redirect, &form, &rule.follow_nofollow, &changed];
        let mut rows = line.wait_long("settle the depths", line.client().query(NEARER, &values))?;
        rows.extend(line.wait_long("settle the depths", line.client().query(NEARER_ALIAS, &[&changed]))?);
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            let (page, depth) = (row.get::<_, i64>(1).cast_unsigned(), row.get::<_, i32>(2).cast_unsigned());
            nearer.insert(PageId(page), (ShardId::from_sql(row.get(0)), depth));
        }
        changed = Some(rows.iter().map(|row| row.get(1)).collect());
    }
    let mut letters: BTreeMap<ShardId, Vec<Letter>> = BTreeMap::new();
    for (page, (shard, depth)) in nearer {
        letters.entry(shard).or_default().push(Letter::Nearer(NearerLetter { page, depth }));
    }
    letters::write_from_nobody(line, &letters)?;
    Ok(!letters.is_empty())
}
