//! What happens when …?

use super::{Answer, World};
use crate::{Budget, FrontierConfig, Next, Order, Politeness};
use expect_test::{Expect, expect};
use orb_page::{FailureKind, HostId, Lease, Moment, Purpose};
use std::time::Duration;

fn is_robots(lease: &Lease) -> bool {
    lease.purpose == Purpose::Robots
}

fn fine(lease: &Lease) -> Answer {
    Answer::status(if is_robots(lease) { 404 } else { 200 })
}

fn shows(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

const HOUR: i64 = 3_600_000;

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
        1.000 get h2/robots.txt
        1.000 get h3/1
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
fn crawl_delay_is_kept_and_named() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if is_robots(lease) { Answer::text("user-agent: *\ncrawl-delay: 7\n") } else { Answer::status(200) }
    });
    world.host(1, 1, 2);
    shows(
        &world.run(5_000),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 get h1/robots.txt
        "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
            h1: waiting for crawl-delay until 00:00:07.000Z
        "#]],
    );
    shows(
        &world.run(HOUR),
        &expect![[r#"
            7.000 get h1/1
            14.000 get h1/2
            14.100 finished
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
fn robots_that_fail_are_tried_again_and_then_the_host_is_left_out() {
    let mut world = World::new(FrontierConfig::default(), |_| Answer::status(500));
    world.host(1, 1, 2);
    shows(
        &world.run(1_000),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
    "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
        h1: backing off until 00:00:01.100Z
    "#]],
    );
    shows(
        &world.run(HOUR),
        &expect![[r#"
            1.100 get h1/robots.txt again (1)
            3.200 get h1/robots.txt again (2)
            3.300 finished
        "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
        h1: robots unreachable
    "#]],
    );
    assert_eq!(world.memory.pages().count(), 2);
}

#[test]
fn pages_of_a_host_that_does_not_exist_are_dropped() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.memory.admit(1, 1, 1, "/a");
    world.memory.admit(1, 2, 2, "/b");
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is nothing
        1.000 h1 is nothing
        3.000 h1 is nothing
        3.000 drop 1 DOMAIN_ERROR unresolvable
        3.000 drop 2 DOMAIN_ERROR unresolvable
        3.000 finished
    "#]],
    );
    shows(
        &world.whys(),
        &expect![[r#"
        h1: nothing queued
    "#]],
    );
}

#[test]
fn pages_of_a_host_that_refuses_are_dropped() {
    let mut world = World::new(FrontierConfig::default(), |_| Answer::failure(FailureKind::Connect));
    world.host(1, 1, 2);
    shows(
        &world.run(HOUR),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 get h1/robots.txt
            1.100 h1 is 10.0.0.1
            1.100 get h1/robots.txt again (1)
            3.200 h1 is 10.0.0.1
            3.200 get h1/robots.txt again (2)
            3.300 drop 101 DOMAIN_ERROR refused
            3.300 drop 102 DOMAIN_ERROR refused
            3.300 finished
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
fn a_disallowed_page_is_dropped_and_never_leased() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if is_robots(lease) { Answer::text("user-agent: *\ndisallow: /2\n") } else { Answer::status(200) }
    });
    world.host(1, 1, 3);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
        2.000 drop 102 DISALLOWED robots
        2.000 get h1/3
        2.100 finished
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
    let config = FrontierConfig { retries: 0, ..FrontierConfig::default() };
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
fn robots_are_followed_to_where_they_moved() {
    let mut world = World::new(FrontierConfig::default(), |lease| match (is_robots(lease), &*lease.url) {
        (true, "http://h1/robots.txt") => Answer { text: "http://h2/r", ..Answer::status(301) },
        (true, "http://h2/r") => Answer::text("user-agent: *\ndisallow: /2\n"),
        _ => fine(lease),
    });
    world.host(1, 1, 2).host(2, 2, 1);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 h2 is 10.0.0.2
        0.000 get h1/robots.txt
        0.000 get h2/robots.txt
        1.000 h2 is 10.0.0.2
        1.000 get h2/1
        2.000 get h2/r
        3.000 get h1/1
        4.000 drop 102 DISALLOWED robots
        4.000 finished
    "#]],
    );
}

#[test]
fn robots_that_move_for_ever_count_as_absent() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if is_robots(lease) { Answer { text: "http://h1/r", ..Answer::status(302) } } else { fine(lease) }
    });
    world.host(1, 1, 1);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/r
        2.000 get h1/r
        3.000 get h1/r
        4.000 get h1/r
        5.000 get h1/r
        6.000 get h1/1
        6.100 finished
    "#]],
    );
}

#[test]
fn robots_are_read_again_when_they_are_old_and_the_old_ones_do_while_the_new_cannot_be_had() {
    let config = FrontierConfig { robots_max_age: Duration::from_secs(2), retries: 1, ..FrontierConfig::default() };
    let mut reads = 0;
    let mut world = World::new(config, move |lease| {
        if !is_robots(lease) {
            return Answer::status(200);
        }
        reads += 1;
        if reads == 1 { Answer::text("user-agent: *\ndisallow: /4\n") } else { Answer::status(500) }
    });
    world.host(1, 1, 4);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
        2.000 get h1/2
        3.000 get h1/robots.txt
        4.100 get h1/robots.txt again (1)
        5.100 get h1/3
        6.100 drop 104 DISALLOWED robots
        6.100 finished
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
        0.100 get h1/1
        0.100 get h2/1
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
fn the_budget_is_never_exceeded() {
    let config = FrontierConfig { budget: Budget { pages: Some(2) }, ..FrontierConfig::default() };
    let mut failed = false;
    let mut world = World::new(config, move |lease| {
        let first = !is_robots(lease) && !std::mem::replace(&mut failed, !is_robots(lease));
        if first { Answer::status(502) } else { fine(lease) }
    });
    world.host(1, 1, 3);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
        2.000 get h1/1 again (1)
        3.000 get h1/2
        3.100 budget spent
    "#]],
    );
    assert_eq!(world.frontier.granted(), 2);
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
fn a_depth_first_crawl_takes_what_was_found_last() {
    let config = FrontierConfig { order: Order::Dfs, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.host(1, 1, 3);
    shows(
        &world.run(1_500),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/robots.txt
        1.000 get h1/1
    "#]],
    );
    world.memory.admit(1, 999, 0, "/new");
    world.frontier.admitted(HostId(1), world.now);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        2.000 get h1/new
        3.000 get h1/2
        4.000 get h1/3
        4.100 finished
    "#]],
    );
}

#[test]
fn a_breadth_first_crawl_finds_what_was_admitted_behind_it() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 3);
    world.run(2_500);
    world.memory.admit(1, 999, 0, "/new");
    world.frontier.admitted(HostId(1), world.now);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        3.000 get h1/3
        4.000 get h1/new
        4.100 finished
    "#]],
    );
}

#[test]
fn more_hosts_than_fit_into_memory_are_all_visited() {
    let config = FrontierConfig { workbench: 3, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    for id in 1..=200 {
        world.host(id, (id % 200) as u8, 2);
    }
    let log = world.run(10 * HOUR);
    assert_eq!(world.memory.pages().count(), 0, "{log}");
    assert_eq!(log.lines().filter(|l| l.contains("robots.txt")).count(), 200);
}

#[test]
fn a_crowded_address_leaves_room_for_others() {
    let config = FrontierConfig { workbench: 200, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    for id in 1..=300 {
        world.host(id, 1, 1);
    }
    world.host(400, 2, 1);
    let log = world.run(HOUR);
    let other = log.lines().find(|l| l.contains("get h400/1")).unwrap();
    assert!(other.starts_with("1.") || other.starts_with("2."), "{other}");
    assert_eq!(world.memory.pages().count(), 0);
}

#[test]
fn ignoring_robots_asks_for_none() {
    let config = FrontierConfig { ignore_robots: true, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.host(1, 1, 1);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 h1 is 10.0.0.1
        0.000 get h1/1
        0.100 finished
    "#]],
    );
}

#[test]
fn a_link_is_judged_by_traps_and_by_robots_known() {
    let mut world = World::new(FrontierConfig::default(), |lease| {
        if is_robots(lease) { Answer::text("user-agent: *\ndisallow: /no\n") } else { Answer::status(200) }
    });
    world.host(1, 1, 1);
    let judge =
        |world: &mut World, url: &str| world.frontier.judge(HostId(1), url, Moment(0)).map(|(k, why)| (k.name(), why));
    assert_eq!(judge(&mut world, "http://h1/no/1"), None);
    assert_eq!(judge(&mut world, "http://h1/a/b/a/b/a/b"), Some(("OUTSIDE", "trap-repeat")));
    world.run(HOUR);
    assert_eq!(judge(&mut world, "http://h1/no/1"), Some(("DISALLOWED", "robots")));
    assert_eq!(judge(&mut world, "http://h1/yes"), None);
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
fn an_empty_frontier_is_finished() {
    let mut world = World::new(FrontierConfig::default(), fine);
    assert_eq!(world.frontier.next(&world.memory, Moment(0)).unwrap(), Next::Finished);
}
