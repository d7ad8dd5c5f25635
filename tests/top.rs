//! Do the graph commands say who matters, and what is near a page?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::networkx_ranks;
use harness::orb::{Home, PROJECT};
use harness::web::World;
use orb_testweb::{Feature, Spec};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A varied web, crawled completely.
fn crawled() -> (World, Home) {
    let features = [Feature::Furniture, Feature::Media, Feature::Errors, Feature::Robots];
    let world = World::new(features.into_iter().fold(Spec { pages_per_host: 12, ..Spec::default() }, Spec::with));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    (world, home)
}

/// The same with its graph.
fn mapped() -> (World, Home) {
    let (world, home) = crawled();
    home.orb(&["graph", "build", PROJECT, "--progress", "none"]).expect(0);
    (world, home)
}

/// The JSON output of a command.
fn told(home: &Home, args: &[&str]) -> Value {
    home.orb(&[args, &["--json"]].concat()).expect(0).json()
}

fn column<'a>(rows: &'a Value, name: &str) -> Vec<&'a Value> {
    rows.as_array().unwrap().iter().map(|row| &row[name]).collect()
}

/// The kinds of links that are arcs by default.
const ARCS: &str =
    "link WHERE last_run IS NULL AND src <> dst AND kind IN ('a', 'area', 'frame', 'redirect', 'refresh')";

#[test]
fn top_agrees_with_networkx_on_what_was_crawled() {
    let (_world, home) = mapped();
    let catalogue = home.catalogue();
    let pages = catalogue.number("SELECT max(id) FROM page");
    let arcs = catalogue.rows(&format!("SELECT DISTINCT src - 1, dst - 1 FROM {ARCS}"));
    let list = home.beside("arcs");
    std::fs::write(&list, arcs.iter().map(|arc| format!("{} {}\n", arc[0], arc[1])).collect::<String>()).unwrap();
    let theirs = networkx_ranks(&list, usize::try_from(pages).unwrap(), &["pagerank", "hits", "harmonic"]);
    for (by, measure) in
        [("pagerank", "pagerank"), ("hub", "hub"), ("authority", "authority"), ("harmonic", "harmonic")]
    {
        let rows = told(&home, &["top", PROJECT, "--by", by, "--limit", "1000000"]);
        assert_eq!(rows.as_array().unwrap().len(), usize::try_from(pages).unwrap());
        for row in rows.as_array().unwrap() {
            let place = usize::try_from(row["id"].as_u64().unwrap() - 1).unwrap();
            let (ours, theirs) = (row["score"].as_f64().unwrap(), theirs[measure][place].as_f64().unwrap());
            assert!((ours - theirs).abs() <= 1e-6 * theirs.max(1e-3), "{by} of {}: {ours}, not {theirs}", row["url"]);
        }
        let scores: Vec<f64> = column(&rows, "score").into_iter().map(|s| s.as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{by}");
    }
    let mut backlinks: BTreeMap<&str, u64> = BTreeMap::new();
    arcs.iter().for_each(|arc| *backlinks.entry(&arc[1]).or_default() += 1);
    let most = told(&home, &["top", PROJECT, "--by", "backlinks", "--limit", "1"]);
    assert_eq!(most[0]["score"].as_f64(), backlinks.values().max().map(|n| *n as f64), "{most}");
}

#[test]
fn top_lists_page_by_page_with_titles_and_hosts_too() {
    let (_world, home) = mapped();
    let all = told(&home, &["top", PROJECT, "--limit", "30"]);
    let some = told(&home, &["top", PROJECT, "--by", "pagerank", "--limit", "2", "--offset", "1"]);
    assert_eq!(some.as_array().unwrap()[..], all.as_array().unwrap()[1..3]);
    assert_eq!(some[0]["place"], 2);
    assert_eq!(told(&home, &["top", PROJECT]).as_array().unwrap().len(), 20, "twenty unless told otherwise");
    assert!(column(&all, "title").iter().any(|title| title.is_string()), "{all}");
    let fetched = told(&home, &["top", PROJECT, "--fetched", "--limit", "100000"]);
    let visited = home.catalogue().number("SELECT count(*) FROM page WHERE status IS NOT NULL");
    assert_eq!(fetched.as_array().unwrap().len(), usize::try_from(visited).unwrap());
    let places: Vec<u64> = column(&fetched, "place").into_iter().map(|place| place.as_u64().unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    let hosts = told(&home, &["top", PROJECT, "--hosts", "--by", "outdegree", "--limit", "1000"]);
    assert_eq!(
        hosts.as_array().unwrap().len(),
        usize::try_from(home.catalogue().number("SELECT count(*) FROM host")).unwrap()
    );
    assert!(hosts[0]["url"].as_str().unwrap().starts_with("http://"), "{hosts}");
    let table = home.orb(&["top", PROJECT, "--limit", "3"]);
    assert!(table.expect(0).text().contains(all[0]["url"].as_str().unwrap()), "{table}");
}

#[test]
fn show_and_sql_know_the_ranks() {
    let (_world, home) = mapped();
    let best = told(&home, &["top", PROJECT, "--limit", "1"]);
    let url = best[0]["url"].as_str().unwrap();
    let shown = told(&home, &["show", PROJECT, url]);
    assert_eq!(shown["ranks"]["pagerank"], best[0]["score"], "{shown}");
    assert!(home.orb(&["show", PROJECT, url]).expect(0).text().contains("pagerank"));
    let sql = "SELECT p.url, r.pagerank, r.bowtie FROM rank r JOIN page p ON p.id = r.page_id ORDER BY r.pagerank DESC, p.url LIMIT 1";
    let rows = told(&home, &["sql", PROJECT, sql]);
    assert_eq!((&rows[0]["url"], &rows[0]["pagerank"]), (&best[0]["url"], &best[0]["score"]), "{rows}");
    let hosts =
        told(&home, &["sql", PROJECT, "SELECT h.name, r.pagerank FROM host h JOIN host_rank r ON r.host_id = h.id"]);
    assert_eq!(
        hosts.as_array().unwrap().len(),
        usize::try_from(home.catalogue().number("SELECT count(*) FROM host")).unwrap()
    );
    let schema = home.orb(&["sql", PROJECT, "--schema"]);
    assert!(schema.expect(0).text().contains("rank (page_id, pagerank"), "{schema}");
}

#[test]
fn neighbours_are_found_hop_by_hop() {
    let (world, home) = mapped();
    let url = world.url(0, "/");
    let catalogue = home.catalogue();
    let id = catalogue.page(&url).id;
    let urls = |sql: &str| -> BTreeSet<String> { catalogue.column(sql).into_iter().collect() };
    let listed = |args: &[&str]| -> BTreeSet<String> {
        let rows = told(&home, &[&["graph", "neighbours", PROJECT, &url, "--limit", "100000"], args].concat());
        column(&rows, "url").iter().map(|url| url.as_str().unwrap().to_owned()).collect()
    };
    let out = urls(&format!("SELECT DISTINCT (SELECT url FROM page WHERE id = dst) FROM {ARCS} AND src = {id}"));
    let into = urls(&format!("SELECT DISTINCT (SELECT url FROM page WHERE id = src) FROM {ARCS} AND dst = {id}"));
    assert!(!out.is_empty() && !into.is_empty());
    assert_eq!(listed(&["--direction", "out"]), out);
    assert_eq!(listed(&["--direction", "in"]), into);
    assert_eq!(listed(&[]), &out | &into);
    let two =
        told(&home, &["graph", "neighbours", PROJECT, &url, "--hops", "2", "--direction", "out", "--limit", "100000"]);
    let hops: Vec<u64> = column(&two, "hops").into_iter().map(|hops| hops.as_u64().unwrap()).collect();
    assert!(hops.is_sorted() && hops.contains(&2), "{two}");
    let page = told(
        &home,
        &["graph", "neighbours", PROJECT, &url, "--hops", "2", "--direction", "out", "--limit", "3", "--offset", "1"],
    );
    assert_eq!(page.as_array().unwrap()[..], two.as_array().unwrap()[1..4]);
}

#[test]
fn what_needs_a_graph_or_ranks_says_how_to_get_them() {
    let (world, home) = crawled();
    let url = world.url(0, "/");
    for args in [
        vec!["top", PROJECT],
        vec!["graph", "neighbours", PROJECT, &url],
        vec!["graph", "export", PROJECT, "dot", "-o", "x"],
    ] {
        let finished = home.orb(&args);
        assert!(finished.complaint(1).contains("orb graph build p makes one"), "{finished}");
    }
    let sql = home.orb(&["sql", PROJECT, "SELECT * FROM rank"]);
    assert!(sql.complaint(1).contains("orb graph build"), "{sql}");
    home.orb(&["graph", "build", PROJECT, "--no-ranks", "--quiet"]).expect(0);
    let finished = home.orb(&["top", PROJECT]);
    assert!(finished.complaint(1).contains("has no ranks; orb graph build p makes them"), "{finished}");
    assert!(told(&home, &["show", PROJECT, &url])["ranks"].is_null());
    // An existing graph without ranks gets them.
    home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
    assert_eq!(told(&home, &["top", PROJECT, "--limit", "1"]).as_array().unwrap().len(), 1);
}

#[test]
fn ranks_are_made_anew_only_where_they_would_differ_or_are_damaged() {
    let (_world, home) = mapped();
    let ranks = home.project().join("graph/ranks");
    let whole = std::fs::read(&ranks).unwrap();
    let made = || std::fs::metadata(&ranks).unwrap().modified().unwrap();
    let first = made();
    home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
    assert_eq!(made(), first);
    home.orb(&["graph", "build", PROJECT, "--quiet", "--damping", "0.5"]).expect(0);
    assert_ne!(std::fs::read(&ranks).unwrap(), whole);
    for damage in [&whole[..whole.len() / 2], b"", b"orbrank1 and nonsense after it"] {
        std::fs::write(&ranks, damage).unwrap();
        let finished = home.orb(&["top", PROJECT]);
        assert!(finished.complaint(1).contains("is damaged"), "{finished}");
        assert!(home.orb(&["check", PROJECT]).expect(1).text().contains("ranks"));
        home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
        home.orb(&["top", PROJECT]).expect(0);
    }
    let mut changed = std::fs::read(&ranks).unwrap();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    std::fs::write(&ranks, &changed).unwrap();
    home.orb(&["check", PROJECT]).expect(1);
    home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
    home.orb(&["check", PROJECT]).expect(0);
}
