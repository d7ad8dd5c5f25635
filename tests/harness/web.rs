//! How is the synthetic web served, with its hosts at distinct addresses?

use super::orb::Home;
use orb_testweb::{CrawlReach, Expectation, Feature, HostNaming, Requests, Server, Spec, Web};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How late the server may notice a request: a gap may really have been longer by this much.
const LATENESS: Duration = Duration::from_millis(40);

/// A web whose hosts have names and distinct addresses.
pub(crate) struct World {
    pub(crate) server: Server,
}

impl World {
    /// Serves the web of this spec.
    pub(crate) fn new(spec: Spec) -> Self {
        let web = Web::new(spec).unwrap();
        Self { server: Server::start(web, "0.0.0.0:0").unwrap() }
    }

    /// A web of one small host with only these features.
    pub(crate) fn with(features: &[Feature]) -> Self {
        let spec = Spec { hosts: 1, pages_per_host: 5, cross_host_links: 0.0, links: 4, ..Spec::default() };
        Self::new(features.iter().copied().fold(spec, Spec::with))
    }

    /// A varied web of a few hosts, crawled completely.
    pub(crate) fn crawled() -> (Self, Home) {
        let features = [Feature::Furniture, Feature::Media, Feature::Duplicates, Feature::Errors, Feature::Charsets];
        let world = Self::new(features.into_iter().fold(Spec { pages_per_host: 10, ..Spec::default() }, Spec::with));
        let home = Home::new();
        home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
        (world, home)
    }

    /// How its URLs name hosts.
    pub(crate) fn naming(&self) -> HostNaming {
        self.server.names()
    }

    /// The URL of a path on a host.
    pub(crate) fn url(&self, host: u32, path: &str) -> String {
        self.naming().url(host, path)
    }

    /// What a crawl must find.
    pub(crate) fn expected(&self, reach: CrawlReach) -> Expectation {
        self.server.web().expected(self.naming(), reach)
    }

    /// The `--resolve` arguments that map every host to its address.
    fn resolve(&self) -> Vec<String> {
        self.resolve_beside(0)
    }

    /// The same where so many addresses are another web's.
    pub(crate) fn resolve_beside(&self, taken: u32) -> Vec<String> {
        let web = self.server.web();
        let at = |host: u32| orb_testweb::address(taken + host / web.spec().hosts_per_ip);
        let port = self.server.addr().port();
        (0..web.hosts()).map(|host| format!("{}:{port}:{}", orb_testweb::name(host), at(host))).collect()
    }

    /// The arguments of a crawl from its first page: its addresses, and these.
    pub(crate) fn args(&self, more: &[&str]) -> Vec<String> {
        let mut args = vec![self.url(0, "/")];
        for fixed in self.resolve() {
            args.extend(["--resolve".to_owned(), fixed]);
        }
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        args
    }

    /// Writes a project file for a crawl from its first page, with these settings (`section.key =
    /// value`); returns its path.
    pub(crate) fn project(&self, home: &Home, settings: &[&str]) -> String {
        let file = home.beside("p.toml");
        let found = format!("seeds = ['{}']\nfetch.resolve = {:?}\n", self.url(0, "/"), self.resolve());
        std::fs::write(&file, found + &settings.join("\n")).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// The requests since the last call with their counts, except robots.txt.
    pub(crate) fn asked(&self) -> BTreeMap<String, usize> {
        without_robots(&self.server.log().take())
    }

    /// The requests since the last call, except robots.txt; panics if anything was requested twice.
    #[track_caller]
    pub(crate) fn asked_once(&self) -> BTreeSet<String> {
        let asked = self.asked();
        let twice: Vec<_> = asked.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "asked for more than once: {twice:?}");
        asked.into_keys().collect()
    }
}

/// Number of requests by URL, except robots.txt.
pub(crate) fn without_robots(requests: &Requests) -> BTreeMap<String, usize> {
    let mut asked = requests.by_url();
    asked.retain(|url, _| !url.ends_with("/robots.txt"));
    asked
}

/// Asserts that no two requests to one host, or to one address, were closer than the delay.
#[track_caller]
pub(crate) fn assert_polite(requests: &Requests, delay: Duration) {
    let by_host = requests.min_gap_by_host();
    assert!(!by_host.is_empty(), "nobody was asked twice");
    for (host, gap) in by_host {
        assert!(gap + LATENESS >= delay, "{host} was asked twice within {gap:?}");
    }
    for (address, gap) in requests.min_gap_by_local_ip() {
        assert!(gap + LATENESS >= delay, "{address} was asked twice within {gap:?}");
    }
}

/// Asserts that two sets of URLs are equal, and names the differences.
#[track_caller]
pub(crate) fn assert_same(what: &str, found: &BTreeSet<String>, wanted: &BTreeSet<String>) {
    let too_many: Vec<_> = found.difference(wanted).take(20).collect();
    let missing: Vec<_> = wanted.difference(found).take(20).collect();
    assert!(too_many.is_empty() && missing.is_empty(), "{what}: too many {too_many:#?}, missing {missing:#?}");
}
