//! Is this the host of a seed?
//!
//! Within one service: `http` and `https` on their default ports are one host. Any other port is
//! another server under either scheme.

use crate::Address;
use hashbrown::HashMap;

/// The hosts of the seeds with their ports; 0 is the default port.
#[derive(Debug, Default)]
pub(super) struct Hosts(HashMap<Box<str>, Vec<u16>>);

impl Hosts {
    pub(super) fn new(seeds: &[Address]) -> Self {
        let mut hosts = Self::default();
        seeds.iter().for_each(|seed| hosts.insert(seed));
        hosts
    }

    pub(super) fn insert(&mut self, seed: &Address) {
        let port = seed.unusual_port().unwrap_or(0);
        let ports = self.0.entry(seed.host().into()).or_default();
        if let Err(place) = ports.binary_search(&port) {
            ports.insert(place, port);
        }
    }

    pub(super) fn contains(&self, target: &Address) -> bool {
        let port = target.unusual_port().unwrap_or(0);
        self.0.get(target.host()).is_some_and(|ports| ports.binary_search(&port).is_ok())
    }
}
