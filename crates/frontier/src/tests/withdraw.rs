//! Do pages leave the queues during a run, each once and however they wait?

use super::world::{HOUR, World, fine};
use crate::FrontierConfig;
use orb_page::{HostId, PageId};
use orb_store::QueuePlace;
use std::sync::Arc;
use std::time::Duration;

/// The requests for a page of host 1.
fn asked(log: &str, page: u64) -> usize {
    log.lines().filter(|line| line.ends_with(&format!("get h1/{page}"))).count()
}

#[test]
fn pages_are_withdrawn_from_memory_from_the_store_and_from_reads_under_way_but_not_from_the_wire() {
    for store_takes in [0, 1_700] {
        let mut world = World::new(FrontierConfig { refill: 4, ..FrontierConfig::default() }, fine);
        world.store_takes = store_takes;
        world.host(1, 1, 12);
        let mut log = world.run(3_500);
        // Of every three one stays.
        let pages = (1..=12).filter(|n| n % 3 > 0);
        let places: Vec<QueuePlace> =
            pages.map(|n| QueuePlace { host: HostId(1), rank: n, page: PageId(100 + n) }).collect();
        let begun: Vec<u64> = (1..=12).filter(|n| asked(&log, *n) > 0).collect();
        let taken = world.frontier.withdraw(&places, world.now);
        assert!(begun.iter().all(|n| !taken.contains(&PageId(100 + n))), "{begun:?} {taken:?}");
        // They are committed while reads that still saw them may be under way.
        for place in places.iter().filter(|place| taken.contains(&place.page)) {
            world.memory.remove(place.host, place.rank, place.page);
        }
        world.frontier.committed(&taken.iter().copied().collect::<Vec<_>>());
        log += &world.run(HOUR);
        for n in 1..=12 {
            assert_eq!(asked(&log, n), usize::from(!taken.contains(&PageId(100 + n))), "page {n}\n{log}");
        }
        assert!(taken.len() >= 5 && log.ends_with("finished\n"), "{log}");
        assert_eq!(world.memory.pages().count(), 0);
    }
}

#[test]
fn what_may_not_be_fetched_any_more_is_dropped_when_its_turn_comes() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 4);
    world.frontier.bar(Arc::new(|url, step| step.is_none() && (url.ends_with("/2") || url.ends_with("/3"))));
    let log = world.run(HOUR);
    assert_eq!([1, 2, 3, 4].map(|n| asked(&log, n)), [1, 0, 0, 1], "{log}");
    assert_eq!(log.matches("OUTSIDE rule").count(), 2, "{log}");
}

#[test]
fn another_delay_holds_from_the_next_request_on() {
    let mut world = World::new(FrontierConfig::default(), fine);
    world.host(1, 1, 9);
    world.run(3_500);
    world.frontier.set_delay(Duration::from_secs(10));
    let log = world.run(60_000);
    let begun = (1..=9).filter(|n| asked(&log, *n) > 0).count();
    assert!((5..=7).contains(&begun), "{log}");
}
