//! Does a crawl survive whatever the web does to it?
//!
//! Each family of traps and nonsense is crawled together with good pages. Three things must be so in the end: the run is done within bounded
//! time and memory, what went wrong is a fact in the catalogue, and every good page is there.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

#[path = "../harness/mod.rs"]
mod harness;

mod bytes;
mod hosts;
mod pages;
mod traps;

use harness::catalogue::Catalogue;
use harness::orb::{Finished, Home, PROJECT, crawling};
use harness::web::World;
use orb_testweb::{Expectation, Feature, Spec};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The most memory a crawl of any of these webs may take, and the longest it may last, on a machine busy with others.
const MOST_MEMORY: u64 = 300 << 20;
const LONGEST: Duration = Duration::from_secs(400);

/// How many pages may lie between the sockets and the recorder, which compares them: so many more of a trap may be asked for.
const AHEAD: usize = 2_000;

/// Settings under which nothing waits for long.
const HURRIED: &[&str] = &[
    "frontier.delay = '0s'",
    "frontier.retries = 0",
    "frontier.max_backoff = '50ms'",
    "fetch.timeout = '3s'",
    "fetch.total_timeout = '5s'",
];

/// A crawl of a hostile web, when it is over.
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

/// Writes the project file: every name leads to the server.
fn project(world: &World, home: &Home, settings: &[&str]) -> String {
    let port = world.server.addr().port();
    let found = format!("seeds = ['{}']\nfetch.resolve = ['*:{port}:127.0.0.1']\n", world.url(0, "/"));
    let file = home.beside("p.toml");
    let lines: Vec<&str> = HURRIED.iter().chain(settings).copied().collect();
    std::fs::write(&file, found + &lines.join("\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Runs a crawl to its end, watching its time and its memory.
fn watched(home: &Home, args: &[&str]) -> Finished {
    let mut running = home.start(&crawling(args), &[]);
    let (begin, mut peak) = (Instant::now(), 0);
    loop {
        if let Some(finished) = running.ended() {
            assert!(peak < MOST_MEMORY, "{peak} bytes of memory: {finished}");
            finished.expect(0);
            return finished;
        }
        peak = running.peak_memory().unwrap_or(0).max(peak);
        assert!(begin.elapsed() < LONGEST, "it goes on and on");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Crawls a web with these features and expects the run to be done, with nothing left.
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
        self.world.expected(orb_testweb::Reach::Linked)
    }

    fn catalogue(&self) -> Catalogue {
        self.home.catalogue()
    }

    /// Fails the test unless every good page was fetched, and everything that is broken is recorded.
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

    /// How many pages were asked for whose path begins so.
    fn asked_below(&self, path: &str) -> usize {
        let begin = self.world.url(0, path);
        self.catalogue()
            .column("SELECT url FROM page WHERE visits > 0")
            .iter()
            .filter(|url| url.starts_with(&begin))
            .count()
    }

    /// The traps that cut off addresses beginning so.
    fn cut_below(&self, path: &str) -> BTreeSet<String> {
        let begin = self.world.url(0, path);
        let sql = format!("SELECT DISTINCT why FROM page WHERE kind = 'OUTSIDE' AND url LIKE '{begin}%'");
        self.catalogue().column(&sql).into_iter().collect()
    }
}
