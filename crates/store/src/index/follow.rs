//! How does the index catch up with the catalogue?
//!
//! After a crash memory is empty and the tree is as the last fold left it; after a power cut the
//! hosts may be behind too. The batches since then are replayed from the current facts, which is
//! idempotent: it leads to the same result however often it is started.

use super::FrontierIndex;
use super::apply::Write;
use super::layout::{QueueKey, parse_queue_key, queue_key};
use super::lock;
use crate::error::Result;
use crate::sqlite::{Catalogue, PageState, Touched};
use orb_page::{PageId, UrlKey};

impl FrontierIndex {
    /// Replays the batches recorded since the last fold; with `hosts`, what they say about hosts is
    /// written as well.
    pub(super) fn follow(&self, catalogue: &Catalogue, touched: &Touched, hosts: bool) -> Result<()> {
        self.stage("before-catch-up")?;
        let facts = catalogue.facts();
        let mut write = Write::new(self, hosts)?;
        let mut mark = write.mark;
        if hosts {
            facts.each_host(mark.next_host, false, |host| {
                write.name_host(host);
                write.put_host(host, true);
                Ok(())
            })?;
            for id in touched.hosts.iter().filter_map(|h| u32::try_from(*h).ok()).filter(|h| *h < mark.next_host) {
                facts.each_host(id, true, |host| {
                    write.put_host(host, true);
                    Ok(())
                })?;
            }
        }
        let mut found = TreeChecks::default();
        let old = touched.pages.iter().copied().filter(|id| *id < mark.next_page);
        facts.pages(old, |page| {
            lock(&self.shared.parked).set(page.id, page.parked);
            found.note(page, touched.places_of(page.id));
            Ok(())
        })?;
        facts.each_page(mark.next_page, |page| {
            write.see(UrlKey::of(page.url), page.id);
            lock(&self.shared.parked).set(page.id, page.parked);
            if page.queued {
                write.enqueue(page.host, page.rank, page.id);
            }
            mark.seen += 1;
            found.own(page);
            Ok(())
        })?;
        found.settle(&mut write)?;
        mark.next_page = catalogue.next_page_id().0;
        mark.next_host = catalogue.next_host_id().0;
        mark.watermark = catalogue.watermark();
        write.commit(mark, touched.pages.len() as u64)?;
        self.stage("after-catch-up")
    }
}

/// What must be compared with the tree. In key order, look-ups hit blocks that are still cached
/// from the previous one: a hundred thousand pages take a second instead of ten.
#[derive(Default)]
struct TreeChecks {
    /// Positions at which a page is queued.
    waiting: Vec<QueueKey>,
    /// Positions at which it no longer is.
    left: Vec<QueueKey>,
    digests: Vec<([u8; 32], PageId)>,
}

impl TreeChecks {
    /// Records where a page should be and where it should not; `earlier` are its previous
    /// positions.
    fn note(&mut self, page: &PageState<'_>, earlier: impl Iterator<Item = u64>) {
        let place = queue_key(page.host, page.rank, page.id);
        if page.queued {
            self.waiting.push(place);
        } else {
            self.left.push(place);
        }
        let earlier = earlier.map(|rank| queue_key(page.host, rank, page.id));
        self.left.extend(earlier.filter(|earlier| *earlier != place));
        self.own(page);
    }

    fn own(&mut self, page: &PageState<'_>) {
        self.digests.extend(page.owned.iter().map(|(_, digest)| (*digest, page.id)));
    }

    /// Applies it.
    fn settle(mut self, write: &mut Write<'_>) -> Result<()> {
        self.left.sort_unstable();
        self.left.dedup();
        for (host, rank, page) in self.left.iter().map(parse_queue_key) {
            write.dequeue(host, rank, page)?;
        }
        self.waiting.sort_unstable();
        for (host, rank, page) in self.waiting.iter().map(parse_queue_key) {
            if !write.holds(host, rank, page)? {
                write.enqueue(host, rank, page);
            }
        }
        self.digests.sort_unstable();
        self.digests.iter().try_for_each(|(digest, page)| write.own(digest, *page))
    }
}

impl Touched {
    /// Previous queue positions of a page that was re-queued.
    fn places_of(&self, page: PageId) -> impl Iterator<Item = u64> + '_ {
        let from = self.moved.partition_point(|(id, _)| *id < page.0);
        self.moved[from..].iter().take_while(move |(id, _)| *id == page.0).map(|(_, rank)| *rank)
    }
}
