//! Who requested what, when, and over which connection?
//!
//! This log is the judge of a crawler's manners. Times are those at which the kernel received the
//! last bytes of a request, so that a server that reads late on a busy machine does not make gaps
//! look shorter than they were. Under TLS, and where the kernel does not say, times are those of
//! reading.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One request.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// When it arrived.
    pub at: Instant,
    /// The number of its connection, from 1.
    pub connection: u64,
    /// The client.
    pub peer: IpAddr,
    /// The local address.
    pub local: IpAddr,
    /// The `Host` as sent, port included.
    pub host: Box<str>,
    /// Path and query.
    pub path: Box<str>,
    /// The method.
    pub method: Box<str>,
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// The `User-Agent`.
    pub agent: Box<str>,
    /// Whether it came over TLS.
    pub secure: bool,
}

impl LoggedRequest {
    /// The requested URL.
    pub fn url(&self) -> String {
        let (scheme, port) = if self.secure { ("https", ":443") } else { ("http", ":80") };
        format!("{scheme}://{}{}", self.host.strip_suffix(port).unwrap_or(&self.host), self.path)
    }
}

/// Requests in the order in which they were read.
#[derive(Clone, Debug, Default)]
pub struct Requests(pub Vec<LoggedRequest>);

impl Requests {
    /// Number of requests for a path (with its query), on any host.
    pub fn requested(&self, path: &str) -> usize {
        self.0.iter().filter(|request| &*request.path == path).count()
    }

    /// Number of requests by URL.
    pub fn by_url(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for request in &self.0 {
            *counts.entry(request.url()).or_default() += 1;
        }
        counts
    }

    /// The shortest time between two requests to each host that had two.
    pub fn min_gap_by_host(&self) -> BTreeMap<String, Duration> {
        self.gaps(|request| request.host.to_string())
    }

    /// The shortest time between two requests to each address that had two.
    pub fn min_gap_by_local_ip(&self) -> BTreeMap<IpAddr, Duration> {
        self.gaps(|request| request.local)
    }

    fn gaps<K: Ord + std::hash::Hash + Clone>(&self, key: impl Fn(&LoggedRequest) -> K) -> BTreeMap<K, Duration> {
        let mut last: HashMap<K, Instant> = HashMap::new();
        let mut gaps: BTreeMap<K, Duration> = BTreeMap::new();
        for request in &self.0 {
            let key = key(request);
            if let Some(before) = last.insert(key.clone(), request.at) {
                let gap = request.at.saturating_duration_since(before);
                gaps.entry(key).and_modify(|least| *least = gap.min(*least)).or_insert(gap);
            }
        }
        gaps
    }
}

/// All requests of a server, unless its spec disables the log.
#[derive(Debug)]
pub struct RequestLog {
    requests: Mutex<Requests>,
    kept: bool,
}

impl RequestLog {
    pub(crate) fn new(kept: bool) -> Self {
        Self { requests: Mutex::default(), kept }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Logs a request.
    pub(crate) fn push(&self, request: LoggedRequest) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).0.push(request);
    }

    /// All requests in chronological order: delayed responses and several threads log them out of
    /// order.
    fn lock(&self) -> MutexGuard<'_, Requests> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.0.sort_by_key(|request| request.at);
        requests
    }

    /// Returns and clears all requests so far.
    pub fn take(&self) -> Requests {
        std::mem::take(&mut *self.lock())
    }

    /// All requests so far.
    pub fn all(&self) -> Requests {
        self.lock().clone()
    }

    /// Number of requests for a path (with its query), on any host.
    pub fn requested(&self, path: &str) -> usize {
        self.lock().requested(path)
    }

    /// The shortest time between two requests to each host that had two.
    pub fn min_gap_by_host(&self) -> BTreeMap<String, Duration> {
        self.lock().min_gap_by_host()
    }

    /// The shortest time between two requests to each address that had two.
    pub fn min_gap_by_local_ip(&self) -> BTreeMap<IpAddr, Duration> {
        self.lock().min_gap_by_local_ip()
    }
}
