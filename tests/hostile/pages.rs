//! Are pages read that would choke a browser, and sitemaps of absurd size?

use crate::{AHEAD, crawl};
use orb_testweb::Feature;

#[test]
fn pages_beyond_measure_are_read_as_far_as_it_makes_sense() {
    let crawled = crawl(&[Feature::Vast], &["fetch.max_size = '30MB'"]);
    crawled.assert_complete();
    for (name, problem) in [("links", "too-many-links"), ("base", "too-many-links"), ("location", "longer than")] {
        let path = if name == "location" { "/vast/location".to_owned() } else { format!("/vast/{name}.html") };
        let (_, said) = crawled.fate(&path);
        assert!(said.contains(problem), "{name}: {said:?}");
    }
    assert!(crawled.asked_below("/vast/leaf/") < 300 + AHEAD, "pages that are all the same are left");
    let fakes = crawled.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%fake%'");
    assert_eq!(fakes, 0, "UTF-7 is no encoding");
}

#[test]
fn sitemaps_and_rules_without_end_are_read_in_part_and_obeyed() {
    let crawled = crawl(&[Feature::Atlases], &["scope.mode = 'any'", "fetch.max_size = '2MB'"]);
    crawled.assert_complete();
    let catalogue = crawled.catalogue();
    for host in 8..11 {
        let private = crawled.world.url(host, "/private/page.html");
        assert_eq!(catalogue.page(&private).kind, "DISALLOWED", "{private}");
    }
    for (path, problem) in [("/vast.xml", "too-large"), ("/bomb.xml.gz", "truncated"), ("/long.xml", "long-target")] {
        let url = crawled.world.url(8, path);
        let said = catalogue.column(&format!("SELECT problem FROM page WHERE url = '{url}'")).remove(0);
        assert!(said.contains(problem), "{path}: {said:?}");
    }
    for path in ["/listed.html", "/in-the-bomb.html"] {
        assert_eq!(catalogue.page(&crawled.world.url(8, path)).kind, "HTML", "{path}");
    }
    let many = crawled.world.url(8, "/many/");
    let asked = catalogue.number(&format!("SELECT count(*) FROM page WHERE visits > 0 AND url LIKE '{many}%'"));
    assert!(usize::try_from(asked).unwrap() < 300 + AHEAD, "{asked} of the same pages");
}
