//! Which hosts are in memory?
//!
//! A bounded number of hosts is on the workbench, each with a short prefix of its queue. Hosts come
//! in when their first pages are committed, or are found by a scan over the store's queues if there
//! was no room to remember them; they are evicted when they have nothing left to do. A host that
//! must wait for long is parked: remembered without its queue. A host that is excluded for the rest
//! of the run costs one bit.

use crate::frontier::Frontier;
use crate::reads::{HostScan, Refill, StoreAnswer, StoreRead};
use crate::recent::Recent;
use crate::robots::{self, Robots};
use crate::site::WorkbenchHost;
use crate::workbench::GateKey;
use crate::{Order, Why};
use hashbrown::{HashMap, HashSet};
use orb_page::{HostId, IdSet, Moment};
use orb_store::{HostRecord, Queued};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// A host that must wait for longer is parked.
const PARK_AFTER: Duration = Duration::from_secs(61);

/// Maximum time a host is parked because many others share its address.
const MAX_CROWD_WAIT: Duration = Duration::from_secs(600);

/// Hosts per read of the scan.
const STEPS: usize = 64;

/// Approximate memory for queued pages in bytes, not counting one page per host.
const QUEUE_MEMORY: usize = 32 << 20;

/// Memory of a queued page besides its URL.
pub(crate) const PAGE_HEAP_BYTES: usize = size_of::<Queued>() + 16;

/// The hosts that are not on the workbench, as far as they must be remembered.
#[derive(Debug)]
pub(crate) struct Intake {
    capacity: usize,
    arrivals: VecDeque<HostId>,
    arrived: HashSet<HostId>,
    /// New hosts that are being read from the store; their room is reserved.
    loading: HashSet<HostId>,
    /// Position of the scan over the queues; `None` when it has finished.
    walk: Option<HostId>,
    /// Whether the scan is waiting for the store.
    walking: bool,
    /// Whether hosts were turned away since the scan began.
    again: bool,
    pub(crate) parked: HashMap<HostId, Box<WorkbenchHost>>,
    wakes: BTreeSet<(Moment, HostId)>,
    /// Hosts on the workbench with nothing to do, by the moment they may be evicted.
    idle: BTreeSet<(Moment, HostId)>,
    pub(crate) gone: Gone,
}

impl Intake {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            arrivals: VecDeque::new(),
            arrived: HashSet::new(),
            loading: HashSet::new(),
            walk: Some(HostId(0)),
            walking: false,
            again: false,
            parked: HashMap::new(),
            wakes: BTreeSet::new(),
            idle: BTreeSet::new(),
            gone: Gone::new(),
        }
    }

    /// A host that is not on the workbench has pages.
    pub(crate) fn arrive(&mut self, host: HostId) {
        let coming = self.arrived.contains(&host) || self.loading.contains(&host);
        if coming || self.gone.contains(host) || self.parked.contains_key(&host) {
            return;
        }
        if self.arrivals.len() < self.capacity * 4 {
            self.arrivals.push_back(host);
            self.arrived.insert(host);
        } else if self.walk.is_none() {
            self.walk = Some(HostId(0));
        } else {
            self.again = true;
        }
    }

    /// When something may happen here by time alone.
    pub(crate) fn next_wake(&self, sites: &HashMap<HostId, Box<WorkbenchHost>>, now: Moment) -> Option<Moment> {
        let full = sites.len() + self.loading.len() >= self.capacity;
        // What is being read arrives with its answer.
        let asked = self.walking || !self.loading.is_empty();
        let room = self.idle.first().map(|(at, _)| *at);
        let wanted = !self.arrivals.is_empty() || self.walk.is_some();
        let parked = self.wakes.first().map(|(at, _)| *at).filter(|at| !full || *at > now);
        let woken = self.wakes.first().is_some_and(|(at, _)| *at <= now);
        let entry = match (wanted || woken, full) {
            (true, false) => (!asked).then_some(now),
            (true, true) => room,
            (false, _) => None,
        };
        [parked, entry].into_iter().flatten().min()
    }

    /// The parked host that returns first: when, and why it is parked.
    pub(crate) fn first_parked(&self) -> Option<(Moment, Why)> {
        let &(until, host) = self.wakes.first()?;
        self.parked.get(&host).map(|site| (until, if site.gate < until { Why::Address } else { site.cause }))
    }

    /// Forgets a parked host.
    pub(crate) fn unpark(&mut self, host: HostId) {
        self.parked.remove(&host);
        self.wakes.retain(|(_, parked)| *parked != host);
    }

    /// Scans the queues once more.
    pub(crate) fn scan_again(&mut self) {
        match self.walk {
            None => self.walk = Some(HostId(0)),
            Some(_) => self.again = true,
        }
    }

    fn park(&mut self, site: Box<WorkbenchHost>, until: Moment) {
        self.wakes.insert((until, site.id));
        self.parked.insert(site.id, site);
    }
}

impl Frontier {
    /// Fills the workbench: hosts whose parking is over, then new hosts, then what the scan finds.
    pub(crate) fn take_in(&mut self, now: Moment) {
        while let Some(&(_, host)) = self.intake.wakes.first().filter(|(at, _)| *at <= now)
            && self.has_room(now)
        {
            self.intake.wakes.pop_first();
            if let Some(site) = self.intake.parked.remove(&host) {
                self.put_on_bench(site, now);
            }
        }
        while let Some(&host) = self.intake.arrivals.front()
            && self.has_room(now)
        {
            self.intake.arrivals.pop_front();
            self.intake.arrived.remove(&host);
            if !self.is_placed(host) && self.intake.loading.insert(host) {
                self.reads.want(StoreRead::Load(host));
            }
        }
        if let Some(after) = self.intake.walk.filter(|_| !self.intake.walking)
            && self.has_room(now)
        {
            let room = self.intake.capacity.saturating_sub(self.sites.len() + self.intake.loading.len());
            self.intake.walking = true;
            self.reads.want(StoreRead::Walk(HostScan { after, limit: room.clamp(1, STEPS) }));
        }
    }

    /// The store has answered a read.
    pub fn answered(&mut self, answer: StoreAnswer, now: Moment) {
        self.reads.answered();
        match answer {
            StoreAnswer::Refilled(refill, pages) => {
                self.refilled(&refill, pages, now);
                self.reads.close(refill.ticket);
            }
            StoreAnswer::Loaded(host, record) => self.loaded(host, record, now),
            StoreAnswer::Walked(hosts, reached) => self.walked(hosts, reached, now),
        }
    }

    fn loaded(&mut self, host: HostId, record: Option<HostRecord>, now: Moment) {
        let arrives = self.intake.loading.remove(&host);
        if let Some(site) = self.take_if(host, |site| site.loading) {
            self.recall_rules(site, record.and_then(|record| record.robots), now);
        } else if let Some(record) = record.filter(|_| arrives) {
            self.bring_in(record, now);
        }
    }

    fn walked(&mut self, hosts: Vec<HostRecord>, reached: Option<HostId>, now: Moment) {
        self.intake.walking = false;
        for record in hosts {
            if !self.has_room(now) {
                // The scan continues from the last one that was brought in.
                return;
            }
            self.intake.walk = Some(record.id);
            if !self.intake.loading.contains(&record.id) {
                self.bring_in(record, now);
            }
        }
        self.intake.walk = reached.or_else(|| std::mem::take(&mut self.intake.again).then_some(HostId(0)));
    }

    /// Whether a host is already tracked, even if off the workbench.
    fn is_placed(&self, host: HostId) -> bool {
        self.sites.contains_key(&host) || self.intake.parked.contains_key(&host) || self.intake.gone.contains(host)
    }

    /// Whether there is room for a host, after evicting an idle one if need be.
    fn has_room(&mut self, now: Moment) -> bool {
        if self.sites.len() + self.intake.loading.len() < self.intake.capacity {
            return true;
        }
        let Some(&(_, host)) = self.intake.idle.first().filter(|(at, _)| *at <= now) else { return false };
        self.intake.idle.pop_first();
        if let Some(mut site) = self.sites.remove(&host) {
            self.forget_connections(&mut site);
        }
        true
    }

    /// Brings in a host from its record.
    fn bring_in(&mut self, record: HostRecord, now: Moment) {
        let host = record.id;
        if self.is_placed(host) || !self.is_own(&record.name) {
            return;
        }
        if let Some(read) = record.robots.as_ref().filter(|r| !self.config.ignore_robots && robots::is_conclusive(r)) {
            self.shelf.put(host, Robots::of(read, &self.config.agent));
        }
        let mut site = Box::new(WorkbenchHost::new(record, &self.config, now));
        if let Some(at) = self.resumed_at {
            site.last_sent = at;
            site.pause(&self.config.politeness);
        }
        if site.gate > now.plus(self.config.politeness.max_wait) {
            site.gone = Some(Why::LongWait);
        }
        self.put(site, now);
    }

    /// Takes a host off the workbench, to be put back where it then belongs.
    pub(crate) fn lift(&mut self, site: &mut WorkbenchHost) {
        if let Some(place) = site.place.take() {
            self.bench.lift(place, site.id);
        }
        if let Some(at) = site.idle.take() {
            self.intake.idle.remove(&(at, site.id));
        }
    }

    /// Takes a host off the workbench if it is in a certain state.
    pub(crate) fn take_if(
        &mut self,
        host: HostId,
        state: impl Fn(&WorkbenchHost) -> bool,
    ) -> Option<Box<WorkbenchHost>> {
        self.sites.get(&host).filter(|s| state(s))?;
        let mut site = self.sites.remove(&host)?;
        self.lift(&mut site);
        Some(site)
    }

    /// Puts a host where its state belongs: among those that wait for a time, for an event, or for
    /// work; or out of memory.
    pub(crate) fn put(&mut self, mut site: Box<WorkbenchHost>, now: Moment) {
        if !self.is_own(&site.name) {
            return self.put_away(site);
        }
        if site.in_flight() == 0 && !site.is_waited_for() {
            if let Some(why) = site.gone {
                self.forget_connections(&mut site);
                self.clear(&mut site);
                self.intake.gone.insert(site.id, why, &site.name);
                return;
            }
            let crowd = self.crowd_wait(&site, now);
            let until = if site.has_work() { site.opens().max(crowd) } else { Moment(i64::MIN) };
            if until > now.plus(PARK_AFTER) && self.intake.parked.len() < self.intake.capacity * 4 {
                self.clear(&mut site);
                self.forget_connections(&mut site);
                self.intake.park(site, until);
                return;
            }
        }
        self.put_on_bench(site, now);
    }

    /// Keeps a host that is not ours any more only until what is under way has ended.
    fn put_away(&mut self, mut site: Box<WorkbenchHost>) {
        self.clear(&mut site);
        if site.in_flight() > 0 || site.is_waited_for() {
            self.sites.insert(site.id, site);
        } else {
            self.forget_connections(&mut site);
        }
    }

    fn put_on_bench(&mut self, mut site: Box<WorkbenchHost>, now: Moment) {
        let at_once = self.config.politeness.at_once(self.pause(&site));
        let ready = !site.is_waited_for() && site.in_flight() < at_once && site.gone.is_none();
        if ready && site.has_work() {
            let (key, at) = (self.key(&site, now), site.opens().max(now));
            site.place = Some(self.bench.place(key, (site.id, site.standing()), at, self.floor()));
        } else if ready && site.in_flight() == 0 && !self.aliases.is_asking(site.id) {
            site.idle = Some(site.gate);
            self.intake.idle.insert((site.gate, site.id));
        }
        self.sites.insert(site.id, site);
    }

    /// When a host would get its turn on an address that a large part of the workbench is already
    /// waiting for.
    fn crowd_wait(&self, site: &WorkbenchHost, now: Moment) -> Moment {
        let key = self.key(site, now);
        let crowd = if matches!(key, GateKey::Host(_)) { 0 } else { self.bench.crowd(key) };
        if crowd < 16.max(self.intake.capacity / 8) {
            return Moment(i64::MIN);
        }
        let wait = self.config.politeness.delay.saturating_mul(u32::try_from(crowd).unwrap_or(u32::MAX));
        now.plus(wait.min(MAX_CROWD_WAIT))
    }

    /// Whether the host's first page is in memory; if it has one that is not, a refill is
    /// requested.
    pub(crate) fn refill(&mut self, site: &mut WorkbenchHost) -> bool {
        // In any other order a new page may precede those in memory: read from the front again.
        if site.fresh && self.config.order != Order::Bfs {
            self.clear(site);
            site.fresh = false;
        }
        if site.queue.is_empty() && site.reading.is_none() {
            if !site.more && std::mem::take(&mut site.fresh) {
                self.clear(site);
            }
            if site.more {
                self.read_on(site);
            }
        }
        !site.queue.is_empty()
    }

    /// Requests the next part of a host's queue while the last pages of this one are being granted
    /// (prefetch), so that no host waits for the store.
    pub(crate) fn read_ahead(&mut self, site: &mut WorkbenchHost) {
        if site.more && site.reading.is_none() && site.queue.len() < self.piece() / 4 {
            self.read_on(site);
        }
    }

    /// Requests the next part of a host's queue.
    fn read_on(&mut self, site: &mut WorkbenchHost) {
        // A page that was put back may lie beyond the cursor if the queue is read from its front
        // again.
        site.returned &= !site.queue.is_empty();
        site.reading = Some(self.reads.refill(site.id, site.cursor, self.piece()));
    }

    /// Bytes currently available for one host's pages.
    fn share(&self) -> usize {
        QUEUE_MEMORY.saturating_sub(self.held) / 16
    }

    /// Current number of pages per refill.
    fn piece(&self) -> usize {
        let most = self.config.refill.max(1);
        (self.share() / (2 * PAGE_HEAP_BYTES)).clamp(most.min(8), most)
    }

    /// Takes the next part of a host's queue, without pages already granted.
    fn refilled(&mut self, refill: &Refill, pages: Vec<Queued>, now: Moment) {
        let ticket = refill.ticket;
        // If the host was evicted or its queue is to be read from the front again, nobody waits for
        // this part.
        let Some(mut site) = self.take_if(refill.host, |site| site.reading == Some(ticket)) else { return };
        site.reading = None;
        site.more = pages.len() >= refill.limit;
        let (share, mut heap_bytes) = (self.share(), 0);
        for page in pages {
            if heap_bytes > share {
                site.more = true;
                break;
            }
            site.cursor = Some((page.rank, page.page));
            let back = site.returned && site.queue.iter().any(|queued| queued.page == page.page);
            if !(back || self.out.contains_key(&page.page) || self.reads.has_left(page.page, ticket)) {
                heap_bytes += PAGE_HEAP_BYTES + page.url.len();
                site.queue.push_back(page);
            }
        }
        self.held += heap_bytes;
        self.put(site, now);
    }

    pub(crate) fn pop(&mut self, site: &mut WorkbenchHost) -> Option<Queued> {
        let page = site.queue.pop_front()?;
        site.at_hand = None;
        self.held = self.held.saturating_sub(PAGE_HEAP_BYTES + page.url.len());
        Some(page)
    }

    /// Puts a page back where it was.
    pub(crate) fn put_back(&mut self, site: &mut WorkbenchHost, page: Queued) {
        self.held += PAGE_HEAP_BYTES + page.url.len();
        site.returned = true;
        let place = site.queue.partition_point(|p| (p.rank, p.page) < (page.rank, page.page));
        site.queue.insert(place, page);
    }

    /// Drops the queue prefix, to be read again from its front.
    fn clear(&mut self, site: &mut WorkbenchHost) {
        while self.pop(site).is_some() {}
        site.queue = VecDeque::new();
        (site.cursor, site.more, site.reading) = (None, true, None);
    }
}

/// Hosts excluded for the rest of the run: one bit each, and the reason for the most recent ones.
#[derive(Debug)]
pub(crate) struct Gone {
    hosts: IdSet,
    reasons: Recent<HostId, (Why, Box<str>)>,
    /// For each reason, the number of hosts and an example.
    pub(crate) tally: Vec<(Why, usize, Box<str>)>,
}

impl Gone {
    fn new() -> Self {
        Self { hosts: IdSet::default(), reasons: Recent::new(4_096), tally: Vec::new() }
    }

    fn contains(&self, host: HostId) -> bool {
        self.hosts.contains(host.0.into())
    }

    fn insert(&mut self, host: HostId, why: Why, name: &str) {
        self.hosts.insert(host.0.into());
        self.reasons.insert(host, (why, name.into()), 1);
        match self.tally.iter_mut().find(|(w, ..)| *w == why) {
            Some((_, count, _)) => *count += 1,
            None => self.tally.push((why, 1, name.into())),
        }
    }

    /// Why a host is excluded, if that is still remembered.
    pub(crate) fn reason(&self, host: HostId) -> Option<Why> {
        self.contains(host).then(|| self.reasons.peek(&host).map_or(Why::Silent, |(why, _)| *why))
    }
}
