//! What does the browser's way out look like?
//!
//! One port for each page, on loopback: so the proxy knows which page asks, what it has asked for,
//! and when it is quiet. TLS ends here, with a certificate that this browser alone trusts. Every
//! request is judged, budgeted, answered from the cache or fetched by the crawl's own fetchers, and
//! kept for the archive ([`traffic`]).

mod cache;
mod certificate;
mod serve;
mod traffic;

pub(crate) use cache::PartCache;
pub(crate) use certificate::ProxyIdentity;
pub(crate) use serve::ProxyPort;
pub use traffic::{FetchedPart, PartCounts};
pub(crate) use traffic::{PageTraffic, TrafficRules};
