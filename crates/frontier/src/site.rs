//! What does the frontier know about a host it works on?

use crate::warmth::HostConnections;
use crate::workbench::{GateKey, HostPreference, WorkbenchPosition};
use crate::{FrontierConfig, Politeness, Robots, Why, robots};
use orb_page::{Failure, FailureKind, HostId, Moment, PageId};
use orb_store::{HostRecord, Queued};
use orb_urls::scheme::{Manners, manners_of};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long the pages of an unreachable host are dropped before it is tried again.
const DEAD_AGE: Duration = Duration::from_secs(3_600);

/// A host on the workbench.
#[derive(Debug)]
pub(crate) struct WorkbenchHost {
    pub(crate) id: HostId,
    pub(crate) scheme: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) port: u16,
    /// How servers of its scheme are treated.
    pub(crate) manners: Manners,
    /// The next pages, read from the store.
    pub(crate) queue: VecDeque<Queued>,
    /// The last page read.
    pub(crate) cursor: Option<(u64, PageId)>,
    /// Whether the store may have pages after the cursor.
    pub(crate) more: bool,
    /// Whether pages were admitted since the queue was last read from its front.
    pub(crate) fresh: bool,
    /// The outstanding refill.
    pub(crate) reading: Option<u64>,
    /// Whether pages came back into the queue since it was requested.
    pub(crate) returned: bool,
    /// Whether its robots.txt is being read from the store.
    pub(crate) loading: bool,
    /// Its rules, between their return from the store and the next page.
    pub(crate) at_hand: Option<Arc<Robots>>,
    pub(crate) connections: HostConnections,
    pub(crate) address: Option<(IpAddr, Moment)>,
    pub(crate) resolving: bool,
    /// Consecutive failed look-ups.
    pub(crate) lookups: u32,
    pub(crate) rules: RobotsState,
    pub(crate) crawl_delay: Option<Duration>,
    /// Where its robots.txt redirected to.
    pub(crate) detour: Option<Box<Detour>>,
    /// The earliest moment of the next request, and the reason.
    pub(crate) gate: Moment,
    pub(crate) cause: Why,
    pub(crate) last_sent: Moment,
    pub(crate) backoff: Duration,
    /// The last grant when the back-off began: failures of earlier grants belong to the same
    /// incident.
    pub(crate) backoff_grant: u64,
    /// The grant of its robots.txt.
    pub(crate) robots_grant: u64,
    /// Consecutive failed requests.
    pub(crate) failures: u32,
    /// Whether the last of them got no response although the host had responded before: it may be
    /// the page's fault.
    pub(crate) stuck: bool,
    /// Whether it has responded since it was loaded.
    pub(crate) answered: bool,
    /// Number of requests since it was loaded, and their total duration.
    pub(crate) answers: u32,
    pub(crate) answering: Duration,
    /// Why none of its pages can be fetched: they are dropped one by one.
    pub(crate) dead: Option<Box<Dead>>,
    /// Why it is excluded for the rest of the run.
    pub(crate) gone: Option<Why>,
    /// Its position on the workbench, if it has one.
    pub(crate) place: Option<WorkbenchPosition>,
    /// The group it holds.
    pub(crate) held: Option<GateKey>,
    /// The moment under which it is listed as idle.
    pub(crate) idle: Option<Moment>,
}

/// What is known about a host's robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobotsState {
    /// To be fetched; failed this many times.
    Unread { tries: u32 },
    /// Being fetched.
    Asked { tries: u32 },
    /// Valid until then: cached or in the store.
    Read { until: Moment },
}

/// The location that a robots.txt redirected to.
#[derive(Debug)]
pub(crate) struct Detour {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) address: Option<IpAddr>,
    pub(crate) hops: u8,
}

/// Why the pages of a host cannot be fetched.
#[derive(Debug)]
pub(crate) struct Dead {
    pub(crate) why: &'static str,
    pub(crate) failure: Failure,
    /// When to try it again.
    pub(crate) until: Moment,
}

impl WorkbenchHost {
    /// A host as the store knows it, with an empty queue.
    pub(crate) fn new(record: HostRecord, config: &FrontierConfig, now: Moment) -> Self {
        let read = record.robots.as_ref().filter(|r| robots::is_conclusive(r));
        let until = read.map(|r| r.at.plus(config.robots_max_age)).filter(|until| *until > now);
        let crawl_delay = record.robots.as_ref().and_then(|r| r.crawl_delay).filter(|_| !config.ignore_robots);
        Self {
            id: record.id,
            manners: manners_of(&record.scheme),
            scheme: record.scheme.into(),
            name: record.name.into(),
            port: record.port,
            queue: VecDeque::new(),
            cursor: None,
            more: true,
            fresh: false,
            reading: None,
            returned: false,
            loading: false,
            at_hand: None,
            connections: HostConnections::default(),
            address: None,
            resolving: false,
            lookups: 0,
            rules: until.map_or(RobotsState::Unread { tries: 0 }, |until| RobotsState::Read { until }),
            crawl_delay: crawl_delay.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            detour: None,
            gate: record.not_before.unwrap_or(Moment(i64::MIN)),
            cause: Why::BackOff,
            last_sent: Moment(i64::MIN),
            backoff: Duration::from_millis(record.backoff_ms),
            backoff_grant: 0,
            robots_grant: 0,
            failures: 0,
            stuck: false,
            answered: false,
            answers: 0,
            answering: Duration::ZERO,
            dead: None,
            gone: None,
            place: None,
            held: None,
            idle: None,
        }
    }

    /// Whether it may have pages to lease.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.more || self.fresh
    }

    /// Its preference when not all hosts can be served: whether it has responded, and whether a
    /// connection to it is idle.
    pub(crate) fn standing(&self) -> HostPreference {
        if self.connections.is_warm() {
            HostPreference::Warm
        } else if self.in_flight() > 0 {
            HostPreference::Busy
        } else if self.answered || matches!(self.rules, RobotsState::Read { .. }) {
            HostPreference::Begun
        } else {
            HostPreference::New
        }
    }

    /// Number of requests under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.connections.in_flight
    }

    /// Whether it waits for an event.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.resolving || self.is_read() || matches!(self.rules, RobotsState::Asked { .. })
    }

    /// Whether nothing can be done for it before the store has answered.
    pub(crate) fn is_read(&self) -> bool {
        self.loading || (self.reading.is_some() && self.queue.is_empty())
    }

    /// Closes the gate until `at`, unless it is closed for longer already.
    pub(crate) fn rest_until(&mut self, at: Moment, cause: Why) {
        if at > self.gate {
            (self.gate, self.cause) = (at, cause);
        }
    }

    /// When it is due, as far as it is concerned: pages that cannot be fetched need not wait.
    pub(crate) fn opens(&self) -> Moment {
        if self.dead.is_some() { Moment(i64::MIN) } else { self.gate }
    }

    /// Stops using it: its pages are dropped if it is unreachable and never responded, and stay
    /// queued if it may come back.
    pub(crate) fn give_up(&mut self, failure: Option<FailureKind>, now: Moment) {
        let failure = failure.filter(|_| !self.answered).map(|kind| Failure::new(kind, "no answer to any request"));
        self.dead = failure.and_then(|f| Dead::of(&f, now));
        if self.dead.is_none() {
            self.gone = Some(Why::Silent);
        }
    }

    /// Closes the gate for its delay after the last request.
    pub(crate) fn pause(&mut self, politeness: &Politeness) {
        if self.manners.is_local() {
            return;
        }
        let pause = politeness.pause(self.crawl_delay);
        let cause = if pause > politeness.delay { Why::CrawlDelay } else { Why::Delay };
        if !pause.is_zero() {
            self.rest_until(self.last_sent.plus(pause), cause);
        }
    }

    /// The address of the next request, if known and fresh.
    pub(crate) fn next_address(&self, now: Moment) -> Option<IpAddr> {
        match &self.detour {
            Some(detour) => detour.address,
            None => self.address.filter(|(_, until)| now < *until).map(|(ip, _)| ip),
        }
    }

    /// The URL of its robots.txt.
    pub(crate) fn robots_url(&self) -> String {
        let (open, close) = if self.name.contains(':') { ("[", "]") } else { ("", "") };
        let (scheme, name, port) = (&self.scheme, &self.name, self.port);
        match port == self.manners.port {
            true => format!("{scheme}://{open}{name}{close}/robots.txt"),
            false => format!("{scheme}://{open}{name}{close}:{port}/robots.txt"),
        }
    }
}

impl Dead {
    /// How to record the pages of an unreachable host; `None` if it may only be silent for now.
    pub(crate) fn of(failure: &Failure, now: Moment) -> Option<Box<Self>> {
        let why = match failure.kind {
            FailureKind::Dns => "unresolvable",
            FailureKind::Connect => "refused",
            FailureKind::Tls => "tls",
            FailureKind::Guard => "guard",
            FailureKind::Unsupported => "unsupported",
            FailureKind::Timeout | FailureKind::Protocol | FailureKind::Malformed | FailureKind::Local => return None,
        };
        Some(Box::new(Self { why, failure: failure.clone(), until: now.plus(DEAD_AGE) }))
    }
}

impl Detour {
    /// The location of a canonical `http` or `https` URL.
    pub(crate) fn to(url: &str, hops: u8) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let default = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()?),
            _ => (authority, default),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let detour = Self { url: url.to_owned(), name: name.to_owned(), port, address: None, hops };
        (!name.is_empty()).then_some(detour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_knows_whom_to_ask() {
        let at = |url| Detour::to(url, 1).map(|d| (d.name, d.port));
        assert_eq!(at("https://h.example/robots.txt"), Some(("h.example".to_owned(), 443)));
        assert_eq!(at("http://h.example:8080?x"), Some(("h.example".to_owned(), 8080)));
        assert_eq!(at("http://[::1]/"), Some(("::1".to_owned(), 80)));
        assert_eq!(at("http://[::1]:81/"), Some(("::1".to_owned(), 81)));
        assert_eq!(at("http://u:p@h/"), Some(("h".to_owned(), 80)));
        for bad in ["ftp://h/robots.txt", "http:///x", "/robots.txt", "http://h:99999/", ""] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }
}
