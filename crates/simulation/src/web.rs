//! What is crawled? A web that remembers who asked it what, and when.
//!
//! Hosts of several shards share addresses, pages link across hosts, and some pages have the same
//! content. The web keeps the time of the last request to each address: the gap between two is what
//! politeness is judged by, whoever sent them.

use crate::Millis;
use crate::dice::SimDice;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// A page of the web by its number there.
pub type SimUrl = u32;

/// The pages, hosts and addresses of a history.
#[derive(Clone, Debug)]
pub struct SimWeb {
    pages: Vec<SimPage>,
    addresses: Vec<IpAddr>,
    /// The least time between two requests to an address.
    pub delay: Millis,
    last: BTreeMap<IpAddr, (Millis, usize)>,
    /// Requests, of all workers.
    pub requests: u64,
}

#[derive(Clone, Debug)]
struct SimPage {
    host: u32,
    links: BTreeSet<SimUrl>,
    digest: u32,
}

impl SimWeb {
    /// A web by chance.
    pub fn new(dice: &mut SimDice) -> Self {
        let hosts = dice.between(4, 14);
        let addresses: Vec<IpAddr> =
            (0..dice.between(2, 6)).map(|n| Ipv4Addr::new(192, 0, 2, u8::try_from(n).unwrap_or(0)).into()).collect();
        let count = dice.between(30, 110);
        let mut pages = Vec::new();
        for n in 0..count {
            // The first pages are the roots of the hosts.
            let host = if n < hosts { n } else { dice.between(0, hosts) };
            let digest = if dice.chance(150) { dice.between(0, 8) } else { 1_000 + n };
            let few = dice.between(0, 5);
            let links = (0..few).map(|_| u32::try_from(dice.between(0, count)).unwrap_or(0)).collect();
            pages.push(SimPage { host: narrow(host), links, digest: narrow(digest) });
        }
        // Most of it hangs together, from page 0 on.
        for n in 1..pages.len() {
            if !dice.chance(50) {
                let from = dice.index(n);
                pages[from].links.insert(u32::try_from(n).unwrap_or(0));
            }
        }
        let delay = dice.between(200, 600);
        Self { pages, addresses, delay, last: BTreeMap::new(), requests: 0 }
    }

    /// The name of a host.
    pub fn host_name(host: u32) -> String {
        format!("h{host}.example")
    }

    /// The address of a page.
    pub fn url(&self, page: SimUrl) -> String {
        format!("http://{}/{page}", Self::host_name(self.host(page)))
    }

    /// The host of a page.
    pub fn host(&self, page: SimUrl) -> u32 {
        self.pages.get(page as usize).map_or(0, |page| page.host)
    }

    /// Where a page points to, each target once.
    pub fn links(&self, page: SimUrl) -> &BTreeSet<SimUrl> {
        static NONE: BTreeSet<SimUrl> = BTreeSet::new();
        self.pages.get(page as usize).map_or(&NONE, |page| &page.links)
    }

    /// What its content hashes to.
    pub fn digest(&self, page: SimUrl) -> [u8; 32] {
        let mut digest = [0; 32];
        let number = self.pages.get(page as usize).map_or(0, |page| page.digest);
        digest[..4].copy_from_slice(&number.to_le_bytes());
        digest
    }

    /// The address of a host, by its name.
    pub fn resolve(&self, name: &str) -> IpAddr {
        let host: usize = name.trim_start_matches('h').split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        self.addresses[host % self.addresses.len()]
    }

    /// A request arrives. The gap to the one before, if it is too short: workers' clocks may run a
    /// little fast.
    pub fn request(&mut self, to: IpAddr, by: usize, now: Millis) -> Result<(), String> {
        self.requests += 1;
        let least = self.delay - self.delay / 50 - 3;
        match self.last.insert(to, (now, by)) {
            Some((before, whose)) if now - before < least => {
                let gap = now - before;
                Err(format!("worker {by} asks {to} {gap} ms after worker {whose}, and the delay is {} ms", self.delay))
            }
            _ => Ok(()),
        }
    }

    /// What can be reached from the seed.
    pub fn reachable(&self) -> BTreeSet<SimUrl> {
        let (mut seen, mut open) = (BTreeSet::from([0]), vec![0]);
        while let Some(page) = open.pop() {
            open.extend(self.links(page).iter().copied().filter(|to| seen.insert(*to)));
        }
        seen
    }
}

fn narrow(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
