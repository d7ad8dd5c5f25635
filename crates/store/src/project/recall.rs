//! What do earlier runs know?
//!
//! Look-ups by key, what a run recalls when it begins, and walks over pages that are larger than
//! memory.

use super::{Project, Truth};
use crate::error::{Result, StoreError};
use crate::sqlite::{DueRow, KnownPage, RedirectLoop, Unfetched};
use crate::{QueueLengths, Queues as _};
use orb_page::{HostId, PageHistory, PageId, RunId, UrlKey, WarcPosition};
use std::net::IpAddr;

impl Project {
    /// The queues, for the frontier's driver; clones share them, and may go to other threads.
    pub fn queues(&self) -> impl QueueLengths<Error = StoreError> + Clone + use<> {
        self.index.clone()
    }

    /// How many pages are queued.
    pub fn queued(&self) -> u64 {
        self.index.queued()
    }

    /// How many URLs are known.
    pub fn urls_known(&self) -> u64 {
        self.index.known()
    }

    /// The numbers of the pages with these URLs, as far as they are committed.
    pub fn pages_of(&self, keys: &[UrlKey]) -> Result<Vec<Option<PageId>>> {
        self.index.seen(keys)
    }

    /// The number of a host, if it is committed.
    pub fn host_id(&self, scheme: &str, name: &str, port: u16) -> Result<Option<HostId>> {
        self.index.host_id(scheme, name, port)
    }

    /// The IP address at which a host was last seen.
    pub fn host_ip(&self, host: HostId) -> Result<Option<IpAddr>> {
        self.catalogue().host_ip(host)
    }

    /// The page that first had this content.
    pub fn digest_first(&self, digest: &[u8; 32]) -> Result<Option<PageId>> {
        match &self.truth {
            Truth::There(there) if there.firsts.contains_key(digest) => Ok(there.firsts.get(digest).copied()),
            _ => self.index.digest_first(digest),
        }
    }

    /// The host of a page.
    pub fn host_of(&self, page: PageId) -> Result<Option<HostId>> {
        self.catalogue().host_of(page)
    }

    /// The canonical URL of a page.
    pub fn url_of(&self, page: PageId) -> Result<Option<String>> {
        self.catalogue().url_of(page)
    }

    /// What earlier runs saw of a page; `None` if it was never visited.
    pub fn before(&self, page: PageId) -> Result<Option<PageHistory>> {
        self.catalogue().before(page)
    }

    /// Hosts of which a run has fetched a page, the last run to do so.
    pub fn hosts_fetched(&self, run: RunId) -> Result<Vec<HostId>> {
        self.catalogue().hosts_fetched(run)
    }

    /// The largest `limit` trap counters, smallest first.
    pub fn trap_counts(&self, limit: u32) -> Result<Vec<(u64, u32)>> {
        self.catalogue().trap_counts(limit)
    }

    /// What is known about the session ids in URLs, by the names of up to `limit` hosts.
    pub fn sessions(&self, limit: usize) -> Result<Vec<(String, String)>> {
        self.catalogue().sessions(limit)
    }

    /// The URLs of the seeds of a step, or of no step, and of their redirect targets, transitively.
    pub fn seed_urls(&self, step: Option<u32>) -> Result<Vec<String>> {
        self.catalogue().seed_urls(step)
    }

    /// Calls back with the pages left outside because of the link that was seen first, and not
    /// because of a trap: a better link would bring them in.
    pub fn each_parked(&self, each: impl FnMut(PageId)) {
        self.index.each_parked(each);
    }

    /// Up to `limit` pages numbered above `after` that an earlier run has visited, and the number
    /// to go on after; `None` when all have been looked at.
    pub fn known_pages(&self, run: RunId, after: PageId, limit: u32) -> Result<(Vec<KnownPage>, Option<PageId>)> {
        self.catalogue().known_pages(run, after, limit)
    }

    /// The redirects of a run that lead from a page over at most `hops` others to `end`, all of
    /// them committed; `None` if they do not.
    pub fn redirect_loop(&self, run: RunId, start: PageId, end: PageId, hops: u8) -> Result<Option<RedirectLoop>> {
        self.catalogue().redirect_loop(run, start, end, hops)
    }

    /// Where the archive has what a run saw of these pages, as far as it has.
    pub fn archived(&self, run: RunId, pages: &[PageId]) -> Result<Vec<WarcPosition>> {
        self.catalogue().archived(run, pages)
    }

    /// Up to `limit` pages numbered above `after` that were never fetched: queued, or outside; with
    /// `traps`, including those cut off as traps.
    pub fn unfetched(&self, after: PageId, limit: u32, traps: bool) -> Result<Vec<Unfetched>> {
        self.catalogue().unfetched(after, limit, traps)
    }

    /// Corrects depths that a shorter way has made smaller; how many there were.
    pub fn settle_depths(&mut self, follow_nofollow: bool) -> Result<u64> {
        self.catalogue_mut().settle_depths(follow_nofollow)
    }

    /// Deletes all due times.
    pub fn clear_dues(&mut self) -> Result<()> {
        self.catalogue_mut().clear_dues()
    }

    /// Notes when pages are due.
    pub fn add_dues(&mut self, dues: &[DueRow]) -> Result<()> {
        self.catalogue_mut().add_dues(dues)
    }
}
