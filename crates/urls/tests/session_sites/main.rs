//! Are session ids told apart from lookalikes on a thousand generated sites?
//!
//! Each site is a function of its number ([`site`]): where its ids appear, how they are generated,
//! and what else its links contain: product numbers, content hashes generated like the ids,
//! campaign tokens, site-wide keys, dates, versions. A site passes when exactly its ids are found
//! and every link reduces to exactly the URL it would have without them.

mod chance;
mod site;

use orb_urls::session::{Site as Learnt, one_session, two_sessions};
use site::{Link, Site};
use std::collections::BTreeSet;

const SITES: u64 = 1_000;

fn urls(links: &[Link]) -> Vec<&str> {
    links.iter().map(|link| link.url.as_str()).collect()
}

/// What is wrong with the result, if anything.
fn wrong(learnt: &Learnt, ids: &[&String], links: &[Link]) -> Option<String> {
    let found: BTreeSet<&str> = learnt.rules.iter().flat_map(|rule| rule.ids.iter().map(String::as_str)).collect();
    let wanted: BTreeSet<&str> = ids.iter().map(|id| id.as_str()).collect();
    if found != wanted {
        return Some(format!("found {found:?}, not {wanted:?}"));
    }
    let differs = links.iter().find(|link| learnt.identity(&link.url) != link.identity)?;
    Some(format!("{} became {}, not {}", differs.url, learnt.identity(&differs.url), differs.identity))
}

fn judge(what: &str, least: u64, check: impl Fn(Site) -> Option<String>) {
    let mut wrong = Vec::new();
    for number in 0..SITES {
        let site = Site::new(number);
        wrong.extend(check(site).map(|why| format!("site {number}: {why}")));
    }
    let right = SITES - wrong.len() as u64;
    assert!(right >= least, "{what}: {right} of {SITES} right\n{}", wrong.join("\n"));
}

#[test]
fn one_session_is_enough_for_nearly_all_sites() {
    judge("one session", SITES * 99 / 100, |site| {
        let links = site.session(1);
        let ids = site.ids(1);
        wrong(&one_session(&urls(&links)), &ids.iter().collect::<Vec<_>>(), &links)
    });
}

#[test]
fn two_sessions_are_enough_for_nearly_all_sites() {
    judge("two sessions", SITES * 99 / 100, |site| {
        let site = site.with_badge();
        let (old, new) = (site.session(1), site.session(2));
        let ids: Vec<String> = site.ids(1).into_iter().chain(site.ids(2)).collect();
        let learnt = two_sessions(&urls(&old), &urls(&new));
        wrong(&learnt, &ids.iter().collect::<Vec<_>>(), &[old, new].concat())
    });
}

#[test]
fn a_crawl_learns_them_from_the_first_page_on() {
    judge("page by page", SITES * 99 / 100, |site| {
        let (old, new) = (site.session(1), site.session(2));
        let home = "http://site.example/";
        let learnt = Learnt::default();
        let learnt = learnt.observe(home, &urls(&old)).unwrap_or(learnt);
        let learnt = learnt.observe(&old[0].url, &urls(&old)).unwrap_or(learnt);
        if let Some(why) = wrong(&learnt, &site.ids(1).iter().collect::<Vec<_>>(), &old) {
            return Some(why);
        }
        let learnt = learnt.observe(home, &urls(&new)).unwrap_or(learnt);
        let ids: Vec<String> = site.ids(1).into_iter().chain(site.ids(2)).collect();
        wrong(&learnt, &ids.iter().collect::<Vec<_>>(), &[old, new].concat())
    });
}
