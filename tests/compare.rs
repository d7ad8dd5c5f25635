//! Is a page reported as updated if and only if somebody edited it?
//!
//! The pages of the site are half noise: advertisements of one to three blocks, a token in a
//! sentence, a counter, a clock, rotating teasers, a hidden field and a script, all generated for
//! every response. No rule describes them.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Script, absent, page, reply};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Number of pages at first.
const PAGES: u64 = 60;

/// A pseudo-random number.
fn drawn(of: &[u64]) -> u64 {
    of.iter().fold(0x9E37_79B9_7F4A_7C15, |mixed, n| (mixed ^ n).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29))
}

/// Meaningless words.
fn words(seed: u64, count: u64) -> String {
    const SYLLABLES: [&str; 8] = ["ta", "ri", "mo", "ne", "lu", "sa", "ki", "vo"];
    let syllable = |n: u64| SYLLABLES[(n % 8) as usize];
    let word = |i: u64| {
        let n = drawn(&[seed, i]) >> 20;
        [syllable(n), syllable(n >> 3), syllable(n >> 6)].concat()
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// The written content of a page: six paragraphs, edited in one of five ways if it was changed.
fn written(number: u64, changed: bool) -> Vec<String> {
    let mut text: Vec<String> = (0..6).map(|i| format!("{} for {} EUR", words(number * 10 + i, 12), 20 + i)).collect();
    match number % 5 {
        _ if !changed => {}
        0 => text[3] = text[3].replace("23 EUR", "24 EUR"),
        1 => drop(text.remove(2)),
        2 => text.insert(4, words(number + 7, 9)),
        3 => text[1] += " again",
        _ => text[5] = words(number + 99, 20),
    }
    text
}

/// The `n`th response of a page.
fn answer(number: u64, n: u64, changed: bool) -> String {
    let draw = |what: u64| drawn(&[number, n, what]) >> 16;
    let mut body =
        format!("<title>Page {number}</title><form><input type=hidden name=csrf value={:x}></form>", draw(1));
    let _ = write!(body, "<script>var token='{:x}'</script><div class=ads>", draw(2));
    for ad in 0..=n % 3 {
        let _ = write!(body, "<p><img src=/i?{:x}>{}</p>", draw(3), words(draw(4) + ad, 2 + draw(5) % 7));
    }
    body += "</div><div id=main>";
    for (i, paragraph) in written(number, changed).iter().enumerate() {
        let token = if i == 0 { format!(" <small>ref {:08x}</small> is yours", draw(6)) } else { String::new() };
        let _ = write!(body, "<p>{paragraph}{token}</p>");
    }
    body += "</div><ul class=teasers>";
    for teaser in (0..6).map(|i| (i + n) % 6) {
        let _ = write!(body, "<li>See number {teaser}</li>");
    }
    let _ = write!(body, "</ul><p class=visits>You are visitor {} today</p>", 1_000 + 3 * n);
    let _ = write!(body, "<footer>Made on {} May 2026 at 12:{:02}:{:02} UTC</footer>", 1 + n, n * 7 % 60, n * 13 % 60);
    body
}

/// A site whose epoch can be advanced.
fn site() -> (Script, Arc<AtomicU64>) {
    let epoch = Arc::new(AtomicU64::new(0));
    let (now, asked) = (Arc::clone(&epoch), Mutex::new(HashMap::<u64, u64>::new()));
    let server = Script::serve(move |heard| {
        let later = now.load(Ordering::SeqCst) > 0;
        if heard.target == "/" {
            return page((0..PAGES + if later { 3 } else { 0 }).map(|n| format!("/{n}")));
        }
        let Ok(number) = heard.target.trim_start_matches('/').parse::<u64>() else { return absent() };
        if later && number % 30 == 7 {
            return absent();
        }
        let n = {
            let mut asked = asked.lock().unwrap();
            let n = asked.entry(number).or_insert(number % 4);
            *n += 1;
            *n
        };
        let changed = later && number % 11 == 5;
        reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html>{}", answer(number, n, changed)))
    });
    (server, epoch)
}

/// The result of a run, by the last part of the URL.
fn track(home: &Home) -> BTreeMap<String, (String, String)> {
    home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    let report = home.orb(&["report", PROJECT, "--json", "--flag", "new,upd,mis,err,sam"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = report.expect(0).json()["changes"].as_array().unwrap().clone();
    let name = |row: &Value| text(&row["url"]).rsplit('/').next().unwrap().to_owned();
    rows.iter().map(|row| (name(row), (text(&row["flag"]), text(&row["detail"])))).collect()
}

#[test]
fn noise_of_every_kind_is_told_from_changes_of_every_size_without_a_rule() {
    let (server, epoch) = site();
    let home = Home::new();
    home.crawl(&[format!("http://127.0.0.1:{}/", server.port()).as_str(), "--delay", "0"]);
    epoch.store(1, Ordering::SeqCst);
    let said = track(&home);
    for number in 0..PAGES + 3 {
        let expected = match number {
            n if n >= PAGES => "NEW",
            n if n % 30 == 7 => "MIS",
            n if n % 11 == 5 => "UPD",
            _ => "SAM",
        };
        let (flag, detail) = &said[&number.to_string()];
        assert_eq!(flag, expected, "page {number}: {detail}");
    }
    let (_, detail) = &said["5"];
    assert!(detail.starts_with("1 changed; div#main p: ") && detail.contains("for 23 EUR\" became"), "{detail}");
    // Later nothing is edited, and most of the noise is known.
    let pages = || server.heard().iter().filter(|h| h.target[1..].parse::<u64>().is_ok()).count();
    let before = pages();
    let again = track(&home);
    let changed: Vec<_> = again.iter().filter(|(_, (flag, _))| flag != "SAM" && flag != "MIS").collect();
    assert!(changed.is_empty(), "{changed:?}");
    let asked = pages() - before;
    assert!(asked < 100, "{asked} requests for {} pages", PAGES + 3);
}

/// A page for each rule: its two versions.
const RULED: [(&str, &str, &str, &str); 9] = [
    ("bytes", "<p>a</p>", "<p>a </p>", "UPD"),
    ("text", "<p>a</p>", "<p class=x>a </p>", "SAM"),
    ("main", "<nav>x</nav><main><p>a</main>", "<nav>y</nav><main><p>a</main>", "SAM"),
    ("select", "<i class=price>1 EUR</i><p>a", "<i class=price>1 EUR</i><p>b", "SAM"),
    ("select2", "<i class=price>1 EUR</i><p>a", "<i class=price>2 EUR</i><p>a", "UPD"),
    ("selectnone", "<p>a", "<p>b", "ERR"),
    ("ignore", "<p>It has 10 views, all told", "<p>It has 11 views, all told", "SAM"),
    ("program", "<p>aa", "<p>bb", "SAM"),
    ("programfails", "<p>aa", "<p>boom", "ERR"),
];

#[test]
fn rules_decide_by_pattern_and_a_program_that_fails_is_an_error_of_its_page() {
    let epoch = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&epoch);
    let server = Script::serve(move |heard| {
        let name = heard.target.trim_start_matches('/');
        let found = RULED.iter().find(|(n, ..)| *n == name);
        let html = match (found, now.load(Ordering::SeqCst)) {
            (Some((_, old, _, _)), 0) => old,
            (Some((_, _, new, _)), _) => new,
            _ if name.is_empty() => return page(RULED.iter().map(|(n, ..)| format!("/{n}"))),
            _ => return absent(),
        };
        reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><body>{html}"))
    });
    let home = Home::new();
    let program = "import json,sys\nfor l in sys.stdin:\n    q = json.loads(l)\n    assert 'boom' not in q['new'], 'too loud'\n    \
        print(json.dumps({'id': q['id'], 'same': len(q['old']) == len(q['new'])}), flush=True)\n";
    std::fs::write(home.beside("compare.py"), program).unwrap();
    let file = home.beside("p.toml");
    let text = format!(
        "seeds = ['http://127.0.0.1:{}/']\nfrontier.delay = '0s'\n\
        [[track.compare]]\nmatch = '/bytes$'\nby = 'bytes'\n[[track.compare]]\nmatch = '/main$'\nby = 'main'\n\
        [[track.compare]]\nmatch = '/select'\nby = 'selector'\ninclude = ['.price']\n\
        [[track.compare]]\nmatch = '/ignore$'\nignore = ['\\d+ views']\n\
        [[track.compare]]\nmatch = '/program'\nprogram = ['python3', 'compare.py']\n",
        server.port()
    );
    std::fs::write(&file, &text).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    epoch.store(1, Ordering::SeqCst);
    let said = track(&home);
    for (name, _, _, expected) in RULED {
        let (flag, detail) = &said[name];
        assert_eq!(flag, expected, "{name}: {detail}");
    }
    assert!(said["selectnone"].1.contains("nothing on the page matches include = .price"), "{said:?}");
    assert!(
        said["programfails"].1.contains("compare.py ended") && said["programfails"].1.contains("too loud"),
        "{said:?}"
    );
    std::fs::write(&file, text.replace("'.price'", "'>>'")).unwrap();
    let refused = home.orb(&["crawl", file.to_str().unwrap(), "--project", PROJECT]);
    assert!(refused.complaint(1).contains("p.toml:12:12: '>>' is not a CSS selector"), "{refused}");
}
