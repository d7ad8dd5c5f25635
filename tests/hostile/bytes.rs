//! Do endless responses end, and do decompression bombs stay small?

use crate::crawl;
use orb_testweb::Feature;

#[test]
fn bombs_are_cut_at_the_cap_and_told() {
    let crawled = crawl(&[Feature::Bombs], &[]);
    crawled.assert_complete();
    for name in ["gzip", "br", "zstd", "deflate", "twice"] {
        let (_, problem) = crawled.fate(&format!("/bombs/{name}.html"));
        assert!(problem.contains("content-too-large"), "{name}: {problem}");
    }
    assert!(crawled.fate("/bombs/fifty.html").1.contains("coding-nested"));
    let longest = crawled.catalogue().number("SELECT max(length) FROM page");
    assert!(longest <= 40_000_000, "{longest} bytes decoded");
}

#[test]
fn answers_that_go_on_are_ended_and_nobody_is_given_anothers_answer() {
    let crawled = crawl(&[Feature::Frames], &["fetch.max_size = '3MB'"]);
    crawled.assert_complete();
    for (name, kind, problem) in [
        ("interim", "HTTP_ERROR", "does not end"),
        ("hints", "HTTP_ERROR", "does not end"),
        ("extension", "HTML", "cut-off"),
        ("extensions", "BINARY", "too-large"),
        ("trailers", "HTML", "cut-off"),
        ("slow-head", "TIMEOUT", "no answer"),
        ("slow-body", "TIMEOUT", "too-slow"),
        ("slow-chunks", "TIMEOUT", "too-slow"),
        ("two", "HTML", "unasked"),
    ] {
        let (found, said) = crawled.fate(&format!("/frames/{name}.html"));
        assert!(found == kind && said.contains(problem), "{name}: {found}, {said}");
    }
    let titles = crawled.catalogue().column("SELECT DISTINCT title FROM page");
    assert!(titles.contains(&"Mine".to_owned()) && !titles.contains(&"Poisoned".to_owned()), "{titles:?}");
}

#[test]
fn connections_reset_at_any_stage_are_facts() {
    let crawled = crawl(&[Feature::Resets], &[]);
    crawled.assert_complete();
    for url in crawled.expected().broken {
        let problem = crawled.catalogue().column(&format!("SELECT problem FROM page WHERE url = '{url}'")).remove(0);
        assert!(!problem.is_empty(), "{url} has no problem");
    }
}

#[test]
fn lengths_and_codings_that_lie_are_told() {
    let crawled = crawl(&[Feature::Lies], &[]);
    crawled.assert_complete();
    for (name, problem) in [
        ("short", "cut-off"),
        ("long", "unasked"),
        ("two-lengths", "length-unclear"),
        ("negative", "length-unclear"),
        ("vast", "too-large"),
        ("bad-chunk", "cut-off"),
        ("vast-chunk", "cut-off"),
        ("bad-gzip", "coding-broken"),
        ("unknown-coding", "coding-unknown"),
        ("garbage", "not HTTP"),
        ("old", "not HTTP"),
        ("no-status", "status line"),
    ] {
        let (_, said) = crawled.fate(&format!("/lies/{name}.html"));
        assert!(said.contains(problem), "{name}: {said:?}");
    }
}

#[test]
fn floods_and_stalls_leave_the_rest_alone() {
    let crawled = crawl(&[Feature::Floods, Feature::Stalls], &["fetch.max_size = '2MB'"]);
    crawled.assert_complete();
    for (path, kind, problem) in [
        ("/floods/endless.html", "BINARY", "too-large"),
        ("/floods/bomb.html", "HTML", "content-too-large"),
        ("/floods/headers.html", "HTTP_ERROR", "head of the answer"),
        ("/floods/long-header.html", "HTTP_ERROR", "head of the answer"),
        ("/stalls/never.html", "TIMEOUT", "no answer"),
    ] {
        let (found, said) = crawled.fate(path);
        assert!(found == kind && said.contains(problem), "{path}: {found}, {said}");
    }
}
