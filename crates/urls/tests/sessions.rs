//! Are the session ids found that people found, in links of real sites?
//!
//! The recorded links are from "Smart Crawler", sections 4.2.3, 6.1 and 6.2: two visits of one
//! page, and a pair of links from each of seven sessions.

use orb_urls::session::{Site, one_session, two_sessions};
use proptest::prelude::*;
use std::collections::HashSet;

const OLD: &str = include_str!("data/sessions/amazon-old.txt");
const NEW: &str = include_str!("data/sessions/amazon-new.txt");
const PAIRS: &str = include_str!("data/sessions/pairs.tsv");

/// The links to one host.
fn links<'a>(list: &'a str, host: &str) -> Vec<&'a str> {
    list.lines().filter(|url| url.split('/').nth(2) == Some(host)).collect()
}

fn ids(site: &Site) -> Vec<&str> {
    site.rules.iter().flat_map(|rule| rule.ids.iter().map(String::as_str)).collect()
}

#[test]
fn the_id_of_one_session_is_what_most_links_share() {
    assert_eq!(ids(&one_session(&links(OLD, "www.amazon.com"))), ["002-9355727-0611208"]);
    assert_eq!(ids(&one_session(&links(NEW, "www.amazon.com"))), ["104-5791018-2027935"]);
    for other in ["ec1.images-amazon.com", "images.amazon.com"] {
        assert_eq!(ids(&one_session(&links(OLD, other))), [""; 0]);
    }
}

#[test]
fn two_sessions_tell_every_id_that_changed_and_make_the_links_one() {
    let (old, new) = (links(OLD, "www.amazon.com"), links(NEW, "www.amazon.com"));
    let site = two_sessions(&old, &new);
    let both = ["002-9355727-0611208", "104-5791018-2027935"];
    let requests = ["1PS2V6KKYBZ34F3RK1PJ", "15BNH99VVKBB0CDBQGQN"];
    assert_eq!(ids(&site), [both, requests].concat());
    for (number, (old, new)) in (1..).zip(old.iter().zip(&new)) {
        // The tenth pair is two different pages.
        assert_eq!(site.identity(old) == site.identity(new), number != 10, "{old} {new}");
        assert_eq!(site.renew(old, &site.identity(old)) == *new, number != 10, "{old} {new}");
    }
}

#[test]
fn the_ids_of_recorded_pairs_are_found() {
    for line in PAIRS.lines() {
        let mut fields = line.split('\t');
        let mut wanted: Vec<&str> = fields.next().unwrap().split(' ').collect();
        let pair: Vec<&str> = fields.collect();
        let site = one_session(&pair);
        let mut found = ids(&site);
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{pair:?}");
        for url in pair {
            let identity = site.identity(url);
            assert!(wanted.iter().all(|id| !identity.contains(id)), "{identity}");
        }
    }
}

#[test]
fn an_id_goes_with_what_belongs_to_it() {
    let site = one_session(&["http://x/a?q=4f8ab91c77de20aa3bc1&p=1", "http://x/b/?p=2&q=4f8ab91c77de20aa3bc1"]);
    for (url, identity) in [
        ("http://x/a?q=4f8ab91c77de20aa3bc1&p=1", "http://x/a?p=1"),
        ("http://x/a?p=1&q=4f8ab91c77de20aa3bc1", "http://x/a?p=1"),
        ("http://x/?q=4f8ab91c77de20aa3bc1", "http://x/"),
        ("http://x/4f8ab91c77de20aa3bc1/b", "http://x/b"),
        ("http://x/b/4f8ab91c77de20aa3bc1", "http://x/b/"),
        ("http://x/b;s=4f8ab91c77de20aa3bc1/c", "http://x/b/c"),
        ("http://x/go?to=%2Fb%3Fq%3D4f8ab91c77de20aa3bc1", "http://x/go?to=%2Fb%3Fq%3D"),
        ("http://x/a?q=5f8ab91c77de20aa3bc1", "http://x/a?q=5f8ab91c77de20aa3bc1"),
        ("http://4f8ab91c77de20aa3bc1/a", "http://4f8ab91c77de20aa3bc1/a"),
    ] {
        assert_eq!(site.identity(url), identity);
    }
}

#[test]
fn an_old_url_gets_the_id_of_now_where_its_page_is_still_known_by_the_same_name() {
    let old = ["http://x/p/4f8ab91c77de20aa3bc1/a", "http://x/p/4f8ab91c77de20aa3bc1/b"];
    let new = ["http://x/p/90ab44d1f7de20ccb1c7/a", "http://x/p/90ab44d1f7de20ccb1c7/b"];
    let site = two_sessions(&old, &new);
    assert_eq!(site.renew(old[0], "http://x/p/a"), new[0]);
    assert_eq!(site.renew("http://x/p/00ab44d1f7de20ccb1c7/a", "http://x/p/a"), new[0], "an id that nobody remembers");
    let hash = "http://x/p/00ab44d1f7de20ccb1c7/a";
    assert_eq!(site.renew(hash, hash), hash, "what is part of the page's name is no id");
    assert_eq!(site.renew("http://x/p/a", "http://x/p/a"), "http://x/p/a");
}

/// A random id of a given length, as servers generate them.
fn drawn() -> impl Strategy<Value = String> {
    "([0-9a-f]{32}|[A-Z0-9]{26}|[0-9]{3}-[0-9]{7}-[0-9]{7})"
}

proptest! {
    #[test]
    fn identity_settles_at_once_and_no_page_is_merged_with_another(
        id in drawn(),
        pages in prop::collection::hash_set("[a-z]{1,6}(/[a-z0-9]{1,4}){0,2}", 2..12),
        extra in "(\\?[a-z]{1,3}=[a-z0-9%/;=&?]{0,12})?",
    ) {
        let urls: Vec<String> = pages.iter().map(|page| format!("http://x/{page};s1={id}{extra}")).collect();
        let list: Vec<&str> = urls.iter().map(String::as_str).collect();
        let site = one_session(&list);
        let identities: HashSet<String> = list.iter().map(|url| site.identity(url).into_owned()).collect();
        prop_assert_eq!(identities.len(), list.len());
        for url in &list {
            let once = site.identity(url);
            prop_assert_eq!(site.identity(&once), once.clone());
            prop_assert_eq!(site.renew(url, &once), *url);
        }
    }

    #[test]
    fn any_text_is_learnt_from_without_harm(
        urls in prop::collection::vec("(http://x)?[/?&;=#%]{0,3}(([/?&;=()%]|%2F|sid=|4f8ab91c77de20|104-5791018-2027935|é){0,12})", 0..8),
        other in prop::collection::vec("http://x(/|\\?|;|=|90ab44d1f7de20|zz104579101820|é){0,8}", 0..8),
    ) {
        let list: Vec<&str> = urls.iter().map(String::as_str).collect();
        let other: Vec<&str> = other.iter().map(String::as_str).collect();
        for site in [one_session(&list), two_sessions(&list, &other)] {
            for url in list.iter().chain(&other) {
                let once = site.identity(url).into_owned();
                prop_assert_eq!(site.identity(&once), once.as_str());
                let renewed = site.renew(url, &once).into_owned();
                prop_assert_eq!(site.identity(&renewed), once.as_str(), "{} became {}", url, renewed);
                let after = site.observe(url, &list).unwrap_or_default();
                after.redirected(url, list.first().unwrap_or(&""));
            }
        }
    }
}
