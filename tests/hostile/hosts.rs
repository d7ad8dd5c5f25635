//! Are hosts without end cut off, and mirrors told?

use crate::crawl;
use orb_testweb::Feature;

fn hosts_asked(crawled: &crate::Crawled, below: &str) -> usize {
    let names = crawled.catalogue().column("SELECT name FROM host WHERE pages > 0");
    names.iter().filter(|name| name.contains(below)).count()
}

#[test]
fn hosts_without_end_below_one_domain_are_cut() {
    let crawled = crawl(&[Feature::Wilds], &["scope.mode = 'any'", "frontier.traps.hosts_per_domain = 40"]);
    crawled.assert_complete();
    let wild = hosts_asked(&crawled, "h0006.test");
    assert!((40..=41).contains(&wild), "{wild} hosts");
    assert!(crawled.finished.json()["traps"]["trap-hosts"].as_u64() > Some(10), "{}", crawled.finished);
}

#[test]
fn a_domain_that_is_the_same_everywhere_is_left() {
    let settings = ["scope.mode = 'any'", "fetch.connections = 8", "scope.rules = [{ deny = 'w[0-9]+.h0006' }]"];
    let crawled = crawl(&[Feature::Wilds], &settings);
    crawled.assert_complete();
    let mirrors = hosts_asked(&crawled, "h0007.test");
    // How many were asked before the first answers were compared depends on the machine.
    assert!((20..300).contains(&mirrors), "{mirrors} hosts of 401");
    assert!(crawled.finished.json()["traps"]["trap-mirror"].as_u64() > Some(90), "{}", crawled.finished);
    let own = crawled.world.url(7, "/page-");
    let kept = crawled.catalogue().urls(&["HTML", "DUPLICATE"]).iter().filter(|url| url.starts_with(&own)).count();
    assert_eq!(kept, 20, "the oldest of them is there whole");
}
