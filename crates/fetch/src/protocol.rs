//! Which protocols are there, and what can each of them do?
//!
//! The verbs are those of seed 002 (START, MIRROR or LIST, UPDATE, CLOSE) in today's words: open, list, fetch, close.

use crate::{FetchConfig, FetchError, HttpFetcher};
use orb_page::{Failure, FailureKind, Lease, Moment, Outcome};
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// A future on the heap, as trait objects need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One protocol, opened.
pub trait Fetch: Send + Sync {
    /// Fetches what the lease allows. Never fails: whatever happens is an outcome.
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome>;

    /// What lies under a URL, for protocols that list instead of link.
    fn list<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<Vec<Listed>, Failure>> {
        let why = format!("{} cannot be listed", lease.url);
        Box::pin(ready(Err(Failure::new(FailureKind::Unsupported, why))))
    }

    /// Ends every connection and returns when they are closed.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its URL.
    pub url: String,
    /// Whether it can be listed in turn.
    pub directory: bool,
    /// How long it is, where the listing says so.
    pub length: Option<u64>,
    /// When it was last changed, where the listing says so.
    pub modified: Option<Moment>,
}

/// Who wants to know what happens while a fetch is under way.
pub trait Watch: Sync {
    /// A request has been handed to the socket: politeness counts from here.
    ///
    /// Called once for every request put on the wire. That is once a fetch, or twice where a kept connection turned out
    /// to be dead before any byte of an answer and the request went out again on a new one. `peer` is `None` behind a
    /// proxy.
    fn sent(&self, peer: Option<SocketAddr>) {
        let _ = peer;
    }

    /// So many more bytes have come.
    fn received(&self, bytes: usize) {
        let _ = bytes;
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// A protocol in the table.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// The schemes it serves, lower case.
    pub schemes: &'static [&'static str],
    /// Opens it.
    pub open: fn(FetchConfig) -> Result<Arc<dyn Fetch>, FetchError>,
}

/// Every protocol there is: a new one is a module and a line here.
pub const PROTOCOLS: &[Protocol] =
    &[Protocol { schemes: &["http", "https"], open: |config| Ok(Arc::new(HttpFetcher::new(config)?)) }];

/// Opens the protocol that serves a scheme.
pub fn open(scheme: &str, config: FetchConfig) -> Result<Arc<dyn Fetch>, FetchError> {
    let protocol = PROTOCOLS.iter().find(|p| p.schemes.contains(&scheme));
    (protocol.ok_or_else(|| FetchError::Scheme(scheme.to_owned()))?.open)(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_served_once() {
        let mut schemes: Vec<_> = PROTOCOLS.iter().flat_map(|p| p.schemes).collect();
        let all = schemes.len();
        schemes.sort_unstable();
        schemes.dedup();
        assert_eq!(schemes.len(), all);
    }

    #[test]
    fn an_unknown_scheme_is_refused_by_name() {
        let refused = open("gopher", FetchConfig::default()).err().map(|e| e.to_string());
        assert_eq!(refused.as_deref(), Some("no protocol for \"gopher\""));
    }
}
