//! How do the pages of other hosts come into the index, and leave it?
//!
//! A worker of a shared project takes shards over and gives them away while it crawls. What waits
//! there is put into the queues or taken out of them beside what is there, so that nobody who reads
//! the index meanwhile finds it empty.

use super::apply::Write;
use super::{FrontierIndex, lock};
use crate::error::Result;
use crate::sqlite::Catalogue;
use orb_page::{PageId, UrlKey};
use std::collections::HashSet;

/// Pages written at once.
const TOGETHER: usize = 100_000;

impl FrontierIndex {
    /// Adds what the catalogue knows of these hosts.
    pub(crate) fn adopt(&self, catalogue: &Catalogue, hosts: &HashSet<u32>) -> Result<()> {
        let facts = catalogue.facts();
        let mut write = Write::new(self, true)?;
        facts.each_host(1, false, |host| {
            if hosts.contains(&host.id.0) {
                write.name_host(host);
                write.put_host(host, true);
            }
            Ok(())
        })?;
        let mut waiting = Some(write);
        let (mut pages, mut seen) = (0, 0);
        facts.each_page(1, |page| {
            if !hosts.contains(&page.host.0) {
                return Ok(());
            }
            let mut write = match waiting.take() {
                Some(write) => write,
                None => Write::new(self, true)?,
            };
            write.see(UrlKey::of(page.url), page.id);
            lock(&self.shared.parked).set(page.id, page.parked);
            if page.queued {
                write.enqueue(page.host, page.rank, page.id);
            }
            page.owned.iter().try_for_each(|(_, digest)| write.own(digest, page.id))?;
            (pages, seen) = (pages + 1, seen + 1);
            if pages < TOGETHER {
                waiting = Some(write);
                return Ok(());
            }
            self.put(write, catalogue, std::mem::take(&mut seen))?;
            pages = 0;
            self.fold_if_due()
        })?;
        let last = match waiting.take() {
            Some(write) => write,
            None => Write::new(self, true)?,
        };
        self.put(last, catalogue, seen)?;
        self.fold_if_due()
    }

    fn put(&self, write: Write<'_>, catalogue: &Catalogue, seen: u64) -> Result<()> {
        let mut mark = write.mark;
        mark.watermark = catalogue.watermark();
        mark.next_page = mark.next_page.max(catalogue.next_page_id().0);
        mark.next_host = mark.next_host.max(catalogue.next_host_id().0);
        mark.seen += seen;
        write.commit(mark, 0)
    }

    /// Takes everything that waits on these hosts out of the queues.
    pub(crate) fn let_go(&self, catalogue: &Catalogue, hosts: &HashSet<u32>) -> Result<()> {
        let (mut write, mut gone) = (Write::new(self, true)?, 0);
        catalogue.facts().each_page(1, |page| {
            if page.queued && hosts.contains(&page.host.0) {
                write.dequeue(page.host, page.rank, page.id)?;
                gone += 1;
            }
            Ok(())
        })?;
        let mark = write.mark;
        write.commit(mark, gone)?;
        self.fold_if_due()
    }

    /// Remembers who was first with some content.
    pub(crate) fn remember(&self, digests: &[([u8; 32], PageId)]) -> Result<()> {
        if digests.is_empty() {
            return Ok(());
        }
        let mut write = Write::new(self, true)?;
        digests.iter().try_for_each(|(digest, page)| write.own(digest, *page))?;
        let mark = write.mark;
        write.commit(mark, 0)
    }
}
