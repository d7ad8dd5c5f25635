//! What do queues in memory look like?

use orb_page::{HostId, PageId};
use orb_store::{HostFact, HostRecord, Queued, Queues};
use std::collections::BTreeMap;

/// An error that cannot happen.
#[derive(Debug, thiserror::Error)]
pub(super) enum Never {}

/// What the store would hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    queues: BTreeMap<HostId, BTreeMap<(u64, PageId), Queued>>,
    pub(super) hosts: BTreeMap<HostId, HostRecord>,
}

impl Memory {
    pub(super) fn host(&mut self, id: u32) -> &mut HostRecord {
        self.hosts.entry(HostId(id)).or_insert_with(|| HostRecord {
            id: HostId(id),
            scheme: "http".to_owned(),
            name: format!("h{id}"),
            port: 80,
            robots: None,
            not_before: None,
            backoff_ms: 0,
        })
    }

    pub(super) fn admit(&mut self, host: u32, page: u64, rank: u64, path: &str) {
        let url = format!("http://{}{path}", self.host(host).name);
        let (page, depth, redirects) = (PageId(page), u32::from(rank > 1), 0);
        let queued = Queued { page, rank, url, asked: None, depth, redirects, step: None, before: None };
        self.queues.entry(HostId(host)).or_default().insert((rank, page), queued);
    }

    pub(super) fn remove(&mut self, host: HostId, rank: u64, page: PageId) {
        let queue = self.queues.get_mut(&host).unwrap();
        assert!(queue.remove(&(rank, page)).is_some(), "{page:?} leaves its queue once");
        if queue.is_empty() {
            self.queues.remove(&host);
        }
    }

    pub(super) fn learn(&mut self, fact: &HostFact) {
        let host = self.host(fact.id.0);
        if let Some(robots) = &fact.robots {
            host.robots = Some(robots.clone());
        }
        host.not_before = fact.not_before.or(host.not_before);
        host.backoff_ms = fact.backoff_ms.unwrap_or(host.backoff_ms);
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = (HostId, &Queued)> {
        self.queues.iter().flat_map(|(host, q)| q.values().map(|p| (*host, p)))
    }
}

impl Queues for Memory {
    type Error = Never;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Never> {
        let Some(queue) = self.queues.get(&host) else { return Ok(Vec::new()) };
        let pages = queue.iter().filter(|(key, _)| after.is_none_or(|a| **key > a));
        Ok(pages.take(limit).map(|(_, p)| p.clone()).collect())
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Never> {
        Ok(self.queues.keys().find(|h| **h > after).copied())
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Never> {
        Ok(self.hosts.get(&id).cloned())
    }

    fn queued(&self) -> u64 {
        self.queues.values().map(|q| q.len() as u64).sum()
    }
}
