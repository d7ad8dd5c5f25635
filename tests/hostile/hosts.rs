//! Are endless hosts cut off, and mirrors recognised?

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
fn hosts_that_lead_from_one_to_the_next_are_a_chain() {
    let settings = ["scope.mode = 'any'", "frontier.traps.chain = 40", "scope.rules = [{ deny = '[wm][0-9]+.h000' }]"];
    let crawled = crawl(&[Feature::Wilds], &settings);
    crawled.assert_complete();
    let hosts = crawled.finished.number("hosts");
    assert!((30..50).contains(&hosts), "{hosts} hosts");
    assert_eq!(crawled.finished.json()["traps"]["trap-chain"], 1, "{}", crawled.finished);
}

#[test]
fn redirects_from_host_to_host_and_back_end() {
    let settings = [
        "scope.mode = 'any'",
        "scope.rules = [{ allow = '/mazes/(|ping)$' }, { deny = '/mazes/|[wm][0-9]+.h000|h00[1-9]' }]",
    ];
    let crawled =
        crawl(&[Feature::Wilds, Feature::Mazes], &[settings.as_slice(), &["scope.default = 'allow'"]].concat());
    let catalogue = crawled.catalogue();
    let (ping, pong) = (crawled.world.url(0, "/mazes/ping"), crawled.world.url(6, "/pong"));
    for (from, to) in [(&ping, &pong), (&pong, &ping)] {
        assert_eq!(catalogue.page(from).kind, "REDIRECT", "{from}");
        assert!(catalogue.has_link(from, to, "redirect"), "{from} leads to {to}");
    }
}

#[test]
fn a_domain_that_is_the_same_everywhere_is_left() {
    let settings = ["scope.mode = 'any'", "fetch.connections = 8", "scope.rules = [{ deny = 'w[0-9]+.h0006' }]"];
    let crawled = crawl(&[Feature::Wilds], &settings);
    crawled.assert_complete();
    let mirrors = hosts_asked(&crawled, "h0007.test");
    // How many were requested before the first responses were compared depends on the machine.
    assert!((20..300).contains(&mirrors), "{mirrors} hosts of 401");
    assert!(crawled.finished.json()["traps"]["trap-mirror"].as_u64() > Some(90), "{}", crawled.finished);
    let own = crawled.world.url(7, "/page-");
    let kept = crawled.catalogue().urls(&["HTML", "DUPLICATE"]).iter().filter(|url| url.starts_with(&own)).count();
    assert_eq!(kept, 20, "the oldest of them is there whole");
}
