//! Which addresses may this machine contact?
//!
//! Where several machines work on one collection, hosts that share an address may belong to
//! different machines, and the delay is owed to the address. So an address is leased to one machine
//! at a time, for a slice of time. A group of hosts by address stays closed until its lease is
//! granted. The thread that talks to the shared store asks [`Frontier::addresses_wanted`], reports
//! [`Frontier::leased`] and hands back [`Frontier::leases_to_give`]; there is no clock and no store
//! in here. What is left of the delay travels with the lease as a duration, so that clocks of
//! different machines are never compared.
//!
//! Our own membership ends, too: a machine that the others take for dead must not send anything.

use crate::frontier::Frontier;
use crate::workbench::GateKey;
use hashbrown::{HashMap, HashSet};
use orb_page::{HostId, Moment};
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long an address that others want is left to them: longer than they take to ask.
const YIELD: Duration = Duration::from_millis(500);

/// Says of the name of a host whether it is ours.
pub type OwnTest = dyn Fn(&str) -> bool + Send + Sync;

/// Which hosts are ours; all of them where this machine is alone.
#[derive(Default)]
pub(crate) struct OwnHosts(Option<Arc<OwnTest>>);

impl fmt::Debug for OwnHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnHosts").field(&self.0.is_some()).finish()
    }
}

/// The leases of a machine that shares its collection with others.
#[derive(Debug)]
pub(crate) struct AddressLeases {
    held: HashMap<IpAddr, AddressLease>,
    ends: BTreeSet<(Moment, IpAddr)>,
    /// Addresses with hosts that cannot be contacted for want of a lease.
    pub(crate) lacking: BTreeSet<IpAddr>,
    /// Leases that have run out and were not handed back yet.
    ended: Vec<IpAddr>,
    /// Addresses that were given to other workers that want them, and until when we do not ask for
    /// them: otherwise we would always be the first.
    yielded: HashMap<IpAddr, Moment>,
    /// When the others may take us for dead.
    member_until: Moment,
}

#[derive(Clone, Copy, Debug)]
struct AddressLease {
    /// When what is left of the delay of the machine before us is over.
    from: Moment,
    until: Moment,
    /// Whether another machine waits for it.
    contested: bool,
}

impl Default for AddressLeases {
    fn default() -> Self {
        Self {
            held: HashMap::new(),
            ends: BTreeSet::new(),
            lacking: BTreeSet::new(),
            ended: Vec::new(),
            yielded: HashMap::new(),
            member_until: Moment(i64::MIN),
        }
    }
}

impl AddressLeases {
    pub(crate) fn holds(&self, ip: IpAddr) -> bool {
        self.held.contains_key(&ip)
    }

    /// Whether we count as alive.
    pub(crate) fn is_member(&self, now: Moment) -> bool {
        now < self.member_until
    }

    /// Takes out the next lease that has run out.
    pub(crate) fn pop_ended(&mut self, now: Moment) -> Option<IpAddr> {
        let &(_, ip) = self.ends.first().filter(|(until, _)| *until <= now)?;
        self.ends.pop_first();
        if self.held.remove(&ip).is_some_and(|lease| lease.contested) {
            self.yielded.insert(ip, now.plus(YIELD));
        }
        self.ended.push(ip);
        Some(ip)
    }

    fn insert(&mut self, ip: IpAddr, (from, until): (Moment, Moment)) {
        if let Some(before) = self.held.insert(ip, AddressLease { from, until, contested: false }) {
            self.ends.remove(&(before.until, ip));
        }
        self.ends.insert((until, ip));
        self.ended.retain(|ended| *ended != ip);
    }

    /// Whether we have just given it to others.
    fn yields(&self, ip: IpAddr, now: Moment) -> bool {
        self.yielded.get(&ip).is_some_and(|until| now < *until)
    }

    fn remove(&mut self, ip: IpAddr) {
        if let Some(lease) = self.held.remove(&ip) {
            self.ends.remove(&(lease.until, ip));
        }
    }
}

impl Frontier {
    /// We count as alive until then: nothing is granted or sent afterwards.
    pub fn member_until(&mut self, until: Moment) {
        if let Some(leases) = &mut self.bench.leases {
            leases.member_until = until;
        }
    }

    /// The addresses to ask a lease for: those that hosts wait for, and those in use whose lease
    /// ends within `ahead` and that nobody else wants.
    pub fn addresses_wanted(&self, now: Moment, ahead: Duration) -> Vec<IpAddr> {
        let Some(leases) = &self.bench.leases else { return Vec::new() };
        let soon = now.plus(ahead);
        let ending = leases.ends.iter().take_while(|(until, _)| *until <= soon).map(|(_, ip)| *ip);
        let in_use = |ip: &IpAddr| self.bench.is_used(GateKey::Address(*ip));
        let calm = |ip: &IpAddr| leases.held.get(ip).is_some_and(|lease| !lease.contested);
        let lacking = leases.lacking.iter().copied().filter(|ip| !leases.yields(*ip, now));
        lacking.chain(ending.filter(|ip| calm(ip) && in_use(ip))).collect()
    }

    /// An address is leased to us until then; the first request must not be sent before `open_in`
    /// has passed. One that another machine waits for ends with its slice all the same.
    pub fn leased(&mut self, ip: IpAddr, until: Moment, open_in: Duration, now: Moment) {
        // One that has ended is not renewed: another machine may have sent something meanwhile.
        self.bench.expire_leases(now);
        let Some(leases) = &mut self.bench.leases else { return };
        if leases.held.get(&ip).is_some_and(|lease| lease.contested) {
            return;
        }
        let renewed = leases.held.get(&ip).map(|lease| lease.from);
        // A millisecond more: moments are rounded down.
        let from = renewed.unwrap_or_else(|| now.plus(open_in).plus(Duration::from_millis(1)));
        leases.insert(ip, (from, until));
        let key = GateKey::Address(ip);
        if renewed.is_none() {
            self.bench.shut(key, from);
        }
        self.bench.refresh_lease(key);
    }

    /// So many more pages may be granted.
    pub fn allow_pages(&mut self, more: u64) {
        if let Some(most) = &mut self.config.budget.pages {
            *most = most.saturating_add(more);
        }
    }

    /// How many pages may still be granted; `None` if there is no budget.
    pub fn pages_left(&self) -> Option<u64> {
        self.config.budget.pages.map(|most| most.saturating_sub(self.granted()))
    }

    /// Grants no more pages than were granted so far, unless pages are out that are not committed;
    /// whether it does.
    pub fn revoke_pages(&mut self) -> bool {
        let calm = self.out.is_empty();
        let granted = self.granted();
        if let Some(most) = self.config.budget.pages.as_mut().filter(|_| calm) {
            *most = granted;
        }
        calm
    }

    /// Another machine waits for an address that is leased to us: it is not renewed.
    pub fn contested(&mut self, ip: IpAddr) {
        if let Some(lease) = self.bench.leases.as_mut().and_then(|leases| leases.held.get_mut(&ip)) {
            lease.contested = true;
        }
    }

    /// Gives up the leases that have run out and those that nobody here needs any more: each with
    /// what is left of its delay. An address with a request that may be leaving at this moment is
    /// given behind it: the store may have renewed its lease, which nobody could use then.
    pub fn leases_to_give(&mut self, now: Moment) -> Vec<(IpAddr, Duration)> {
        self.bench.expire_leases(now);
        let Some(leases) = &mut self.bench.leases else { return Vec::new() };
        let ended = std::mem::take(&mut leases.ended);
        leases.yielded.retain(|_, until| now < *until);
        let is_leaving = |ip: &IpAddr| self.bench.is_leaving(GateKey::Address(*ip));
        let (later, mut given): (Vec<IpAddr>, Vec<IpAddr>) = ended.into_iter().partition(is_leaving);
        if let Some(leases) = &mut self.bench.leases {
            leases.ended = later;
        }
        let key = GateKey::Address;
        let leases = self.bench.leases.iter().flat_map(|leases| leases.held.keys().copied());
        let mut unused: HashSet<IpAddr> =
            leases.filter(|ip| !self.bench.is_used(key(*ip)) && !self.bench.is_shut(key(*ip), now)).collect();
        if !unused.is_empty() {
            // Their hosts may be back on the workbench as soon as they have answered.
            for site in self.sites.values().filter(|site| site.has_work() || site.in_flight() > 0) {
                site.next_address(now).map(|ip| unused.remove(&ip));
            }
        }
        given.extend(unused);
        self.give(given, now)
    }

    /// Gives up all of them, because this machine leaves: nothing is granted any more.
    pub fn give_all_leases(&mut self, now: Moment) -> Vec<(IpAddr, Duration)> {
        let Some(leases) = &mut self.bench.leases else { return Vec::new() };
        leases.member_until = Moment(i64::MIN);
        let mut given = std::mem::take(&mut leases.ended);
        given.extend(leases.held.keys());
        self.give(given, now)
    }

    fn give(&mut self, mut given: Vec<IpAddr>, now: Moment) -> Vec<(IpAddr, Duration)> {
        given.retain(|ip| !self.bench.is_leaving(GateKey::Address(*ip)));
        given.sort_unstable();
        given.dedup();
        for ip in &given {
            if let Some(leases) = &mut self.bench.leases {
                leases.remove(*ip);
            }
            self.bench.refresh_lease(GateKey::Address(*ip));
        }
        let left = |ip: &IpAddr| self.bench.gate(GateKey::Address(*ip)).map_or(0, |gate| gate.0.saturating_sub(now.0));
        given.iter().map(|ip| (*ip, Duration::from_millis(u64::try_from(left(ip)).unwrap_or(0)))).collect()
    }

    /// Whether a request may be sent to this address at this moment; asked right before its bytes
    /// go out, however long ago it was granted: perhaps under an earlier lease, and another machine
    /// has sent something since.
    pub fn may_send(&self, address: Option<IpAddr>, now: Moment) -> bool {
        let Some(leases) = &self.bench.leases else { return true };
        let ungated = self.config.politeness.delay.is_zero() || self.config.behind_proxy;
        leases.is_member(now)
            && (ungated
                || address
                    .is_none_or(|ip| leases.held.get(&ip).is_some_and(|lease| lease.from <= now && now < lease.until)))
    }

    /// From now on only these hosts are ours. Others get no more requests and leave the workbench
    /// when what is in flight has ended.
    pub fn keep_only(&mut self, own: Arc<OwnTest>, now: Moment) {
        self.own = OwnHosts(Some(own));
        let foreign = |host: HostId| self.sites.get(&host).is_none_or(|site| !self.is_own(&site.name));
        let leaving = self.out.iter().filter(|(_, out)| foreign(out.host)).map(|(page, _)| *page);
        self.leaving = leaving.collect();
        let sites: Vec<HostId> = self.sites.values().filter(|s| !self.is_own(&s.name)).map(|s| s.id).collect();
        for host in sites {
            if let Some(site) = self.take_if(host, |_| true) {
                self.put(site, now);
            }
        }
        let parked: Vec<HostId> =
            self.intake.parked.values().filter(|site| !self.is_own(&site.name)).map(|site| site.id).collect();
        for host in parked {
            self.intake.unpark(host);
        }
    }

    /// Whether nothing of hosts that are not ours is in flight or uncommitted.
    pub fn is_rid(&self) -> bool {
        self.leaving.is_empty() && self.sites.values().all(|site| self.is_own(&site.name))
    }

    /// Looks for hosts that wait in the store's queues and are not on the workbench: shards were
    /// loaded. The worker that had them before may have contacted their hosts just now.
    pub fn look_around(&mut self, now: Moment) {
        self.resumed_at = Some(now);
        self.intake.scan_again();
    }

    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.own.0.as_ref().is_none_or(|own| own(name))
    }
}
