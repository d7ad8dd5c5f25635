//! Who is next?
//!
//! [`Frontier::next`] is the core: bring hosts into memory, take the first that is due, and grant
//! what its state calls for: a DNS look-up, its robots.txt, a page, or the dismissal of a page that
//! may not be fetched.

use crate::alias::AliasGate;
use crate::intake::Intake;
use crate::leases::OwnHosts;
use crate::reads::{Reads, StoreRead};
use crate::robots::RulesCache;
use crate::site::{RobotsState, WorkbenchHost};
use crate::traps::{Target, TrapLimits, Traps, path_and_query};
use crate::warmth::Warmth;
use crate::withdraw::ScopeBar;
use crate::workbench::{GateKey, Workbench};
use crate::{FrontierConfig, Novelty, Order, robots};
use hashbrown::{HashMap, HashSet};
use orb_page::{Failure, HostId, Lease, Moment, PageId, PageKind, Purpose, SkipReason};
use orb_store::{DroppedPage, QueuePlace, Queued, RobotsRecord};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Fetch this; the rank is its position in its host's queue (0 for a robots.txt).
    Lease(Lease, u64),
    /// Read this from the store, on a thread that may block, and report to [`Frontier::answered`].
    Read(StoreRead),
    /// Resolve a name and report to [`Frontier::resolved`].
    Resolve {
        /// The host to report about.
        host: HostId,
        /// The name to resolve.
        name: String,
        /// The port that will be contacted.
        port: u16,
    },
    /// Record that this queued page will not be fetched.
    Drop(DroppedPage),
    /// This queued page seems to be another address of a known one. Record it as such
    /// ([`Frontier::withhold`]), or report that it must be fetched ([`Frontier::spare`]). Not a
    /// permission to fetch.
    Alias(Lease, u64),
    /// Record this as failed without a request, because its host is unreachable. Not a permission
    /// to fetch.
    Fail(Lease, u64, Failure),
    /// Nothing before this moment, unless something in flight finishes.
    Wait(Moment),
    /// Nothing before something in flight finishes.
    Busy,
    /// Nothing before finished pages are committed.
    Starved,
    /// Nothing any more. Pages of unreachable hosts may remain in the queues.
    Finished,
    /// The budget allows no further page.
    BudgetSpent,
}

/// A page granted and not yet committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    pub(crate) rank: u64,
    pub(crate) grant: u64,
    pub(crate) host: HostId,
    pub(crate) busy: bool,
    /// Whether it counts towards the budget.
    pub(crate) granted: bool,
}

/// Turns queued pages into leases, one host at a time, no sooner than politeness allows.
#[derive(Debug)]
pub struct Frontier {
    pub(crate) config: FrontierConfig,
    pub(crate) bench: Workbench,
    pub(crate) sites: HashMap<HostId, Box<WorkbenchHost>>,
    pub(crate) intake: Intake,
    pub(crate) shelf: RulesCache,
    pub(crate) reads: Reads,
    pub(crate) warmth: Warmth,
    pub(crate) traps: Traps,
    pub(crate) aliases: AliasGate,
    pub(crate) barred: ScopeBar,
    /// Pages granted or dropped that are still in their queues.
    pub(crate) out: HashMap<PageId, Out>,
    /// Failed attempts of pages that will be retried.
    pub(crate) attempts: HashMap<PageId, u32>,
    /// Pages that are fetched a second time before they are recorded.
    pub(crate) second: HashSet<PageId>,
    /// How often a page was redirected to another spelling of its URL.
    pub(crate) respelt: HashMap<PageId, u8>,
    pub(crate) in_flight: usize,
    pub(crate) resolving: usize,
    pub(crate) asked: usize,
    /// Approximate memory of the queued pages held by sites, in bytes.
    pub(crate) held: usize,
    pub(crate) spent: u64,
    pub(crate) grants: u64,
    pub(crate) resumed_at: Option<Moment>,
    pub(crate) own: OwnHosts,
    /// Pages granted and not yet committed of hosts that are not ours any more.
    pub(crate) leaving: HashSet<PageId>,
}

impl Frontier {
    /// A frontier with nothing in flight. If it continues an earlier one (`resumed`), every host
    /// and address counts as just contacted.
    pub fn new(config: FrontierConfig, now: Moment, resumed: bool) -> Self {
        Self {
            bench: Workbench::leasing(config.leased),
            sites: HashMap::new(),
            intake: Intake::new(config.workbench),
            shelf: RulesCache::new(config.robots_memory),
            reads: Reads::default(),
            warmth: Warmth::default(),
            traps: Traps::new(trap_limits(&config)),
            aliases: AliasGate::default(),
            barred: ScopeBar::default(),
            out: HashMap::new(),
            attempts: HashMap::new(),
            second: HashSet::new(),
            respelt: HashMap::new(),
            in_flight: 0,
            resolving: 0,
            asked: 0,
            held: 0,
            spent: 0,
            grants: 0,
            resumed_at: resumed.then_some(now),
            own: OwnHosts::default(),
            leaving: HashSet::new(),
            config,
        }
    }

    /// What to do next. Call it repeatedly: one answer does not use up the others.
    pub fn next(&mut self, now: Moment) -> Next {
        if self.config.budget.pages.is_some_and(|most| self.spent >= most) {
            return if self.is_busy() { Next::Busy } else { Next::BudgetSpent };
        }
        if !self.bench.expire_leases(now) {
            // Until the store has heard of us again, the others may take us for dead.
            return Next::Busy;
        }
        self.cool(now);
        self.take_in(now);
        if let Some(read) = self.reads.hand_out() {
            return Next::Read(read);
        }
        while let Some(mut site) = self.bench.first_due(now).and_then(|id| self.sites.remove(&id)) {
            self.lift(&mut site);
            let step = if site.opens() > now { None } else { self.turn(&mut site, now) };
            self.put(site, now);
            if let Some(next) = step.or_else(|| self.reads.hand_out().map(Next::Read)) {
                return next;
            }
        }
        self.nothing_due(now)
    }

    /// Whether a newly discovered page, `depth` links from a seed, is to be fetched, as far as
    /// traps and known robots rules can tell; `asked` is the URL to request if it differs. Call it
    /// once per page.
    pub fn judge(
        &mut self,
        host: HostId,
        url: &str,
        asked: Option<&str>,
        depth: u32,
        now: Moment,
    ) -> Option<(PageKind, SkipReason)> {
        if let Some(trap) = self.traps.judge(Target::of(host, url), depth, now.civil().year) {
            return Some((PageKind::Outside, SkipReason::Trap(trap)));
        }
        if self.config.ignore_robots {
            return None;
        }
        let robots = self.shelf.get(host)?;
        (!allows(robots, url, asked)).then_some((PageKind::Disallowed, SkipReason::Robots))
    }

    /// Records what a fetched page was like: areas that only repeat themselves are traps.
    pub fn note_content(&mut self, host: HostId, url: &str, novelty: Novelty) {
        self.traps.note(Target::of(host, url), novelty);
    }

    /// The trap counters that changed since the last call, to be committed.
    pub fn trap_counts(&mut self) -> Vec<(u64, u32)> {
        self.traps.take_changed()
    }

    /// Restores committed trap counters.
    pub fn recall_traps(&mut self, counts: impl IntoIterator<Item = (u64, u32)>) {
        self.traps.recall(counts);
    }

    /// Pages were committed to a host's queue.
    pub fn admitted(&mut self, host: HostId, now: Moment) {
        let Some(mut site) = self.take_if(host, |_| true) else {
            self.intake.arrive(host);
            return;
        };
        site.fresh = true;
        self.put(site, now);
    }

    /// These pages, leased or dropped before, have left their queues.
    pub fn committed(&mut self, pages: &[PageId]) {
        for page in pages {
            self.out.remove(page);
            self.leaving.remove(page);
            self.attempts.remove(page);
            self.second.remove(page);
            self.respelt.remove(page);
            self.aliases.forget(*page);
        }
        self.reads.note_left(pages);
    }

    /// Number of pages granted, without those to be retried.
    pub fn granted(&self) -> u64 {
        self.spent
    }

    /// How many of these pages, not yet committed, count towards the budget.
    pub fn granted_of(&self, pages: &[PageId]) -> u64 {
        pages.iter().filter(|page| self.out.get(*page).is_some_and(|out| out.granted)).count() as u64
    }

    /// What a host's state calls for, now that it is due. `None` if it has no page left, or none
    /// before the store has answered.
    fn turn(&mut self, site: &mut WorkbenchHost, now: Moment) -> Option<Next> {
        if !self.refill(site) {
            return None;
        }
        self.try_elsewhere(site);
        if site.dead.take_if(|dead| dead.until <= now).is_some() {
            site.lookups = 0;
            return None;
        }
        if let Some(dead) = &site.dead {
            let failure = dead.failure.clone();
            return self.fail_first(site, failure);
        }
        if site.queue.front().is_some_and(|page| self.barred.stops(page)) {
            return self.drop_first(site, PageKind::Outside, SkipReason::Rule);
        }
        if site.manners.robots && !self.config.ignore_robots {
            match self.has_rules(site, now) {
                Some(true) => {}
                Some(false) => return self.ask_robots(site, now),
                None => return None,
            }
            let robots = site.at_hand.as_ref().or_else(|| self.shelf.get(site.id));
            let first = site.queue.front();
            if robots.zip(first).is_none_or(|(robots, page)| !allows(robots, &page.url, page.asked.as_deref())) {
                return self.drop_first(site, PageKind::Disallowed, SkipReason::Robots);
            }
        }
        // A page that is revisited was not a trap when it was found.
        let first = site.queue.front().filter(|p| p.before.is_none());
        if let Some(trap) = first.and_then(|p| self.traps.spent(Target::of(site.id, &p.url))) {
            return self.drop_first(site, PageKind::Outside, SkipReason::Trap(trap));
        }
        self.alias_first(site).or_else(|| self.lease_first(site, now))
    }

    /// If a host that has responded before now fails, it may do so on one kind of page only. The
    /// next request is for a different page, wherever it is in the queue, so that a few hanging
    /// pages do not cost all the others.
    fn try_elsewhere(&self, site: &mut WorkbenchHost) {
        if site.stuck && site.queue.len() > 1 {
            let at = xxh3_64(&self.grants.to_le_bytes()) % site.queue.len() as u64;
            if let Some(page) = usize::try_from(at).ok().and_then(|at| site.queue.remove(at)) {
                site.queue.push_front(page);
            }
        }
    }

    /// Whether the host's rules are in memory and fresh; `None` if they were evicted and are being
    /// read from the store.
    fn has_rules(&mut self, site: &mut WorkbenchHost, now: Moment) -> Option<bool> {
        let RobotsState::Read { until } = site.rules else { return Some(false) };
        if now >= until {
            site.rules = RobotsState::Unread { tries: 0 };
            return Some(false);
        }
        if site.at_hand.is_none() && self.shelf.get(site.id).is_none() {
            site.loading = true;
            self.reads.want(StoreRead::Load(site.id));
            return None;
        }
        Some(true)
    }

    /// The store returned the robots.txt of a host whose rules were evicted.
    pub(crate) fn recall_rules(&mut self, mut site: Box<WorkbenchHost>, robots: Option<RobotsRecord>, now: Moment) {
        site.loading = false;
        match robots.filter(robots::is_conclusive) {
            // The cache may have no room for them when the host is due, so the host keeps them
            // until then.
            Some(record) => {
                site.at_hand = Some(self.shelf.put(site.id, robots::Robots::of(&record, &self.config.agent)));
            }
            None => site.rules = RobotsState::Unread { tries: 0 },
        }
        self.put(site, now);
    }

    fn ask_robots(&mut self, site: &mut WorkbenchHost, now: Moment) -> Option<Next> {
        let RobotsState::Unread { tries } = site.rules else { return None };
        if let Some(look_up) = self.look_up_first(site, now) {
            return Some(look_up);
        }
        site.rules = RobotsState::Asked { tries };
        self.asked += 1;
        self.grant(site, now);
        site.robots_grant = self.grants;
        let url = site.detour.as_ref().map_or_else(|| site.robots_url(), |d| d.url.clone());
        let lease = Lease {
            page: PageId(0),
            host: site.id,
            url,
            asked: None,
            before: None,
            again: false,
            step: None,
            referrer: None,
            depth: 0,
            redirects: site.detour.as_ref().map_or(0, |d| d.hops),
            attempt: tries,
            purpose: Purpose::Robots,
            addr: site.next_address(now),
        };
        Some(Next::Lease(lease, 0))
    }

    fn lease_first(&mut self, site: &mut WorkbenchHost, now: Moment) -> Option<Next> {
        if let Some(look_up) = self.look_up_first(site, now) {
            return Some(look_up);
        }
        let Queued { page, rank, url, asked, depth, redirects, step, before } = self.pop(site)?;
        self.read_ahead(site);
        self.grant(site, now);
        self.spent += 1;
        self.out.insert(page, Out { rank, grant: self.grants, host: site.id, busy: true, granted: true });
        let lease = Lease {
            page,
            host: site.id,
            url,
            asked,
            before,
            again: self.second.contains(&page),
            step,
            referrer: None,
            depth,
            redirects,
            attempt: self.attempts.get(&page).copied().unwrap_or(0),
            purpose: Purpose::Page,
            addr: site.next_address(now),
        };
        Some(Next::Lease(lease, rank))
    }

    fn drop_first(&mut self, site: &mut WorkbenchHost, kind: PageKind, why: SkipReason) -> Option<Next> {
        let Queued { page, rank, .. } = self.pop(site)?;
        self.let_go(site.id, page, rank);
        Some(Next::Drop(DroppedPage { place: QueuePlace { host: site.id, rank, page }, kind, why }))
    }

    fn fail_first(&mut self, site: &mut WorkbenchHost, failure: Failure) -> Option<Next> {
        let (lease, rank) = self.take_first(site)?;
        Some(Next::Fail(lease, rank, failure))
    }

    /// Takes a host's first page out of its queue without granting a request.
    pub(crate) fn take_first(&mut self, site: &mut WorkbenchHost) -> Option<(Lease, u64)> {
        let Queued { page, rank, url, asked, depth, redirects, step, before } = self.pop(site)?;
        let attempt = self.attempts.get(&page).copied().unwrap_or(0);
        self.let_go(site.id, page, rank);
        let lease = Lease {
            page,
            host: site.id,
            url,
            asked,
            before,
            again: false,
            step,
            referrer: None,
            depth,
            redirects,
            attempt,
            purpose: Purpose::Page,
            addr: None,
        };
        Some((lease, rank))
    }

    /// A page leaves its host's queue without a request.
    fn let_go(&mut self, host: HostId, page: PageId, rank: u64) {
        self.out.insert(page, Out { rank, grant: self.grants, host, busy: false, granted: false });
        self.attempts.remove(&page);
    }

    /// Requests a DNS look-up for the next request's host, if needed.
    fn look_up_first(&mut self, site: &mut WorkbenchHost, now: Moment) -> Option<Next> {
        let addressed = self.config.behind_proxy || !site.manners.resolve;
        if addressed || site.next_address(now).is_some() {
            return None;
        }
        site.resolving = true;
        self.resolving += 1;
        let (name, port) = match &site.detour {
            Some(detour) => (detour.name.clone(), detour.port),
            None => (site.name.to_string(), site.port),
        };
        Some(Next::Resolve { host: site.id, name, port })
    }

    fn grant(&mut self, site: &mut WorkbenchHost, now: Moment) {
        self.grants += 1;
        self.in_flight += 1;
        self.takes_off(site, now);
        let key = self.key(site, now);
        if !matches!(key, GateKey::Host(_)) {
            self.bench.hold(key, self.floor());
            site.held = Some(key);
        }
    }

    /// The gate key that the host shares with others, for its next request.
    pub(crate) fn key(&self, site: &WorkbenchHost, now: Moment) -> GateKey {
        let name = || site.detour.as_ref().map_or(&*site.name, |d| &*d.name);
        if self.config.politeness.delay.is_zero() || site.dead.is_some() {
            GateKey::Host(site.id)
        } else if self.config.behind_proxy {
            GateKey::Name(xxh3_64(name().as_bytes()))
        } else {
            site.next_address(now).map_or(GateKey::Host(site.id), GateKey::Address)
        }
    }

    /// When the gate opens of a group that was not contacted since start-up.
    pub(crate) fn floor(&self) -> Moment {
        self.resumed_at.map_or(Moment(i64::MIN), |at| at.plus(self.config.politeness.delay))
    }

    /// The minimum delay between two requests to a host.
    pub(crate) fn pause(&self, site: &WorkbenchHost) -> Duration {
        if site.manners.is_local() {
            return Duration::ZERO;
        }
        self.config.politeness.pause(site.crawl_delay)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight + self.resolving + self.asked + self.reads.out() > 0
    }

    fn nothing_due(&self, now: Moment) -> Next {
        let next = [self.bench.next_due(), self.intake.next_wake(&self.sites, now)].into_iter().flatten().min();
        match next {
            Some(at) => Next::Wait(Moment(at.0.max(now.0.saturating_add(1)))),
            None if self.is_busy() || self.bench.lacks_leases() => Next::Busy,
            None if !self.out.is_empty() => Next::Starved,
            None => Next::Finished,
        }
    }
}

/// Whether robots.txt allows both the page's own URL, which its author had in mind, and the one
/// requested.
fn allows(robots: &robots::Robots, url: &str, asked: Option<&str>) -> bool {
    robots.is_allowed(path_and_query(url)) && asked.is_none_or(|asked| robots.is_allowed(path_and_query(asked)))
}

/// The trap limits. In depth-first order, a page may be any number of links from its seed.
fn trap_limits(config: &FrontierConfig) -> TrapLimits {
    let chain = if config.order == Order::Dfs { u32::MAX } else { config.traps.chain };
    TrapLimits { chain, ..config.traps.clone() }
}
