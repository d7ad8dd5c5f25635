//! Are rules recognised, believed, applied and withdrawn as they should be?

use super::*;
use proptest::prelude::*;

const SITE: &str = "http://x.test";

fn at(path: &str) -> String {
    format!("{SITE}{path}")
}

fn explained(one: &str, other: &str) -> String {
    let rules = [explain(&at(one), &at(other)), explain(&at(other), &at(one))];
    assert_eq!(rules[0], rules[1], "{one} {other}");
    rules[0].iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_one_difference_between_two_addresses_is_a_rule() {
    for (one, other, rule) in [
        ("/mirror/a/x", "/a/x", "'/mirror/' is '/'"),
        ("/mirror/", "/", "'/mirror/' is '/'"),
        ("/m/copy/x", "/x", "'/m/copy/' is '/'"),
        ("/m1/a/x", "/m2/a/x", "'/m2/' is '/m1/'"),
        ("/en/print/x", "/en/x", "'/print/' within a path does not matter"),
        ("/a/x/print", "/a/x", "'/print' at the end does not matter"),
        ("/a//x", "/a/x", "'//' is '/'"),
        ("//a/x", "/a/x", "'//' is '/'"),
        ("/Docs/X", "/docs/x", "letter case does not matter"),
        ("/a/index.html", "/a/", "'index.html' is its directory"),
        ("/Default.aspx", "/", "'Default.aspx' is its directory"),
        ("/a/", "/a", "a trailing slash does not matter"),
        ("/a?ref=1", "/a", "the parameter 'ref' does not matter"),
        ("/a?ref=1&id=3", "/a?id=3&ref=2", "the parameter 'ref' does not matter"),
        ("/a?s=1&m=2", "/a", "the parameter 'm' does not matter, the parameter 's' does not matter"),
    ] {
        assert_eq!(explained(one, other), rule, "{one} {other}");
    }
}

#[test]
fn other_differences_are_no_rule() {
    for (one, other) in [
        ("/a/x", "/a/y"),
        ("/a/x.html", "/a/"),
        ("/x", "/y?z=1"),
        ("/a?p=1&q=2", "/a?q=2&r=3&s=4&t=5&u=6"),
        ("/a?x=1&y=2", "/a?y=2&x=1"),
        ("/mirror/a?ref=1", "/a"),
        ("/", "/x"),
    ] {
        assert_eq!(explained(one, other), "", "{one} {other}");
    }
    assert!(explain("http://a.test/x", "http://b.test/x").is_empty());
    assert_eq!(explained(&format!("/x?{}=1", "long".repeat(99)), "/x"), "");
}

/// Knows a rule that these pairs confirm, each with content of its own.
fn taught(pairs: &[(&str, &str)]) -> HostAliases {
    let mut host = HostAliases::default();
    for (content, (one, other)) in (1..).zip(pairs) {
        for place in host.suppose(&at(one), &at(other)) {
            host.confirm(place, (&at(one), &at(other)), content);
        }
    }
    host
}

fn normal(host: &HostAliases, path: &str) -> String {
    host.normal(&at(path)).map_or_else(|| path.to_owned(), |form| form.url.replace(SITE, ""))
}

const MIRRORED: [(&str, &str); 4] = [("/m/a", "/a"), ("/b", "/m/b"), ("/m/c", "/c"), ("/m/d", "/d")];

#[test]
fn a_rule_is_believed_after_four_contents_and_not_after_one_content_four_times() {
    assert_eq!(normal(&taught(&MIRRORED[..3]), "/m/x"), "/m/x");
    assert_eq!(normal(&taught(&MIRRORED), "/m/x?q=1"), "/x?q=1");
    let mut same = HostAliases::default();
    for (one, other) in MIRRORED {
        let places = same.suppose(&at(one), &at(other));
        assert_eq!(places, [0]);
        assert!(!same.confirm(0, (&at(one), &at(other)), 7));
    }
    assert_eq!(normal(&same, "/m/x"), "/m/x");
}

#[test]
fn a_contradiction_withdraws_a_rule_for_good() {
    let mut host = taught(&MIRRORED);
    assert_eq!(host.contradict(1), Some(1));
    assert_eq!((normal(&host, "/m/x"), host.withdrawn()), ("/m/x".to_owned(), 1));
    assert!(host.suppose(&at("/m/e"), &at("/e")).is_empty());
    assert_eq!(host.contradict(1), None);
    let mut supposed = taught(&MIRRORED[..2]);
    assert_eq!((supposed.contradict(1), supposed.withdrawn()), (None, 1));
}

#[test]
fn a_value_that_was_never_seen_matters_until_many_do_not() {
    let pairs = [("/a?p=1", "/a"), ("/b?p=1", "/b"), ("/c?p=1", "/c"), ("/d?p=1", "/d")];
    let host = taught(&pairs);
    assert_eq!((normal(&host, "/x?p=1"), normal(&host, "/x?p=2")), ("/x".to_owned(), "/x?p=2".to_owned()));
    assert_eq!(host.supposed(&at("/x?p=2")), [(0, at("/x"))]);
    let many = taught(&[("/a?p=1", "/a"), ("/b?p=2", "/b"), ("/c?p=3", "/c"), ("/d?p=4", "/d")]);
    assert_eq!(normal(&many, "/x?p=99&q=1"), "/x?q=1");
    assert!(many.supposed(&at("/x?p=99")).is_empty());
}

#[test]
fn rules_are_applied_together_and_the_next_is_learnt_under_those_believed() {
    let mut host = taught(&MIRRORED);
    for (n, page) in ["/a", "/b", "/c", "/d"].iter().enumerate() {
        let (one, other) = (at(&format!("/m{page}?s={n}")), at(page));
        let places = host.suppose(&one, &other);
        assert_eq!(places, [1], "the mirror is known already");
        host.confirm(1, (&one, &other), n as u64);
    }
    assert_eq!(host.normal(&at("/m/x?s=9")), Some(NormalForm { url: at("/x"), rules: 3 }));
    assert_eq!(
        host.named(2).map(|rule| rule.rule.to_string()).collect::<Vec<_>>(),
        ["the parameter 's' does not matter"]
    );
}

#[test]
fn every_new_area_is_tested_and_then_ever_fewer_addresses() {
    let mut host = taught(&MIRRORED);
    let mut tests = |area: &str, n: u32| (0..n).filter(|n| host.wants_test(&at(&format!("/m/{area}/{n}")), 1)).count();
    assert!(tests("new", 1) == 1 && tests("other", 1) == 1);
    let (early, late) = (tests("new", 200), tests("new", 2_000));
    assert!((5..40).contains(&early) && (20..90).contains(&late), "{early} {late}");
    assert_eq!(host.rules()[0].tested, 2 + (early + late) as u64);
    assert!(host.tests_left(0) < 128 && host.tests_left(1_000_000) > 24_000);
}

#[test]
fn what_is_stored_is_what_was_learnt() {
    let mut host = taught(&[("/a?p=1", "/a"), ("/b?p=1", "/b"), ("/A", "/a"), ("/m/print/x", "/m/x"), ("/q/", "/q")]);
    host.wants_test(&at("/m/x"), 1);
    let stored = serde_json::to_string(&host).unwrap();
    assert_eq!(serde_json::from_str::<HostAliases>(&stored).unwrap(), host);
}

#[test]
fn junk_makes_room_for_more_but_never_takes_the_place_of_what_is_known() {
    let mut host = taught(&MIRRORED);
    for n in 0..500 {
        host.suppose(&at(&format!("/junk{n}/x")), &at("/x"));
    }
    assert!(host.rules().len() <= 48);
    assert_eq!(normal(&host, "/m/x"), "/x");
    assert_eq!(host.suppose(&at("/x?new=1"), &at("/x")).len(), 1);
}

fn any_path() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec!["", "m", "print", "A", "a", "index.html", "x%2F", "é"]);
    let query = prop::sample::select(vec!["", "?", "?p=1", "?p=1&q=2", "?q", "?&&p="]);
    (prop::collection::vec(segment, 0..7), query).prop_map(|(path, query)| format!("/{}{query}", path.join("/")))
}

proptest! {
    #[test]
    fn a_normal_form_is_its_own_and_no_address_panics(pairs in prop::collection::vec((any_path(), any_path()), 0..24), path in any_path()) {
        let mut host = HostAliases::default();
        for (content, (one, other)) in (0..).zip(&pairs) {
            for place in host.suppose(&at(one), &at(other)) {
                for more in 0..4 {
                    host.confirm(place, (&at(one), &at(other)), content * 4 + more);
                }
            }
        }
        if let Some(form) = host.normal(&at(&path)) {
            prop_assert_ne!(&form.url, &at(&path));
            prop_assert_eq!(host.normal(&form.url).map(|again| again.url), None);
        }
        host.supposed(&at(&path));
        host.wants_test(&at(&path), u64::MAX);
    }

    #[test]
    fn rules_explain_what_they_say(one in any_path(), other in any_path()) {
        let rules = explain(&at(&one), &at(&other));
        let mut host = HostAliases::default();
        if !rules.is_empty() {
            for place in host.suppose(&at(&one), &at(&other)) {
                for content in 0..4 {
                    host.confirm(place, (&at(&one), &at(&other)), content);
                }
            }
            let form = |path: &str| host.normal(&at(path)).map_or_else(|| at(path), |form| form.url);
            prop_assert_eq!(form(&one), form(&other));
        }
    }
}
