//! Is everything in scope collected, and nothing else?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::web::{World, assert_same};
use orb_testweb::{CrawlReach, Feature, GzipMode, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// Four connected hosts.
fn connected() -> World {
    World::new(Spec { hosts: 4, pages_per_host: 30, links: 6, ..Spec::default() })
}

/// The host of a URL.
fn host(url: &str) -> &str {
    url.trim_start_matches("http://").split([':', '/']).next().unwrap()
}

#[test]
fn by_default_a_crawl_keeps_to_the_hosts_of_its_seeds() {
    let world = connected();
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Host(0)).urls);
    let catalogue = home.catalogue();
    let outside = catalogue.urls(&["OUTSIDE"]);
    assert!(!outside.is_empty() && outside.iter().all(|url| host(url) != "h0000.test"), "{outside:?}");
    // Links out of scope are still recorded.
    assert!(catalogue.links().iter().any(|link| host(&link[1]) == "h0001.test"));
    assert_eq!(catalogue.column("SELECT DISTINCT why FROM page WHERE kind = 'OUTSIDE'"), ["scope"]);
}

#[test]
fn a_seed_on_each_host_opens_each_host() {
    let world = World::new(Spec { hosts: 3, pages_per_host: 10, cross_host_links: 0.0, ..Spec::default() });
    let home = Home::new();
    let list = home.beside("seeds.txt");
    let seeds = [world.url(0, "/"), world.url(1, "/"), world.url(2, "/")].join("\n");
    std::fs::write(&list, format!("# three hosts\n{seeds}\n")).unwrap();
    let listed = format!("@{}", list.display());
    let mut args = world.args(&["--delay", "0"]);
    args[0] = listed;
    home.crawl(&args);
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Seeded).urls);
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE depth = 0"), 3);
}

#[test]
fn a_domain_is_all_its_hosts_and_test_is_no_domain() {
    let world = connected();
    Home::new().crawl(&world.args(&["--delay", "0", "--scope", "domain"]));
    // `h0001.test` and `h0002.test` are separate registrable domains, since `.test` is not in the
    // Public Suffix List.
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Host(0)).urls);
}

#[test]
fn neighbours_are_fetched_and_their_links_are_not() {
    let world = connected();
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "neighbours"]));
    let asked = world.asked_once();
    let own = world.expected(CrawlReach::Host(0)).urls;
    let mut wanted = own.clone();
    wanted
        .extend(home.catalogue().links().into_iter().filter(|link| own.contains(&link[0])).map(|link| link[1].clone()));
    assert_same("asked for", &asked, &wanted);
    assert!(wanted.len() > own.len());
    assert!(wanted.len() < world.expected(CrawlReach::Linked).urls.len());
}

#[test]
fn a_prefix_is_the_folder_of_the_seed() {
    let world = World::with(&[Feature::Redirects, Feature::Media]);
    let home = Home::new();
    let mut args = world.args(&["--delay", "0", "--scope", "prefix"]);
    args[0] = world.url(0, "/media/");
    home.crawl(&args);
    let below = |url: &String| url.starts_with(&world.url(0, "/media/"));
    let wanted = world.expected(CrawlReach::Host(0)).urls.into_iter().filter(below).collect();
    assert_same("asked for", &world.asked_once(), &wanted);
}

#[test]
fn rules_narrow_the_scope_and_the_first_that_matches_decides() {
    let world = World::with(&[Feature::Media, Feature::Redirects, Feature::Errors]);
    let home = Home::new();
    let flags = ["--allow", "picture\\.svg$", "--deny", "/media/picture", "--deny", "/errors/", "--delay", "0"];
    home.crawl(&world.args(&flags));
    let denied =
        |url: &String| !url.ends_with("picture.svg") && (url.contains("/media/picture") || url.contains("/errors/"));
    let wanted: BTreeSet<String> =
        world.expected(CrawlReach::Host(0)).urls.into_iter().filter(|url| !denied(url)).collect();
    assert_same("asked for", &world.asked_once(), &wanted);
    assert!(wanted.iter().any(|url| url.ends_with("picture.svg")));
    let denied: Vec<String> = home.catalogue().urls(&["OUTSIDE"]).into_iter().filter(denied).collect();
    assert!(!denied.is_empty(), "what was denied is known");
}

#[test]
fn rules_that_only_allow_leave_the_rest_out_and_do_not_widen_the_scope() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 5, ..Spec::default() }.with(Feature::Media));
    Home::new().crawl(&world.args(&["--allow", "/(corners|media)/", "--delay", "0"]));
    let kept = |url: &String| url.contains("/corners/") || url.contains("/media/");
    let mut wanted: BTreeSet<String> = world.expected(CrawlReach::Host(0)).urls.into_iter().filter(kept).collect();
    wanted.insert(world.url(0, "/"));
    assert_same("asked for", &world.asked_once(), &wanted);
}

#[test]
fn depth_is_counted_in_links_from_the_seed() {
    let world = connected();
    let depths = depths_of(&world);
    for depth in [0, 1, 2] {
        let home = Home::new();
        home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--depth", &depth.to_string()]));
        let wanted = depths.iter().filter(|(_, at)| **at <= depth).map(|(url, _)| url.clone()).collect();
        assert_same(&format!("asked for at depth {depth}"), &world.asked_once(), &wanted);
        assert_eq!(home.catalogue().number("SELECT max(depth) FROM page WHERE visits > 0"), i64::from(depth));
    }
}

/// The distance of each page from the first, from a full crawl and a walk over its links.
fn depths_of(world: &World) -> BTreeMap<String, u32> {
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "any"]));
    world.server.log().take();
    let mut by_source: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for link in home.catalogue().links() {
        by_source.entry(link[0].clone()).or_default().push(link[1].clone());
    }
    let mut depths = BTreeMap::from([(world.url(0, "/"), 0)]);
    let mut ring = vec![world.url(0, "/")];
    for depth in 1.. {
        let next = ring.iter().flat_map(|url| by_source.get(url).into_iter().flatten());
        ring = next.filter(|url| !depths.contains_key(*url)).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        if ring.is_empty() {
            break;
        }
        depths.extend(ring.iter().map(|url| (url.clone(), depth)));
    }
    depths
}

#[test]
fn a_budget_of_pages_is_kept_to_the_page_and_a_later_crawl_goes_on() {
    let world = connected();
    let home = Home::new();
    let finished = home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-pages", "17"]));
    assert_eq!(finished.number("pages"), 17);
    assert_eq!(finished.json()["state"], "budget");
    let first = world.asked_once();
    assert_eq!(first.len(), 17);
    assert!(finished.number("frontier") > 0);
    let rest = home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-pages", "1000000"]));
    assert_eq!(rest.json()["state"], "done");
    let second = world.asked_once();
    assert!(first.is_disjoint(&second));
    assert_same(
        "asked for in both",
        &first.union(&second).cloned().collect(),
        &world.expected(CrawlReach::Linked).urls,
    );
}

#[test]
fn budgets_of_bytes_and_of_time_end_a_crawl() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 60, gzip: GzipMode::Never, ..Spec::default() });
    let bytes = Home::new().crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-bytes", "100kB"]));
    assert_eq!(bytes.json()["state"], "budget");
    assert!((100_000..400_000).contains(&bytes.number("bytes")), "{bytes}");
    let time = Home::new().crawl(&world.args(&["--delay", "100ms", "--scope", "any", "--max-time", "1s"]));
    assert_eq!(time.json()["state"], "budget");
    assert!(time.json()["seconds"].as_f64().unwrap() < 10.0, "{time}");
    assert!(time.number("frontier") > 0, "{time}");
}

#[test]
fn orders_differ_in_what_comes_first_and_agree_in_the_end() {
    let world = World::new(Spec { hosts: 1, pages_per_host: 60, links: 2, cross_host_links: 0.0, ..Spec::default() });
    let depths = depths_of(&world);
    let mut followed = BTreeMap::new();
    let mut courses = BTreeSet::new();
    for order in ["bfs", "dfs", "best", "random"] {
        let (course, links) = course(&world, order);
        assert_same(order, &course.iter().cloned().collect(), &depths.keys().cloned().collect());
        if order == "bfs" {
            assert!(course.iter().map(|url| depths[url]).is_sorted(), "{course:?}");
        }
        let steps = course.windows(2).filter(|pair| links.contains(&(pair[0].clone(), pair[1].clone())));
        followed.insert(order, steps.count());
        courses.insert(course);
    }
    assert_eq!(courses.len(), 4, "four orders are four courses");
    // Depth-first continues from the page just read, if that page has something new.
    assert!(followed["dfs"] > 20 && followed["dfs"] > 2 * followed["bfs"], "{followed:?}");
}

/// The pages of a crawl in the order they were requested, and the links between them.
fn course(world: &World, order: &str) -> (Vec<String>, BTreeSet<(String, String)>) {
    let home = Home::new();
    let order = format!("frontier.order = '{order}'");
    // One request at a time, each page recorded before the next one is chosen.
    let slowly = ["frontier.delay = '25ms'", "crawl.batch_pages = 1", "crawl.batch_time = '1ms'", &order];
    home.crawl(&[world.project(&home, &slowly)]);
    let requests = world.server.log().take();
    let pages = requests.0.iter().map(orb_testweb::LoggedRequest::url).filter(|url| !url.ends_with("/robots.txt"));
    let links = home.catalogue().links().into_iter().map(|link| (link[0].clone(), link[1].clone()));
    (pages.collect(), links.collect())
}

#[test]
fn only_the_wanted_media_types_are_fetched_whole() {
    let world = World::with(&[Feature::Media]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--accept", "text/html", "--accept", "image/*"]));
    let catalogue = home.catalogue();
    let page = |path: &str| catalogue.page(&world.url(0, path));
    assert_eq!(page("/media/picture.png").kind, "BINARY");
    assert!(page("/media/picture.png").digest.is_some());
    assert!(page("/media/paper.pdf").length.is_none_or(|length| length == 0), "{:?}", page("/media/paper.pdf"));
    assert_eq!(page("/media/paper.pdf").mime.as_deref(), Some("application/pdf"));
}
