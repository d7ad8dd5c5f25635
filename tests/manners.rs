//! Do servers have reason to complain?
//!
//! The synthetic web's own log is the witness: nothing forbidden is requested, no host and no
//! address is contacted twice within the delay, no more connections are open than allowed, and
//! nothing is requested twice.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, crawling};
use harness::script::{Script, absent, page, reply};
use harness::web::{World, assert_polite, assert_same};
use orb_testweb::{CrawlReach, Dns, Feature, GzipMode, Latency, Requests, Spec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// The time from the first request to the last.
fn span(requests: &Requests) -> Duration {
    requests.0[requests.0.len() - 1].at - requests.0[0].at
}

#[test]
fn nothing_forbidden_is_ever_asked_for_and_all_of_it_is_recorded() {
    let world = World::new(Spec::default().with(Feature::Robots).with(Feature::Furniture));
    let home = Home::new();
    let finished = home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--retries", "0"]));
    let expected = world.expected(CrawlReach::Linked);
    assert!(expected.disallowed.len() > 4);
    assert_same("asked for", &world.asked_once(), &expected.urls);
    assert_same("disallowed", &home.catalogue().urls(&["DISALLOWED"]).into_iter().collect(), &expected.disallowed);
    assert_eq!(finished.number("disallowed"), expected.disallowed.len() as u64);
    assert_eq!(finished.number("frontier"), 0);
}

#[test]
fn a_host_whose_rules_cannot_be_had_is_not_asked_for_pages() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 5, ..Spec::default() }.with(Feature::Failures));
    let home = Home::new();
    let hurried = ["frontier.delay = '0s'", "frontier.retries = 1", "frontier.max_backoff = '50ms'"];
    // One of the failures asks for a day's back-off, and would get it.
    let narrowed = ["scope.mode = 'any'", "scope.rules = [{ deny = '/failures/503' }]"];
    let finished = home.crawl(&[world.project(&home, &[hurried.as_slice(), &narrowed].concat())]);
    let forbidden = world.expected(CrawlReach::Linked).disallowed;
    assert_eq!(forbidden.len(), 1);
    let asked: BTreeSet<String> = world.asked().into_keys().collect();
    assert!(asked.is_disjoint(&forbidden), "{asked:?}");
    // Its pages wait until it responds, and the user is told why.
    assert_same("waiting", &home.catalogue().urls(&["FRONTIER"]).into_iter().collect(), &forbidden);
    assert_eq!(finished.number("frontier"), 1);
    assert!(finished.json()["waiting"].to_string().contains("robots"), "{finished}");
}

#[test]
fn a_host_that_asks_to_be_left_alone_for_a_day_is() {
    let world = World::with(&[Feature::Failures]);
    let home = Home::new();
    let mut args = world.args(&["--delay", "0", "--per-host", "1"]);
    args.push(world.url(0, "/failures/503.html"));
    let finished = home.crawl(&args);
    assert!(finished.number("frontier") > 0, "{finished}");
    let mut after = world.server.log().take().0.into_iter().skip_while(|request| request.status != 503);
    assert!(after.next().is_some() && after.next().is_none(), "nothing is asked for after the 503");
    assert!(!finished.json()["waiting"].as_array().unwrap().is_empty(), "{finished}");
}

#[test]
fn who_ignores_robots_says_so_and_then_gets_everything() {
    let world = World::new(Spec::default().with(Feature::Robots));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--ignore-robots"]));
    let expected = world.expected(CrawlReach::Linked);
    let all: BTreeSet<String> = expected.urls.union(&expected.disallowed).cloned().collect();
    assert_same("asked for", &world.asked_once(), &all);
    assert_eq!(home.catalogue().urls(&["DISALLOWED"]), [""; 0]);
}

#[test]
fn rules_for_another_agent_do_not_bind_us_and_ours_do() {
    let world = World::with(&[Feature::Robots]);
    let home = Home::new();
    let finished =
        home.orb(&crawling(&world.args(&["--delay", "0", "--user-agent", "BadBot/1.0 (+http://bad.test/)"])));
    assert!(finished.complaint(1).contains("robots"), "{finished}");
    assert_same("asked for", &world.asked_once(), &BTreeSet::new());
    assert_eq!(home.catalogue().urls(&["DISALLOWED"]), [world.url(0, "/")]);
}

#[test]
fn no_host_and_no_address_is_asked_twice_within_the_delay() {
    let delay = Duration::from_millis(200);
    // Two hosts share each address, so the address is the bottleneck.
    let world = World::new(Spec { hosts: 4, pages_per_host: 5, hosts_per_ip: 2, ..Spec::default() });
    Home::new().crawl(&world.args(&["--scope", "any", "--delay", "200ms"]));
    let requests = world.server.log().take();
    // Five pages and the robots.txt of four hosts.
    assert_eq!(requests.0.len(), 24);
    assert_polite(&requests, delay);
    let addresses: BTreeSet<_> = requests.0.iter().map(|request| request.local).collect();
    assert_eq!(addresses.len(), 2);
    // Not slower than necessary: eleven gaps on each address, both in parallel.
    assert!(span(&requests) < delay * 11 * 2, "took {:?}", span(&requests));
}

#[test]
fn the_crawl_delay_of_a_host_is_kept() {
    // The fifth host asks for a second between requests.
    let world = World::new(Spec { hosts: 5, pages_per_host: 3, ..Spec::default() }.with(Feature::Robots));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "10ms", "--retries", "0"]));
    let mut requests = world.server.log().take();
    requests.0.retain(|request| request.host.starts_with("h0004."));
    assert_eq!(requests.0.len(), 4);
    // robots.txt itself is requested before its delay is known.
    requests.0.remove(0);
    assert_polite(&requests, Duration::from_secs(1));
    let delay = home.catalogue().column("SELECT crawl_delay FROM host WHERE name = 'h0004.test'");
    assert_eq!(delay[0].parse::<f64>().unwrap(), 1.0);
}

#[test]
fn connections_never_exceed_the_caps() {
    let latency = Latency { mean: Duration::from_millis(5), spread: 0.5 };
    let world = World::new(Spec { hosts: 12, pages_per_host: 15, latency, ..Spec::default() });
    Home::new().crawl(&world.args(&["--scope", "any", "--delay", "0", "--connections", "10", "--per-host", "3"]));
    let counters = world.server.counters();
    assert!(counters.max_open <= 10, "{} connections at once", counters.max_open);
    assert!(counters.max_open > 3, "only {} connections at once", counters.max_open);
    for (host, open) in counters.max_open_by_host {
        assert!(open <= 3, "{open} connections to {host} at once");
    }
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Linked).urls);
}

#[test]
fn one_connection_is_enough() {
    let world = World::new(Spec { hosts: 3, pages_per_host: 8, ..Spec::default() });
    Home::new().crawl(&world.args(&["--scope", "any", "--delay", "0", "--connections", "1", "--per-host", "1"]));
    assert_eq!(world.server.max_open(), 1);
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Linked).urls);
}

#[test]
fn through_a_proxy_everything_is_found() {
    let world = World::new(Spec { hosts: 5, pages_per_host: 10, ..Spec::default() });
    let home = Home::new();
    let proxy = format!("http://{}", world.server.addr());
    home.crawl(&["http://h0000.test/", "--proxy", &proxy, "--scope", "any", "--delay", "0"]);
    let expected = world.server.web().expected(orb_testweb::HostNaming::Names { port: 80 }, CrawlReach::Linked);
    assert_same("asked for", &world.asked_once(), &expected.urls);
}

#[test]
fn fixed_addresses_are_used() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 6, ..Spec::default() });
    let home = Home::new();
    let port = world.server.addr().port();
    let resolve = |host: u32| format!("{}:{port}:{}", orb_testweb::name(host), orb_testweb::address(host));
    let (first, second) = (resolve(0), resolve(1));
    let flags = ["--resolve", &first, "--resolve", &second, "--scope", "any", "--delay", "0"];
    home.crawl(&[&[world.url(0, "/").as_str()], flags.as_slice()].concat());
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Linked).urls);
}

#[test]
fn private_addresses_are_visited_where_a_seed_is_one_or_the_user_says_so() {
    let world = World::new(Spec { hosts: 3, pages_per_host: 6, ..Spec::default() });
    let dns = Dns::spawn(world.server.web()).unwrap();
    let (seed, dns) = (world.url(0, "/"), dns.addr().to_string());
    let args = [seed.as_str(), "--dns", &dns, "--scope", "any", "--delay", "0", "--retries", "0"];
    let home = Home::new();
    home.crawl(&args);
    assert_same("of the seed's host", &world.asked_once(), &world.expected(CrawlReach::Host(0)).urls);
    let refused = home.catalogue().column("SELECT DISTINCT problem FROM page WHERE kind = 'DOMAIN_ERROR'");
    assert!(!refused.is_empty() && refused.iter().all(|why| why.contains("loopback address")), "{refused:?}");
    Home::new().crawl(&[args.as_slice(), &["--allow-private"]].concat());
    assert_same("everywhere", &world.asked_once(), &world.expected(CrawlReach::Linked).urls);
}

#[test]
fn the_agent_says_who_it_is() {
    let world = World::with(&[]);
    Home::new().crawl(&world.args(&["--delay", "0"]));
    for request in world.server.log().take().0 {
        assert!(request.agent.starts_with("Orbweaver/"), "{}", request.agent);
    }
    Home::new().crawl(&world.args(&["--delay", "0", "--user-agent", "Surveyor/3 (+http://survey.test/)"]));
    for request in world.server.log().take().0 {
        assert_eq!(&*request.agent, "Surveyor/3 (+http://survey.test/)");
    }
}

#[test]
fn the_total_rate_is_kept() {
    let spec = Spec { hosts: 4, pages_per_host: 10, page_bytes: 20_000, gzip: GzipMode::Never, ..Spec::default() };
    let world = World::new(spec);
    Home::new().crawl(&world.args(&["--scope", "any", "--delay", "0", "--bandwidth", "400kB/s"]));
    let requests = world.server.log().take();
    // Forty pages of 20 kB take two seconds at that rate; an initial burst is allowed.
    assert!(span(&requests) > Duration::from_millis(1_000), "took {:?}", span(&requests));
}

#[test]
fn a_server_that_asks_for_time_gets_it_and_its_pages_are_had_in_the_end() {
    let world = World::with(&[Feature::Retries]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--retries", "4"]));
    let expected = world.expected(CrawlReach::Host(0));
    let asked = world.asked();
    // A server error without `Retry-After` is final.
    let refusing = expected.retried.iter().filter(|(url, _)| !url.ends_with("/stumbles.html"));
    for (url, refusals) in refusing {
        let page = home.catalogue().page(url);
        assert_eq!((page.kind.as_str(), page.status, page.visits), ("HTML", Some(200), 1), "{url}");
        assert_eq!(asked[url], *refusals as usize + 1, "{url}");
    }
}

#[test]
fn after_retry_after_the_host_is_left_alone_for_that_long() {
    let world = World::with(&[Feature::Retries]);
    Home::new().crawl(&world.args(&["--delay", "0", "--retries", "4"]));
    let requests = world.server.log().take().0;
    for path in ["/retries/too-many.html", "/retries/busy.html"] {
        let refused = requests.iter().position(|request| &*request.path == path).unwrap();
        let again = requests[refused + 1..].iter().find(|request| &*request.path == path).unwrap();
        let pause = again.at - requests[refused].at;
        assert!(pause + Duration::from_millis(50) >= Duration::from_secs(1), "{path} was asked again after {pause:?}");
    }
}

/// A site whose page `/N` answers so many times with status N and then with a page; `/always/N`
/// never does.
fn stumbling(times: usize) -> Script {
    let tries: Mutex<BTreeMap<String, usize>> = Mutex::default();
    Script::serve(move |heard| {
        let target = heard.target.clone();
        let codes = ["408", "425", "429", "500", "502", "503", "504"];
        if target == "/" {
            let passing = codes.map(|code| format!("/{code}"));
            return page(passing.into_iter().chain(["/always/500", "/501"].map(str::to_owned)));
        }
        let mut tries = tries.lock().unwrap();
        let tried = tries.entry(target.clone()).or_default();
        *tried += 1;
        let code = target.rsplit('/').next().unwrap();
        match code {
            "robots.txt" => absent(),
            _ if target.starts_with("/always/") || code == "501" || *tried <= times => {
                reply(&format!("{code} No"), "", &format!("try {tried}"))
            }
            _ => page([""; 0]),
        }
    })
}

/// Kind and number of requests of every page of that site.
fn stumbled(site: &Script, settings: &[&str]) -> BTreeMap<String, (String, usize)> {
    let home = Home::new();
    let origin = format!("http://{}", site.address);
    let file = home.beside("p.toml");
    let base = ["frontier.delay = '0s'", "frontier.max_backoff = '50ms'"];
    std::fs::write(&file, format!("seeds = ['{origin}/']\n{}\n{}", base.join("\n"), settings.join("\n"))).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    let asked = |path: &str| site.heard().iter().filter(|heard| heard.target == path).count();
    let rows = home.catalogue().rows("SELECT url, replace(kind, 'DUPLICATE', 'HTML') FROM page");
    let path = |url: &str| url.trim_start_matches(&origin).to_owned();
    rows.iter().map(|row| (path(&row[0]), (row[1].clone(), asked(&path(&row[0]))))).collect()
}

#[test]
fn answers_that_may_pass_are_tried_again_as_often_as_wanted() {
    let html = |requests| ("HTML".to_owned(), requests);
    let error = |requests| ("HTTP_ERROR".to_owned(), requests);
    let told = stumbled(&stumbling(2), &[]);
    for code in ["/408", "/425", "/429", "/500", "/502", "/503", "/504"] {
        assert_eq!(told[code], html(3), "{code}");
    }
    assert_eq!((&told["/always/500"], &told["/501"]), (&error(3), &error(1)));
    let once = stumbled(&stumbling(2), &["frontier.retries = 1"]);
    assert_eq!((&once["/500"], &once["/503"]), (&error(2), &error(2)));
    let chosen = stumbled(&stumbling(1), &["frontier.retry.codes = [503, 501]"]);
    assert_eq!((&chosen["/503"], &chosen["/500"], &chosen["/501"]), (&html(2), &error(1), &error(3)));
}
