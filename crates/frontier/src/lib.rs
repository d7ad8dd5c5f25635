//! What next, and when?
//!
//! Pages wait in the store's queues, one for each host. The [`Frontier`] turns them into leases: it brings the hosts that may be
//! asked now or soon onto the workbench, asks for their robots.txt first, keeps to every delay, and says for every waiting host
//! why. It opens no sockets, reads no store and has no clock: every method is told what moment it is, and moments must not run
//! backwards. What it must never do: wait for anything, grant a lease that robots or politeness forbid, grant one page twice, or need memory that grows with the number
//! of pages or hosts.
//!
//! A caller repeats [`Frontier::next`] and tells what came of it: [`Frontier::answered`] after a read of the store,
//! [`Frontier::resolved`] after a look-up, [`Frontier::sent`] when a
//! request is on the wire, [`Frontier::done`] when it has ended, [`Frontier::robots`] when a robots.txt was read, and, after each commit,
//! [`Frontier::admitted`] and [`Frontier::committed`].

mod config;
mod frontier;
mod intake;
mod order;
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
mod why;
mod workbench;

pub use config::{Budget, FrontierConfig};
pub use frontier::{Frontier, Next};
pub use order::{Order, rank};
pub use politeness::{Ended, Politeness};
pub use reads::{Refill, StoreAnswer, StoreRead, Walk};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
pub use robots::{Robots, Ruling};
pub use settle::After;
pub use traps::{Novelty, Target, TrapLimits, Traps};
pub use why::{Plight, Slow, Waiting, Why};
