//! Does the web graph match the catalogue, and does it survive crashes and damage?
//!
//! The oracle reads the files from the published description of their format alone; the catalogue
//! is read with SQL.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::web::World;
use harness::{judge, until};
use orb_testweb::{Feature, Spec};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Links that are arcs by default.
const ARCS: &str = "kind IN ('a', 'area', 'frame', 'redirect', 'refresh') AND last_run IS NULL AND src <> dst";

/// A varied web.
fn world(pages_per_host: u32) -> World {
    let features = [Feature::Furniture, Feature::Media, Feature::Redirects, Feature::Markup];
    World::new(features.into_iter().fold(Spec { hosts: 4, pages_per_host, ..Spec::default() }, Spec::with))
}

/// A home after a crawl.
fn crawled(more: &[&str]) -> (World, Home) {
    let (world, home) = (world(12), Home::new());
    home.crawl(&world.args(&[&["--scope", "any", "--delay", "0"], more].concat()));
    (world, home)
}

/// The JSON output of a command.
fn told(home: &Home, args: &[&str]) -> Value {
    home.orb(&[args, &["--json"]].concat()).expect(0).json()
}

/// The pairs of pages connected by links of some kind, as nodes in URL order.
fn pairs(home: &Home, which: &str) -> BTreeSet<(usize, usize)> {
    let catalogue = home.catalogue();
    let mut urls = catalogue.column("SELECT url FROM page");
    urls.sort();
    let node = |url: &String| urls.binary_search(url).unwrap();
    let sql = format!(
        "SELECT s.url, d.url FROM link l JOIN page s ON s.id = l.src JOIN page d ON d.id = l.dst WHERE {}",
        which.replace("kind", "l.kind")
    );
    catalogue.rows(&sql).iter().map(|row| (node(&row[0]), node(&row[1]))).collect()
}

fn turned(arcs: &BTreeSet<(usize, usize)>) -> BTreeSet<(usize, usize)> {
    arcs.iter().map(|(src, dst)| (*dst, *src)).collect()
}

/// The links to a page according to SQL: source, kind, anchor, in output order.
fn backward(home: &Home, url: &str) -> Vec<(String, String, String)> {
    let sql = format!(
        "SELECT s.url, l.kind, l.anchor FROM link l JOIN page s ON s.id = l.src JOIN page d ON d.id = l.dst
         WHERE d.url = '{url}' ORDER BY s.url, l.kind"
    );
    home.catalogue().rows(&sql).into_iter().map(|row| (row[0].clone(), row[1].clone(), row[2].clone())).collect()
}

fn listed(value: &Value) -> Vec<(String, String, String)> {
    let text = |link: &Value, field: &str| link[field].as_str().unwrap().to_owned();
    value.as_array().unwrap().iter().map(|l| (text(l, "url"), text(l, "kind"), text(l, "anchor"))).collect()
}

/// The URL with the most links to it.
fn most_linked(home: &Home) -> String {
    let sql =
        "SELECT p.url FROM link l JOIN page p ON p.id = l.dst GROUP BY p.url ORDER BY count(*) DESC, p.url LIMIT 1";
    home.catalogue().column(sql).remove(0)
}

#[test]
fn the_graph_holds_the_links_of_the_catalogue_both_ways() {
    let (_world, home) = crawled(&[]);
    let built = told(&home, &["graph", "build", PROJECT]);
    let (arcs, dir) = (pairs(&home, ARCS), home.project().join("graph"));
    assert!(arcs.len() > 100, "{built}");
    assert_eq!(built["arcs"], arcs.len());
    assert_eq!(built["nodes"].as_i64(), Some(home.catalogue().number("SELECT count(*) FROM page")));
    assert_eq!(judge::bvgraph(&dir.join("web")), arcs);
    assert_eq!(judge::bvgraph(&dir.join("web-t")), turned(&arcs));
    let others = pairs(&home, &format!("NOT ({ARCS})"));
    assert_eq!(judge::bvgraph(&dir.join("rest-t")), turned(&others));
    let hosts =
        "SELECT DISTINCT s.host_id, d.host_id FROM link l JOIN page s ON s.id = l.src JOIN page d ON d.id = l.dst";
    let hosts =
        home.catalogue().rows(&format!("{hosts} WHERE {} AND s.host_id <> d.host_id", ARCS.replace("kind", "l.kind")));
    assert_eq!(judge::bvgraph(&dir.join("host")).len(), hosts.len());
    assert_eq!(built["host_arcs"], hosts.len());
    home.orb(&["check", PROJECT]).expect(0);
    let stats = told(&home, &["graph", "stats", PROJECT]);
    let sources: BTreeSet<usize> = arcs.iter().map(|arc| arc.0).collect();
    assert_eq!(stats["dangling"].as_u64().unwrap() + sources.len() as u64, stats["nodes"].as_u64().unwrap());
    assert_eq!((&stats["standing"], &stats["run"]), (&"current".into(), &1.into()));
    assert!(home.orb(&["graph", "stats", PROJECT]).expect(0).text().contains("bits per link"));
}

#[test]
fn options_say_what_is_an_arc_and_nothing_new_is_nothing_to_do() {
    let (_world, home) = crawled(&[]);
    let build = |more: &[&str]| told(&home, &[&["graph", "build", PROJECT], more].concat());
    assert_eq!(build(&[])["built"], true);
    assert_eq!(build(&[])["built"], false);
    assert!(home.orb(&["graph", "build", PROJECT]).expect(0).text().contains("nothing new"));
    assert_eq!(build(&["--force"])["built"], true);
    for (args, which) in [
        (&["--kinds", "img,redirect"][..], "kind IN ('img', 'redirect') AND src <> dst"),
        (&["--kinds", "all", "--self-loops", "keep"], "1"),
        (&["--nofollow", "drop"], &format!("{ARCS} AND rel NOT LIKE '%nofollow%'")),
    ] {
        let built = build(args);
        assert_eq!(
            (built["built"].as_bool(), built["arcs"].as_u64()),
            (Some(true), Some(pairs(&home, which).len() as u64))
        );
        home.orb(&["check", PROJECT]).expect(0);
    }
}

#[test]
fn who_points_to_a_page_is_the_same_with_and_without_a_graph() {
    let (_world, home) = crawled(&[]);
    let url = most_linked(&home);
    let all = backward(&home, &url);
    let ask = |more: &[&str]| listed(&told(&home, &[&["links", PROJECT, &url, "--in"], more].concat()));
    assert_eq!(ask(&[]), all);
    told(&home, &["graph", "build", PROJECT]);
    assert_eq!(ask(&[]), all);
    assert_eq!(ask(&["--limit", "3", "--offset", "2"]), all[2..5]);
    assert_eq!(ask(&["--offset", "100000"]), []);
    let picture =
        home.catalogue().column("SELECT p.url FROM link l JOIN page p ON p.id = l.dst WHERE l.kind = 'img' LIMIT 1");
    let pointing = told(&home, &["links", PROJECT, &picture[0], "--in"]);
    assert_eq!(listed(&pointing), backward(&home, &picture[0]));
    let finished = home.orb(&["links", PROJECT, &url, "--in"]);
    assert!(finished.expect(0).stderr.is_empty(), "{finished}");
}

#[test]
fn an_older_graph_is_told_of_and_what_came_since_is_not_missed() {
    let (world, home) = crawled(&["--max-pages", "15"]);
    told(&home, &["graph", "build", PROJECT]);
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let stats = told(&home, &["graph", "stats", PROJECT]);
    assert_eq!(stats["standing"], "behind", "{stats}");
    assert!(stats["behind"]["pages"].as_u64().unwrap() > 0, "{stats}");
    let url = most_linked(&home);
    let finished = home.orb(&["links", PROJECT, &url, "--in", "--json"]);
    assert!(finished.expect(0).stderr.contains("older than the catalogue"), "{finished}");
    assert_eq!(listed(&finished.json()), backward(&home, &url));
    let newest = home.catalogue().column("SELECT url FROM page ORDER BY id DESC LIMIT 1").remove(0);
    assert_eq!(told(&home, &["show", PROJECT, &newest])["page"]["url"], newest.as_str());
    let checked = home.orb(&["check", PROJECT]);
    assert!(checked.expect(0).text().contains("older than the catalogue"), "{checked}");
    assert_eq!(told(&home, &["graph", "build", PROJECT])["built"], true);
    let finished = home.orb(&["links", PROJECT, &url, "--in", "--json"]);
    assert!(finished.expect(0).stderr.is_empty() && listed(&finished.json()) == backward(&home, &url), "{finished}");
}

#[test]
fn a_build_killed_at_any_moment_leaves_the_old_graph_or_the_new_one() {
    let (world, home) = (world(60), Home::new());
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--max-pages", "40"]));
    told(&home, &["graph", "build", PROJECT]);
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    let (old, url) = (told(&home, &["graph", "stats", PROJECT])["arcs"].as_u64(), most_linked(&home));
    let new = pairs(&home, ARCS).len() as u64;
    let project = home.project();
    for moment in ["graph.new", "graph.new/urls", "graph.new/web.graph", "graph.new/host-t.ef", "graph.new/graph.json"]
    {
        let running = home.start(&["graph", "build", PROJECT, "--force", "--progress", "none"], &[]);
        until(moment, || project.join(moment).exists() || settled(&project, new));
        running.signal(Signal::KILL);
        drop(running.finish());
        let stats = told(&home, &["graph", "stats", PROJECT]);
        assert!([old, Some(new)].contains(&stats["arcs"].as_u64()), "{moment}: {stats}");
        home.orb(&["check", PROJECT]).expect(0);
        assert_eq!(listed(&told(&home, &["links", PROJECT, &url, "--in"])), backward(&home, &url), "{moment}");
    }
    let built = told(&home, &["graph", "build", PROJECT, "--force"]);
    assert_eq!(built["arcs"].as_u64(), Some(new));
    assert!(!project.join("graph.new").exists() && !project.join("graph.old").exists());
    home.orb(&["check", PROJECT]).expect(0);
}

/// Whether the new graph is already in place.
fn settled(project: &Path, arcs: u64) -> bool {
    let manifest = fs::read(project.join("graph/graph.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    manifest["web"]["arcs"].as_u64() == Some(arcs)
}

#[test]
fn a_damaged_graph_is_named_gone_around_and_built_anew() {
    let (_world, home) = crawled(&[]);
    told(&home, &["graph", "build", PROJECT]);
    let (url, dir) = (most_linked(&home), home.project().join("graph"));
    for name in ["web-t.graph", "web-t.ef", "urls", "urls.ids", "graph.json", "web.graph"] {
        let path = dir.join(name);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x41;
        bytes.truncate(bytes.len() - 1);
        fs::write(&path, bytes).unwrap();
        let checked = home.orb(&["check", PROJECT]);
        assert!(checked.expect(1).text().contains(name), "{checked}");
        let finished = home.orb(&["links", PROJECT, &url, "--in", "--json"]);
        assert_eq!(listed(&finished.expect(0).json()), backward(&home, &url), "{name}");
        assert_eq!(finished.stderr.contains("damaged"), name != "web.graph", "{finished}");
        home.orb(&["show", PROJECT, &url]).expect(0);
        assert_eq!(told(&home, &["graph", "build", PROJECT])["built"], true, "{name}");
        home.orb(&["check", PROJECT]).expect(0);
    }
}

#[test]
fn what_cannot_be_built_or_asked_is_said_in_a_line() {
    let (_world, home) = crawled(&["--max-pages", "3"]);
    let line = |args: &[&str], code: i32| home.orb(args).complaint(code).to_owned();
    assert!(line(&["graph", "stats", PROJECT], 1).contains("orb graph build"));
    assert!(line(&["graph", "build", "nowhere"], 1).contains("nowhere"));
    let kinds = line(&["graph", "build", PROJECT, "--kinds", "a,wormhole"], 2);
    assert!(kinds.contains("wormhole") && kinds.contains("redirect"), "{kinds}");
    told(&home, &["graph", "build", PROJECT]);
    let manifest = home.project().join("graph/graph.json");
    let later = fs::read_to_string(&manifest).unwrap().replacen("\"format\": 1", "\"format\": 99", 1);
    fs::write(&manifest, later).unwrap();
    assert!(line(&["graph", "stats", PROJECT], 1).contains("format 99"));
    assert_eq!(told(&home, &["graph", "build", PROJECT])["built"], true);
    home.orb(&["check", PROJECT]).expect(0);
}
