//! What do the threads of one crawl share?

use crate::indexing::Feed;
use crate::scope::SharedScope;
use crate::watch::ledger::Stage;
use crate::watch::progress::{Pause, Progress};
use crate::worker::Team;
use orb_frontier::Frontier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// State shared by the driver, the readers and the recorder of one crawl.
pub(crate) struct SharedState {
    /// Who decides what is fetched next.
    pub frontier: Mutex<Frontier>,
    /// Wakes the driver: something may have become possible.
    pub wake: Arc<Notify>,
    /// The request to stop the run.
    pub stop: Arc<Stop>,
    /// The driver has nothing to fetch until the recorder commits.
    pub hurry: Switch,
    /// The recorder holds something uncommitted.
    pub(crate) pending: Switch,
    /// Pages fetched and not yet committed.
    pub pipeline: Pipeline,
    /// Links read and not yet taken by the recorder.
    pub backlog: Backlog,
    /// The scope.
    pub scope: Arc<SharedScope>,
    /// What the user sees.
    pub progress: Arc<Progress>,
    /// Where recorded pages are passed to the text index.
    pub feed: Option<Feed>,
    /// What other machines have to do with it, where the project is shared.
    pub(crate) team: Option<Team>,
}

impl SharedState {
    /// The initial state; at most this many pages will be fetched and not yet committed.
    pub(crate) fn new(
        frontier: Frontier,
        stop: Arc<Stop>,
        scope: Arc<SharedScope>,
        progress: Arc<Progress>,
        uncommitted: usize,
    ) -> Self {
        Self {
            frontier: Mutex::new(frontier),
            wake: Arc::clone(&stop.wake),
            stop,
            hurry: Switch::default(),
            pending: Switch::default(),
            pipeline: Pipeline::new(uncommitted),
            backlog: Backlog::default(),
            scope,
            progress,
            feed: None,
            team: None,
        }
    }

    /// The same with a text index to feed.
    pub(crate) fn feeding(self, feed: Option<Feed>) -> Self {
        Self { feed, ..self }
    }

    /// The same on one of several machines.
    pub(crate) fn in_team(self, team: Team) -> Self {
        Self { team: Some(team), ..self }
    }

    /// The recorder has taken a page with this many wire bytes; if the pipeline was full, the
    /// driver can continue.
    pub(crate) fn taken(&self, wire_bytes: u64) {
        let was_full = self.pipeline.is_full();
        self.pipeline.take(wire_bytes);
        if was_full {
            self.wake.notify_one();
        }
    }

    /// Whether everything fetched has been committed, so that the frontier knows everything.
    pub(crate) fn is_settled(&self) -> bool {
        self.pipeline.is_empty() && !self.pending.is_set()
    }

    /// Waits a while for disk space, and reports it; `false` if the user asks to stop instead.
    pub(crate) fn wait_for_room(&self, why: Pause) -> bool {
        let began = Instant::now();
        self.progress.pause(Some(why));
        let stopped = self.stop.wait(Duration::from_secs(1));
        self.progress.ledger().note(Stage::Room, began.elapsed());
        !stopped
    }

    /// Locks the frontier.
    pub(crate) fn frontier(&self) -> MutexGuard<'_, Frontier> {
        self.frontier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An atomic flag.
#[derive(Debug, Default)]
pub(crate) struct Switch(AtomicBool);

impl Switch {
    /// Whether it is set.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets or clears it; returns its old value.
    pub(crate) fn set(&self, on: bool) -> bool {
        // Relaxed: the flag is a hint and publishes no data.
        self.0.swap(on, Ordering::Relaxed)
    }
}

/// How much was fetched and is not yet committed. It bounds what a crash can cost, and memory, so
/// the queues between the sockets and the recorder need no bound of their own.
///
/// It is short at first and grows with what is committed, and short again while many answers repeat
/// others: which addresses are one page is learnt from recorded pages, so that what is fetched
/// ahead in ignorance is fetched twice.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pages: AtomicUsize,
    bytes: AtomicU64,
    room: AtomicUsize,
    /// What waits for the document readers, in memory and in files.
    documents: AtomicU64,
    spooled: AtomicU64,
    most: usize,
}

/// What a response holds while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBytes {
    /// Its wire bytes.
    pub wire: u64,
    /// Those of them that are in memory.
    pub memory: u64,
}

impl Pipeline {
    /// Maximum bytes between the sockets and the recorder.
    const MAX_BYTES: u64 = 64_000_000;
    /// Maximum pages at the start of a run.
    const FIRST: usize = 50;
    /// Documents that wait take half of them at most, and this much in files.
    const MAX_DOCUMENTS: u64 = Self::MAX_BYTES / 2;
    const MAX_SPOOLED: u64 = 1_000_000_000;

    fn new(most: usize) -> Self {
        let none = || AtomicU64::new(0);
        let room = AtomicUsize::new(most.min(Self::FIRST));
        Self { pages: AtomicUsize::new(0), bytes: none(), documents: none(), spooled: none(), room, most }
    }

    /// Maximum pages for now.
    pub(crate) fn room(&self) -> usize {
        self.room.load(Ordering::Relaxed)
    }

    /// A page goes to the document readers. What it has in a file takes no memory until it is read.
    pub(crate) fn hand_on(&self, held: HeldBytes) {
        self.documents.fetch_add(held.memory, Ordering::Relaxed);
        self.spooled.fetch_add(held.wire - held.memory, Ordering::Relaxed);
        self.bytes.fetch_sub(held.wire, Ordering::Relaxed);
    }

    /// It was read.
    pub(crate) fn come_back(&self, held: HeldBytes) {
        self.bytes.fetch_add(held.wire, Ordering::Relaxed);
        self.documents.fetch_sub(held.memory, Ordering::Relaxed);
        self.spooled.fetch_sub(held.wire - held.memory, Ordering::Relaxed);
    }

    /// Whether documents that wait have taken their share of memory.
    pub(crate) fn has_many_documents(&self) -> bool {
        self.documents.load(Ordering::Relaxed) >= Self::MAX_DOCUMENTS
    }

    /// A page with this many bytes was fetched, or a queued one was given up.
    pub(crate) fn enter(&self, bytes: u64) {
        self.pages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes came along with a page.
    pub(crate) fn carry(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Its bytes are with the recorder.
    fn take(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// This many pages are committed.
    pub(crate) fn leave(&self, pages: usize) {
        // Release, paired with the Acquire in `is_empty`: a thread that sees zero also sees the
        // commit's effects.
        self.pages.fetch_sub(pages, Ordering::Release);
    }

    /// A batch with this many pages is committed. `repeats` is whether many of them said the same
    /// as others.
    pub(crate) fn committed(&self, pages: usize, repeats: bool) {
        self.leave(pages);
        let room = if repeats { Self::FIRST } else { self.room() + pages / 2 };
        self.room.store(room.max(Self::FIRST).min(self.most), Ordering::Relaxed);
    }

    /// Whether nothing is left to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.load(Ordering::Acquire) == 0
    }

    /// Whether nothing more should be fetched for now.
    pub(crate) fn is_full(&self) -> bool {
        // Relaxed: the limits are soft, and a stale value overshoots by a few pages at most.
        let bytes = self.bytes.load(Ordering::Relaxed) + self.documents.load(Ordering::Relaxed);
        self.pages.load(Ordering::Relaxed) >= self.room()
            || bytes >= Self::MAX_BYTES
            || self.spooled.load(Ordering::Relaxed) >= Self::MAX_SPOOLED
    }
}

/// The heap bytes of links that were read and not yet recorded. Small pages can have many links,
/// and thousands of pages may be in the pipeline: readers that are too far ahead block
/// (backpressure).
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bytes: AtomicU64,
    closed: AtomicBool,
    waiting: Mutex<()>,
    room: Condvar,
}

impl Backlog {
    /// Maximum bytes, give or take a page per reader.
    const MAX_BYTES: u64 = 32_000_000;

    /// A page with this many bytes of links enters; blocks until there is room.
    pub(crate) fn enter(&self, bytes: u64) {
        while self.bytes.load(Ordering::Relaxed) > Self::MAX_BYTES && !self.closed.load(Ordering::Relaxed) {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = self.room.wait_timeout(waiting, Duration::from_millis(50));
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// It leaves.
    pub(crate) fn leave(&self, bytes: u64) {
        if self.bytes.fetch_sub(bytes, Ordering::Relaxed) > Self::MAX_BYTES {
            self.room.notify_all();
        }
    }

    /// The recorder is gone: wakes all waiting readers.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.room.notify_all();
    }
}

/// A request to stop a run, from any thread.
#[derive(Debug, Default)]
pub struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
    wake: Arc<Notify>,
}

impl Stop {
    /// Not requested yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Asks the run to end with everything saved.
    pub fn ask(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
        self.wake.notify_one();
    }

    /// Whether it was requested.
    pub fn is_set(&self) -> bool {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the request. For one task alone: others would not be woken.
    pub async fn asked(&self) {
        while !self.is_set() {
            self.wake.notified().await;
        }
    }

    /// Waits for the request, or for this long; returns whether it was made.
    pub fn wait(&self, at_most: Duration) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, _) =
            self.changed.wait_timeout_while(asked, at_most, |a| !*a).unwrap_or_else(PoisonError::into_inner);
        *asked
    }
}
