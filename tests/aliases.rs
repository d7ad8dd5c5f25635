//! Are addresses that lead to one page fetched once, and those that only look so all of them?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Script, absent, page, reply};
use harness::web::{World, assert_same};
use orb_testweb::{Feature, aliased_titles, decoy_titles};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The hosts of the corner, beyond the only ordinary one.
const ALIASED: u32 = 12;
const DECOYS: u32 = 13;

/// The settings of a crawl of one of the hosts.
fn project(world: &World, home: &Home, host: u32, more: &[&str]) -> String {
    let seeds = format!("seeds = ['{}']", world.url(host, "/"));
    let own = ["frontier.delay = '0s'", "index.enabled = false"];
    let file = world.project(home, &own);
    let text = std::fs::read_to_string(&file).unwrap();
    let rest: Vec<&str> = text.lines().skip(1).chain(more.iter().copied()).collect();
    std::fs::write(&file, format!("{seeds}\n{}\n", rest.join("\n"))).unwrap();
    file
}

/// The titles of the documents that were fetched.
fn titles(home: &Home) -> BTreeSet<String> {
    home.catalogue().column("SELECT DISTINCT title FROM page WHERE title NOTNULL").into_iter().collect()
}

fn count(home: &Home, sql: &str) -> u64 {
    u64::try_from(home.catalogue().number(sql)).unwrap()
}

#[test]
fn pages_with_many_addresses_are_all_found_by_little_more_than_one_request_each() {
    let world = World::with(&[Feature::Aliases]);
    let home = Home::new();
    let summary = home.crawl(&[project(&world, &home, ALIASED, &[])]).json();
    assert_same("pages", &titles(&home), &aliased_titles());
    let (requests, pages) = (world.asked().values().sum::<usize>(), aliased_titles().len());
    let known = count(&home, "SELECT count(*) FROM page");
    println!("{requests} requests for {pages} pages with {known} addresses: {}", requests as f64 / pages as f64);
    assert!(requests as f64 <= pages as f64 * 1.25, "{requests} requests for {pages} pages");
    let withheld = count(&home, "SELECT count(*) FROM page WHERE kind = 'DUPLICATE' AND why = 'alias'");
    assert_eq!((summary["aliases"].as_u64(), summary["frontier"].as_u64()), (Some(withheld), Some(0)));
    home.orb(&["check", PROJECT]).expect(0);
    explains(&world, &home, withheld);
}

/// Every command says what was withheld, by which rule, and instead of which page.
fn explains(world: &World, home: &Home, withheld: u64) {
    let rows = home.catalogue();
    let url = &rows.column("SELECT url FROM page WHERE why = 'alias' AND url LIKE '%/mirror/topic%' LIMIT 1")[0];
    let shown = home.orb(&["show", PROJECT, url, "--json"]).expect(0).json();
    let of = shown["alias"]["url"].as_str().unwrap();
    assert_eq!((&shown["page"]["kind"], &shown["page"]["why"]), (&"DUPLICATE".into(), &"alias".into()));
    assert_eq!(shown["page"]["duplicate_of"], shown["alias"]["of"]);
    assert!(shown["alias"]["rule"].as_str().unwrap().contains("'/mirror/' is '/'"), "{shown}");
    let text = home.orb(&["show", PROJECT, url]).expect(0).text().to_owned();
    assert!(text.contains("alias of") && text.contains(of) && text.contains("'/mirror/' is '/'"), "{text}");
    let stats = home.orb(&["stats", PROJECT, "--json"]).expect(0).json();
    assert_eq!(stats["whole"]["aliases"], withheld);
    let host = &stats["aliases"][0];
    assert_eq!(format!("{}/", host["host"].as_str().unwrap()), world.url(ALIASED, "/"));
    let rules = host["rules"].as_array().unwrap();
    let believed = |rule: &str| rules.iter().any(|r| r["rule"] == rule && r["state"] == "believed");
    for rule in ["'/mirror/' is '/'", "'/print/' is '/'", "'//' is '/'", "letter case does not matter"] {
        assert!(believed(rule), "{rule}: {host}");
    }
    assert!(believed("the parameter 'ref' does not matter"), "{host}");
    let text = home.orb(&["stats", PROJECT]).expect(0).text().to_owned();
    assert!(text.contains("aliases") && text.contains("'/print/' is '/'"), "{text}");
}

#[test]
fn no_page_is_lost_where_addresses_only_look_like_aliases() {
    let world = World::with(&[Feature::Aliases]);
    let home = Home::new();
    home.crawl(&[project(&world, &home, DECOYS, &[])]);
    assert_same("pages", &titles(&home), &decoy_titles());
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_crawl_that_is_killed_again_and_again_knows_its_aliases_and_loses_nothing() {
    for (host, wanted) in [(ALIASED, aliased_titles()), (DECOYS, decoy_titles())] {
        let world = World::with(&[Feature::Aliases]);
        let home = Home::new();
        let file = project(&world, &home, host, &["crawl.batch_time = '50ms'"]);
        for _ in 0..4 {
            let enough = world.server.counters().requests + 150;
            let mut crawl = home.start(&harness::orb::crawling(&[&file]), &[]);
            let mut ended = false;
            harness::until("it is at work", || {
                ended = crawl.ended().is_some();
                ended || world.server.counters().requests >= enough
            });
            if !ended {
                crawl.signal(Signal::KILL);
                crawl.finish();
            }
        }
        home.crawl(&[file]);
        assert_same("pages", &titles(&home), &wanted);
        home.orb(&["check", PROJECT]).expect(0);
        let ratio = world.asked().values().sum::<usize>() as f64 / wanted.len() as f64;
        println!("host {host}: {ratio} requests a page, over five starts");
        assert!(host == DECOYS || ratio < 1.6, "{ratio}");
    }
}

#[test]
fn nothing_is_withheld_where_nobody_is_to_learn_and_what_was_comes_back() {
    let world = World::with(&[Feature::Aliases]);
    let home = Home::new();
    let off = ["frontier.max_pages = 700", "frontier.learn_aliases = false"];
    home.crawl(&[project(&world, &home, ALIASED, &off)]);
    assert_eq!(count(&home, "SELECT count(*) FROM page WHERE why = 'alias'"), 0);
    let home = Home::new();
    home.crawl(&[project(&world, &home, ALIASED, &["frontier.max_pages = 700"])]);
    assert!(count(&home, "SELECT count(*) FROM page WHERE why = 'alias'") > 200);
    home.crawl(&[project(&world, &home, ALIASED, &["frontier.max_pages = 10", "frontier.learn_aliases = false"])]);
    assert_eq!(count(&home, "SELECT count(*) FROM page WHERE why = 'alias'"), 0);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn aliases_are_neither_fetched_nor_missed_when_pages_are_tracked() {
    let world = World::with(&[Feature::Aliases]);
    let home = Home::new();
    home.crawl(&[project(&world, &home, ALIASED, &[])]);
    let fetched: BTreeSet<String> = world.asked().into_keys().collect();
    let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0).json();
    let again: BTreeSet<String> = world.asked().into_keys().collect();
    assert_same("visited again", &again, &fetched);
    assert_eq!((&tracked["flags"]["MIS"], &tracked["flags"]["ERR"]), (&0.into(), &0.into()), "{tracked}");
    assert_eq!((&tracked["flags"]["NEW"], &tracked["flags"]["UPD"]), (&0.into(), &0.into()), "{tracked}");
    home.orb(&["check", PROJECT]).expect(0);
}

/// A scripted site of numbered pages, each with a mirror, some of them on each of its lists.
/// `answer` says what is at an address other than the lists', if something.
fn mirrored(pages: usize, answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Script {
    const LISTED: usize = 10;
    Script::serve(move |heard| {
        let listed = match heard.target.strip_prefix("/list") {
            Some(list) => list.parse().ok().map(|list: usize| {
                let pages = list * LISTED..((list + 1) * LISTED).min(pages);
                page(pages.flat_map(|n| [format!("/p{n}"), format!("/mirror/p{n}")]))
            }),
            None if heard.target == "/" => Some(page((0..pages / LISTED).map(|list| format!("/list{list}")))),
            None => answer(&heard.target),
        };
        listed.unwrap_or_else(absent)
    })
}

/// The number of a page, and whether this is its mirror.
fn number(target: &str) -> Option<(usize, bool)> {
    let rest = target.strip_prefix("/mirror");
    Some((rest.unwrap_or(target).strip_prefix("/p")?.parse().ok()?, rest.is_some()))
}

fn text(name: &str) -> Vec<u8> {
    let body = format!("<title>{name}</title><p>{}</p>", format!("{name} says this. ").repeat(5));
    reply("200 OK", "Content-Type: text/html\r\n", &body)
}

/// A project file for a scripted site.
fn scripted(home: &Home, script: &Script, more: &[&str]) -> String {
    let file = home.beside("project.toml");
    let seeds = format!("seeds = ['http://127.0.0.1:{}/']", script.port());
    let own = [seeds.as_str(), "frontier.delay = '0s'", "index.enabled = false"];
    std::fs::write(&file, own.iter().chain(more).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    file.to_string_lossy().into_owned()
}

/// The titles of pages, other than the lists'.
fn page_titles(home: &Home) -> BTreeSet<String> {
    titles(home).into_iter().filter(|title| title.contains(' ')).collect()
}

fn named(names: &str, numbers: impl IntoIterator<Item = usize>) -> BTreeSet<String> {
    numbers.into_iter().map(|n| format!("{names} {n}")).collect()
}

const WITHHELD: &str = "SELECT count(*) FROM page WHERE why = 'alias'";

#[test]
fn an_alias_of_a_page_that_is_not_there_is_fetched_after_all() {
    // Some pages have a mirror, and some are only there.
    let there = |n: usize| n < 20;
    let script = mirrored(60, move |target| {
        let (n, mirror) = number(target)?;
        (mirror || there(n)).then(|| text(&format!("page {n}")))
    });
    let home = Home::new();
    home.crawl(&[scripted(&home, &script, &[])]);
    assert_same("pages", &page_titles(&home), &named("page", 0..60));
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_rule_that_holds_for_half_of_a_host_is_withdrawn_and_loses_nothing() {
    let script = mirrored(400, |target| {
        let (n, mirror) = number(target)?;
        Some(text(&format!("{} {n}", if mirror && n >= 200 { "mirrored" } else { "page" })))
    });
    let home = Home::new();
    home.crawl(&[scripted(&home, &script, &[])]);
    let wanted = &named("page", 0..400) | &named("mirrored", 200..400);
    assert_same("pages", &page_titles(&home), &wanted);
    let rule = &home.orb(&["stats", PROJECT, "--json"]).expect(0).json()["aliases"][0]["rules"][0];
    assert_eq!((&rule["state"], &rule["withheld"]), (&"withdrawn".into(), &0.into()), "{rule}");
    assert_eq!(count(&home, WITHHELD), 0);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn an_alias_is_fetched_when_its_page_is_gone() {
    let gone = Arc::new(AtomicBool::new(false));
    let is_gone = Arc::clone(&gone);
    let script = mirrored(400, move |target| {
        let (n, mirror) = number(target)?;
        (mirror || n < 300 || !is_gone.load(Ordering::Relaxed)).then(|| text(&format!("page {n}")))
    });
    let home = Home::new();
    home.crawl(&[scripted(&home, &script, &[])]);
    let withheld = count(&home, WITHHELD);
    assert!(withheld > 100, "{withheld}");
    gone.store(true, Ordering::Relaxed);
    let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0).json();
    assert_eq!(tracked["flags"]["MIS"], 100, "{tracked}");
    let there = home.catalogue().column("SELECT DISTINCT title FROM page WHERE status = 200 AND title LIKE 'page %'");
    assert_same("pages", &there.into_iter().collect(), &named("page", 0..400));
    assert!((1..withheld).contains(&count(&home, WITHHELD)), "only those of the missing pages came back");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_rule_that_tracking_contradicts_is_withdrawn_when_both_pages_have_settled() {
    let apart = Arc::new(AtomicBool::new(false));
    let are_apart = Arc::clone(&apart);
    let script = mirrored(400, move |target| {
        let (n, mirror) = number(target)?;
        let other = mirror && are_apart.load(Ordering::Relaxed);
        Some(text(&format!("{} {n}", if other { "mirrored" } else { "page" })))
    });
    let home = Home::new();
    home.crawl(&[scripted(&home, &script, &[])]);
    let withheld = count(&home, WITHHELD);
    assert!(withheld > 100, "{withheld}");
    apart.store(true, Ordering::Relaxed);
    // What has changed may have been changed between two requests.
    home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    assert_eq!(count(&home, WITHHELD), withheld);
    let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0).json();
    assert_eq!((&tracked["flags"]["NEW"], count(&home, WITHHELD)), (&withheld.into(), 0), "{tracked}");
    assert!(named("mirrored", 0..400).is_subset(&titles(&home)));
    let stats = home.orb(&["stats", PROJECT]).expect(0).text().to_owned();
    assert!(stats.contains("'/mirror/' is '/'") && stats.contains("withdrawn"), "{stats}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn an_alias_that_leaves_the_scope_is_outside() {
    let script = mirrored(400, |target| number(target).map(|(n, _)| text(&format!("page {n}"))));
    let home = Home::new();
    home.crawl(&[scripted(&home, &script, &[])]);
    let withheld = count(&home, WITHHELD);
    assert!(withheld > 100, "{withheld}");
    home.crawl(&[scripted(&home, &script, &["scope.rules = [{ deny = '/mirror/' }]"])]);
    let outside = count(&home, "SELECT count(*) FROM page WHERE kind = 'OUTSIDE' AND url LIKE '%/mirror/%'");
    assert_eq!((outside, count(&home, WITHHELD)), (withheld, 0));
    assert_same("pages", &page_titles(&home), &named("page", 0..400));
    home.orb(&["check", PROJECT]).expect(0);
}
