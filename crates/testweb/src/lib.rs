//! A synthetic web for demo, tests and benches: what would a crawler meet, and what must it find?
//!
//! Pages are a pure function of seed, URL and epoch, so a web of any size needs no disk and no
//! memory, and what a crawl must find is known beforehand (`Expectation`). A `Server` serves it on
//! loopback and logs every request (`RequestLog`), which proves or disproves a crawler's manners;
//! `Dns` gives each host its own address.
//!
//! It is not part of the life of a page: only the program's demo, tests and benches use it.
//!
//! ```
//! use orb_testweb::{CrawlReach, Server, Spec};
//! let server = Server::spawn(Spec::default())?;
//! assert!(server.expected(CrawlReach::Linked).urls.contains(&server.url(0)));
//! # Ok::<(), orb_testweb::Error>(())
//! ```

mod app_site;
mod apps;
mod assets;
mod chance;
mod clock;
mod corners;
mod dns;
mod documents;
mod engine;
mod expect;
mod gauge;
mod links;
mod log;
mod naming;
mod paper;
mod picture;
mod plain;
mod press;
mod prose;
mod reply;
mod scripted;
mod serve;
mod spec;
mod vocabulary;
mod web;
mod words;

pub use app_site::AppSites;
pub use apps::{APP_ITEMS, WebApp};
pub use corners::{MEMBER, MEMBER_ITEMS, MEMBER_WORDS, aliased_titles, decoy_titles};
pub use dns::Dns;
pub use documents::{DocumentKind, DocumentText};
pub use engine::SearchEngine;
pub use expect::{Course, CrawlReach, Expectation};
pub use gauge::ServerCounters;
pub use log::{LoggedRequest, RequestLog, Requests};
pub use naming::{HostNaming, address, name};
pub use scripted::{Articles, FtpServer, FtpTree, NewsServer, Trick};
pub use serve::{Server, TlsIdentity};
pub use spec::{Feature, Features, GzipMode, Latency, Spec};
pub use web::{Rendered, Web};

/// Why a synthetic web could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec is invalid.
    #[error("no such web: {0}")]
    Spec(String),
    /// No socket could be opened.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The requested address.
        addr: String,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate or its key is unusable.
    #[error("cannot serve over TLS: {0}")]
    Tls(String),
    /// No thread could be started.
    #[error("cannot start a thread to serve the web")]
    Thread(#[source] std::io::Error),
}
