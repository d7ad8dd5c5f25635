//! How are a small web and its crawler simulated in no time at all?
//!
//! The clock moves only from event to event, and a line is logged for each.

use super::memory::Memory;
use crate::{After, ConnectionEnd, FetchEnd, Frontier, FrontierConfig, Next, StoreAnswer, StoreRead, retry_after};
use expect_test::Expect;
use orb_page::{Failure, FailureKind, HostId, Lease, Moment, PageId, Purpose};
use orb_store::{DroppedPage, HostFact, QueuePlace, RobotsRecord};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

pub(super) const HOUR: i64 = 3_600_000;

pub(super) fn is_robots(lease: &Lease) -> bool {
    lease.purpose == Purpose::Robots
}

/// No robots.txt, and every page exists.
pub(super) fn fine(lease: &Lease) -> Answer {
    Answer::status(if is_robots(lease) { 404 } else { 200 })
}

pub(super) fn shows(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

/// The result of a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) result: Result<u16, FailureKind>,
    pub(super) text: &'static str,
    pub(super) retry_after: Option<&'static str>,
    pub(super) takes: u64,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Self { result: Ok(status), text: "", retry_after: None, takes: 100 }
    }

    pub(super) fn text(text: &'static str) -> Self {
        Self { text, ..Self::status(200) }
    }

    pub(super) fn failure(kind: FailureKind) -> Self {
        Self { result: Err(kind), ..Self::status(0) }
    }
}

/// The connections that the requests of a world would need: idle ones are used again, and the one
/// that has been idle longest makes room.
#[derive(Default)]
pub(super) struct Connections {
    /// How many were opened altogether.
    pub(super) opened: usize,
    /// Whether one connection carries all requests to a host.
    pub(super) shared: bool,
    idle: Vec<HostId>,
    busy: BTreeMap<HostId, usize>,
}

impl Connections {
    fn take(&mut self, host: HostId, most: usize) {
        let idle = self.idle.iter().rposition(|h| *h == host);
        let busy = self.busy.get(&host).copied().unwrap_or(0);
        match idle {
            Some(at) => drop(self.idle.remove(at)),
            None if self.shared && busy > 0 => {}
            None => {
                self.opened += 1;
                let used = if self.shared { self.busy.len() } else { self.busy.values().sum() };
                if used + self.idle.len() >= most && !self.idle.is_empty() {
                    self.idle.remove(0);
                }
            }
        }
        self.busy.insert(host, busy + 1);
    }

    fn give_back(&mut self, host: HostId) {
        let left = self.busy.get(&host).map_or(0, |busy| busy - 1);
        if left > 0 {
            self.busy.insert(host, left);
        } else {
            self.busy.remove(&host);
        }
        if left == 0 || !self.shared {
            self.idle.push(host);
        }
    }
}

pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) frontier: Frontier,
    pub(super) now: Moment,
    /// Maximum concurrent requests.
    pub(super) connections: usize,
    pub(super) sockets: Connections,
    /// Aliases to be fetched nevertheless.
    pub(super) tests: Vec<PageId>,
    /// Aliases that nobody has decided on, if that is left to the test.
    pub(super) undecided: Option<Vec<Lease>>,
    config: FrontierConfig,
    addresses: BTreeMap<String, u8>,
    answer: Box<dyn FnMut(&Lease) -> Answer>,
    ends: BTreeMap<(Moment, u64), (Lease, u64, Answer)>,
    /// The store's latency in milliseconds.
    pub(super) store_takes: u64,
    reads: BTreeMap<(Moment, u64), StoreAnswer>,
    events: u64,
    finished: Vec<(HostId, u64, PageId)>,
    facts: Vec<HostFact>,
    log: String,
}

impl World {
    pub(super) fn new(config: FrontierConfig, answer: impl FnMut(&Lease) -> Answer + 'static) -> Self {
        Self {
            memory: Memory::default(),
            frontier: Frontier::new(config.clone(), Moment(0), false),
            now: Moment(0),
            connections: usize::MAX,
            sockets: Connections::default(),
            tests: Vec::new(),
            undecided: None,
            config,
            addresses: BTreeMap::new(),
            answer: Box::new(answer),
            ends: BTreeMap::new(),
            store_takes: 0,
            reads: BTreeMap::new(),
            events: 0,
            finished: Vec::new(),
            facts: Vec::new(),
            log: String::new(),
        }
    }

    /// A host at the address 10.0.0.`ip` with this many pages, named `/1`, `/2`, ….
    pub(super) fn host(&mut self, id: u32, ip: u8, pages: u64) -> &mut Self {
        let name = self.memory.host(id).name.clone();
        self.addresses.insert(name, ip);
        for i in 1..=pages {
            self.memory.admit(id, u64::from(id) * 100 + i, i, &format!("/{i}"));
        }
        self.frontier.admitted(HostId(id), self.now);
        self
    }

    /// Discards everything that was not committed, as a crash would.
    pub(super) fn restart(&mut self) {
        self.ends.clear();
        self.reads.clear();
        self.finished.clear();
        self.facts.clear();
        self.frontier = Frontier::new(self.config.clone(), self.now, true);
        self.say("restart");
    }

    pub(super) fn commit(&mut self) {
        for fact in self.facts.drain(..) {
            self.memory.learn(&fact);
        }
        let pages: Vec<PageId> = self.finished.iter().map(|f| f.2).collect();
        for (host, rank, page) in self.finished.drain(..) {
            self.memory.remove(host, rank, page);
        }
        self.frontier.committed(&pages);
    }

    /// Runs until nothing happens before `until` any more, and returns the log since the last call.
    pub(super) fn run(&mut self, until: i64) -> String {
        self.frontier.allow_connections(self.connections);
        loop {
            let full = self.ends.len() >= self.connections;
            let next = if full { Next::Busy } else { self.frontier.next(self.now) };
            let wake = match next {
                Next::Lease(lease, rank) => {
                    self.request(lease, rank);
                    continue;
                }
                Next::Read(read) => {
                    self.read(&read);
                    continue;
                }
                Next::Resolve { host, name, .. } => {
                    self.resolve(host, &name);
                    continue;
                }
                Next::Drop(DroppedPage { place: QueuePlace { host, rank, page }, kind, why }) => {
                    self.say(&format!("drop {} {kind} {why}", page.0));
                    self.finished.push((host, rank, page));
                    continue;
                }
                Next::Alias(lease, rank) => {
                    self.judge_alias(&lease, rank);
                    continue;
                }
                Next::Fail(lease, rank, failure) => {
                    self.say(&format!("fail {} {:?}", lease.page.0, failure.kind));
                    self.finished.push((lease.host, rank, lease.page));
                    continue;
                }
                Next::Starved if self.finished.is_empty() && self.undecided.is_some() => break,
                Next::Starved => {
                    self.commit();
                    continue;
                }
                Next::Wait(at) => at,
                Next::Busy => Moment(i64::MAX),
                Next::Finished | Next::BudgetSpent => {
                    self.say(if next == Next::Finished { "finished" } else { "budget spent" });
                    break;
                }
            };
            let ends = self.ends.keys().next().into_iter().chain(self.reads.keys().next());
            let end = ends.map(|(at, _)| *at).min().unwrap_or(Moment(i64::MAX));
            if wake.min(end) > Moment(until) {
                self.now = Moment(until);
                break;
            }
            self.now = wake.min(end);
            self.end_due();
        }
        std::mem::take(&mut self.log)
    }

    /// Why each host waits.
    pub(super) fn whys(&self) -> String {
        let mut text = String::new();
        for (id, host) in &self.memory.hosts {
            let why = self.frontier.why(*id, self.now).unwrap_or_else(|| "unknown".to_owned());
            let _ = writeln!(text, "{}: {}", host.name, why.replace("1970-01-01T", ""));
        }
        text
    }

    /// What to do next, besides reading the store.
    pub(super) fn next(&mut self) -> Next {
        loop {
            match self.frontier.next(self.now) {
                Next::Read(read) => self.read(&read),
                next => return next,
            }
        }
    }

    /// Reads the store now; the answer arrives after its latency.
    fn read(&mut self, read: &StoreRead) {
        let answer = read.answer(&self.memory).unwrap();
        if self.store_takes == 0 {
            self.frontier.answered(answer, self.now);
            return;
        }
        self.events += 1;
        self.reads.insert((self.now.plus(Duration::from_millis(self.store_takes)), self.events), answer);
    }

    fn resolve(&mut self, host: HostId, name: &str) {
        let result = self.addresses.get(name).map(|ip| IpAddr::V4(Ipv4Addr::new(10, 0, 0, *ip)));
        let shown = result.map_or_else(|| "nothing".to_owned(), |ip| ip.to_string());
        self.say(&format!("{name} is {shown}"));
        let result = result.ok_or_else(|| Failure::new(FailureKind::Dns, "no such name"));
        self.frontier.resolved(host, result, self.now);
    }

    fn request(&mut self, lease: Lease, rank: u64) {
        self.sockets.take(lease.host, self.connections);
        let answer = (self.answer)(&lease);
        let mut line = format!("get {}", lease.url.trim_start_matches("http://"));
        if lease.attempt > 0 {
            let _ = write!(line, " again ({})", lease.attempt);
        }
        self.say(&line);
        if answer.result != Err(FailureKind::Connect) {
            self.frontier.sent(lease.host, lease.addr, self.now);
        }
        self.events += 1;
        self.ends.insert((self.now.plus(Duration::from_millis(answer.takes)), self.events), (lease, rank, answer));
    }

    fn end_due(&mut self) {
        while let Some(first) = self.reads.first_entry().filter(|e| e.key().0 <= self.now) {
            self.frontier.answered(first.remove(), self.now);
        }
        while let Some(first) = self.ends.first_entry().filter(|e| e.key().0 <= self.now) {
            let (lease, rank, answer) = first.remove();
            self.end(&lease, rank, &answer);
        }
    }

    fn end(&mut self, lease: &Lease, rank: u64, answer: &Answer) {
        let ended = FetchEnd {
            status: answer.result.ok(),
            failure: answer.result.err(),
            retry_after: answer.retry_after.and_then(|v| retry_after(v, self.now)),
            elapsed: Duration::from_millis(answer.takes),
            turned: false,
            respelt: false,
            unsent: false,
            connection: if self.sockets.shared { ConnectionEnd::Shared } else { ConnectionEnd::Kept },
        };
        self.sockets.give_back(lease.host);
        let (after, fact) = self.frontier.done(lease, &ended, self.now);
        self.facts.extend(fact);
        if lease.purpose == Purpose::Robots {
            let moved = matches!(answer.result, Ok(300..=399));
            if moved && self.frontier.robots_moved(lease.host, answer.text, self.now) {
                return;
            }
            let record = answer.result.map(|status| RobotsRecord {
                at: self.now,
                status,
                text: answer.text.to_owned(),
                crawl_delay: None,
            });
            let result = record.map_err(|kind| Failure::new(kind, "for the test"));
            self.facts.push(self.frontier.robots(lease.host, result, self.now));
        } else if after == After::Record {
            self.finished.push((lease.host, rank, lease.page));
        }
    }

    fn judge_alias(&mut self, lease: &Lease, rank: u64) {
        if let Some(undecided) = &mut self.undecided {
            undecided.push(lease.clone());
            return;
        }
        if self.tests.contains(&lease.page) {
            self.say(&format!("alias {} is tested", lease.page.0));
            return self.frontier.spare(lease, self.now);
        }
        self.say(&format!("alias {}", lease.page.0));
        self.frontier.withhold(lease.host, self.now);
        self.finished.push((lease.host, rank, lease.page));
    }

    fn say(&mut self, what: &str) {
        let _ = writeln!(self.log, "{}.{:03} {what}", self.now.0 / 1_000, self.now.0 % 1_000);
    }
}
