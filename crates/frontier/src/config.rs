//! How is the frontier configured?

use crate::{Order, Politeness, Retries, TrapLimits};
use std::time::Duration;

/// Everything that decides what a frontier grants.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierConfig {
    /// The order of the pages of a host.
    pub order: Order,
    /// How hosts are protected from load.
    pub politeness: Politeness,
    /// When to stop.
    pub budget: Budget,
    /// Which failures are retried, and how often.
    pub retries: Retries,
    /// Our user agent: a product token, or a `User-Agent` that begins with one.
    pub agent: String,
    /// Whether to ignore robots.txt: neither fetch nor obey it.
    pub ignore_robots: bool,
    /// Maximum age of a robots.txt before it is fetched again.
    pub robots_max_age: Duration,
    /// Approximate memory for robots rules, in bytes.
    pub robots_memory: usize,
    /// Whether all requests go through a proxy: names are not resolved here, and hosts with the
    /// same name share a gate instead of hosts with the same address.
    pub behind_proxy: bool,
    /// Whether other machines work on the same collection: an address is contacted only while it
    /// is leased to this one.
    pub leased: bool,
    /// Maximum number of hosts in memory.
    pub workbench: usize,
    /// Maximum number of pages read from a host's queue at a time.
    pub refill: usize,
    /// The limits beyond which URLs count as a trap.
    pub traps: TrapLimits,
}

impl Default for FrontierConfig {
    fn default() -> Self {
        Self {
            order: Order::default(),
            politeness: Politeness::default(),
            budget: Budget::default(),
            retries: Retries::default(),
            agent: "Orbweaver".to_owned(),
            ignore_robots: false,
            robots_max_age: Duration::from_secs(86_400),
            robots_memory: 64 << 20,
            behind_proxy: false,
            leased: false,
            workbench: 10_000,
            refill: 256,
            traps: TrapLimits::default(),
        }
    }
}

/// How much may be granted from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Number of pages; robots.txt files and attempts that will be retried do not count.
    pub pages: Option<u64>,
}
