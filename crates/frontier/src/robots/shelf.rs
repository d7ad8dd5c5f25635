//! Whose rules are in memory?
//!
//! A cache of the rules of recently used hosts, bounded in bytes; those of other hosts are read
//! from the store again when they are due.

use super::Robots;
use crate::recent::Recent;
use orb_page::HostId;
use std::sync::Arc;

/// The cached rules.
#[derive(Debug)]
pub(crate) struct RulesCache {
    rules: Recent<HostId, Arc<Robots>>,
}

impl RulesCache {
    /// A cache of about this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { rules: Recent::new(bytes) }
    }

    /// Adds a host's rules.
    pub(crate) fn put(&mut self, host: HostId, robots: Robots) -> Arc<Robots> {
        let robots = Arc::new(robots.without_sitemaps());
        self.rules.insert(host, Arc::clone(&robots), robots.heap_bytes());
        robots
    }

    /// A host's rules, if cached.
    pub(crate) fn get(&mut self, host: HostId) -> Option<&Arc<Robots>> {
        self.rules.get(&host).map(|r| &*r)
    }
}
