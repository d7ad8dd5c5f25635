//! What does the frontier need from its index?

use orb_page::{HostId, Moment, PageHistory, PageId};
use std::sync::Arc;

/// The persistent side of the frontier: an ordered queue per host, larger than memory.
///
/// A page stays in its queue until its visit is committed, so that a crash loses nothing: the
/// caller keeps track of what it has leased and not yet committed.
pub trait Queues: Send {
    /// The error type.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Up to `limit` queued pages of a host in order of (rank, page), strictly after the given one.
    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Self::Error>;

    /// The first host numbered above `after` that has queued pages.
    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Self::Error>;

    /// A host's record.
    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Self::Error>;

    /// Total number of queued pages.
    fn queued(&self) -> u64;
}

/// Queues whose lengths can be compared, for the thread that watches a run.
pub trait QueueLengths: Queues {
    /// The hosts with the longest queues, longest first.
    fn longest(&self, most: usize) -> Vec<(HostId, u64)>;

    /// Number of queued pages of a host.
    fn queued_of(&self, host: HostId) -> u64;
}

/// A page in its host's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The page.
    pub page: PageId,
    /// Its position: smaller is sooner.
    pub rank: u64,
    /// Canonical URL.
    pub url: String,
    /// The URL to request if it differs.
    pub asked: Option<String>,
    /// Distance from the seed.
    pub depth: u32,
    /// Length of the redirect chain that led here.
    pub redirects: u8,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// What earlier runs saw of it, if it is revisited.
    pub before: Option<Arc<PageHistory>>,
}

/// A host as the frontier needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRecord {
    /// Its number.
    pub id: HostId,
    /// Scheme.
    pub scheme: String,
    /// Name or address.
    pub name: String,
    /// Port.
    pub port: u16,
    /// Its robots.txt as last read.
    pub robots: Option<RobotsRecord>,
    /// Earliest moment of the next request.
    pub not_before: Option<Moment>,
    /// Its current back-off in milliseconds.
    pub backoff_ms: u64,
}

/// A robots.txt as last read.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRecord {
    /// When it was read.
    pub at: Moment,
    /// Status code of the response; 0 if there was none.
    pub status: u16,
    /// Its text, if there was one.
    pub text: String,
    /// Its Crawl-delay in seconds.
    pub crawl_delay: Option<f64>,
}
