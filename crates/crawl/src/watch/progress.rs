//! What is happening right now?
//!
//! Counters that the crawl updates while it runs and a display reads whenever it likes. Reading
//! never blocks fetching.

use crate::watch::ledger::Ledger;
use crate::watch::why::SpeedFacts;
use orb_page::{FailureKind, Outcome};
use orb_store::{RunCounters, StoreError};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Why a run waits as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Less disk space than the project wants to leave free.
    DiskLow,
    /// The disk is full.
    DiskFull,
    /// The database of a shared project does not answer.
    StoreAway,
    /// The object store of a shared project does not answer.
    ArchiveAway,
}

impl Pause {
    /// Why to try a commit that failed with this error again later, if that may help.
    pub(crate) fn after(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::NoSpace { .. } => Some(Self::DiskFull),
            StoreError::StoreAway { .. } => Some(Self::StoreAway),
            StoreError::ArchiveAway { .. } => Some(Self::ArchiveAway),
            _ => None,
        }
    }

    /// The reason in a few words, with what ends it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::DiskLow => "the disk has less room than store.min_free; the crawl continues when there is more",
            Self::DiskFull => "the disk is full; the crawl continues when there is room",
            Self::StoreAway => "the database does not answer; the crawl continues when it does",
            Self::ArchiveAway => "the archive does not answer; the crawl continues when it does",
        }
    }
}

/// The ways a fetch fails, by the names they are counted under: first those without a response.
const FAILURES: [&str; 10] =
    ["dns", "connect", "tls", "timeout", "protocol", "guard", "unsupported", "local", "http-4xx", "http-5xx"];

/// Positions of the error responses in [`FAILURES`].
const CLIENT_ERROR: usize = 8;
const SERVER_ERROR: usize = 9;

/// The live state of a run.
#[derive(Debug)]
pub struct Progress {
    started: Instant,
    fetched: AtomicU64,
    bytes: AtomicU64,
    failures: [AtomicU64; FAILURES.len()],
    active: AtomicUsize,
    queued: AtomicU64,
    known: AtomicU64,
    ledger: Ledger,
    slow: Mutex<SlowState>,
}

/// State that changes rarely.
#[derive(Debug, Default)]
struct SlowState {
    counters: RunCounters,
    waiting: Waiting,
    pause: Option<Pause>,
    schedule: Option<String>,
    facts: Option<Arc<SpeedFacts>>,
    indexing: Option<(u64, u64)>,
}

/// Which hosts are in memory and why they are not being fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Hosts with a request in flight.
    pub active: usize,
    /// For each reason, the number of hosts and an example; most frequent first.
    pub reasons: Vec<(&'static str, usize, String)>,
}

/// A snapshot of a running crawl.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Seconds since this process started.
    pub seconds: f64,
    /// Responses received by this process.
    pub fetched: u64,
    /// Bytes of bodies received by this process.
    pub bytes: u64,
    /// Fetches that failed without a response.
    pub errors: u64,
    /// What went wrong with fetches, and how often: failures by kind, and error responses.
    pub failures: Vec<(&'static str, u64)>,
    /// Requests under way.
    pub active: usize,
    /// Pages queued at the last commit.
    pub queued: u64,
    /// URLs known at the last commit.
    pub known: u64,
    /// The run as committed.
    pub counters: RunCounters,
    /// Why hosts wait.
    pub waiting: Waiting,
    /// Why the whole run waits.
    pub pause: Option<Pause>,
    /// What the schedule says at this hour, if one of its rows applies.
    pub schedule: Option<String>,
    /// What was recently known about the run's speed.
    pub facts: Option<Arc<SpeedFacts>>,
    /// How many pages the index has read from the archive, and of how many, once the run has come
    /// to that.
    pub indexing: Option<(u64, u64)>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            fetched: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            failures: Default::default(),
            active: AtomicUsize::new(0),
            queued: AtomicU64::new(0),
            known: AtomicU64::new(0),
            ledger: Ledger::default(),
            slow: Mutex::default(),
        }
    }
}

impl Progress {
    /// A fetch started.
    pub fn note_begin(&self) {
        self.active.fetch_add(1, Ordering::Relaxed);
    }

    /// A fetch ended.
    pub fn note_end(&self, outcome: &Outcome) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        let wrong = match &outcome.result {
            Ok(response) => {
                self.bytes.fetch_add(response.wire.len(), Ordering::Relaxed);
                self.fetched.fetch_add(1, Ordering::Relaxed);
                match response.status {
                    400..=499 => CLIENT_ERROR,
                    500..=599 => SERVER_ERROR,
                    _ => return,
                }
            }
            Err(failure) => place(failure.kind),
        };
        self.failures[wrong].fetch_add(1, Ordering::Relaxed);
    }

    /// A batch was committed.
    pub fn note_commit(&self, counters: &RunCounters, queued: u64, known: u64) {
        self.queued.store(queued, Ordering::Relaxed);
        self.known.store(known, Ordering::Relaxed);
        self.slow().counters.clone_from(counters);
    }

    /// Bytes of bodies received by this process.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The expected size of the next body: the average so far, a guess at first.
    pub(crate) fn likely_size(&self) -> u64 {
        const GUESS: u64 = 50_000;
        const GUESSES: u64 = 20;
        (self.bytes() + GUESS * GUESSES) / (self.fetched.load(Ordering::Relaxed) + GUESSES)
    }

    /// Why hosts wait now.
    pub fn note_waiting(&self, waiting: Waiting) {
        self.slow().waiting = waiting;
    }

    /// What is now known about the run's speed.
    pub(crate) fn note_facts(&self, facts: Arc<SpeedFacts>) {
        self.slow().facts = Some(facts);
    }

    /// Where the time of this process goes.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Why it is paused, if it is.
    pub fn paused(&self) -> Option<Pause> {
        self.slow().pause
    }

    /// Pages queued at the last commit.
    pub fn queued(&self) -> u64 {
        self.queued.load(Ordering::Relaxed)
    }

    /// The run pauses, or resumes.
    pub fn pause(&self, why: Option<Pause>) {
        self.slow().pause = why;
    }

    /// The crawl is over, and the index reads what it lacks from the archive.
    pub(crate) fn note_indexing(&self, done: Option<(u64, u64)>) {
        self.slow().indexing = done;
    }

    /// What the schedule says from now on.
    pub(crate) fn note_schedule(&self, words: Option<String>) {
        self.slow().schedule = words;
    }

    /// A snapshot of everything.
    pub fn snapshot(&self) -> Snapshot {
        let failures: Vec<(&'static str, u64)> =
            FAILURES.into_iter().zip(&self.failures).map(|(name, n)| (name, n.load(Ordering::Relaxed))).collect();
        let slow = self.slow();
        Snapshot {
            seconds: self.started.elapsed().as_secs_f64(),
            fetched: self.fetched.load(Ordering::Relaxed),
            bytes: self.bytes(),
            errors: failures[..CLIENT_ERROR].iter().map(|(_, n)| n).sum(),
            failures,
            active: self.active.load(Ordering::Relaxed),
            queued: self.queued.load(Ordering::Relaxed),
            known: self.known.load(Ordering::Relaxed),
            counters: slow.counters.clone(),
            waiting: slow.waiting.clone(),
            pause: slow.pause,
            schedule: slow.schedule.clone(),
            facts: slow.facts.clone(),
            indexing: slow.indexing,
        }
    }

    fn slow(&self) -> std::sync::MutexGuard<'_, SlowState> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The index under which a failure is counted.
const fn place(kind: FailureKind) -> usize {
    match kind {
        FailureKind::Dns => 0,
        FailureKind::Connect => 1,
        FailureKind::Tls | FailureKind::HostKey => 2,
        FailureKind::Timeout => 3,
        FailureKind::Protocol | FailureKind::Malformed => 4,
        FailureKind::Guard => 5,
        FailureKind::Unsupported => 6,
        FailureKind::Local => 7,
    }
}
