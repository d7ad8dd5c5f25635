//! How does the index follow a batch?
//!
//! Step 3 of the commit protocol: hosts and the watermark in one atomic write; keys and queues in
//! memory, from where they are periodically folded into the tree. Queue lengths are exact, so every
//! removal first checks that there is something to remove, unless that is known from reading.

use super::layout::{
    IndexMark, MARK, RECORD, ROBOTS, digest_key, host_slot, host_value, name_key, name_slot, number, parse_queue_key,
    queue_key, robots_value,
};
use super::lengths::Change;
use super::waiting::QueueEdit;
use super::{FrontierIndex, Spaces, is_parked, lock, warm, write};
use crate::error::Result;
use crate::sqlite::Watermark;
use crate::{Batch, HostFact, HostRecord, Queues};
use fjall::OwnedWriteBatch;
use orb_page::{HostId, PageId, PageKind, UrlKey};
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashSet};

impl FrontierIndex {
    /// Applies a batch that the catalogue has recorded under this watermark.
    pub(crate) fn apply(&self, batch: &Batch, watermark: Watermark) -> Result<()> {
        self.stage("before-index")?;
        let mut write = Write::new(self, true)?;
        let gone: HashSet<PageId> =
            batch.finished.iter().chain(batch.dropped.iter().map(|d| &d.place)).map(|place| place.page).collect();
        {
            let mut parked = lock(&self.shared.parked);
            let dropped = batch.dropped.iter().map(|d| (d.place.page, is_parked(d.kind, Some(d.why))));
            let discovered = batch.discovered.iter().map(|d| (d.page, is_parked(d.kind, d.why)));
            let requeued = batch.requeued.iter().map(|r| (r.page, false));
            discovered.chain(requeued).chain(dropped).for_each(|(page, outside)| parked.set(page, outside));
        }
        for d in &batch.discovered {
            write.see(d.key, d.page);
            if d.kind == PageKind::Frontier && !gone.contains(&d.page) {
                write.enqueue(d.host, d.rank, d.page);
            }
        }
        for r in batch.requeued.iter().filter(|r| !gone.contains(&r.page)) {
            write.enqueue(r.host, r.rank, r.page);
        }
        for place in batch.finished.iter().chain(batch.dropped.iter().map(|d| &d.place)) {
            write.dequeue(place.host, place.rank, place.page)?;
        }
        write.hosts(batch)?;
        for v in batch.visits.iter().map(|v| &v.visit).filter(|v| v.duplicate_of.is_none()) {
            if let (PageKind::Html | PageKind::Binary, Some(digest)) = (v.kind, &v.digest) {
                write.own(digest, v.page)?;
            }
        }
        for (digest, page) in &batch.digests {
            write.own(digest, *page)?;
        }
        let mark = IndexMark {
            watermark,
            next_page: write.mark.next_page.max(batch.discovered.last().map_or(0, |d| d.page.0 + 1)),
            next_host: write.mark.next_host.max(batch.hosts.last().map_or(0, |h| h.id.0 + 1)),
            seen: write.mark.seen + batch.discovered.len() as u64,
        };
        write.commit(mark, (batch.finished.len() + batch.dropped.len()) as u64)?;
        self.fold_if_due()?;
        self.stage("after-index")?;
        self.warm(warm::MORE)
    }
}

/// The changes of a batch under construction: a write to the hosts, and updates to memory once that
/// is done.
pub(super) struct Write<'a> {
    index: &'a FrontierIndex,
    spaces: Spaces,
    /// `None` if the hosts are up to date.
    hosts: Option<OwnedWriteBatch>,
    pub(super) mark: IndexMark,
    seen: Vec<(u128, u64)>,
    names: Vec<(u128, u64)>,
    owned: BTreeMap<u128, u64>,
    /// Queue entries to insert (`true`) or to remove.
    entries: Vec<QueueEdit>,
}

impl<'a> Write<'a> {
    pub(super) fn new(index: &'a FrontierIndex, hosts: bool) -> Result<Self> {
        let spaces = index.spaces()?;
        let hosts = hosts.then(|| spaces.db.batch());
        let mark = lock(&index.shared.state).mark;
        Ok(Self {
            index,
            spaces,
            hosts,
            mark,
            seen: Vec::new(),
            names: Vec::new(),
            owned: BTreeMap::new(),
            entries: Vec::new(),
        })
    }

    pub(super) fn see(&mut self, key: UrlKey, page: PageId) {
        self.seen.push((key.0, page.0));
    }

    pub(super) fn enqueue(&mut self, host: HostId, rank: u64, page: PageId) {
        self.entries.push((queue_key(host, rank, page), true));
    }

    pub(super) fn holds(&self, host: HostId, rank: u64, page: PageId) -> Result<bool> {
        self.index.holds(&self.spaces.queue, &queue_key(host, rank, page))
    }

    pub(super) fn dequeue(&mut self, host: HostId, rank: u64, page: PageId) -> Result<()> {
        let peeked = lock(&self.index.shared.state).peeked.remove(&(rank, page.0));
        if peeked || self.holds(host, rank, page)? {
            self.entries.push((queue_key(host, rank, page), false));
        }
        Ok(())
    }

    /// Records the page as the first with this content, unless another was earlier.
    pub(super) fn own(&mut self, digest: &[u8; 32], page: PageId) -> Result<()> {
        if self.index.digest_first(digest)?.is_none() {
            self.owned.entry(digest_key(digest)).or_insert(page.0);
        }
        Ok(())
    }

    fn hosts(&mut self, batch: &Batch) -> Result<()> {
        let mut records = BTreeMap::new();
        for h in &batch.hosts {
            let record = HostRecord {
                id: h.id,
                scheme: h.scheme.clone(),
                name: h.name.clone(),
                port: h.port,
                robots: None,
                not_before: None,
                backoff_ms: 0,
            };
            self.name_host(&record);
            records.insert(h.id, (record, false));
        }
        for fact in
            batch.facts.iter().filter(|f| f.not_before.is_some() || f.backoff_ms.is_some() || f.robots.is_some())
        {
            let (record, robots) = match records.entry(fact.id) {
                Slot::Occupied(entry) => entry.into_mut(),
                Slot::Vacant(entry) => match self.index.host(fact.id)? {
                    Some(record) => entry.insert((record, false)),
                    None => continue,
                },
            };
            learn(record, fact);
            *robots |= fact.robots.is_some();
        }
        for (record, robots) in records.values() {
            self.put_host(record, *robots);
        }
        Ok(())
    }

    pub(super) fn name_host(&mut self, host: &HostRecord) {
        let key = name_key(&host.scheme, &host.name, host.port);
        if let Some(hosts) = &mut self.hosts {
            hosts.insert(&self.spaces.host, name_slot(key), number(u64::from(host.id.0)));
        }
        self.names.push((key, u64::from(host.id.0)));
    }

    pub(super) fn put_host(&mut self, host: &HostRecord, with_robots: bool) {
        let Some(hosts) = &mut self.hosts else { return };
        hosts.insert(&self.spaces.host, host_slot(RECORD, host.id), host_value(host));
        if let (true, Some(robots)) = (with_robots, &host.robots) {
            hosts.insert(&self.spaces.host, host_slot(ROBOTS, host.id), robots_value(robots));
        }
    }

    /// Commits it; `visits` is how many pages have left their queues.
    pub(super) fn commit(mut self, mark: IndexMark, visits: u64) -> Result<()> {
        if let Some(mut hosts) = self.hosts.take() {
            for (slot, block) in self.index.changed_blocks() {
                hosts.insert(&self.spaces.host, slot, block);
            }
            hosts.insert(&self.spaces.host, MARK, mark.encode());
            self.index.stage("before-index-commit")?;
            hosts.commit().map_err(self.index.fail("write a batch"))?;
        }
        let shared = &self.index.shared;
        lock(&shared.seen).learn(self.seen);
        lock(&shared.digests).learn(self.owned.into_iter().collect());
        {
            let mut names = lock(&shared.names);
            self.names.iter().for_each(|(key, number)| names.table.put(*key, *number));
        }
        // In this order everywhere: readers take the state under the entries, too.
        let mut waiting = write(&shared.waiting);
        let mut state = lock(&shared.state);
        self.entries.sort_by_key(|(place, _)| *place);
        self.entries.dedup();
        for entries in self.entries.chunk_by(|(a, _), (b, _)| a[..4] == b[..4]) {
            let (host, change) = gathered(entries);
            state.hosts.change(host.0, change);
        }
        waiting.add(self.entries);
        state.mark = mark;
        state.visits += visits;
        Ok(())
    }
}

/// The net change of one host's queue, from its sorted entries.
fn gathered(entries: &[QueueEdit]) -> (HostId, Change) {
    let mut change = Change::default();
    let mut host = HostId(0);
    for (place, there) in entries {
        let (of, rank, page) = parse_queue_key(place);
        host = of;
        if *there {
            change.added += 1;
            change.first = change.first.or(Some((rank, page.0)));
        } else {
            change.removed += 1;
        }
    }
    (host, change)
}

fn learn(record: &mut HostRecord, fact: &HostFact) {
    if let Some(robots) = &fact.robots {
        record.robots = Some(robots.clone());
    }
    record.not_before = fact.not_before.or(record.not_before);
    record.backoff_ms = fact.backoff_ms.unwrap_or(record.backoff_ms);
}
