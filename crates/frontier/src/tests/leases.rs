//! Is an address contacted only while it is leased to this machine?

use super::world::{World, fine};
use crate::{FrontierConfig, Next, Why};
use orb_page::{HostId, Lease, Moment};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

const FOREVER: Moment = Moment(i64::MAX);
const AHEAD: Duration = Duration::from_secs(5);

fn ip(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
}

/// A world on one machine of several; robots.txt is not asked for, so that every request is a page.
fn shared() -> World {
    let config = FrontierConfig { leased: true, ignore_robots: true, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.frontier.member_until(FOREVER);
    world
}

#[test]
fn nothing_is_requested_before_the_address_is_leased() {
    let mut world = shared();
    world.host(1, 1, 2).host(2, 2, 1);
    assert_eq!(world.run(5_000), "0.000 h1 is 10.0.0.1\n0.000 h2 is 10.0.0.2\n");
    assert_eq!(world.frontier.addresses_wanted(world.now, AHEAD), [ip(1), ip(2)]);
    assert_eq!(world.frontier.plight(HostId(1), world.now).map(|plight| plight.why), Some(Why::Lease));
    assert_eq!(world.frontier.holdup(), Why::Lease);
    assert_eq!(world.next(), Next::Busy, "not finished: the lease may come");
    world.frontier.leased(ip(1), Moment(60_000), Duration::ZERO, world.now);
    assert_eq!(world.frontier.addresses_wanted(world.now, AHEAD), [ip(2)]);
    assert_eq!(world.run(7_000), "5.001 get h1/1\n6.001 get h1/2\n");
}

#[test]
fn the_first_request_waits_for_what_is_left_of_the_delay() {
    let mut world = shared();
    world.host(1, 1, 1);
    world.run(0);
    world.frontier.leased(ip(1), Moment(60_000), Duration::from_millis(700), world.now);
    assert_eq!(world.run(2_000), "0.701 get h1/1\nfinished\n".replace("finished", "0.801 finished"));
}

#[test]
fn a_lease_that_runs_out_closes_the_address_and_carries_its_gap_away() {
    let mut world = shared();
    world.host(1, 1, 9).host(2, 1, 9);
    world.run(0);
    world.frontier.leased(ip(1), Moment(2_500), Duration::ZERO, world.now);
    let log = world.run(2_600);
    assert_eq!(log.matches("get").count(), 3, "{log}");
    assert!(log.contains("2.001 get"), "{log}");
    assert_eq!(world.frontier.leases_to_give(world.now), [(ip(1), Duration::from_millis(401))]);
    assert!(world.frontier.leases_to_give(world.now).is_empty(), "it is given once");
    assert_eq!(world.frontier.addresses_wanted(world.now, AHEAD), [ip(1)]);
    assert!(!world.run(9_000).contains("get"));
}

#[test]
fn a_lease_in_use_is_renewed_unless_another_waits_for_it() {
    let mut world = shared();
    world.host(1, 1, 99).host(2, 2, 99).host(3, 3, 1);
    world.run(0);
    for address in [ip(1), ip(2), ip(3)] {
        world.frontier.leased(address, Moment(10_000), Duration::ZERO, world.now);
    }
    world.run(4_000);
    assert!(world.frontier.addresses_wanted(world.now, AHEAD).is_empty(), "too early");
    world.run(6_500);
    world.frontier.contested(ip(2));
    assert_eq!(world.frontier.addresses_wanted(world.now, AHEAD), [ip(1)], "10.0.0.3 is not needed any more");
    assert_eq!(world.frontier.leases_to_give(world.now), [(ip(3), Duration::ZERO)], "the other one is kept to the end");
    world.frontier.leased(ip(1), Moment(70_000), Duration::ZERO, world.now);
    let log = world.run(12_000);
    assert!(log.contains("11.001 get h1"), "{log}");
    assert!(!log.contains("10.001 get h2"), "{log}");
    assert!(world.frontier.addresses_wanted(Moment(10_400), AHEAD).is_empty(), "the others are first");
    assert_eq!(world.frontier.leases_to_give(world.now), [(ip(2), Duration::ZERO)]);
    assert_eq!(world.frontier.addresses_wanted(world.now, AHEAD), [ip(2)]);
}

#[test]
fn what_is_not_needed_any_more_is_given_back() {
    let mut world = shared();
    world.host(1, 1, 1);
    world.run(0);
    world.frontier.leased(ip(1), Moment(60_000), Duration::ZERO, world.now);
    world.run(500);
    assert!(world.frontier.leases_to_give(world.now).is_empty(), "not within its delay: something may be found there");
    assert_eq!(world.frontier.leases_to_give(Moment(1_001)), [(ip(1), Duration::ZERO)]);
}

/// A request that was granted at 4 s, with a lease until 5 s, and has not left yet.
fn leaving() -> (World, Lease) {
    let mut world = shared();
    world.host(1, 1, 2);
    world.run(0);
    world.frontier.leased(ip(1), Moment(5_000), Duration::ZERO, world.now);
    world.now = Moment(4_000);
    let Next::Lease(lease, _) = world.next() else { panic!("a lease is due") };
    (world, lease)
}

#[test]
fn a_request_that_leaves_late_is_not_sent() {
    let (mut world, lease) = leaving();
    assert!(world.frontier.may_send(lease.addr, Moment(4_999)));
    assert!(!world.frontier.may_send(lease.addr, Moment(5_000)), "stopped between grant and write");
    assert!(!world.frontier.may_send(Some(ip(9)), Moment(4_000)), "another address than the one leased");
    assert!(world.frontier.leases_to_give(Moment(5_000)).is_empty(), "its bytes may be leaving");
    world.frontier.member_until(Moment(4_500));
    assert!(!world.frontier.may_send(lease.addr, Moment(4_500)), "we may be taken for dead");
}

#[test]
fn a_lease_that_ends_while_a_request_leaves_is_given_back_behind_it() {
    let (mut world, lease) = leaving();
    assert!(world.frontier.leases_to_give(Moment(5_000)).is_empty());
    world.frontier.sent(lease.host, lease.addr, Moment(4_999));
    assert_eq!(world.frontier.leases_to_give(Moment(5_100)), [(ip(1), Duration::from_millis(899))]);
    assert!(world.frontier.leases_to_give(Moment(5_200)).is_empty(), "it is given once");
    // One that is leased again meanwhile is not given.
    let (mut world, lease) = leaving();
    assert!(world.frontier.leases_to_give(Moment(5_000)).is_empty());
    world.frontier.leased(ip(1), Moment(20_000), Duration::ZERO, Moment(6_000));
    world.frontier.sent(lease.host, lease.addr, Moment(6_500));
    assert!(world.frontier.leases_to_give(Moment(7_000)).is_empty());
}

#[test]
fn a_request_of_an_earlier_lease_waits_like_any_other() {
    let (mut world, lease) = leaving();
    // It takes long to leave; meanwhile another machine has the address, and gives it back.
    world.frontier.leased(ip(1), Moment(20_000), Duration::from_millis(700), Moment(9_000));
    assert!(!world.frontier.may_send(lease.addr, Moment(9_700)), "the other has just sent something");
    assert!(world.frontier.may_send(lease.addr, Moment(9_701)));
    world.frontier.leased(ip(1), Moment(30_000), Duration::from_millis(900), Moment(19_000));
    assert!(world.frontier.may_send(lease.addr, Moment(19_000)), "a lease that is renewed stays open");
}

#[test]
fn without_membership_nothing_is_granted() {
    let mut world = shared();
    world.host(1, 1, 9);
    world.run(0);
    world.frontier.leased(ip(1), Moment(60_000), Duration::ZERO, world.now);
    world.frontier.member_until(Moment(1_500));
    assert_eq!(world.run(9_000), "0.001 get h1/1\n1.001 get h1/2\n");
    world.frontier.member_until(FOREVER);
    assert!(world.run(9_500).starts_with("9.000 get h1/3\n"));
    assert_eq!(world.frontier.give_all_leases(world.now), [(ip(1), Duration::from_millis(500))]);
    assert_eq!(world.next(), Next::Busy);
}

#[test]
fn hosts_that_were_given_away_are_asked_for_nothing_more() {
    let mut world = shared();
    world.host(1, 1, 9).host(2, 2, 9);
    world.run(0);
    for address in [ip(1), ip(2)] {
        world.frontier.leased(address, Moment(60_000), Duration::ZERO, world.now);
    }
    world.run(1_050);
    world.frontier.keep_only(Arc::new(|name| name != "h2"), world.now);
    assert!(!world.frontier.is_rid(), "a request to h2 is in flight");
    let log = world.run(3_050);
    assert!(log.contains("get h1") && !log.contains("get h2"), "{log}");
    assert!(!world.frontier.is_rid(), "its pages are not committed");
    world.commit();
    assert!(world.frontier.is_rid());
    world.frontier.keep_only(Arc::new(|_| true), world.now);
    world.frontier.look_around(world.now);
    assert!(world.run(5_050).contains("get h2/3"));
}
