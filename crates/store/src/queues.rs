//! What does the frontier ask of its index?

use orb_page::{Before, HostId, Moment, PageId};
use std::sync::Arc;

/// The persistent side of the frontier: a queue for each host, in order, larger than memory.
///
/// A page stays in its queue until its visit is committed, so that a crash loses nothing: the caller keeps track of
/// what it has leased and not yet committed.
pub trait Queues: Send {
    /// What goes wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Up to `limit` queued pages of a host in order of (rank, page), strictly after the given one.
    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Self::Error>;

    /// The first host numbered above `after` that has queued pages.
    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Self::Error>;

    /// What is known of a host.
    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Self::Error>;

    /// How many pages are queued in all.
    fn queued(&self) -> u64;
}

/// A page in its host's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The page.
    pub page: PageId,
    /// Its place: smaller is sooner.
    pub rank: u64,
    /// Canonical URL.
    pub url: String,
    /// What to ask the server for where that is another URL.
    pub asked: Option<String>,
    /// Distance from the seed.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub redirects: u8,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// What earlier runs saw of it, where it is to be visited again.
    pub before: Option<Arc<Before>>,
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
    /// Not to be asked again before this moment.
    pub not_before: Option<Moment>,
    /// The current length of its back-off in milliseconds.
    pub backoff_ms: u64,
}

/// A robots.txt as last read.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRecord {
    /// When.
    pub at: Moment,
    /// Status code of the answer; 0 where there was none.
    pub status: u16,
    /// Its text, where there was one.
    pub text: String,
    /// The Crawl-delay it asks of us, in seconds.
    pub crawl_delay: Option<f64>,
}
