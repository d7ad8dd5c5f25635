//! How is the index rebuilt from the facts?
//!
//! One pass over the catalogue; its output is sorted in runs of bounded size and ingested directly
//! as tables, bypassing journal and memtables: fifty million URLs need no more memory than one
//! million.

use super::layout::{
    FOLDED, IndexMark, MARK, QueueKey, RECORD, ROBOTS, count_key, digest_key, host_slot, host_value, name_key,
    name_slot, number, queue_key, robots_value,
};
use super::{FrontierIndex, lock};
use crate::error::Result;
use crate::sqlite::{Catalogue, PageState};
use fjall::PersistMode;
use orb_page::UrlKey;
use std::collections::BTreeMap;

/// Entries per sorted run.
const RUN: usize = 1 << 20;

impl FrontierIndex {
    /// Fills an empty index from the catalogue.
    pub(super) fn rebuild(&self, catalogue: &Catalogue) -> Result<()> {
        self.stage("before-rebuild")?;
        let spaces = self.spaces()?;
        let facts = catalogue.facts();
        let mut runs = RebuildRuns::default();
        facts.each_host(1, false, |host| {
            let key = name_slot(name_key(&host.scheme, &host.name, host.port));
            let fail = self.fail("write a host");
            spaces.host.insert(key, number(u64::from(host.id.0))).map_err(&fail)?;
            spaces.host.insert(host_slot(RECORD, host.id), host_value(host)).map_err(&fail)?;
            if let Some(robots) = &host.robots {
                spaces.host.insert(host_slot(ROBOTS, host.id), robots_value(robots)).map_err(&fail)?;
            }
            Ok(())
        })?;
        let mut seen = 0;
        facts.each_page(1, |page| {
            runs.add(page);
            lock(&self.shared.parked).set(page.id, page.parked);
            seen += 1;
            if runs.is_full() { self.write_runs(&mut runs) } else { Ok(()) }
        })?;
        self.write_runs(&mut runs)?;
        self.stage("during-rebuild")?;
        let fail = self.fail("write the queues");
        for (slot, block) in self.changed_blocks() {
            spaces.host.insert(slot, block).map_err(&fail)?;
        }
        let mark = IndexMark {
            watermark: catalogue.watermark(),
            next_page: catalogue.next_page_id().0,
            next_host: catalogue.next_host_id().0,
            seen,
        };
        let lengths = runs.pending.iter().map(|(host, count)| (count_key(*host), Some(number(*count))));
        self.ingest(&spaces.queue, lengths.chain([(FOLDED, Some(mark.encode().to_vec()))]))?;
        // The mark of the hosts is written last: an interrupted rebuild starts again.
        spaces.db.persist(PersistMode::SyncAll).map_err(&fail)?;
        self.stage("before-rebuilt-mark")?;
        spaces.host.insert(MARK, mark.encode()).map_err(&fail)?;
        spaces.db.persist(PersistMode::SyncAll).map_err(&fail)?;
        let mut state = lock(&self.shared.state);
        (state.mark, state.folded) = (mark, mark);
        drop(state);
        self.stage("after-rebuild")
    }

    fn write_runs(&self, runs: &mut RebuildRuns) -> Result<()> {
        let spaces = self.spaces()?;
        runs.seen.sort_unstable();
        runs.seen.dedup_by_key(|e| (e.0, e.1));
        let seen = runs.seen.iter().map(|(high, low, id)| (join(*high, *low), *id));
        self.ingest(&spaces.seen, seen.map(|(key, id)| (key.to_be_bytes(), Some(number(id)))))?;
        runs.queue.sort_unstable();
        self.ingest(&spaces.queue, runs.queue.iter().map(|place| (*place, Some(Vec::new()))))?;
        runs.digests.sort_unstable();
        runs.digests.dedup_by_key(|e| e.0);
        let mut first = Vec::with_capacity(runs.digests.len());
        for (key, run, id) in &runs.digests {
            // An earlier run of this rebuild may have it already: the smaller (run, page) wins.
            let known = spaces.digest.get(key.to_be_bytes()).map_err(self.fail("look up a digest"))?;
            if known.is_none_or(|v| owner(&v) > (*run, *id)) {
                first.push((key.to_be_bytes(), Some(owner_value(*run, *id))));
            }
        }
        self.ingest(&spaces.digest, first.into_iter())?;
        runs.seen.clear();
        runs.queue.clear();
        runs.digests.clear();
        Ok(())
    }
}

/// The page, followed by the run it was seen in, which only a rebuild reads.
fn owner_value(run: u32, page: u64) -> Vec<u8> {
    let mut out = number(page);
    super::put_varint(&mut out, u64::from(run));
    out
}

fn owner(mut value: &[u8]) -> (u32, u64) {
    let page = super::take_varint(&mut value).unwrap_or(0);
    let run = super::take_varint(&mut value).unwrap_or(0);
    (u32::try_from(run).unwrap_or(u32::MAX), page)
}

fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// What is to be written next, buffered in memory.
#[derive(Default)]
struct RebuildRuns {
    seen: Vec<(u64, u64, u64)>,
    queue: Vec<QueueKey>,
    digests: Vec<(u128, u32, u64)>,
    pending: BTreeMap<u32, u64>,
}

impl RebuildRuns {
    fn add(&mut self, page: &PageState<'_>) {
        let key = UrlKey::of(page.url).0;
        self.seen.push(((key >> 64) as u64, key as u64, page.id.0));
        if page.queued {
            self.queue.push(queue_key(page.host, page.rank, page.id));
            *self.pending.entry(page.host.0).or_default() += 1;
        }
        self.digests.extend(page.owned.iter().map(|(run, d)| (digest_key(d), *run, page.id.0)));
    }

    fn is_full(&self) -> bool {
        self.seen.len() >= RUN || self.digests.len() >= RUN
    }
}
