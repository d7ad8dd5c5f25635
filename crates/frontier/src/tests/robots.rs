//! What do robots.txt files change?

use super::world::{Answer, HOUR, World, fine, is_robots, shows};
use crate::{FrontierConfig, Retries};
use expect_test::expect;
use orb_page::{FailureKind, HostId, Moment};
use std::time::Duration;

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
fn pages_of_a_host_that_refuses_are_dropped_though_robots_are_ignored() {
    let config = FrontierConfig { ignore_robots: true, ..FrontierConfig::default() };
    let mut world = World::new(config, |_| Answer::failure(FailureKind::Connect));
    world.host(1, 1, 10);
    let log = world.run(HOUR);
    assert_eq!(log.lines().filter(|l| l.contains(" get ")).count(), 8, "{log}");
    assert_eq!(log.lines().filter(|l| l.ends_with("Connect")).count(), 8, "{log}");
    assert_eq!(world.memory.pages().count(), 0);
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
            1.000 get h2/1
            1.000 h2 is 10.0.0.2
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
    let config = FrontierConfig {
        robots_max_age: Duration::from_secs(2),
        retries: Retries { most: 1, ..Retries::default() },
        ..FrontierConfig::default()
    };
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
    let judge = |world: &mut World, url: &str| {
        world.frontier.judge(HostId(1), url, None, 1, Moment(0)).map(|(k, why)| (k.name(), why.name()))
    };
    assert_eq!(judge(&mut world, "http://h1/no/1"), None);
    assert_eq!(judge(&mut world, "http://h1/a/b/a/b/a/b"), Some(("OUTSIDE", "trap-repeat")));
    world.run(HOUR);
    assert_eq!(judge(&mut world, "http://h1/no/1"), Some(("DISALLOWED", "robots")));
    assert_eq!(judge(&mut world, "http://h1/yes"), None);
}
