//! Why is a host not being fetched?
//!
//! "Why is it slow?" is the question users of every other crawler ask in vain: here every host answers it.

use crate::frontier::Frontier;
use crate::site::{Rules, Site};
use orb_page::{HostId, Moment};
use std::fmt;

/// Why a host is not being asked for anything at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Its turn comes with the next free worker.
    Ready,
    /// A request is on its way and it takes no more at a time.
    InFlight,
    /// The delay between two requests has not passed.
    Delay,
    /// The Crawl-delay of its robots.txt has not passed.
    CrawlDelay,
    /// Its last answer took long.
    Slow,
    /// It refused or failed.
    BackOff,
    /// It said when to come back.
    RetryAfter,
    /// Another host on its address was asked just now.
    Address,
    /// Its name is being looked up.
    Resolving,
    /// Its robots.txt is being read.
    Robots,
    /// Its robots.txt could not be read: left out for the rest of the run.
    RobotsUnreachable,
    /// It failed too often in a row: left out for the rest of the run.
    Silent,
    /// It wants to be left alone for too long: left out for the rest of the run.
    LongWait,
    /// It cannot be reached: its pages are being recorded as such.
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
            Self::Resolving => "resolving",
            Self::Robots => "reading robots.txt",
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
pub struct Waiting {
    /// Hosts with a request in flight.
    pub active: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Names being looked up.
    pub resolving: usize,
    /// For each reason to wait, how many hosts and the name of one; most hosts first.
    pub reasons: Vec<(Why, usize, String)>,
}

impl Frontier {
    /// What the hosts in memory are doing, and why the others wait.
    pub fn waiting(&self, now: Moment) -> Waiting {
        let mut reasons: Vec<(Why, usize, HostId, &str)> = Vec::new();
        let mut count = |why: Why, hosts: usize, id: HostId, name| match reasons.iter_mut().find(|r| r.0 == why) {
            Some(reason) => {
                reason.1 += hosts;
                if id < reason.2 {
                    (reason.2, reason.3) = (id, name);
                }
            }
            None => reasons.push((why, hosts, id, name)),
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
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        Waiting {
            active: self.sites.values().filter(|s| s.in_flight > 0).count(),
            in_flight: self.in_flight,
            resolving: self.resolving,
            reasons: reasons.into_iter().map(|(why, hosts, _, name)| (why, hosts, name.to_owned())).collect(),
        }
    }

    /// Why a host is not being asked for anything, in words; `None` where nothing is known of it in this run.
    pub fn why(&self, host: HostId, now: Moment) -> Option<String> {
        let Some(site) = self.sites.get(&host).or_else(|| self.intake.parked.get(&host)) else {
            return self.intake.gone.reason(host).map(|why| why.to_string());
        };
        let why = self.why_of(site, now);
        Some(match (why, &site.dead) {
            (Why::Unreachable, Some(dead)) => format!("{}: {}", dead.why, dead.failure.detail),
            (Why::Delay | Why::CrawlDelay | Why::Slow | Why::BackOff | Why::RetryAfter, _) => {
                format!("{why} until {}", site.gate)
            }
            _ => why.to_string(),
        })
    }

    fn why_of(&self, site: &Site, now: Moment) -> Why {
        let key = self.key(site, now);
        match site.rules {
            _ if site.resolving => Why::Resolving,
            Rules::Asked { .. } => Why::Robots,
            _ if site.in_flight > 0 && site.place.is_none() => Why::InFlight,
            _ if !site.has_work() => Why::Drained,
            _ if site.gate > now => site.cause,
            _ if site.dead.is_some() => Why::Unreachable,
            _ if site.place.is_none() || self.bench.is_shut(key, now) => Why::Address,
            _ => Why::Ready,
        }
    }
}
