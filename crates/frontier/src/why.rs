//! Why is a host not being fetched?
//!
//! "Why is it slow?" is a question that users of other crawlers get no answer to: here every host
//! answers it.

use crate::frontier::Frontier;
use crate::site::{RobotsState, WorkbenchHost};
use crate::workbench::GateKey;
use hashbrown::HashMap;
use orb_page::{HostId, Moment};
use std::fmt;
use std::time::Duration;

/// How many of the slowest hosts are listed.
const SLOWEST: usize = 3;

/// Why nothing is being requested from a host right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It gets the next free worker.
    Ready,
    /// A request is in flight, and it takes no more at a time.
    InFlight,
    /// The delay between two requests has not elapsed.
    Delay,
    /// The Crawl-delay of its robots.txt has not elapsed.
    CrawlDelay,
    /// Its last response was slow.
    Slow,
    /// It refused or failed.
    BackOff,
    /// It sent `Retry-After`.
    RetryAfter,
    /// Another host at its address was contacted just now.
    Address,
    /// Its address is not leased to this machine yet: another one may be using it.
    Lease,
    /// Its name is being resolved.
    Resolving,
    /// Its robots.txt is being fetched.
    Robots,
    /// Its queue is being read from the store.
    Reading,
    /// Its robots.txt could not be read: excluded for the rest of the run.
    RobotsUnreachable,
    /// It failed too often in a row: excluded for the rest of the run.
    Silent,
    /// It asks for too long a wait: excluded for the rest of the run.
    LongWait,
    /// It is unreachable: its pages are being recorded as such.
    Unreachable,
    /// It has no page waiting.
    Drained,
}

impl Why {
    /// The reason in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::InFlight => "request in flight",
            Self::Delay => "waiting for delay",
            Self::CrawlDelay => "waiting for crawl-delay",
            Self::Slow => "answering slowly",
            Self::BackOff => "backing off",
            Self::RetryAfter => "asked to come back later",
            Self::Address => "address busy",
            Self::Lease => "waiting for the lease of its address",
            Self::Resolving => "resolving",
            Self::Robots => "reading robots.txt",
            Self::Reading => "reading its queue",
            Self::RobotsUnreachable => "robots unreachable",
            Self::Silent => "not answering",
            Self::LongWait => "wants a longer break than this run",
            Self::Unreachable => "unreachable",
            Self::Drained => "nothing queued",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What the hosts in memory are doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostActivity {
    /// Hosts with a request in flight.
    pub active: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Names being looked up.
    pub resolving: usize,
    /// For each reason to wait, the number of hosts and the name of one; most frequent first.
    pub reasons: Vec<(Why, usize, String)>,
    /// The hosts in memory with the slowest responses, slowest first.
    pub slowest: Vec<HostLatency>,
}

/// How slow a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLatency {
    /// Its name.
    pub name: String,
    /// Number of requests since it was loaded.
    pub answers: u32,
    /// Mean duration of a response, from the request to its last byte.
    pub mean: Duration,
}

/// Why nothing is being requested from a host, and until when if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plight {
    /// The reason.
    pub why: Why,
    /// When it ends.
    pub until: Option<Moment>,
}

impl Frontier {
    /// What the hosts in memory are doing, and why the others wait.
    pub fn waiting(&self, now: Moment) -> HostActivity {
        /// Hosts that wait for the same reason, with the lowest number among them.
        struct WaitGroup<'a> {
            why: Why,
            hosts: usize,
            first: (HostId, &'a str),
        }
        let mut groups: Vec<WaitGroup<'_>> = Vec::new();
        let mut count = |why: Why, hosts: usize, id: HostId, name| match groups.iter_mut().find(|g| g.why == why) {
            Some(group) => {
                group.hosts += hosts;
                // The map of hosts has no order: the lowest number makes the example stable.
                group.first = group.first.min((id, name));
            }
            None => groups.push(WaitGroup { why, hosts, first: (id, name) }),
        };
        for site in self.sites.values().chain(self.intake.parked.values()) {
            match self.why_of(site, now) {
                Why::InFlight | Why::Drained => {}
                why => count(why, 1, site.id, &site.name),
            }
        }
        for (why, hosts, name) in &self.intake.gone.tally {
            count(*why, *hosts, HostId(0), name);
        }
        groups.sort_by(|a, b| b.hosts.cmp(&a.hosts).then(a.why.cmp(&b.why)));
        HostActivity {
            active: self.sites.values().filter(|s| s.in_flight() > 0).count(),
            in_flight: self.in_flight,
            resolving: self.resolving,
            reasons: groups.into_iter().map(|group| (group.why, group.hosts, group.first.1.to_owned())).collect(),
            slowest: self.slowest(),
        }
    }

    /// What keeps the next host from being served, right after [`Self::next`] returned nothing to
    /// do.
    pub fn holdup(&self) -> Why {
        let parked = self.intake.first_parked();
        let waiting = self.bench.first_waiting().filter(|(at, ..)| parked.is_none_or(|(until, _)| *at <= until));
        match (waiting, parked) {
            (Some((_, _, true)), _) => Why::Address,
            (Some((_, host, false)), _) => self.sites.get(&host).map_or(Why::Delay, |site| site.cause),
            (None, Some((_, why))) => why,
            (None, None) if self.in_flight == 0 && self.bench.lacks_leases() => Why::Lease,
            (None, None) if self.in_flight == 0 && self.resolving > 0 => Why::Resolving,
            (None, None) if self.in_flight == 0 && self.asked > 0 => Why::Robots,
            (None, None) if self.in_flight == 0 && self.reads.out() > 0 => Why::Reading,
            (None, None) => Why::InFlight,
        }
    }

    /// Requests per second that politeness allows to the hosts in memory that can be contacted now;
    /// `None` if it does not bound them.
    pub fn allowed(&self, now: Moment) -> Option<f64> {
        let mut groups: HashMap<GateKey, f64> = HashMap::new();
        for site in self.sites.values() {
            let resting = site.gate > now && !matches!(site.cause, Why::Delay | Why::CrawlDelay);
            let wanted = site.has_work() || site.in_flight() > 0 || site.is_waited_for();
            if !wanted || resting || site.dead.is_some() || site.gone.is_some() {
                continue;
            }
            let pause = self.pause(site);
            if pause.is_zero() {
                return None;
            }
            *groups.entry(self.key(site, now)).or_default() += 1.0 / pause.as_secs_f64();
        }
        let shared = 1.0 / self.config.politeness.delay.as_secs_f64().max(1e-9);
        let bound =
            |(key, rate): (&GateKey, &f64)| if matches!(key, GateKey::Host(_)) { *rate } else { rate.min(shared) };
        Some(groups.iter().map(bound).sum())
    }

    fn slowest(&self) -> Vec<HostLatency> {
        let asked = self.sites.values().filter(|s| s.answers > 0);
        let mut slow: Vec<(Duration, &WorkbenchHost)> = asked.map(|s| (s.answering / s.answers, &**s)).collect();
        let most = slow.len().min(SLOWEST);
        if most < slow.len() {
            // Not sorted whole: this runs under the mutex that every fetch task takes.
            slow.select_nth_unstable_by_key(most, |(mean, site)| (std::cmp::Reverse(*mean), site.id));
            slow.truncate(most);
        }
        slow.sort_unstable_by_key(|(mean, site)| (std::cmp::Reverse(*mean), site.id));
        let name =
            |(mean, s): (Duration, &WorkbenchHost)| HostLatency { name: s.name.to_string(), answers: s.answers, mean };
        slow.into_iter().map(name).collect()
    }

    /// Why nothing is being requested from a host, and until when; `None` if nothing is known about
    /// it in this run.
    pub fn plight(&self, host: HostId, now: Moment) -> Option<Plight> {
        let Some(site) = self.sites.get(&host).or_else(|| self.intake.parked.get(&host)) else {
            return self.intake.gone.reason(host).map(|why| Plight { why, until: None });
        };
        let why = self.why_of(site, now);
        let until = match why {
            Why::Delay | Why::CrawlDelay | Why::Slow | Why::BackOff | Why::RetryAfter => Some(site.gate),
            _ => None,
        };
        Some(Plight { why, until })
    }

    /// The same in words.
    pub fn why(&self, host: HostId, now: Moment) -> Option<String> {
        let Plight { why, until } = self.plight(host, now)?;
        let dead = self.sites.get(&host).and_then(|site| site.dead.as_ref());
        Some(match (why, dead, until) {
            (Why::Unreachable, Some(dead), _) => format!("{}: {}", dead.why, dead.failure.detail),
            (_, _, Some(until)) => format!("{why} until {until}"),
            _ => why.to_string(),
        })
    }

    fn why_of(&self, site: &WorkbenchHost, now: Moment) -> Why {
        let key = self.key(site, now);
        match site.rules {
            _ if site.resolving => Why::Resolving,
            RobotsState::Asked { .. } => Why::Robots,
            _ if site.is_read() && site.in_flight() == 0 => Why::Reading,
            _ if site.in_flight() > 0 && site.place.is_none() => Why::InFlight,
            _ if !site.has_work() => Why::Drained,
            _ if site.gate > now => site.cause,
            _ if site.dead.is_some() => Why::Unreachable,
            _ if !self.bench.has_lease(key) => Why::Lease,
            _ if site.place.is_none() || self.bench.is_shut(key, now) => Why::Address,
            _ => Why::Ready,
        }
    }
}
