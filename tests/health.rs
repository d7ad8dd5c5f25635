//! Does `orb health` find what is wrong with a site, all of it and nothing else?
//!
//! A site with one example of every kind, crawled and tracked once after it has become worse. What
//! is found is compared with what was put there, row by row.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, moved, reply};
use harness::tls::{Flaw, SecureSite};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longer than a page may take.
const SLOW: Duration = Duration::from_millis(2_050);

/// The pages of the site by their paths: titles and what is on them.
const PAGES: &[(&str, &str)] = &[
    ("/lonely", "<title>Lonely</title>Nobody knows me <a href=/lonely>but myself</a>"),
    ("/plain", "<title>Plain</title>Nothing is wrong here <img src=/x.png alt=''><link rel=canonical href=/plain>"),
    ("/untitled", "<title> </title>It has no name"),
    ("/same1", "<title>Same</title>The first page of this title"),
    ("/same2", "<title>Same</title>The second page of this title"),
    ("/near1", "<title>Near one</title>Some words that both of them have"),
    ("/near2", "<title>Near two</title><p>Some words that both <b>of</b> them have"),
    ("/copy1", "<title>Copy</title>Exactly the same bytes"),
    ("/copy2", "<title>Copy</title>Exactly the same bytes"),
    (
        "/pictures",
        "<title>Pictures</title>Two <img src=/a.png> and <img src=/b.png> and one <img src=/c.png alt=Three>",
    ),
    ("/other", "<title>Other</title>The real one is there <link rel=canonical href=/plain>"),
    ("/slow", "<title>Slow</title>It took me long"),
    ("/1", "<title>One</title>Number one <a href=/2>on</a>"),
    ("/2", "<title>Two</title>Number two <a href=/3>on</a>"),
    ("/3", "<title>Three</title>Number three <a href=/4>on</a>"),
    ("/4", "<title>Four</title>Number four <a href=/5>on</a>"),
    ("/5", "<title>Five</title>Number five <a href=/6>on</a>"),
    ("/6", "<title>Six</title>Number six: <a href=/w/w/w/w/w/w/w/w>deeper</a>"),
];

/// Pages that the first page does not link to.
const UNLINKED: &[&str] = &["/lonely", "/2", "/3", "/4", "/5", "/6"];

/// The site with everything, which is worse once `worse` is set.
fn site(worse: &Arc<AtomicBool>) -> Script {
    let worse = Arc::clone(worse);
    Script::serve(move |heard| answer(heard, worse.load(Ordering::SeqCst)))
}

fn html(body: &str) -> Vec<u8> {
    reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html>{body}"))
}

fn answer(heard: &Heard, is_worse: bool) -> Vec<u8> {
    let root = format!("http://{}", heard.field("host").unwrap_or_default());
    match heard.target.as_str() {
        "/robots.txt" => reply("200 OK", "", &format!("User-agent: *\nDisallow: /secret\nSitemap: {root}/map.xml\n")),
        "/map.xml" => {
            let urls = ["/", "/plain", "/lonely"].map(|path| format!("<url><loc>{root}{path}</loc></url>")).concat();
            let map = format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>");
            reply("200 OK", "Content-Type: application/xml\r\n", &map)
        }
        "/" => {
            let listed = PAGES.iter().filter(|(path, _)| !UNLINKED.contains(path));
            let links: String = listed.map(|(path, _)| format!("<a href={path}>to {path}</a> ")).collect();
            let more = "<a href=/gone>a lost page</a> <a href=/secret>not for robots</a> <a href=/r1>a chain</a> \
                        <a href=/once>one redirect</a> <a href=/l1>a loop</a> <a href=/large>large</a>";
            html(&format!("<title>Start</title>{links}{more}"))
        }
        "/plain" if is_worse => absent(),
        "/1" if is_worse => html("Number one <a href=/gone>still lost</a> <a href=/2>on</a>"),
        "/r1" => moved("/r2"),
        "/r2" => moved("/r3"),
        "/r3" | "/once" => moved("/same1"),
        "/l1" => moved("/l2"),
        "/l2" => moved("/l1"),
        "/large" => html(&format!("<title>Large</title>{}", "<p>very large</p>".repeat(70_000))),
        path => match PAGES.iter().find(|(known, _)| *known == path) {
            Some((path, body)) => {
                if *path == "/slow" {
                    std::thread::sleep(SLOW);
                }
                html(body)
            }
            None => absent(),
        },
    }
}

/// The site crawled, then tracked when it has become worse.
fn twice_visited() -> (Script, Home) {
    let worse = Arc::default();
    let script = site(&worse);
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", script.address), "--delay", "0", "--per-host", "1"]);
    worse.store(true, Ordering::SeqCst);
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    (script, home)
}

fn told(home: &Home, args: &[&str]) -> Value {
    home.orb(&[&["health", PROJECT], args, &["--json"]].concat()).expect(0).json()
}

/// The rows of a kind: page, other URL and some more fields, without the server's name; sorted.
fn rows(home: &Home, script: &Script, args: &[&str], fields: &[&str]) -> Vec<String> {
    let root = format!("http://{}", script.address);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.replace(&root, ""));
    let row = |row: &Value| {
        let fields = ["url", "other"].iter().chain(fields).filter(|field| !row[**field].is_null());
        fields.map(|field| text(&row[*field])).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = told(home, args).as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn every_kind_is_found_where_it_is_and_nowhere_else() {
    let (script, home) = twice_visited();
    let found = |args: &[&str], fields: &[&str]| rows(&home, &script, args, fields);
    assert_eq!(
        found(&["broken_link"], &["anchor", "kind", "status", "since"]),
        [
            "/ /gone a lost page a 404 1",
            "/ /plain to /plain a 404 2",
            "/1 /gone still lost a 404 2",
            "/map.xml /plain sitemap 404 2",
            "/other /plain canonical 404 2",
            "/pictures /a.png img 404 1",
            "/pictures /b.png img 404 1",
            "/pictures /c.png Three img 404 1",
        ]
    );
    assert_eq!(found(&["redirect_loop"], &["hops"]), ["/l1 /l2 2"]);
    assert_eq!(found(&["redirect_chain"], &["hops"]), ["/r1 /same1 3"]);
    assert_eq!(found(&["missing_title"], &["since"]), ["/1 2", "/untitled 1"]);
    assert_eq!(found(&["equal_title"], &["title", "pages"]), ["/same2 /same1 Same 2"]);
    // The original is the copy whose body was read first, and two may be read at once.
    let duplicate = found(&["duplicate"], &["since"]);
    assert!(duplicate == ["/copy2 /copy1 1"] || duplicate == ["/copy1 /copy2 1"], "{duplicate:?}");
    assert_eq!(found(&["missing_alt"], &[]), ["/pictures /a.png", "/pictures /b.png"]);
    assert_eq!(found(&["slow_page"], &["status"]), ["/slow 200"]);
    assert_eq!(found(&["large_page"], &["length"]), ["/large 1190035"]);
    assert_eq!(found(&["orphan"], &["since"]), ["/lonely /map.xml 1"]);
    assert_eq!(found(&["trap"], &["why"]), ["/w/w/w/w/w/w/w/w /6 trap-repeat"]);
    assert_eq!(found(&["near_duplicate"], &[]), ["/near2 /near1"]);
    assert_eq!(found(&["canonical_elsewhere"], &[]), ["/other /plain"]);
    assert_eq!(found(&["disallowed_link"], &["anchor", "kind"]), ["/ /secret not for robots a"]);
    assert_eq!(found(&["deep_page"], &["depth"]), ["/6 6"]);
    assert_eq!(found(&["mixed_content"], &[]), [""; 0]);
}

/// A kind's count and new count.
fn counts(home: &Home, args: &[&str]) -> BTreeMap<String, (Value, Value)> {
    let kinds = told(home, args);
    let of = |k: &Value| (k["kind"].as_str().unwrap().to_owned(), (k["count"].clone(), k["new"].clone()));
    kinds.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn counts_are_those_of_the_rows_and_of_the_statement_that_is_shown() {
    let (_script, home) = twice_visited();
    let manual = std::fs::read_to_string(harness::root().join("docs/health.md")).unwrap();
    for kind in told(&home, &[]).as_array().unwrap() {
        let (name, sql) = (kind["kind"].as_str().unwrap(), kind["sql"].as_str().unwrap());
        assert!(manual.contains(&format!("| `{name}` |")), "docs/health.md does not list {name}");
        let listed = told(&home, &[name]).as_array().unwrap().len();
        assert_eq!(kind["count"], listed, "{name}");
        let asked = home.orb(&["sql", PROJECT, sql, "--format", "json"]).expect(0).json();
        assert_eq!(kind["count"], asked.as_array().unwrap().len(), "{name}");
        // What other tools see is what our own readers see.
        let seen = home.catalogue().number(&format!("SELECT count(*) FROM {name}"));
        assert_eq!(kind["count"], seen, "{name}");
        for key in ["about", "fix", "severity"] {
            assert!(!kind[key].as_str().unwrap().is_empty(), "{name} has no {key}");
        }
        if name != "missing_alt" {
            let new = told(&home, &[name, "--new"]).as_array().unwrap().len();
            assert_eq!(kind["new"], new, "{name}");
        }
    }
    let all = counts(&home, &[]);
    assert_eq!(all["missing_title"], (2.into(), 1.into()));
    assert_eq!(all["missing_alt"], (2.into(), Value::Null), "nobody knows since when");
    assert!(counts(&home, &["--run", "1"]).values().all(|(_, new)| new.is_null()), "nothing came before");
}

#[test]
fn rows_come_page_by_page_and_new_ones_alone() {
    let (script, home) = twice_visited();
    let all = told(&home, &["broken_link"]);
    let two = told(&home, &["broken_link", "--limit", "2", "--offset", "1"]);
    assert_eq!(two.as_array().unwrap()[..], all.as_array().unwrap()[1..3]);
    assert_eq!(rows(&home, &script, &["missing_title", "--new"], &[]), ["/1"]);
    assert_eq!(rows(&home, &script, &["missing_title", "--new", "--run", "1"], &[]), ["/1", "/untitled"]);
    let listed = home.orb(&["health", PROJECT, "missing_title", "--new"]);
    let text = listed.expect(0).text();
    for part in ["warning: HTML pages without a title", "repair: give", "SELECT * FROM missing_title WHERE since >= 2"]
    {
        assert!(text.contains(part), "no '{part}':\n{text}");
    }
    let refused = home.orb(&["health", PROJECT, "missing_alt", "--new"]);
    assert!(refused.complaint(1).contains("does not know since when"), "{refused}");
    let unknown = home.orb(&["health", PROJECT, "--run", "7"]);
    assert!(unknown.complaint(1).contains("no run 7"), "{unknown}");
    assert!(home.orb(&["health", PROJECT, "wombats"]).code == Some(2));
}

#[test]
fn parts_of_a_secure_page_that_are_not_secure_are_found() {
    const PAGE: &str = "<title>Safe</title><img src=http://127.0.0.1:9/logo.png alt=Logo><script src=/own.js></script>\
                        <a href=http://127.0.0.1:9/page>a link is no part</a>";
    let site = SecureSite::serve(PAGE, Flaw::None);
    let home = Home::new();
    let issuer = home.beside("issuer.pem");
    std::fs::write(&issuer, &site.issuer).unwrap();
    let ca = issuer.to_str().unwrap();
    home.crawl(&[&site.url("/"), "--ca-file", ca, "--delay", "0", "--max-pages", "1"]);
    let found = told(&home, &["mixed_content"]);
    let rows: Vec<_> = found.as_array().unwrap().iter().map(|row| (&row["url"], &row["other"], &row["kind"])).collect();
    assert_eq!(rows, [(&site.url("/").into(), &"http://127.0.0.1:9/logo.png".into(), &"img".into())]);
}

#[test]
fn counts_are_kept_until_the_next_run_and_no_longer() {
    let worse = Arc::default();
    let script = site(&worse);
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", script.address), "--delay", "0", "--per-host", "1"]);
    let untitled = |home: &Home| counts(home, &[])["missing_title"].0.clone();
    assert_eq!(untitled(&home), 1);
    // Whoever asks again is told what was kept: nothing is counted a second time.
    let kept = home.project().join("figures/health.json");
    let text = std::fs::read_to_string(&kept).unwrap();
    let place = text.find("missing_title").unwrap();
    let other = text[place..].replacen("\"all\":1", "\"all\":77", 1);
    std::fs::write(&kept, format!("{}{other}", &text[..place])).unwrap();
    assert_eq!(untitled(&home), 77);
    worse.store(true, Ordering::SeqCst);
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    assert_eq!(untitled(&home), 2, "the counts of before the run");
    assert_eq!(told(&home, &["missing_title"]).as_array().unwrap().len(), 2, "the rows of before the run");
    // What cannot be read is counted again, and a place that cannot be written to costs nothing but
    // time.
    std::fs::write(&kept, "rubbish").unwrap();
    assert_eq!(untitled(&home), 2);
    std::fs::remove_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(kept.parent().unwrap(), "in the way").unwrap();
    assert_eq!(untitled(&home), 2);
}
