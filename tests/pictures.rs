//! Can other tools read the exported graphs, and does the drawing render?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::networkx_reads;
use harness::orb::{Finished, Home, PROJECT, Running};
use harness::web::World;
use orb_testweb::{Feature, Spec};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A varied web, crawled completely, with its graph.
fn mapped() -> (World, Home) {
    let features = [Feature::Furniture, Feature::Media, Feature::Errors];
    let world = World::new(features.into_iter().fold(Spec { pages_per_host: 12, ..Spec::default() }, Spec::with));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
    (world, home)
}

fn export(home: &Home, format: &str, file: &Path, more: &[&str]) -> Finished {
    let mut args =
        vec!["graph", "export", PROJECT, format, "--json", "--progress", "none", "-o", file.to_str().unwrap()];
    args.extend(more);
    home.orb(&args)
}

/// The expected arcs, by URL.
fn arcs(home: &Home) -> BTreeSet<(String, String)> {
    let sql = "SELECT a.url, b.url FROM link l JOIN page a ON a.id = l.src JOIN page b ON b.id = l.dst \
               WHERE l.last_run IS NULL AND l.src <> l.dst AND l.kind IN ('a', 'area', 'frame', 'redirect', 'refresh')";
    home.catalogue().rows(sql).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

#[test]
fn networkx_reads_the_whole_graph_with_its_ranks_from_every_format() {
    let (_world, home) = mapped();
    let (arcs, pages) = (arcs(&home), home.catalogue().pages());
    let top: Value = home.orb(&["top", PROJECT, "--limit", "100000", "--json"]).expect(0).json();
    let ranks: BTreeMap<&str, f64> = top
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["url"].as_str().unwrap(), row["score"].as_f64().unwrap()))
        .collect();
    for format in ["graphml", "gexf"] {
        let file = home.beside(format);
        let written = export(&home, format, &file, &[]).expect(0).json();
        assert_eq!(written["arcs"].as_u64(), Some(arcs.len() as u64), "{written}");
        let read = networkx_reads(format, &file);
        assert_eq!(read.nodes.len(), pages.len());
        let url = |facts: &BTreeMap<String, Value>| facts["url"].as_str().unwrap().to_owned();
        let urls: BTreeMap<&str, String> = read.nodes.iter().map(|(id, facts)| (id.as_str(), url(facts))).collect();
        let told: BTreeSet<(String, String)> =
            read.arcs.iter().map(|(a, b)| (urls[a.as_str()].clone(), urls[b.as_str()].clone())).collect();
        assert_eq!(told, arcs, "{format}");
        for (_, facts) in &read.nodes {
            let (url, rank) = (url(facts), facts["pagerank"].as_f64().unwrap());
            assert_eq!(rank, ranks[url.as_str()], "{url}");
            let title = facts.get("title").and_then(Value::as_str).filter(|title| !title.is_empty());
            assert_eq!(title, pages[&url].title.as_deref().filter(|title| !title.is_empty()), "{url}");
        }
    }
    let file = home.beside("edges");
    export(&home, "edges", &file, &[]).expect(0);
    assert_eq!(networkx_reads("edges", &file).arcs.into_iter().collect::<BTreeSet<_>>(), arcs);
    let piped = home.orb(&["graph", "export", PROJECT, "edges", "-o", "-"]);
    assert_eq!(piped.expect(0).stdout, std::fs::read(&file).unwrap());
}

#[test]
fn a_part_of_the_graph_is_what_was_asked_for() {
    let (world, home) = mapped();
    let all = arcs(&home);
    let top: Value = home.orb(&["top", PROJECT, "--by", "authority", "--limit", "9", "--json"]).expect(0).json();
    let best: BTreeSet<String> =
        top.as_array().unwrap().iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect();
    let within = |chosen: &BTreeSet<String>| -> BTreeSet<(String, String)> {
        all.iter().filter(|(a, b)| chosen.contains(a) && chosen.contains(b)).cloned().collect()
    };
    let file = home.beside("top.tsv");
    export(&home, "edges", &file, &["--top", "9", "--by", "authority"]).expect(0);
    let read = |file: &Path| networkx_reads("edges", file).arcs.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(read(&file), within(&best));
    let url = world.url(0, "/");
    let near: Value = home.orb(&["graph", "neighbours", PROJECT, &url, "--limit", "100000", "--json"]).expect(0).json();
    let mut around: BTreeSet<String> =
        near.as_array().unwrap().iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect();
    around.insert(url.clone());
    let file = home.beside("around.tsv");
    export(&home, "edges", &file, &["--around", &url]).expect(0);
    assert_eq!(read(&file), within(&around));
    let file = home.beside("hosts.graphml");
    export(&home, "graphml", &file, &["--hosts"]).expect(0);
    let read = networkx_reads("graphml", &file);
    assert_eq!(read.nodes.len(), usize::try_from(home.catalogue().number("SELECT count(*) FROM host")).unwrap());
}

#[test]
fn a_file_that_is_there_is_spared_and_nothing_half_is_left() {
    let (_world, home) = mapped();
    for (format, files) in [
        ("graphml", vec!["g"]),
        ("parquet", vec!["g.parquet", "g.nodes.parquet"]),
        (
            "webgraph",
            vec!["g.graph", "g.offsets", "g.properties", "g-t.graph", "g-t.offsets", "g-t.properties", "g.urls"],
        ),
        ("html", vec!["g.html"]),
        ("dot", vec!["g.dot"]),
    ] {
        let dir = home.beside(&format!("out-{format}"));
        std::fs::create_dir(&dir).unwrap();
        let base = if format == "webgraph" { dir.join("g") } else { dir.join(files[0]) };
        for file in &files {
            std::fs::write(dir.join(file), "mine").unwrap();
            let refused = export(&home, format, &base, &[]);
            assert!(refused.complaint(1).contains("--force"), "{refused}");
            assert_eq!(std::fs::read(dir.join(file)).unwrap(), b"mine");
            assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "{format} left something");
            std::fs::remove_file(dir.join(file)).unwrap();
        }
        std::fs::write(dir.join(files[0]), "mine").unwrap();
        export(&home, format, &base, &["--force"]).expect(0);
        let mut left: Vec<String> =
            std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut files = files;
        files.sort_unstable();
        assert_eq!(left, files);
        assert_ne!(std::fs::read(dir.join(files[0])).unwrap(), b"mine");
    }
    let nowhere = export(&home, "dot", &home.beside("none/such/g.dot"), &[]);
    assert!(nowhere.complaint(1).contains("cannot write"), "{nowhere}");
    let webgraph = export(&home, "webgraph", &home.beside("w"), &["--top", "3"]);
    assert!(webgraph.complaint(2).contains("whole graph"), "{webgraph}");
}

/// A page as rendered by Debian's browser, as HTML or as an image.
fn browser(home: &Home, url: &str, more: &[&str]) -> Finished {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,800"]);
    command.args(["--virtual-time-budget=10000", "--host-resolver-rules=MAP * ~NOTFOUND"]).args(more).arg(url);
    // The browser's profile and state belong to the test.
    command.env("HOME", home.beside("browser")).current_dir(home.beside("browser"));
    let finished = Running::start(command).finish();
    finished.expect(0);
    finished
}

#[test]
fn the_drawing_draws_in_a_browser_and_tells_of_the_page_asked_for() {
    let (world, home) = mapped();
    std::fs::create_dir(home.beside("browser")).unwrap();
    let file = home.beside("drawing.html");
    let written = export(&home, "html", &file, &["--top", "60"]).expect(0).json();
    assert_eq!(written["nodes"], 60, "{written}");
    let address = format!("file://{}#{}", file.display(), world.url(0, "/"));
    let page = browser(&home, &address, &["--dump-dom"]);
    let dom = page.text();
    assert!(dom.contains("data-ready=\"yes\""), "the script did not come to its end: {page}");
    assert!(dom.contains(&format!("60 pages, {} links", written["arcs"])), "{page}");
    // The legend names the hosts, the details the page that the URL names.
    let hosts = dom.matches("<button title=\"").count();
    assert!(hosts >= 2, "{hosts} hosts: {page}");
    let title = home.catalogue().page(&world.url(0, "/")).title.unwrap();
    let details = dom.split("<aside").nth(1).unwrap();
    assert!(details.contains(&format!("<h2>{title}</h2>")) && details.contains("Linked from ("), "{details}");
    let shot = home.beside("drawing.png");
    browser(&home, &address, &[&format!("--screenshot={}", shot.display())]);
    let picture = std::fs::read(&shot).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 30_000, "{} bytes", picture.len());
    if let Some(keep) = std::env::var_os("ORB_KEEP_PICTURE") {
        std::fs::copy(&shot, keep).unwrap();
    }
    let around = export(&home, "html", &home.beside("around.html"), &["--around", &world.url(0, "/"), "--hops", "2"]);
    assert!(around.expect(0).json()["nodes"].as_u64() > Some(5), "{around}");
}
