//! Which pages does a tracking run visit, and what happens to those it may not?

use super::{Recorder, called};
use crate::read::ReadRules;
use orb_page::{Flag, Moment, PageId, PageKind, Verdict, Visit};
use orb_store::{DroppedPage, KnownPage, QueuePlace, Requeued, StoreError};
use orb_track::schedule::changed_by;
use orb_urls::{Address, Judgement};
use std::sync::Arc;
use std::time::Instant;

/// Pages examined between two commits.
const CHUNK: u32 = 20_000;

/// Which known pages a run of several machines visits again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revisited {
    /// All of them.
    All,
    /// Those that its planter has chosen.
    Chosen,
    /// The seeds of which nothing was ever fetched.
    Seeds,
}

impl Recorder {
    /// Re-queues the pages that earlier runs have visited, that are in scope and that are `wanted`.
    /// Pages queued before a crash stay, and are not counted twice.
    pub(crate) fn plant_known(
        &mut self,
        rules: &ReadRules,
        wanted: &mut dyn FnMut(&KnownPage) -> bool,
    ) -> Result<(), StoreError> {
        let mut after = PageId(0);
        loop {
            let (mut known, last) = self.project.known_pages(self.rules.run, after, CHUNK)?;
            let Some(last) = last else { return Ok(()) };
            after = last;
            known.retain(|page| belongs(rules, &page.page) && wanted(page));
            known.iter_mut().for_each(|page| called::forget(self.rules.order, &mut page.page));
            if known.is_empty() {
                continue;
            }
            self.pending.since = Some(Instant::now());
            self.counters.known += known.iter().filter(|page| page.there).count() as u64;
            self.pending.fed.extend(known.iter().map(|page| page.page.host));
            self.pending.batch.sifted = true;
            self.pending.batch.requeued.extend(known.into_iter().filter(|page| !page.waits).map(|page| page.page));
            self.commit()?;
        }
    }

    /// A sitemap gives a page's last modification: if that is after its last visit, it is visited
    /// in this run although it was not chosen.
    pub(super) fn look_if_newer(&mut self, page: PageId, anchor: &str, verdict: Verdict) -> Result<(), StoreError> {
        let Some(changed) = changed_by(anchor).filter(|_| verdict == Verdict::Follow) else { return Ok(()) };
        let Some(known) = self.left_out(page)? else { return Ok(()) };
        let visited = self.project.before(page)?.and_then(|before| before.latest).map(|latest| latest.at);
        if visited.is_none_or(|at| changed > at) {
            self.visit_too(known);
        }
        Ok(())
    }

    /// A document now redirects: its target is visited in this run, too, although it was out of
    /// scope when the run began.
    pub(super) fn look_where_it_went(&mut self, page: PageId) -> Result<(), StoreError> {
        if let Some(known) = self.left_out(page)? {
            self.visit_too(known);
        }
        Ok(())
    }

    /// A page that earlier runs have visited and this one will not.
    fn left_out(&self, page: PageId) -> Result<Option<KnownPage>, StoreError> {
        let (known, _) = self.project.known_pages(self.rules.run, PageId(page.0.saturating_sub(1)), 1)?;
        Ok(known.into_iter().find(|known| known.page.page == page && !known.waits))
    }

    fn visit_too(&mut self, known: KnownPage) {
        if self.pending.renewed.insert(known.page.page) {
            self.counters.known += u64::from(known.there);
            self.pending.fed.insert(known.page.host);
            self.pending.batch.requeued.push(known.page);
        }
    }

    /// A visit that was not made, if the document existed before: it counts as known and failed.
    pub(super) fn kept_out(&self, dropped: &DroppedPage, at: Moment) -> Result<Option<Visit>, StoreError> {
        if self.rules.noises.is_none() {
            return Ok(None);
        }
        let DroppedPage { place: QueuePlace { page, host, .. }, kind, why } = *dropped;
        let Some(url) = self.project.url_of(page)? else { return Ok(None) };
        if !self.project.before(page)?.is_some_and(|before| before.there) {
            return Ok(None);
        }
        let detail = match kind {
            PageKind::Disallowed => "robots.txt forbids it now".to_owned(),
            _ => format!("it is no longer requested: {why}"),
        };
        let mut visit = Visit::blank(page, host, url, at, Arc::clone(&self.rules.by));
        (visit.flag, visit.kind, visit.known) = (Flag::Error, kind, true);
        visit.detail = Some(detail);
        Ok(Some(visit))
    }
}

/// Whether a known page is still in scope, by the rules of its step.
fn belongs(rules: &ReadRules, page: &Requeued) -> bool {
    let Ok(address) = Address::from_canonical(&page.url) else { return false };
    let (scope, _) = rules.of(page.step);
    let from = scope.a_seed().unwrap_or(&address);
    scope.current().judge(&address, Some(from)) == Judgement::In
}
