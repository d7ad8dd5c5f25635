//! Is a host collected whole that first sends every visitor round to set a cookie?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, reply};
use std::collections::BTreeSet;

/// The pages of the site, each linking to the next two.
const PAGES: [&str; 6] = ["/", "/a", "/b", "/c", "/d", "/e"];

/// A page whose words no other repeats.
fn content(path: &str) -> Vec<u8> {
    let at = PAGES.iter().position(|page| *page == path).unwrap();
    let links: String = (1..3).map(|n| format!("<a href='{0}'>{0}</a> ", PAGES[(at + n) % PAGES.len()])).collect();
    let text = format!("words of page {path} number {at} ").repeat(10 + at);
    reply(
        "200 OK",
        "Content-Type: text/html\r\n",
        &format!("<title>{path}</title><img src=/i.png><p>{text}</p>{links}"),
    )
}

/// A redirect that may set a cookie.
fn sent(to: &str, cookie: &str) -> Vec<u8> {
    let cookie = if cookie.is_empty() { String::new() } else { format!("Set-Cookie: {cookie}; path=/\r\n") };
    reply("302 Found", &format!("Location: {to}\r\n{cookie}"), "")
}

fn has(heard: &Heard, cookie: &str) -> bool {
    heard.field("cookie").is_some_and(|all| all.split("; ").any(|one| one == cookie))
}

/// The same path on another host of the server.
fn on(host: &str, path: &str, heard: &Heard) -> String {
    let port = heard.field("host").unwrap().rsplit(':').next().unwrap();
    format!("http://{host}:{port}{path}")
}

/// What such a host answers to a path without query, and to its query.
type Wall = fn(&Heard, &str, &str) -> Vec<u8>;

/// Over an address that sets the cookie.
fn over_another_page(heard: &Heard, path: &str, query: &str) -> Vec<u8> {
    match path {
        "/set" => sent(query, "seen=1"),
        _ if has(heard, "seen=1") => content(path),
        _ => sent(&format!("/set?{path}"), ""),
    }
}

/// With a parameter that says so.
fn with_a_parameter(heard: &Heard, path: &str, query: &str) -> Vec<u8> {
    match query {
        "cookieSet=1" => sent(path, ""),
        _ if has(heard, "seen=1") => content(path),
        _ => sent(&format!("{path}?cookieSet=1"), "seen=1"),
    }
}

/// Over another host, and back with a ticket that is good once.
fn over_another_host(heard: &Heard, path: &str, query: &str) -> Vec<u8> {
    match (heard.host(), query) {
        ("login.test", _) => sent(&on("a.test", &format!("{query}?ticket={}", query.len()), heard), "in=1"),
        (_, ticket) if ticket.starts_with("ticket=") => sent(path, "seen=1"),
        _ if has(heard, "seen=1") => content(path),
        _ => sent(&on("login.test", &format!("/sso?{path}"), heard), ""),
    }
}

/// Page by page.
fn page_by_page(heard: &Heard, path: &str, query: &str) -> Vec<u8> {
    let cookie = |path: &str| format!("p{}=1", path.trim_start_matches('/'));
    match path {
        "/set" => sent(query, &cookie(query)),
        _ if has(heard, &cookie(path)) => content(path),
        _ => sent(&format!("/set?{path}"), ""),
    }
}

/// By a page that does nothing but reload itself with a session id.
fn by_reloading(_: &Heard, path: &str, query: &str) -> Vec<u8> {
    if query.starts_with("sid=") {
        return content(path);
    }
    let reload = format!("<meta http-equiv=refresh content=\"0; url={path}?sid=4f8ab91c77de20aa\">wait");
    reply("200 OK", "Content-Type: text/html\r\n", &reload)
}

fn wall(answer: Wall) -> Script {
    Script::serve(move |heard| {
        let (path, query) = heard.target.split_once('?').unwrap_or((&heard.target, ""));
        let is_known = PAGES.contains(&path) || ["/set", "/sso"].contains(&path);
        if is_known { answer(heard, path, query) } else { absent() }
    })
}

fn crawl(home: &Home, site: &Script, more: &[&str]) {
    let (seed, fixed) = (format!("http://a.test:{}/", site.port()), format!("*:{}:127.0.0.1", site.port()));
    home.crawl(&[&[&seed, "--delay", "0", "--per-host", "1", "--resolve", &fixed], more].concat());
}

/// The paths of the documents.
fn documents(home: &Home) -> BTreeSet<String> {
    let urls = home.catalogue().urls(&["HTML"]);
    urls.iter().map(|url| url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap()).collect()
}

#[test]
fn all_of_it_is_collected_and_found_unchanged_later() {
    let walls: [(&str, Wall); 5] = [
        ("another page", over_another_page),
        ("a parameter", with_a_parameter),
        ("another host", over_another_host),
        ("page by page", page_by_page),
        ("reloading", by_reloading),
    ];
    for (what, answer) in walls {
        let (site, home) = (wall(answer), Home::new());
        crawl(&home, &site, &[]);
        assert_eq!(documents(&home), PAGES.map(str::to_owned).into(), "{what}");
        let counted = |field: &str| home.orb(&["status", PROJECT, "--json"]).expect(0).number(field);
        let catalogue = home.catalogue();
        let pages = catalogue.number("SELECT count(*) FROM page WHERE status NOTNULL");
        assert_eq!(counted("pages"), pages.cast_unsigned(), "{what}");
        assert_eq!(catalogue.number("SELECT sum(pages) FROM host"), pages, "{what}");
        assert_eq!(counted("links"), catalogue.number("SELECT count(*) FROM link").cast_unsigned(), "{what}");
        let facts = |home: &Home| {
            let links = "SELECT src, dst, anchor FROM link WHERE kind = 'a' AND last_run IS NULL ORDER BY 1, 2";
            (home.catalogue().rows(links), home.catalogue().number("SELECT count(*) FROM image"))
        };
        let before = facts(&home);
        let tracked = home.orb(&["track", PROJECT, "--json"]);
        let flags = &tracked.expect(0).json()["flags"];
        assert_eq!((&flags["SAM"], &flags["UPD"], &flags["MIS"]), (&6.into(), &0.into(), &0.into()), "{what}: {flags}");
        assert_eq!(facts(&home), before, "{what}");
        let report = home.orb(&["report", PROJECT, "--json"]).expect(0).json();
        assert_eq!(report["changes"].as_array().map(Vec::len), Some(0), "{what}: {report}");
        home.orb(&["check", PROJECT]).expect(0);
    }
}

#[test]
fn a_cookie_that_is_never_enough_costs_few_requests() {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => sent("/set", "a=1"),
        "/set" => sent("/", "b=1"),
        _ => absent(),
    });
    let home = Home::new();
    crawl(&home, &site, &[]);
    assert!(documents(&home).is_empty());
    assert!(site.heard().len() <= 8, "{} requests", site.heard().len());
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn redirects_in_a_circle_are_not_followed_twice_without_a_cookie() {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => sent("/b", ""),
        "/b" => sent("/c", ""),
        "/c" => sent("/", ""),
        _ => absent(),
    });
    let home = Home::new();
    crawl(&home, &site, &[]);
    assert_eq!(site.heard().len(), 4, "robots.txt and three pages");
}
