//! Are pages identified correctly, whatever session id is in their URLs?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::root;
use harness::script::{Script, absent, moved, page, reply};
use harness::web::{World, assert_same};
use orb_testweb::{CrawlReach, Expectation, Feature};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The output of `inspect sessions` for recorded lists.
fn inspected(home: &Home, lists: &[&str]) -> Value {
    let dir = root().join("crates/urls/tests/data/sessions");
    let files: Vec<String> = lists.iter().map(|list| dir.join(list).to_str().unwrap().to_owned()).collect();
    let mut args = vec!["inspect", "sessions", "--json"];
    args.extend(files.iter().map(String::as_str));
    home.orb(&args).expect(0).json()
}

fn values(report: &Value) -> Vec<&str> {
    report["ids"].as_array().unwrap().iter().map(|id| id["value"].as_str().unwrap()).collect()
}

#[test]
fn session_ids_of_recorded_lists_are_told_with_their_places() {
    let home = Home::new();
    let one = inspected(&home, &["amazon-old.txt"]);
    assert_eq!(values(&one), ["002-9355727-0611208"]);
    assert_eq!(one["ids"][0]["place"], "path segment");
    assert_eq!((one["ids"][0]["host"].as_str(), one["ids"][0]["links"].as_u64()), (Some("www.amazon.com"), Some(14)));
    assert_eq!(one["urls"].as_array().unwrap().len(), 17);
    let both = inspected(&home, &["amazon-old.txt", "amazon-new.txt"]);
    assert_eq!(
        values(&both),
        ["002-9355727-0611208", "1PS2V6KKYBZ34F3RK1PJ", "104-5791018-2027935", "15BNH99VVKBB0CDBQGQN"]
    );
    let urls = both["urls"].as_array().unwrap();
    let identities = |session: u64| -> Vec<&Value> {
        let of = urls
            .iter()
            .filter(|url| url["session"] == session && url["url"].as_str().unwrap().contains("www.amazon.com"));
        of.map(|url| &url["identity"]).collect()
    };
    let same = identities(1).into_iter().zip(identities(2)).filter(|(old, new)| old == new).count();
    assert_eq!(same, 13, "all but the tenth, which is another page: {both}");
}

#[test]
fn a_list_without_session_ids_and_lines_that_are_no_urls_are_said() {
    let home = Home::new();
    let file = home.beside("list");
    std::fs::write(&file, "http://x.example/a?id=12\n\n# a comment\nhttp://x.example/b?id=13\nmailto:a@b\n").unwrap();
    let told = home.orb(&["inspect", "sessions", file.to_str().unwrap()]);
    let text = told.expect(0).text();
    assert!(text.contains("no session ids") && text.contains("'mailto:a@b'"), "{text}");
    let missing = home.orb(&["inspect", "sessions", "not-there"]);
    assert!(missing.complaint(1).contains("cannot read not-there"), "{missing}");
}

#[test]
fn urls_that_share_an_id_say_so_beside_the_ids_known_by_name() {
    let home = Home::new();
    let urls = ["http://x.example/a?zq=4f8ab91c77de20aa3bc1", "http://x.example/b?zq=4f8ab91c77de20aa3bc1&PHPSESSID=7"];
    let told = home.orb(&["inspect", "url", "--json", urls[0], urls[1]]).expect(0).json();
    assert_eq!(told[0]["sessions"][0]["name"], "zq");
    let names: Vec<_> = told[1]["sessions"].as_array().unwrap().iter().map(|id| id["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["PHPSESSID", "zq"]);
}

/// The documents of the project, by URL.
fn documents(home: &Home) -> BTreeSet<String> {
    home.catalogue().column("SELECT url FROM page WHERE kind IN ('HTML', 'DUPLICATE')").into_iter().collect()
}

#[test]
fn pages_with_an_id_in_every_link_are_collected_once_each() {
    let world = World::with(&[Feature::Rewriting]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let expected = world.expected(CrawlReach::Host(0));
    let wanted: BTreeSet<String> = expected.pages.union(&expected.sessions).cloned().collect();
    assert_same("documents", &documents(&home), &wanted);
    let requests: usize = world.asked().values().sum();
    assert!(requests <= wanted.len() + 4, "{requests} requests for {} pages", wanted.len());
    let known: BTreeSet<String> = home.catalogue().column("SELECT url FROM page").into_iter().collect();
    assert_same("known pages, and links with them", &known, &wanted);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn ids_are_left_where_they_stand_when_nobody_is_to_learn_them() {
    let world = World::with(&[Feature::Rewriting]);
    let home = Home::new();
    home.crawl(&[
        world.project(&home, &["frontier.delay = '0s'", "frontier.max_pages = 60", "urls.learn_sessions = false"])
    ]);
    assert!(documents(&home).iter().any(|url| url.contains("?zk=")));
}

const ONE: &str = "4f8ab91c77de20aa3bc1";
const TWO: &str = "90ab44d1f7de20ccb1c7";

/// Crawls a scripted site and returns the documents' paths.
fn crawled(home: &Home, script: &Script, seed: &str) -> BTreeSet<String> {
    let origin = format!("http://127.0.0.1:{}", script.port());
    home.crawl(&[&format!("{origin}{seed}"), "--delay", "0"]);
    documents(home).iter().map(|url| url.trim_start_matches(&origin).to_owned()).collect()
}

fn set(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|one| (*one).to_owned()).collect()
}

#[test]
fn a_seed_that_redirects_to_a_url_with_an_id_is_one_page_with_it() {
    for (style, known_by) in
        [("/ID/", "/"), ("/;jsessionid=ID", "/"), ("/?zq=ID", "/"), ("/ID/index.html", "/index.html")]
    {
        let script = Script::serve(move |heard| match heard.target.as_str() {
            "/robots.txt" => absent(),
            target if !target.contains(ONE) => moved(&style.replace("ID", ONE)),
            target => {
                let path = target.replace(ONE, "ID");
                let next = |name: &str| {
                    style.replace("/index.html", "").replacen('/', &format!("/{name}"), 1).replace("ID", ONE)
                };
                let at_home = path == style;
                page([style.replace("ID", ONE), if at_home { next("a/") } else { next("b/") }, next("c/")])
            }
        });
        let home = Home::new();
        let found = crawled(&home, &script, "/");
        assert!(found.contains(known_by), "{style}: {found:?}");
        assert!(found.iter().all(|url| !url.contains(ONE)), "{style}: {found:?}");
        let twice: Vec<_> =
            script.heard().into_iter().map(|heard| heard.target).filter(|t| *t == style.replace("ID", ONE)).collect();
        assert_eq!(twice.len(), 1, "{style}");
    }
}

#[test]
fn robots_are_held_against_what_would_be_asked() {
    let script = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => {
            reply("200 OK", "Content-Type: text/plain\r\n", &format!("User-agent: *\nDisallow: /{ONE}/private/\n"))
        }
        _ => page(["", "private/a", "b", "c"].map(|path| format!("/{ONE}/{path}"))),
    });
    let home = Home::new();
    assert_eq!(crawled(&home, &script, "/"), set(&["/", "/b", "/c"]));
    assert!(script.heard().iter().all(|heard| !heard.target.contains("private")));
    let shown = home.orb(&["show", PROJECT, &format!("http://127.0.0.1:{}/{ONE}/b", script.port()), "--json"]);
    assert!(shown.expect(0).text().contains("/b\""), "a page is found by the URL that was asked: {shown}");
    let kept_out = home.catalogue().column("SELECT url FROM page WHERE kind = 'DISALLOWED'");
    assert!(kept_out.len() == 1 && kept_out[0].ends_with("/private/a"), "{kept_out:?}");
}

#[test]
fn a_release_that_is_in_every_link_of_its_own_pages_keeps_them_apart_from_another() {
    let script = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page([format!("/r/{ONE}/"), format!("/r/{TWO}/")]),
        target if target.contains(ONE) => page(["", "a", "b", "c"].map(|path| format!("/r/{ONE}/{path}"))),
        _ => page(["", "a", "b", "c"].map(|path| format!("/r/{TWO}/{path}"))),
    });
    let home = Home::new();
    assert_eq!(crawled(&home, &script, "/").len(), 9);
}

/// The flags that a run gave to documents.
fn flags(home: &Home, run: u32) -> BTreeMap<String, String> {
    let rows = home.catalogue().rows(&format!(
        "SELECT p.url, v.flag FROM visit v JOIN page p ON p.id = v.page_id WHERE v.run = {run} AND p.kind <> 'REDIRECT'"
    ));
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// The expected flags of the documents from one expectation to the next.
fn course(before: &Expectation, after: &Expectation) -> BTreeMap<String, String> {
    let all = |of: &Expectation| -> BTreeSet<String> { of.pages.union(&of.sessions).cloned().collect() };
    let (old, new) = (all(before), all(after));
    let flag = |url: &String| match (old.contains(url), new.contains(url)) {
        (false, _) => "NEW",
        (_, false) => "MIS",
        _ if before.articles.get(url) == after.articles.get(url) => "SAM",
        _ => "UPD",
    };
    old.union(&new).map(|url| (url.clone(), flag(url).to_owned())).collect()
}

#[test]
fn a_new_session_and_a_later_epoch_double_no_document_and_every_flag_is_right() {
    let world = World::with(&[Feature::Rewriting]);
    let home = Home::new();
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'"])]);
    for run in 2..=4 {
        let before = world.expected(CrawlReach::Host(0));
        let there: BTreeSet<String> = before.pages.union(&before.sessions).cloned().collect();
        assert_same("documents", &documents(&home), &there);
        world.server.web().set_epoch(u64::from(run) - 1);
        world.asked();
        let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]);
        tracked.expect(0);
        let wanted = course(&before, &world.expected(CrawlReach::Host(0)));
        let mut given = flags(&home, run);
        // A page that was missing before is requested again, and was never a known document.
        given.retain(|url, flag| wanted.contains_key(url) || flag != "ERR");
        assert_eq!(given, wanted, "run {run}");
        let requests: usize = world.asked().values().sum();
        assert!(requests <= wanted.len() * 2 + 10, "{requests} requests for {} pages", wanted.len());
    }
    home.orb(&["check", PROJECT]).expect(0);
}

/// The host that redirects whoever has no id, beyond the only ordinary one.
const KEYED: u32 = 11;

/// What a crawl must make of the host that redirects whoever has no id: its pages.
fn behind_redirects(world: &World) -> BTreeSet<String> {
    let expected = world.expected(CrawlReach::Linked);
    let host = world.url(KEYED, "/");
    expected.pages.union(&expected.sessions).filter(|url| url.starts_with(&host)).cloned().collect()
}

#[test]
fn a_host_that_redirects_every_page_to_itself_with_an_id_is_collected_whole_and_tracked() {
    let world = World::with(&[Feature::Cookieless]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "any"]));
    let expected = world.expected(CrawlReach::Linked);
    let wanted: BTreeSet<String> = expected.pages.union(&expected.sessions).cloned().collect();
    assert_same("documents", &documents(&home), &wanted);
    let pages = behind_redirects(&world);
    assert_eq!(pages.len(), 30);
    let kind = |url: &str| home.catalogue().column(&format!("SELECT kind FROM page WHERE url = '{url}'"));
    assert!(pages.iter().all(|url| kind(url) == ["HTML"]));
    let keyed = |asked: &BTreeMap<String, usize>| -> usize {
        let host = world.url(KEYED, "/");
        asked.iter().filter(|(url, _)| url.starts_with(&host)).map(|(_, count)| count).sum()
    };
    let requests = keyed(&world.asked());
    assert!(requests <= pages.len() * 2 + 12, "{requests} requests for {} pages", pages.len());
    assert!(expected.disallowed.iter().all(|url| kind(url) == ["DISALLOWED"]), "robots.txt was redirected, too");
    for url in expected.redirects.keys() {
        let told = home.catalogue().rows(&format!("SELECT kind, problem FROM page WHERE url = '{url}'"));
        assert!(told[0][0] == "REDIRECT" && told[0][1].contains("redirect-loop"), "{told:?}");
    }
    // Ids of the first run are not good any more in the second.
    world.server.web().set_epoch(1);
    home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    let flags = flags(&home, 2);
    assert_eq!(pages.iter().filter(|url| flags[*url] != "SAM").collect::<Vec<_>>(), Vec::<&String>::new());
    let requests = keyed(&world.asked());
    assert!(requests <= pages.len() * 2 + 12, "{requests} requests for {} pages in the second run", pages.len());
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn redirects_to_the_page_itself_with_an_id_are_followed_where_nobody_is_to_learn_ids() {
    let world = World::with(&[Feature::Cookieless]);
    let home = Home::new();
    home.crawl(
        &[world.project(&home, &["frontier.delay = '0s'", "scope.mode = 'any'", "urls.learn_sessions = false"])],
    );
    let pages = behind_redirects(&world);
    let found = documents(&home);
    assert!(pages.is_subset(&found), "missing {:?}", pages.difference(&found));
}
