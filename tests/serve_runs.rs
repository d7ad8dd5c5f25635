//! Are runs started, watched and stopped from the web, and settings changed by those who may?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::held::{HeldSite, Manner};
use harness::orb::Home;
use harness::served::{HttpReply, Served, add_user};
use harness::until;
use rustix::process::Signal;

/// A home with a project `p` that starts here, an administrator, and somebody who may edit `p`.
fn inhabited(seed: &str) -> Home {
    let home = Home::new();
    home.orb(&["project", "new", "p", "--seed", seed]).expect(0);
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", "p", "edit"]).expect(0);
    home
}

/// The cookie of somebody who has logged in.
fn cookie(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

/// Sends JSON.
fn send(served: &Served, path: &str, fields: &[(&str, &str)], body: &str) -> HttpReply {
    served.send(&format!("POST {path}"), &[&[("Content-Type", "application/json")], fields].concat(), body)
}

/// What a form encodes as.
fn encoded(text: &str) -> String {
    let byte = |b: u8| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") };
    text.bytes().map(byte).collect()
}

/// The value of a hidden field of a page.
fn hidden<'p>(page: &'p str, name: &str) -> &'p str {
    page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap().split('"').next().unwrap()
}

#[test]
fn a_run_outlives_the_server_that_started_it_and_is_stopped_by_another() {
    outlived_by(Signal::TERM, Some(130));
}

#[test]
fn a_run_outlives_a_server_that_is_killed() {
    outlived_by(Signal::KILL, None);
}

/// A run whose server ends by a signal and is started again.
fn outlived_by(signal: Signal, code: Option<i32>) {
    let site = HeldSite::serve(Manner::Silent);
    let home = inhabited(&site.url("/"));
    let first = Served::start(&home, &[]);
    let bob = cookie(&first, "bob");
    let started = first.post("/p/p/runs", &[("Cookie", &bob)], "kind=crawl");
    assert_eq!((started.status, started.header("location")), (303, Some("/p/p/runs/1/live")), "{started:?}");
    let again = first.post("/p/p/runs", &[("Cookie", &bob)], "kind=crawl");
    assert!(again.status == 409 && again.body.contains("is running"), "{again:?}");
    until("the site is asked", || site.asked() > 0);
    assert_eq!(first.stop(signal), code);
    let second = Served::start(&home, &[]);
    let with = [("Cookie", bob.as_str())];
    let live = second.get("/p/p/runs/1/live", &with);
    assert!(live.body.contains("started by bob") && live.body.contains("data-events"), "{}", live.body);
    assert_eq!(second.get("/p/p/runs/2/live", &with).status, 404);
    assert_eq!(second.post("/p/p/runs/1/stop", &with, "").status, 303);
    // The stream ends with the run.
    let events = second.get("/p/p/runs/1/events", &with);
    assert!(events.body.contains("event: piece") && events.body.contains("event: end"), "{events:?}");
    let ended = second.get("/p/p/runs/1/live", &[("Cookie", &bob), ("Accept", "application/json")]).json();
    assert_eq!((&ended["status"]["state"], &ended["asked_by"]), (&"stopped".into(), &"bob".into()), "{ended}");
    assert_eq!(second.post("/p/p/runs/1/stop", &with, "").status, 409);
    // What was stopped is resumed, and nothing else is offered before.
    let page = second.get("/p/p", &with).body;
    assert!(page.contains(">Resume<") && !page.contains("value=\"track\""), "{page}");
    assert!(second.get("/p/p/runs/1/live", &with).body.contains("Resume it"));
    let acknowledged = send(&second, "/api/v1/projects/p/runs/1/ack", &with, r#"{"note":"seen"}"#);
    assert_eq!((&acknowledged.json()["by"], &acknowledged.json()["note"]), (&"bob".into(), &"seen".into()));
}

#[test]
fn programs_start_runs_and_may_repeat_themselves() {
    let site = HeldSite::serve(Manner::Silent);
    let home = inhabited(&site.url("/"));
    let served = Served::start(&home, &["--no-schedule"]);
    let bob = cookie(&served, "bob");
    let with = [("Cookie", bob.as_str()), ("Idempotency-Key", "one")];
    let started = send(&served, "/api/v1/projects/p/runs", &with, r#"{"kind":"crawl"}"#);
    assert_eq!((started.status, started.header("location")), (202, Some("/api/v1/projects/p/runs/1")), "{started:?}");
    let repeated = send(&served, "/api/v1/projects/p/runs", &with, r#"{"kind":"crawl"}"#);
    assert_eq!((repeated.status, repeated.json()), (202, started.json()));
    let other = send(&served, "/api/v1/projects/p/runs", &with, r#"{"kind":"track"}"#);
    assert_eq!((other.status, &other.json()["type"]), (422, &"/problems/key-reused".into()));
    let another = send(&served, "/api/v1/projects/p/runs", &with[..1], r#"{"kind":"crawl"}"#);
    assert_eq!((another.status, &another.json()["type"]), (409, &"/problems/running".into()));
    assert_eq!(send(&served, "/api/v1/projects/p/runs", &with[..1], r#"{"kind":"rm"}"#).status, 400);
    assert_eq!(send(&served, "/api/v1/projects/p/runs/1/stop", &with[..1], "").status, 202);
    assert!(served.get("/p/p/runs/1/events", &with[..1]).body.contains("event: end"));
}

#[test]
fn a_run_that_fails_at_once_says_why() {
    let home = inhabited("http://127.0.0.1:9/");
    let file = home.project().join("project.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("fetch.ca_file = '/nowhere.pem'\n{text}")).unwrap();
    let served = Served::start(&home, &[]);
    let bob = cookie(&served, "bob");
    let refused = served.post("/p/p/runs", &[("Cookie", &bob), ("Accept", "text/html")], "kind=crawl");
    assert!(refused.status == 422 && refused.body.contains("/nowhere.pem"), "{refused:?}");
    let page = served.get("/p/p/run", &[("Cookie", &bob)]);
    assert!(page.body.contains("started at") && page.body.contains("/nowhere.pem"), "{}", page.body);
}

#[test]
fn settings_are_changed_in_place_except_those_of_the_operator() {
    let home = inhabited("http://a.test/");
    let file = home.project().join("project.toml");
    let served = Served::start(&home, &[]);
    let bob = cookie(&served, "bob");
    let with = [("Cookie", bob.as_str())];
    let page = served.get("/p/p/settings", &with).body;
    let version = hidden(&page, "version").to_owned();
    let text = std::fs::read_to_string(&file).unwrap();
    let save = |text: &str, version: &str| {
        let form = format!("version={version}&text={}", encoded(text));
        served.post("/p/p/settings", &with, &form)
    };
    for (added, told) in [
        ("\n[[track.compare]]\nprogram = ['sh']\n", "track.compare"),
        ("\n[outputs]\njsonl = '/tmp/x'\n", "outputs.jsonl"),
        ("\n[index]\nstm = []\n", "did you mean"),
    ] {
        let refused = save(&format!("{text}{added}"), &version);
        assert!(refused.status == 422 && refused.body.contains(told), "{added}\n{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let form = format!("version={version}&seeds={}&mode=host&depth=3&delay=2s&every=6h", encoded("http://a.test/"));
    assert_eq!(served.post("/p/p/settings/fields", &with, &form).status, 303);
    let shown = home.orb(&["project", "show", "p", "--json"]).json();
    assert_eq!((&shown["frontier"]["depth"], &shown["schedule"]["every"]), (&3.into(), &"6h".into()));
    let stale = save(&text, &version);
    assert!(stale.status == 422 && stale.body.contains("meanwhile"), "{stale:?}");
    let due = served.get("/schedule", &[("Cookie", &bob), ("Accept", "application/json")]).json();
    assert_eq!(due["due"][0]["project"], "p");
}

#[test]
fn a_project_made_in_the_browser_does_not_reach_inside_unless_the_operator_says_so() {
    let site = HeldSite::serve(Manner::Silent);
    site.release();
    let home = inhabited("http://a.test/");
    let inside = encoded(&site.url("/"));
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = cookie(&served, "ann");
    let with = [("Cookie", ann.as_str())];
    let looked = served.post("/new/look", &with, &format!("url={inside}"));
    assert!(looked.status == 422 && looked.body.contains("loopback address"), "{looked:?}");
    let made = served.post("/new", &with, &format!("name=q&seeds={inside}&run=1"));
    assert!(made.status == 422 && !home.path().join("q").exists(), "{made:?}");
    let outside = served.post("/new", &with, &format!("name=q&seeds={}&depth=2", encoded("http://a.test/")));
    assert_eq!((outside.status, outside.header("location")), (303, Some("/p/q/settings")), "{outside:?}");
    let shown = home.orb(&["project", "show", "q", "--json"]).json();
    assert_eq!((&shown["fetch"]["private_seeds"], &shown["frontier"]["depth"]), (&false.into(), &2.into()));
    drop(served);
    let open = Served::start(&home, &["--no-schedule", "--operator-keys"]);
    let looked = open.post("/new/look", &with, &format!("url={inside}"));
    assert!(looked.status == 200 && looked.body.contains("links"), "{looked:?}");
    assert_eq!(site.asked(), 1, "nothing was fetched before");
    // People type addresses without a scheme.
    let typed = encoded(site.url("/").trim_start_matches("http://"));
    assert_eq!(open.post("/new/look", &with, &format!("url={typed}")).status, 200);
    let bob = cookie(&open, "bob");
    assert_eq!(open.get("/new", &[("Cookie", &bob)]).status, 403);
}

#[test]
fn a_project_is_removed_in_the_browser_by_those_who_say_its_name() {
    let home = inhabited("http://a.test/");
    let served = Served::start(&home, &["--no-schedule"]);
    let (ann, bob) = (cookie(&served, "ann"), cookie(&served, "bob"));
    let as_one = |who: &str, form: &str| served.post("/p/p/remove", &[("Cookie", who)], form);
    assert!(!served.get("/p/p/settings", &[("Cookie", &bob)]).body.contains("Remove this project"));
    assert_eq!(as_one(&bob, "confirm=p").status, 403);
    let refused = as_one(&ann, "confirm=q");
    assert!(refused.status == 422 && refused.body.contains("The project is not removed"), "{refused:?}");
    assert!(served.get("/p/p/settings", &[("Cookie", &ann)]).body.contains("action=\"/p/p/remove\""));
    let gone = as_one(&ann, "confirm=p");
    assert_eq!((gone.status, gone.header("location")), (303, Some("/")), "{gone:?}");
    assert!(!home.project().exists() && served.get("/p/p", &[("Cookie", &ann)]).status == 404);
}

#[test]
fn what_is_due_is_started_by_the_server() {
    let site = HeldSite::serve(Manner::Silent);
    let home = inhabited(&site.url("/"));
    let file = home.project().join("project.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("schedule.every = '1h'\n{text}")).unwrap();
    let served = Served::start(&home, &[]);
    let bob = cookie(&served, "bob");
    let with = [("Cookie", bob.as_str())];
    until("the run has begun", || served.get("/p/p/runs/1/live", &with).body.contains("started by schedule"));
    assert_eq!(served.post("/p/p/runs/1/stop", &with, "").status, 303);
    assert!(served.get("/p/p/runs/1/events", &with).body.contains("event: end"));
}
