//! How does the index come to where the catalogue is?
//!
//! After a crash memory is empty and the tree is as the last fold left it; after a power cut the hosts may be behind too. What the batches since
//! then did is done again, from the facts as they are now: that leads to the same end however often it is begun.

use super::FrontierIndex;
use super::apply::Write;
use super::lock;
use crate::error::Result;
use crate::sqlite::{Catalogue, PageState, Touched};
use orb_page::{PageId, UrlKey};

impl FrontierIndex {
    /// Follows the batches recorded since the last fold; with `hosts`, what they say of hosts is written as well.
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
        let old = touched.pages.iter().copied().filter(|id| *id < mark.next_page);
        facts.pages(old, |page| {
            lock(&self.shared.parked).set(page.id, page.parked);
            requeue(&mut write, page, touched.places_of(page.id))?;
            page.owned.iter().try_for_each(|(_, digest)| write.own(digest, page.id))
        })?;
        facts.each_page(mark.next_page, |page| {
            write.see(UrlKey::of(page.url), page.id);
            lock(&self.shared.parked).set(page.id, page.parked);
            if page.queued {
                write.enqueue(page.host, page.rank, page.id);
            }
            mark.seen += 1;
            page.owned.iter().try_for_each(|(_, digest)| write.own(digest, page.id))
        })?;
        mark.next_page = catalogue.next_page_id().0;
        mark.next_host = catalogue.next_host_id().0;
        mark.watermark = catalogue.watermark();
        write.commit(mark, touched.pages.len() as u64)?;
        self.stage("after-catch-up")
    }
}

/// Leaves a page in its queue at its place, where it waits, and nowhere else; `earlier` are places it had before.
fn requeue(write: &mut Write<'_>, page: &PageState<'_>, earlier: impl Iterator<Item = u64>) -> Result<()> {
    let mut ranks: Vec<u64> = earlier.chain([page.rank]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for rank in ranks.into_iter().filter(|rank| !(page.queued && *rank == page.rank)) {
        write.dequeue(page.host, rank, page.id)?;
    }
    if page.queued && !write.holds(page.host, page.rank, page.id)? {
        write.enqueue(page.host, page.rank, page.id);
    }
    Ok(())
}

impl Touched {
    /// Places that a page had in its queue before it was put in again.
    fn places_of(&self, page: PageId) -> impl Iterator<Item = u64> + '_ {
        let from = self.moved.partition_point(|(id, _)| *id < page.0);
        self.moved[from..].iter().take_while(move |(id, _)| *id == page.0).map(|(_, rank)| *rank)
    }
}
