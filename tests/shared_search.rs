//! Is a shared project searched with what its workers have indexed, and found as on one machine?
//!
//! Real workers upload splits of the text index; whoever asks takes them over. That nothing is read
//! from the archive meanwhile is seen by taking its files away.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{Cluster, connected};
use harness::orb::{Finished, Home, PROJECT, Running, crawling, files};
use harness::script::{Script, absent, reply};
use harness::until;
use harness::web::World;
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// Slow enough that things can happen on the way.
const SLOW: [&str; 4] = ["--scope", "any", "--delay", "100ms"];

/// A result: its URL and its score.
type Found = (String, f64);

fn search(cluster: &Cluster, home: &Home, query: &str) -> Vec<Found> {
    let args = ["search", PROJECT, query, "--json", "--no-snippets", "--limit", "10000"];
    found(cluster.ask(home, &args).expect(0))
}

fn found(finished: &Finished) -> Vec<Found> {
    let hit = |hit: &Value| (hit["url"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap());
    finished.json().as_array().unwrap().iter().map(hit).collect()
}

/// Queries that find many pages or one: titles, some of their words, and everything.
fn queries(cluster: &Cluster) -> Vec<String> {
    let titles = cluster.column("SELECT DISTINCT title FROM page WHERE title IS NOT NULL ORDER BY title LIMIT 6");
    assert!(titles.len() > 3, "{titles:?}");
    let words = titles.iter().filter_map(|title| title.split(' ').next_back()).map(str::to_owned);
    let words: Vec<String> = words.collect();
    titles.into_iter().chain(words).chain(["*".to_owned()]).collect()
}

/// Asserts that both homes give the same pages in the same order, with the same scores.
#[track_caller]
fn assert_agree(cluster: &Cluster, home: &Home, other: &Home) {
    let mut most = 0;
    for query in queries(cluster) {
        let (here, there) = (search(cluster, home, &query), search(cluster, other, &query));
        most = most.max(here.len());
        let urls = |found: &[Found]| found.iter().map(|(url, _)| url.clone()).collect::<Vec<_>>();
        assert_eq!(urls(&here), urls(&there), "{query}");
        for ((url, one), (_, two)) in here.iter().zip(&there) {
            assert!((one - two).abs() < 1.5e-4, "{query}: {url} has {one} and {two}");
        }
    }
    assert!(most > 20, "only {most} pages were found");
}

/// The archive's files, which are elsewhere until they are put back.
struct HiddenArchive {
    moved: Vec<(PathBuf, PathBuf)>,
}

impl HiddenArchive {
    fn of(cluster: &Cluster) -> Self {
        let moved: Vec<(PathBuf, PathBuf)> = files(&cluster.home.beside("archive").join(PROJECT), ".warc.gz")
            .into_iter()
            .map(|file| (file.with_extension("away"), file))
            .collect();
        assert!(!moved.is_empty());
        moved.iter().for_each(|(away, file)| std::fs::rename(file, away).unwrap());
        Self { moved }
    }

    fn put_back(self) {
        self.moved.iter().for_each(|(away, file)| std::fs::rename(away, file).unwrap());
    }
}

fn update(cluster: &Cluster, home: &Home, what: &str) -> Finished {
    let updated = cluster.ask(home, &["index", what, PROJECT, "--json"]);
    updated.expect(0);
    updated
}

#[test]
fn what_three_workers_have_indexed_is_found_as_on_one_machine() {
    let (world, cluster) = (World::new(connected(12)), Cluster::new(LEASE, SLICE));
    let one = Home::new();
    one.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let (first, others) = cluster.crawl_with(&world, &SLOW, &[2, 3]);
    cluster.finish(first, others, "done");
    assert_eq!(cluster.number("SELECT count(DISTINCT worker) FROM split"), 3, "each has uploaded what it had");
    let hidden = HiddenArchive::of(&cluster);
    let (home, rebuilt, copy) = (Home::new(), Home::new(), Home::new());
    let updated = update(&cluster, &home, "update");
    assert_eq!((updated.number("read"), updated.number("taken")), (0, updated.number("pages")), "{updated}");
    assert_eq!(updated.number("splits"), cluster.number("SELECT count(*) FROM split").cast_unsigned());
    let status = cluster.ask(&home, &["status", PROJECT, "--json"]);
    assert_eq!(status.expect(0).json()[0]["splits"], updated.json()["splits"], "{status}");
    hidden.put_back();
    let again = update(&cluster, &home, "update");
    assert_eq!((again.number("splits"), again.number("read")), (0, 0), "{again}");
    // An index made on one machine from the same facts.
    let made = update(&cluster, &rebuilt, "rebuild");
    assert_eq!((made.number("taken"), made.number("read")), (0, updated.number("pages")), "{made}");
    assert_agree(&cluster, &home, &rebuilt);
    // On the machine that has collected the same itself, pages have other numbers.
    for query in queries(&cluster) {
        let by_url = |mut found: Vec<Found>| {
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        };
        let args = ["search", PROJECT, &query, "--json", "--no-snippets", "--limit", "10000"];
        let (there, here) = (by_url(search(&cluster, &home, &query)), by_url(found(one.orb(&args).expect(0))));
        assert_eq!(there.len(), here.len(), "{query}");
        let near = |(a, b): (&Found, &Found)| a.0 == b.0 && (a.1 - b.1).abs() < 1.5e-4;
        assert!(there.iter().zip(&here).all(near), "{query}: {there:?} {here:?}");
    }
    // A copy that was pulled is searched without the store, and without another command.
    cluster.ask(&copy, &["pull", PROJECT, "--json"]).expect(0);
    let all = search(&cluster, &home, "*");
    assert_eq!(found(copy.orb(&["search", PROJECT, "*", "--json", "--limit", "10000"]).expect(0)), all);
    copy.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn what_a_killed_worker_has_not_uploaded_is_read_from_the_archive() {
    let (world, cluster) = (World::new(connected(30)), Cluster::new(LEASE, SLICE));
    let (first, mut others) = cluster.crawl_with(&world, &SLOW, &[2, 3]);
    let killed = "SELECT count(*) FROM visit_row v JOIN warc_row f ON f.id = v.warc JOIN worker w ON w.id = f.id >> 32
                  WHERE w.name = 'w2'";
    until("the second worker has recorded something", || cluster.number(killed) >= 10);
    others[0].signal(Signal::KILL);
    drop(others.remove(0).finish());
    cluster.finish(first, others, "done");
    let of_killed = "SELECT count(*) FROM split s JOIN worker w ON w.id = s.worker WHERE w.name = 'w2'";
    assert_eq!(cluster.number(of_killed), 0, "it was killed before it uploaded anything");
    let (home, rebuilt) = (Home::new(), Home::new());
    let updated = update(&cluster, &home, "update");
    assert!(updated.number("read") > 0 && updated.number("taken") > 0, "{updated}");
    assert_eq!(updated.number("read") + updated.number("taken"), updated.number("pages"), "{updated}");
    update(&cluster, &rebuilt, "rebuild");
    assert_agree(&cluster, &home, &rebuilt);
}

/// A site of ten pages whose text is a function of the edition.
fn editions(edition: &Arc<AtomicU64>) -> Script {
    let edition = Arc::clone(edition);
    Script::serve(move |heard| {
        let now = edition.load(Ordering::SeqCst);
        let Ok(number) = heard.target.trim_start_matches('/').parse::<u64>() else { return absent() };
        let changing = if number < 5 { ["marmalade", "clockwork"][usize::try_from(now).unwrap()] } else { "evergreen" };
        let body = format!(
            "<!doctype html><title>Page {number}</title><p>This page, {number}, speaks of {changing} at some length.\
             </p><a href='/{}'>next</a>",
            (number + 1) % 10
        );
        reply("200 OK", "Content-Type: text/html\r\n", &body)
    })
}

#[test]
fn of_a_page_that_another_worker_has_visited_again_only_the_later_text_is_found() {
    let edition = Arc::new(AtomicU64::new(0));
    let (site, cluster) = (editions(&edition), Cluster::new(LEASE, SLICE));
    let url = format!("http://{}/0", site.address);
    let args = crawling(&[&url, "--delay", "0"]);
    cluster.finish(cluster.start(&[args, cluster.part(1)].concat()), Vec::new(), "done");
    let home = Home::new();
    let counts = |home: &Home| ["marmalade", "clockwork", "evergreen"].map(|word| search(&cluster, home, word).len());
    assert_eq!(counts(&home), [5, 0, 5]);
    edition.store(1, Ordering::SeqCst);
    let args = ["track", PROJECT, "--json", "--progress", "none", "--delay", "0"].map(str::to_owned).to_vec();
    cluster.finish(cluster.start(&[args, cluster.part(2)].concat()), Vec::new(), "done");
    assert_eq!(cluster.number("SELECT count(DISTINCT worker) FROM split"), 2);
    let hidden = HiddenArchive::of(&cluster);
    // In the index that has the earlier text, and in a new one.
    assert_eq!(counts(&home), [0, 5, 5]);
    let new = Home::new();
    let updated = update(&cluster, &new, "update");
    assert_eq!((updated.number("read"), updated.number("taken")), (0, 10), "{updated}");
    assert_eq!(counts(&new), [0, 5, 5]);
    hidden.put_back();
}

/// A crawl of three workers under these settings.
fn crawl_under(world: &World, cluster: &Cluster, settings: &[&str]) -> (Running, Vec<Running>) {
    let settings = [&["scope.mode = 'any'", "frontier.delay = '100ms'"], settings].concat();
    let file = world.project(&cluster.home, &settings);
    let args = crawling(&[&file]);
    let first = cluster.start(&[args, cluster.part(1)].concat());
    until("it is planted", || cluster.is_planted());
    (first, vec![cluster.worker(2), cluster.worker(3)])
}

#[test]
fn splits_come_while_the_crawl_goes_on_and_a_page_is_found_once() {
    let (world, cluster) = (World::new(connected(30)), Cluster::new(LEASE, SLICE));
    let (first, others) = crawl_under(&world, &cluster, &["index.split_time = '1s'"]);
    let home = Home::new();
    // What is read from the archive in between comes again with a split.
    for round in 1..=2 {
        until("splits were added", || cluster.number("SELECT count(*) FROM split") >= 3 * round);
        assert!(!search(&cluster, &home, "*").is_empty());
    }
    cluster.finish(first, others, "done");
    let rebuilt = Home::new();
    let pages = update(&cluster, &rebuilt, "rebuild").number("pages");
    let urls: Vec<String> = search(&cluster, &home, "*").into_iter().map(|(url, _)| url).collect();
    let once: std::collections::BTreeSet<&String> = urls.iter().collect();
    assert_eq!(once.len(), urls.len(), "a page is found twice");
    assert_eq!(update(&cluster, &home, "update").number("pages"), pages);
    let of = |home: &Home| {
        let mut urls: Vec<String> = search(&cluster, home, "*").into_iter().map(|(url, _)| url).collect();
        urls.sort();
        urls
    };
    assert_eq!(of(&home), of(&rebuilt));
}

#[test]
fn a_split_that_cannot_be_uploaded_stops_nobody_and_is_said_in_the_log() {
    let (world, cluster) = (World::new(connected(10)), Cluster::new(LEASE, SLICE));
    // A file where the directory of the splits would be.
    let archive = cluster.home.beside("archive").join(PROJECT);
    std::fs::create_dir_all(&archive).unwrap();
    std::fs::write(archive.join("splits"), "").unwrap();
    let (first, others) = crawl_under(&world, &cluster, &["index.split_time = '1s'"]);
    cluster.finish(first, others, "done");
    assert_eq!(cluster.number("SELECT count(*) FROM split"), 0);
    let log = cluster.home.path().join("workers/w1").join(PROJECT).join("runs/1/run.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("a split of the text index waits to be uploaded"), "{log}");
    assert!(log.contains("a split of the text index was not added"), "{log}");
    // Everything is read from the archive.
    let home = Home::new();
    let updated = update(&cluster, &home, "update");
    assert_eq!((updated.number("taken"), updated.number("read")), (0, updated.number("pages")), "{updated}");
    assert!(search(&cluster, &home, "*").len() > 20);
}
