//! Which number does a link's target get, and may it be fetched?
//!
//! The part of recording that meets the frontier index and the frontier: known targets are looked up, new ones get the next number, their host
//! and their place, and pages that were left outside are brought in when a better link points to them.

use super::Recorder;
use orb_frontier::rank;
use orb_page::{Discovered, Found, HostId, LinkKind, PageId, PageKind, UrlKey, Verdict, Visit};
use orb_store::{NewHost, Requeued, StoreError};
use orb_urls::Address;
use std::sync::Arc;

impl Recorder {
    /// The number of every link's target; a target met for the first time gets one.
    pub(super) fn number_targets(&mut self, visit: &Visit) -> Result<Vec<PageId>, StoreError> {
        let keys: Vec<UrlKey> = visit.links.iter().map(|l| l.key).collect();
        let known = self.project.index().seen(&keys)?;
        let mut out = Vec::with_capacity(keys.len());
        for (found, known) in visit.links.iter().zip(known) {
            let page = match known.or_else(|| self.pending.keys.get(&found.key).copied()) {
                Some(page) => {
                    if found.verdict == Verdict::Follow && self.parked.remove(page.0) {
                        self.bring_in(page, visit, found)?;
                    } else if found.kind == LinkKind::Sitemap && self.rules.noises.is_some() {
                        self.look_if_newer(page, visit, found)?;
                    }
                    page
                }
                None => self.discover(visit, found)?,
            };
            out.push(page);
        }
        Ok(out)
    }

    /// A page that was left outside is pointed to by a link to follow.
    fn bring_in(&mut self, page: PageId, visit: &Visit, found: &Found) -> Result<(), StoreError> {
        let url = visit.links.url(found);
        let address = self.address(url)?;
        let host = self.host_of(&address)?;
        let depth = self.depth_of(visit, found);
        let asked = found.asked.as_deref();
        let judged = self.shared.frontier().judge(host, url, asked, depth, visit.at);
        if let Some((kind, why)) = judged {
            self.counters.count_kind(kind);
            self.counters.count_trap(why);
            return Ok(());
        }
        let rank = rank(self.rules.order, depth, page, found.priority);
        let first_pending = self.project.next_page_id().0;
        let pending = page.0.checked_sub(first_pending).and_then(|i| usize::try_from(i).ok());
        match pending.and_then(|i| self.pending.batch.discovered.get_mut(i)) {
            Some(discovered) => {
                discovered.kind = PageKind::Frontier;
                discovered.why = None;
                (discovered.depth, discovered.rank, discovered.step) = (depth, rank, visit.step);
            }
            None => {
                let (url, step) = (url.to_owned(), visit.step);
                self.pending.batch.requeued.push(Requeued { page, host, url, rank, depth, step });
            }
        }
        self.pending.fed.insert(host);
        Ok(())
    }

    /// A link leads one step away from the seed; a redirect does not, and a seed that has moved is a seed.
    fn depth_of(&self, visit: &Visit, found: &Found) -> u32 {
        match found.kind {
            LinkKind::Redirect if self.shared.scope.is_seed(visit.links.url(found)) => 0,
            LinkKind::Redirect => visit.depth,
            _ => visit.depth + 1,
        }
    }

    fn address(&self, canonical: &str) -> Result<Address, StoreError> {
        Address::from_canonical(canonical)
            .map_err(|e| StoreError::BadBatch(format!("{canonical} is not canonical: {e}")))
    }

    fn discover(&mut self, visit: &Visit, found: &Found) -> Result<PageId, StoreError> {
        let redirect = found.kind == LinkKind::Redirect;
        let blank = Discovered {
            page: PageId(0),
            url: visit.links.url(found).to_owned(),
            key: found.key,
            host: HostId(0),
            kind: PageKind::Frontier,
            why: None,
            depth: self.depth_of(visit, found),
            redirects: if redirect { visit.redirects.saturating_add(1) } else { 0 },
            priority: found.priority,
            rank: 0,
            at: visit.at,
            by: Arc::clone(&visit.by),
            step: visit.step,
            asked: found.asked.clone(),
            from: Some(visit.page),
        };
        self.admit(blank, found.verdict)
    }

    /// A page that no page points to: a seed, of a step where one is named, or (from page 0) a sitemap named in a robots.txt.
    pub(super) fn discover_root(
        &mut self,
        address: &Address,
        from: Option<PageId>,
        step: Option<u32>,
    ) -> Result<(), StoreError> {
        let key = UrlKey::of(address.as_str());
        let known = self.project.index().seen(&[key])?.first().copied().flatten();
        if let Some(page) = known.or_else(|| self.pending.keys.get(&key).copied()) {
            // What was left outside by other rules is a step's own where the step begins there.
            if step.is_some() && known.is_some() && self.parked.remove(page.0) {
                let (host, rank) = (self.host_of(address)?, rank(self.rules.order, 0, page, 1.0));
                let url = address.as_str().to_owned();
                self.pending.batch.requeued.push(Requeued { page, host, url, rank, depth: 0, step });
                self.pending.fed.insert(host);
            }
            return Ok(());
        }
        let blank = Discovered {
            page: PageId(0),
            url: address.as_str().to_owned(),
            key,
            host: HostId(0),
            kind: PageKind::Frontier,
            why: None,
            depth: 0,
            redirects: 0,
            priority: 1.0,
            rank: 0,
            at: self.clock.now(),
            by: Arc::clone(&self.rules.by),
            step,
            asked: None,
            from,
        };
        self.admit(blank, Verdict::Follow).map(drop)
    }

    /// Gives a page its number, its host and its place.
    fn admit(&mut self, mut page: Discovered, verdict: Verdict) -> Result<PageId, StoreError> {
        let address = self.address(&page.url)?;
        page.page = PageId(self.project.next_page_id().0 + self.pending.batch.discovered.len() as u64);
        page.host = self.host_of(&address)?;
        page.rank = rank(self.rules.order, page.depth, page.page, page.priority);
        let judged = match verdict {
            Verdict::Outside(why) => {
                self.parked.insert(page.page.0);
                Some((PageKind::Outside, why))
            }
            Verdict::Follow if page.from.is_none() => None,
            Verdict::Follow => {
                let asked = page.asked.as_deref();
                self.shared.frontier().judge(page.host, &page.url, asked, page.depth, page.at)
            }
        };
        if let Some((kind, why)) = judged {
            self.counters.count_kind(kind);
            self.counters.count_trap(why);
            page.kind = kind;
            page.why = Some(why);
        } else {
            self.pending.fed.insert(page.host);
        }
        self.counters.discovered += 1;
        self.pending.keys.insert(page.key, page.page);
        let number = page.page;
        self.pending.batch.discovered.push(page);
        Ok(number)
    }

    fn host_of(&mut self, address: &Address) -> Result<HostId, StoreError> {
        let origin = address.origin();
        if let Some(id) = self.pending.hosts.get(&origin) {
            return Ok(*id);
        }
        if let Some(id) = self.project.index().host_id(origin.scheme, &origin.host, origin.port)? {
            return Ok(id);
        }
        let new = u32::try_from(self.pending.batch.hosts.len()).unwrap_or(u32::MAX);
        let id = HostId(self.project.next_host_id().0 + new);
        self.pending.batch.hosts.push(NewHost {
            id,
            scheme: origin.scheme.to_string(),
            name: origin.host.to_string(),
            port: origin.port,
            at: self.clock.now(),
        });
        self.pending.hosts.insert(origin, id);
        Ok(id)
    }
}
