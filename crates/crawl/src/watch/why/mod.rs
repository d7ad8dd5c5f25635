//! Why is it slow?
//!
//! A [`Chronicle`](chronicle::Chronicle) looks at a run twice a second, keeps what it sees as [`Facts`] in the run's directory for any other
//! process to read, and rules ([`Facts::advice`]) make sentences of them: what the time goes to, and what would make it faster.

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
