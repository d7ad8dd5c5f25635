//! Do the invariants hold whatever happens?
//!
//! A crawler that responds, fails, commits, discovers, stalls and crashes as a list of random
//! choices says, and a judge that watches every request. Once the choices run out, everything
//! succeeds, so every crawl ends.

use super::aliases::mirrors;
use super::memory::Memory;
use crate::{After, BelievedAliases, Budget, FetchEnd, Frontier, FrontierConfig, Next, Order, Politeness, StoreAnswer};
use orb_page::{Failure, FailureKind, HostId, Lease, Moment, PageId, Purpose, SkipReason};
use orb_store::{DroppedPage, HostFact, QueuePlace, RobotsRecord};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

const HOSTS: u32 = 12;
const ROBOTS: &str = "user-agent: *\ndisallow: /no\n";
const SLOW_ROBOTS: &str = "user-agent: *\ndisallow: /no\ncrawl-delay: 4\n";

struct Judge {
    delay: i64,
    budget: u64,
    last: BTreeMap<String, i64>,
    out: BTreeSet<PageId>,
    read: BTreeSet<HostId>,
    /// Hosts known to have a Crawl-delay.
    slow: BTreeSet<HostId>,
    granted: u64,
}

impl Judge {
    fn granted(&mut self, lease: &Lease) {
        if lease.purpose == Purpose::Robots {
            self.read.insert(lease.host);
            return;
        }
        assert!(self.out.insert(lease.page), "{lease:?} is granted once");
        assert!(self.read.contains(&lease.host), "{lease:?} comes after its robots.txt");
        assert!(!lease.url.contains("/no"), "{lease:?} is disallowed");
        self.granted += 1;
        assert!(self.granted <= self.budget, "{lease:?} is beyond the budget");
    }

    fn sent(&mut self, lease: &Lease, now: Moment) {
        for whom in [format!("{:?}", lease.host), format!("{:?}", lease.addr.unwrap())] {
            if let Some(last) = self.last.insert(whom.clone(), now.0) {
                let slow = whom.starts_with("Host") && self.slow.contains(&lease.host);
                let delay = if slow { self.delay.max(4_000) } else { self.delay };
                assert!(now.0 - last >= delay, "{whom} is asked {} ms after the last time", now.0 - last);
            }
        }
    }
}

struct Crawl {
    choices: Vec<u8>,
    memory: Memory,
    config: FrontierConfig,
    frontier: Frontier,
    judge: Judge,
    now: Moment,
    flights: Vec<(Lease, u64, bool)>,
    /// What seems to be aliases, for the recorder.
    aliases: Vec<(Lease, u64)>,
    /// Answers of the store that the frontier has not received yet.
    reads: Vec<StoreAnswer>,
    finished: Vec<(HostId, u64, PageId)>,
    facts: Vec<HostFact>,
    pages: u64,
}

impl Crawl {
    fn choose(&mut self, among: u64) -> u64 {
        self.choices.pop().map_or(0, |c| u64::from(c) % among)
    }

    /// Pages are committed together with, or after, everything learnt before them.
    fn discover(&mut self) {
        self.learn();
        let (host, kind) = (self.choose(u64::from(HOSTS)) as u32 + 1, self.choose(4));
        self.pages += 1;
        let rank = self.choose(50);
        let path = ["yes", "yes", "mirror/yes", "no"][kind as usize];
        self.memory.admit(host, self.pages, rank, &format!("/{path}/{}", self.pages));
        self.frontier.admitted(HostId(host), self.now);
    }

    fn commit(&mut self) {
        let pages: Vec<PageId> = self.finished.iter().map(|f| f.2).collect();
        for (host, rank, page) in self.finished.drain(..) {
            self.memory.remove(host, rank, page);
        }
        self.learn();
        self.frontier.committed(&pages);
    }

    fn learn(&mut self) {
        for fact in self.facts.drain(..) {
            self.memory.learn(&fact);
        }
    }

    fn crash(&mut self) {
        self.flights.clear();
        self.aliases.clear();
        self.reads.clear();
        self.finished.clear();
        self.facts.clear();
        self.judge.out.clear();
        let told = self.memory.hosts.values().filter(|h| h.robots.as_ref().is_some_and(|r| r.crawl_delay.is_some()));
        self.judge.slow = told.map(|h| h.id).collect();
        let committed = self.judge.granted - self.frontier.granted();
        self.judge.granted = committed;
        self.config.budget.pages = Some(self.judge.budget - committed);
        self.frontier = Frontier::new(self.config.clone(), self.now, true);
        self.believe();
    }

    /// Every host is known to mirror its pages.
    fn believe(&mut self) {
        let aliases = BelievedAliases { rules: mirrors(), stand_ins: hashbrown::HashMap::new() };
        let aliases = Arc::new(aliases);
        (1..=HOSTS).for_each(|host| self.frontier.believe(HostId(host), Some(Arc::clone(&aliases))));
    }

    /// The recorder decides on an alias: it is withheld, or must be fetched.
    fn judge_alias(&mut self) {
        let at = self.choose(self.aliases.len() as u64) as usize;
        let (lease, rank) = self.aliases.swap_remove(at);
        if self.choose(3) == 0 {
            self.finished.push((lease.host, rank, lease.page));
            self.frontier.withhold(lease.host, self.now);
        } else {
            self.frontier.spare(&lease, self.now);
        }
    }

    /// Advances something in flight: it is sent, or it finishes.
    fn fly(&mut self) {
        let i = self.choose(self.flights.len() as u64) as usize;
        let outcome = self.choose(12);
        if !self.flights[i].2 && outcome != 11 {
            self.flights[i].2 = true;
            let lease = self.flights[i].0.clone();
            self.judge.sent(&lease, self.now);
            self.frontier.sent(lease.host, lease.addr, self.now);
            return;
        }
        let (lease, rank, sent) = self.flights.swap_remove(i);
        let result = match outcome {
            8 => Ok(503),
            9 => Ok(500),
            10 => Err(FailureKind::Timeout),
            11 if sent => Err(FailureKind::Protocol),
            11 => Err(FailureKind::Connect),
            _ => Ok(200),
        };
        let retry_after = (outcome == 8).then(|| Duration::from_secs(self.choose(200)));
        let ended = FetchEnd { status: result.ok(), failure: result.err(), retry_after, ..FetchEnd::default() };
        let (after, fact) = self.frontier.done(&lease, &ended, self.now);
        self.facts.extend(fact);
        if lease.purpose == Purpose::Robots {
            let slow = lease.host.0.is_multiple_of(3);
            if slow && result == Ok(200) {
                self.judge.slow.insert(lease.host);
            }
            let text = if slow { SLOW_ROBOTS } else { ROBOTS }.to_owned();
            let result = result.map(|status| RobotsRecord { at: self.now, status, text, crawl_delay: None });
            let result = result.map_err(|kind| Failure::new(kind, ""));
            self.facts.push(self.frontier.robots(lease.host, result, self.now));
        } else if after == After::Retry {
            self.judge.out.remove(&lease.page);
            self.judge.granted -= 1;
        } else {
            self.finished.push((lease.host, rank, lease.page));
        }
    }

    /// Passes one of the store's answers to the frontier.
    fn tell(&mut self) {
        let at = self.choose(self.reads.len() as u64) as usize;
        let answer = self.reads.swap_remove(at);
        self.frontier.answered(answer, self.now);
    }

    fn act(&mut self, next: Next) -> bool {
        match next {
            Next::Lease(lease, rank) => {
                self.judge.granted(&lease);
                self.flights.push((lease, rank, false));
            }
            // At once, or after whatever else happens meanwhile.
            Next::Read(read) => {
                self.reads.push(read.answer(&self.memory).unwrap());
                if self.choose(3) < 2 {
                    self.tell();
                }
            }
            Next::Resolve { host, .. } => {
                let address = IpAddr::V4(Ipv4Addr::new(10, 0, 0, host.0 as u8 % 3));
                let fails = self.choose(20) == 19;
                let result = if fails { Err(Failure::new(FailureKind::Dns, "")) } else { Ok(address) };
                self.frontier.resolved(host, result, self.now);
            }
            Next::Drop(DroppedPage { place: QueuePlace { host, rank, page }, why, .. }) => {
                let dropped = self.memory.pages().find(|(_, p)| p.page == page).unwrap().1;
                assert!(why != SkipReason::Robots || dropped.url.contains("/no"), "{dropped:?} is allowed");
                self.finished.push((host, rank, page));
            }
            Next::Alias(lease, rank) => {
                assert!(lease.url.contains("/mirror/"), "{lease:?} is no alias");
                self.aliases.push((lease, rank));
            }
            Next::Fail(lease, rank, _) => self.finished.push((lease.host, rank, lease.page)),
            Next::Wait(at) if self.flights.is_empty() && self.reads.is_empty() || self.choose(2) == 1 => {
                assert!(at > self.now);
                self.now = at;
            }
            Next::Wait(_) | Next::Busy
                if !self.reads.is_empty() && (self.flights.is_empty() || self.choose(2) == 0) =>
            {
                self.tell();
            }
            Next::Wait(_) | Next::Busy => {
                self.now = self.now.plus(Duration::from_millis(self.choose(1_500)));
                self.fly();
            }
            Next::Starved if !self.aliases.is_empty() => self.judge_alias(),
            Next::Starved => self.commit(),
            Next::Finished | Next::BudgetSpent => {
                assert!(self.flights.is_empty() && self.reads.is_empty());
                return false;
            }
        }
        true
    }

    fn run(&mut self) {
        for _ in 0..100_000 {
            match self.choose(24) {
                19 if !self.aliases.is_empty() => self.judge_alias(),
                20 => self.discover(),
                21 => self.commit(),
                22 if self.choose(4) == 3 => self.crash(),
                23 => self.now = self.now.plus(Duration::from_millis(self.choose(250) * 10)),
                _ => {}
            }
            let next = self.frontier.next(self.now);
            assert!(self.frontier.sites.len() <= self.config.workbench);
            if !self.act(next) && self.choices.is_empty() {
                self.commit();
                return;
            }
        }
        panic!("the crawl does not end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_sequence_of_events_breaks_a_promise(
        choices in prop::collection::vec(any::<u8>(), 0..600),
        delay in prop_oneof![Just(0u64), Just(1_000), Just(2_500)],
        workbench in 1usize..8,
        refill in 1usize..20,
        order in prop_oneof![Just(Order::Bfs), Just(Order::Dfs)],
        budget in prop_oneof![Just(1_000_000u64), Just(7)],
    ) {
        let politeness = Politeness { delay: Duration::from_millis(delay), ..Politeness::default() };
        let config = FrontierConfig {
            politeness,
            workbench,
            refill,
            order,
            budget: Budget { pages: Some(budget) },
            ..FrontierConfig::default()
        };
        let mut crawl = Crawl {
            memory: Memory::default(),
            frontier: Frontier::new(config.clone(), Moment(0), false),
            config,
            judge: Judge {
                delay: i64::try_from(delay).unwrap(),
                budget,
                last: BTreeMap::new(),
                out: BTreeSet::new(),
                read: BTreeSet::new(),
                slow: BTreeSet::new(),
                granted: 0,
            },
            now: Moment(0),
            flights: Vec::new(),
            aliases: Vec::new(),
            reads: Vec::new(),
            finished: Vec::new(),
            facts: Vec::new(),
            pages: 0,
            choices,
        };
        crawl.believe();
        for _ in 0..30 {
            crawl.discover();
        }
        crawl.run();
        for (host, page) in crawl.memory.pages() {
            let left_out = crawl.frontier.why(host, crawl.now).is_some_and(|why| {
                ["robots unreachable", "not answering", "wants a longer break than this run"].contains(&&*why)
            });
            prop_assert!(left_out || crawl.judge.granted == budget, "{page:?} is left in its queue");
        }
    }
}
