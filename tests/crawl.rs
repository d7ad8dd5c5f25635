//! Does a crawl find every page and report each correctly?
//!
//! The synthetic web knows what must be found; its log says what was requested; the catalogue must
//! agree with both.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::web::{World, assert_same};
use orb_testweb::{CrawlReach, Dns, Feature, Spec};
use std::collections::BTreeSet;

/// Everything except hosts that hang, flood or never end.
fn friendly() -> Spec {
    let features = [
        Feature::Furniture,
        Feature::Validators,
        Feature::Redirects,
        Feature::Media,
        Feature::Charsets,
        Feature::Duplicates,
        Feature::Mirrors,
    ];
    features.into_iter().fold(Spec { pages_per_host: 30, ..Spec::default() }, Spec::with)
}

/// The URLs of pages of these kinds.
fn kinds(home: &Home, kinds: &[&str]) -> BTreeSet<String> {
    home.catalogue().urls(kinds).into_iter().collect()
}

#[test]
fn every_page_is_found_asked_for_once_and_recorded_as_what_it_is() {
    let world = World::new(friendly());
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let expected = world.expected(CrawlReach::Linked);
    assert_same("asked for", &world.asked_once(), &expected.urls);
    let fetched = ["HTML", "BINARY", "DUPLICATE", "REDIRECT", "HTTP_ERROR"];
    assert_same("recorded", &kinds(&home, &fetched), &expected.urls);
    assert_same("pages", &kinds(&home, &["HTML"]), &distinct(&home, &expected.pages));
    let errors: BTreeSet<String> = expected.errors.keys().cloned().collect();
    assert_same("errors", &kinds(&home, &["HTTP_ERROR"]), &errors);
    let redirects: BTreeSet<String> = expected.redirects.keys().cloned().collect();
    assert_same("redirects", &kinds(&home, &["REDIRECT"]), &redirects);
    home.orb(&["check", PROJECT]).expect(0);
}

/// These URLs without those recorded as duplicates.
fn distinct(home: &Home, urls: &BTreeSet<String>) -> BTreeSet<String> {
    urls.difference(&kinds(home, &["DUPLICATE"])).cloned().collect()
}

#[test]
fn the_summary_says_what_the_catalogue_holds() {
    let world = World::new(friendly().with(Feature::Robots));
    let home = Home::new();
    let finished = home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--retries", "0"]));
    let catalogue = home.catalogue();
    let count = |sql: &str| u64::try_from(catalogue.number(sql)).unwrap();
    let of_kind = |kind: &str| count(&format!("SELECT count(*) FROM page WHERE kind = '{kind}'"));
    assert_eq!(finished.number("pages"), count("SELECT count(*) FROM page WHERE status IS NOT NULL"));
    for (field, kind) in [
        ("html", "HTML"),
        ("binary", "BINARY"),
        ("duplicates", "DUPLICATE"),
        ("disallowed", "DISALLOWED"),
        ("errors", "HTTP_ERROR"),
        ("frontier", "FRONTIER"),
    ] {
        assert_eq!(finished.number(field), of_kind(kind), "{field}");
    }
    assert_eq!(finished.number("links"), count("SELECT count(*) FROM link"));
    assert_eq!(finished.number("images"), count("SELECT count(*) FROM image"));
    assert_eq!(finished.number("bytes"), count("SELECT sum(transferred) FROM page"));
    assert_eq!(finished.number("hosts"), count("SELECT count(*) FROM host WHERE pages > 0"));
    let summary = finished.json();
    assert_eq!(summary["project"], PROJECT);
    assert_eq!((&summary["run"], &summary["kind"], &summary["state"]), (&1.into(), &"crawl".into(), &"done".into()));
    assert!(summary["seconds"].as_f64().unwrap() > 0.0 && summary["pages_per_second"].as_f64().unwrap() > 0.0);
    let flags = ["NEW", "SAM", "UPD", "MIS", "ERR"].map(|flag| summary["flags"][flag].as_u64().unwrap());
    assert_eq!(flags.iter().sum::<u64>(), count("SELECT count(*) FROM visit"));
    assert_eq!(flags[0], count("SELECT count(*) FROM visit WHERE flag = 'NEW'"));
}

#[test]
fn the_tables_have_the_columns_people_rely_on() {
    let world = World::with(&[Feature::Furniture]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    for (table, columns) in [
        ("host", "id, name, scheme, port, ip, robots, robots_at, sitemaps, crawl_delay, pages, errors, first_seen"),
        (
            "page",
            "id, url, host_id, kind, status, mime, charset, length, digest, simhash, title, lang, depth, priority, \
             discovered_at, discovered_by, discovered_from, fetched_at, fetched_by, etag, last_modified, warc_file, \
             warc_offset, warc_length, duplicate_of, next_due, changes, visits",
        ),
        ("visit", "run, page_id, flag, at, status, digest, length, warc_file, warc_offset, warc_length"),
        ("link", "src, dst, kind, anchor, rel, count, first_run, last_run"),
        ("image", "page_id, url, alt, width, height, mime"),
        ("run", "id, kind, state, started_at, finished_at, counters"),
    ] {
        let rows = home.orb(&["sql", PROJECT, &format!("SELECT {columns} FROM {table}"), "--format", "json"]);
        assert!(!rows.expect(0).json().as_array().unwrap().is_empty(), "{table} is empty");
    }
    let catalogue = home.catalogue();
    let page = catalogue.rows(&format!(
        "SELECT digest, discovered_at, fetched_at, discovered_by, fetched_by, discovered_from IS NULL, depth FROM page \
         WHERE url = '{}'",
        world.url(0, "/")
    ));
    let [digest, discovered, fetched, by, fetched_by, seed, depth] = page[0].clone().try_into().unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()));
    assert!(discovered.ends_with('Z') && discovered <= fetched, "{discovered} {fetched}");
    assert!(!by.is_empty() && !fetched_by.is_empty());
    assert_eq!((seed.as_str(), depth.as_str()), ("1", "0"));
}

#[test]
fn redirects_are_pages_and_links() {
    let world = World::new(Spec::default().with(Feature::Redirects));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let expected = world.expected(CrawlReach::Linked);
    let catalogue = home.catalogue();
    for (from, (status, to)) in &expected.redirects {
        let page = catalogue.page(from);
        assert_eq!((page.kind.as_str(), page.status), ("REDIRECT", Some(i64::from(*status))), "{from}");
        if to.starts_with("http://h") {
            assert!(catalogue.has_link(from, to, "redirect"), "{from} leads to {to}");
        }
    }
    assert_same("asked for", &world.asked_once(), &expected.urls);
}

#[test]
fn a_long_chain_of_redirects_is_cut() {
    let world = World::with(&[Feature::Redirects]);
    let home = Home::new();
    let settings = ["frontier.delay = '0s'", "frontier.max_redirects = 2"];
    home.crawl(&[world.project(&home, &settings)]);
    let catalogue = home.catalogue();
    assert_eq!(catalogue.page(&world.url(0, "/redirects/chain-3")).kind, "REDIRECT");
    assert_eq!(catalogue.page(&world.url(0, "/redirects/landing-chain.html")).kind, "OUTSIDE");
}

#[test]
fn errors_are_facts_of_their_pages() {
    let world = World::with(&[Feature::Errors, Feature::Failures]);
    let home = Home::new();
    let hurried = ["frontier.delay = '0s'", "frontier.retries = 0", "frontier.max_backoff = '50ms'"];
    // One of the failures asks for a day's back-off, and would get it.
    let settings = [hurried.as_slice(), &["scope.rules = [{ deny = '/failures/503' }]"]].concat();
    let finished = home.crawl(&[world.project(&home, &settings)]);
    let mut expected = world.expected(CrawlReach::Host(0));
    expected.errors.retain(|url, _| !url.ends_with("/503.html"));
    expected.urls.retain(|url| !url.ends_with("/503.html"));
    let catalogue = home.catalogue();
    for (url, status) in &expected.errors {
        let page = catalogue.page(url);
        assert_eq!((page.kind.as_str(), page.status), ("HTTP_ERROR", Some(i64::from(*status))), "{url}");
    }
    assert!(expected.errors.len() > 10);
    assert_eq!(finished.number("errors"), expected.errors.len() as u64);
    assert_same("asked for", &world.asked_once(), &expected.urls);
}

#[test]
fn hosts_that_cannot_be_reached_are_facts_too() {
    let world = World::with(&[]);
    let home = Home::new();
    let list = home.beside("seeds.txt");
    let closed = "http://127.0.0.1:9/".to_owned();
    let seeds = [world.url(0, "/"), "http://nowhere.test/".to_owned(), closed.clone()];
    std::fs::write(&list, seeds.join("\n")).unwrap();
    let dns = Dns::spawn(world.server.web()).unwrap();
    let mut args = world.args(&["--delay", "0", "--retries", "0", "--dns", &dns.addr().to_string()]);
    args[0] = format!("@{}", list.display());
    let finished = home.crawl(&args);
    let catalogue = home.catalogue();
    assert_eq!(catalogue.page("http://nowhere.test/").kind, "DOMAIN_ERROR");
    assert_eq!(catalogue.page(&closed).kind, "DOMAIN_ERROR");
    assert_eq!(catalogue.page(&world.url(0, "/")).kind, "HTML");
    assert_eq!(finished.number("errors"), 2);
}

#[test]
fn servers_that_stall_are_timeouts() {
    let world = World::with(&[Feature::Stalls]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--timeout", "1s", "--retries", "0"]));
    assert_eq!(home.catalogue().page(&world.url(0, "/stalls/never.html")).kind, "TIMEOUT");
}

#[test]
fn servers_that_lie_are_recorded_with_what_they_sent() {
    let world = World::with(&[Feature::Lies]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--retries", "0", "--timeout", "5s"]));
    let catalogue = home.catalogue();
    let pages = catalogue.pages();
    let expected = world.expected(CrawlReach::Host(0));
    for url in expected.urls.iter().chain(&expected.broken) {
        let page = pages.get(url).unwrap_or_else(|| panic!("{url} is not recorded"));
        assert_eq!(page.visits, 1, "{url}");
    }
    for name in ["chunked", "until-close", "early-hints", "no-reason"] {
        let page = catalogue.page(&world.url(0, &format!("/lies/{name}.html")));
        assert_eq!((page.status, page.title.as_deref()), (Some(200), Some("Believe me")), "{name}");
    }
    let problem = |name: &str| {
        let url = world.url(0, &format!("/lies/{name}.html"));
        catalogue.column(&format!("SELECT problem FROM page WHERE url = '{url}'")).remove(0)
    };
    for name in ["short", "bad-chunk", "cut-chunk", "bad-gzip", "not-gzip", "garbage", "half-head"] {
        assert!(!problem(name).is_empty(), "{name} has no problem");
    }
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn floods_are_cut_and_large_files_are_binary() {
    let world = World::with(&[Feature::Floods]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--retries", "0", "--max-size", "2MB"]));
    let catalogue = home.catalogue();
    let large = catalogue.page(&world.url(0, "/floods/large.bin"));
    assert_eq!((large.kind.as_str(), large.status), ("BINARY", Some(200)));
    for name in ["endless", "bomb", "headers", "long-header"] {
        let page = catalogue.page(&world.url(0, &format!("/floods/{name}.html")));
        assert_ne!(page.kind, "FRONTIER", "{name}");
        assert!(page.length.unwrap_or(0) <= 200_000_000, "{name}: {:?}", page.length);
    }
    let archived: u64 = home.warcs().iter().map(|warc| warc.metadata().unwrap().len()).sum();
    assert!(archived < 20_000_000, "{archived} bytes");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn every_charset_is_read() {
    let world = World::with(&[Feature::Charsets]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let catalogue = home.catalogue();
    for (name, charset, title) in [
        ("utf8-header", "UTF-8", "Où va la rivière"),
        ("utf8-unsaid", "UTF-8", "Où va la rivière"),
        ("utf8-mark", "UTF-8", "Où va la rivière"),
        ("latin1-header", "windows-1252", "Où va la rivière"),
        ("latin1-meta", "windows-1252", "Où va la rivière"),
        ("latin1-over-meta", "windows-1252", "Où va la rivière"),
        ("1251-header", "windows-1251", "Сад и река"),
        ("1251-meta", "windows-1251", "Сад и река"),
        ("1251-unsaid", "windows-1251", "Сад и река"),
        ("sjis-header", "Shift_JIS", "かわ と にわ"),
        ("sjis-meta", "Shift_JIS", "かわ と にわ"),
        ("utf16le-header", "UTF-16LE", "Über die Brücke"),
        ("utf16le-mark", "UTF-16LE", "Über die Brücke"),
        ("utf16be-mark", "UTF-16BE", "Über die Brücke"),
    ] {
        let page = catalogue.page(&world.url(0, &format!("/charsets/{name}.html")));
        let duplicate = page.duplicate_of.is_some();
        assert_eq!(page.charset.as_deref(), Some(charset), "{name}");
        assert_eq!(page.title.as_deref(), Some(title), "{name} (a duplicate: {duplicate})");
    }
    assert_same("asked for", &world.asked_once(), &world.expected(CrawlReach::Host(0)).urls);
}

#[test]
fn every_way_to_write_a_link_is_understood() {
    let world = World::with(&[Feature::Markup]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let expected = world.expected(CrawlReach::Host(0));
    let mut asked = world.asked_once();
    asked.retain(|url| !expected.optional.contains(url));
    assert_same("asked for", &asked, &expected.urls);
    let nofollow = kinds(&home, &["OUTSIDE"]);
    assert!(expected.nofollow.is_subset(&nofollow), "known, not followed: {nofollow:?}");
    let home = Home::new();
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'", "frontier.follow_nofollow = true"])]);
    let asked = world.asked_once();
    assert!(expected.nofollow.is_subset(&asked), "followed when asked to: {asked:?}");
}

#[test]
fn the_same_content_is_told_from_the_first_of_its_kind() {
    let world = World::new(Spec::default().with(Feature::Duplicates).with(Feature::Mirrors));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let catalogue = home.catalogue();
    let pages = catalogue.pages();
    let groups = world.expected(CrawlReach::Linked).duplicates;
    assert!(groups.len() > 3);
    for group in groups {
        let members: Vec<_> = group.iter().map(|url| &pages[url]).collect();
        let originals: Vec<_> = members.iter().filter(|page| page.kind != "DUPLICATE").collect();
        assert_eq!(originals.len(), 1, "{group:?}");
        for page in members.iter().filter(|page| page.kind == "DUPLICATE") {
            assert_eq!(page.duplicate_of, Some(originals[0].id));
            assert_eq!(page.digest, originals[0].digest);
        }
    }
}

#[test]
fn sitemaps_are_read_and_what_they_list_is_found() {
    let world = World::with(&[Feature::Sitemaps]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let expected = world.expected(CrawlReach::Host(0));
    let asked = world.asked_once();
    assert!(expected.listed.len() == 8 && expected.listed.is_subset(&asked), "{asked:?}");
    assert!(expected.sitemaps.is_subset(&asked), "{asked:?}");
    let listed = kinds(&home, &["HTML"]);
    assert!(expected.listed.is_subset(&listed), "{listed:?}");
    let maps = home.catalogue().column("SELECT sitemaps FROM host");
    assert!(maps[0].contains("/sitemap.xml"), "{maps:?}");
    let home = Home::new();
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'", "frontier.sitemaps = false"])]);
    assert!(world.asked_once().is_disjoint(&expected.listed));
}

#[test]
fn session_ids_make_no_new_pages() {
    let world = World::with(&[Feature::Sessions]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let expected = world.expected(CrawlReach::Host(0));
    let wanted: BTreeSet<String> = expected.urls.union(&expected.sessions).cloned().collect();
    assert_same("asked for", &world.asked_once(), &wanted);
}

#[test]
fn traps_are_bounded_and_what_is_cut_off_is_recorded() {
    let world = World::with(&[Feature::Traps]);
    let home = Home::new();
    let narrow = ["traps.query_variants = 20", "traps.years_ahead = 2", "traps.years_back = 2"];
    let settings: Vec<String> = narrow.iter().map(|limit| format!("frontier.{limit}")).collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).chain(["frontier.delay = '0s'"]).collect();
    let finished = home.crawl(&[world.project(&home, &settings)]);
    assert_eq!((&finished.json()["state"], finished.number("frontier")), (&"done".into(), 0));
    let asked = world.asked_once();
    assert!(asked.len() < 1_500, "{} pages of traps", asked.len());
    let expected = world.expected(CrawlReach::Host(0));
    assert!(expected.urls.is_subset(&asked), "the entries are pages");
    let cut = home.catalogue().column("SELECT DISTINCT why FROM page WHERE why LIKE 'trap%' ORDER BY why");
    assert!(cut.len() >= 3, "{cut:?}");
}

#[test]
fn what_the_demo_shows_is_true() {
    let home = Home::new();
    let finished = home.orb(&["demo", "--progress", "none"]);
    finished.expect(0);
    assert!(finished.stderr.is_empty(), "{finished}");
    assert!(finished.text().contains("HTML"), "{finished}");
    assert!(finished.text().contains("known before: ") && finished.text().contains("moved to "), "{finished}");
    assert_eq!(finished.text().matches("all agree").count(), 1, "{finished}");
}
