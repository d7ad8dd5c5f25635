//! Who fetches what a lease allows?
//!
//! The one door of this crate: every fetch goes through [`Fetchers`], which gives the lease to the
//! protocol of its scheme. All protocols hang on one [`Line`].

use crate::protocol::{BoxFuture, Fetch, PROTOCOLS, Protocol, Watch, register};
use crate::{FetchConfig, FetchError, HttpRequest, Line};
use orb_page::{Failure, FailureKind, Lease, Moment, Outcome, Timings};
use std::future::ready;
use std::net::IpAddr;
use std::sync::Arc;

/// Every protocol, opened, on one line.
pub struct Fetchers {
    line: Arc<Line>,
    by_scheme: Vec<(&'static str, Arc<dyn Fetch>)>,
}

impl Fetchers {
    /// The protocols of this crate.
    pub fn new(config: FetchConfig) -> Result<Self, FetchError> {
        Self::open(config, PROTOCOLS)
    }

    /// These protocols.
    pub fn open(config: FetchConfig, protocols: &[Protocol]) -> Result<Self, FetchError> {
        config.check()?;
        register(protocols)?;
        let config = Arc::new(config.bounded());
        // An unusable directory is better found now than in the middle of a large body.
        tempfile::tempfile_in(&config.spool_dir)
            .map_err(|source| FetchError::SpoolDir { path: config.spool_dir.clone(), source })?;
        let line = Arc::new(Line::open(&config)?);
        let mut by_scheme = Vec::new();
        for protocol in protocols {
            let fetcher = (protocol.open)(&line, &config)?;
            by_scheme.extend(protocol.schemes.iter().map(|(scheme, _)| (*scheme, Arc::clone(&fetcher))));
        }
        Ok(Self { line, by_scheme })
    }

    /// Fetches what the lease allows. Never fails: whatever happens is an outcome.
    pub fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        match self.of(lease.request_url()) {
            Some(fetcher) => fetcher.fetch(lease, watch),
            None => refused(lease.request_url()),
        }
    }

    /// Makes one HTTP request, with what a lease cannot say: a form to submit, header fields.
    pub fn send<'a>(&'a self, request: &'a HttpRequest<'a>, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        match self.of(request.url.as_str()) {
            Some(fetcher) => fetcher.send(request, watch),
            None => refused(request.url.as_str()),
        }
    }

    /// The address to connect to for a host, which a lease pins.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<IpAddr, Failure> {
        self.line.resolve(host, port).await
    }

    /// The line they all use: its connections and its bandwidth.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Ends every connection and returns when they are closed.
    pub async fn close(&self) {
        for (_, fetcher) in &self.by_scheme {
            fetcher.close().await;
        }
        self.line.sockets().emptied().await;
    }

    fn of(&self, url: &str) -> Option<&dyn Fetch> {
        let (scheme, _) = url.split_once(':')?;
        self.by_scheme.iter().find(|(name, _)| *name == scheme).map(|(_, fetcher)| &**fetcher)
    }
}

/// The outcome for a URL that no protocol serves.
pub(crate) fn refused<'a>(url: &str) -> BoxFuture<'a, Outcome> {
    let scheme = url.split_once(':').map_or(url, |(scheme, _)| scheme);
    let failure = Failure::new(FailureKind::Unsupported, format!("{url}: the scheme {scheme} is not fetched"));
    Box::pin(ready(Outcome { at: Moment::now(), timings: Timings::default(), result: Err(failure) }))
}
