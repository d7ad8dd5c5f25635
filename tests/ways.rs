//! Does a crawl find its way from a phrase, and through a directory?
//!
//! The engine, the directory and what they lead to are one server under several names. None of the
//! pages that are passed through may be in the catalogue.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, crawling};
use harness::script::{Heard, Script, absent, page, reply};
use orb_testweb::SearchEngine;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The hosts that results are on.
const HOSTS: [&str; 6] = ["a.test", "b.test", "c.test", "d.test", "e.test", "f.test"];

/// A web of six hosts with two pages each, an engine that knows five of them, and a directory.
fn web() -> Script {
    web_with(Arc::new(AtomicUsize::new(5)))
}

/// The same with an engine that knows the first so many hosts.
fn web_with(known: Arc<AtomicUsize>) -> Script {
    Script::serve(move |heard| match (heard.host(), heard.target.as_str()) {
        (_, "/robots.txt") => absent(),
        ("s.test", target) => engine(heard, target, known.load(Ordering::Relaxed)),
        ("list.test", "/") => page([&at("a.test", "/", heard), &at("list.test", "/more", heard)]),
        ("list.test", "/more") => page([&at("b.test", "/", heard), &at("list.test", "/deeper", heard)]),
        ("list.test", "/deeper") => page([&at("c.test", "/", heard)]),
        (host, "/") => said(host, &[&at(host, "/second", heard), &at("f.test", "/", heard)]),
        (host, "/second") => said(&format!("second of {host}"), &["/"]),
        _ => absent(),
    })
}

/// A page whose words no other host repeats: what repeats is taken for an alias.
fn said(words: &str, links: &[&str]) -> Vec<u8> {
    let text = format!("{words} ").repeat(20);
    let links: String = links.iter().map(|link| format!("<a href='{link}'>{words}</a> ")).collect();
    reply(
        "200 OK",
        "Content-Type: text/html\r\n",
        &format!("<!doctype html><title>{words}</title><p>{text}</p>{links}"),
    )
}

fn at(host: &str, path: &str, heard: &Heard) -> String {
    let port = heard.field("host").unwrap().rsplit(':').next().unwrap();
    format!("http://{host}:{port}{path}")
}

fn engine(heard: &Heard, target: &str, hosts: usize) -> Vec<u8> {
    // As a path, the phrase is asked for by its words.
    let target = &target.replace("/s/wolf%20spiders", "/search?q=wolf+spiders");
    let known: Vec<(String, &str)> =
        HOSTS[..hosts].iter().map(|host| (at(host, "/", heard), "all about wolf spiders")).collect();
    let known: Vec<(&str, &str)> = known.iter().map(|(url, text)| (url.as_str(), *text)).collect();
    match SearchEngine::new(&known).answer(target) {
        Some((mime, body)) => reply("200 OK", &format!("Content-Type: {mime}\r\n"), &body),
        None => page(["/"]),
    }
}

/// The arguments that fix the addresses of all hosts.
fn fixed(web: &Script) -> Vec<String> {
    let names = HOSTS.iter().chain(&["s.test", "list.test"]);
    names.flat_map(|name| ["--resolve".to_owned(), format!("{name}:{}:127.0.0.1", web.port())]).collect()
}

fn crawl(home: &Home, web: &Script, more: &[&str]) -> Finished {
    let args: Vec<String> =
        more.iter().map(|arg| (*arg).to_owned()).chain(fixed(web)).chain(["--delay".into(), "0".into()]).collect();
    home.orb(&crawling(&args))
}

/// Host and path of every page that was fetched.
fn fetched(home: &Home) -> BTreeSet<String> {
    let urls = home.catalogue().column("SELECT url FROM page WHERE status = 200");
    urls.iter()
        .map(|url| {
            url.split_once("://")
                .unwrap()
                .1
                .split_once(':')
                .map(|(host, rest)| format!("{host}{}", &rest[rest.find('/').unwrap()..]))
                .unwrap()
        })
        .collect()
}

/// Both pages of these hosts.
fn both(hosts: &[&str]) -> BTreeSet<String> {
    hosts.iter().flat_map(|host| [format!("{host}/"), format!("{host}/second")]).collect()
}

#[test]
fn a_phrase_leads_to_what_an_engine_finds_whatever_it_is_written_in() {
    for (format, results) in [
        ("html", ""),
        ("html", "ol.results a"),
        ("json", ""),
        ("json", "json:/results/*/url"),
        ("rss", ""),
        ("rss", "feed"),
    ] {
        let (web, home) = (web(), Home::new());
        let template =
            format!("http://s.test:{}/search?q={{searchTerms}}&page={{startPage?}}&format={format}", web.port());
        let file = home.beside("p.toml");
        let results = if results.is_empty() { String::new() } else { format!("search_engine.results = '{results}'\n") };
        std::fs::write(&file, format!("seeds = ['?wolf spiders']\nsearch_engine.template = '{template}'\n{results}"))
            .unwrap();
        crawl(&home, &web, &[file.to_str().unwrap()]).expect(0);
        let others = home
            .catalogue()
            .rows("SELECT url, coalesce(why, ''), kind, coalesce(problem, '') FROM page WHERE status IS NULL");
        assert_eq!(fetched(&home), both(&HOSTS[..5]), "{format} {results} {others:?}");
        let asked = web.heard().iter().filter(|heard| heard.target.starts_with("/search")).count();
        assert_eq!(asked, 3, "{format}: three pages of results, once");
        let engines = home.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%s.test%'");
        assert_eq!(engines, 0, "{format}: the engine is in the catalogue");
    }
}

#[test]
fn the_flag_names_the_engine_and_a_later_run_does_not_ask_again() {
    let (web, home) = (web(), Home::new());
    let template = format!("http://s.test:{}/search?q={{searchTerms}}", web.port());
    crawl(&home, &web, &["?wolf spiders", "--engine", &template]).expect(0);
    assert_eq!(fetched(&home), both(&HOSTS[..3]));
    let asked = || web.heard().iter().filter(|heard| heard.target.starts_with("/search")).count();
    assert_eq!(asked(), 1);
    home.orb(&["track", "p", "--progress", "none"]).expect(0);
    assert_eq!(asked(), 1);
    assert_eq!(home.catalogue().number("SELECT count(*) FROM visit WHERE run = 2 AND flag = 'SAM'"), 6);
}

#[test]
fn an_engine_is_asked_again_by_every_run_if_the_project_says_so() {
    let known = Arc::new(AtomicUsize::new(2));
    let (web, home) = (web_with(Arc::clone(&known)), Home::new());
    let file = home.beside("p.toml");
    let engine = format!("template = 'http://s.test:{}/search?q={{searchTerms}}'\nrefresh = true\n", web.port());
    std::fs::write(&file, format!("seeds = ['?wolf spiders']\n[search_engine]\n{engine}")).unwrap();
    crawl(&home, &web, &[file.to_str().unwrap()]).expect(0);
    assert_eq!(fetched(&home), both(&HOSTS[..2]));
    known.store(3, Ordering::Relaxed);
    home.orb(&["track", "p", "--progress", "none"]).expect(0);
    let asked = web.heard().iter().filter(|heard| heard.target.starts_with("/search")).count();
    assert_eq!((asked, fetched(&home)), (2, both(&HOSTS[..3])));
    let flags = home.catalogue().column("SELECT flag || ' ' || count(*) FROM visit WHERE run = 2 GROUP BY flag");
    assert_eq!(flags, ["NEW 2", "SAM 4"]);
}

#[test]
fn a_phrase_is_written_into_a_path_as_paths_are_written() {
    let (web, home) = (web(), Home::new());
    let template = format!("http://s.test:{}/s/{{searchTerms}}", web.port());
    crawl(&home, &web, &["?wolf spiders", "--engine", &template]).expect(0);
    let asked: Vec<String> =
        web.heard().into_iter().map(|heard| heard.target).filter(|t| t.starts_with("/s/")).collect();
    assert_eq!((asked, fetched(&home)), (vec!["/s/wolf%20spiders".to_owned()], both(&HOSTS[..3])));
}

#[test]
fn an_engine_that_finds_nothing_or_fails_is_told_in_one_line() {
    let web = web();
    let template = format!("http://s.test:{}/search?q={{searchTerms}}", web.port());
    let refused = crawl(&Home::new(), &web, &["?no such words", "--engine", &template]);
    assert!(refused.complaint(1).contains("nothing was found"), "{refused}");
    let refused = crawl(
        &Home::new(),
        &web,
        &["?wolf", "--engine", &format!("http://a.test:{}/none?q={{searchTerms}}", web.port())],
    );
    assert!(refused.complaint(1).contains("answers with an error"), "{refused}");
    let refused = crawl(&Home::new(), &web, &["?wolf"]);
    assert!(refused.complaint(2).contains("a phrase needs a search engine"), "{refused}");
}

#[test]
fn a_directory_is_passed_through_and_not_collected() {
    for (depth, found) in [(0, &HOSTS[..1]), (1, &HOSTS[..2]), (2, &HOSTS[..3])] {
        let (web, home) = (web(), Home::new());
        let file = home.beside("p.toml");
        let seed =
            format!("[[seeds]]\nurl = 'http://list.test:{}/'\nfollow_only = true\ndepth = {depth}\n", web.port());
        std::fs::write(&file, seed).unwrap();
        crawl(&home, &web, &[file.to_str().unwrap()]).expect(0);
        assert_eq!(fetched(&home), both(found), "{depth}");
        assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%list.test%'"), 0);
    }
}
