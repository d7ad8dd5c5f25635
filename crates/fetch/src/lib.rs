//! Give me the bytes.
//!
//! A page comes here as a [`Lease`](orb_page::Lease) and leaves as an
//! [`Outcome`](orb_page::Outcome): the answer with its bytes exactly as they came over the wire, or
//! the reason why there is none, as a fact. This crate alone opens sockets to crawled hosts, and
//! all of them through one [`Line`]. It never decides whether a page may be fetched, follows no
//! redirect and reads nothing into the bytes but their framing.
//!
//! A protocol is one module behind the trait [`Fetch`] and one line in [`PROTOCOLS`].

mod coding;
mod config;
mod cookies;
mod error;
mod fetchers;
mod file;
mod ftp;
mod http;
mod intake;
mod keyring;
mod line;
mod lines;
mod listed;
mod names;
mod nntp;
mod protocol;
mod sessions;
mod sftp;
mod tls;

pub use coding::{Decoded, decode, decode_stream};
pub use config::{FetchConfig, FtpTls, Proxy, Resolve, Timeouts};
pub use cookies::Jar;
pub use error::FetchError;
pub use fetchers::Fetchers;
pub use file::directory_of;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use ftp::{HeardReply, hear_ftp_replies, read_ftp_listing};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use http::Rehearsal;
pub use http::{HttpRequest, Method, Validators};
pub use intake::{Received, receive};
pub use keyring::{Credential, Keyring, Proof};
pub use line::{AddressGuard, ConnectionCounts, Line, Socket, TokenBucket, raise_open_files, why_not_public};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use lines::LineRehearsal;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use nntp::{HeardNews, hear_news};
pub use protocol::{BoxFuture, Fetch, OpenProtocol, PROTOCOLS, Protocol, Unwatched, Watch, register};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use sftp::read_sftp_listing;
pub use sftp::{HostKeys, PASSWORD_VARIABLE};
