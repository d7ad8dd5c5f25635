//! How is a batch recorded atomically?
//!
//! Step 2 of the commit protocol: one transaction of prepared statements, with rows in the order of
//! their clustering keys, so that SQLite appends to its B-trees as far as possible. A link lives
//! from the run that first saw it to the run that last did: when a page is revisited, its current
//! links are closed with its previous run, and those still there are reopened.

use super::Catalogue;
use super::aliases::write_aliases;
use super::changes::{write_around, write_changes};
use super::known::write_noises;
use super::replay::{Watermark, pack, pack_pairs};
use super::visits::VisitWriter;
use super::withdrawn::write_withdrawn;
use crate::error::{Result, StoreError};
use crate::fault::sql_point;
use crate::{ArchiveEnd, Batch, DroppedPage, FinishedVisit, HostFact};
use orb_page::{Discovered, PageId, RunId};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::HashMap;
use std::sync::Arc;

/// How many batches stay listed although the frontier index has them: an older copy of it can still
/// catch up.
pub(crate) const LOG: u64 = 1_000;

/// Maximum names whose numbers are kept in memory: those of workers and reasons are few, those of
/// the rules of aliases need not be.
const MAX_NAMES: usize = 10_000;

impl Catalogue {
    /// Records the batch and the archive's new end in one transaction.
    pub(crate) fn commit(&mut self, batch: &Batch, archive: &ArchiveEnd) -> Result<()> {
        self.examine(batch)?;
        let path = self.path.clone();
        let next = self.watermark.next();
        let outcome = self.transact(batch, archive, next);
        if let Err(e) = outcome {
            self.reload()?;
            return Err(StoreError::sql("record a batch", &path, e));
        }
        self.next_page = self.next_page.max(batch.discovered.last().map_or(0, |d| d.page.0 + 1));
        self.next_host = self.next_host.max(batch.hosts.last().map_or(0, |h| h.id.0 + 1));
        self.watermark = next;
        // It is recorded: only a crash can intervene.
        let _ = sql_point("after-catalogue");
        self.log.tend(&self.db);
        Ok(())
    }

    /// Records that the frontier index has persisted all batches up to this one: what they touched
    /// need not stay listed.
    pub(crate) fn followed(&mut self, batch: u64) {
        self.followed = batch;
    }

    /// Removes from the batch those pages to re-queue that are already queued, or are named twice.
    pub(crate) fn sift_requeued(&self, batch: &mut Batch) -> Result<()> {
        if batch.requeued.is_empty() || batch.sifted {
            return Ok(());
        }
        let mut waiting = std::collections::HashSet::new();
        for page in &batch.requeued {
            self.facts().page(page.page.0, |state| {
                waiting.extend(state.queued.then_some(state.id));
                Ok(())
            })?;
        }
        batch.requeued.retain(|r| waiting.insert(r.page));
        Ok(())
    }

    /// Numbers must continue where the catalogue ends, and every link must have a target.
    pub(crate) fn examine(&self, batch: &Batch) -> Result<()> {
        if self.scratch {
            return Self::examine_copy(batch);
        }
        let bad = |what: String| Err(StoreError::BadBatch(what));
        if let Some((d, want)) = batch.discovered.iter().zip(self.next_page..).find(|(d, want)| d.page.0 != *want) {
            return bad(format!("page {} of {} should have the number {want}", d.page.0, d.url));
        }
        if let Some((h, want)) = batch.hosts.iter().zip(self.next_host..).find(|(h, want)| h.id.0 != *want) {
            return bad(format!("host {} of {} should have the number {want}", h.id.0, h.name));
        }
        let (pages, hosts) =
            (self.next_page + batch.discovered.len() as u64, self.next_host as usize + batch.hosts.len());
        if let Some(d) = batch.discovered.iter().find(|d| d.host.0 == 0 || d.host.0 as usize >= hosts) {
            return bad(format!("{} names the unknown host {}", d.url, d.host.0));
        }
        for FinishedVisit { visit, targets, .. } in &batch.visits {
            if visit.links.len() != targets.len() {
                return bad(format!("{} links of {} with {} targets", visit.links.len(), visit.url, targets.len()));
            }
            if let Some(id) = targets.iter().chain([&visit.page]).find(|id| id.0 == 0 || id.0 >= pages) {
                return bad(format!("{} names the unknown page {}", visit.url, id.0));
            }
        }
        Ok(())
    }

    fn transact(&mut self, batch: &Batch, archive: &ArchiveEnd, watermark: Watermark) -> rusqlite::Result<()> {
        sql_point("before-catalogue")?;
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        sql_point("after-catalogue-begin")?;
        write_hosts(&tx, batch)?;
        write_discovered(&tx, &mut self.names, &batch.discovered)?;
        write_archive(&tx, &mut self.files, archive)?;
        write_nearer(&tx, &batch.nearer)?;
        write_withdrawn(&tx, batch)?;
        let moved = write_requeued(&tx, batch)?;
        let next_source = VisitWriter::new(&tx, batch.run, self.next_source)?.bare(self.scratch).write(
            &mut self.names,
            &self.files,
            batch,
        )?;
        if !self.scratch {
            write_changes(&tx, batch)?;
            write_around(&tx, batch)?;
        }
        write_dropped(&tx, &mut self.names, batch)?;
        write_aliases(&tx, &mut self.names, batch)?;
        write_facts(&tx, batch.run, &batch.facts)?;
        write_traps(&tx, &batch.traps)?;
        write_noises(&tx, &batch.noises)?;
        write_log(&tx, batch, watermark, &moved)?;
        tx.prepare_cached("DELETE FROM batch_row WHERE no <= ?1")?.execute([watermark
            .no
            .saturating_sub(LOG)
            .min(self.followed)
            .cast_signed()])?;
        if !batch.counters.is_empty() {
            let mut row = tx.prepare_cached("SELECT coalesce(counters, '') FROM run_row WHERE id = ?1")?;
            let before: Option<String> = row.query_row([batch.run.0], |r| r.get(0)).optional()?;
            tx.prepare_cached("UPDATE run_row SET counters = ?2 WHERE id = ?1")?
                .execute(params![batch.run.0, batch.counters.added_to(&before.unwrap_or_default())])?;
        }
        sql_point("before-catalogue-commit")?;
        tx.commit()?;
        self.next_source = next_source;
        Ok(())
    }
}

/// The number of a worker's name or a reason.
pub(super) fn name_id(db: &Connection, names: &mut HashMap<Arc<str>, i64>, name: &str) -> rusqlite::Result<i64> {
    if let Some(id) = names.get(name) {
        return Ok(*id);
    }
    db.prepare_cached("INSERT OR IGNORE INTO name_row (name) VALUES (?1)")?.execute([name])?;
    let id = db.prepare_cached("SELECT id FROM name_row WHERE name = ?1")?.query_row([name], |r| r.get(0))?;
    if names.len() < MAX_NAMES {
        names.insert(name.into(), id);
    }
    Ok(id)
}

fn write_hosts(db: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let mut insert =
        db.prepare_cached("INSERT INTO host_row (id, scheme, name, port, first_seen) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for host in &batch.hosts {
        insert.execute(params![host.id.0, host.scheme, host.name, host.port, host.at.0])?;
    }
    Ok(())
}

fn write_discovered(db: &Connection, names: &mut HashMap<Arc<str>, i64>, found: &[Discovered]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO page_row (id, url, host, kind, why, depth, redirects, priority, rank, at, by, origin, step, asked)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for d in found {
        let why = d.why.map(|why| name_id(db, names, why.name())).transpose()?;
        let by = name_id(db, names, &d.by)?;
        insert.execute(params![
            d.page.0.cast_signed(),
            d.url,
            d.host.0,
            d.kind.code(),
            why,
            d.depth,
            d.redirects,
            d.priority,
            d.rank.cast_signed(),
            d.at.0,
            by,
            d.from.map(|p| p.0.cast_signed()),
            d.step,
            d.asked,
        ])?;
    }
    Ok(())
}

fn write_archive(db: &Connection, files: &mut HashMap<Arc<str>, i64>, archive: &ArchiveEnd) -> rusqlite::Result<()> {
    for file in &archive.files {
        let id = db
            .prepare_cached(
                "INSERT INTO warc_row (name, length, records) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET length = excluded.length, records = excluded.records RETURNING id",
            )?
            .query_row(params![&*file.name, file.length.cast_signed(), file.records.cast_signed()], |r| r.get(0))?;
        files.insert(file.name.clone(), id);
    }
    Ok(())
}

/// The number of an archive file; an error if the catalogue has none with that name.
pub(super) fn file_id(db: &Connection, files: &HashMap<Arc<str>, i64>, name: &str) -> rusqlite::Result<i64> {
    if let Some(id) = files.get(name) {
        return Ok(*id);
    }
    db.prepare_cached("SELECT id FROM warc_row WHERE name = ?1")?.query_row([name], |r| r.get(0))
}

/// Re-queues pages; returns their previous positions.
fn write_requeued(db: &Connection, batch: &Batch) -> rusqlite::Result<Vec<(u64, u64)>> {
    let mut before = db.prepare_cached("SELECT rank FROM page_row WHERE id = ?1")?;
    let mut update = db.prepare_cached(
        "UPDATE page_row SET kind = 0, why = NULL, redirects = iif(kind = 0, redirects, 0), rank = ?2, depth = ?3, again = ?4, step = ?5 WHERE id = ?1",
    )?;
    let mut moved = Vec::with_capacity(batch.requeued.len());
    for page in &batch.requeued {
        let rank: Option<i64> = before.query_row([page.page.0.cast_signed()], |r| r.get(0)).optional()?;
        moved.extend(rank.map(|rank| (page.page.0, rank.cast_unsigned())));
        let (id, rank) = (page.page.0.cast_signed(), page.rank.cast_signed());
        update.execute(params![id, rank, page.depth, batch.run.0, page.step])?;
    }
    Ok(moved)
}

fn write_nearer(db: &Connection, nearer: &[(PageId, u32)]) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached("UPDATE page_row SET depth = ?2 WHERE id = ?1")?;
    nearer.iter().try_for_each(|(page, depth)| update.execute(params![page.0.cast_signed(), depth]).map(drop))
}

fn write_dropped(db: &Connection, names: &mut HashMap<Arc<str>, i64>, batch: &Batch) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached("UPDATE page_row SET kind = ?2, why = ?3 WHERE id = ?1")?;
    for DroppedPage { place, kind, why } in &batch.dropped {
        let why = name_id(db, names, why.name())?;
        update.execute(params![place.page.0.cast_signed(), kind.code(), why])?;
    }
    Ok(())
}

fn write_facts(db: &Connection, run: RunId, facts: &[HostFact]) -> rusqlite::Result<()> {
    let mut host = db.prepare_cached(
        "UPDATE host_row SET ip = coalesce(?2, ip), not_before = coalesce(?3, not_before), backoff_ms = coalesce(?4, backoff_ms)
         WHERE id = ?1",
    )?;
    let mut tally = db.prepare_cached(
        "INSERT INTO tally_row (host, pages, errors, run) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (host) DO UPDATE SET pages = pages + ?2, errors = errors + ?3, run = coalesce(?4, run)",
    )?;
    let mut robots = db.prepare_cached(
        "INSERT INTO robots_row (host, at, status, crawl_delay, text) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (host) DO UPDATE SET at = excluded.at, status = excluded.status, crawl_delay = excluded.crawl_delay, text = excluded.text",
    )?;
    let mut sitemaps = db.prepare_cached(
        "INSERT INTO robots_row (host, at, status, text, sitemaps) VALUES (?1, 0, 0, '', ?2)
         ON CONFLICT (host) DO UPDATE SET sitemaps = excluded.sitemaps",
    )?;
    let mut sessions = db.prepare_cached("INSERT OR REPLACE INTO session_row (host, rules) VALUES (?1, ?2)")?;
    let mut aliases = db.prepare_cached("INSERT OR REPLACE INTO alias_rule_row (host, rules) VALUES (?1, ?2)")?;
    for f in facts {
        if f.ip.is_some() || f.not_before.is_some() || f.backoff_ms.is_some() {
            let backoff = f.backoff_ms.map(u64::cast_signed);
            host.execute(params![f.id.0, f.ip.map(|ip| ip.to_string()), f.not_before.map(|m| m.0), backoff])?;
        }
        if f.pages > 0 || f.errors > 0 {
            let fetched = (f.pages > 0).then_some(run.0);
            tally.execute(params![f.id.0, f.pages.cast_signed(), f.errors.cast_signed(), fetched])?;
        }
        if let Some(r) = &f.robots {
            robots.execute(params![f.id.0, r.at.0, r.status, r.crawl_delay, r.text])?;
        }
        if let Some(list) = &f.sitemaps {
            sitemaps.execute(params![f.id.0, list.join("\n")])?;
        }
        if let Some(rules) = &f.sessions {
            sessions.execute(params![f.id.0, rules])?;
        }
        if let Some(rules) = &f.aliases {
            aliases.execute(params![f.id.0, rules])?;
        }
    }
    Ok(())
}

fn write_traps(db: &Connection, counts: &[(u64, u32)]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached("INSERT OR REPLACE INTO trap_row (key, count) VALUES (?1, ?2)")?;
    counts.iter().try_for_each(|(key, count)| insert.execute(params![key.cast_signed(), count]).map(drop))
}

/// Records which pages and hosts the batch touched, so that the frontier index can catch up.
fn write_log(db: &Connection, batch: &Batch, watermark: Watermark, moved: &[(u64, u64)]) -> rusqlite::Result<()> {
    let visited = batch.visits.iter().map(|v| v.visit.page.0);
    let dropped = batch.dropped.iter().map(|d| d.place.page.0);
    let pages = pack(visited.chain(dropped).collect());
    let hosts = pack(batch.facts.iter().map(|f| u64::from(f.id.0)).collect());
    let requeued = pack_pairs(moved);
    db.prepare_cached("INSERT INTO batch_row (no, nonce, pages, hosts, requeued) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![watermark.no.cast_signed(), watermark.nonce.cast_signed(), pages, hosts, requeued])?;
    Ok(())
}
