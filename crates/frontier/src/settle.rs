//! What came of it?
//!
//! The events that advance a host's state: its name was resolved, its request was sent or finished,
//! or its robots.txt was read. Each updates what is known about the host, and so when it may be
//! contacted again.

use crate::frontier::Frontier;
use crate::robots::{self, Robots};
use crate::site::{Dead, Detour, RobotsState, WorkbenchHost};
use crate::workbench::GateKey;
use crate::{FetchEnd, Why};
use orb_page::{Failure, FailureKind, HostId, Lease, Moment, PageId, Purpose};
use orb_store::{HostFact, Queued, RobotsRecord};
use std::net::IpAddr;
use std::time::Duration;

/// How long an address is used before its name is resolved again.
const ADDRESS_AGE: Duration = Duration::from_secs(600);

/// Minimum lifetime of a robots.txt, whatever the settings say: at least one page must be requested
/// between two fetches of it.
const LEAST_RULES_AGE: Duration = Duration::from_secs(1);

/// How long a stale robots.txt is used while a new one is unavailable (RFC 9309 section 2.4).
const OLD_RULES_AGE: Duration = Duration::from_secs(3_600);

/// Redirects in a row between spellings of one URL that are followed: to an id, to a newer one, and
/// back once the server sees its cookie.
const MAX_RESPELLINGS: u8 = 4;

/// What to do with the page of a finished lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Record the result.
    Record,
    /// Discard it: the page is still queued and will be retried.
    Retry,
}

impl Frontier {
    /// A name was resolved, or could not be. Returns what to store about the host, if the name is
    /// its own and not that of its robots.txt's redirect target.
    pub fn resolved(&mut self, host: HostId, result: Result<IpAddr, Failure>, now: Moment) -> Option<HostFact> {
        let mut site = self.take_if(host, |s| s.resolving)?;
        site.resolving = false;
        self.resolving -= 1;
        let own = result.as_ref().ok().filter(|_| site.detour.is_none());
        let fact = own.map(|ip| HostFact { id: host, ip: Some(*ip), ..HostFact::default() });
        match (result, site.detour.as_mut()) {
            (Ok(address), Some(detour)) => detour.address = Some(address),
            (Ok(address), None) => {
                site.address = Some((address, now.plus(ADDRESS_AGE)));
                site.lookups = 0;
            }
            (Err(failure), Some(_)) => {
                let tries = if let RobotsState::Unread { tries } = site.rules { tries } else { 0 };
                self.robots_failed(&mut site, tries, Some(&failure), now);
            }
            (Err(failure), None) => {
                site.lookups += 1;
                if site.lookups > self.config.retries.most || !failure.kind.is_passing() {
                    site.dead = Dead::of(&failure, now);
                } else {
                    self.back_off(&mut site, None, now);
                }
            }
        }
        self.put(site, now);
        fact
    }

    /// A request is on the wire, to this address if known: the delays of host and address count
    /// from here.
    pub fn sent(&mut self, host: HostId, address: Option<IpAddr>, now: Moment) {
        let delay = self.config.politeness.delay;
        let Some(site) = self.sites.get_mut(&host) else { return };
        site.last_sent = now;
        site.pause(&self.config.politeness);
        if delay.is_zero() {
            return;
        }
        let held = site.held.take();
        if let Some(key) = held {
            self.bench.release(key, now.plus(delay));
        }
        // A host with several addresses may have been contacted at another than the one held.
        if let Some(key) = address.map(GateKey::Address).filter(|key| !self.config.behind_proxy && held != Some(*key)) {
            self.bench.shut(key, now.plus(delay));
        }
    }

    /// A lease has finished. Returns what to do with its page, and what to store about its host.
    pub fn done(&mut self, lease: &Lease, ended: &FetchEnd, now: Moment) -> (After, Option<HostFact>) {
        let grant = match self.out.get_mut(&lease.page) {
            _ if lease.purpose == Purpose::Robots => None,
            Some(out) if out.busy => {
                out.busy = false;
                Some((out.grant, out.rank))
            }
            _ => return (After::Record, None),
        };
        let Some(mut site) = self.take_if(lease.host, |s| s.in_flight() > 0) else { return (After::Record, None) };
        self.in_flight -= 1;
        self.lands(&mut site, ended.connection, now);
        if let Some(key) = site.held.take() {
            // If nothing reached the server, the address may be contacted again at once.
            let touched = now.plus(self.config.politeness.delay);
            self.bench.release(key, if ended.touched() { touched } else { Moment(i64::MIN) });
        }
        if ended.unsent {
            self.take_back(&mut site, lease, grant.map(|(_, rank)| rank));
            self.put(site, now);
            return (After::Retry, None);
        }
        let number = grant.map_or(site.robots_grant, |(number, _)| number);
        let fact = self.heed(&mut site, ended, number, now);
        let after = match grant {
            Some((_, rank)) if ended.respelt && self.may_respell(lease.page) => {
                self.try_again(&mut site, lease, rank, lease.attempt);
                After::Retry
            }
            Some((_, rank)) if ended.is_worth_another(lease.attempt, &self.config.retries) => {
                self.try_again(&mut site, lease, rank, lease.attempt + 1);
                After::Retry
            }
            _ => {
                self.attempts.remove(&lease.page);
                After::Record
            }
        };
        self.put(site, now);
        (after, fact)
    }

    /// A robots.txt was read (any status), or could not be. Call it after [`Self::done`]; returns
    /// what to store about the host.
    pub fn robots(&mut self, host: HostId, result: Result<RobotsRecord, Failure>, now: Moment) -> HostFact {
        let mut fact = HostFact { id: host, ..HostFact::default() };
        let Some(mut site) = self.take_if(host, |s| matches!(s.rules, RobotsState::Asked { .. })) else { return fact };
        let RobotsState::Asked { tries } = site.rules else { return fact };
        self.asked -= 1;
        match result {
            Ok(mut record) if robots::is_conclusive(&record) => {
                let robots = Robots::of(&record, &self.config.agent);
                site.crawl_delay = robots.crawl_delay();
                site.pause(&self.config.politeness);
                record.crawl_delay = site.crawl_delay.map(|d| d.as_secs_f64());
                site.rules = RobotsState::Read { until: now.plus(self.config.robots_max_age.max(LEAST_RULES_AGE)) };
                site.detour = None;
                fact.robots = Some(record);
                fact.sitemaps = Some(robots.sitemaps().to_vec());
                self.shelf.put(host, robots);
            }
            Ok(record) => {
                self.robots_failed(&mut site, tries, None, now);
                fact.robots = (site.gone == Some(Why::RobotsUnreachable)).then_some(record);
            }
            Err(failure) => self.robots_failed(&mut site, tries, Some(&failure), now),
        }
        if site.backoff > Duration::ZERO {
            fact.not_before = Some(site.gate);
            fact.backoff_ms = Some(u64::try_from(site.backoff.as_millis()).unwrap_or(u64::MAX));
        }
        self.put(site, now);
        fact
    }

    /// A robots.txt redirected to this canonical URL, possibly on another host. Call it after
    /// [`Self::done`] instead of [`Self::robots`]. `false` if it will not be followed: then call
    /// [`Self::robots`] with the response as it is.
    pub fn robots_moved(&mut self, host: HostId, to: &str, now: Moment) -> bool {
        let Some(site) = self.sites.get_mut(&host) else { return false };
        let RobotsState::Asked { tries } = site.rules else { return false };
        let hops = site.detour.as_ref().map_or(0, |d| d.hops) + 1;
        let Some(mut detour) = Detour::to(to, hops).filter(|_| hops <= robots::MAX_REDIRECTS) else { return false };
        if *detour.name == *site.name {
            detour.address = site.address.map(|(ip, _)| ip);
        }
        site.detour = Some(Box::new(detour));
        site.rules = RobotsState::Unread { tries };
        self.asked -= 1;
        if let Some(site) = self.take_if(host, |_| true) {
            self.put(site, now);
        }
        true
    }

    /// What a result says about the host: back off, or recovered.
    fn heed(&mut self, site: &mut WorkbenchHost, ended: &FetchEnd, grant: u64, now: Moment) -> Option<HostFact> {
        let mut fact = HostFact { id: site.id, ..HostFact::default() };
        site.answered |= ended.status.is_some();
        site.answers = site.answers.saturating_add(1);
        site.answering += ended.elapsed;
        if let Some(wait) = self.config.politeness.slow_wait(ended.elapsed) {
            site.rest_until(now.plus(wait), Why::Slow);
        }
        if ended.failure == Some(FailureKind::HostKey) {
            // Whoever answers there, nothing else is asked of them.
            let failure = Failure::new(FailureKind::HostKey, "its host key is not the one that is expected");
            site.dead = Dead::of(&failure, now);
        }
        site.stuck = ended.is_refusal() && ended.status.is_none() && site.answered;
        if ended.is_refusal() {
            if matches!(ended.failure, Some(FailureKind::Connect | FailureKind::Timeout)) {
                site.address = None;
            }
            // Requests in flight when the host backed off fail for the same reason: they count
            // once.
            if grant > site.backoff_grant {
                site.failures += 1;
                self.back_off(site, ended.asked_wait(), now);
            } else if let Some(wait) = ended.asked_wait() {
                site.rest_until(now.plus(wait), Why::RetryAfter);
            }
            if site.gate > now.plus(self.config.politeness.max_wait) {
                site.gone = Some(Why::LongWait);
            } else if site.failures >= self.config.politeness.max_failures && !site.is_waited_for() {
                site.give_up(ended.failure, now);
            }
            fact.not_before = Some(site.gate);
            fact.backoff_ms = Some(u64::try_from(site.backoff.as_millis()).unwrap_or(u64::MAX));
            return Some(fact);
        }
        ended.status.filter(|status| *status < 500)?;
        site.failures = 0;
        if std::mem::take(&mut site.backoff).is_zero() {
            return None;
        }
        fact.backoff_ms = Some(0);
        Some(fact)
    }

    /// Doubles the back-off, or waits as long as the server asked if that is longer.
    fn back_off(&mut self, site: &mut WorkbenchHost, asked: Option<Duration>, now: Moment) {
        site.backoff = self.config.politeness.next_backoff(site.backoff);
        site.backoff_grant = self.grants;
        let (wait, cause) = match asked.filter(|wait| *wait > site.backoff) {
            Some(wait) => (wait, Why::RetryAfter),
            None => (site.backoff, Why::BackOff),
        };
        site.rest_until(now.plus(wait), cause);
    }

    /// Counts a redirect to another spelling of the page's URL. False once there were too many.
    fn may_respell(&mut self, page: PageId) -> bool {
        let hops = self.respelt.entry(page).or_default();
        *hops += 1;
        *hops <= MAX_RESPELLINGS
    }

    /// Undoes a grant of which nothing was sent.
    fn take_back(&mut self, site: &mut WorkbenchHost, lease: &Lease, rank: Option<u64>) {
        match (rank, site.rules) {
            (Some(rank), _) => self.try_again(site, lease, rank, lease.attempt),
            (None, RobotsState::Asked { tries }) => {
                site.rules = RobotsState::Unread { tries };
                self.asked -= 1;
            }
            (None, _) => {}
        }
    }

    fn try_again(&mut self, site: &mut WorkbenchHost, lease: &Lease, rank: u64, attempt: u32) {
        self.out.remove(&lease.page);
        self.leaving.remove(&lease.page);
        self.spent -= 1;
        self.attempts.insert(lease.page, attempt);
        let Lease { page, depth, redirects, step, .. } = *lease;
        let (url, asked, before) = (lease.url.clone(), lease.asked.clone(), lease.before.clone());
        self.put_back(site, Queued { page, rank, url, asked, depth, redirects, step, before });
    }

    /// Fetches a page a second time before it is recorded: it is leased once more when its host is
    /// due.
    pub fn look_again(&mut self, lease: &Lease, now: Moment) {
        let Some(out) = self.out.get(&lease.page).copied() else { return };
        self.second.insert(lease.page);
        self.respelt.remove(&lease.page);
        let Some(mut site) = self.take_if(lease.host, |_| true) else {
            (self.spent, _) = (self.spent - 1, self.out.remove(&lease.page));
            self.leaving.remove(&lease.page);
            self.intake.arrive(lease.host);
            return;
        };
        self.try_again(&mut site, lease, out.rank, 0);
        self.attempts.remove(&lease.page);
        self.put(site, now);
    }

    /// Retries later, uses a stale copy, gives up the host's pages, or excludes the host, in this
    /// order.
    fn robots_failed(&mut self, site: &mut WorkbenchHost, tries: u32, failure: Option<&Failure>, now: Moment) {
        site.detour = None;
        if tries < self.config.retries.most && failure.is_none_or(|f| f.kind.is_passing()) {
            site.rules = RobotsState::Unread { tries: tries + 1 };
            if site.robots_grant > site.backoff_grant {
                self.back_off(site, None, now);
            }
            return;
        }
        site.rules = RobotsState::Unread { tries: 0 };
        if self.shelf.get(site.id).is_some() {
            site.rules = RobotsState::Read { until: now.plus(OLD_RULES_AGE) };
            return;
        }
        site.dead = failure.and_then(|f| Dead::of(f, now));
        if site.dead.is_none() {
            site.gone = Some(Why::RobotsUnreachable);
        }
    }
}
