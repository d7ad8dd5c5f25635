//! Does a walk through the web find what the web promises?
//!
//! A minimal crawler with a browser's parser, its own robots matcher and its own client walks the
//! served web; what it has seen must equal the expectation to the last URL.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod client;

use client::{Answer, get};
use encoding_rs::Encoding;
use orb_testweb::{CrawlReach, Expectation, Feature, Server, Spec};
use scraper::{Html, Selector};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use url::Url;

/// Longer pages exist to hurt parsers that build trees.
const LONGEST_PARSED: usize = 150_000;
/// Longer URLs need not be requested.
const LONGEST_URL: usize = 2_000;

#[derive(Default)]
struct Walk {
    /// Requested URLs, with the last response.
    seen: BTreeMap<String, Answer>,
    tries: BTreeMap<String, u32>,
    disallowed: BTreeSet<String>,
    nofollow: BTreeSet<String>,
    robots: HashMap<String, Option<String>>,
    queue: Vec<String>,
    known: BTreeSet<String>,
}

impl Walk {
    fn begin(seeds: &[String], expected: &Expectation, host_only: bool) -> Self {
        let mut walk = Self { queue: seeds.to_vec(), known: seeds.iter().cloned().collect(), ..Self::default() };
        let home = Url::parse(&seeds[0]).unwrap();
        while let Some(url) = walk.queue.pop() {
            for link in walk.visit(&url) {
                let within = expected.endless.iter().any(|start| link.starts_with(start.as_str()));
                let deeper = within && expected.endless.iter().any(|start| url.starts_with(start.as_str()));
                let outside = host_only && Url::parse(&link).unwrap().host() != home.host();
                if !deeper && !outside && link.len() < LONGEST_URL && walk.known.insert(link.clone()) {
                    walk.queue.push(link);
                }
            }
        }
        walk
    }

    /// Requests a page, if allowed, and returns its links.
    fn visit(&mut self, url: &str) -> Vec<String> {
        if !self.allowed(url) {
            self.disallowed.insert(url.to_owned());
            return Vec::new();
        }
        let mut answer = get(url, "");
        for _ in 0..4 {
            if !matches!(answer.status, 0 | 429 | 500 | 503) || url.contains("/failures/") || url.contains("/lies/") {
                break;
            }
            *self.tries.entry(url.to_owned()).or_default() += 1;
            answer = get(url, "");
        }
        let base = Url::parse(url).unwrap();
        let mut links: Vec<_> = answer.header("location").and_then(|to| base.join(to).ok()).into_iter().collect();
        let html = answer.header("content-type").is_none_or(|mime| mime.starts_with("text/html"));
        if html && answer.status == 200 && answer.body.len() < LONGEST_PARSED {
            links.extend(self.links(&base, &answer));
        }
        self.seen.insert(url.to_owned(), answer);
        links.into_iter().filter(|link| link.scheme() == "http" && link.host().is_some()).map(canonical).collect()
    }

    fn links(&mut self, base: &Url, answer: &Answer) -> Vec<Url> {
        let tree = Html::parse_document(&decoded(answer));
        let select = |css: &str| Selector::parse(css).unwrap();
        let base = tree
            .select(&select("base[href]"))
            .next()
            .and_then(|element| base.join(element.attr("href")?).ok())
            .unwrap_or(base.clone());
        let closed = tree.select(&select("meta[name='robots' i][content*='nofollow' i]")).next().is_some();
        let mut links = Vec::new();
        for (css, attribute) in [
            ("a[href], area[href]", "href"),
            ("link[rel='stylesheet'], link[rel='icon']", "href"),
            ("img[src], script[src], iframe[src]", "src"),
        ] {
            for element in tree.select(&select(css)) {
                let Some(link) = element.attr(attribute).and_then(|href| base.join(href).ok()) else {
                    continue;
                };
                let rel = element.attr("rel").unwrap_or("").to_ascii_lowercase();
                if closed || rel.split_ascii_whitespace().any(|word| word == "nofollow") {
                    self.nofollow.insert(canonical(link));
                } else {
                    links.push(link);
                }
            }
        }
        links
    }

    fn allowed(&mut self, url: &str) -> bool {
        let parsed = Url::parse(url).unwrap();
        let root = parsed.join("/robots.txt").unwrap().to_string();
        let rules = self.robots.entry(root.clone()).or_insert_with(|| {
            let answer = get(&root, "");
            match answer.status {
                200 => Some(String::from_utf8(answer.body).unwrap()),
                500.. => None,
                _ => Some(String::new()),
            }
        });
        let target = &parsed[url::Position::BeforePath..];
        rules.as_ref().is_some_and(|rules| permits(rules, target))
    }
}

/// The longest matching rule decides; in a tie, `Allow` wins.
fn permits(robots: &str, target: &str) -> bool {
    let (mut ours, mut best) = (false, (0, true));
    for line in robots.trim_start_matches('\u{feff}').lines() {
        let line = line.split('#').next().unwrap_or("");
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "user-agent" => ours = value == "*",
            "allow" | "disallow" if ours && !value.is_empty() && matches(value, target) => {
                best = best.max((value.len(), name == "allow"));
            }
            _ => {}
        }
    }
    best.1
}

fn matches(rule: &str, target: &str) -> bool {
    let (rule, anchored) = rule.strip_suffix('$').map_or((rule, false), |rule| (rule, true));
    let mut parts = rule.split('*');
    let Some(mut rest) = target.strip_prefix(parts.next().unwrap_or("")) else {
        return false;
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    !anchored || rest.is_empty()
}

/// Without fragment and session id.
fn canonical(mut url: Url) -> String {
    url.set_fragment(None);
    if let Some((path, _)) = url.path().to_owned().split_once(";jsessionid=") {
        url.set_path(path);
    }
    if let Some(query) = url.query().filter(|query| query.contains("sid=") || query.contains("PHPSESSID=")) {
        let kept: Vec<_> =
            query.split('&').filter(|part| !part.starts_with("sid=") && !part.starts_with("PHPSESSID=")).collect();
        url.set_query(Some(&kept.join("&")));
    }
    url.into()
}

/// Byte order mark, header, declaration in the page, UTF-8: in this order.
fn decoded(answer: &Answer) -> String {
    let start = String::from_utf8_lossy(&answer.body[..answer.body.len().min(1_024)]).to_ascii_lowercase();
    let header = answer.header("content-type").unwrap_or("").to_ascii_lowercase();
    let label = [header.as_str(), start.as_str()].into_iter().find_map(|text| {
        let after = text.split("charset=").nth(1)?.trim_start_matches(['"', '\'']);
        after.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter)).next().map(str::to_owned)
    });
    let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(&answer.body).0.into_owned()
}

fn assert_walk(spec: Spec, reach: CrawlReach) -> (Walk, Expectation) {
    let hosts = spec.hosts;
    let server = Server::spawn(spec).unwrap();
    let expected = server.expected(reach);
    let seeds: Vec<_> = match reach {
        CrawlReach::Host(host) => vec![server.url(host)],
        CrawlReach::Linked => vec![server.url(0)],
        CrawlReach::Seeded => (0..hosts).map(|host| server.url(host)).collect(),
    };
    let walk = Walk::begin(&seeds, &expected, matches!(reach, CrawlReach::Host(_)));
    let seen: BTreeSet<_> = walk.seen.keys().cloned().collect();
    let wanted: BTreeSet<_> = expected.urls.union(&expected.sessions).cloned().collect();
    let (missed, extra) = (wanted.difference(&seen).collect::<Vec<_>>(), seen.difference(&wanted).collect::<Vec<_>>());
    assert!(missed.is_empty() && extra.is_empty(), "missed {missed:#?}\nextra {extra:#?}");
    assert_eq!(walk.disallowed, expected.disallowed);
    assert_eq!(walk.nofollow, expected.nofollow);
    for url in &expected.pages {
        assert_eq!(walk.seen[url].status, 200, "{url}");
    }
    for (url, status) in &expected.errors {
        assert_eq!(walk.seen[url].status, *status, "{url}");
    }
    let requests = server.log().take();
    assert_eq!(server.counters().requests, requests.0.len() as u64);
    for url in &expected.disallowed {
        assert_eq!(requests.by_url().get(url), None, "{url}");
    }
    (walk, expected)
}

#[test]
fn every_corner_is_as_expected() {
    let (walk, expected) = assert_walk(Spec::zoo().harmless(), CrawlReach::Linked);
    for (url, (status, to)) in &expected.redirects {
        let answer = &walk.seen[url];
        let location = Url::parse(url).unwrap().join(answer.header("location").unwrap());
        assert_eq!(answer.status, *status, "{url}");
        assert_eq!(location.map_or_else(|_| to.clone(), canonical), *to, "{url}");
    }
    let retried: BTreeMap<_, _> = walk.tries.clone();
    assert_eq!(retried, expected.retried);
    for group in &expected.duplicates {
        let bodies: BTreeSet<_> = group.iter().map(|url| walk.seen[url].body.clone()).collect();
        assert_eq!(bodies.len(), 1, "{group:?}");
    }
    assert_eq!(expected.duplicates.len(), 9);
}

#[test]
fn every_feature_alone_is_as_expected() {
    for feature in Feature::ALL.iter().filter(|feature| !feature.is_hostile()) {
        assert_walk(Spec { hosts: 2, pages_per_host: 4, ..Spec::default().with(*feature) }, CrawlReach::Linked);
    }
}

#[test]
fn the_demo_is_as_expected_at_every_epoch() {
    for epoch in 0..4 {
        assert_walk(Spec { epoch, ..Spec::demo() }, CrawlReach::Linked);
    }
}

#[test]
fn the_newspaper_is_as_expected_in_every_edition() {
    for epoch in 0..3 {
        let spec = Spec { epoch, hosts: 1, pages_per_host: 1, ..Spec::default().with(Feature::Gazette) };
        let (_, expected) = assert_walk(spec, CrawlReach::Linked);
        assert_eq!(expected.pages.len() as u64, 203 + 2 * epoch);
        assert_eq!(expected.errors.is_empty(), epoch == 0);
    }
}

#[test]
fn a_walk_that_stays_on_its_host_finds_that_host() {
    assert_walk(Spec::demo(), CrawlReach::Host(0));
    assert_walk(Spec::demo(), CrawlReach::Host(3));
}

#[test]
fn unconnected_hosts_are_walked_from_their_seeds() {
    let spec = Spec { cross_host_links: 0.0, hosts: 4, ..Spec::default() };
    let (walk, _) = assert_walk(spec.clone(), CrawlReach::Seeded);
    assert_eq!(walk.seen.len(), 80);
    assert_eq!(assert_walk(spec, CrawlReach::Linked).0.seen.len(), 20);
}

#[test]
fn a_bench_page_has_its_links_and_nothing_else() {
    let (walk, expected) = assert_walk(Spec { log: true, ..Spec::bench(5, 60, 20_000, 40) }, CrawlReach::Linked);
    assert_eq!(expected.urls.len(), 300);
    let anchor = Selector::parse("[href], [src]").unwrap();
    for answer in walk.seen.values() {
        assert_eq!(answer.body.len(), 20_000);
        let tree = Html::parse_document(std::str::from_utf8(&answer.body).unwrap());
        assert_eq!(tree.select(&anchor).count(), 40);
    }
}

#[test]
fn sitemaps_name_the_pages_no_link_leads_to() {
    let server = Server::spawn(Spec { hosts: 1, ..Spec::default().with(Feature::Sitemaps) }).unwrap();
    let expected = server.expected(CrawlReach::Linked);
    let robots = get(&server.addresses().url(0, "/robots.txt"), "");
    let index = String::from_utf8(robots.body).unwrap().split("Sitemap: ").nth(1).unwrap().trim().to_owned();
    let (mut maps, mut listed) = (BTreeSet::from([index.clone()]), BTreeSet::new());
    maps.extend(locations(&get(&index, "").body));
    for map in maps.iter().filter(|map| **map != index) {
        listed.extend(locations(&get(map, "").body));
    }
    assert_eq!(maps, expected.sitemaps);
    assert_eq!(listed, expected.listed);
    assert!(listed.iter().all(|url| get(url, "").status == 200));
}

/// The URLs in a sitemap of any format.
fn locations(bytes: &[u8]) -> Vec<String> {
    use std::io::Read;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes.to_vec()).unwrap();
    }
    let words = text.split(['<', '>', '\n']);
    words.filter(|word| word.starts_with("http://") && !word.contains("sitemaps.org")).map(str::to_owned).collect()
}
