//! Does a crawl survive whatever the web does to it?
//!
//! Each family of traps and nonsense is crawled together with good pages. Three things must hold in
//! the end: the run finished in bounded time and memory, what went wrong is recorded in the
//! catalogue, and every good page is there.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

#[path = "../harness/mod.rs"]
mod harness;

mod bytes;
mod content;
mod hosts;
mod pages;
mod traps;

use harness::catalogue::Catalogue;
use harness::orb::{Finished, Home, PROJECT, crawling};
use harness::web::World;
use orb_testweb::{Expectation, Feature, Spec};
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum memory and time of a crawl of any of these webs, on a busy machine.
const MOST_MEMORY: u64 = 300 << 20;
const LONGEST: Duration = Duration::from_secs(400);

/// Maximum pages between the sockets and the recorder, which compares them: this many more of a
/// trap may be requested.
const AHEAD: usize = 2_000;

/// Settings without long waits.
const HURRIED: &[&str] = &[
    "frontier.delay = '0s'",
    "frontier.retries = 0",
    "frontier.max_backoff = '50ms'",
    "fetch.timeout = '3s'",
    "fetch.total_timeout = '5s'",
];

/// A finished crawl of a hostile web.
struct Crawled {
    world: World,
    home: Home,
    finished: Finished,
}

/// A web of thirty good pages and these features.
fn web(features: &[Feature]) -> World {
    let spec = Spec { hosts: 1, pages_per_host: 30, cross_host_links: 0.0, links: 6, ..Spec::default() };
    World::new(features.iter().copied().fold(spec, Spec::with))
}

/// Writes the project file: every name resolves to the server.
fn project(world: &World, home: &Home, settings: &[&str]) -> String {
    let port = world.server.addr().port();
    let found = format!("seeds = ['{}']\nfetch.resolve = ['*:{port}:127.0.0.1']\n", world.url(0, "/"));
    let file = home.beside("p.toml");
    let lines: Vec<&str> = HURRIED.iter().chain(settings).copied().collect();
    std::fs::write(&file, found + &lines.join("\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Runs a crawl to completion, watching its time and memory.
fn watched(home: &Home, args: &[&str]) -> Finished {
    let (finished, peak) = home.start(&crawling(args), &[]).watch(LONGEST);
    assert!(peak < MOST_MEMORY, "{peak} bytes of memory: {finished}");
    finished.expect(0);
    finished
}

/// Crawls a web with these features and asserts that the run is complete.
fn crawl(features: &[Feature], settings: &[&str]) -> Crawled {
    let (world, home) = (web(features), Home::new());
    let finished = watched(&home, &[&project(&world, &home, settings)]);
    assert_eq!((&finished.json()["state"], finished.number("frontier")), (&"done".into(), 0), "{finished}");
    home.orb(&["check", PROJECT]).expect(0);
    Crawled { world, home, finished }
}

impl Crawled {
    /// What is to be found.
    fn expected(&self) -> Expectation {
        self.world.expected(orb_testweb::CrawlReach::Linked)
    }

    fn catalogue(&self) -> Catalogue {
        self.home.catalogue()
    }

    /// Asserts that every good page was fetched, and everything broken is recorded.
    #[track_caller]
    fn assert_complete(&self) {
        let expected = self.expected();
        let fetched: BTreeSet<String> = self.catalogue().urls(&["HTML", "DUPLICATE", "BINARY"]).into_iter().collect();
        let missing: Vec<_> = expected.pages.difference(&fetched).collect();
        assert!(missing.is_empty(), "good pages are missing: {missing:#?}");
        let visited: BTreeSet<String> =
            self.catalogue().column("SELECT url FROM page WHERE visits > 0").into_iter().collect();
        let unrecorded: Vec<_> = expected.broken.difference(&visited).collect();
        assert!(unrecorded.is_empty(), "not recorded: {unrecorded:#?}");
    }

    /// The kind of a page of the first host, and its problem.
    #[track_caller]
    fn fate(&self, path: &str) -> (String, String) {
        let url = self.world.url(0, path);
        let mut rows = self.catalogue().rows(&format!("SELECT kind, problem FROM page WHERE url = '{url}'"));
        let [kind, problem] = rows.pop().unwrap_or_else(|| panic!("no page {url}")).try_into().unwrap();
        (kind, problem)
    }

    /// Number of pages requested with this path prefix.
    fn asked_below(&self, path: &str) -> usize {
        let begin = self.world.url(0, path);
        self.catalogue()
            .column("SELECT url FROM page WHERE visits > 0")
            .iter()
            .filter(|url| url.starts_with(&begin))
            .count()
    }

    /// The traps that cut off URLs with this path prefix.
    fn cut_below(&self, path: &str) -> BTreeSet<String> {
        let begin = self.world.url(0, path);
        let sql = format!("SELECT DISTINCT why FROM page WHERE kind = 'OUTSIDE' AND url LIKE '{begin}%'");
        self.catalogue().column(&sql).into_iter().collect()
    }
}
