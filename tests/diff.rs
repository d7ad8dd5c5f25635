//! Does the program show what differs between two versions of a page?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::history::{Told, later_run};
use harness::orb::{Finished, Home, PROJECT};
use harness::script::{Script, absent, page, reply};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The versions of a page.
const VERSIONS: [&str; 4] = [
    "<nav>Menu</nav><main><h1>Tea</h1><p>A tin of it costs 20 EUR.</p><p>It is green.</p></main>",
    "<nav>Menu, new</nav><main><h1>Tea</h1><p>A tin of it costs 25 EUR.</p><p>It is green.</p><p>Sold &lt;out&gt;.</p></main>",
    "<nav>Menu</nav><main class=x><h1>Tea</h1><p>A tin of it costs 20 EUR.</p><p>It is green.</p></main>",
    "",
];

/// A site whose pages contain the versions that the first one will have, and an image.
fn crawled(more: &[&str]) -> (Script, Home) {
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page(["/0", "/1", "/2", "/a.png", "/b.png", "/gone"].map(str::to_owned)),
        "/a.png" => reply("200 OK", "Content-Type: image/png\r\n", "\u{89}PNG\r\n\u{1a}\nx"),
        "/b.png" => reply("200 OK", "Content-Type: image/png\r\n", "\u{89}PNG\r\n\u{1a}\ny"),
        "/gone" => absent(),
        other => {
            let n: usize = other.trim_start_matches('/').parse().unwrap();
            reply(
                "200 OK",
                "Content-Type: text/html\r\n",
                &format!("<!doctype html><title>Shop</title>{}", VERSIONS[n]),
            )
        }
    });
    let home = Home::new();
    let seed = format!("http://127.0.0.1:{}/", server.port());
    home.crawl(&[&[seed.as_str(), "--delay", "0"], more].concat());
    (server, home)
}

fn url(server: &Script, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", server.port())
}

/// Run 2 saw the second version, run 3 the same, run 4 the third.
fn tracked() -> (Script, Home, String) {
    let (server, home) = crawled(&[]);
    let at = [url(&server, "/0"), url(&server, "/1"), url(&server, "/2")];
    later_run(&home, &[Told { like: &at[1], ..Told::new(&at[0], "UPD") }]);
    later_run(&home, &[Told { like: &at[1], ..Told::new(&at[0], "SAM") }]);
    later_run(&home, &[Told { like: &at[2], ..Told::new(&at[0], "UPD") }]);
    let [first, ..] = at;
    (server, home, first)
}

fn diff(home: &Home, url: &str, more: &[&str]) -> Finished {
    home.orb(&[&["diff", PROJECT, url], more].concat())
}

#[test]
fn two_versions_are_told_apart_line_by_line() {
    let (_server, home, url) = tracked();
    let finished = diff(&home, &url, &["--from", "1", "--to", "3"]);
    let text = finished.expect(0).text();
    let head = format!("--- {url} run 1 ");
    assert!(text.starts_with(&head) && text.contains(&format!("\n+++ {url} run 3 ")), "{text}");
    let body = "@@ -1,5 +1,6 @@\n Shop\n-Menu\n+Menu, new\n Tea\n-A tin of it costs 20 EUR.\n+A tin of it costs 25 EUR.\n It is green.\n+Sold <out>.\n";
    assert!(text.ends_with(body), "{text}");
    // The last two that differ, without naming the runs; the main content only.
    let last = diff(&home, &url, &["--by", "main", "--context", "0"]);
    assert!(
        last.expect(0).text().ends_with(
            "@@ -2,1 +2,1 @@\n-A tin of it costs 25 EUR.\n+A tin of it costs 20 EUR.\n@@ -4,1 +0,0 @@\n-Sold <out>.\n"
        ),
        "{last}"
    );
    assert!(last.text().contains("run 3 ") && last.text().contains("run 4 "), "{last}");
}

#[test]
fn programs_get_rows_with_the_words_marked() {
    let (_server, home, url) = tracked();
    let told = diff(&home, &url, &["--from", "1", "--to", "2", "--by", "main", "--json"]).expect(0).json();
    assert_eq!(told["counts"], json!({"changed": 1, "added": 1, "removed": 0}));
    assert_eq!((&told["from"]["run"], &told["to"]["run"], &told["by"]), (&json!(1), &json!(2), &json!("main")));
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows[0], json!({"kind": "same", "old_line": 1, "new_line": 1, "text": "Tea"}));
    assert_eq!(rows[1]["new"][1], json!({"text": "25", "marked": true}));
    assert_eq!(rows[3], json!({"kind": "added", "new_line": 4, "text": "Sold <out>."}));
}

#[test]
fn a_page_shows_both_side_by_side_and_cannot_be_broken_by_what_they_say() {
    let (_server, home, url) = tracked();
    let file = home.path().join("d.html");
    let name = file.to_str().unwrap();
    let write = ["--from", "1", "--to", "2", "--html", name];
    diff(&home, &url, &write).expect(0);
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(
        page.contains("<del>20</del>") && page.contains("<ins>25</ins>") && page.contains("Sold &lt;out&gt;."),
        "{page}"
    );
    assert!(!page.contains("<out>"), "{page}");
    assert!(diff(&home, &url, &write).complaint(1).contains("--force writes over it"));
    diff(&home, &url, &[&write[..], &["--force"]].concat()).expect(0);
    let shown = diff(&home, &url, &["--html", "-"]);
    assert!(shown.expect(0).text().starts_with("<!DOCTYPE html>"), "{shown}");
}

#[test]
fn what_cannot_be_compared_is_said_in_a_line() {
    let (server, home, first) = tracked();
    let same = diff(&home, &first, &["--from", "2", "--to", "3"]);
    assert_eq!(same.expect(0).text().trim(), "runs 2 and 3 saw the same bytes");
    let markup = diff(&home, &first, &["--from", "1", "--to", "4"]);
    assert!(markup.expect(0).text().contains("the same text in other markup; --by source shows it"), "{markup}");
    assert!(diff(&home, &first, &["--from", "1", "--by", "source"]).expect(0).text().contains("<main class=x>"));
    for (path, more, code, why) in [
        ("/0", &["--from", "9"][..], 1, "project p has no run 9"),
        ("/0", &["--from", "2", "--to", "2"], 2, "the same run"),
        ("/1", &[], 1, "has only one version: runs 1 to 4 saw the same bytes"),
        ("/gone", &[], 1, "there is no version of"),
        ("/nowhere", &[], 1, "does not know"),
    ] {
        let finished = diff(&home, &url(&server, path), more);
        assert!(finished.complaint(code).contains(why), "{finished}");
    }
    let (a, b) = (url(&server, "/a.png"), url(&server, "/b.png"));
    later_run(&home, &[Told { like: &b, ..Told::new(&a, "UPD") }]);
    assert!(diff(&home, &a, &[]).complaint(1).contains("is image/png, which has no lines to compare"));
}

#[test]
fn without_an_archive_it_says_so() {
    let (server, home) = crawled(&["--no-archive"]);
    let (first, second) = (url(&server, "/0"), url(&server, "/1"));
    later_run(&home, &[Told { like: &second, ..Told::new(&first, "UPD") }]);
    assert!(diff(&home, &first, &[]).complaint(1).contains("was not archived"));
}

#[test]
fn versions_that_orb_track_saw_are_compared() {
    let now = Arc::new(AtomicUsize::new(0));
    let version = Arc::clone(&now);
    let server = Script::serve(move |heard| match heard.target.as_str() {
        "/" => {
            let body = VERSIONS[version.load(Ordering::SeqCst)];
            reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><title>Shop</title>{body}"))
        }
        _ => absent(),
    });
    let home = Home::new();
    let seed = url(&server, "/");
    home.crawl(&[seed.as_str(), "--delay", "0"]);
    for seen in [0, 1, 1] {
        now.store(seen, Ordering::SeqCst);
        home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    }
    // Runs 1 and 2 saw the first, runs 3 and 4 the second: identical versions are stored once.
    for more in [&[][..], &["--from", "2"], &["--from", "1", "--to", "3"]] {
        let finished = diff(&home, &seed, &[more, &["--by", "main", "--context", "0"]].concat());
        let text = finished.expect(0).text();
        assert!(
            text.ends_with("-A tin of it costs 20 EUR.\n+A tin of it costs 25 EUR.\n@@ -0,0 +4,1 @@\n+Sold <out>.\n"),
            "{finished}"
        );
    }
    assert!(diff(&home, &seed, &["--from", "3", "--to", "4"]).expect(0).text().contains("saw the same bytes"));
}
