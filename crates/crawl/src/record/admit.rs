//! Which number does a link's target get, and may it be fetched?
//!
//! The part of recording that consults the frontier index and the frontier: known targets are
//! looked up, new ones get the next number, their host and their rank, and pages that were left
//! outside are brought in when a better link points to them.

use super::Recorder;
use super::letters::patiently;
use orb_frontier::rank;
use orb_page::{Discovered, DiscoveredLink, HostId, LinkKind, Moment, PageId, PageKind, UrlKey, Verdict, Visit};
use orb_store::{Admission, Requeued, StoreError};
use orb_urls::Address;
use std::sync::Arc;

/// What a link says of its target, whoever has read it.
pub(super) struct LinkSight<'a> {
    pub(super) url: &'a str,
    pub(super) asked: Option<&'a str>,
    pub(super) depth: u32,
    pub(super) priority: f32,
    pub(super) step: Option<u32>,
    pub(super) at: Moment,
}

impl Recorder {
    /// The number of every link's target; new targets get one.
    pub(super) fn number_targets(&mut self, visit: &Visit) -> Result<Vec<PageId>, StoreError> {
        if self.project.is_shared() {
            return self.number_shared(visit);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.keys.clear();
        scratch.admissions.clear();
        scratch.keys.extend(visit.links.iter().map(|link| link.key));
        self.project.admit(&scratch.keys, &mut scratch.admissions)?;
        let mut out = Vec::with_capacity(scratch.keys.len());
        for (found, admission) in visit.links.iter().zip(&scratch.admissions) {
            match *admission {
                Admission::New(page) => self.discover(page, visit, found)?,
                Admission::Known(page) | Admission::Pending(page) => self.meet_again(page, visit, found)?,
            }
            out.push(admission.page());
        }
        self.scratch = scratch;
        Ok(out)
    }

    /// A link leads to a page that is known.
    pub(super) fn meet_again(&mut self, page: PageId, visit: &Visit, found: &DiscoveredLink) -> Result<(), StoreError> {
        if found.verdict == Verdict::Follow && self.parked.remove(page.0) {
            self.bring_in(page, &self.sight(visit, found))
        } else if found.kind == LinkKind::Sitemap && self.rules.noises.is_some() {
            self.look_if_newer(page, visit.links.anchor(found), found.verdict)
        } else if found.kind == LinkKind::Redirect && found.verdict == Verdict::Follow && visit.known {
            self.look_where_it_went(page)
        } else {
            Ok(())
        }
    }

    /// A page that was left outside is the target of a link to follow.
    pub(super) fn bring_in(&mut self, page: PageId, sight: &LinkSight<'_>) -> Result<(), StoreError> {
        let LinkSight { url, asked, depth, step, at, .. } = *sight;
        let address = self.address(url)?;
        let host = self.host_of(&address)?;
        let judged = self.shared.frontier().judge(host, url, asked, depth, at);
        if let Some((kind, why)) = judged {
            self.counters.count_kind(kind);
            self.counters.count_trap(why);
            return Ok(());
        }
        let rank = rank(self.rules.order, depth, page, sight.priority);
        // In the order of their numbers.
        match self.pending.batch.discovered.binary_search_by_key(&page, |discovered| discovered.page) {
            Ok(at) => {
                let discovered = &mut self.pending.batch.discovered[at];
                discovered.kind = PageKind::Frontier;
                discovered.why = None;
                (discovered.depth, discovered.rank, discovered.step) = (depth, rank, step);
            }
            Err(_) => {
                let url = url.to_owned();
                self.pending.batch.requeued.push(Requeued { page, host, url, rank, depth, step });
            }
        }
        self.pending.fed.insert(host);
        Ok(())
    }

    /// What a link says of its target.
    pub(super) fn sight<'a>(&self, visit: &'a Visit, found: &'a DiscoveredLink) -> LinkSight<'a> {
        LinkSight {
            url: visit.links.url(found),
            asked: found.asked.as_deref(),
            depth: self.depth_of(visit, found),
            priority: found.priority,
            step: visit.step,
            at: visit.at,
        }
    }

    /// A link is one step away from the seed; a redirect is not, and a seed that has moved is a
    /// seed.
    pub(super) fn depth_of(&self, visit: &Visit, found: &DiscoveredLink) -> u32 {
        match found.kind {
            LinkKind::Redirect if self.shared.scope.is_seed(visit.links.url(found)) => 0,
            LinkKind::Redirect => visit.depth,
            _ => visit.depth + 1,
        }
    }

    pub(super) fn address(&self, canonical: &str) -> Result<Address, StoreError> {
        Address::from_canonical(canonical)
            .map_err(|e| StoreError::BadBatch(format!("{canonical} is not canonical: {e}")))
    }

    pub(super) fn discover(&mut self, page: PageId, visit: &Visit, found: &DiscoveredLink) -> Result<(), StoreError> {
        let redirect = found.kind == LinkKind::Redirect;
        let blank = Discovered {
            page,
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

    /// A page without a linking page: a seed, possibly of a step, or (from page 0) a sitemap named
    /// in a robots.txt.
    pub(super) fn discover_root(
        &mut self,
        address: &Address,
        from: Option<PageId>,
        step: Option<u32>,
    ) -> Result<(), StoreError> {
        if !self.project.owns(address.host()) {
            self.write_root(address, from, step);
            return Ok(());
        }
        let key = UrlKey::of(address.as_str());
        let mut admissions = Vec::with_capacity(1);
        patiently(&self.shared, || self.project.admit(&[key], &mut admissions))?;
        let Some(Admission::New(page)) = admissions.first().copied() else {
            // A page left outside by other rules belongs to a step that starts there.
            if let Some(Admission::Known(page)) = admissions.first().copied()
                && step.is_some()
                && self.parked.remove(page.0)
            {
                let (host, rank) = (self.host_of(address)?, rank(self.rules.order, 0, page, 1.0));
                let url = address.as_str().to_owned();
                self.pending.batch.requeued.push(Requeued { page, host, url, rank, depth: 0, step });
                self.pending.fed.insert(host);
            }
            return Ok(());
        };
        self.admit(Discovered { step, ..self.root(page, address, from) }, Verdict::Follow)
    }

    /// A new page without a linking page: no link away from anything, as important as can be.
    pub(super) fn root(&self, page: PageId, address: &Address, from: Option<PageId>) -> Discovered {
        Discovered {
            page,
            url: address.as_str().to_owned(),
            key: UrlKey::of(address.as_str()),
            host: HostId(0),
            kind: PageKind::Frontier,
            why: None,
            depth: 0,
            redirects: 0,
            priority: 1.0,
            rank: 0,
            at: self.clock.now(),
            by: Arc::clone(&self.rules.by),
            step: None,
            asked: None,
            from,
        }
    }

    /// Gives a page its host and its place.
    pub(super) fn admit(&mut self, mut page: Discovered, verdict: Verdict) -> Result<(), StoreError> {
        let address = self.address(&page.url)?;
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
        self.pending.batch.discovered.push(page);
        Ok(())
    }

    fn host_of(&mut self, address: &Address) -> Result<HostId, StoreError> {
        let (clock, origin) = (self.clock, address.origin());
        patiently(&self.shared, || self.project.admit_host(&origin, || clock.now()))
    }
}
