//! Why does the server not start, or stop?

use orb_project::StoreError;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}")]
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
