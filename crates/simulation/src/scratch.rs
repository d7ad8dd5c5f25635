//! What does a worker have at hand? A copy of its shards, in memory.

use crate::store::FakePage;
use crate::web::{SimUrl, SimWeb};
use orb_page::{HostId, PageId};
use orb_store::{HostRecord, Queued, Queues, ShardId};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// The scratch copy of a worker's shards.
#[derive(Debug, Default)]
pub(crate) struct SimScratch {
    /// The shards that are loaded.
    pub(crate) held: BTreeSet<ShardId>,
    hosts: BTreeMap<HostId, HostRecord>,
    names: BTreeMap<String, HostId>,
    queues: BTreeMap<HostId, BTreeMap<(u64, PageId), Queued>>,
    seen: BTreeMap<SimUrl, PageId>,
    urls: BTreeMap<PageId, FakePage>,
    digests: BTreeMap<[u8; 32], PageId>,
}

impl SimScratch {
    /// The number of a page of the shards at hand.
    pub(crate) fn page(&self, url: SimUrl) -> Option<PageId> {
        self.seen.get(&url).copied()
    }

    /// Which page of the web it is.
    pub(crate) fn url(&self, page: PageId) -> SimUrl {
        self.urls.get(&page).map_or(0, |page| page.url)
    }

    /// The shard of a page.
    pub(crate) fn shard(&self, page: PageId) -> ShardId {
        self.urls.get(&page).map_or(ShardId(0), |page| page.shard)
    }

    /// The number of a host.
    pub(crate) fn host(&self, name: &str) -> Option<HostId> {
        self.names.get(name).copied()
    }

    /// Who is known to have had this content first.
    pub(crate) fn first(&self, digest: &[u8; 32]) -> Option<PageId> {
        self.digests.get(digest).copied()
    }

    /// Remembers who was first.
    pub(crate) fn remember(&mut self, digest: [u8; 32], page: PageId) {
        self.digests.entry(digest).or_insert(page);
    }

    /// Remembers who was first according to the shard that keeps such things.
    pub(crate) fn believe(&mut self, digest: [u8; 32], page: PageId) {
        self.digests.insert(digest, page);
    }

    /// A page of a shard at hand, queued unless it was visited.
    pub(crate) fn add(&mut self, id: PageId, page: &FakePage, web: &SimWeb) {
        self.seen.insert(page.url, id);
        self.urls.insert(id, page.clone());
        self.names.insert(page.host_name.clone(), page.host);
        self.hosts.entry(page.host).or_insert_with(|| HostRecord {
            id: page.host,
            scheme: "http".to_owned(),
            name: page.host_name.clone(),
            port: 80,
            robots: None,
            not_before: None,
            backoff_ms: 0,
        });
        if page.visited.is_some() {
            self.remember(web.digest(page.url), id);
            return;
        }
        let queued = Queued {
            page: id,
            rank: id.0,
            url: web.url(page.url),
            asked: None,
            depth: 1,
            redirects: 0,
            step: None,
            before: None,
        };
        self.queues.entry(page.host).or_default().insert((id.0, id), queued);
    }

    /// A page was visited.
    pub(crate) fn visited(&mut self, host: HostId, page: PageId) {
        if let Some(queue) = self.queues.get_mut(&host) {
            queue.remove(&(page.0, page));
        }
    }

    /// Shards were given away.
    pub(crate) fn release(&mut self, shards: &[ShardId]) {
        self.held.retain(|shard| !shards.contains(shard));
        let gone: Vec<(PageId, FakePage)> =
            self.urls.iter().filter(|(_, p)| shards.contains(&p.shard)).map(|(id, p)| (*id, p.clone())).collect();
        for (id, page) in gone {
            self.urls.remove(&id);
            self.seen.remove(&page.url);
            self.queues.remove(&page.host);
            self.hosts.remove(&page.host);
            self.names.remove(&page.host_name);
        }
    }
}

impl Queues for SimScratch {
    type Error = Infallible;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Infallible> {
        let Some(queue) = self.queues.get(&host) else { return Ok(Vec::new()) };
        let later = queue.iter().filter(|(at, _)| after.is_none_or(|after| **at > after));
        Ok(later.take(limit).map(|(_, queued)| queued.clone()).collect())
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Infallible> {
        let mut later = self.queues.iter().filter(|(host, queue)| **host > after && !queue.is_empty());
        Ok(later.next().map(|(host, _)| *host))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Infallible> {
        Ok(self.hosts.get(&id).cloned())
    }

    fn queued(&self) -> u64 {
        self.queues.values().map(|queue| queue.len() as u64).sum()
    }
}
