//! What is going on right now?
//!
//! Counters that the crawl keeps while it runs and a display reads whenever it likes. Reading never blocks fetching.

use crate::summary::Counters;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Why a run waits as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Less room on the disk than the project wants to leave free.
    DiskLow,
    /// No room on the disk.
    DiskFull,
}

/// The live state of a run.
#[derive(Debug)]
pub struct Progress {
    started: Instant,
    fetched: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    active: AtomicUsize,
    queued: AtomicU64,
    slow: Mutex<Slow>,
}

/// What changes seldom.
#[derive(Debug, Default)]
struct Slow {
    counters: Counters,
    waiting: Waiting,
    pause: Option<Pause>,
}

/// Which hosts are in memory and why they are not being fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Hosts with a request under way.
    pub active: usize,
    /// For each reason, how many hosts and one of them; most hosts first.
    pub reasons: Vec<(&'static str, usize, String)>,
}

/// A look at a running crawl.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Seconds since this process began.
    pub seconds: f64,
    /// Answers received by this process.
    pub fetched: u64,
    /// Bytes of bodies received by this process.
    pub bytes: u64,
    /// Fetches that failed.
    pub errors: u64,
    /// Requests under way.
    pub active: usize,
    /// Pages queued at the last commit.
    pub queued: u64,
    /// The run as committed.
    pub counters: Counters,
    /// Who waits for what.
    pub waiting: Waiting,
    /// Why the whole run waits.
    pub pause: Option<Pause>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            fetched: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            active: AtomicUsize::new(0),
            queued: AtomicU64::new(0),
            slow: Mutex::default(),
        }
    }
}

impl Progress {
    /// A fetch began.
    pub fn note_begin(&self) {
        self.active.fetch_add(1, Ordering::Relaxed);
    }

    /// A fetch ended.
    pub fn note_end(&self, bytes: u64, failed: bool) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.fetched.fetch_add(u64::from(!failed), Ordering::Relaxed);
        self.errors.fetch_add(u64::from(failed), Ordering::Relaxed);
    }

    /// A batch was committed.
    pub fn note_commit(&self, counters: &Counters, queued: u64) {
        self.queued.store(queued, Ordering::Relaxed);
        self.slow().counters.clone_from(counters);
    }

    /// Bytes of bodies received by this process.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Who waits for what, as of now.
    pub fn note_waiting(&self, waiting: Waiting) {
        self.slow().waiting = waiting;
    }

    /// The run pauses, or goes on.
    pub fn pause(&self, why: Option<Pause>) {
        self.slow().pause = why;
    }

    /// A look at everything.
    pub fn snapshot(&self) -> Snapshot {
        let slow = self.slow();
        Snapshot {
            seconds: self.started.elapsed().as_secs_f64(),
            fetched: self.fetched.load(Ordering::Relaxed),
            bytes: self.bytes(),
            errors: self.errors.load(Ordering::Relaxed),
            active: self.active.load(Ordering::Relaxed),
            queued: self.queued.load(Ordering::Relaxed),
            counters: slow.counters.clone(),
            waiting: slow.waiting.clone(),
            pause: slow.pause,
        }
    }

    fn slow(&self) -> std::sync::MutexGuard<'_, Slow> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
