//! Which addresses are traps, and which are not?

use super::*;
use proptest::prelude::*;

fn traps() -> Traps {
    Traps::new(TrapLimits::default())
}

fn judge(url: &str) -> Option<Trap> {
    traps().judge(Target::of(HostId(1), url), 1, 2026)
}

#[test]
fn traps_are_known_by_their_shape() {
    for (url, expected) in [
        ("http://h/a/b/a/b/a/b/", Some(Trap::Repeat)),
        ("http://h/x/yy/zz/yy/zz/yy/zz/w", Some(Trap::Repeat)),
        ("http://h/dir/dir/dir/dir/", Some(Trap::Repeat)),
        ("http://h/dir/one/dir/two/dir/three/dir", Some(Trap::Repeat)),
        ("http://h/cal/2093/05/", Some(Trap::Calendar)),
        ("http://h/cal/1600/5", Some(Trap::Calendar)),
        ("http://h/cal/12026/05/", Some(Trap::Calendar)),
        ("http://h/cal/2093-05", Some(Trap::Calendar)),
        ("http://h/cal?year=2093&month=5", Some(Trap::Calendar)),
        ("http://h/cal?date=2093-05-31", Some(Trap::Calendar)),
        (&format!("http://h/?{}", "a&".repeat(33)), Some(Trap::Parameters)),
        (&format!("http://h/{}", "x".repeat(2_000)), Some(Trap::Length)),
        (&format!("http://h/{}", (0..21).map(|i| format!("s{i}/")).collect::<String>()), Some(Trap::Depth)),
    ] {
        assert_eq!(judge(url), expected, "{url}");
    }
}

#[test]
fn addresses_written_by_people_are_no_traps() {
    for url in [
        "http://h",
        "http://h/",
        "http://h/?",
        "http://h/a/b/c/d/e/f/g/h/i/j/k/l/m/n",
        "http://h/javase/8/docs/api/java/util/java/util/List.html",
        "http://h/w/cpp/algorithm/ranges/ranges.html",
        "http://h/2026/11/15/title",
        "http://h/1850/03/newspaper",
        "http://h/5400/12-volt",
        "http://h/part/9100",
        "http://h/objects/a/a/b/a/c/a/d",
        "http://h/search?q=2093&lang=en",
        "http://h/rfc/9309",
        "http://h/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=10",
    ] {
        assert_eq!(judge(url), None, "{url}");
    }
}

#[test]
fn the_queries_of_one_path_are_bounded_and_other_paths_are_not_touched() {
    let mut traps = traps();
    let mut cut = |path: &str, query: &str, n: u32| {
        (0..n)
            .filter(|i| traps.judge(Target::of(HostId(1), &format!("http://h/{path}?{query}{i}")), 1, 2026).is_some())
            .count()
    };
    assert_eq!(cut("shop", "c=1&p=", 1_500), 500);
    assert_eq!(cut("page", "p=", 1_500), 0);
    assert_eq!(traps.judge(Target::of(HostId(2), "http://i/shop?c=1&p=1"), 1, 2026), None);
}

fn at(traps: &mut Traps, host: u32, url: &str) -> Option<Trap> {
    traps.judge(Target::of(HostId(host), url), 1, 2026)
}

fn note(traps: &mut Traps, host: u32, url: &str, novelty: Novelty) {
    traps.note(Target::of(HostId(host), url), novelty);
}

const NEW: Novelty = Novelty { repeated: false, gist: None, mirror: None };
const AGAIN: Novelty = Novelty { repeated: true, ..NEW };

#[test]
fn an_area_with_nothing_but_repeated_content_is_left() {
    let mut traps = traps();
    let page = |i: u32| format!("http://h/soft/{i}");
    for i in 0..200 {
        assert_eq!(at(&mut traps, 1, &page(i)), None);
        note(&mut traps, 1, &page(i), AGAIN);
    }
    assert_eq!(at(&mut traps, 1, &page(201)), Some(Trap::Content));
    assert_eq!(traps.spent(Target::of(HostId(1), &page(7))), Some(Trap::Content), "before the fetch, too");
    assert_eq!(at(&mut traps, 1, "http://h/real/1"), None);
    note(&mut traps, 1, &page(1), NEW);
    assert_eq!(at(&mut traps, 1, &page(202)), None);
}

#[test]
fn an_area_that_says_nearly_the_same_again_and_again_is_left() {
    let mut traps = traps();
    let page = |i: u32| format!("http://h/s/ab{i:08}/view.html");
    for i in 0..501 {
        assert_eq!(at(&mut traps, 1, &page(i)), None, "{i}");
        note(&mut traps, 1, &page(i), Novelty { gist: Some(1 << (i % 6)), ..NEW });
    }
    assert_eq!(at(&mut traps, 1, &page(999)), Some(Trap::Similar));
    note(&mut traps, 1, &page(1), Novelty { gist: Some(u64::MAX), ..NEW });
    assert_eq!(at(&mut traps, 1, &page(999)), None, "something else at last");
}

#[test]
fn a_chain_without_end_is_cut() {
    let mut traps = traps();
    let target = Target::of(HostId(1), "http://h/next");
    assert_eq!(traps.judge(target, 1_000, 2026), None);
    assert_eq!(traps.judge(target, 1_001, 2026), Some(Trap::Chain));
}

#[test]
fn the_younger_of_two_hosts_with_the_same_pages_is_left() {
    let mut traps = traps();
    for i in 0..100 {
        note(&mut traps, 1, &format!("http://a.example/{i}"), Novelty { gist: Some(0), ..NEW });
        let mirrored = Novelty { mirror: Some(HostId(2)), ..AGAIN };
        note(&mut traps, 2, &format!("http://b.example/{i}/x"), mirrored);
    }
    assert_eq!(at(&mut traps, 2, "http://b.example/new"), Some(Trap::Mirror));
    assert_eq!(at(&mut traps, 1, "http://a.example/new"), None);
    assert_eq!(at(&mut traps, 3, "http://c.b.example/"), None, "another host of the same domain");
}

#[test]
fn a_domain_whose_hosts_all_say_the_same_is_left_but_for_those_with_pages_of_their_own() {
    let mut traps = traps();
    let url = |n: u32| format!("http://m{n}.mirror.example/");
    for n in 1..=2 {
        assert_eq!(at(&mut traps, n, &url(n)), None);
        note(&mut traps, n, &url(n), Novelty { gist: Some(u64::MAX / u64::from(n)), ..NEW });
    }
    for n in 3..23 {
        assert_eq!(at(&mut traps, n, &url(n)), None);
        note(&mut traps, n, &url(n), Novelty { mirror: Some(HostId(n)), ..AGAIN });
    }
    assert_eq!(at(&mut traps, 30, &url(30)), Some(Trap::Mirror));
    assert_eq!(traps.spent(Target::of(HostId(25), &url(25))), Some(Trap::Mirror));
    assert_eq!([at(&mut traps, 1, &url(1)), at(&mut traps, 2, &url(2))], [None; 2]);
    assert_eq!(at(&mut traps, 31, "http://other.example/"), None);
}

#[test]
fn the_hosts_of_a_domain_are_bounded() {
    let mut traps = Traps::new(TrapLimits { hosts_per_domain: 3, ..TrapLimits::default() });
    let judge = |traps: &mut Traps, n: u32| at(traps, n, &format!("http://w{n}.wild.example/"));
    for n in [1, 5, 9, 5, 1] {
        assert_eq!(judge(&mut traps, n), None);
    }
    assert_eq!(judge(&mut traps, 10), Some(Trap::Hosts));
    let mut again = Traps::new(TrapLimits { hosts_per_domain: 3, ..TrapLimits::default() });
    again.recall(traps.take_changed());
    for traps in [&mut traps, &mut again] {
        assert_eq!(judge(traps, 10), Some(Trap::Hosts), "it stays so");
        assert_eq!(judge(traps, 9), None, "and so does this");
        assert_eq!(judge(traps, 11), Some(Trap::Hosts));
        assert_eq!(at(traps, 12, "http://tame.example/"), None);
    }
}

#[test]
fn the_pages_of_a_host_are_bounded_where_asked_for() {
    let mut traps = Traps::new(TrapLimits { host_pages: Some(2), ..TrapLimits::default() });
    let cut = |traps: &mut Traps, host| at(traps, host, "http://h/");
    assert_eq!([cut(&mut traps, 1), cut(&mut traps, 1), cut(&mut traps, 2)], [None; 3]);
    assert_eq!(cut(&mut traps, 1), Some(Trap::Pages));
}

proptest! {
    #[test]
    fn no_address_breaks_the_judge(url in "[a-z:/?&=;0-9%.é-]{0,300}") {
        let _ = judge(&url);
    }
}
