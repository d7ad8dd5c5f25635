//! Is a project run when it is due, and only then?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home};
use harness::script::{Script, absent, page};
use serde_json::Value;
use std::fs;

/// A project that was never run, with this schedule.
fn project(home: &Home, name: &str, seed: &str, schedule: &str) {
    home.orb(&["project", "new", name, "--seed", seed]).expect(0);
    let file = home.path().join(name).join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (settings, end) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&file, format!("{settings}\n[schedule]\n{schedule}\n{end}\n")).unwrap();
}

fn seed(server: &Script) -> String {
    format!("http://127.0.0.1:{}/", server.port())
}

/// Runs what is due this many hours from now.
fn run_due(home: &Home, hours: i64, more: &[&str]) -> Finished {
    let now = orb_page::Moment::now().0 + hours * 3_600_000 + 1;
    let now = orb_page::Moment(now).to_string();
    home.orb(&[&["run-due", "--json", "--progress", "none", "--now", &now], more].concat())
}

/// The projects that ran, and what was done.
fn ran(finished: &Finished) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let account = finished.json();
    account["ran"].as_array().unwrap().iter().map(|one| (text(&one["project"]), text(&one["kind"]))).collect()
}

fn pair(project: &str, kind: &str) -> (String, String) {
    (project.to_owned(), kind.to_owned())
}

#[test]
fn a_project_is_crawled_when_it_is_due_and_not_before() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    project(&home, "a", &seed(&server), "every = '6h'");
    // About twelve hours from now: Berlin is one hour ahead in winter, two in summer.
    let now = orb_page::Moment::now().0 / 3_600_000;
    let hour = |ahead: i64| (now + ahead) % 24;
    let (winter, summer) = (hour(12), hour(11));
    project(&home, "b", &seed(&server), &format!("cron = '30 {} * * *'\nzone = 'Europe/Berlin'", hour(13)));
    project(&home, "c", &seed(&server), "every = '6h'\nnot_before = '2999-01-01'");
    home.orb(&["project", "new", "d", "--seed", &seed(&server)]).expect(0);

    let planned = run_due(&home, 0, &["--dry-run"]);
    assert_eq!(ran(planned.expect(0)), []);
    let next = planned.json()["next"].clone();
    let due = |n: usize| (next[n]["project"].as_str().unwrap(), next[n]["is_due"].as_bool().unwrap());
    assert_eq!((next.as_array().unwrap().len(), due(0), due(1), due(2)), (3, ("a", true), ("b", false), ("c", false)));
    assert!(next[2]["due"].as_str().unwrap().starts_with("2999-01-01T00:00:00"), "{planned}");

    let first = run_due(&home, 0, &[]);
    assert_eq!(ran(first.expect(0)), [pair("a", "crawl")]);
    assert_eq!(first.json()["ran"][0]["summary"]["pages"], 2, "{first}");
    assert_eq!(ran(run_due(&home, 0, &[]).expect(0)), [], "it has been");
    assert_eq!(ran(run_due(&home, 5, &[]).expect(0)), [], "six hours have not passed");
    assert_eq!(ran(run_due(&home, 25, &["--dry-run"]).expect(0)), [], "nothing is run that is only asked about");
    let later = run_due(&home, 25, &[]);
    assert_eq!(ran(later.expect(0)), [pair("a", "track"), pair("b", "crawl")]);
    assert_eq!(later.json()["ran"][0]["summary"]["flags"]["SAM"], 2, "{later}");
    let status = home.orb(&["status", "b", "--json"]);
    let time = status.expect(0).json()["next_due"].as_str().unwrap().to_owned();
    let is_at = |hour: i64| time.ends_with(&format!("T{hour:02}:30:00.000Z"));
    assert!(is_at(winter) || is_at(summer), "{status}");
}

#[test]
fn a_project_that_fails_does_not_keep_the_others_from_running() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    project(&home, "a", &seed(&server), "every = '1h'");
    project(&home, "b", &seed(&server), "every = 'often'");
    project(&home, "c", &seed(&server), "every = '1h'");
    project(&home, "d", &seed(&server), "every = '1h'\ncron = '@daily'");
    let finished = run_due(&home, 0, &[]);
    let failed: Vec<(String, bool)> = finished.json()["ran"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["project"].as_str().unwrap().to_owned(), one["error"].is_string()))
        .collect();
    let wanted = [("a", false), ("b", true), ("c", false), ("d", true)].map(|(name, failed)| (name.to_owned(), failed));
    assert_eq!(failed, wanted, "{finished}");
    assert_eq!((finished.code, finished.stderr.lines().count()), (Some(1), 2), "{finished}");
    assert!(
        finished.stderr.contains("project.toml:") && finished.stderr.contains("'often' is not a duration"),
        "{finished}"
    );
    assert!(finished.stderr.contains("say every or cron, not both"), "{finished}");
}

#[test]
fn what_is_due_next_is_said_in_the_zone_of_the_schedule() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    let none = home.orb(&["run-due"]);
    assert!(none.expect(0).text().contains("no project has a schedule"), "{none}");
    project(&home, "a", &seed(&server), "cron = '0 0 1 1 *'\nzone = 'Asia/Tokyo'");
    let next = home.orb(&["run-due", "--dry-run", "--now", "2026-06-01T00:00:00Z"]);
    let line = next.expect(0).text().lines().last().unwrap().to_owned();
    assert!(line.starts_with("a        crawl  20") && line.ends_with("-01-01 00:00 Asia/Tokyo"), "{next}");
    let wrong = home.orb(&["run-due", "--now", "soon"]);
    assert!(wrong.expect(2).stderr.contains("write it like 2026-11-15T06:30:00Z"), "{wrong}");
}

/// A site with a front page and ten others, crawled once.
fn crawled(home: &Home, settings: &str) -> Script {
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/" => page(["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"]),
        "/robots.txt" => absent(),
        _ => page(["/"; 0]),
    });
    let file = home.beside("p.toml");
    fs::write(&file, format!("name = 'p'\nseeds = ['{}']\nfrontier.delay = '0s'\n{settings}\n", seed(&server)))
        .unwrap();
    let first = home.orb(&["crawl", file.to_str().unwrap(), "--json", "--progress", "none"]);
    assert_eq!(first.expect(0).number("pages"), 11, "{first}");
    server
}

fn track(home: &Home, more: &[&str]) -> Finished {
    home.orb(&[&["track", "p", "--json", "--progress", "none"], more].concat())
}

#[test]
fn a_run_visits_as_many_pages_as_it_may_and_the_seeds() {
    let home = Home::new();
    let _server = crawled(&home, "");
    let some = track(&home, &["--budget", "3"]);
    let (known, same) = (some.expect(0).number("known"), some.json()["flags"]["SAM"].as_u64().unwrap());
    assert!((3..=4).contains(&known) && same == known, "{some}");
    let all = track(&home, &[]);
    assert_eq!(all.expect(0).number("known"), 11, "{all}");
    let none = track(&home, &["--due"]);
    assert!(none.complaint(1).contains("[track] budget = \"5000/d\""), "{none}");
    home.orb(&["track", "p", "--due", "--budget", "3"]).expect(2);
}

#[test]
fn under_a_budget_every_page_has_its_day_and_only_what_is_due_is_visited() {
    let home = Home::new();
    let _server = crawled(&home, "track.budget = '24/d'");
    let dues = home.catalogue().rows("SELECT url, next_due FROM page WHERE kind IN ('HTML', 'DUPLICATE')");
    assert_eq!(dues.len(), 11);
    assert!(dues.iter().all(|row| row[1].starts_with("20")), "{dues:?}");
    let run = track(&home, &["--due"]);
    assert_eq!(run.expect(0).number("known"), 1, "nothing is due so soon, and the seed comes along: {run}");
    let show = home.orb(&["show", "p", &dues[1][0]]);
    assert!(show.expect(0).text().contains("\ndue      20"), "{show}");
}

#[test]
fn ways_of_choosing_are_compared_on_made_up_pages_and_on_recorded_visits() {
    let home = Home::new();
    let mix = home.beside("mix.toml");
    let pages = |every: &str| format!("[[pages]]\nname = 'x'\ncount = 40\nevery = '{every}'\nspread = 2\n");
    fs::write(&mix, format!("budget = '2/d'\nspan = '200d'\n{}{}", pages("1h"), pages("60d"))).unwrap();
    let mix = mix.to_str().unwrap();
    let compared = home.orb(&["track", "--simulate", "--history", mix, "--json"]);
    let account = compared.expect(0).json();
    let fresh = |n: usize| account["policies"][n]["freshness"].as_f64().unwrap();
    let names: Vec<&str> = (0..4).map(|n| account["policies"][n]["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["uniform", "proportional", "known", "learning"]);
    assert!(fresh(2) > 1.2 * fresh(0) && fresh(3) > fresh(0) && fresh(1) < fresh(0), "{compared}");
    let words = home.orb(&["track", "--simulate", "--history", mix, "--policies", "known"]);
    assert!(words.expect(0).text().contains("80 pages, 200.0 days, 2.0 visits a day"), "{words}");

    fs::write(mix, "budget = '2/d'\nspan = 'long'\npages = []\n").unwrap();
    let wrong = home.orb(&["track", "--simulate", "--history", mix]);
    assert!(wrong.complaint(1).contains("mix.toml:2:8: 'long' is not a duration"), "{wrong}");
    let _server = crawled(&home, "");
    let unseen = home.orb(&["track", "p", "--simulate"]);
    assert!(unseen.complaint(1).contains("no page was visited twice yet"), "{unseen}");
    track(&home, &[]).expect(0);
    let recorded = home.orb(&["track", "p", "--simulate", "--json"]);
    assert_eq!(recorded.expect(0).json()["pages"], 11, "{recorded}");
    let fresh = recorded.json()["policies"][0]["freshness"].as_f64();
    assert!(fresh.is_some_and(|fresh| fresh > 0.999), "nothing changed: {recorded}");
}
