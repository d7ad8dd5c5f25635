//! Whose rules are at hand?
//!
//! Rules are kept in memory for the hosts asked about lately, up to a number of bytes; those of other hosts are read again from the
//! store when their turn comes.

use super::Robots;
use crate::recent::Recent;
use orb_page::HostId;
use std::sync::Arc;

/// The rules at hand.
#[derive(Debug)]
pub(crate) struct Shelf {
    rules: Recent<HostId, Arc<Robots>>,
}

impl Shelf {
    /// A shelf for about this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { rules: Recent::new(bytes) }
    }

    /// Puts a host's rules on the shelf.
    pub(crate) fn put(&mut self, host: HostId, robots: Robots) -> Arc<Robots> {
        let robots = Arc::new(robots.without_sitemaps());
        self.rules.insert(host, Arc::clone(&robots), robots.weight());
        robots
    }

    /// A host's rules, where they are at hand.
    pub(crate) fn get(&mut self, host: HostId) -> Option<&Arc<Robots>> {
        self.rules.get(&host).map(|r| &*r)
    }
}
