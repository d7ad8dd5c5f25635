//! What is this address an alias of, and may it be withheld?
//!
//! Only for a page that is known: fetched, or to be fetched. If none is, the normal form of the
//! address takes its place in the queue, so that nothing that the server has to say is lost; if
//! that turns out to be no document, the address comes back (`recall`).

use super::{KnownContent, Recorder};
use orb_page::{Discovered, HostId, Lease, PageId, PageKind, SkipReason, UrlKey, Verdict};
use orb_store::{Admission, AliasEntry, DroppedPage, QueuePlace, StoreError};
use orb_urls::{Address, Judgement};
use std::sync::Arc;

impl Recorder {
    /// The frontier holds a queued page to be an alias: withholds it, or sends it back.
    pub(in crate::record) fn take_alias(&mut self, lease: &Lease, rank: u64) -> Result<(), StoreError> {
        let Some(entry) = self.alias_of(lease)? else {
            self.shared.frontier().spare(lease, self.clock.now());
            self.shared.pipeline.leave(1);
            self.shared.wake.notify_one();
            return Ok(());
        };
        self.shared.frontier().withhold(lease.host, self.clock.now());
        self.pending.held += 1;
        self.aliases.targets.insert(entry.target.0);
        self.counters.aliases += 1;
        let place = QueuePlace { host: lease.host, rank, page: lease.page };
        self.pending.batch.dropped.push(DroppedPage { place, kind: PageKind::Duplicate, why: SkipReason::Alias });
        tracing::info!(of = entry.target.0, rule = &*entry.name, "an alias: {}", lease.url);
        self.pending.batch.aliases.push(entry);
        Ok(())
    }

    /// What an address is an alias of; `None` if it must be fetched.
    fn alias_of(&mut self, lease: &Lease) -> Result<Option<AliasEntry>, StoreError> {
        let Some(desk) = self.aliases.hosts.get(&lease.host) else { return Ok(None) };
        let form = desk.rules.normal(&lease.url);
        let key = UrlKey::of(form.as_ref().map_or(&lease.url, |form| &form.url));
        let stand_in = desk.told.stand_ins.get(&key).copied().filter(|(page, _)| *page != lease.page);
        if self.project.is_alias_test(lease.host, lease.page)? {
            return Ok(None);
        }
        let found = match form {
            None => stand_in,
            Some(form) => match self.content_of(&form.url)? {
                KnownContent::Document { page, rules, .. } => Some((page, form.rules | rules)),
                KnownContent::Waiting(page) => {
                    Some(stand_in.map_or((page, form.rules), |(page, rules)| (page, rules | form.rules)))
                }
                KnownContent::Unknown => match stand_in {
                    Some((page, rules)) => Some((page, rules | form.rules)),
                    None => self.substitute(lease, &form.url)?.map(|page| (page, form.rules)),
                },
                KnownContent::Other => None,
            },
        };
        let Some((target, rules)) = found.filter(|(target, _)| *target != lease.page) else { return Ok(None) };
        // Another step collects its page by other rules.
        if !self.rules.read.steps.is_empty() && self.step_of(target)? != lease.step {
            return Ok(None);
        }
        Ok(self.test_or_withhold(lease.host, (lease.page, &lease.url), target, rules))
    }

    fn test_or_withhold(
        &mut self,
        host: HostId,
        (page, url): (PageId, &str),
        target: PageId,
        rules: u64,
    ) -> Option<AliasEntry> {
        self.aliases.changed.insert(host);
        let desk = self.desk(host)?;
        let tested = desk.rules.wants_test(url, rules);
        let names: Vec<String> = desk.rules.named(rules).map(|rule| rule.rule.to_string()).collect();
        let name = Arc::from(names.join("; "));
        let entry = AliasEntry { page, target, host, rules, name, tested };
        if tested {
            self.pending.batch.aliases.push(entry);
            return None;
        }
        Some(entry)
    }

    /// Queues the normal form of an address in its place; `None` if it may not be fetched.
    fn substitute(&mut self, lease: &Lease, url: &str) -> Result<Option<PageId>, StoreError> {
        let Some(address) = self.rules.read.canonical.parse(url).ok().filter(|address| address.as_str() == url) else {
            return Ok(None);
        };
        let Ok(own) = Address::from_canonical(&lease.url) else { return Ok(None) };
        let (scope, _) = self.rules.read.of(lease.step);
        if scope.current().judge(&address, Some(&own)) != Judgement::In {
            return Ok(None);
        }
        let key = UrlKey::of(url);
        let mut admissions = Vec::with_capacity(1);
        self.project.admit(&[key], &mut admissions)?;
        let page = match admissions.first().copied() {
            Some(Admission::New(page)) => {
                self.admit(self.in_place_of(lease, page, address), Verdict::Follow)?;
                page
            }
            Some(Admission::Pending(page) | Admission::Known(page)) => page,
            None => return Ok(None),
        };
        let waits = match self.discovery(page) {
            Some(discovered) => discovered.kind == PageKind::Frontier,
            None => matches!(self.content(page)?, KnownContent::Waiting(_)),
        };
        Ok(waits.then_some(page))
    }

    /// The page, if it was discovered since the last commit.
    fn discovery(&self, page: PageId) -> Option<&Discovered> {
        let discovered = &self.pending.batch.discovered;
        discovered.binary_search_by_key(&page, |discovered| discovered.page).ok().map(|at| &discovered[at])
    }

    fn step_of(&self, page: PageId) -> Result<Option<u32>, StoreError> {
        match self.discovery(page) {
            Some(discovered) => Ok(discovered.step),
            None => Ok(self.project.standing(page)?.and_then(|standing| standing.step)),
        }
    }

    fn in_place_of(&self, lease: &Lease, page: PageId, address: Address) -> Discovered {
        Discovered {
            page,
            key: UrlKey::of(address.as_str()),
            url: address.into_string(),
            host: lease.host,
            kind: PageKind::Frontier,
            why: None,
            depth: lease.depth,
            redirects: lease.redirects,
            priority: 0.5,
            rank: 0,
            at: self.clock.now(),
            by: Arc::clone(&self.rules.by),
            step: lease.step,
            asked: None,
            from: Some(lease.page),
        }
    }
}
