//! What can go wrong on our own side, before anything is fetched?
//!
//! What goes wrong on the web's side is not an error but an [`Outcome`](orb_page::Outcome).

use std::io;
use std::path::PathBuf;

/// A failure of ours: an invalid setting, or a resource that the machine does not provide.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The file with additional root certificates cannot be read.
    #[error("cannot read the certificates in {}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file with additional root certificates contains no usable one.
    #[error("no usable certificate in {}", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The TLS library refuses the settings.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
    /// The spool directory is not writable.
    #[error("cannot keep large bodies in {}", path.display())]
    SpoolDir {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The user agent cannot be sent as a header.
    #[error("user agent {0:?} holds characters that cannot be sent")]
    UserAgent(String),
    /// A proxy that is not `http://[user:password@]host[:port]`.
    #[error("proxy {text:?} is not http://[user:password@]host[:port]: {why}")]
    Proxy {
        /// As written, without the password.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// An override that is not `HOST:PORT:ADDR`.
    #[error("{text:?} is not HOST:PORT:ADDR: {why}")]
    Resolve {
        /// As written.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A credential that cannot be used.
    #[error("the credentials for {host:?} cannot be used: {why}")]
    Credential {
        /// The host as written.
        host: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The cookie file cannot be read.
    #[error("cannot read the cookies in {}", path.display())]
    CookieFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The cookie file contains an invalid line.
    #[error("{}:{line}: {what}", path.display())]
    BadCookie {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A limit of zero, with which nothing could be fetched.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// The machine does not allow as many open files as needed.
    #[error(
        "{wanted} open files are needed and {limit} are allowed; raise the limit (ulimit -n) or use fewer connections"
    )]
    OpenFiles {
        /// Number needed.
        wanted: u64,
        /// Number allowed.
        limit: u64,
    },
    /// The limit on open files cannot be changed.
    #[error("cannot raise the limit on open files")]
    Limit(#[source] io::Error),
    /// The name server cannot be used.
    #[error("cannot set up name resolution: {0}")]
    Resolver(String),
    /// The scheme names nothing that a protocol could fetch.
    #[error("no protocol can serve {0:?}")]
    Scheme(String),
}
