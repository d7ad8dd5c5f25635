//! What is the frontier told before it starts?

use crate::{Order, Politeness, TrapLimits};
use std::time::Duration;

/// Everything that decides what a frontier grants.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierConfig {
    /// The order of the pages of a host.
    pub order: Order,
    /// How hosts are spared.
    pub politeness: Politeness,
    /// When to stop.
    pub budget: Budget,
    /// How often a page, a robots.txt or a look-up that failed is tried again.
    pub retries: u32,
    /// What we call ourselves: a product token, or a `User-Agent` that begins with one.
    pub agent: String,
    /// Ask for no robots.txt and obey none.
    pub ignore_robots: bool,
    /// How old a robots.txt may be before it is read again.
    pub robots_max_age: Duration,
    /// About how many bytes of robots rules are kept in memory.
    pub robots_memory: usize,
    /// All requests go through a proxy: names are not resolved here, and hosts of one name share a gate instead of those of
    /// one address.
    pub behind_proxy: bool,
    /// How many hosts are in memory at a time.
    pub workbench: usize,
    /// How many pages of a host are read from its queue at a time, at most.
    pub refill: usize,
    /// Where a trap begins.
    pub traps: TrapLimits,
}

impl Default for FrontierConfig {
    fn default() -> Self {
        Self {
            order: Order::default(),
            politeness: Politeness::default(),
            budget: Budget::default(),
            retries: 2,
            agent: "Orbweaver".to_owned(),
            ignore_robots: false,
            robots_max_age: Duration::from_secs(86_400),
            robots_memory: 64 << 20,
            behind_proxy: false,
            workbench: 10_000,
            refill: 256,
            traps: TrapLimits::default(),
        }
    }
}

/// How much may be granted from here on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Pages; robots.txt files are not counted, nor are attempts that will be repeated.
    pub pages: Option<u64>,
}
