//! Is a page reported as the same if it differs only around its main content?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT};
use harness::script::{Script, absent, page, reply};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What everybody came for.
const PROSE: &str = "The bridge over the river was opened on a rainy morning, and although the council had \
    promised a band, nobody but the mayor and two engineers walked across it before noon. By the evening, \
    however, half of the town had been on the other side, bought bread there, and come back.";

/// The pages of the site.
const PAGES: [&str; 10] = ["ad", "both", "bare", "title", "moved", "quiet", "front", "gone", "small", "counted"];

/// An advertisement that stays for a day.
fn slogan(day: u64) -> String {
    format!("Buy {} from the shop around the corner", ["shoes", "tea", "lamps", "chairs", "clocks"][day as usize % 5])
}

/// An article with what surrounds it.
fn article(title: &str, aside: &str, prose: &[&str]) -> String {
    let prose: String = prose.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    let menu: String = (0..6).map(|n| format!("<li><a href=/?s={n}>Section {n}</a></li>")).collect();
    format!(
        "<!doctype html><title>{title}</title><body><nav><ul>{menu}</ul></nav>\n<article><h1>The bridge</h1>\n{prose}</article>\n\
         {aside}<footer><p>All rights reserved</p></footer>"
    )
}

/// A page of the site on a day.
fn body(name: &str, day: u64) -> String {
    let said = |what: &str| format!("{PROSE} That was {what}.");
    let (first, second, edited) = (said("the first day"), said("the second day"), said("the third day"));
    let ad = format!("<aside class=\"advertisement\"><p>{}</p></aside>\n", slogan(day));
    let plain = [&*first, &second];
    match name {
        "both" if day >= 3 => article(name, &ad, &[&first, &edited]),
        "counted" => {
            let seen = format!("By Ann Lee, {} views, {day} comments", 500 + 13 * day);
            article(name, "", &[&seen, &first, if day >= 3 { &edited } else { &second }])
        }
        "title" if day >= 3 => article("Another title", "", &plain),
        "moved" if day >= 3 => article("Moved", "", &[&first, &slogan(1), &second]),
        "moved" => article("Moved", &format!("<aside class=ad><p>{}</p></aside>", slogan(1)), &plain),
        "bare" => format!("<!doctype html><title>Bare</title><p>{}</p>", slogan(day)),
        "gone" if day == 2 => article(name, "", &plain),
        "quiet" => article("Quiet", "", &plain),
        "front" => {
            let links: String =
                (0..day.clamp(2, 3)).map(|n| format!("<li><a href=/?n={n}>Notice {n}</a></li>")).collect();
            format!(
                "<!doctype html><title>Front</title><h1>The bridge</h1><p>{first}</p><p>{second}</p><ul>{links}</ul>"
            )
        }
        "small" => {
            format!(
                "<!doctype html><title>Small</title><main><p>Open today.</p></main><div class=ad>{}</div>",
                slogan(day)
            )
        }
        name => article(name, &ad, &plain),
    }
}

fn at(script: &Script, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", script.port())
}

/// The site, crawled on the first day with these settings.
fn crawled(settings: &str) -> (Script, Arc<AtomicU64>, Home) {
    let day = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&day);
    let script = Script::serve(move |heard| match heard.target.trim_start_matches('/') {
        "" => page(PAGES.iter().map(|name| format!("/{name}"))),
        name if PAGES.contains(&name) => {
            reply("200 OK", "Content-Type: text/html\r\n", &body(name, now.load(Ordering::Relaxed)))
        }
        _ => absent(),
    });
    let home = Home::new();
    let file = home.beside("p.toml");
    let text = format!("seeds = ['{}']\nfrontier.delay = '0s'\nindex.enabled = false\n{settings}", at(&script, "/"));
    std::fs::write(&file, text).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    (script, day, home)
}

/// Tracks on a day; returns what the report says of each page: flag and detail.
fn track(home: &Home, day: &AtomicU64, today: u64) -> BTreeMap<String, (String, String)> {
    day.store(today, Ordering::Relaxed);
    home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    listed(&home.orb(&["report", PROJECT, "--json", "--flag", "new,upd,mis,err,sam"]))
}

/// The documents of a JSON report, by name.
fn listed(report: &Finished) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = |row: &Value| text(&row["url"]).rsplit('/').next().unwrap().to_owned();
    let json = report.expect(0).json();
    let rows = json["changes"].as_array().unwrap();
    rows.iter().map(|row| (name(row), (text(&row["flag"]), text(&row["detail"])))).collect()
}

fn flags<'a>(said: &'a BTreeMap<String, (String, String)>, flag: &str) -> BTreeSet<&'a str> {
    said.iter().filter(|(name, (is, _))| is == flag && !name.is_empty()).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn advertisements_of_the_day_are_no_change_and_what_is_written_is() {
    let (script, day, home) = crawled("");
    let said = track(&home, &day, 2);
    assert_eq!(flags(&said, "UPD"), ["bare"].into(), "it has no main content: {said:?}");
    let around = |today: u64| {
        let (before, now) = (slogan(today - 1), slogan(today));
        let words = |text: &str| text.split(" from").next().unwrap().to_owned();
        format!(
            "around: 1 changed; aside.advertisement p: \"{} from the shop\" became \"{} from the shop\"",
            words(&before),
            words(&now)
        )
    };
    assert_eq!(said["ad"].1, around(2));
    assert_eq!((said["gone"].0.as_str(), said["quiet"].1.as_str()), ("SAM", ""), "{said:?}");
    assert!(said["gone"].1.contains("is gone"), "{said:?}");
    // Nobody needs a second look at an advertisement.
    assert_eq!(script.heard().iter().filter(|heard| heard.target == "/ad").count(), 2);

    let said = track(&home, &day, 3);
    assert_eq!(flags(&said, "UPD"), ["both", "bare", "counted", "front", "title", "moved"].into(), "{said:?}");
    assert!(said["counted"].1.starts_with("1 changed; p: "), "how often it was read is no change: {said:?}");
    assert!(said["both"].1.starts_with("1 changed; p: "), "the advertisement is not the change: {said:?}");
    let diff = home.orb(&["diff", PROJECT, &at(&script, "/both")]);
    assert!(diff.expect(0).text().contains("the third day"), "{diff}");

    // Told once: later versions are compared with the edited one.
    let said = track(&home, &day, 4);
    assert_eq!(flags(&said, "UPD"), ["bare"].into(), "{said:?}");
    assert_eq!(said["both"].1, around(4), "compared with the version last reported");
    assert_eq!(home.catalogue().number("SELECT count(*) FROM change WHERE url LIKE '%/both'"), 1);
    let again = track(&home, &day, 4);
    assert!(flags(&again, "UPD").is_empty(), "{again:?}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn what_changed_around_is_listed_and_every_visit_says_so() {
    let (script, day, home) = crawled("");
    track(&home, &day, 2);
    let report = |more: &[&str]| home.orb(&[&["report", PROJECT], more].concat());
    let json = report(&["--json", "--around"]);
    let said = listed(&json);
    assert_eq!(flags(&said, "SAM"), ["ad", "both", "counted", "title", "gone", "small"].into());
    assert!(said.len() == 6 && said.values().all(|(_, detail)| detail.starts_with("around: ")), "{said:?}");
    assert_eq!(json.json()["around"], 6);
    let both = listed(&report(&["--json", "--around", "--flag", "UPD,SAM"]));
    assert_eq!((both.len(), flags(&both, "UPD")), (7, ["bare"].into()), "{both:?}");
    assert_eq!(listed(&report(&["--json", "--around", "--limit", "3", "--offset", "4"])).len(), 2);
    let paged = report(&["--json", "--around", "--flag", "UPD,SAM", "--limit", "3", "--offset", "4"]);
    assert_eq!(listed(&paged).len(), 3, "{paged}");
    let shown = report(&["--around"]);
    let text = shown.expect(0).text();
    for line in ["6 SAM changed around their main content", "\nSAM, changed around (6)\n", "around: 1 changed; aside"] {
        assert!(text.contains(line), "no {line:?}: {shown}");
    }
    assert!(!text.contains("/quiet"), "{shown}");
    assert!(report(&["--format", "csv", "--around"]).expect(0).text().contains("/ad,ad,,\"around: "));
    assert!(report(&["--format", "html", "--around"]).expect(0).text().contains("\"detail\":\"around: "));
    let url = at(&script, "/ad");
    let visits = home.orb(&["show", PROJECT, &url, "--json"]).expect(0).json()["visits"].clone();
    assert!(visits[0]["around"].as_str().unwrap().starts_with("around: 1 changed"), "{visits}");
    assert!(visits[1].get("around").is_none(), "{visits}");
    assert!(home.orb(&["show", PROJECT, &url]).expect(0).text().contains("around: 1 changed"));
    let said = "SELECT count(*) FROM visit WHERE run = 2 AND flag = 'SAM' AND around NOTNULL";
    assert_eq!(home.catalogue().number(said), 6);
    // It is no change: neither the feed nor the exit code knows of it.
    let feed = home.orb(&["changes", PROJECT]);
    assert!(!feed.expect(0).text().contains("around: "), "{feed}");
    track(&home, &day, 2);
    home.orb(&["report", PROJECT, "--fail-on-change"]).expect(0);
    home.orb(&["report", PROJECT, "--around"]).expect(0);
}

#[test]
fn the_strict_reading_is_a_setting_of_the_project_or_of_a_rule() {
    let (_script, day, home) = crawled("track.around = 'change'\n");
    let said = track(&home, &day, 2);
    assert_eq!(flags(&said, "UPD"), ["ad", "both", "bare", "counted", "title", "gone", "small"].into(), "{said:?}");
    assert!(listed(&home.orb(&["report", PROJECT, "--json", "--around"])).is_empty());
    let (_script, day, home) = crawled("[[track.compare]]\nmatch = '/ad$'\nby = 'text'\n");
    let said = track(&home, &day, 2);
    assert_eq!(flags(&said, "UPD"), ["ad", "bare"].into(), "{said:?}");
    let file = home.beside("wrong.toml");
    std::fs::write(&file, "seeds = ['http://127.0.0.1:9/']\ntrack.around = 'never'\n").unwrap();
    let refused = home.orb(&["crawl", file.to_str().unwrap(), "--project", "other"]);
    assert!(refused.complaint(1).contains("known here: ignore, change"), "{refused}");
}
