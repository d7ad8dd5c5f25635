//! Does the fetcher behave at its public API?
//!
//! Real sockets on loopback, and servers that send exactly the bytes a test names.

#![allow(clippy::unwrap_used, reason = "a server that cannot be set up has nothing to show")]

mod asked;
mod hostile;
mod http1;
mod http2;
mod limits;
mod names;
mod pace;
mod pool;
mod proxy;
mod server;
mod tls;
