//! Which rows does a batch change?
//!
//! What was learnt about hosts, pages that leave or enter queues, aliases, trap counters. A batch
//! may say several things about one row; they are put together first, the later winning, because
//! one statement changes a row once.

use super::connect::SharedLine;
use super::writer::SharedWriter;
use crate::error::Result;
use crate::sqlite::Catalogue;
use crate::{Batch, HostFact};
use orb_page::{Flag, HostId, PageId, RunId};
use std::collections::BTreeMap;
use tokio_postgres::types::ToSql;

/// The columns of all statements.
#[derive(Default)]
pub(super) struct FactColumns {
    hosts: Vec<(i16, HostFact)>,
    noises: Vec<(i16, i32, String)>,
    requeued: Vec<RequeuedPage>,
    dropped: Vec<(i16, i64, i16, i32)>,
    around: Vec<(i16, i64, String)>,
    unaliased: Vec<(i16, i64)>,
    aliases: Vec<NewAlias>,
    alias_tests: Vec<(i16, i64)>,
    traps: BTreeMap<i64, i64>,
    duplicates: Vec<(i64, i64)>,
}

struct RequeuedPage {
    shard: i16,
    page: i64,
    rank: i64,
    depth: i32,
    step: Option<i32>,
}

struct NewAlias {
    shard: i16,
    host: i32,
    page: i64,
    target: i64,
    rules: i64,
    name: i32,
    tested: i16,
}

impl FactColumns {
    pub(super) fn of(writer: &mut SharedWriter, batch: &Batch, scratch: &Catalogue) -> Result<Self> {
        let mut columns = Self::default();
        let mut hosts: BTreeMap<HostId, HostFact> = BTreeMap::new();
        for fact in &batch.facts {
            merge(hosts.entry(fact.id).or_insert_with(|| HostFact { id: fact.id, ..HostFact::default() }), fact);
        }
        for (id, fact) in hosts {
            columns.hosts.push((writer.shard_of_host(id, scratch)?.sql(), fact));
        }
        let noises: BTreeMap<HostId, &String> = batch.noises.iter().map(|(host, text)| (*host, text)).collect();
        for (host, text) in noises {
            let shard = writer.shard_of_host(host, scratch)?.sql();
            columns.noises.push((shard, host.0.cast_signed(), plain(text)));
        }
        let requeued: BTreeMap<PageId, _> = batch.requeued.iter().map(|r| (r.page, r)).collect();
        for (page, r) in requeued {
            let shard = writer.shard_of_host(r.host, scratch)?.sql();
            let (depth, step) = (r.depth.cast_signed(), r.step.map(u32::cast_signed));
            let (page, rank) = (page.0.cast_signed(), r.rank.cast_signed());
            columns.requeued.push(RequeuedPage { shard, page, rank, depth, step });
        }
        let dropped: BTreeMap<PageId, _> = batch.dropped.iter().map(|d| (d.place.page, d)).collect();
        for (page, d) in dropped {
            let shard = writer.shard_of_host(d.place.host, scratch)?.sql();
            let why = writer.names.of(d.why.name())?;
            columns.dropped.push((shard, page.0.cast_signed(), i16::from(d.kind.code()), why));
        }
        for visit in batch.visits.iter().map(|finished| &finished.visit).filter(|visit| visit.flag == Flag::Same) {
            if let Some(detail) = &visit.detail {
                let shard = writer.shard_of_host(visit.host, scratch)?.sql();
                columns.around.push((shard, visit.page.0.cast_signed(), plain(detail)));
            }
        }
        columns.alias(writer, batch, scratch)?;
        columns.traps = batch.traps.iter().map(|(key, count)| (key.cast_signed(), i64::from(*count))).collect();
        let pairs = batch.duplicates.iter().map(|(page, of)| (page.0.cast_signed(), of.0.cast_signed()));
        columns.duplicates = pairs.collect::<BTreeMap<_, _>>().into_iter().collect();
        Ok(columns)
    }

    fn alias(&mut self, writer: &mut SharedWriter, batch: &Batch, scratch: &Catalogue) -> Result<()> {
        for (host, page) in &batch.unaliased {
            self.unaliased.push((writer.shard_of_host(*host, scratch)?.sql(), page.0.cast_signed()));
        }
        let aliases: BTreeMap<PageId, _> = batch.aliases.iter().map(|alias| (alias.page, alias)).collect();
        for (page, alias) in aliases {
            self.aliases.push(NewAlias {
                shard: writer.shard_of_host(alias.host, scratch)?.sql(),
                host: alias.host.0.cast_signed(),
                page: page.0.cast_signed(),
                target: alias.target.0.cast_signed(),
                rules: alias.rules.cast_signed(),
                name: writer.names.of(&alias.name)?,
                tested: i16::from(alias.tested),
            });
        }
        for (host, page) in &batch.alias_tests {
            self.alias_tests.push((writer.shard_of_host(*host, scratch)?.sql(), page.0.cast_signed()));
        }
        Ok(())
    }

    /// Makes the changes within a transaction, in the order in which the catalogue does.
    pub(super) fn write(self, line: &mut SharedLine, run: RunId) -> Result<()> {
        let run = run.0.cast_signed();
        pages(line, &self, run)?;
        aliases(line, &self)?;
        hosts(line, &self.hosts, run)?;
        let noises = &self.noises;
        let (shards, hosts) = (col(noises, |n| n.0), col(noises, |n| n.1));
        upsert(line, NOISE, noises.len(), &[&shards, &hosts, &col(noises, |n| n.2.clone())])?;
        let (keys, counts): (Vec<i64>, Vec<i64>) = self.traps.iter().map(|(key, count)| (*key, *count)).unzip();
        upsert(line, TRAP, keys.len(), &[&keys, &counts])?;
        let (pages, firsts): (Vec<i64>, Vec<i64>) = self.duplicates.iter().copied().unzip();
        upsert(line, DUPLICATE, pages.len(), &[&pages, &firsts, &run, &i16::from(orb_page::PageKind::Duplicate.code())])
    }
}

const REQUEUE: &str = "UPDATE page_row p SET kind = 0, why = NULL, redirects = CASE WHEN p.kind = 0 THEN p.redirects ELSE 0 END,
    rank = r.rank, depth = r.depth, again = $6, step = r.step
    FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[]) AS r(shard, id, rank, depth, step)
    WHERE p.id = r.id AND p.shard = r.shard";
const DROP: &str = "UPDATE page_row p SET kind = d.kind, why = d.why
    FROM unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::integer[]) AS d(shard, id, kind, why)
    WHERE p.id = d.id AND p.shard = d.shard";
const AROUND: &str = "INSERT INTO around_row (shard, page, detail, run)
    SELECT a.shard, a.page, a.detail, $4::integer FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS a(shard, page, detail)
    ON CONFLICT (run, page, shard) DO UPDATE SET detail = excluded.detail";
const UNALIAS: &str = "DELETE FROM alias_row a USING unnest($1::smallint[], $2::bigint[]) AS u(shard, page)
    WHERE a.page = u.page AND a.shard = u.shard";
const ALIAS: &str = "INSERT INTO alias_row (shard, host, page, target, rules, name, tested)
    SELECT * FROM unnest($1::smallint[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::smallint[])
    ON CONFLICT (host, page, shard) DO UPDATE SET target = excluded.target, rules = excluded.rules, name = excluded.name, tested = excluded.tested";
const TESTED: &str = "UPDATE alias_row a SET tested = 1 FROM unnest($1::smallint[], $2::bigint[]) AS t(shard, page)
    WHERE a.page = t.page AND a.shard = t.shard";
const HOST: &str = "UPDATE host_row h SET ip = coalesce(f.ip, h.ip), not_before = coalesce(f.not_before, h.not_before),
      backoff_ms = coalesce(f.backoff, h.backoff_ms)
    FROM unnest($1::smallint[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[]) AS f(shard, id, ip, not_before, backoff)
    WHERE h.id = f.id AND h.shard = f.shard";
const TALLY: &str = "INSERT INTO tally_row AS t (shard, host, pages, errors, run)
    SELECT f.shard, f.host, f.pages, f.errors, CASE WHEN f.pages > 0 THEN $5::integer END
    FROM unnest($1::smallint[], $2::integer[], $3::bigint[], $4::bigint[]) AS f(shard, host, pages, errors)
    ON CONFLICT (host, shard) DO UPDATE SET pages = t.pages + excluded.pages, errors = t.errors + excluded.errors,
      run = coalesce(excluded.run, t.run)";
const ROBOTS: &str = "INSERT INTO robots_row (shard, host, at, status, crawl_delay, text)
    SELECT * FROM unnest($1::smallint[], $2::integer[], $3::bigint[], $4::integer[], $5::float8[], $6::text[])
    ON CONFLICT (host, shard) DO UPDATE SET at = excluded.at, status = excluded.status, crawl_delay = excluded.crawl_delay,
      text = excluded.text";
const SITEMAPS: &str = "INSERT INTO robots_row (shard, host, at, status, text, sitemaps)
    SELECT s.shard, s.host, 0, 0, '', s.list FROM unnest($1::smallint[], $2::integer[], $3::text[]) AS s(shard, host, list)
    ON CONFLICT (host, shard) DO UPDATE SET sitemaps = excluded.sitemaps";
const SESSION: &str =
    "INSERT INTO session_row (shard, host, rules) SELECT * FROM unnest($1::smallint[], $2::integer[], $3::text[])
    ON CONFLICT (host, shard) DO UPDATE SET rules = excluded.rules";
const ALIAS_RULE: &str =
    "INSERT INTO alias_rule_row (shard, host, rules) SELECT * FROM unnest($1::smallint[], $2::integer[], $3::text[])
    ON CONFLICT (host, shard) DO UPDATE SET rules = excluded.rules";
const NOISE: &str =
    "INSERT INTO noise_row (shard, host, text) SELECT * FROM unnest($1::smallint[], $2::integer[], $3::text[])
    ON CONFLICT (host, shard) DO UPDATE SET text = excluded.text";
const TRAP: &str = "INSERT INTO trap_row (key, count) SELECT * FROM unnest($1::bigint[], $2::bigint[])
    ON CONFLICT (key) DO UPDATE SET count = excluded.count";
const DUPLICATE: &str = "UPDATE visit_row v SET duplicate_of = d.first, kind = $4
    FROM unnest($1::bigint[], $2::bigint[]) AS d(page, first) WHERE v.page = d.page AND v.run = $3";

fn pages(line: &mut SharedLine, columns: &FactColumns, run: i32) -> Result<()> {
    let r = &columns.requeued;
    let values: [&(dyn ToSql + Sync); 6] = [
        &col(r, |r| r.shard),
        &col(r, |r| r.page),
        &col(r, |r| r.rank),
        &col(r, |r| r.depth),
        &col(r, |r| r.step),
        &run,
    ];
    upsert(line, REQUEUE, r.len(), &values)?;
    let a = &columns.around;
    upsert(line, AROUND, a.len(), &[&col(a, |a| a.0), &col(a, |a| a.1), &col(a, |a| a.2.clone()), &run])?;
    let d = &columns.dropped;
    upsert(line, DROP, d.len(), &[&col(d, |d| d.0), &col(d, |d| d.1), &col(d, |d| d.2), &col(d, |d| d.3)])
}

fn aliases(line: &mut SharedLine, columns: &FactColumns) -> Result<()> {
    let u = &columns.unaliased;
    upsert(line, UNALIAS, u.len(), &[&col(u, |u| u.0), &col(u, |u| u.1)])?;
    let a = &columns.aliases;
    let values: [&(dyn ToSql + Sync); 7] = [
        &col(a, |a| a.shard),
        &col(a, |a| a.host),
        &col(a, |a| a.page),
        &col(a, |a| a.target),
        &col(a, |a| a.rules),
        &col(a, |a| a.name),
        &col(a, |a| a.tested),
    ];
    upsert(line, ALIAS, a.len(), &values)?;
    let t = &columns.alias_tests;
    upsert(line, TESTED, t.len(), &[&col(t, |t| t.0), &col(t, |t| t.1)])
}

fn hosts(line: &mut SharedLine, facts: &[(i16, HostFact)], run: i32) -> Result<()> {
    let of = |wanted: fn(&HostFact) -> bool| -> Vec<&(i16, HostFact)> {
        facts.iter().filter(|(_, fact)| wanted(fact)).collect()
    };
    let keys = |some: &[&(i16, HostFact)]| -> (Vec<i16>, Vec<i32>) {
        some.iter().map(|(shard, fact)| (*shard, fact.id.0.cast_signed())).unzip()
    };
    let some = of(|f| f.ip.is_some() || f.not_before.is_some() || f.backoff_ms.is_some());
    let (shards, ids) = keys(&some);
    let ips = col(&some, |f| f.1.ip.map(|ip| ip.to_string()));
    let (not_before, backoff) =
        (col(&some, |f| f.1.not_before.map(|m| m.0)), col(&some, |f| f.1.backoff_ms.map(u64::cast_signed)));
    upsert(line, HOST, some.len(), &[&shards, &ids, &ips, &not_before, &backoff])?;
    let some = of(|f| f.pages > 0 || f.errors > 0);
    let (shards, ids) = keys(&some);
    let (pages, errors) = (col(&some, |f| f.1.pages.cast_signed()), col(&some, |f| f.1.errors.cast_signed()));
    upsert(line, TALLY, some.len(), &[&shards, &ids, &pages, &errors, &run])?;
    let robots: Vec<_> =
        facts.iter().filter_map(|(shard, f)| Some((*shard, f.id.0.cast_signed(), f.robots.as_ref()?))).collect();
    let values: [&(dyn ToSql + Sync); 6] = [
        &col(&robots, |r| r.0),
        &col(&robots, |r| r.1),
        &col(&robots, |r| r.2.at.0),
        &col(&robots, |r| i32::from(r.2.status)),
        &col(&robots, |r| r.2.crawl_delay),
        &col(&robots, |r| plain(&r.2.text)),
    ];
    upsert(line, ROBOTS, robots.len(), &values)?;
    let some = of(|f| f.sitemaps.is_some());
    let (shards, ids) = keys(&some);
    let lists = col(&some, |f| plain(&f.1.sitemaps.as_deref().unwrap_or_default().join("\n")));
    upsert(line, SITEMAPS, some.len(), &[&shards, &ids, &lists])?;
    let some = of(|f| f.sessions.is_some());
    let (shards, ids) = keys(&some);
    upsert(line, SESSION, some.len(), &[&shards, &ids, &col(&some, |f| f.1.sessions.as_deref().map(plain))])?;
    let some = of(|f| f.aliases.is_some());
    let (shards, ids) = keys(&some);
    upsert(line, ALIAS_RULE, some.len(), &[&shards, &ids, &col(&some, |f| f.1.aliases.as_deref().map(plain))])
}

/// Runs a statement over columns, unless they are empty.
fn upsert(line: &mut SharedLine, sql: &str, rows: usize, values: &[&(dyn ToSql + Sync)]) -> Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let sql = line.prepared("change rows", sql)?;
    line.wait("change rows", line.client().execute(&sql, values)).map(drop)
}

fn col<R, T>(rows: &[R], field: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(field).collect()
}

/// A text that PostgreSQL can keep.
fn plain(text: &str) -> String {
    text.replace('\0', "")
}

/// Adds what a later fact says.
fn merge(known: &mut HostFact, later: &HostFact) {
    known.ip = later.ip.or(known.ip);
    known.robots = later.robots.clone().or_else(|| known.robots.take());
    known.sitemaps = later.sitemaps.clone().or_else(|| known.sitemaps.take());
    known.not_before = later.not_before.or(known.not_before);
    known.backoff_ms = later.backoff_ms.or(known.backoff_ms);
    known.sessions = later.sessions.clone().or_else(|| known.sessions.take());
    known.aliases = later.aliases.clone().or_else(|| known.aliases.take());
    known.pages += later.pages;
    known.errors += later.errors;
}
