//! What changed since last time?
//!
//! Between reading a page and recording it: an earlier version of the page is held against the one that came now, and what is said of it
//! (`SAM`, `UPD`) is decided here ([`compare`]), noise taken away ([`noise`]). [`diff`] shows it.
//! Nothing in this crate fetches, stores or waits on a socket.

pub mod compare;
pub mod diff;
mod error;
pub mod noise;
mod plugin;
pub mod rate;
pub mod schedule;

pub use error::TrackError;
