//! Which service of a host is this?
//!
//! A host that serves web pages may serve files by another protocol as well, and who asks for the
//! one does not mean the other: an FTP server under the same name is another server with other
//! things on it. So what is drawn around the seeds is drawn for each service apart. `http` and
//! `https` are one service, the web; every other scheme is a service by itself.

use super::hosts::Hosts;
use super::prefixes::Directories;
use super::sites::Sites;
use crate::Address;

/// What the seeds of one service span.
#[derive(Debug, Default)]
pub(super) struct ServiceArea {
    pub(super) hosts: Hosts,
    pub(super) sites: Sites,
    pub(super) directories: Directories,
}

/// The areas of all services: the web, and those of other schemes among the seeds.
#[derive(Debug, Default)]
pub(super) struct Services {
    web: ServiceArea,
    others: Vec<(Box<str>, ServiceArea)>,
}

impl ServiceArea {
    fn new(seeds: &[Address]) -> Self {
        Self { hosts: Hosts::new(seeds), sites: Sites::new(seeds), directories: Directories::new(seeds) }
    }

    fn insert(&mut self, seed: &Address) {
        self.hosts.insert(seed);
        self.sites.insert(seed);
        self.directories.insert(seed);
    }
}

impl Services {
    pub(super) fn new(seeds: &[Address]) -> Self {
        let (web, others): (Vec<_>, Vec<_>) = seeds.iter().cloned().partition(is_web);
        let mut services = Self { web: ServiceArea::new(&web), others: Vec::new() };
        others.iter().for_each(|seed| services.insert(seed));
        services
    }

    pub(super) fn insert(&mut self, seed: &Address) {
        if is_web(seed) {
            return self.web.insert(seed);
        }
        match self.others.iter_mut().find(|(scheme, _)| **scheme == *seed.scheme()) {
            Some((_, area)) => area.insert(seed),
            None => self.others.push((seed.scheme().into(), ServiceArea::new(std::slice::from_ref(seed)))),
        }
    }

    /// The area of an address's service; `None` if no seed is of that service. The web always has
    /// one, though it may be empty.
    pub(super) fn of(&self, address: &Address) -> Option<&ServiceArea> {
        if is_web(address) {
            return Some(&self.web);
        }
        self.others.iter().find(|(scheme, _)| **scheme == *address.scheme()).map(|(_, area)| area)
    }
}

fn is_web(address: &Address) -> bool {
    matches!(address.scheme(), "http" | "https")
}
