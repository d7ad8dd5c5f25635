//! What does a reader make of hand-made responses?

use super::*;
use orb_page::{Body, PageId, Timings, Verdict};
use orb_urls::scope::Mode;
use orb_urls::{Rules, ScopeSpec};

fn reader(mode: Mode) -> ResponseReader {
    let canonical = Canonicaliser::new(Rules::default());
    let seed = canonical.parse("http://a.test/").unwrap();
    let spec = ScopeSpec { mode, ..ScopeSpec::default() };
    let rules = ReadRules {
        canonical: Arc::new(canonical),
        sessions: Arc::new(Sessions::new(Rules::default(), Vec::new())),
        scope: Arc::new(SharedScope::new(&spec, &[seed]).unwrap()),
        steps: Arc::default(),
        depth: Some(2),
        max_redirects: 3,
        follow_nofollow: false,
        max_content: 1_000_000,
        max_document: 1_000_000,
        agent: "orb".into(),
        topic: Arc::new(Topic::default()),
        archive_level: None,
        spool_dir: std::env::temp_dir(),
        wording: None,
        revisits: None,
        helpers: Arc::new(Helpers::new(1, orb_aside::HelperLimits::default())),
    };
    ResponseReader::new(rules, "orb-1".into())
}

fn lease(url: &str, depth: u32, redirects: u8) -> Lease {
    Lease { page: PageId(7), depth, redirects, ..Lease::plain(url) }
}

fn answer(status: u16, fields: &[(&str, &str)], body: &[u8]) -> Outcome {
    let body = Bytes::copy_from_slice(body);
    let headers = fields.iter().copied().collect();
    let response = Response {
        status,
        kind: ResponseKind::Http { request_head: Bytes::new(), head: Bytes::new(), standard: true },
        headers,
        wire: Body::Memory(body.clone()),
        body: Body::Memory(body),
        truncated: None,
        challenged: false,
        excess: false,
        peer: None,
        protocol: "http/1.1",
    };
    Outcome { at: Moment(0), timings: Timings::default(), result: Ok(response) }
}

fn html(body: &str) -> Outcome {
    answer(200, &[("Content-Type", "text/html; charset=utf-8")], body.as_bytes())
}

/// Each link as `verdict kind count url`.
fn links(visit: &Visit) -> Vec<String> {
    let verdict = |v| match v {
        Verdict::Follow => "follow",
        Verdict::Outside(why) => why.name(),
    };
    visit
        .links
        .iter()
        .map(|l| format!("{} {} {} {}", verdict(l.verdict), l.kind, l.count, visit.links.url(l)))
        .collect()
}

#[test]
fn links_are_counted_and_judged_one_by_one() {
    let page = "<a href=/x>one</a><a href='/x#y'>two</a><img src=/x><a rel=nofollow href=/n>n</a>\
                <form action=/search></form><a href=http://b.test/>b</a><a href=mailto:me@a.test>me</a>";
    let visit = reader(Mode::Host).read(&lease("http://a.test/", 1, 0), html(page), None).unwrap().visit;
    assert_eq!(visit.kind, PageKind::Html);
    assert_eq!(
        links(&visit),
        [
            "follow a 2 http://a.test/x",
            "follow img 1 http://a.test/x",
            "nofollow a 1 http://a.test/n",
            "form form 1 http://a.test/search",
            "scope a 1 http://b.test/",
        ]
    );
    assert_eq!(visit.links.anchor(&visit.links[0]), "one");
}

#[test]
fn beyond_the_depth_nothing_is_followed() {
    let visit = reader(Mode::Host).read(&lease("http://a.test/", 2, 0), html("<a href=/x>x</a>"), None).unwrap().visit;
    assert_eq!(links(&visit), ["depth a 1 http://a.test/x"]);
}

#[test]
fn a_query_is_written_in_the_encoding_of_its_page() {
    let page = b"<a href='/s?q=\xEF\xF0\xE8\xE2\xE5\xF2'>x</a>";
    let outcome = answer(200, &[("Content-Type", "text/html; charset=windows-1251")], page);
    let visit = reader(Mode::Host).read(&lease("http://a.test/", 0, 0), outcome, None).unwrap().visit;
    assert_eq!(visit.charset.as_deref(), Some("windows-1251"));
    assert_eq!(links(&visit), ["follow a 1 http://a.test/s?q=%EF%F0%E8%E2%E5%F2"]);
}

#[test]
fn a_redirect_is_a_link_and_no_step_and_chains_end() {
    let moved = || answer(301, &[("Location", "/new")], b"");
    let mut reader = reader(Mode::Host);
    let visit = reader.read(&lease("http://a.test/old", 2, 0), moved(), None).unwrap().visit;
    assert_eq!(visit.kind, PageKind::Redirect);
    assert_eq!(links(&visit), ["follow redirect 1 http://a.test/new"]);
    let visit = reader.read(&lease("http://a.test/old", 2, 3), moved(), None).unwrap().visit;
    assert_eq!(links(&visit), ["redirects redirect 1 http://a.test/new"]);
}

#[test]
fn a_seed_that_moves_takes_the_scope_along() {
    let mut reader = reader(Mode::Host);
    let moved = answer(301, &[("Location", "https://www.a.test/")], b"");
    let visit = reader.read(&lease("http://a.test/", 0, 0), moved, None).unwrap().visit;
    assert_eq!(links(&visit), ["follow redirect 1 https://www.a.test/"]);
    let visit = reader.read(&lease("https://www.a.test/", 0, 1), html("<a href=/x>x</a>"), None).unwrap().visit;
    assert_eq!(links(&visit), ["follow a 1 https://www.a.test/x"]);
}

#[test]
fn a_neighbour_that_moves_is_followed_and_its_links_are_not() {
    let mut reader = reader(Mode::Neighbours);
    let moved = answer(302, &[("Location", "https://b.test/home")], b"");
    let visit = reader.read(&lease("http://b.test/", 1, 0), moved, None).unwrap().visit;
    assert_eq!(links(&visit), ["follow redirect 1 https://b.test/home"]);
    let visit = reader.read(&lease("https://b.test/home", 1, 1), html("<a href=/x>x</a>"), None).unwrap().visit;
    assert_eq!(links(&visit), ["scope a 1 https://b.test/x"]);
}

#[test]
fn errors_and_failures_are_facts() {
    let mut reader = reader(Mode::Host);
    let visit = reader.read(&lease("http://a.test/", 0, 0), answer(404, &[], b"<a href=/x>x</a>"), None).unwrap().visit;
    assert_eq!((visit.kind, visit.flag, visit.links.len()), (PageKind::HttpError, Flag::Error, 0));
    let failure = Failure::new(FailureKind::Dns, "no such name");
    let outcome = Outcome { at: Moment(0), timings: Timings::default(), result: Err(failure) };
    let visit = reader.read(&lease("http://a.test/", 0, 0), outcome, None).unwrap().visit;
    assert_eq!((visit.kind, visit.problem.as_deref()), (PageKind::DomainError, Some("no such name")));
}
