//! Are endless URL spaces cut off, under the name of their trap?

use crate::harness::orb::{Home, PROJECT};
use crate::{AHEAD, crawl, project, watched, web};
use orb_testweb::Feature;

#[test]
fn traps_known_by_their_shape_are_cut_and_the_rest_is_found() {
    let crawled = crawl(&[Feature::Traps, Feature::Sessions], &[]);
    crawled.assert_complete();
    for (below, most, trap) in [
        ("/traps/calendar", 500 + AHEAD, "trap-similar"),
        ("/traps/deeper", 500, "trap-repeat"),
        ("/traps/again", 500, "trap-repeat"),
        ("/traps/shop", 500 + AHEAD, "trap-similar"),
        ("/traps/counter", 500 + AHEAD, "trap-similar"),
    ] {
        let (asked, cut) = (crawled.asked_below(below), crawled.cut_below(below));
        assert!(asked <= most && cut.contains(trap), "{below}: {asked} pages, {cut:?}");
    }
    let sessions = crawled.expected().sessions;
    assert_eq!(crawled.asked_below("/sessions/"), sessions.len() + 1, "session ids make no pages");
}

#[test]
fn mazes_known_by_their_content_are_left_and_the_rest_is_found() {
    let crawled = crawl(&[Feature::Mazes], &["frontier.traps.chain = 60", "urls.learn_sessions = false"]);
    crawled.assert_complete();
    for (below, most, trap) in [
        ("/mazes/tickets", 500 + AHEAD, "trap-similar"),
        ("/mazes/visitor", 500 + AHEAD, "trap-similar"),
        ("/mazes/soft", 500 + AHEAD, "trap-similar"),
        ("/mazes/long", 500 + AHEAD, "trap-similar"),
        ("/mazes/list", 200 + AHEAD, "trap-content"),
        ("/mazes/chain", 61, "trap-chain"),
        ("/mazes/hops", 11, "redirects"),
    ] {
        let (asked, cut) = (crawled.asked_below(below), crawled.cut_below(below));
        assert!(asked <= most && cut.contains(trap), "{below}: {asked} pages, {cut:?}");
    }
    for path in ["/mazes/ping", "/mazes/never.html"] {
        assert_eq!(crawled.fate(path).0, "REDIRECT", "{path}");
    }
}

#[test]
fn mazes_of_session_ids_have_as_many_pages_as_there_are() {
    let crawled = crawl(&[Feature::Mazes], &["frontier.traps.chain = 60"]);
    crawled.assert_complete();
    for below in ["/mazes/tickets", "/mazes/visitor"] {
        let (asked, cut) = (crawled.asked_below(below), crawled.cut_below(below));
        assert!(asked <= 6 && cut.is_empty(), "{below}: {asked} pages, {cut:?}");
    }
}

#[test]
fn what_was_cut_off_is_counted_by_trap() {
    let crawled = crawl(&[Feature::Traps], &["frontier.traps.query_variants = 20", "frontier.traps.years_back = 2"]);
    let stored = crawled.catalogue().rows("SELECT why, count(*) FROM page WHERE why LIKE 'trap-%' GROUP BY why");
    assert!(stored.len() >= 3, "{stored:?}");
    let (summary, stats) = (crawled.finished.json(), crawled.home.orb(&["stats", PROJECT, "--json"]).json());
    let status = crawled.home.orb(&["status", PROJECT, "--json"]).json();
    let shown = crawled.home.orb(&["stats", PROJECT]);
    for row in stored {
        let (trap, count) = (row[0].as_str(), row[1].parse::<u64>().unwrap());
        assert_eq!(summary["traps"][trap], count, "{trap}");
        assert_eq!(status["traps"][trap], count, "{trap}");
        assert_eq!(stats["whole"]["traps"][trap], count, "{trap}");
        assert!(shown.text().contains(trap), "{shown}");
    }
}

#[test]
fn what_was_cut_off_is_fetched_when_the_limits_are_raised() {
    let limit = |variants: u32| format!("frontier.traps.query_variants = {variants}");
    let crawled = crawl(&[Feature::Traps], &[&limit(10)]);
    let (before, cut) = (crawled.asked_below("/traps/shop"), crawled.cut_below("/traps/shop"));
    assert!(cut.contains("trap-query"), "{cut:?}");
    let finished = watched(&crawled.home, &[&project(&crawled.world, &crawled.home, &[&limit(60)])]);
    assert_eq!((&finished.json()["state"], finished.number("frontier")), (&"done".into(), 0), "{finished}");
    let after = crawled.asked_below("/traps/shop");
    assert!(after >= before + 40, "{before} pages, then {after}");
    crawled.home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_trap_gives_no_more_to_a_crawl_that_is_stopped_often() {
    let (world, home) = (web(&[Feature::Mazes]), Home::new());
    let rules = "scope.rules = [{ allow = '/mazes/$' }, { allow = '/mazes/soft' }, { deny = '/mazes/' }]";
    let file = project(&world, &home, &["frontier.traps.similar_content = 200", "scope.default = 'allow'", rules]);
    let mut runs = 0;
    while runs < 12 {
        let finished = watched(&home, &[&file, "--max-pages", "150"]);
        runs += 1;
        if finished.json()["state"] == "done" {
            break;
        }
    }
    let begin = world.url(0, "/mazes/soft");
    let asked = home.catalogue().number(&format!("SELECT count(*) FROM page WHERE visits > 0 AND url LIKE '{begin}%'"));
    assert!(runs < 12 && asked < 700, "{asked} pages of the trap in {runs} runs");
}
