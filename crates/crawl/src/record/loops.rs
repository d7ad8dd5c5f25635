//! What if redirects lead back to where they began?
//!
//! Cookie tests, consent pages and single sign-on answer the first request of a visitor by a
//! redirect, set a cookie somewhere on the way, and lead back to the page. As every page is
//! requested once in a run, it would remain a redirect, and all that lies behind it would be lost.
//! So its visit is withdrawn, and the page is requested again, this time with the cookie. A loop
//! that sets no cookie stays what it is.

use super::Recorder;
use hashbrown::HashMap;
use orb_page::{IdSet, LinkKind, PageId, PageKind, Visit};
use orb_store::{ArchiveReader, RedirectLoop, StoreError};
use std::time::Instant;

/// How often a page may be requested again in a run: once for a cookie, once for something else.
const MOST_RETURNS: u8 = 2;

/// Maximum pages whose returns are counted; later ones are not requested again.
const MAX_PAGES: usize = 100_000;

/// What is known about the redirects of a run.
pub(super) struct RedirectLoops {
    /// Redirects that set a cookie, if there are any.
    with_cookie: Option<IdSet>,
    /// Whether the run is resumed: then only the archive knows who set cookies before.
    resumed: bool,
    /// Redirects that may close a loop: from a page to where it may have begun.
    closing: Vec<(PageId, PageId)>,
    /// How often pages were requested again.
    returns: HashMap<PageId, u8>,
}

impl RedirectLoops {
    /// Nothing, in a run that begins or is resumed.
    pub(super) fn new(resumed: bool) -> Self {
        let with_cookie = resumed.then(IdSet::default);
        Self { with_cookie, resumed, closing: Vec::new(), returns: HashMap::new() }
    }

    /// A page was visited. Loops without cookies are not looked for, so most crawls pay nothing.
    pub(super) fn note(&mut self, visit: &Visit, targets: &[PageId], sets_cookie: bool) {
        if visit.kind != PageKind::Redirect {
            return;
        }
        if sets_cookie {
            self.with_cookie.get_or_insert_default().insert(visit.page.0);
        }
        let target = visit.links.iter().zip(targets).find(|(link, _)| link.kind == LinkKind::Redirect);
        if let Some((_, to)) = target.filter(|(_, to)| self.with_cookie.is_some() && **to != visit.page) {
            self.closing.push((visit.page, *to));
        }
    }

    /// Whether a page may be requested again; counts it.
    fn may_return(&mut self, page: PageId) -> bool {
        if self.returns.len() >= MAX_PAGES && !self.returns.contains_key(&page) {
            return false;
        }
        let returns = self.returns.entry(page).or_default();
        *returns += 1;
        *returns <= MOST_RETURNS
    }
}

impl Recorder {
    /// Requests pages again to which redirects have led back, in the commit that records the last
    /// of these, so that a crash cannot come between. If another visit that is needed is not
    /// recorded yet, that is done with the next commit.
    pub(super) fn close_loops(&mut self) -> Result<(), StoreError> {
        if self.loops.closing.is_empty() || self.project.is_shared() {
            self.loops.closing.clear();
            return Ok(());
        }
        let (run, hops) = (self.rules.run, self.rules.read.max_redirects);
        let before_commit = !self.pending.is_empty();
        for (end, start) in std::mem::take(&mut self.loops.closing) {
            match self.project.redirect_loop(run, start, end, hops)? {
                Some(found) if self.pending.batch.withdrawn.contains(&found.page.page) => {}
                Some(found) if self.sets_cookie(&found)? && self.loops.may_return(found.page.page) => {
                    self.request_again(found);
                }
                None if before_commit => self.loops.closing.push((end, start)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether one of the redirects of a loop has set a cookie.
    fn sets_cookie(&self, found: &RedirectLoop) -> Result<bool, StoreError> {
        let known = self.loops.with_cookie.as_ref();
        if known.is_some_and(|known| found.pages.iter().any(|page| known.contains(page.0))) {
            return Ok(true);
        }
        if !self.loops.resumed {
            return Ok(false);
        }
        let archive = ArchiveReader::open(self.project.dir());
        let places = self.project.archived(self.rules.run, &found.pages)?;
        let mut stored = places.iter().filter_map(|place| archive.exchange(place).ok());
        Ok(stored.any(|stored| stored.headers.get("set-cookie").is_some()))
    }

    fn request_again(&mut self, found: RedirectLoop) {
        tracing::info!(pages = found.pages.len(), "redirects lead back to {}", found.page.url);
        self.counters.withdraw_redirect(found.flag, self.rules.noises.is_some());
        if let Some(feed) = self.shared.feed.as_ref().filter(|_| self.rules.noises.is_some()) {
            // The redirect has removed the page from the index, and the page may be unchanged.
            feed.leave_gap();
        }
        self.pending.since.get_or_insert_with(Instant::now);
        self.pending.fed.insert(found.page.host);
        self.pending.batch.withdrawn.push(found.page.page);
        self.pending.batch.requeued.push(found.page);
    }
}
