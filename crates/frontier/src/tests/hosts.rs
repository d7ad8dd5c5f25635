//! Which pages and hosts are taken in, and which are given up?

use super::world::{Answer, HOUR, World, fine, is_robots, shows};
use crate::{Budget, FrontierConfig, Next, Order, Politeness};
use expect_test::expect;
use orb_page::{FailureKind, HostId, Lease};
use orb_urls::scheme::Manners;
use std::time::Duration;

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
        3.000 fail 1 Dns
        3.000 fail 2 Dns
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
            3.300 fail 101 Connect
            3.300 fail 102 Connect
            3.300 finished
        "#]],
    );
}

#[test]
fn a_host_that_hangs_on_some_pages_is_asked_for_the_others_before_it_is_given_up() {
    let number = |lease: &Lease| lease.url.rsplit('/').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let mut world = World::new(FrontierConfig::default(), move |lease| {
        if (11..=22).contains(&number(lease)) { Answer::failure(FailureKind::Timeout) } else { fine(lease) }
    });
    world.host(1, 1, 60);
    let log = world.run(5 * HOUR);
    let got = |n: u64| log.lines().any(|line| line.ends_with(&format!("get h1/{n}")));
    let missing: Vec<u64> = (1..=60).filter(|n| !got(*n)).collect();
    assert_eq!(missing, [0; 0], "{log}");
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
fn hosts_turned_away_while_the_queues_are_walked_are_found_by_another_walk() {
    let config = FrontierConfig { workbench: 1, ..FrontierConfig::default() };
    let mut world = World::new(config, fine);
    world.host(10, 10, 2).host(20, 20, 2).host(30, 30, 2);
    world.restart();
    world.run(1_500);
    for id in 1..=9 {
        world.host(id, id as u8, 1);
    }
    let log = world.run(HOUR);
    assert_eq!(world.memory.pages().count(), 0, "{log}");
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
fn an_empty_frontier_is_finished() {
    let mut world = World::new(FrontierConfig::default(), fine);
    assert_eq!(world.next(), Next::Finished);
}

#[test]
fn where_connections_are_scarce_hosts_are_finished_before_others_are_begun() {
    let politeness = Politeness { delay: Duration::ZERO, ..Politeness::default() };
    let mut world = World::new(FrontierConfig { politeness, ..FrontierConfig::default() }, fine);
    world.connections = 2;
    for host in 1..=30 {
        world.host(host, host as u8, 9);
    }
    let log = world.run(HOUR);
    let (mut open, mut most) = (std::collections::BTreeMap::new(), 0);
    for page in log.lines().filter_map(|line| line.split_once(" get ")).map(|(_, url)| url) {
        let (host, path) = page.split_once('/').unwrap();
        if path == "robots.txt" {
            open.insert(host, 9);
        } else if let Some(left) = open.get_mut(host) {
            *left -= 1;
            if *left == 0 {
                open.remove(host);
            }
        }
        most = most.max(open.len());
    }
    assert!(log.ends_with("finished\n") && open.is_empty(), "{log}");
    // In the order in which they came, all thirty would be started before one is finished.
    assert!(most <= 16, "{most} hosts begun at once");
}

#[test]
fn where_hosts_outnumber_connections_they_keep_theirs() {
    let politeness = Politeness { delay: Duration::ZERO, ..Politeness::default() };
    let config = FrontierConfig { politeness, ..FrontierConfig::default() };
    for shared in [false, true] {
        // Answers come in another order than they were asked for.
        let answer = |lease: &Lease| Answer { takes: 20 + lease.page.0 * 7_919 % 80, ..fine(lease) };
        let mut world = World::new(config.clone(), answer);
        (world.connections, world.sockets.shared) = (32, shared);
        for host in 1..=50 {
            world.host(host, host as u8, 80);
        }
        let log = world.run(HOUR);
        assert!(log.ends_with("finished\n"), "{log}");
        let opened = world.sockets.opened;
        assert!(opened * 20 <= 50 * 81, "{opened} connections for {} requests, shared: {shared}", 50 * 81);
    }
}

#[test]
fn a_scheme_without_robots_and_names_is_asked_for_neither_and_owed_no_delay() {
    orb_urls::scheme::register("mem", Manners { port: 1, robots: false, resolve: false }).unwrap();
    let mut world = World::new(FrontierConfig::default(), fine);
    world.memory.host(1).scheme = "mem".to_owned();
    world.host(1, 1, 2);
    shows(
        &world.run(HOUR),
        &expect![[r#"
        0.000 get h1/1
        0.000 get h1/2
        0.100 finished
    "#]],
    );
}
