//! Which pages wait to be passed through?
//!
//! The frontier reads a queue per host. Pages to collect are queued on disk; the few that are only
//! passed through wait here, in memory, with their own numbers, and are forgotten afterwards.

use orb_page::{HostId, PageId};
use orb_store::{HostRecord, Queued, Queues};
use orb_urls::Address;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

/// The queues of a walk.
#[derive(Debug, Default)]
pub(super) struct Trail {
    hosts: Vec<HostRecord>,
    numbers: HashMap<(String, String, u16), HostId>,
    queues: BTreeMap<HostId, BTreeMap<(u64, PageId), Queued>>,
    last: u64,
}

impl Trail {
    /// Queues a request; returns the numbers of the page and of its host.
    pub(super) fn queue(&mut self, address: &Address) -> (PageId, HostId) {
        let host = self.host_of(address);
        self.last += 1;
        let page = PageId(self.last);
        let url = address.as_str().to_owned();
        let queued =
            Queued { page, rank: self.last, url, asked: None, depth: 0, redirects: 0, step: None, before: None };
        self.queues.entry(host).or_default().insert((self.last, page), queued);
        (page, host)
    }

    /// Removes it.
    pub(super) fn leave(&mut self, host: HostId, page: PageId) {
        if let Some(queue) = self.queues.get_mut(&host) {
            queue.remove(&(page.0, page));
            if queue.is_empty() {
                self.queues.remove(&host);
            }
        }
    }

    fn host_of(&mut self, address: &Address) -> HostId {
        let origin = (address.scheme().to_owned(), address.host().to_owned(), address.port());
        let next = HostId(u32::try_from(self.hosts.len() + 1).unwrap_or(u32::MAX));
        let id = *self.numbers.entry(origin.clone()).or_insert(next);
        if id == next {
            let (scheme, name, port) = origin;
            self.hosts.push(HostRecord { id, scheme, name, port, robots: None, not_before: None, backoff_ms: 0 });
        }
        id
    }
}

impl Queues for Trail {
    type Error = Infallible;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Infallible> {
        let Some(queue) = self.queues.get(&host) else { return Ok(Vec::new()) };
        let from = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        Ok(queue.range((from, std::ops::Bound::Unbounded)).take(limit).map(|(_, queued)| queued.clone()).collect())
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Infallible> {
        let above = (std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded);
        Ok(self.queues.range(above).next().map(|(host, _)| *host))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Infallible> {
        Ok(usize::try_from(id.0).ok().and_then(|n| self.hosts.get(n.checked_sub(1)?)).cloned())
    }

    fn queued(&self) -> u64 {
        self.queues.values().map(|queue| queue.len() as u64).sum()
    }
}
