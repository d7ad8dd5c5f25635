//! How does the index follow a batch?
//!
//! Step 3 of the commit protocol: one atomic write with the watermark in it. Queue lengths are kept exactly, so every removal looks
//! whether there is something to remove, unless it is known from reading. Keys are written in their order: each then finds its place in the tree's
//! memory close to the one before it.

use super::layout::{
    MARK, Mark, PENDING, RECORD, ROBOTS, digest_key, host_slot, host_value, name_key, name_slot, number,
    put_queue_value, queue_key, robots_value,
};
use super::{FrontierIndex, Pending, Spaces, is_parked, lock};
use crate::error::Result;
use crate::sqlite::{Catalogue, Touched, Watermark};
use crate::{Batch, HostFact, HostRecord, Queues};
use fjall::OwnedWriteBatch;
use orb_page::{HostId, PageId, PageKind, UrlKey};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

impl FrontierIndex {
    /// Follows a batch the catalogue has recorded under this watermark.
    pub(crate) fn apply(&self, batch: &Batch, watermark: Watermark) -> Result<()> {
        self.stage("before-index")?;
        let mut write = Write::new(self)?;
        let gone: HashSet<PageId> =
            batch.finished.iter().map(|f| f.2).chain(batch.dropped.iter().map(|d| d.0)).collect();
        {
            let mut parked = lock(&self.shared.parked);
            let dropped = batch.dropped.iter().map(|(page, _, _, kind, why)| (*page, is_parked(*kind, Some(why))));
            let discovered = batch.discovered.iter().map(|d| (d.page, is_parked(d.kind, d.why)));
            let requeued = batch.requeued.iter().map(|r| (r.page, false));
            discovered.chain(requeued).chain(dropped).for_each(|(page, outside)| parked.set(page, outside));
        }
        for d in &batch.discovered {
            write.see(d.key, d.page);
            if d.kind == PageKind::Frontier && !gone.contains(&d.page) {
                write.enqueue(d.host, d.rank, d.page, (d.depth, d.redirects, &d.url));
            }
        }
        for r in batch.requeued.iter().filter(|r| !gone.contains(&r.page)) {
            write.enqueue(r.host, r.rank, r.page, (r.depth, 0, &r.url));
        }
        for (host, rank, page) in &batch.finished {
            write.dequeue(*host, *rank, *page)?;
        }
        for (page, host, rank, _, _) in &batch.dropped {
            write.dequeue(*host, *rank, *page)?;
        }
        write.hosts(batch)?;
        for v in batch.visits.iter().filter(|v| v.duplicate_of.is_none()) {
            if let (PageKind::Html | PageKind::Binary, Some(digest)) = (v.kind, &v.digest) {
                write.own(digest, v.page)?;
            }
        }
        let mark = Mark {
            watermark,
            next_page: write.mark.next_page.max(batch.discovered.last().map_or(0, |d| d.page.0 + 1)),
            next_host: write.mark.next_host.max(batch.hosts.last().map_or(0, |h| h.id.0 + 1)),
            seen: write.mark.seen + batch.discovered.len() as u64,
        };
        write.commit(mark)?;
        self.stage("after-index")?;
        self.warm()
    }

    /// Does what the batches recorded since the watermark ask for, from the facts as they are now.
    pub(super) fn catch_up(&self, catalogue: &Catalogue, touched: Touched) -> Result<()> {
        self.stage("before-catch-up")?;
        let facts = catalogue.facts();
        let mut write = Write::new(self)?;
        let mut mark = write.mark;
        facts.each_host(mark.next_host, false, |host| {
            write.name_host(host);
            write.put_host(host, true);
            Ok(())
        })?;
        for id in touched.hosts.into_iter().filter_map(|h| u32::try_from(h).ok()).filter(|h| *h < mark.next_host) {
            facts.each_host(id, true, |host| {
                write.put_host(host, true);
                Ok(())
            })?;
        }
        for id in touched.pages.into_iter().filter(|id| *id < mark.next_page) {
            facts.page(id, |page| {
                lock(&self.shared.parked).set(page.id, page.parked);
                if !page.queued {
                    write.dequeue(page.host, page.rank, page.id)?;
                } else if !write.holds(page.host, page.rank, page.id)? {
                    write.enqueue(page.host, page.rank, page.id, (page.depth, page.redirects, page.url));
                }
                page.owned.iter().try_for_each(|(_, digest)| write.own(digest, page.id))
            })?;
        }
        facts.each_page(mark.next_page, |page| {
            write.see(UrlKey::of(page.url), page.id);
            lock(&self.shared.parked).set(page.id, page.parked);
            if page.queued {
                write.enqueue(page.host, page.rank, page.id, (page.depth, page.redirects, page.url));
            }
            mark.seen += 1;
            page.owned.iter().try_for_each(|(_, digest)| write.own(digest, page.id))
        })?;
        mark.next_page = catalogue.next_page_id().0;
        mark.next_host = catalogue.next_host_id().0;
        mark.watermark = catalogue.watermark();
        write.commit(mark)?;
        self.stage("after-catch-up")
    }
}

/// One atomic write in the making, and what memory learns once it is done.
struct Write<'a> {
    index: &'a FrontierIndex,
    spaces: Spaces,
    batch: OwnedWriteBatch,
    mark: Mark,
    seen: Vec<(u128, u64)>,
    names: Vec<(u128, u64)>,
    owned: BTreeMap<u128, u64>,
    queues: BTreeMap<u32, Change>,
    entries: Vec<Placed>,
}

/// What is to stand in the queue under a key; nothing where an entry is taken out.
type Placed = ([u8; 20], Option<Vec<u8>>);

/// What a batch does to one host's queue.
#[derive(Default)]
struct Change {
    added: u64,
    removed: u64,
    first: Option<(u64, u64)>,
}

impl<'a> Write<'a> {
    fn new(index: &'a FrontierIndex) -> Result<Self> {
        let spaces = index.spaces()?;
        let batch = spaces.db.batch();
        let mark = lock(&index.shared.state).mark;
        Ok(Self {
            index,
            spaces,
            batch,
            mark,
            seen: Vec::new(),
            names: Vec::new(),
            owned: BTreeMap::new(),
            queues: BTreeMap::new(),
            entries: Vec::new(),
        })
    }

    fn see(&mut self, key: UrlKey, page: PageId) {
        self.seen.push((key.0, page.0));
    }

    fn enqueue(&mut self, host: HostId, rank: u64, page: PageId, (depth, redirects, url): (u32, u8, &str)) {
        let mut value = Vec::with_capacity(url.len() + 4);
        put_queue_value(&mut value, depth, redirects, url);
        self.entries.push((queue_key(host, rank, page), Some(value)));
        let change = self.queues.entry(host.0).or_default();
        change.added += 1;
        change.first = Some(change.first.map_or((rank, page.0), |f| f.min((rank, page.0))));
    }

    fn holds(&self, host: HostId, rank: u64, page: PageId) -> Result<bool> {
        self.spaces.queue.contains_key(queue_key(host, rank, page)).map_err(self.index.fail("look into a queue"))
    }

    fn dequeue(&mut self, host: HostId, rank: u64, page: PageId) -> Result<()> {
        let peeked = lock(&self.index.shared.state).peeked.remove(&(rank, page.0));
        if peeked || self.holds(host, rank, page)? {
            self.entries.push((queue_key(host, rank, page), None));
            self.queues.entry(host.0).or_default().removed += 1;
        }
        Ok(())
    }

    /// Notes the page as the first with this content, unless another was before it.
    fn own(&mut self, digest: &[u8; 32], page: PageId) -> Result<()> {
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
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => match self.index.host(fact.id)? {
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

    fn name_host(&mut self, host: &HostRecord) {
        let key = name_key(&host.scheme, &host.name, host.port);
        self.batch.insert(&self.spaces.host, name_slot(key), number(u64::from(host.id.0)));
        self.names.push((key, u64::from(host.id.0)));
    }

    fn put_host(&mut self, host: &HostRecord, with_robots: bool) {
        self.batch.insert(&self.spaces.host, host_slot(RECORD, host.id), host_value(host));
        if let (true, Some(robots)) = (with_robots, &host.robots) {
            self.batch.insert(&self.spaces.host, host_slot(ROBOTS, host.id), robots_value(robots));
        }
    }

    fn commit(mut self, mark: Mark) -> Result<()> {
        let lengths: Vec<(u32, Pending)> = {
            let state = lock(&self.index.shared.state);
            self.queues.iter().map(|(host, change)| (*host, changed(state.hosts.get(host), change))).collect()
        };
        for (host, pending) in &lengths {
            let slot = host_slot(PENDING, HostId(*host));
            if pending.count == 0 {
                self.batch.remove(&self.spaces.host, slot);
            } else {
                self.batch.insert(&self.spaces.host, slot, number(pending.count));
            }
        }
        self.seen.sort_unstable();
        for (key, page) in &self.seen {
            self.batch.insert(&self.spaces.seen, key.to_be_bytes(), number(*page));
        }
        self.entries.sort_by_key(|(key, _)| *key);
        for (key, value) in self.entries {
            match value {
                Some(value) => self.batch.insert(&self.spaces.queue, key, value),
                None => self.batch.remove(&self.spaces.queue, key),
            }
        }
        for (key, page) in &self.owned {
            self.batch.insert(&self.spaces.digest, key.to_be_bytes(), number(*page));
        }
        for (slot, block) in self.index.changed_blocks() {
            self.batch.insert(&self.spaces.host, slot, block);
        }
        self.batch.insert(&self.spaces.host, MARK, mark.encode());
        self.index.stage("before-index-commit")?;
        self.batch.commit().map_err(self.index.fail("write a batch"))?;
        let shared = &self.index.shared;
        remember(&shared.seen, self.seen);
        remember(&shared.names, self.names);
        remember(&shared.digests, self.owned);
        let mut state = lock(&shared.state);
        state.mark = mark;
        for (host, pending) in lengths {
            let before = state.hosts.get(&host).copied().unwrap_or_default();
            state.queued = state.queued + pending.count - before.count;
            if pending.count == 0 {
                state.hosts.remove(&host);
            } else {
                // A reader may have moved the front on meanwhile; going back is always safe.
                state.hosts.insert(host, pending);
            }
        }
        Ok(())
    }
}

fn remember(cache: &std::sync::Mutex<super::KeyTable>, learnt: impl IntoIterator<Item = (u128, u64)>) {
    let mut cache = lock(cache);
    for (key, number) in learnt {
        cache.put(key, number);
    }
}

/// The host's queue after the change.
fn changed(before: Option<&Pending>, change: &Change) -> Pending {
    let before = before.copied();
    let count = (before.map_or(0, |p| p.count) + change.added).saturating_sub(change.removed);
    let front = match (before, change.first) {
        (Some(p), Some(first)) => p.front.min(first),
        (Some(p), None) => p.front,
        (None, first) => first.unwrap_or_default(),
    };
    Pending { count, front }
}

fn learn(record: &mut HostRecord, fact: &HostFact) {
    if let Some(robots) = &fact.robots {
        record.robots = Some(robots.clone());
    }
    record.not_before = fact.not_before.or(record.not_before);
    record.backoff_ms = fact.backoff_ms.unwrap_or(record.backoff_ms);
}
