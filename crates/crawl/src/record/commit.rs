//! How does what has been gathered become durable?
//!
//! [`PendingCommit`] is the next batch while it grows. Committing it writes it, waits for disk
//! space where that is needed, and only then tells the frontier, the driver and the text index.

use super::{Recorder, facts};
use crate::indexing::{Wording, mark};
use crate::watch::ledger::Stage;
use crate::watch::progress::Pause;
use hashbrown::{HashMap, HashSet};
use orb_page::{HostId, PageId, PageKind};
use orb_store::{Batch, CounterDelta, Steps, StoreError, free_space};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum rows per commit, give or take a page.
pub(super) const MAX_ROWS: usize = 100_000;

/// Maximum archive bytes per commit, give or take a page.
const MAX_BYTES: u64 = 64_000_000;

/// How long a host's back-off may wait to be recorded: a process killed meanwhile would lose it.
const URGENT: Duration = Duration::from_millis(50);

/// The contents of the next commit.
#[derive(Default)]
pub(super) struct PendingCommit {
    pub(super) batch: Batch,
    pub(super) words: Vec<Option<Box<Wording>>>,
    pub(super) digests: HashMap<[u8; 32], (PageId, HostId)>,
    pub(super) fed: HashSet<HostId>,
    /// Known pages that a sitemap brings in.
    pub(super) renewed: HashSet<PageId>,
    /// Number of the pipeline's pages it holds.
    pub(super) held: usize,
    pub(super) rows: usize,
    pub(super) bytes: u64,
    pub(super) since: Option<Instant>,
    /// Since when it has held a host's back-off.
    pub(super) urgent: Option<Instant>,
}

impl PendingCommit {
    pub(super) fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    /// How long it may still wait for more.
    pub(super) fn rest(&self, batch_time: Duration) -> Duration {
        let rest = |since: Option<Instant>, most: Duration| since.map(|since| most.saturating_sub(since.elapsed()));
        let waits = [rest(self.since, batch_time), rest(self.urgent, URGENT)];
        waits.into_iter().flatten().min().unwrap_or(Duration::from_secs(3_600))
    }

    pub(super) fn is_full(&self, pages: usize) -> bool {
        self.held >= pages || self.rows >= MAX_ROWS || self.bytes >= MAX_BYTES
    }

    /// An empty one that reuses the buffers, which need not be allocated and grown again for each
    /// commit.
    fn emptied(self) -> Self {
        let batch = Batch {
            discovered: emptied(self.batch.discovered),
            visits: emptied(self.batch.visits),
            finished: emptied(self.batch.finished),
            facts: emptied(self.batch.facts),
            ..Batch::default()
        };
        let mut digests = self.digests;
        digests.clear();
        Self { batch, digests, ..Self::default() }
    }
}

fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    list.clear();
    list
}

impl Recorder {
    /// Commits what is there, and what that brings back.
    pub(super) fn commit_all(&mut self) -> Result<(), StoreError> {
        while !self.pending.is_empty() {
            self.commit()?;
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.close_loops()?;
        self.pending.batch.run = self.rules.run;
        if self.shared.team.is_none() {
            self.counters.seconds = self.resumed_seconds + self.started.elapsed().as_secs_f64();
            self.counters.frontier = self.queued_after();
        } else {
            self.pending.batch.spent = self.spent();
        }
        let counted = serde_json::to_value(&self.counters).unwrap_or_default();
        self.pending.batch.counters = CounterDelta::between(&self.counted, &counted);
        self.counted = counted;
        self.pending.batch.traps = self.shared.frontier().trap_counts();
        self.pending.batch.noises = self.rules.noises.as_ref().map(|noises| noises.learnt()).unwrap_or_default();
        self.pending.batch.facts.extend(self.aliases.facts());
        facts::merge_facts(&mut self.pending.batch.facts);
        let mut pending = std::mem::take(&mut self.pending);
        let gathered = pending.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.shared.progress.ledger().note(Stage::Gather, gathered);
        self.wait_for_room();
        let took = loop {
            match self.project.commit(&mut pending.batch) {
                Ok(committed) => break committed.took,
                Err(error) => match Pause::after(&error) {
                    Some(pause) if self.shared.wait_for_room(pause) => {}
                    _ => return Err(error),
                },
            }
        };
        self.shared.progress.pause(None);
        self.note_commit(took);
        if let Some(team) = &self.shared.team {
            team.committed(std::mem::take(&mut pending.batch.read), pending.batch.idle.is_some());
        }
        let now = self.clock.now();
        let mut frontier = self.shared.frontier();
        let dropped = pending.batch.dropped.iter().map(|dropped| &dropped.place);
        let gone = pending.batch.finished.iter().chain(dropped).map(|place| place.page);
        frontier.committed(&gone.collect::<Vec<_>>());
        for host in &pending.fed {
            frontier.admitted(*host, now);
        }
        drop(frontier);
        // Only now: a driver that sees the new epoch must find the new pages in the frontier.
        if let Some(team) = self.shared.team.as_ref().filter(|_| !pending.fed.is_empty()) {
            team.next_epoch();
        }
        self.note_committed(&pending.batch);
        let repeats = self.rules.learn_aliases && repeats(&pending.batch);
        if let Some(feed) = &self.shared.feed {
            let (batch, nonce) = self.project.last_batch();
            feed.hand_over(&mut pending.batch, std::mem::take(&mut pending.words), mark(batch, nonce));
        }
        // After the frontier was informed: to the driver, an empty pipeline means that nothing more
        // is coming.
        self.shared.pipeline.committed(pending.held, repeats);
        self.pending = pending.emptied();
        self.bring_back()?;
        self.close_loops()?;
        self.note_pending();
        Ok(())
    }

    /// Updates the progress after a commit, with its duration.
    fn note_commit(&self, took: Steps) {
        let progress = &self.shared.progress;
        progress.note_commit(&self.counters, self.project.queued(), self.project.urls_known());
        let steps = [(Stage::Archive, took.archive), (Stage::Catalogue, took.catalogue), (Stage::Index, took.index)];
        steps.into_iter().for_each(|(stage, took)| progress.ledger().note(stage, took));
    }

    /// Number of queued pages after the batch is committed.
    fn queued_after(&self) -> u64 {
        let batch = &self.pending.batch;
        let fresh = batch.discovered.iter().filter(|d| d.kind == PageKind::Frontier).count() + batch.requeued.len();
        let gone = batch.finished.len() + batch.dropped.len();
        (self.project.queued() + fresh as u64).saturating_sub(gone as u64)
    }

    fn dir(&self) -> &Path {
        &self.project.dir().dir
    }

    /// Waits, before a commit, while there is less disk space than the project wants to leave free.
    fn wait_for_room(&self) {
        while free_space(self.dir()).is_ok_and(|free| free < self.rules.min_free) && !self.shared.stop.is_set() {
            self.shared.wait_for_room(Pause::DiskLow);
        }
    }
}

/// Whether more than a quarter of what was fetched repeats another page.
fn repeats(batch: &Batch) -> bool {
    let repeated = batch.visits.iter().filter(|finished| finished.visit.kind == PageKind::Duplicate).count();
    repeated * 4 > batch.visits.len()
}
