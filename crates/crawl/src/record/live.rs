//! What happens to the queues when the rules change during a run?
//!
//! The same as when a run is resumed under other rules (`replant`), but a part at a time between
//! two commits, and around what is under way: a page that is being fetched stays, and one that is
//! waiting in memory is withdrawn from there before it leaves its queue. Withheld aliases are left
//! as they are: they are not fetched either way.

use super::Recorder;
use super::replant::Replant;
use hashbrown::HashSet;
use orb_page::PageId;
use orb_store::{Batch, QueuePlace, StoreError};
use std::time::Instant;

/// The rules have changed.
pub(crate) struct RuleChange {
    /// The settings of the run from now on, as text.
    pub text: String,
}

/// How far the pages are re-evaluated.
pub(super) struct Reevaluation {
    rules: Replant,
    after: PageId,
    /// The settings, if they are why.
    text: Option<String>,
}

impl Recorder {
    /// The rules have changed: all pages that were never fetched are to be judged again.
    pub(super) fn take_rules(&mut self, change: RuleChange) {
        self.pending.held += 1;
        let rules = Replant::new(self.rules.read.clone(), self.rules.order, false);
        // One that is under way is begun again.
        self.reevaluation = Some(Reevaluation { rules, after: PageId(0), text: Some(change.text) });
    }

    /// Some pages are nearer to the seeds than they seemed: those that were too deep are to be
    /// judged again.
    pub(super) fn judge_depths(&mut self) {
        if self.reevaluation.as_ref().is_some_and(|going| going.text.is_some()) {
            // All of them are judged anyway, but perhaps not those that were judged before.
            self.reevaluation.iter_mut().for_each(|going| going.after = PageId(0));
            return;
        }
        let rules = Replant::new(self.rules.read.clone(), self.rules.order, false).by_depth();
        self.reevaluation = Some(Reevaluation { rules, after: PageId(0), text: None });
    }

    /// Judges the next part of the pages, if there is something to judge. Until the last is judged,
    /// the run is not over: pages may come in.
    pub(super) fn reevaluate(&mut self) -> Result<(), StoreError> {
        if self.reevaluation.is_none() {
            return Ok(());
        }
        // What was fetched meanwhile is no longer queued.
        self.commit_all()?;
        let Some(going) = &mut self.reevaluation else { return Ok(()) };
        match going.rules.next(&self.project, going.after, |_| true)? {
            None => {
                let text = going.text.take();
                self.reevaluation = None;
                if let Some(text) = text {
                    self.project.change_settings(self.rules.run, &text)?;
                }
            }
            Some((batch, last)) => {
                going.after = last;
                self.commit_judged(batch)?;
            }
        }
        self.note_pending();
        Ok(())
    }

    /// Commits what has left the queues, or entered them, by other rules.
    fn commit_judged(&mut self, mut batch: Batch) -> Result<(), StoreError> {
        let aliases: HashSet<PageId> = batch.unaliased.drain(..).map(|(_, page)| page).collect();
        batch.requeued.retain(|page| !aliases.contains(&page.page));
        let places: Vec<QueuePlace> = batch.dropped.iter().map(|dropped| dropped.place).collect();
        let taken = self.shared.frontier().withdraw(&places, self.clock.now());
        batch.dropped.retain(|dropped| taken.contains(&dropped.place.page));
        if batch.dropped.is_empty() && batch.requeued.is_empty() {
            return Ok(());
        }
        batch.requeued.iter().for_each(|page| _ = self.parked.remove(page.page.0));
        for dropped in &batch.dropped {
            self.parked.insert(dropped.place.page.0);
            self.counters.count_kind(dropped.kind);
        }
        self.pending.fed.extend(batch.requeued.iter().map(|page| page.host));
        self.pending.batch = batch;
        self.pending.since = Some(Instant::now());
        self.commit_all()
    }

    /// Tells the driver whether something is still to come of what was recorded.
    pub(super) fn note_pending(&self) {
        self.shared.pending.set(!self.pending.is_empty() || self.reevaluation.is_some());
        self.shared.wake.notify_one();
    }
}
