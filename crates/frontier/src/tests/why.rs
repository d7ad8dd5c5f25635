//! Can every wait be explained?

use super::world::{Answer, World, fine, is_robots};
use crate::{FrontierConfig, Plight, Politeness, Why};
use orb_page::{HostId, Moment};
use std::time::Duration;

fn undelayed() -> FrontierConfig {
    FrontierConfig {
        politeness: Politeness { delay: Duration::ZERO, per_host: 1, ..Politeness::default() },
        ..FrontierConfig::default()
    }
}

#[test]
fn the_next_wait_is_for_the_delay_where_a_host_is_alone() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 3);
    world.run(1_500);
    assert_eq!(world.frontier.holdup(), Why::Delay);
    assert_eq!(world.frontier.allowed(world.now), Some(1.0));
    let plight = world.frontier.plight(HostId(1), world.now);
    assert_eq!(plight, Some(Plight { why: Why::Delay, until: Some(Moment(2_000)) }));
}

#[test]
fn hosts_on_one_address_are_allowed_no_more_than_one_of_them() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 9).host(2, 1, 9).host(3, 1, 9).host(4, 2, 9);
    world.run(4_500);
    assert_eq!(world.frontier.allowed(world.now), Some(2.0));
}

#[test]
fn the_wait_of_a_host_that_was_not_asked_itself_is_for_its_address() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 1).host(2, 1, 9).host(3, 1, 9);
    world.run(500);
    assert_eq!(world.frontier.holdup(), Why::Address);
}

#[test]
fn a_crawl_delay_is_told_from_the_delay_and_slows_what_is_allowed() {
    let answer = |lease: &_| if is_robots(lease) { Answer::text("User-agent: *\nCrawl-delay: 4") } else { fine(lease) };
    let mut world = World::new(FrontierConfig::default(), answer);
    world.host(1, 1, 3);
    world.run(1_500);
    assert_eq!(world.frontier.holdup(), Why::CrawlDelay);
    assert_eq!(world.frontier.allowed(world.now), Some(0.25));
}

#[test]
fn without_a_delay_nothing_bounds_the_rate_and_the_wait_is_for_answers() {
    let mut world = World::new(undelayed(), fine);
    world.host(1, 1, 9);
    world.run(150);
    assert_eq!(world.frontier.holdup(), Why::InFlight);
    assert_eq!(world.frontier.allowed(world.now), None);
}

#[test]
fn a_host_that_backs_off_is_allowed_nothing() {
    let mut world =
        World::new(FrontierConfig::default(), |lease| if is_robots(lease) { fine(lease) } else { Answer::status(503) });
    world.host(1, 1, 9);
    world.run(1_200);
    assert_eq!(world.frontier.allowed(world.now), Some(0.0));
    let plight = world.frontier.plight(HostId(1), world.now).unwrap();
    assert!(plight.why == Why::BackOff && plight.until.is_some(), "{plight:?}");
}

#[test]
fn the_slowest_hosts_are_named_with_their_mean() {
    let mut world = World::new(undelayed(), |lease| {
        let takes = if lease.url.starts_with("http://h3/") { 4_000 } else { 10 };
        Answer { takes, ..fine(lease) }
    });
    for host in 1..=5 {
        world.host(host, 1, 2);
    }
    world.run(60_000);
    let slowest = world.frontier.waiting(world.now).slowest;
    assert_eq!(slowest.len(), 3);
    assert_eq!((slowest[0].name.as_str(), slowest[0].answers, slowest[0].mean), ("h3", 3, Duration::from_secs(4)));
}
