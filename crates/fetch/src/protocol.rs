//! Which protocols are there, and what must each of them do?
//!
//! A protocol is one module that implements [`Fetch`] on the [`Line`] and one entry in
//! [`PROTOCOLS`]. A directory is a page like any other: its body is a listing, from which the
//! extractor takes the links.

use crate::fetchers::refused;
use crate::file::FileFetcher;
use crate::ftp::FtpFetcher;
use crate::http::HttpFetcher;
use crate::nntp::NntpFetcher;
use crate::sftp::SftpFetcher;
use crate::{FetchConfig, FetchError, HttpRequest, Line};
use orb_page::{Failure, FailureKind, Lease, Outcome};
use orb_urls::scheme::{self, Manners};
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future, as trait objects need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One protocol, opened.
pub trait Fetch: Send + Sync {
    /// Fetches what the lease permits. Never fails: whatever happens is an outcome.
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome>;

    /// Makes an HTTP request, where the protocol is HTTP.
    fn send<'a>(&'a self, request: &'a HttpRequest<'a>, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        let _ = watch;
        refused(request.url.as_str())
    }

    /// Lets every connection end that is kept for later.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// An observer of a fetch in progress.
pub trait Watch: Sync {
    /// Whether the request may still be sent, to this address if known. Asked right before its
    /// bytes go out: the permission may have ended since it was granted, for instance while the
    /// process was stopped.
    fn may_send(&self, peer: Option<SocketAddr>) -> bool {
        let _ = peer;
        true
    }

    /// A request has been handed to the socket: politeness counts from here.
    ///
    /// Called once for every request put on the wire: once per fetch, or twice if a keep-alive
    /// connection turned out to be dead before any byte of a response and the request was retried
    /// on a new one. `peer` is `None` behind a proxy.
    fn sent(&self, peer: Option<SocketAddr>) {
        let _ = peer;
    }

    /// The connection is open and can carry another request; several at once if it is `shared`.
    fn kept(&self, shared: bool) {
        let _ = shared;
    }

    /// This many more bytes have arrived.
    fn received(&self, bytes: usize) {
        let _ = bytes;
    }
}

/// Refuses to send what may not be sent any more.
pub(crate) fn check_permission(watch: &dyn Watch, peer: Option<SocketAddr>) -> Result<(), Failure> {
    let late = || Failure::new(FailureKind::Local, "the permission to send it had ended");
    watch.may_send(peer).then_some(()).ok_or_else(late)
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// Opens a protocol on a line.
pub type OpenProtocol = fn(&Arc<Line>, &Arc<FetchConfig>) -> Result<Arc<dyn Fetch>, FetchError>;

/// A protocol in the table.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// The schemes it serves, in lower case, and how their servers are treated.
    pub schemes: &'static [(&'static str, Manners)],
    /// Opens it.
    pub open: OpenProtocol,
}

/// Every protocol there is: a new one is a module and an entry here.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        schemes: &[("http", Manners::web(80)), ("https", Manners::web(443))],
        open: |line, config| Ok(Arc::new(HttpFetcher::new(Arc::clone(line), Arc::clone(config))?)),
    },
    Protocol {
        schemes: &[("ftp", Manners::web(21)), ("ftps", Manners::web(990))],
        open: |line, config| Ok(Arc::new(FtpFetcher::new(Arc::clone(line), Arc::clone(config))?)),
    },
    Protocol {
        schemes: &[("sftp", Manners { robots: false, ..Manners::web(22) })],
        open: |line, config| Ok(Arc::new(SftpFetcher::new(Arc::clone(line), Arc::clone(config)))),
    },
    Protocol {
        schemes: &[
            ("nntp", Manners { robots: false, ..Manners::web(119) }),
            ("nntps", Manners { robots: false, ..Manners::web(563) }),
        ],
        open: |line, config| Ok(Arc::new(NntpFetcher::new(Arc::clone(line), Arc::clone(config))?)),
    },
    Protocol {
        schemes: &[("file", Manners::local())],
        open: |_, config| Ok(Arc::new(FileFetcher::new(Arc::clone(config))?)),
    },
];

/// Makes the schemes of protocols known, so that their URLs are accepted as seeds and as links.
pub fn register(protocols: &[Protocol]) -> Result<(), FetchError> {
    for (name, manners) in protocols.iter().flat_map(|protocol| protocol.schemes) {
        scheme::register(name, *manners).map_err(|_| FetchError::Scheme((*name).to_owned()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_urls::scheme::{SCHEMES, Treatment};

    #[test]
    fn every_scheme_is_served_once_and_known_to_urls() {
        let mut schemes: Vec<_> = PROTOCOLS.iter().flat_map(|p| p.schemes).collect();
        for (name, manners) in &schemes {
            let known = SCHEMES.iter().find(|(known, _)| known == name);
            assert_eq!(known.map(|(_, treatment)| *treatment), Some(Treatment::Fetched(*manners)), "{name}");
        }
        let all = schemes.len();
        schemes.sort_unstable_by_key(|(name, _)| *name);
        schemes.dedup_by_key(|(name, _)| *name);
        assert_eq!(schemes.len(), all);
    }

    #[test]
    fn what_is_no_web_cannot_be_a_protocol() {
        const MAIL: &[(&str, Manners)] = &[("mailto", Manners::web(25))];
        let protocol = Protocol { schemes: MAIL, ..PROTOCOLS[0] };
        let refused = register(&[protocol]).map_err(|e| e.to_string());
        assert_eq!(refused, Err("no protocol can serve \"mailto\"".to_owned()));
    }
}
