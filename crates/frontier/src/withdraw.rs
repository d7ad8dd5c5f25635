//! What leaves the queues because the rules have changed during a run?
//!
//! Two ways, and a page takes one of them: it is withdrawn by the recorder, which re-evaluates the
//! queues part by part ([`Frontier::withdraw`]); or its turn comes first, and then it is dropped
//! instead of leased ([`Frontier::bar`]). A request that is under way is not called back.

use crate::frontier::{Frontier, Out};
use crate::intake::PAGE_HEAP_BYTES;
use hashbrown::HashSet;
use orb_page::{HostId, Moment, PageId};
use orb_store::{QueuePlace, Queued};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Says of a URL, and of the step that its page belongs to, whether it may not be fetched any more.
pub type BarTest = dyn Fn(&str, Option<u32>) -> bool + Send + Sync;

/// What may not be fetched any more.
#[derive(Default)]
pub(crate) struct ScopeBar(Option<Arc<BarTest>>);

impl fmt::Debug for ScopeBar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopeBar").field(&self.0.is_some()).finish()
    }
}

impl ScopeBar {
    /// Whether a page may not be fetched any more. A page is asked about under its lock, but only
    /// in runs whose rules have changed.
    pub(crate) fn stops(&self, page: &Queued) -> bool {
        self.0.as_ref().is_some_and(|test| test(&page.url, page.step))
    }
}

impl Frontier {
    /// From now on, queued pages of which this is true are dropped when their turn comes.
    pub fn bar(&mut self, test: Arc<BarTest>) {
        self.barred = ScopeBar(Some(test));
    }

    /// Takes pages out of their queues, to be committed as dropped. Returns which were taken: the
    /// others have been granted or dropped already.
    pub fn withdraw(&mut self, places: &[QueuePlace], now: Moment) -> HashSet<PageId> {
        let left = places.iter().filter(|place| !self.out.contains_key(&place.page));
        let taken: Vec<QueuePlace> = left.copied().collect();
        for QueuePlace { page, rank, host } in &taken {
            self.out.insert(*page, Out { rank: *rank, grant: self.grants, host: *host, busy: false, granted: false });
            self.attempts.remove(page);
        }
        let hosts: HashSet<HostId> = taken.iter().map(|place| place.host).collect();
        let taken: HashSet<PageId> = taken.iter().map(|place| place.page).collect();
        for host in hosts {
            let Some(mut site) = self.take_if(host, |_| true) else { continue };
            let mut heap_bytes = 0;
            site.queue.retain(|queued| {
                let goes = taken.contains(&queued.page);
                heap_bytes += if goes { PAGE_HEAP_BYTES + queued.url.len() } else { 0 };
                !goes
            });
            self.held = self.held.saturating_sub(heap_bytes);
            self.put(site, now);
        }
        taken
    }

    /// Changes the minimum delay between two requests to a host. It holds from the next request to
    /// each host on.
    pub fn set_delay(&mut self, delay: Duration) {
        self.config.politeness.delay = delay;
    }

    /// The minimum delay between two requests to a host.
    pub fn delay(&self) -> Duration {
        self.config.politeness.delay
    }
}
