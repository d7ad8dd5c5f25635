//! Does a later run report exactly what is new, the same, updated, gone or failed?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT};
use harness::scene::Dice;
use harness::script::{Script, absent, moved, reply};
use harness::web::World;
use orb_testweb::{Course, CrawlReach, Feature};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const TRACK: [&str; 6] = ["track", PROJECT, "--json", "--progress", "none", "--no-index"];

/// Revisits the project's pages.
#[track_caller]
fn track(home: &Home) -> Finished {
    let finished = home.orb(&TRACK);
    finished.expect(0);
    let (json, flags) = (finished.json(), |flag: &str| finished.json()["flags"][flag].as_u64().unwrap());
    let visited = ["SAM", "UPD", "MIS", "ERR"].map(flags).iter().sum::<u64>();
    assert_eq!(json["known"].as_u64().unwrap_or(0), visited, "the account adds up: {finished}");
    finished
}

/// The last run's result for each document, by path: the flag, and where it has moved to.
fn told(home: &Home, root: &str) -> BTreeMap<String, String> {
    let sql = "SELECT p.url, v.flag, coalesce(c.moved_to, '') FROM visit v JOIN page p ON p.id = v.page_id
               LEFT JOIN change c ON c.run = v.run AND c.page_id = v.page_id
               WHERE v.run = (SELECT max(id) FROM run) AND (c.seq NOTNULL OR v.flag = 'SAM')";
    let rows = home.catalogue().rows(sql);
    let path = |url: &str| url.strip_prefix(root).unwrap_or(url).to_owned();
    let said = |row: &[String]| [row[1].clone(), path(&row[2])].join(" ").trim().to_owned();
    rows.iter().map(|row| (path(&row[0]), said(row))).collect()
}

/// Number of documents by flag.
fn counted(told: &BTreeMap<String, String>) -> BTreeMap<&str, usize> {
    told.values().fold(BTreeMap::new(), |mut counts, flag| {
        *counts.entry(flag.split(' ').next().unwrap()).or_default() += 1;
        counts
    })
}

fn html(body: &str) -> Vec<u8> {
    reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><title>News</title>{body}"))
}

/// A newspaper whose every response has different advertisements, tokens, counters and teasers, in
/// a different order, and some advertisements that stay for a day.
fn newspaper() -> World {
    World::with(&[Feature::Gazette])
}

/// Advances a web to an epoch; returns the expected changes since the previous one, by path.
fn moved_on(world: &World, epoch: u64) -> BTreeMap<String, String> {
    let before = world.expected(CrawlReach::Linked);
    world.server.web().set_epoch(epoch);
    let Course { new, same, updated, missing } = before.course(&world.expected(CrawlReach::Linked));
    let root = world.url(0, "");
    let flagged = |urls: BTreeSet<String>, flag: &str| {
        urls.into_iter().map(|url| (url.replacen(&root, "", 1), flag.to_owned())).collect::<Vec<_>>()
    };
    let all = [flagged(new, "NEW"), flagged(same, "SAM"), flagged(updated, "UPD"), flagged(missing, "MIS")];
    all.into_iter().flatten().collect()
}

/// The flags of documents in `rows`, by path.
fn flags_in<'a>(rows: impl IntoIterator<Item = &'a Value>, root: &str) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.into_iter().map(|row| (text(&row["url"]).replacen(root, "", 1), text(&row["flag"]))).collect()
}

/// Asserts that the last run's report and the feed from a cursor on agree with the expectation;
/// returns the next cursor.
#[track_caller]
fn assert_told(home: &Home, world: &World, expected: &BTreeMap<String, String>, cursor: u64) -> u64 {
    let root = world.url(0, "");
    assert_differs_nowhere("the catalogue", &told(home, &root), expected);
    let report = home.orb(&["report", PROJECT, "--json", "--flag", "new,upd,mis,err,sam", "--limit", "1000"]);
    let report = report.expect(0).json();
    assert_differs_nowhere("the report", &flags_in(report["changes"].as_array().unwrap(), &root), expected);
    let counts: BTreeMap<&str, u64> = counted(expected).into_iter().map(|(flag, n)| (flag, n as u64)).collect();
    for flag in ["NEW", "SAM", "UPD", "MIS", "ERR"] {
        assert_eq!(report["flags"][flag].as_u64().unwrap(), counts.get(flag).copied().unwrap_or(0), "{flag}: {report}");
    }
    let feed = home.orb(&["changes", PROJECT, "--after", &cursor.to_string(), "--limit", "1000"]);
    let lines: Vec<Value> = feed.expect(0).text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, changes) = lines.split_last().unwrap();
    let mut news = expected.clone();
    news.retain(|_, flag| flag != "SAM");
    assert_differs_nowhere("the feed", &flags_in(changes, &root), &news);
    end["next"].as_u64().unwrap()
}

/// Asserts that documents have the expected flags, and names those that do not.
#[track_caller]
fn assert_differs_nowhere(who: &str, said: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) {
    let paths: BTreeSet<&String> = said.keys().chain(wanted.keys()).collect();
    let of = |flags: &BTreeMap<String, String>, path| flags.get(path).map_or("nothing", String::as_str).to_owned();
    let wrong = paths.into_iter().filter(|path| said.get(*path) != wanted.get(*path));
    let wrong: Vec<_> = wrong.map(|path| format!("{path}: {} for {}", of(said, path), of(wanted, path))).collect();
    assert!(wrong.is_empty(), "{who} is wrong: {wrong:#?}");
}

#[test]
fn advertisements_and_tokens_do_not_make_a_page_updated_and_every_real_change_is_found() {
    let (world, home) = (newspaper(), Home::new());
    home.crawl(&world.args(&["--delay", "0", "--no-index"]));
    let mut cursor = 0;
    for epoch in 1..=3 {
        let expected = moved_on(&world, epoch);
        assert_eq!(counted(&expected), [("NEW", 6), ("SAM", expected.len() - 21), ("UPD", 11), ("MIS", 4)].into());
        track(&home);
        cursor = assert_told(&home, &world, &expected, cursor);
        // And there is nothing to report for the same edition.
        let still = moved_on(&world, epoch);
        track(&home);
        assert_eq!(assert_told(&home, &world, &still, cursor), cursor);
    }
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn killed_in_the_middle_a_run_says_in_the_end_what_an_undisturbed_one_says() {
    let (world, home, mut dice) = (newspaper(), Home::new(), Dice(7));
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'", "crawl.batch_pages = 20", "index.enabled = false"])]);
    let mut cursor = 0;
    for epoch in 1..=3 {
        let expected = moved_on(&world, epoch);
        (0..4).for_each(|_| kill(&home, &world, dice.below(50)));
        let finished = track(&home);
        assert_eq!(finished.number("run"), epoch + 1, "{finished}");
        cursor = assert_told(&home, &world, &expected, cursor);
        let around = home.orb(&["report", PROJECT, "--json", "--around", "--limit", "1000"]);
        let around = flags_in(around.expect(0).json()["changes"].as_array().unwrap(), &world.url(0, ""));
        assert!(around.len() > 150 && around.keys().all(|path| expected[path] == "SAM"), "{around:?}");
    }
    let changes = home.catalogue().number("SELECT count(*) FROM change");
    let distinct = home.catalogue().number("SELECT count(*) FROM (SELECT DISTINCT run, page_id FROM change)");
    assert_eq!(changes, distinct, "nothing is told twice");
    home.orb(&["check", PROJECT]).expect(0);
}

/// Kills a run after this many requests, which are less than it makes.
fn kill(home: &Home, world: &World, after: u64) {
    let heard = || world.server.counters().requests;
    let wanted = heard() + after;
    let mut running = home.start(&TRACK, &[]);
    harness::until("the moment has come", || {
        assert!(running.ended().is_none(), "it ended before");
        heard() > wanted
    });
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
}

#[test]
fn the_synthetic_web_is_flagged_as_it_went_from_epoch_to_epoch() {
    for validators in [false, true] {
        let mut features = vec![Feature::Changes, Feature::Furniture];
        features.extend(validators.then_some(Feature::Validators));
        let (world, home) = (World::with(&features), Home::new());
        let settings = ["frontier.delay = '0s'", "frontier.retries = 0", "index.enabled = false"];
        home.crawl(&[&world.project(&home, &settings)]);
        let root = world.url(0, "");
        for epoch in 1..=3 {
            let before = world.expected(CrawlReach::Linked);
            world.server.web().set_epoch(epoch);
            let course = before.course(&world.expected(CrawlReach::Linked));
            track(&home);
            let told = told(&home, root.trim_end_matches('/'));
            let path = |url: &String| url.strip_prefix(root.trim_end_matches('/')).unwrap().to_owned();
            for (urls, flag) in [(&course.new, "NEW"), (&course.same, "SAM"), (&course.updated, "UPD")] {
                for url in urls.iter().filter(|url| !url.ends_with("/changes/")) {
                    // What failed in the previous epoch was never gone.
                    let flag = if url.ends_with("/fails-at-1.html") { "SAM" } else { flag };
                    assert_eq!(told[&path(url)], flag, "{url} in epoch {epoch}");
                }
            }
            for url in &course.missing {
                let flag = match path(url).as_str() {
                    "/changes/moves-at-1.html" => "UPD /changes/moved.html",
                    "/changes/fails-at-1.html" => "ERR",
                    _ => "MIS",
                };
                assert_eq!(told[&path(url)], flag, "{url} in epoch {epoch}");
            }
        }
        home.orb(&["check", PROJECT]).expect(0);
    }
}

/// A site of three pages whose responses a test changes.
fn changing(answer: impl Fn(&str, u64) -> Vec<u8> + Send + Sync + 'static) -> (Script, Arc<AtomicU64>, Home) {
    let day = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&day);
    let script = Script::serve(move |heard| answer(&heard.target, now.load(Ordering::Relaxed)));
    let home = Home::new();
    let file = home.beside("p.toml");
    let settings =
        "frontier.delay = '0s'\nfrontier.retries = 0\nindex.enabled = false\nfrontier.robots_max_age = '0s'\n";
    std::fs::write(&file, format!("seeds = ['http://{}/']\n{settings}", script.address)).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    (script, day, home)
}

/// The result for `/a` on each of these days.
fn said(script: &Script, day: &AtomicU64, home: &Home, days: std::ops::RangeInclusive<u64>) -> Vec<String> {
    let flag_on = |today| {
        day.store(today, Ordering::Relaxed);
        track(home);
        told(home, &format!("http://{}", script.address)).get("/a").cloned().unwrap_or_default()
    };
    days.map(flag_on).collect()
}

#[test]
fn a_passing_failure_is_no_end_and_what_has_come_back_is_new() {
    let (script, day, home) = changing(|target, day| match (target, day) {
        ("/", _) => html("<a href=/a>a</a>"),
        ("/a", 2) => reply("500 Oops", "", ""),
        ("/a", 3) => Vec::new(),
        ("/a", 5 | 6) => reply("410 Gone", "", ""),
        ("/a", _) => html("<p>The same as ever"),
        _ => absent(),
    });
    assert_eq!(said(&script, &day, &home, 2..=8), ["ERR", "ERR", "SAM", "MIS", "", "NEW", "SAM"]);
}

#[test]
fn a_document_is_gone_only_when_that_was_said_as_often_as_the_project_wants() {
    let (script, day, home) = changing(|target, day| match (target, day) {
        ("/", _) => html("<a href=/a>a</a>"),
        ("/a", 2 | 4..) => absent(),
        ("/a", _) => html("<p>Here"),
        _ => absent(),
    });
    let settings = home.project().join("project.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("confirm_missing = 1", "confirm_missing = 2")).unwrap();
    assert_eq!(said(&script, &day, &home, 2..=6), ["ERR", "SAM", "ERR", "MIS", ""]);
}

#[test]
fn what_robots_txt_forbids_by_now_is_not_asked_for_and_counts_as_not_to_be_had() {
    let (script, day, home) = changing(|target, day| match (target, day) {
        ("/", _) => html("<a href=/a>a</a>"),
        ("/robots.txt", 2) => reply("200 OK", "Content-Type: text/plain\r\n", "User-agent: *\nDisallow: /a\n"),
        ("/a", _) => html("<p>Here"),
        _ => absent(),
    });
    let asked = |script: &Script| script.heard().iter().filter(|heard| heard.target == "/a").count();
    let before = asked(&script);
    assert_eq!(said(&script, &day, &home, 2..=2), ["ERR"]);
    assert_eq!(asked(&script), before);
    assert_eq!(said(&script, &day, &home, 3..=3), ["SAM"]);
}

#[test]
fn a_page_that_has_moved_is_followed_and_where_to_is_said() {
    let (script, day, home) = changing(|target, day| match (target, day) {
        ("/", _) => html("<a href=/a>a</a>"),
        ("/a", 2..) => moved("/b"),
        ("/a", _) | ("/b", 2..) => html("<p>Here"),
        _ => absent(),
    });
    assert_eq!(said(&script, &day, &home, 2..=3), ["UPD /b", ""]);
    assert_eq!(told(&home, &format!("http://{}", script.address))["/b"], "SAM");
}

#[test]
fn unchanged_bodies_are_stored_once_and_every_version_can_be_read() {
    let (script, day, home) = changing(|target, day| match target {
        "/" => html("<a href=/a>a</a>"),
        "/a" => html(&format!("<p>Version {}", day.div_ceil(2))),
        _ => absent(),
    });
    assert_eq!(said(&script, &day, &home, 2..=4), ["SAM", "UPD", "SAM"]);
    let url = format!("http://{}/a", script.address);
    for (run, version) in [("1", "Version 1"), ("2", "Version 1"), ("3", "Version 2"), ("4", "Version 2")] {
        let text = home.orb(&["cat", PROJECT, &url, "--as", "text", "--run", run]);
        assert_eq!(text.expect(0).text().trim(), version, "run {run}");
    }
    harness::judge::warcio_check(&home.warcs());
    let records = harness::judge::records(&home.warcs());
    let kinds = |kind: &str| {
        records.iter().filter(|record| record.kind == kind && record.url.as_deref() == Some(&*url)).count()
    };
    assert_eq!((kinds("response"), kinds("revisit")), (2, 2), "{records:?}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_crawl_that_is_not_finished_is_finished_first_and_two_runs_at_once_are_refused() {
    let (script, _, home) = changing(|target, _| match target {
        "/" => html("<a href=/a>a</a>"),
        "/a" => html("<p>Here"),
        _ => absent(),
    });
    assert!(home.orb(&["track", "nothing"]).complaint(1).contains("nothing"));
    let db = rusqlite::Connection::open(home.project().join("crawl.db")).unwrap();
    db.execute("UPDATE run_row SET state = 'stopped'", []).unwrap();
    drop(db);
    assert!(home.orb(&TRACK).complaint(1).contains("orb crawl p resumes it"));
    home.orb(&["crawl", PROJECT, "--progress", "none", "--quiet"]).expect(0);
    let _lock = harness::recorded::open(&home);
    let refused = home.orb(&TRACK);
    assert!(refused.complaint(1).contains("another"), "{refused}");
    drop(script);
}

#[test]
fn a_page_that_its_sitemap_calls_changed_is_visited_whatever_the_budget() {
    let (script, day, home) = changing(|target, day| match target {
        "/" => html(&(1..=9).map(|n| format!("<a href=/{n}>{n}</a> ")).collect::<String>()),
        "/robots.txt" => reply("200 OK", "Content-Type: text/plain\r\n", "Sitemap: /map.xml\n"),
        "/map.xml" => {
            let changed = |n: u64| if day > 1 && n <= 2 { "2999-01-01" } else { "2001-01-01" };
            let entry = |n| format!("<url><loc>/{n}</loc><lastmod>{}</lastmod></url>", changed(n));
            let entries: String = (1..=9).map(entry).collect();
            reply("200 OK", "Content-Type: application/xml\r\n", &format!("<urlset>{entries}</urlset>"))
        }
        _ => html(&format!("<p>Page {target}")),
    });
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'HTML'"), 10);
    let before = script.heard().len();
    day.store(2, Ordering::Relaxed);
    let finished = home.orb(&[&TRACK[..], &["--budget", "1"]].concat());
    finished.expect(0);
    let asked: Vec<String> = script.heard()[before..].iter().map(|heard| heard.target.clone()).collect();
    assert!(["/1", "/2", "/map.xml"].iter().all(|page| asked.iter().any(|asked| asked == page)), "{asked:?}");
    let pages = asked.iter().filter(|asked| asked.len() == 2).count();
    assert!(pages <= 3, "{asked:?}");
    let flags = &finished.json()["flags"];
    let visited = ["SAM", "UPD"].iter().map(|flag| flags[flag].as_u64().unwrap()).sum::<u64>();
    assert_eq!(finished.number("known"), visited, "{finished}");
}

#[test]
fn a_project_of_which_nothing_could_ever_be_fetched_fails_and_says_why() {
    let home = Home::new();
    // A port that nobody listens on: bound for a moment, so that it is a free one.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let seed = format!("http://127.0.0.1:{port}/");
    home.orb(&["project", "new", PROJECT, "--seed", &seed]).expect(0);
    let finished = home.orb(&TRACK);
    finished.expect(1);
    assert!(finished.stderr.contains(&format!("could not fetch {seed}")), "{finished}");
}
