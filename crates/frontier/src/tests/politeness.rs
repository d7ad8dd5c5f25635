//! When is a host contacted again?

use super::world::{Answer, HOUR, World, fine, is_robots, shows};
use crate::{FrontierConfig, Politeness, Retries};
use expect_test::expect;
use orb_page::{FailureKind, HostId, Moment};
use std::time::Duration;

#[test]
fn two_hosts_on_one_address_share_its_delay() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 2).host(2, 1, 1).host(3, 2, 1);
    shows(
        &world.run(1_500),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 h2 is 10.0.0.1
            0.000 h3 is 10.0.0.2
            0.000 get h1/robots.txt
            0.000 get h3/robots.txt
            1.000 get h3/1
            1.000 get h2/robots.txt
        "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
        h1: address busy
        h2: waiting for delay until 00:00:02.000Z
        h3: nothing queued
    "#]],
    );
    shows(
        &world.run(HOUR),
        &expect![[r#"
        2.000 get h1/1
        3.000 get h2/1
        4.000 get h1/2
        4.100 finished
    "#]],
    );
}

#[test]
fn a_host_that_says_503_is_left_alone_as_long_as_it_asks() {
    let mut left = 1;
    let mut world = World::new(FrontierConfig::default(), move |lease| match fine(lease) {
        answer if is_robots(lease) => answer,
        _ if left > 0 => {
            left -= 1;
            Answer { retry_after: Some("Thu, 01 Jan 1970 00:00:30 GMT"), ..Answer::status(503) }
        }
        answer => answer,
    });
    world.host(1, 1, 2);
    shows(
        &world.run(5_000),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
    "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
        h1: asked to come back later until 00:00:30.000Z
    "#]],
    );
    shows(
        &world.run(HOUR),
        &expect![[r#"
        30.000 get h1/1 again (1)
        31.000 get h1/2
        31.100 finished
    "#]],
    );
}

#[test]
fn after_a_restart_everybody_counts_as_just_asked() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if is_robots(lease) { Answer::text("user-agent: *\ncrawl-delay: 3\n") } else { Answer::status(200) }
    });
    world.host(1, 1, 2).host(2, 2, 1);
    shows(
        &world.run(200),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 h2 is 10.0.0.2
        0.000 get h1/robots.txt
        0.000 get h2/robots.txt
    "#]],
    );
    world.commit();
    world.now = Moment(500);
    world.restart();
    shows(
        &world.run(HOUR),
        &expect![[r#"
            0.500 restart
            3.500 h1 is 10.0.0.1
            3.500 h2 is 10.0.0.2
            3.500 get h1/1
            3.500 get h2/1
            6.500 get h1/2
            6.600 finished
        "#]],
    );
}

#[test]
fn a_page_that_fails_is_tried_again_and_then_recorded() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if lease.url.ends_with("/1") { Answer::failure(FailureKind::Timeout) } else { fine(lease) }
    });
    world.host(1, 1, 2);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
        2.100 h1 is 10.0.0.1
        2.100 get h1/1 again (1)
        4.200 h1 is 10.0.0.1
        4.200 get h1/1 again (2)
        8.300 h1 is 10.0.0.1
        8.300 get h1/2
        8.400 finished
    "#]],
    );
    assert_eq!(world.memory.pages().count(), 0);
}

#[test]
fn a_host_that_always_fails_is_left_out() {
    let config = FrontierConfig { retries: Retries { most: 0, ..Retries::default() }, ..FrontierConfig::default() };
    let mut world =
        World::new(config, |lease| if is_robots(lease) { fine(lease) } else { Answer::failure(FailureKind::Timeout) });
    world.host(1, 1, 10);
    world.run(HOUR);
    shows(
        &world.whys(),
        &expect![[r#"
        h1: not answering
    "#]],
    );
    assert_eq!(world.memory.pages().count(), 2);
}

#[test]
fn requests_that_fail_together_back_off_once() {
    let politeness = Politeness { delay: Duration::ZERO, per_host: 3, ..Politeness::default() };
    let config = FrontierConfig { politeness, ..FrontierConfig::default() };
    let mut world =
        World::new(
            config,
            |lease| {
                if is_robots(lease) || lease.attempt > 0 { fine(lease) } else { Answer::status(503) }
            },
        );
    world.host(1, 1, 3);
    shows(
        &world.run(HOUR),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 get h1/robots.txt
            0.100 get h1/1
            0.100 get h1/2
            0.100 get h1/3
            1.200 get h1/1 again (1)
            1.200 get h1/2 again (1)
            1.200 get h1/3 again (1)
            1.300 finished
        "#]],
    );
}

#[test]
fn a_slow_host_is_given_time() {
    let mut world = World::new(FrontierConfig::default(), |lease| Answer { takes: 5_000, ..fine(lease) });
    world.host(1, 1, 1);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        10.000 get h1/1
        15.000 finished
    "#]],
    );
}

#[test]
fn without_delay_a_host_takes_several_requests_at_once() {
    let politeness = Politeness { delay: Duration::ZERO, per_host: 2, ..Politeness::default() };
    let config = FrontierConfig { politeness, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.host(1, 1, 3).host(2, 1, 1);
    shows(
        &world.run(HOUR),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 h2 is 10.0.0.1
            0.000 get h1/robots.txt
            0.000 get h2/robots.txt
            0.100 get h2/1
            0.100 get h1/1
            0.100 get h1/2
            0.200 get h1/3
            0.300 finished
        "#]],
    );
}

#[test]
fn behind_a_proxy_nothing_is_resolved_and_names_share_a_delay() {
    let config = FrontierConfig { behind_proxy: true, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.host(1, 1, 1).host(2, 1, 1);
    let second = world.memory.host(2);
    (second.name, second.scheme, second.port) = ("h1".to_owned(), "https".to_owned(), 443);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 get h1/robots.txt
        1.000 get https://h1/robots.txt
        2.000 get h1/1
        3.000 get h2/1
        3.100 finished
    "#]],
    );
}

#[test]
fn a_long_break_ends_the_run_and_is_remembered() {
    let mut world = World::new(FrontierConfig::default(), |lease| match fine(lease) {
        answer if is_robots(lease) => answer,
        _ => Answer { retry_after: Some("7200"), ..Answer::status(429) },
    });
    world.host(1, 1, 2);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
        1.100 finished
    "#]],
    );
    world.commit();
    assert_eq!(world.memory.host(1).not_before, Some(Moment(7_201_100)));
    assert_eq!(world.memory.pages().count(), 2);
}

#[test]
fn the_summary_counts_hosts_by_the_reason_they_wait_for() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 5).host(2, 1, 5).host(3, 1, 5).host(4, 2, 5);
    world.run(3_600);
    let waiting = world.frontier.waiting(world.now);
    let lines: Vec<String> = waiting.reasons.iter().map(|(why, n, host)| format!("{n} {why}, as {host}\n")).collect();
    shows(
        &lines.concat(),
        &expect![[r#"
        2 waiting for delay, as h1
        2 address busy, as h2
    "#]],
    );
    assert_eq!((waiting.active, waiting.in_flight), (0, 0));
}

#[test]
fn a_host_rests_for_the_parts_of_a_page_and_so_does_their_address() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 2).host(2, 2, 2);
    let begun = world.run(1_200);
    assert!(begun.contains("1.000 get h1/1") && begun.contains("1.000 get h2/1"), "{begun}");
    // Twenty parts cost two delays more; one of them came from the other host.
    world.frontier.parts_fetched(HostId(1), 20, world.now);
    world.frontier.part_sent(Some(HostId(2)), Some("10.0.0.2".parse().unwrap()), Moment(1_500));
    assert_eq!(world.frontier.host_named("http", "h2", 80), Some(HostId(2)));
    assert!(!world.frontier.is_backing_off(HostId(1), world.now));
    let now = world.now.0;
    let rest = world.run(HOUR);
    let next = |name: &str| -> f64 {
        let line = rest.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{name}: {rest}"));
        line.trim().split(' ').next().unwrap().parse().unwrap()
    };
    assert!((next("get h1/2") - (now as f64 / 1_000.0 + 3.0)).abs() < 0.01, "{rest}");
    assert!((next("get h2/2") - 2.5).abs() < 0.01, "{rest}");
}
