use super::*;
use std::fmt::Write as _;

/// A page as lines of `path | text`; a path with a mark in it is named, and what begins with
/// `aside` lies around the main content.
fn page(text: &str) -> Vec<Block> {
    let block = |line: &str| {
        let (path, text) = line.split_once('|').expect("path | text");
        let path = path.trim();
        let named = path.contains(['.', '#']);
        let around = path.starts_with("aside");
        Block { path: xxh3_64(path.as_bytes()), named, place: path.into(), text: text.trim().to_owned(), around }
    };
    text.lines().filter(|l| !l.trim().is_empty()).map(block).collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Same,
    Changed,
    Around,
    Unclear,
}

fn say(old: &str, new: &str, again: Option<&str>, noise: &Noise) -> Said {
    say_of("http://h.test/p", old, new, again, noise)
}

fn say_of(url: &str, old: &str, new: &str, again: Option<&str>, noise: &Noise) -> Said {
    let (old, new, again) = (page(old), page(new), again.map(page));
    match judge(url, &old, &new, again.as_deref(), noise) {
        RemainingChanges::Nothing => Said::Same,
        RemainingChanges::Changes(_) => Said::Changed,
        RemainingChanges::Around(_) => Said::Around,
        RemainingChanges::Unclear => Said::Unclear,
    }
}

#[track_caller]
fn same(old: &str, new: &str, again: &str) {
    assert_eq!(say(old, new, Some(again), &Noise::new()), Said::Same);
}

#[track_caller]
fn changed(old: &str, new: &str, again: &str) {
    assert_eq!(say(old, new, Some(again), &Noise::new()), Said::Changed);
}

#[test]
fn an_advertisement_is_noise_and_a_change_beside_it_is_not() {
    let with = |ad: &str, text: &str| format!("p | First.\n div.ad | {ad}\n p | {text}");
    let (old, new, again) = ("Buy big shoes now", "Fly to Rome", "The best of all teas, today only");
    same(&with(old, "Last."), &with(new, "Last."), &with(again, "Last."));
    changed(&with(old, "Last."), &with(new, "Lost."), &with(again, "Lost."));
    changed(&with(old, "Costs 20 EUR."), &with(new, "Costs 21 EUR."), &with(again, "Costs 21 EUR."));
}

#[test]
fn an_advertisement_may_come_in_more_blocks_or_none() {
    let with = |ads: &[&str]| {
        let ads = ads.iter().fold(String::new(), |out, ad| out + "div.ad p | " + ad + "\n");
        format!("p | First.\n{ads} p | Last.")
    };
    same(&with(&["a b", "c d", "e f"]), &with(&["g h"]), &with(&["i j", "k l"]));
    same(&with(&["a b", "c d"]), &with(&[]), &with(&["k l"]));
    same(&with(&[]), &with(&["k l"]), &with(&[]));
    let flood: Vec<&str> = std::iter::repeat_n("a b", 9).collect();
    changed(&with(&flood), &with(&["g h"]), &with(&["i j"]));
}

#[test]
fn a_paragraph_added_or_removed_beside_an_advertisement_is_a_change() {
    changed(
        "p | A.\n div.ad | x y\n p | B.",
        "p | A.\n div.ad | u v\n p | New.\n p | B.",
        "p | A.\n div.ad | s t\n p | New.\n p | B.",
    );
    changed(
        "p | A.\n p | Old.\n div.ad | x y\n p | B.",
        "p | A.\n div.ad | u v\n p | B.",
        "p | A.\n div.ad | s t\n p | B.",
    );
    // The same if the advertisement looks like any other paragraph.
    changed("p | A.\n p | Old.\n p | x y\n p | B.", "p | A.\n p | u v\n p | B.", "p | A.\n p | s t\n p | B.");
    same("p | A.\n p | x y\n p | B.", "p | A.\n p | u v\n p | B.", "p | A.\n p | s t\n p | B.");
}

#[test]
fn an_advertisement_that_wanders_is_noise() {
    same(
        "div.ad | x y\n p | A.\n p | B.\n p | C.",
        "p | A.\n p | B.\n div.ad | u v\n p | C.",
        "p | A.\n p | B.\n p | C.\n div.ad | s t",
    );
}

#[test]
fn a_token_in_a_sentence_is_noise_and_the_other_words_are_not() {
    let with = |token: &str, price: &str| format!("p | Ticket {token} costs {price} EUR, all in.");
    same(&with("a91f", "20"), &with("77b0", "20"), &with("c0de9", "20"));
    changed(&with("a91f", "20"), &with("77b0", "25"), &with("c0de9", "25"));
    same("p | Visitors: 100", "p | Visitors: 2301", "p | Visitors: 2302");
    changed("p | Guests: 100", "p | Visitors: 2301", "p | Visitors: 2302");
}

#[test]
fn the_hour_is_noise_with_its_day() {
    let with = |at: &str, by: &str| format!("p | Text.\n footer | Generated at {at} by {by}");
    same(
        &with("Sat, 11 May 2026 09:12:44 UTC", "x"),
        &with("Sun, 12 May 2026 13:40:01 UTC", "x"),
        &with("Sun, 12 May 2026 13:40:03 UTC", "x"),
    );
    changed(
        &with("Sat, 11 May 2026 09:12:44 UTC", "y"),
        &with("Sun, 12 May 2026 13:40:01 UTC", "x"),
        &with("Sun, 12 May 2026 13:40:03 UTC", "x"),
    );
}

#[test]
fn teasers_in_any_order_are_noise_and_another_teaser_is_not() {
    let with = |teasers: &str| {
        let teasers =
            teasers.chars().fold(String::new(), |out, t| out + "ul.teasers li | Teaser " + &t.to_string() + "\n");
        format!("p | First.\n{teasers} p | Last.")
    };
    same(&with("dcba"), &with("abcd"), &with("bdac"));
    changed(&with("dcbx"), &with("abcd"), &with("bdac"));
    changed(&with("dcb"), &with("abcd"), &with("bdac"));
    // Chosen from many: any of them.
    same(&with("xyz"), &with("abc"), &with("cef"));
    // Written in another order, and the server does not shuffle.
    changed(&with("abdc"), &with("abcd"), &with("abcd"));
    same("p | tags: a b c d", "p | tags: c a d b", "p | tags: d b a c");
    changed("p | tags: a b c e", "p | tags: c a d b", "p | tags: d b a c");
}

#[test]
fn without_a_second_answer_it_asks_and_what_several_pages_showed_needs_none() {
    let noise = Noise::new();
    let with = |n: u32, ad: &str, text: &str| {
        format!("p | Page {n}.\n div.ad | {ad}\n p | {text}\n p.count | Visits: {}", n * 7)
    };
    let url = |n: u32| format!("http://h.test/{n}");
    let ads = ["red shoes", "blue hats, cheap", "tea", "a long holiday", "more hats", "no rain"];
    assert_eq!(say_of(&url(0), &with(0, ads[0], "t"), &with(1, ads[1], "t"), None, &noise), Said::Unclear);
    for n in 1..4 {
        let (old, new, again) =
            (with(n, ads[0], "t"), with(n, ads[n as usize], "t"), with(n, ads[n as usize + 1], "t"));
        let new = new.replace("Visits: ", "Visits: 1");
        let again = again.replace("Visits: ", "Visits: 2");
        assert_eq!(say_of(&url(n), &old, &new, Some(&again), &noise), Said::Same, "page {n}");
    }
    let kept = Noise::from_text(&noise.to_text());
    let (old, new) = (with(9, ads[0], "t"), with(9, ads[5], "t").replace("Visits: ", "Visits: 3"));
    assert_eq!(say_of(&url(9), &old, &new, None, &kept), Said::Same);
    let other = with(9, ads[5], "u");
    assert_eq!(say_of(&url(9), &old, &other, None, &kept), Said::Unclear);
    assert_eq!(say_of(&url(9), &old, &other, Some(&with(9, ads[4], "u")), &kept), Said::Changed);
    let merged = Noise::new();
    merged.merge(&kept);
    assert_eq!(say_of(&url(9), &old, &new, None, &merged), Said::Same);
    assert!(Noise::from_text("{ nonsense").to_text().contains("paths"));
}

#[test]
fn a_paragraph_of_all_pages_is_not_known_to_be_drawn_because_it_is_on_some() {
    let noise = Noise::new();
    for n in 0..5 {
        let with = |text: &str| format!("h1 | Page {n}\n p | {text}");
        let said = say_of(
            &format!("http://h.test/{n}"),
            &with("a quote"),
            &with("some other words"),
            Some(&with("third thing")),
            &noise,
        );
        assert_eq!(said, Said::Same);
    }
    assert_eq!(say_of("http://h.test/x", "p | It was so.", "p | It is thus.", None, &noise), Said::Unclear);
}

#[test]
fn an_error_page_instead_of_a_second_answer_hides_no_change_and_teaches_nothing() {
    let text = |n: u32, price: u32| {
        let prose = "A paragraph of some length that says what the page has to say, and it says it at length";
        format!(
            "h1 | Tea {n}\n div#main p | {prose}. \n div#main p | {prose} again. \n div#main p | It costs {price} EUR."
        )
    };
    let error = "h1 | Overloaded\n p | The service cannot answer just now. Please be patient and come back later.";
    let noise = Noise::new();
    for n in 0..5 {
        let url = format!("http://h.test/{n}");
        assert_eq!(say_of(&url, &text(n, 20), &text(n, 25), Some(error), &noise), Said::Changed);
    }
    assert_eq!(noise.learnt(), 0);
    // If every response is different, none of them is the right one.
    let random = |seed: u64| format!("p | {}", Dice(seed).words(60));
    assert_eq!(say(&random(1), &random(2), Some(&random(3)), &noise), Said::Same);
}

#[test]
fn an_advertisement_among_paragraphs_like_it_hides_none_of_them() {
    let mut dice = Dice(5);
    for n in 0..400 {
        let text: Vec<String> = (0..6).map(|i| format!("{} at 2{i} EUR", dice.words(9))).collect();
        let changes = n % 2 == 0;
        let now = if changes { edited(&text, &mut dice) } else { text.clone() };
        let mut with = |text: &[String]| {
            let mut lines: Vec<String> = text.iter().map(|t| format!("div#main p | {t}")).collect();
            lines.insert(3, format!("div#main p | {}", dice.words(6)));
            lines.join("\n")
        };
        let (old, new, again) = (with(&text), with(&now), with(&now));
        let expected = if now == text { Said::Same } else { Said::Changed };
        assert_eq!(
            say(&old, &new, Some(&again), &Noise::new()),
            expected,
            "--- old\n{old}\n--- new\n{new}\n--- again\n{again}"
        );
    }
}

/// A pseudo-random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        xxh3_64(&self.0.to_le_bytes()) % sides
    }

    fn words(&mut self, count: u64) -> String {
        const SOUNDS: [&str; 16] =
            ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "pa", "de", "fi", "go", "hu", "la"];
        let mut out = String::new();
        for i in 0..count {
            let gap = if i > 0 { " " } else { "" };
            let sounds = (0..2 + self.roll(2)).map(|_| SOUNDS[self.roll(16) as usize]).collect::<String>();
            let _ = write!(out, "{gap}{sounds}");
        }
        out
    }
}

/// What a site generates for every response, one bit each.
const KINDS: u32 = 7;

/// One response: the written text, and what is generated around it.
fn answer(text: &[String], kinds: u32, dice: &mut Dice) -> String {
    let has = |kind: u32| kinds & (1 << kind) != 0;
    let mut out = String::from("h1 | A page\n");
    if has(0) {
        for _ in 0..dice.roll(4) {
            let count = 1 + dice.roll(9);
            let _ = writeln!(out, "div.ad p | {}", dice.words(count));
        }
    }
    for (i, paragraph) in text.iter().enumerate() {
        let token =
            if has(1) && i == 1 { format!(" Reference {:08x} applies.", dice.roll(1 << 32)) } else { String::new() };
        let _ = writeln!(out, "div#main p | {paragraph}{token}");
        if has(2) && i == 2 {
            let count = 2 + dice.roll(6);
            let _ = writeln!(out, "div#main aside | Buy now: {}!", dice.words(count));
        }
    }
    if has(3) {
        let mut order: Vec<u64> = (0..4).collect();
        order.sort_by_cached_key(|_| dice.roll(1_000));
        for teaser in order {
            let _ = writeln!(out, "ul.teasers li | See also number {teaser}");
        }
    }
    if has(4) {
        let _ = writeln!(out, "div.visits | You are visitor number {} of this page", 1_000 + dice.roll(100_000));
    }
    if has(5) {
        let (d, h, s) = (1 + dice.roll(28), dice.roll(24), dice.roll(60));
        let _ = writeln!(out, "footer | Generated on {d} May 2026 at {h:02}:17:{s:02} UTC in {} ms", dice.roll(900));
    }
    if has(6) {
        let names = ["one", "two", "three", "four"];
        let _ = writeln!(out, "div.poll | Most read today: {}", names[dice.roll(4) as usize]);
    }
    out
}

/// A real change of any size.
fn edited(text: &[String], dice: &mut Dice) -> Vec<String> {
    let mut text = text.to_vec();
    let at = dice.roll(text.len() as u64) as usize;
    match dice.roll(6) {
        0 => drop(text.remove(at)),
        1 => text.insert(at, dice.words(12)),
        2 => text[at] = dice.words(30),
        3 => text[at] = text[at].replacen("costs 2", "costs 3", 1),
        4 => text[at] += " indeed",
        _ => text.swap(at, (at + 1) % 6),
    }
    text
}

/// Judges as a run does: fetches again if it must.
fn tracked(url: &str, old: &str, new: &str, mut again: impl FnMut() -> String, noise: &Noise) -> (Said, bool) {
    match say_of(url, old, new, None, noise) {
        Said::Unclear => (say_of(url, old, new, Some(&again()), noise), true),
        said => (said, false),
    }
}

#[test]
fn every_mixture_of_noise_is_told_from_every_size_of_change() {
    let (mut wrong, mut asked, mut judged) = (Vec::new(), 0u32, 0u32);
    for kinds in 0..1 << KINDS {
        let mut dice = Dice(u64::from(kinds));
        let noise = Noise::new();
        for n in 0.. {
            if !noise.is_young() {
                break;
            }
            let text: Vec<String> = (0..6).map(|_| dice.words(9)).collect();
            let (one, other) = (answer(&text, kinds, &mut dice), answer(&text, kinds, &mut dice));
            learn(&format!("http://h{kinds}.test/sample/{n}"), &page(&one), &page(&other), &noise);
        }
        for n in 0..20 {
            let text: Vec<String> =
                (0..6).map(|i| format!("{} and it costs 2{i} EUR. {}.", dice.words(9), dice.words(5))).collect();
            let changes = n % 5 == 4;
            let now = if changes { edited(&text, &mut dice) } else { text.clone() };
            let old = answer(&text, kinds, &mut dice);
            let new = answer(&now, kinds, &mut dice);
            let url = format!("http://h{kinds}.test/{n}");
            let mut second = String::new();
            let ask = || {
                second = answer(&now, kinds, &mut dice);
                second.clone()
            };
            let (said, twice) = tracked(&url, &old, &new, ask, &noise);
            judged += 1;
            asked += u32::from(twice);
            if said != if changes { Said::Changed } else { Said::Same } {
                wrong.push(format!(
                    "kinds {kinds:07b} page {n}: {said:?}\n--- old\n{old}--- new\n{new}--- again\n{second}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} wrong, e.g.\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
    assert!(asked * 100 < judged * 45, "{asked} of {judged} were asked twice");
}

#[test]
fn pages_of_very_many_blocks_end_soon() {
    let many = |salt: u64, same_path: bool| -> Vec<Block> {
        let block = |i: u64| Block {
            path: if same_path { 1 } else { i },
            named: true,
            place: "p".into(),
            text: format!("{} {}", i * salt, i % 7),
            around: false,
        };
        (0..30_000).map(block).collect()
    };
    let began = std::time::Instant::now();
    for same_path in [true, false] {
        let (old, new, again) = (many(3, same_path), many(5, same_path), many(7, same_path));
        let noise = Noise::new();
        assert!(matches!(judge("u", &old, &new, None, &noise), RemainingChanges::Unclear));
        let _ = judge("u", &old, &new, Some(&again), &noise);
        let _ = judge("u", &old, &new, Some(&again[..15_000]), &noise);
        assert!(matches!(judge("u", &old, &new, Some(&new), &noise), RemainingChanges::Changes(_)));
        assert!(noise.to_text().len() < 1 << 20, "{}", noise.to_text().len());
    }
    let words =
        |word: &str| vec![Block { path: 1, named: true, place: "p".into(), text: word.repeat(100_000), around: false }];
    let _ = judge("u", &words("a b "), &words("b a "), Some(&words("a a b ")), &Noise::new());
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn what_lies_around_the_main_content_is_told_apart_and_needs_no_second_response() {
    let page = |ad: &str, text: &str| format!("p | First.\n aside.ad | {ad}\n p | {text}");
    let (old, new) = ("Buy big shoes now", "Fly to Rome");
    let noise = Noise::new();
    let say = |old: &str, new: &str, again: Option<&str>| say(old, new, again, &noise);
    assert_eq!(say(&page(old, "Last."), &page(new, "Last."), None), Said::Around);
    assert_eq!(say(&page(old, "Last."), "p | First.\n p | Last.", None), Said::Around, "it is gone");
    assert_eq!(say("p | First.\n p | Last.", &page(new, "Last."), None), Said::Around, "it is new");
    assert_eq!(noise.learnt(), 0);
    // An edit beside it is one, and so is what moves from there into the text or back.
    assert_eq!(say(&page(old, "Last."), &page(new, "Lost."), None), Said::Unclear);
    let edited = page(new, "Lost.");
    assert_eq!(say(&page(old, "Last."), &edited, Some(&edited)), Said::Changed);
    let within = "p | First.\n p | Fly to Rome\n p | Last.";
    assert_eq!(say(&page(new, "Last."), within, Some(within)), Said::Same, "the same words in the same order");
    let behind = "p | First.\n p | Last.\n p | Fly to Rome";
    assert_eq!(say(&page(new, "Last."), behind, Some(behind)), Said::Changed);
    let around = page(new, "Last.");
    assert_eq!(say(behind, &around, Some(&around)), Said::Changed);
}

#[test]
fn a_change_behind_any_number_of_differences_around_it_is_found() {
    let page = |salt: usize, text: &str| {
        let ads = (0..3_000).fold(String::new(), |ads, n| ads + &format!("aside.ad | word{n} of{salt}\n"));
        format!("{ads}p | {text}")
    };
    let (old, new, edited) = (page(1, "Last."), page(2, "Last."), page(2, "Lost."));
    assert_eq!(say(&old, &new, None, &Noise::new()), Said::Around);
    assert_eq!(say(&old, &edited, Some(&edited), &Noise::new()), Said::Changed);
}
