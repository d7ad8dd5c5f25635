//! A synthetic web, for demo, tests and benches: what would a crawler meet out there, and what must it find?
//!
//! Pages are a pure function of seed, URL and epoch, so that a web of any size needs no disk and no memory, and what a
//! crawl must find is known beforehand (`Expectation`). A `Server` shows it on loopback and writes down who asked for what
//! (`RequestLog`), which proves or disproves a crawler's manners; `Dns` gives each host an address of its own.
//!
//! It stands outside the life of a page: the program's demo, tests and benches use it, nothing else does.
//!
//! ```
//! use orb_testweb::{Reach, Server, Spec};
//! let server = Server::spawn(Spec::default())?;
//! assert!(server.expected(Reach::Linked).urls.contains(&server.url(0)));
//! # Ok::<(), orb_testweb::Error>(())
//! ```

mod assets;
mod chance;
mod clock;
mod corners;
mod dns;
mod expect;
mod gauge;
mod links;
mod log;
mod naming;
mod picture;
mod plain;
mod press;
mod prose;
mod reply;
mod serve;
mod spec;
mod web;
mod words;

pub use corners::{MEMBER, MEMBER_ITEMS, MEMBER_WORDS};
pub use dns::Dns;
pub use expect::{Course, Expectation, Reach};
pub use gauge::Counters;
pub use log::{Request, RequestLog, Requests};
pub use naming::{Naming, address, name};
pub use serve::{Server, TlsIdentity};
pub use spec::{Feature, Features, GzipMode, Latency, Spec};
pub use web::{Rendered, Web};

/// What keeps a synthetic web from being there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec describes no web.
    #[error("no such web: {0}")]
    Spec(String),
    /// No socket could be had.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address asked for.
        addr: String,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot serve over TLS: {0}")]
    Tls(String),
    /// No thread could be had.
    #[error("cannot start a thread to serve the web")]
    Thread(#[source] std::io::Error),
}
