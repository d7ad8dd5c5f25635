//! Are aliases held back, and fetched if they must be?

use super::world::{HOUR, World, fine, shows};
use crate::{BelievedAliases, FrontierConfig};
use expect_test::expect;
use hashbrown::HashMap;
use orb_page::{HostId, PageId, UrlKey};
use orb_urls::alias::HostAliases;
use std::sync::Arc;

/// A host that is known to mirror its pages, as its server calls them.
pub(super) fn mirrors() -> HostAliases {
    let mut rules = HostAliases::default();
    for n in 0..4 {
        let (mirror, page) = (format!("http://h1/mirror/{n}"), format!("http://h1/{n}"));
        for place in rules.suppose(&mirror, &page) {
            rules.confirm(place, (&mirror, &page), n);
        }
    }
    rules
}

fn world() -> World {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 1);
    world.memory.admit(1, 102, 2, "/mirror/1");
    world.memory.admit(1, 103, 3, "/mirror/2");
    world.memory.admit(1, 104, 4, "/4");
    world
}

#[test]
fn an_alias_leaves_the_queue_without_a_request_and_a_test_keeps_its_place() {
    let mut world = world();
    world.tests = vec![PageId(103)];
    let aliases = BelievedAliases { rules: mirrors(), stand_ins: HashMap::new() };
    world.frontier.believe(HostId(1), Some(Arc::new(aliases)));
    shows(
        &world.run(HOUR),
        &expect![[r#"
            0.000 h1 is 10.0.0.1
            0.000 get h1/robots.txt
            1.000 get h1/1
            2.000 alias 102
            2.000 alias 103 is tested
            2.000 get h1/mirror/2
            3.000 get h1/4
            3.100 finished
        "#]],
    );
}

#[test]
fn a_page_that_was_fetched_by_an_alias_is_one_itself() {
    let mut world = world();
    let stand_ins = HashMap::from([(UrlKey::of("http://h1/4"), (PageId(99), 1))]);
    let aliases = BelievedAliases { rules: mirrors(), stand_ins };
    world.frontier.believe(HostId(1), Some(Arc::new(aliases)));
    let log = world.run(HOUR);
    assert!(log.contains("alias 104") && log.contains("get h1/1\n"), "{log}");
}

#[test]
fn a_page_that_comes_back_while_its_queue_is_read_from_the_front_again_is_fetched_once() {
    let mut world = World::new(FrontierConfig { refill: 16, ..FrontierConfig::default() }, fine);
    (world.store_takes, world.undecided) = (100, Some(Vec::new()));
    world.host(1, 1, 1);
    (2..=41).for_each(|n| world.memory.admit(1, 100 + n, n, &format!("/mirror/{n}")));
    let aliases = BelievedAliases { rules: mirrors(), stand_ins: HashMap::new() };
    world.frontier.believe(HostId(1), Some(Arc::new(aliases)));
    world.run(HOUR);
    // The first pages of the queue are read again, which does not reach those that come back.
    world.memory.admit(1, 150, 50, "/50");
    world.frontier.admitted(HostId(1), world.now);
    world.run(world.now.0 + 150);
    let undecided = world.undecided.clone().unwrap();
    assert_eq!(undecided.len(), 40);
    for lease in undecided.iter().filter(|lease| (134..=136).contains(&lease.page.0)) {
        world.frontier.spare(lease, world.now);
    }
    let log = world.run(world.now.0 + HOUR);
    let fetched: Vec<&str> = log.lines().filter_map(|line| line.split_once(" get h1")).map(|(_, url)| url).collect();
    assert_eq!(fetched, ["/mirror/34", "/mirror/35", "/mirror/36", "/50"], "{log}");
}

#[test]
fn nothing_is_held_back_when_nothing_is_believed_any_more() {
    let mut world = world();
    let aliases = BelievedAliases { rules: mirrors(), stand_ins: HashMap::new() };
    world.frontier.believe(HostId(1), Some(Arc::new(aliases)));
    world.frontier.believe(HostId(1), None);
    let log = world.run(HOUR);
    assert!(!log.contains("alias") && log.contains("get h1/mirror/1"), "{log}");
}
