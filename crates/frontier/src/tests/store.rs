//! What if the store is slow?

use super::world::{HOUR, World, fine};
use crate::{FrontierConfig, Politeness};
use orb_page::HostId;
use std::time::Duration;

/// When a crawl of a hundred hosts ends, in milliseconds, with a store of this latency.
fn ends(delay: u64, store_takes: u64) -> i64 {
    let politeness = Politeness { delay: Duration::from_millis(delay), ..Politeness::default() };
    let mut world = World::new(FrontierConfig { politeness, refill: 16, ..FrontierConfig::default() }, fine);
    world.store_takes = store_takes;
    world.connections = 64;
    for host in 1..=100 {
        world.host(host, host as u8, 60);
    }
    let log = world.run(HOUR);
    assert!(log.ends_with("finished\n"), "{log}");
    assert_eq!(log.lines().filter(|line| line.contains(" get ") && !line.contains("robots")).count(), 6_000);
    world.now.0
}

#[test]
fn a_store_that_answers_late_does_not_lower_the_rate_of_a_crawl_of_many_hosts() {
    for delay in [0, 1_000] {
        let (at_once, late) = (ends(delay, 0), ends(delay, 50));
        assert!(late <= at_once + at_once / 20, "delay {delay}: {late} ms instead of {at_once}");
    }
}

#[test]
fn a_page_that_was_committed_while_its_queue_was_read_is_not_granted_again() {
    let mut world = World::new(FrontierConfig { refill: 4, ..FrontierConfig::default() }, fine);
    // Longer than the delay, so that pages finish, are committed and leave while a read that still
    // saw them is outstanding.
    world.store_takes = 1_700;
    world.host(1, 1, 5);
    let mut log = world.run(9_000);
    (6..=9).for_each(|page| world.memory.admit(1, 100 + page, page, &format!("/{page}")));
    world.frontier.admitted(HostId(1), world.now);
    // The queue is read from its front, where the first pages still are; before the answer arrives,
    // they are committed.
    log += &world.run(9_100);
    world.commit();
    log += &world.run(HOUR);
    for page in 1..=9 {
        let asked = log.lines().filter(|line| line.ends_with(&format!("get h1/{page}"))).count();
        assert_eq!(asked, 1, "page {page}\n{log}");
    }
    assert_eq!(world.memory.pages().count(), 0);
}
