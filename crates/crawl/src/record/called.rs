//! What happens to pages that somebody called for?

use super::Recorder;
use super::commit::MAX_ROWS;
use crate::read::out_of_scope;
use orb_frontier::{Order, rank};
use orb_page::{Discovered, PageId, SkipReason, UrlKey, Verdict};
use orb_store::{Admission, MOST_CALLS, Requeued, StoreError};
use orb_urls::{Address, Judgement};
use std::time::Instant;

/// Links from a seed to a page that somebody called for. It is none itself: seeds are visited by
/// every run, and what is around them is in scope.
const DEPTH: u32 = 1;

/// Gives a page that an earlier run was called to its usual place in its queue. Only calls and
/// seeds have ranks as small as theirs.
pub(super) fn forget(order: Order, page: &mut Requeued) {
    if page.depth > 0 && page.rank < MOST_CALLS as u64 {
        page.rank = rank(order, page.depth, page.page, 0.5);
    }
}

impl Recorder {
    /// Queues pages that somebody called for before all others of their hosts, in this order. What
    /// is known and out of scope, or queued already, stays where it is.
    pub(crate) fn plant_called(&mut self, called: &[Address]) -> Result<(), StoreError> {
        if called.is_empty() {
            return Ok(());
        }
        self.pending.since = Some(Instant::now());
        for (place, address) in called.iter().enumerate() {
            self.call_for(address, place as u64)?;
            if self.pending.batch.discovered.len() + self.pending.batch.requeued.len() >= MAX_ROWS {
                self.commit()?;
                self.pending.since = Some(Instant::now());
            }
        }
        self.commit()
    }

    fn call_for(&mut self, address: &Address, rank: u64) -> Result<(), StoreError> {
        let (key, verdict) = (UrlKey::of(address.as_str()), self.judge_call(address));
        let mut admissions = Vec::with_capacity(1);
        self.project.admit(&[key], &mut admissions)?;
        match admissions.first().copied() {
            Some(Admission::New(page)) => {
                self.admit(Discovered { depth: DEPTH, ..self.root(page, address, Some(PageId(0))) }, verdict)?;
                self.pending.batch.discovered.last_mut().into_iter().for_each(|new| new.rank = rank);
                Ok(())
            }
            Some(Admission::Known(page)) if verdict == Verdict::Follow => self.call_again(page, address, rank),
            _ => Ok(()),
        }
    }

    /// A page that was left outside is brought in; one that was visited is visited again, if the
    /// run revisits any.
    fn call_again(&mut self, page: PageId, address: &Address, rank: u64) -> Result<(), StoreError> {
        if self.parked.remove(page.0) {
            let host = self.project.admit_host(&address.origin(), || self.clock.now())?;
            let url = address.as_str().to_owned();
            self.pending.batch.requeued.push(Requeued { page, host, url, rank, depth: DEPTH, step: None });
            self.pending.fed.insert(host);
            return Ok(());
        }
        if self.rules.noises.is_none() {
            return Ok(());
        }
        let (known, _) = self.project.known_pages(self.rules.run, PageId(page.0.saturating_sub(1)), 1)?;
        let Some(mut known) = known.into_iter().find(|known| known.page.page == page && !known.waits) else {
            return Ok(());
        };
        self.counters.known += u64::from(known.there);
        self.pending.fed.insert(known.page.host);
        known.page.rank = rank;
        self.pending.batch.requeued.push(known.page);
        Ok(())
    }

    /// Whether a call leads into the scope, as a link on a seed would.
    fn judge_call(&self, address: &Address) -> Verdict {
        let (scope, depth) = self.rules.read.of(None);
        let from = scope.a_seed().unwrap_or(address);
        match scope.current().judge(address, Some(from)) {
            Judgement::Out(why) => Verdict::Outside(out_of_scope(why)),
            Judgement::In if depth.is_some_and(|most| DEPTH > most) => Verdict::Outside(SkipReason::Depth),
            Judgement::In => Verdict::Follow,
        }
    }
}
