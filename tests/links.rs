//! Does the program report who links where, with which anchor text, and since when?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::recorded;
use harness::script::{Script, absent, reply};
use orb_page::{Flag, PageId, RunKind, RunState};
use orb_store::{Batch, FinishedVisit};
use serde_json::Value;

/// Three pages that link to each other with distinct anchor texts.
fn site() -> Script {
    Script::serve(|heard| {
        let page = |body: &str| reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html>{body}"));
        match heard.target.as_str() {
            "/" => page("<a href=/a>Alpha</a> <a href=/b>Beta</a> <a href=/gone>Gone</a> <a href=/moved>Moved</a>"),
            "/a" => page("<a href=/b>the second</a> <a href=/>home</a>"),
            "/b" => {
                page("<a href=/a>Alpha</a> <a href=/a rel=next>Alpha</a> <a href=/>home</a> <img src=/a alt=picture>")
            }
            "/moved" => harness::script::moved("/a"),
            _ => absent(),
        }
    })
}

fn crawled() -> (Script, Home, impl Fn(&str) -> String) {
    let (site, home) = (site(), Home::new());
    let root = format!("http://{}", site.address);
    let url = move |path: &str| format!("{root}{path}");
    home.crawl(&[url("/"), "--delay".into(), "0".into()]);
    (site, home, url)
}

fn told(home: &Home, args: &[&str]) -> Value {
    home.orb(&[args, &["--json"]].concat()).expect(0).json()
}

/// Records another run that sees the page with these links and anchor texts.
fn seen_again(home: &Home, url: &str, links: &[(String, &str)]) {
    let catalogue = home.catalogue();
    let id = |url: &str| PageId(u64::try_from(catalogue.page(url).id).unwrap());
    let found = recorded::links(links.iter().map(|(url, words)| (url, *words)));
    let visit = recorded::visit(id(url), url, Flag::Updated, found);
    let targets = links.iter().map(|(url, _)| id(url)).collect();
    let mut project = recorded::open(home);
    let run = project.begin_run(RunKind::Track, "").unwrap();
    let visits = vec![FinishedVisit::unarchived(visit, targets)];
    let mut batch = Batch { run, visits, ..Batch::default() };
    project.commit(&mut batch).unwrap();
    project.finish_run(run, RunState::Done, "{}").unwrap();
    project.close().unwrap();
}

#[test]
fn the_words_of_links_to_a_page_are_listed_most_common_first() {
    let (_site, home, url) = crawled();
    let anchors = told(&home, &["links", PROJECT, &url("/a"), "--in", "--anchors"]);
    assert_eq!(
        (&anchors[0]["anchor"], &anchors[0]["count"], &anchors[0]["sources"]),
        (&"Alpha".into(), &3.into(), &2.into())
    );
    assert_eq!(anchors.as_array().unwrap().len(), 1, "words of pictures are not said: {anchors}");
    assert_eq!(anchors[0]["example"], url("/"));
    let shown = home.orb(&["show", PROJECT, &url("/a")]);
    assert!(shown.expect(0).text().contains("called   'Alpha' (3)"), "{shown}");
    assert_eq!(told(&home, &["show", PROJECT, &url("/b")])["anchors"].as_array().unwrap().len(), 2);
    home.orb(&["links", PROJECT, &url("/a"), "--anchors"]).expect(2);
    // With a graph the same result is found by another path.
    home.orb(&["graph", "build", PROJECT, "--progress", "none"]).expect(0);
    assert_eq!(told(&home, &["links", PROJECT, &url("/a"), "--in", "--anchors"]), anchors);
    let shown = home.orb(&["show", PROJECT, &url("/a")]);
    assert!(shown.expect(0).text().contains("called   'Alpha' (3)"), "{shown}");
}

#[test]
fn links_new_lost_and_changed_since_a_run_are_told_apart() {
    let (_site, home, url) = crawled();
    assert_eq!(told(&home, &["links", PROJECT, "--since", "1"]), Value::Array(Vec::new()));
    seen_again(&home, &url("/"), &[(url("/a"), "ALPHA"), (url("/b"), "Beta"), (url("/"), "self")]);
    let changes = told(&home, &["links", PROJECT, "--since", "1"]);
    let mut kinds: Vec<&str> = changes.as_array().unwrap().iter().map(|c| c["change"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["changed", "lost", "lost", "new"], "{changes}");
    let changed = told(&home, &["links", PROJECT, &url("/"), "--since", "1", "--changed"]);
    assert_eq!((&changed[0]["before"]["anchor"], &changed[0]["now"]["anchor"]), (&"Alpha".into(), &"ALPHA".into()));
    let new = told(&home, &["links", PROJECT, "--since", "1", "--new", "--limit", "5"]);
    assert_eq!((new.as_array().unwrap().len(), &new[0]["url"]), (1, &url("/").into()));
    assert_eq!(told(&home, &["links", PROJECT, &url("/b"), "--since", "1"]), Value::Array(Vec::new()));
    let table = home.orb(&["links", PROJECT, "--since", "1", "--lost"]);
    assert!(table.expect(0).text().contains("lost") && table.text().contains("'Gone'"), "{table}");
    let history = told(&home, &["links", PROJECT, &url("/"), "--history"]);
    let words = |want: &str| history.as_array().unwrap().iter().find(|l| l["anchor"] == want).cloned().unwrap();
    assert_eq!((words("Alpha")["last_run"].as_i64(), words("ALPHA")["last_run"].as_i64()), (Some(1), None));
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_run_that_never_was_is_named() {
    let (_site, home, _url) = crawled();
    let finished = home.orb(&["links", PROJECT, "--since", "7"]);
    assert!(finished.complaint(1).contains("no run 7"), "{finished}");
    home.orb(&["links", PROJECT]).expect(2);
}

#[test]
fn views_answer_the_common_questions() {
    let (_site, home, url) = crawled();
    let ask = |sql: &str| told(&home, &["sql", PROJECT, sql]);
    let broken = ask("SELECT src_url, dst_url, anchor, status FROM broken_link");
    assert_eq!((&broken[0]["dst_url"], &broken[0]["status"]), (&url("/gone").into(), &404.into()), "{broken}");
    let moved = ask("SELECT * FROM redirect");
    assert_eq!(
        (&moved[0]["src_url"], &moved[0]["dst_url"], &moved[0]["status"]),
        (&url("/moved").into(), &url("/a").into(), &302.into())
    );
    assert_eq!(ask("SELECT anchor FROM link_url WHERE dst_url LIKE '%/b' ORDER BY 1")[1]["anchor"], "the second");
    let counts = ask("SELECT known, fetched, html, errors FROM host_count");
    assert_eq!(counts[0]["html"], 3, "{counts}");
    assert_eq!(ask("SELECT count(*) AS n FROM duplicate")[0]["n"], 0);
    let schema = home.orb(&["sql", PROJECT, "--schema"]);
    for words in ["broken_link (", "  A current link to a page that could not be fetched.", "the run that first saw it"]
    {
        assert!(schema.expect(0).text().contains(words), "{schema}");
    }
    // The catalogue itself contains them, for other tools.
    assert_eq!(home.catalogue().number("SELECT count(*) FROM broken_link"), 1);
}
