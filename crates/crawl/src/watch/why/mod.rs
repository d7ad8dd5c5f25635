//! Why is it slow?
//!
//! A [`Chronicle`](chronicle::Chronicle) samples a run twice a second, stores what it sees as
//! [`Facts`] in the run's directory for any other process to read, and rules ([`Facts::advice`])
//! turn them into sentences: where the time goes, and what would make it faster.

mod advice;
mod breakdown;
pub(crate) mod chronicle;
mod facts;
mod politeness;
mod resources;
#[cfg(test)]
mod tests;

pub use advice::Advice;
pub use breakdown::{Breakdown, IdleTime, StageTime};
pub use facts::{Bounds, Facts, Held, HostWait, SlowHost, Sockets, Stretch};
