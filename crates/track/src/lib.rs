//! What changed since last time?
//!
//! Between reading a page and recording it, the current version is compared with an earlier one
//! ([`compare`]), ignoring noise ([`noise`]), and the flag (`SAM`, `UPD`) is decided. [`diff`]
//! shows the changes. Nothing in this crate fetches, stores or waits on a socket.

pub mod compare;
pub mod diff;
mod error;
pub mod noise;
mod plugin;
pub mod rate;
pub mod schedule;

pub use error::TrackError;
