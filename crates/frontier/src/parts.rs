//! What do the parts of a rendered page cost their hosts?
//!
//! A page that a browser draws asks for scripts, styles and data. Its lease covers them: they never
//! wait for a host's turn, because the page holds its own host meanwhile, and two pages that wait
//! for each other's hosts would wait for ever. They are paid for afterwards: the clocks of host and
//! address start again with every request, and the host of the page rests longer the more it was
//! asked for. A host that backs off gets none.

use crate::Why;
use crate::frontier::Frontier;
use crate::robots::Robots;
use crate::workbench::GateKey;
use orb_page::{HostId, Moment};
use std::net::IpAddr;
use std::sync::Arc;

/// Parts that cost as much as another page.
const PARTS_A_PAGE: u32 = 10;

impl Frontier {
    /// The host with this name, if it is in memory. Compares names one by one: ask once for each
    /// page and host.
    pub fn host_named(&self, scheme: &str, name: &str, port: u16) -> Option<HostId> {
        let is =
            |site: &crate::site::WorkbenchHost| *site.name == *name && site.port == port && *site.scheme == *scheme;
        self.sites.values().find(|site| is(site)).map(|site| site.id)
    }

    /// The rules of a host, if they are at hand.
    pub fn rules_of(&mut self, host: HostId) -> Option<Arc<Robots>> {
        self.shelf.get(host).cloned()
    }

    /// Whether robots.txt is not asked for.
    pub fn ignores_robots(&self) -> bool {
        self.config.ignore_robots
    }

    /// Whether a host wants to be left alone: it refused the last request, or asked to wait.
    pub fn is_backing_off(&self, host: HostId, now: Moment) -> bool {
        let Some(site) = self.sites.get(&host) else { return self.intake.gone.reason(host).is_some() };
        site.gone.is_some() || (site.gate > now && matches!(site.cause, Why::BackOff | Why::RetryAfter))
    }

    /// A part was asked for, at this address if known: the delays of its host, if it is in memory,
    /// and of the address count from here.
    pub fn part_sent(&mut self, host: Option<HostId>, address: Option<IpAddr>, now: Moment) {
        let delay = self.config.politeness.delay;
        if let Some(mut site) = host.and_then(|host| self.take_if(host, |_| true)) {
            site.last_sent = now;
            site.pause(&self.config.politeness);
            self.put(site, now);
        }
        if let Some(address) = address.filter(|_| !self.config.behind_proxy && !delay.is_zero()) {
            self.bench.shut(GateKey::Address(address), now.plus(delay));
        }
    }

    /// A page has been drawn that asked its own host for so many parts: the host rests a delay for
    /// every ten of them.
    pub fn parts_fetched(&mut self, host: HostId, parts: u32, now: Moment) {
        let Some(mut site) = self.take_if(host, |_| true) else { return };
        let pause = self.config.politeness.pause(site.crawl_delay);
        site.rest_until(now.plus(pause + pause * parts / PARTS_A_PAGE), Why::Delay);
        self.put(site, now);
    }
}
