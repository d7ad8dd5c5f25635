//! Give me the bytes.
//!
//! A page comes here as a [`Lease`](orb_page::Lease) and leaves as an [`Outcome`](orb_page::Outcome): the answer with
//! its bytes exactly as they came over the wire, or the reason why there is none, as a fact. This crate alone opens
//! sockets to crawled hosts, and every socket passes one resolver, one [`AddressGuard`] and one pool. It never decides
//! whether a page may be fetched, follows no redirect and reads nothing into the bytes but their framing.
//!
//! A protocol is one module behind the trait [`Fetch`] and one line in [`PROTOCOLS`].

mod coding;
mod config;
mod cookies;
mod dns;
mod error;
mod guard;
mod http;
mod keyring;
mod limits;
mod protocol;

pub use coding::{Decoded, decode};
pub use config::{FetchConfig, Proxy, Resolve, Timeouts};
pub use cookies::Jar;
pub use error::FetchError;
pub use guard::{AddressGuard, why_not_public};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use http::Rehearsal;
pub use http::{ConnectionCounts, HttpFetcher, Method, Request, Validators};
pub use keyring::{Credential, Keyring, Proof};
pub use limits::{Bucket, raise_open_files};
pub use protocol::{BoxFuture, Fetch, Listed, PROTOCOLS, Protocol, Unwatched, Watch, open};
