//! Does a report show what the run found, in every format?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::history::{Told, later_run};
use harness::orb::{Finished, Home, PROJECT, Running};
use harness::script::{Script, absent, page, reply};
use harness::web::World;
use orb_testweb::Feature;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A title that would run as a script if unescaped.
const TITLE: &str = "Page </script><script>alert(1)</script>, \"quoted\" & more";

/// A site with a front page and eight others, crawled.
fn crawled() -> (Script, Home) {
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page((1..=8).map(|n| format!("/{n}"))),
        other => {
            let title = TITLE.replace('&', "&amp;").replace('<', "&lt;");
            let words = format!("<h1>Heading</h1><p>The words of {other} are these.</p><p>And some that stay.</p>");
            reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><title>{title}</title>{words}"))
        }
    });
    let home = Home::new();
    home.crawl(&[&format!("http://127.0.0.1:{}/", server.port()), "--delay", "0"]);
    (server, home)
}

fn url(server: &Script, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", server.port())
}

/// The site with a later run: one new, two updated, one moved, one failed, five the same.
fn tracked() -> (Script, Home) {
    let (server, home) = crawled();
    let at: Vec<String> = (0..=9).map(|n| url(&server, &format!("/{n}"))).collect();
    let said = [
        Told { like: &at[1], ..Told::new(&at[9], "NEW") },
        Told { like: &at[5], detail: Some("1 of 3 lines, \"quoted\""), ..Told::new(&at[2], "UPD") },
        Told { like: &at[6], ..Told::new(&at[1], "UPD") },
        Told { moved: Some(&at[9]), ..Told::new(&at[3], "MIS") },
        Told { detail: Some("no answer in time"), ..Told::new(&at[4], "ERR") },
    ];
    assert_eq!(later_run(&home, &said), 2);
    (server, home)
}

fn report(home: &Home, more: &[&str]) -> Finished {
    home.orb(&[&["report", PROJECT], more].concat())
}

/// The documents of a JSON report: flag and path.
fn listed(report: &Finished) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let path = |url: String| url.rsplit('/').next().unwrap().to_owned();
    let json = report.expect(0).json();
    json["changes"].as_array().unwrap().iter().map(|row| (text(&row["flag"]), path(text(&row["url"])))).collect()
}

#[test]
fn the_account_adds_up_and_is_told_in_words() {
    let (server, home) = tracked();
    let finished = report(&home, &[]);
    let text = finished.expect(0).text();
    for line in [
        "project p, run 2 (track): done in 2.5 s",
        "NEW 1  SAM 5  UPD 2  MIS 1  ERR 1",
        "known before: 9 = 5 SAM + 2 UPD + 1 MIS + 1 ERR",
        "\nUPD (2)\n",
        "1 of 3 lines, \"quoted\"",
        &format!("moved to {}", url(&server, "/9")),
        "no answer in time",
    ] {
        assert!(text.contains(line), "no {line:?}:\n{text}");
    }
    assert!(!text.contains("\nSAM"), "{text}");
    let first = report(&home, &["--run", "1"]);
    assert!(first.expect(0).text().contains("NEW 9  SAM 0"), "{first}");
    assert!(first.text().contains("known before: 0 = 0 SAM"), "{first}");
    let none = report(&home, &["--run", "7"]);
    assert!(none.complaint(1).contains("project p has no run 7"), "{none}");
}

#[test]
fn a_report_tells_what_the_run_counted() {
    let world = World::with(&[Feature::Changes]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    let before: Vec<String> = home.catalogue().pages().into_keys().collect();
    world.server.web().set_epoch(1);
    let track = ["track", PROJECT, "--json", "--progress", "none", "--fail-on-change"];
    let tracked = home.orb(&track);
    tracked.expect(3);
    let (run, told) = (tracked.json(), report(&home, &["--json", "--flag", "new,upd,mis,err,sam"]));
    let told_json = told.expect(0).json();
    assert_eq!(told_json["flags"], run["flags"], "{run}");
    assert_eq!((&told_json["known"], &told_json["unaccounted"]), (&run["known"], &0.into()), "{told}");
    let documents = listed(&told);
    for flag in ["NEW", "SAM", "UPD", "MIS", "ERR"] {
        let count = documents.iter().filter(|(f, _)| f == flag).count() as u64;
        assert_eq!(run["flags"][flag].as_u64(), Some(count), "{flag}: {told}");
    }
    let is = |flag: &str, name: &str| assert!(documents.contains(&(flag.into(), name.into())), "{flag} {name}: {told}");
    is("NEW", "appears-at-1.html");
    is("UPD", "always-1.html");
    is("MIS", "vanishes-at-1.html");
    is("ERR", "fails-at-1.html");
    is("SAM", "steady-1.html");
    assert!(before.iter().any(|url| url.ends_with("steady-1.html")));
    let kept: Value = serde_json::from_slice(&fs::read(home.project().join("runs/2/report.json")).unwrap()).unwrap();
    assert_eq!((&kept["account"]["known"], &kept["account"]["unaccounted"]), (&run["known"], &0.into()), "{kept}");
    assert_eq!(kept["flags"], run["flags"]);
    // Nothing has happened since.
    home.orb(&track).expect(0);
}

#[test]
fn documents_are_listed_by_flag_and_address_page_by_page() {
    let (_server, home) = tracked();
    let all = listed(&report(&home, &["--json", "--flag", "new,upd,mis,err,sam"]));
    let order: Vec<&str> = all.iter().map(|(flag, _)| flag.as_str()).collect();
    assert_eq!(order, ["NEW", "UPD", "UPD", "MIS", "ERR", "SAM", "SAM", "SAM", "SAM", "SAM"]);
    assert_eq!((all[1].1.as_str(), all[2].1.as_str()), ("1", "2"));
    assert_eq!(listed(&report(&home, &["--json"])), all[..5]);
    for size in [1, 3, 4] {
        let mut pieces = Vec::new();
        for offset in (0..12).step_by(size) {
            let (size, offset) = (size.to_string(), offset.to_string());
            let args = ["--json", "--flag", "NEW,UPD,MIS,ERR,SAM", "--limit", &size, "--offset", &offset];
            pieces.extend(listed(&report(&home, &args)));
        }
        assert_eq!(pieces, all, "in pieces of {size}");
    }
    let some = report(&home, &["--limit", "2"]);
    assert!(some.expect(0).text().contains("… 3 more: --flag NEW,UPD,MIS,ERR --offset 2"), "{some}");
    let json = report(&home, &["--json"]).json();
    assert_eq!((&json["known"], &json["unaccounted"], &json["flags"]["SAM"]), (&9.into(), &0.into(), &5.into()));
    assert_eq!((&json["kind"], &json["acknowledged"]), (&"track".into(), &Value::Null));
}

#[test]
fn csv_has_a_line_for_each_document_and_quotes_what_needs_it() {
    let (server, home) = tracked();
    let file = home.beside("report.csv");
    report(&home, &["--format", "csv", "--out", file.to_str().unwrap()]).expect(0);
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[0].starts_with("flag,url,title,moved_to,detail,at,status"), "{text}");
    let quoted =
        format!("UPD,{},\"{}\",,\"1 of 3 lines, \"\"quoted\"\"\",", url(&server, "/2"), TITLE.replace('"', "\"\""));
    assert!(lines[3].starts_with(&quoted), "{quoted}\n{text}");
    let again = report(&home, &["--format", "csv", "--out", file.to_str().unwrap()]);
    assert!(again.complaint(1).contains("--force"), "{again}");
    report(&home, &["--format", "csv", "--out", file.to_str().unwrap(), "--force"]).expect(0);
}

#[test]
fn scripts_can_ask_whether_anything_changed() {
    let (_server, home) = tracked();
    let changed = report(&home, &["--fail-on-change", "--quiet"]);
    changed.expect(3);
    assert!(changed.stderr.is_empty(), "{changed}");
    later_run(&home, &[]);
    report(&home, &["--fail-on-change"]).expect(0);
    report(&home, &["--fail-on-change", "--run", "2"]).expect(3);
}

#[test]
fn an_acknowledgement_is_kept_with_its_run() {
    let (_server, home) = tracked();
    let ack = ["project", "ack", PROJECT, "--by", "jo", "--note", "looks fine", "--json"];
    let acked = home.orb(&ack);
    assert_eq!((&acked.expect(0).json()["run"], &acked.json()["by"]), (&2.into(), &"jo".into()));
    let told = report(&home, &[]);
    assert!(told.expect(0).text().contains(" by jo: looks fine"), "{told}");
    assert_eq!(report(&home, &["--json"]).json()["acknowledged"]["note"], "looks fine");
    let rows = home.orb(&["sql", PROJECT, "SELECT run, by FROM ack", "--json"]);
    assert_eq!(rows.expect(0).json()[0]["by"], "jo");
    let none = home.orb(&["project", "ack", PROJECT, "--run", "9"]);
    assert!(none.complaint(1).contains("has no run 9"), "{none}");
}

/// A page as rendered by Debian's browser, as HTML or as an image.
fn browser(home: &Home, url: &str, more: &[&str]) -> Finished {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1000"]);
    command.args(["--virtual-time-budget=10000", "--host-resolver-rules=MAP * ~NOTFOUND"]).args(more).arg(url);
    // The browser's profile and state belong to the test.
    command.env("HOME", home.beside("browser")).current_dir(home.beside("browser"));
    let finished = Running::start(command).finish();
    finished.expect(0);
    finished
}

#[test]
fn the_page_shows_counts_filters_and_versions_side_by_side() {
    let (server, home) = tracked();
    fs::create_dir(home.beside("browser")).unwrap();
    let file = home.beside("report.html");
    report(&home, &["--format", "html", "--out", file.to_str().unwrap(), "--flag", "new,upd,mis,err,sam"]).expect(0);
    let source = fs::read_to_string(&file).unwrap();
    assert_eq!(source.matches("</script>").count(), 2, "a title is more than text");
    let address = format!("file://{}", file.display());
    let whole = browser(&home, &address, &["--dump-dom"]);
    let dom = whole.text();
    assert!(dom.contains("data-ready=\"yes\""), "the script did not come to its end: {whole}");
    assert!(dom.contains("10 of 10 documents"), "{whole}");
    assert!(dom.contains("<b>5</b><span>SAM") && dom.contains("known before: 9 = 5 SAM + 2 UPD + 1 MIS + 1 ERR"));
    let body = dom.split("<tbody>").nth(1).unwrap();
    assert_eq!(body.matches("<abbr class=\"flag\"").count(), 10, "{whole}");
    assert!(body.contains("moved to <a class=\"address\""));
    // Only the updated documents, one of them expanded.
    let seq = home.catalogue().number("SELECT seq FROM change_row WHERE flag = 2 AND detail NOTNULL");
    let view = format!("{address}#flag=UPD&find=%2F2&open={seq}");
    let chosen = browser(&home, &view, &["--dump-dom"]);
    let dom = chosen.text();
    assert!(dom.contains("1 of 10 documents") && dom.contains("aria-expanded=\"true\""), "{chosen}");
    let versions = dom.split("class=\"versions\"").nth(1).unwrap();
    assert!(versions.contains("Before: run 1") && versions.contains("After: run 2"), "{versions}");
    assert!(
        versions.contains("<del>") && versions.contains("<ins>") && versions.contains("And some that stay."),
        "{versions}"
    );
    assert!(dom.contains(&url(&server, "/2")) && !dom.split("<tbody>").nth(1).unwrap().contains(&url(&server, "/3\"")));
    let shot = home.beside("report.png");
    browser(&home, &format!("{address}#open={seq}"), &[&format!("--screenshot={}", shot.display())]);
    let picture = fs::read(&shot).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{} bytes", picture.len());
    if let Some(keep) = std::env::var_os("ORB_KEEP_PICTURE") {
        fs::copy(&shot, keep).unwrap();
    }
}
