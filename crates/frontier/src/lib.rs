//! What next, and when?
//!
//! Pages wait in the store's queues, one per host. The [`Frontier`] turns them into leases: it
//! brings the hosts that are due now or soon onto the workbench, fetches their robots.txt first,
//! enforces every delay, and says for every waiting host why. It opens no sockets, reads no store
//! and has no clock: every method takes the current moment, which must not go backwards. What it
//! must never do: block, grant a lease that robots or politeness forbid, grant one page twice, or
//! use memory that grows with the number of pages or hosts.
//!
//! The caller repeats [`Frontier::next`] and reports the results: [`Frontier::answered`] after a
//! read of the store, [`Frontier::resolved`] after a look-up, [`Frontier::sent`] when a request is
//! on the wire, [`Frontier::done`] when it has finished, [`Frontier::robots`] when a robots.txt was
//! read, and, after each commit, [`Frontier::admitted`] and [`Frontier::committed`].

mod alias;
mod config;
mod frontier;
mod intake;
mod leases;
mod order;
mod parts;
mod politeness;
mod reads;
mod recent;
mod retry_after;
pub mod robots;
mod settle;
mod site;
#[cfg(test)]
mod tests;
mod traps;
mod warmth;
mod why;
mod withdraw;
mod workbench;

pub use alias::BelievedAliases;
pub use config::{Budget, FrontierConfig};
pub use frontier::{Frontier, Next};
pub use leases::OwnTest;
pub use order::{Order, rank};
pub use politeness::{FetchEnd, Politeness, RETRY_CODES, Retries};
pub use reads::{HostScan, Refill, StoreAnswer, StoreRead};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
pub use robots::{Robots, Ruling};
pub use settle::After;
pub use traps::{Novelty, Target, TrapLimits, Traps};
pub use warmth::ConnectionEnd;
pub use why::{HostActivity, HostLatency, Plight, Why};
pub use withdraw::BarTest;
