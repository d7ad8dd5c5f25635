//! Which host is due now, and when is the next?
//!
//! The workbench of BUbiNG (Boldi, Marino, Santini and Vigna 2014): hosts that share an address
//! share a group; a group is due when both its gate and the gate of its first host are open; groups
//! are kept in order of due time. Thousands of hosts on one address cost as little as one.
//!
//! If more hosts are due than there are connections, a host with an idle connection comes first,
//! then hosts already started, then new ones ([`HostPreference`]): what was started is finished,
//! over open connections. (Round-robin, two hundred hosts on 128 connections needed a new
//! connection for most pages.) A second connection to a host comes last of all, since it takes the
//! place of another host's. Where fetching is ahead of reading, more connections would gain
//! nothing: then only hosts with an idle one get their turn. One turn in [`SHARE`] goes to a new
//! host and one to the started host that has waited longest, so that an endless host cannot starve
//! the others.
//!
//! A group is held from the moment a request to one of its hosts is granted until it is on the
//! wire, so two requests can never be closer than the delay because the first was slow to leave.

use crate::leases::AddressLeases;
use hashbrown::HashMap;
use orb_page::{HostId, Moment};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// What hosts share a gate by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum GateKey {
    /// Their IP address.
    Address(IpAddr),
    /// The hash of their name, if a proxy hides the address.
    Name(u64),
    /// Nothing: a host by itself.
    Host(HostId),
}

/// If several hosts are due, one turn in this many goes to a new host and one to the host that has
/// waited longest.
const SHARE: u8 = 64;

/// Sorts before every other key.
const FIRST_KEY: GateKey = GateKey::Address(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

/// A host's preference when several are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostPreference {
    /// It has a request in flight and no idle connection.
    Busy,
    /// It has not responded yet.
    New,
    /// It has responded.
    Begun,
    /// It probably has an idle connection.
    Warm,
}

/// A host in its group. The fields are compared in this order: who is due first comes first, and
/// of those, who was placed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupSeat {
    at: Moment,
    turn: u64,
    host: HostId,
    standing: HostPreference,
}

/// A host's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkbenchPosition {
    /// Its group.
    pub(crate) key: GateKey,
    at: Moment,
    turn: u64,
    standing: HostPreference,
}

/// Hosts in the order in which they are due.
#[derive(Debug, Default)]
pub(crate) struct Workbench {
    groups: HashMap<GateKey, HostGroup>,
    /// Groups by the standing of their next host.
    due: [BTreeSet<(Moment, u64, GateKey)>; 4],
    /// The current turn of [`SHARE`].
    favours: u8,
    /// Whether hosts without an idle connection wait, but for their share of the turns.
    pub(crate) sparing: bool,
    /// Groups without hosts, remembered until their gate opens.
    cooling: BTreeSet<(Moment, GateKey)>,
    turn: u64,
    /// The addresses that may be contacted, where other machines work on the same collection.
    pub(crate) leases: Option<AddressLeases>,
}

#[derive(Debug)]
struct HostGroup {
    hosts: BTreeSet<GroupSeat>,
    gate: Moment,
    held: bool,
    /// Whether it is an address that is not leased to us.
    unleased: bool,
    slot: GroupSlot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupSlot {
    Nowhere,
    Due(Moment, u64, HostPreference),
    Cooling(Moment),
}

impl Workbench {
    /// An empty one; where addresses are leased, none is yet.
    pub(crate) fn leasing(leased: bool) -> Self {
        Self { leases: leased.then(AddressLeases::default), ..Self::default() }
    }

    /// Adds a host to a group, due at `at`. A new group opens at `floor`.
    pub(crate) fn place(
        &mut self,
        key: GateKey,
        (host, standing): (HostId, HostPreference),
        at: Moment,
        floor: Moment,
    ) -> WorkbenchPosition {
        self.turn += 1;
        let place = WorkbenchPosition { key, at, turn: self.turn, standing };
        self.group(key, floor).hosts.insert(GroupSeat { at, turn: place.turn, host, standing });
        self.refresh(key);
        place
    }

    /// Removes a host from its group.
    pub(crate) fn lift(&mut self, place: WorkbenchPosition, host: HostId) {
        if let Some(group) = self.groups.get_mut(&place.key) {
            let WorkbenchPosition { at, turn, standing, .. } = place;
            group.hosts.remove(&GroupSeat { at, turn, host, standing });
            self.refresh(place.key);
        }
    }

    /// The first host that is due now.
    pub(crate) fn first_due(&mut self, now: Moment) -> Option<HostId> {
        while let Some(&(gate, key)) = self.cooling.first()
            && gate <= now
        {
            self.cooling.pop_first();
            self.groups.remove(&key);
        }
        let [busy, new, begun, warm] = self.due.each_ref().map(|due| due.first().filter(|(at, ..)| *at <= now));
        let after_now = (Moment(now.0 + 1), 0, FIRST_KEY);
        // The warm host that became due last: its connection has been idle for the shortest time.
        let warmest = warm.and_then(|_| self.due[HostPreference::Warm as usize].range(..after_now).next_back());
        self.favours = (self.favours + 1) % SHARE;
        let other = match self.favours {
            0 => new.or(warmest),
            1 => begun.into_iter().chain(warm).min(),
            _ => warmest,
        };
        let rest = if self.sparing { None } else { begun.or(new).or(busy) };
        let &(.., key) = other.or(rest)?;
        self.groups.get(&key)?.hosts.first().map(|seat| seat.host)
    }

    /// The group that is due first.
    fn first(&self) -> Option<(Moment, u64, GateKey)> {
        self.due.iter().filter_map(|due| due.first()).min().copied()
    }

    /// When the next host is due.
    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.first().map(|(at, ..)| at)
    }

    /// The next host, when it is due, and whether it waits for its group rather than for itself.
    pub(crate) fn first_waiting(&self) -> Option<(Moment, HostId, bool)> {
        let (at, _, key) = self.first()?;
        let group = self.groups.get(&key)?;
        group.hosts.first().map(|seat| (at, seat.host, group.gate > seat.at))
    }

    /// Closes a group until it is released.
    pub(crate) fn hold(&mut self, key: GateKey, floor: Moment) {
        self.group(key, floor).held = true;
        self.refresh(key);
    }

    /// Releases a group, whose gate opens no sooner than `gate`.
    pub(crate) fn release(&mut self, key: GateKey, gate: Moment) {
        let group = self.group(key, gate);
        group.held = false;
        group.gate = group.gate.max(gate);
        self.refresh(key);
    }

    /// Closes a group until at least `gate`, held or not.
    pub(crate) fn shut(&mut self, key: GateKey, gate: Moment) {
        let group = self.group(key, gate);
        group.gate = group.gate.max(gate);
        self.refresh(key);
    }

    /// Whether a group is closed, by its gate or because it is held.
    pub(crate) fn is_shut(&self, key: GateKey, now: Moment) -> bool {
        self.groups.get(&key).is_some_and(|g| g.held || g.gate > now)
    }

    /// Number of hosts in a group.
    pub(crate) fn crowd(&self, key: GateKey) -> usize {
        self.groups.get(&key).map_or(0, |g| g.hosts.len())
    }

    /// When the gate of a group opens, if it is remembered.
    pub(crate) fn gate(&self, key: GateKey) -> Option<Moment> {
        self.groups.get(&key).map(|group| group.gate)
    }

    /// Whether a group has hosts that wait for it, or a request that is leaving.
    pub(crate) fn is_used(&self, key: GateKey) -> bool {
        self.groups.get(&key).is_some_and(|group| group.held || !group.hosts.is_empty())
    }

    /// Whether a request to a group may be leaving at this moment.
    pub(crate) fn is_leaving(&self, key: GateKey) -> bool {
        self.groups.get(&key).is_some_and(|group| group.held)
    }

    /// Whether a group may be contacted as far as leases are concerned.
    pub(crate) fn has_lease(&self, key: GateKey) -> bool {
        match (&self.leases, key) {
            (Some(leases), GateKey::Address(ip)) => leases.holds(ip),
            _ => true,
        }
    }

    /// Whether hosts wait for leases.
    pub(crate) fn lacks_leases(&self) -> bool {
        self.leases.as_ref().is_some_and(|leases| !leases.lacking.is_empty())
    }

    /// Closes the groups whose lease has run out. False if we do not count as alive.
    pub(crate) fn expire_leases(&mut self, now: Moment) -> bool {
        while let Some(ip) = self.leases.as_mut().and_then(|leases| leases.pop_ended(now)) {
            self.refresh_lease(GateKey::Address(ip));
        }
        self.leases.as_ref().is_none_or(|leases| leases.is_member(now))
    }

    /// A group's lease was granted or has ended.
    pub(crate) fn refresh_lease(&mut self, key: GateKey) {
        let unleased = !self.has_lease(key);
        if let Some(group) = self.groups.get_mut(&key) {
            group.unleased = unleased;
            self.refresh(key);
        }
    }

    fn group(&mut self, key: GateKey, gate: Moment) -> &mut HostGroup {
        let unleased = !self.has_lease(key);
        self.groups.entry(key).or_insert_with(|| HostGroup {
            hosts: BTreeSet::new(),
            gate,
            held: false,
            unleased,
            slot: GroupSlot::Nowhere,
        })
    }

    /// Re-sorts a group after a change.
    fn refresh(&mut self, key: GateKey) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        if let (Some(leases), GateKey::Address(ip)) = (&mut self.leases, key) {
            match group.unleased && !group.hosts.is_empty() {
                true => leases.lacking.insert(ip),
                false => leases.lacking.remove(&ip),
            };
        }
        let slot = match group.hosts.first() {
            _ if group.held => GroupSlot::Nowhere,
            Some(_) if group.unleased => GroupSlot::Nowhere,
            Some(&GroupSeat { at, turn, standing, .. }) => GroupSlot::Due(at.max(group.gate), turn, standing),
            None => GroupSlot::Cooling(group.gate),
        };
        if slot == group.slot {
            return;
        }
        match std::mem::replace(&mut group.slot, slot) {
            GroupSlot::Due(at, turn, standing) => drop(self.due[standing as usize].remove(&(at, turn, key))),
            GroupSlot::Cooling(gate) => drop(self.cooling.remove(&(gate, key))),
            GroupSlot::Nowhere => {}
        }
        match slot {
            GroupSlot::Due(at, turn, standing) => drop(self.due[standing as usize].insert((at, turn, key))),
            GroupSlot::Cooling(gate) => drop(self.cooling.insert((gate, key))),
            GroupSlot::Nowhere => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: GateKey = GateKey::Address(IpAddr::V4(Ipv4Addr::LOCALHOST));
    const START: Moment = Moment(0);

    #[test]
    fn hosts_on_one_address_wait_for_each_other() {
        let mut bench = Workbench::default();
        let first = bench.place(ADDRESS, (HostId(1), HostPreference::New), START, START);
        bench.place(ADDRESS, (HostId(2), HostPreference::New), START, START);
        assert_eq!(bench.first_due(START), Some(HostId(1)));
        bench.lift(first, HostId(1));
        bench.hold(ADDRESS, START);
        assert_eq!(bench.first_due(Moment(10_000)), None, "held until the request is on the wire");
        bench.release(ADDRESS, Moment(11_000));
        assert_eq!(bench.first_due(Moment(10_999)), None);
        assert_eq!(bench.next_due(), Some(Moment(11_000)));
        assert_eq!(bench.first_due(Moment(11_000)), Some(HostId(2)));
    }

    #[test]
    fn an_empty_group_is_remembered_until_its_gate_opens() {
        let mut bench = Workbench::default();
        let place = bench.place(ADDRESS, (HostId(1), HostPreference::New), START, START);
        bench.lift(place, HostId(1));
        bench.shut(ADDRESS, Moment(1_000));
        assert_eq!(bench.first_due(Moment(999)), None);
        bench.place(ADDRESS, (HostId(2), HostPreference::New), Moment(999), START);
        assert_eq!(bench.next_due(), Some(Moment(1_000)));
        let place = bench.place(ADDRESS, (HostId(3), HostPreference::New), START, START);
        bench.lift(place, HostId(3));
        let all: Vec<_> = bench.groups[&ADDRESS].hosts.iter().copied().collect();
        bench.lift(
            WorkbenchPosition { key: ADDRESS, at: all[0].at, turn: all[0].turn, standing: HostPreference::New },
            HostId(2),
        );
        assert_eq!(bench.first_due(Moment(1_000)), None);
        assert!(bench.groups.is_empty());
    }

    #[test]
    fn groups_due_at_once_take_turns() {
        let mut bench = Workbench::default();
        let mut places =
            [HostId(1), HostId(2)].map(|h| (h, bench.place(GateKey::Host(h), (h, HostPreference::New), START, START)));
        let mut order = Vec::new();
        for _ in 0..4 {
            let host = bench.first_due(START).unwrap();
            order.push(host.0);
            let place = &mut places[host.0 as usize - 1].1;
            bench.lift(*place, host);
            *place = bench.place(GateKey::Host(host), (host, HostPreference::New), START, START);
        }
        assert_eq!(order, [1, 2, 1, 2]);
    }

    #[test]
    fn the_host_with_a_free_connection_goes_on_but_not_always() {
        let mut bench = Workbench::default();
        let warm =
            |bench: &mut Workbench, h: HostId| bench.place(GateKey::Host(h), (h, HostPreference::Warm), START, START);
        let mut places = [HostId(1), HostId(2), HostId(3)].map(|h| (h, warm(&mut bench, h)));
        let mut order = Vec::new();
        for _ in 0..u32::from(SHARE) + 2 {
            let host = bench.first_due(START).unwrap();
            order.push(host.0);
            let place = &mut places[host.0 as usize - 1].1;
            bench.lift(*place, host);
            *place = warm(&mut bench, host);
        }
        // The first turn is that of the longest-waiting host, and so is the last but one.
        let share = usize::from(SHARE);
        assert!(order[..share].iter().all(|&h| h == 1), "{order:?}");
        assert_eq!(order[share..], [2, 2]);
    }

    #[test]
    fn a_host_that_is_asked_already_waits_for_all_others() {
        let mut bench = Workbench::default();
        for (n, standing) in [(1, HostPreference::Busy), (2, HostPreference::New)] {
            bench.place(GateKey::Host(HostId(n)), (HostId(n), standing), START, START);
        }
        assert!((0..2 * SHARE).all(|_| bench.first_due(START) == Some(HostId(2))));
        let place =
            WorkbenchPosition { key: GateKey::Host(HostId(2)), at: START, turn: 2, standing: HostPreference::New };
        bench.lift(place, HostId(2));
        assert_eq!(bench.first_due(START), Some(HostId(1)));
    }

    #[test]
    fn where_connections_are_spared_others_get_their_share_of_the_turns_and_no_more() {
        let mut bench = Workbench { sparing: true, ..Workbench::default() };
        for (n, standing) in [(1, HostPreference::Busy), (2, HostPreference::New), (3, HostPreference::Begun)] {
            bench.place(GateKey::Host(HostId(n)), (HostId(n), standing), START, START);
        }
        let turns: Vec<_> = (0..SHARE).filter_map(|_| bench.first_due(START)).collect();
        assert_eq!(turns, [HostId(3), HostId(2)]);
        bench.place(GateKey::Host(HostId(4)), (HostId(4), HostPreference::Warm), START, START);
        let turns = (0..SHARE).filter(|_| bench.first_due(START) == Some(HostId(4))).count();
        assert_eq!(turns, usize::from(SHARE) - 2);
        bench.sparing = false;
        assert_eq!(bench.next_due(), Some(START));
    }

    #[test]
    fn hosts_already_begun_come_first_but_not_always() {
        let mut bench = Workbench::default();
        for n in 1..=3 {
            let standing = if n == 3 { HostPreference::Begun } else { HostPreference::New };
            bench.place(GateKey::Host(HostId(n)), (HostId(n), standing), START, START);
        }
        let turns: Vec<u64> = (0..SHARE).map(|_| u64::from(bench.first_due(START).unwrap().0)).collect();
        let (last, others) = turns.split_last().unwrap();
        assert!(*last == 1 && others.iter().all(|&h| h == 3), "{turns:?}");
        assert_eq!(bench.next_due(), Some(START));
    }
}
