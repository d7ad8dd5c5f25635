//! Why does the server not start, or stop?

use orb_project::StoreError;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}{}", elsewhere(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// Without an account everybody could make the first one.
    #[error("{address} can be reached from elsewhere and nobody has an account: orb user add NAME --admin makes one")]
    NoAccount {
        /// The address.
        address: SocketAddr,
    },
    /// Nobody would find us there.
    #[error("'{url}' is not an address that others reach this server by; write it like https://orb.example")]
    PublicUrl {
        /// What was given.
        url: String,
    },
    /// Everything but archived pages would be out of reach.
    #[error("--view-host {name} is a name of this server already; give it one that shows archived pages alone")]
    ViewHost {
        /// What was given.
        name: String,
    },
    /// A file with a certificate or a key cannot be used.
    #[error("cannot use {}: {why}", path.display())]
    TlsFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Certificate or key cannot be used.
    #[error("cannot use the certificate {} with the key {}: {why}", certificate.display(), key.display())]
    Tls {
        /// The certificates.
        certificate: PathBuf,
        /// The private key.
        key: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The machine gives us no threads.
    #[error("cannot start the server")]
    Start(#[source] std::io::Error),
    /// Standard input or output does not work.
    #[error("cannot talk over standard input and output")]
    Converse(#[source] std::io::Error),
    /// The shared store cannot be used.
    #[error("{0}")]
    Shared(String),
    /// The home cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What helps if another program has the address.
fn elsewhere(why: &std::io::Error) -> &'static str {
    match why.kind() {
        std::io::ErrorKind::AddrInUse => " (give another with --listen)",
        _ => "",
    }
}
