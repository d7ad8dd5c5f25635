//! Do the read-only commands report what is in a collection?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Script, absent, reply};
use harness::web::World;
use orb_testweb::{Feature, Spec};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};

/// A varied web, crawled completely.
fn crawled() -> (World, Home) {
    let features = [Feature::Furniture, Feature::Media, Feature::Duplicates, Feature::Errors, Feature::Robots];
    let world = World::new(features.into_iter().fold(Spec { pages_per_host: 10, ..Spec::default() }, Spec::with));
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0"]));
    (world, home)
}

/// The JSON output of a command.
fn told(home: &Home, args: &[&str]) -> Value {
    home.orb(&[args, &["--json"]].concat()).expect(0).json()
}

#[test]
fn stats_are_the_table_of_a_crawl() {
    let (_world, home) = crawled();
    let stats = told(&home, &["stats", PROJECT]);
    let catalogue = home.catalogue();
    let count = |sql: &str| catalogue.number(&format!("SELECT count(*) FROM {sql}"));
    let whole = &stats["whole"];
    for (field, sql) in [
        ("sites", "host WHERE pages > 0"),
        ("pages", "page WHERE status IS NOT NULL"),
        ("html", "page WHERE kind = 'HTML'"),
        ("duplicates", "page WHERE kind = 'DUPLICATE'"),
        ("binary", "page WHERE kind = 'BINARY'"),
        ("images", "image"),
        ("disallowed", "page WHERE kind = 'DISALLOWED'"),
        ("links", "link"),
    ] {
        assert_eq!(whole[field].as_i64(), Some(count(sql)), "{field}: {stats}");
    }
    assert_eq!(whole["documents"]["pdf"], 1, "{stats}");
    assert!(whole["images_per_page"].as_f64().unwrap() > 0.5, "{stats}");
    assert_eq!(stats["seeds"]["sites"], 1);
    assert!(stats["seeds"]["pages"].as_i64() < whole["pages"].as_i64());
    let finished = home.orb(&["stats", PROJECT]);
    let table = finished.expect(0).text();
    for row in ["sites", "pages", "HTML", "duplicates", "binary", "pdf", "images", "images per page", "seed", "whole"] {
        assert!(table.contains(row), "no {row}:\n{table}");
    }
}

#[test]
fn status_and_project_list_name_what_is_there() {
    let (_world, home) = crawled();
    let status = told(&home, &["status"]);
    assert_eq!((&status[0]["project"], &status[0]["state"]), (&PROJECT.into(), &"done".into()));
    assert_eq!(told(&home, &["status", PROJECT])["pages"], status[0]["pages"]);
    assert_eq!(told(&home, &["project", "list"])[0]["project"], PROJECT);
    assert_eq!(told(&home, &["project", "list", "--offset", "1"]).as_array().unwrap().len(), 0);
    let shown = home.orb(&["project", "show", PROJECT]);
    let settings: toml::Table = shown.expect(0).text().parse().unwrap();
    assert_eq!(settings["frontier"]["delay"].as_str(), Some("0s"));
}

#[test]
fn an_empty_home_has_nothing_and_says_so() {
    let home = Home::new();
    assert_eq!(told(&home, &["status"]).as_array().map(Vec::len), Some(0));
    assert_eq!(told(&home, &["project", "list"]).as_array().map(Vec::len), Some(0));
    assert_eq!(told(&home, &["user", "list"]).as_array().map(Vec::len), Some(0));
    home.orb(&["run-due", "--dry-run"]).expect(0);
    home.orb(&["plan", "--pages", "100"]).expect(0);
    let asked: [&[&str]; 9] = [
        &["status", "p"],
        &["stats", "p"],
        &["track", "p"],
        &["search", "p", "word"],
        &["sql", "p", "SELECT 1"],
        &["intake", "p"],
        &["deliver", "p"],
        &["project", "show", "p"],
        &["project", "remove", "p", "--yes"],
    ];
    for args in asked {
        let refused = home.orb(args);
        assert!(refused.complaint(1).contains("no project p"), "{args:?}: {refused}");
    }
    assert!(!home.path().exists(), "to ask makes no home");
}

#[test]
fn a_project_that_cannot_be_read_hides_no_other() {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.orb(&["project", "new", name, "--seed", "http://a.test/"]).expect(0);
    }
    fs::write(home.path().join("b/crawl.db"), "this is no database at all, but long enough".repeat(100)).unwrap();
    let status = home.orb(&["status", "--json"]);
    let said = status.complaint(1);
    assert!(said.contains("project b") && said.contains("damaged"), "{said}");
    let rows = status.json();
    assert_eq!((&rows[0]["project"], &rows[1]["project"]), (&"a".into(), &"c".into()), "{status}");
    assert_eq!(told(&home, &["status", "--limit", "1"])[0]["project"], "a");
    assert_eq!(told(&home, &["status", "--offset", "2"])[0]["project"], "c");
}

#[test]
fn a_removed_project_is_gone_and_others_stay() {
    let (world, home) = crawled();
    let mut other = vec!["crawl".to_owned()];
    other.extend(world.args(&["--project", "other", "--max-pages", "3", "--delay", "0", "--json"]));
    home.orb(&other).expect(0);
    home.orb(&["project", "remove", PROJECT, "--yes"]).expect(0);
    assert!(!home.project().exists());
    let left = told(&home, &["project", "list"]);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["project"]), (1, &"other".into()));
}

#[test]
fn show_tells_a_page_with_its_links_and_images() {
    let (world, home) = crawled();
    let url = world.url(0, "/");
    let shown = told(&home, &["show", PROJECT, &url]);
    let page = home.catalogue().page(&url);
    let text = shown.to_string();
    assert!(text.contains(&page.digest.unwrap()) && text.contains(&page.title.unwrap()), "{shown}");
    assert!(!shown["links"].as_array().unwrap().is_empty() && !shown["images"].as_array().unwrap().is_empty());
    let plain = home.orb(&["show", PROJECT, &url]);
    assert!(plain.expect(0).text().contains(&url), "{plain}");
}

#[test]
fn links_lists_both_directions_page_by_page() {
    let (world, home) = crawled();
    let (url, catalogue) = (world.url(0, "/"), home.catalogue());
    let all = told(&home, &["links", PROJECT, &url, "--out"]);
    let recorded = catalogue.links().into_iter().filter(|link| link[0] == url).count();
    assert_eq!(all.as_array().unwrap().len(), recorded);
    let two = told(&home, &["links", PROJECT, &url, "--out", "--limit", "2", "--offset", "1"]);
    assert_eq!(two.as_array().unwrap()[..], all.as_array().unwrap()[1..3]);
    let backward = told(&home, &["links", PROJECT, &url, "--in", "--limit", "100000"]);
    let pointing = catalogue.links().into_iter().filter(|link| link[1] == url).count();
    assert_eq!(backward.as_array().unwrap().len(), pointing);
}

#[test]
fn cat_gives_the_bytes_the_server_sent() {
    let (world, home) = crawled();
    for path in ["/", "/media/picture.png", "/media/paper.pdf", "/errors/404.html"] {
        let sent = world.server.web().get(world.naming(), 0, path).body;
        assert_eq!(home.orb(&["cat", PROJECT, &world.url(0, path)]).expect(0).stdout, sent, "{path}");
    }
    let title = home.catalogue().page(&world.url(0, "/")).title.unwrap();
    for form in ["text", "markdown"] {
        let finished = home.orb(&["cat", PROJECT, &world.url(0, "/"), "--as", form]);
        assert!(finished.expect(0).text().contains(&title), "{finished}");
        assert!(!finished.text().contains("<div"), "{finished}");
    }
}

#[test]
fn cat_gives_the_main_content_or_the_whole_page() {
    let article = "<html><head><title>Bees | The Paper</title><meta name=author content='Ada Byron'>\
        <meta property='article:published_time' content='2026-03-04T05:06:07Z'></head><body>\
        <nav><ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/sport>Sport</a></ul></nav>\
        <article><h1>Bees</h1><p class=byline>By Ada Byron</p>\
        <p>Bees live in colonies that may hold many thousands of workers in a good summer.</p>\
        <p>They collect nectar and pollen, and they tell each other where to find both by a dance.</p>\
        <p>In winter they keep warm by staying close together, and they live on what they stored.</p></article>\
        <footer><a href=/imprint>Imprint</a> <a href=/privacy>Privacy</a> All rights reserved</footer></body></html>";
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => reply("200 OK", "Content-Type: text/html\r\n", article),
        _ => absent(),
    });
    let (home, url) = (Home::new(), format!("http://{}/", script.address));
    home.crawl(&[&url, "--delay", "0"]);
    let said = |more: &[&str]| {
        let finished = home.orb(&[&["cat", PROJECT, url.as_str()], more].concat());
        finished.expect(0).text().to_owned()
    };
    let (text, whole) = (said(&["--as", "text"]), said(&["--as", "text", "--whole"]));
    assert!(text.contains("by a dance") && !text.contains("Sport") && !text.contains("Imprint"), "{text}");
    assert!(whole.contains("by a dance") && whole.contains("Sport") && whole.contains("Imprint"), "{whole}");
    let (made, all) = (said(&["--as", "markdown"]), said(&["--as", "markdown", "--whole"]));
    assert!(made.starts_with(&format!("---\nurl: \"{url}\"\n")), "{made}");
    assert!(made.contains("author: \"Ada Byron\"\n") && made.contains("published: \"2026-03-04"), "{made}");
    assert!(made.contains("# Bees\n") && !made.contains("Sport"), "{made}");
    assert!(all.contains("[Sport]("), "{all}");
}

#[test]
fn cat_reads_pages_that_no_template_was_made_for() {
    const PROSE: &str = "<p>Bees live in colonies that may hold many thousands of workers in a good summer, and they \
        tell each other by a dance where to find nectar.</p>";
    let pages = [
        ("/deep", format!("<title>Deep</title>{}{PROSE}", "<div>".repeat(100_000))),
        ("/links", (0..500).map(|i| format!("<li><a href=http://b.invalid/{i}>Page {i}</a>")).collect()),
        ("/empty", "<title>Empty</title><main></main><svg><style>.a{fill:red}</style></svg>".to_owned()),
        (
            "/lies",
            format!(
                "<title>Bees</title><script type='application/ld+json'>{{\"@type\":\"Article\",\"headline\":\"Bees\",\
                 \"datePublished\":\"99999-01-01\",\"author\":\"No One\",\"articleBody\":\"Ten shoes\"}}</script>\
                 <main></main><h1>Bees</h1>{PROSE}{PROSE}"
            ),
        ),
    ];
    let script = Script::serve(move |heard| match pages.iter().find(|(path, _)| heard.target == *path) {
        Some((_, page)) => reply("200 OK", "Content-Type: text/html\r\n", page),
        None if heard.target == "/" => {
            let links: String = pages.iter().map(|(path, _)| format!("<a href={path}>x</a>")).collect();
            reply("200 OK", "Content-Type: text/html\r\n", &links)
        }
        None => absent(),
    });
    let (home, root) = (Home::new(), format!("http://{}", script.address));
    home.crawl(&[&root, "--delay", "0"]);
    let body = |path: &str| {
        let finished = home.orb(&["cat", PROJECT, &format!("{root}{path}"), "--as", "markdown"]);
        let text = finished.expect(0).text().to_owned();
        text.split_once("\n---\n").map(|(head, body)| (head.to_owned(), body.trim().to_owned())).unwrap()
    };
    let prose = PROSE.trim_start_matches("<p>").trim_end_matches("</p>");
    assert_eq!(body("/deep").1, prose);
    assert_eq!(body("/links").1.lines().filter(|line| line.starts_with("- [Page ")).count(), 500);
    assert_eq!(body("/empty").1, "");
    let (head, said) = body("/lies");
    assert_eq!(said, format!("# Bees\n\n{prose}\n\n{prose}"));
    assert!(head.contains("title: \"Bees\"") && !head.contains("99999") && !head.contains("No One"), "{head}");
}

#[test]
fn sql_answers_in_every_format() {
    let (_world, home) = crawled();
    let sql = "SELECT kind, count(*) AS pages FROM page WHERE kind = 'HTML' GROUP BY kind";
    let html = home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'HTML'");
    let rows = home.orb(&["sql", PROJECT, sql, "--format", "json"]).expect(0).json();
    assert_eq!((&rows[0]["kind"], rows[0]["pages"].as_i64()), (&"HTML".into(), Some(html)));
    let csv = home.orb(&["sql", PROJECT, sql, "--format", "csv"]);
    assert_eq!(csv.expect(0).text().lines().collect::<Vec<_>>(), ["kind,pages", &format!("HTML,{html}")]);
    assert!(home.orb(&["sql", PROJECT, sql]).expect(0).text().contains(&html.to_string()));
    for nothing in ["", "/* nothing */"] {
        assert!(home.orb(&["sql", PROJECT, nothing]).complaint(1).contains("there is no SELECT"));
    }
    let schema = home.orb(&["sql", PROJECT, "--schema"]);
    for table in ["host", "page", "visit", "link", "image", "run"] {
        assert!(schema.expect(0).text().contains(table), "{schema}");
    }
}

#[test]
fn a_query_without_end_is_given_up() {
    let (_world, home) = crawled();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let finished = home.orb(&["sql", PROJECT, endless, "--timeout", "300ms"]);
    finished.complaint(1);
}

#[test]
fn a_crawl_can_be_looked_at_while_it_runs() {
    let world = World::new(Spec { hosts: 1, cross_host_links: 0.0, pages_per_host: 20, ..Spec::default() });
    let home = Home::new();
    let running = home.start(&harness::orb::crawling(&world.args(&["--delay", "150ms"])), &[]);
    let database = home.project().join("crawl.db");
    let visits = || home.orb(&["sql", PROJECT, "SELECT count(*) AS n FROM visit", "--format", "json"]);
    harness::until("something is recorded", || {
        database.exists() && Some(visits()).is_some_and(|v| v.code == Some(0) && v.json()[0]["n"].as_i64() > Some(0))
    });
    assert_eq!(told(&home, &["status", PROJECT])["running"], true);
    home.orb(&["stats", PROJECT]).expect(0);
    home.orb(&["show", PROJECT, &world.url(0, "/")]).expect(0);
    home.orb(&["cat", PROJECT, &world.url(0, "/")]).expect(0);
    assert_eq!(running.finish().expect(0).number("pages"), 20);
    assert_eq!(told(&home, &["status", PROJECT])["running"], false);
}

#[test]
fn a_disk_with_too_little_room_pauses_the_crawl_and_loses_nothing() {
    let world = World::with(&[]);
    let home = Home::new();
    let scarce = world.project(&home, &["frontier.delay = '0s'", "store.min_free = '1000000TB'"]);
    let log = home.beside("stderr");
    let mut command = home.command(&["crawl", &scarce, "--project", PROJECT, "--progress", "plain"]);
    let mut paused = command.stderr(File::create(&log).unwrap()).spawn().unwrap();
    harness::until("it says why it does not go on", || fs::read_to_string(&log).unwrap().contains("PAUSED"));
    kill_process(Pid::from_child(&paused), Signal::INT).unwrap();
    assert_eq!(paused.wait().unwrap().code(), Some(130), "{}", fs::read_to_string(&log).unwrap());
    let plenty = world.project(&home, &["frontier.delay = '0s'"]);
    home.crawl(&[plenty]);
    assert_eq!(home.catalogue().urls(&["HTML"]).len(), 5);
    home.orb(&["check", PROJECT]).expect(0);
}
