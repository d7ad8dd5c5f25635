//! Why is it slow?
//!
//! A [`Chronicle`](chronicle::Chronicle) samples a run twice a second, stores what it sees as
//! [`SpeedFacts`] in the run's directory for any other process to read, and rules
//! ([`SpeedFacts::advice`]) turn them into sentences: where the time goes, and what would make it
//! faster.

mod account;
mod advice;
mod breakdown;
pub(crate) mod chronicle;
mod facts;
mod politeness;
mod resources;
#[cfg(test)]
mod tests;

pub use account::{RecentSpeed, SpeedAccount, WaitingHost, why};
pub use advice::Advice;
pub use breakdown::{Breakdown, IdleTime, StageTime};
pub use facts::{Bounds, HostWait, SlowHost, Sockets, SpeedFacts, Stretch, WaitingHosts};
