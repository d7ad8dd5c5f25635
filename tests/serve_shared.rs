//! Does `orb serve` show the projects of a shared store, and run them, as it does those of its
//! home?
//!
//! Real workers, a PostgreSQL server of the test's own and a directory as the archive. What a
//! server shows from its copies is compared with what it shows of a project that was pulled; runs
//! are started and stopped from outside, by schedule as well, with one server and with two; and the
//! store goes away.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::Cluster;
use harness::held::{HeldSite, Manner};
use harness::judge;
use harness::orb::{Home, PROJECT, files};
use harness::postgres::PASSWORD;
use harness::script::{Heard, Script, absent, reply};
use harness::served::{HttpReply, Served, add_user};
use harness::until;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// A small library of weather, of which one page changes later.
fn library(heard: &Heard, is_later: bool) -> Vec<u8> {
    let html =
        |body: &str| reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><html lang=en>{body}"));
    match heard.target.as_str() {
        "/" => html("<title>Start</title><p>Welcome.</p><a href=/rain>about the rain</a> <a href=/gone>gone</a>"),
        "/rain" if is_later => html("<title>Rain</title><p>The rain falls on the hills.</p>"),
        "/rain" => html("<title>Rain</title><p>The rain falls on the plains.</p><a href=/snow>snow</a>"),
        "/snow" => html("<title>Snow</title><p>The snow lies on the hills.</p>"),
        _ => absent(),
    }
}

/// Plants a project that starts here, with more settings, and works on it.
fn planted(cluster: &Cluster, seed: &str, more: &str) -> harness::orb::Running {
    let file = cluster.home.beside("p.toml");
    std::fs::write(&file, format!("seeds = ['{seed}']\nfrontier.delay = '0s'\n{more}")).unwrap();
    let args = ["crawl", file.to_str().unwrap(), "--project", PROJECT, "--json", "--progress", "none"];
    cluster.start(&[args.map(str::to_owned).to_vec(), cluster.part(1)].concat())
}

/// A store whose project was crawled, and tracked after a change.
fn collected(more: &str) -> (Script, Cluster) {
    let later = Arc::new(AtomicBool::new(false));
    let is_later = Arc::clone(&later);
    let script = Script::serve(move |heard| library(heard, is_later.load(Ordering::SeqCst)));
    let cluster = Cluster::new(LEASE, SLICE);
    planted(&cluster, &format!("http://{}/", script.address), more).finish().expect(0);
    later.store(true, Ordering::SeqCst);
    let args = ["track", PROJECT, "--json", "--progress", "none"].map(str::to_owned).to_vec();
    cluster.start(&[args, cluster.part(1)].concat()).finish().expect(0);
    (script, cluster)
}

/// A home with an administrator.
fn inhabited() -> Home {
    let home = Home::new();
    add_user(&home, "ann", &["--admin"]);
    home
}

/// Serves a home and the store. The address of the store holds its password.
fn serve(cluster: &Cluster, home: &Home, args: &[&str]) -> Served {
    let (store, archive) = (cluster.postgres.url(), cluster.archive());
    Served::start_with(home, args, &[("ORB_STORE", &store), ("ORB_ARCHIVE", &archive)])
}

/// The cookie of somebody who has logged in.
fn cookie(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

/// Gets a page as people see it.
fn page(served: &Served, cookie: &str, path: &str) -> HttpReply {
    served.get(path, &[("Cookie", cookie), ("Accept", "text/html")])
}

/// Gets what the page shows.
fn told(served: &Served, cookie: &str, path: &str) -> HttpReply {
    served.get(path, &[("Cookie", cookie), ("Accept", "application/json")])
}

/// Sends JSON.
fn send(served: &Served, cookie: &str, path: &str, body: &str) -> HttpReply {
    let fields = [("Content-Type", "application/json"), ("Cookie", cookie), ("Accept", "application/json")];
    served.send(&format!("POST {path}"), &fields, body)
}

/// Waits until the project is listed and its first copy is there.
fn wait_for_copy(served: &Served, cookie: &str) {
    until("the project is copied", || page(served, cookie, "/p/p").status == 200);
}

/// What is asked of a shared project and of its copy: screens, answers of the API, short names.
const SHOWN: [&str; 27] = [
    "/p/p",
    "/p/p/runs",
    "/p/p/runs/1",
    "/p/p/runs/2",
    "/p/p/changes",
    "/p/p/pages",
    "/p/p/pages/{rain}",
    "/p/p/pages/{rain}/diff",
    "/p/p/hosts",
    "/p/p/health/broken_link",
    "/p/p/search?q=rain",
    "/p/p/words/rain",
    "/p/p/queue",
    "/p/p/sql?q=SELECT+url%2C+status+FROM+page+ORDER+BY+url",
    "/p/p/settings",
    "/api/v1/projects/p/runs",
    "/api/v1/projects/p/runs/2/report",
    "/api/v1/projects/p/changes",
    "/api/v1/projects/p/pages",
    "/api/v1/projects/p/pages/{rain}/versions",
    "/api/v1/projects/p/search?q=hills",
    "/api/v1/projects/p/stats",
    "/api/v1/projects/p/top?by=pagerank",
    "/api/v1/projects/p/settings",
    "/api/v1/projects/p/pages/{rain}/content?as=raw",
    "/log/p.2",
    "/doc/p.{rain}",
];

#[test]
fn a_shared_project_is_shown_as_its_pulled_copy_is() {
    let (_script, cluster) = collected("");
    let (home, pulled) = (inhabited(), inhabited());
    add_user(&home, "bob", &[]);
    let served = serve(&cluster, &home, &["--no-schedule"]);
    let ann = cookie(&served, "ann");
    until("it is listed", || page(&served, &ann, "/").body.contains("/p/p\""));
    let first = page(&served, &ann, "/p/p");
    if first.status == 503 {
        assert!(first.body.contains("Being copied") && first.body.contains("http-equiv=\"refresh\""), "{first:?}");
    }
    wait_for_copy(&served, &ann);
    cluster.ask(&pulled, &["pull", PROJECT]).expect(0);
    for built in [["index", "rebuild", PROJECT], ["graph", "build", PROJECT]] {
        cluster.ask(&home, &built).expect(0);
        pulled.orb(&built).expect(0);
    }
    let reference = Served::start(&pulled, &["--no-schedule"]);
    let other = cookie(&reference, "ann");
    let rain = pulled.catalogue().column("SELECT id FROM page WHERE url LIKE '%/rain'").remove(0);
    for path in SHOWN.map(|path| path.replace("{rain}", &rain)) {
        let (there, here) = (told(&served, &ann, &path), told(&reference, &other, &path));
        assert_eq!((there.status, here.status), (200, 200), "{path}: {there:?} {here:?}");
        assert_eq!(there.body, here.body, "{path}");
    }
    // It says what it is, everywhere.
    for path in ["/p/p", "/p/p/runs/2", "/p/p/search?q=rain", "/p/p/settings"] {
        let shown = page(&served, &ann, path);
        assert!(shown.status == 200 && shown.body.contains("On a shared store; shown as it was"), "{path}: {shown:?}");
    }
    let listed = told(&served, &ann, "/api/v1/projects").json();
    assert!(listed["items"][0]["shared"]["copied_at"].is_string(), "{listed:#}");
    let mut state = told(&served, &ann, "/api/v1/projects/p").json();
    assert!(state.as_object_mut().unwrap().remove("shared").is_some());
    assert_eq!(state, told(&reference, &other, "/api/v1/projects/p").json());
    // Who may read it is decided by its name.
    let bob = cookie(&served, "bob");
    assert_eq!(told(&served, &bob, "/p/p").status, 404);
    let fields = [("Content-Type", "application/json"), ("Cookie", ann.as_str())];
    let granted = served.send("PUT /api/v1/users/bob/grants/p", &fields, r#"{"level":"read"}"#);
    assert_eq!(granted.status, 200, "{granted:?}");
    assert_eq!(told(&served, &bob, "/p/p").status, 200);
    let (store, archive) = (cluster.postgres.url(), cluster.archive());
    let environment = [("ORB_STORE", store.as_str()), ("ORB_ARCHIVE", archive.as_str())];
    home.start(&["user", "grant", "bob", PROJECT, "run"], &environment).finish().expect(0);
    assert_eq!(told(&served, &bob, "/p/p/run").status, 200);
    // What only a project of the home has is not changed.
    let settings = served.post("/p/p/settings", &[("Cookie", &ann)], "text=&version=");
    assert_eq!(settings.status, 409, "{settings:?}");
    let call = send(&served, &ann, "/api/v1/projects/p/intake", r#"{"urls":["http://a.test/"]}"#);
    assert_eq!((call.status, &call.json()["type"]), (409, &"/problems/shared".into()));
    // A project of the home goes before one of its name on the store.
    let both = serve(&cluster, &pulled, &["--no-schedule"]);
    let other = cookie(&both, "ann");
    until("both are known", || page(&both, &other, "/p/p").body.contains("This one is of the home."));
    assert_eq!(told(&both, &other, "/api/v1/projects").json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn runs_are_started_and_stopped_for_all_machines() {
    let (site, cluster, home) = (HeldSite::serve(Manner::Silent), Cluster::new(LEASE, SLICE), inhabited());
    let first = planted(&cluster, &site.url("/"), "");
    until("it is planted", || cluster.is_planted());
    first.signal(Signal::TERM);
    first.finish().expect(130);
    let served = serve(&cluster, &home, &["--no-schedule"]);
    let ann = cookie(&served, "ann");
    wait_for_copy(&served, &ann);
    // Nobody works on the open run; this machine takes it up.
    let asked = site.asked();
    let started = send(&served, &ann, "/api/v1/projects/p/runs", r#"{"kind":"crawl"}"#);
    assert_eq!((started.status, &started.json()["run"]), (202, &json!(1)), "{started:?}");
    let again = send(&served, &ann, "/api/v1/projects/p/runs", r#"{"kind":"crawl"}"#);
    assert_eq!((again.status, &again.json()["type"]), (409, &"/problems/running".into()), "{again:?}");
    until("the site is asked", || site.asked() > asked);
    // No secret is on the command line of what was started.
    let pid = told(&served, &ann, "/p/p/run").json()["last"]["pid"].as_u64().unwrap();
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(line.contains("crawl\0p\0") && !line.contains(PASSWORD) && !line.contains("postgres"), "{line:?}");
    // The machines, and what each waits for.
    let helper = cluster.worker(2);
    let workers = || told(&served, &ann, "/p/p/runs/1/live").json()["machines"]["workers"].clone();
    until("both are seen", || workers().as_array().is_some_and(|all| all.len() == 2));
    let live = page(&served, &ann, "/p/p/runs/1/live").body;
    assert!(live.contains("Waits for") && live.contains("Letters") && live.contains("w2"), "{live}");
    let all = told(&served, &ann, "/machines").json();
    assert_eq!(all["shared"][0]["project"], PROJECT, "{all:#}");
    // Stopped for all of them.
    assert_eq!(send(&served, &ann, "/api/v1/projects/p/runs/1/stop", "").status, 202);
    assert_eq!(cluster.column("SELECT state FROM run_row"), ["stopped"]);
    until("nobody works on it", || cluster.number("SELECT count(*) FROM worker WHERE alive") == 0);
    until("it is seen", || told(&served, &ann, "/api/v1/projects/p").json()["state"] == "stopped");
    assert_eq!(send(&served, &ann, "/api/v1/projects/p/runs/1/stop", "").status, 409);
    cluster.dismiss(vec![helper]);
    // Resumed, done, tracked, and acknowledged.
    site.release();
    until("it is free again", || send(&served, &ann, "/api/v1/projects/p/runs", r#"{"kind":"crawl"}"#).status == 202);
    until("it is done", || cluster.column("SELECT state FROM run_row") == ["done"]);
    let track = || send(&served, &ann, "/api/v1/projects/p/runs", r#"{"kind":"track"}"#);
    until("the first has ended", || track().status == 202);
    until("the second is done", || cluster.column("SELECT state FROM run_row ORDER BY id") == ["done", "done"]);
    let acknowledged = send(&served, &ann, "/api/v1/projects/p/runs/2/ack", r#"{"note":"seen"}"#);
    assert_eq!((&acknowledged.json()["by"], &acknowledged.json()["note"]), (&"ann".into(), &"seen".into()));
    assert_eq!(cluster.column("SELECT by || ': ' || note FROM ack_row"), ["ann: seen"]);
    assert!(told(&served, &ann, "/p/p/runs").json()[0]["acknowledged"]["by"] == "ann");
    assert_eq!(send(&served, &ann, "/api/v1/projects/p/runs/9/ack", "").status, 409);
}

#[test]
fn of_two_servers_one_starts_what_is_due_and_the_other_takes_over() {
    let (_script, cluster) = collected("schedule.every = '1h'\n");
    let homes = [inhabited(), inhabited()];
    let mut servers: Vec<Option<Served>> = homes.iter().map(|home| Some(serve(&cluster, home, &[]))).collect();
    let make_due = || {
        let sql = "UPDATE orb_p.run_row SET started_at = started_at - 7200000";
        cluster.postgres.client().batch_execute(sql).unwrap();
    };
    let runs = || cluster.number("SELECT count(*) FROM run_row WHERE finished_at IS NOT NULL");
    let renewed = || {
        cluster
            .postgres
            .number("SELECT coalesce(max((extract(epoch FROM until) * 1000)::bigint), 0) FROM orbweaver.scheduler")
    };
    let holder = || cluster.column("SELECT holder FROM orbweaver.scheduler").remove(0);
    let is_there = "SELECT count(*) FROM pg_class WHERE relname = 'scheduler'";
    until("somebody has the right", || cluster.postgres.number(is_there) == 1 && renewed() > 0);
    make_due();
    until("it was started", || runs() == 3);
    // The one with the right looks again, and again, and starts nothing more.
    let (had_it, mut then) = (holder(), renewed());
    for _ in 0..2 {
        until("it has looked again", || renewed() > then);
        then = renewed();
    }
    assert_eq!((cluster.number("SELECT count(*) FROM run_row"), holder()), (3, had_it.clone()));
    let launched = |home: &Home| {
        let copies = std::fs::read_dir(home.path().join(".shared")).unwrap().map(|entry| entry.unwrap().path());
        copies.flat_map(|dir| files(&dir.join(PROJECT), "launch.json")).count()
    };
    let started = homes.each_ref().map(launched);
    assert!(started == [1, 0] || started == [0, 1], "{started:?}");
    let first = usize::from(started == [0, 1]);
    servers[first].take().unwrap().stop(Signal::KILL);
    make_due();
    until("the other has started it", || runs() == 4);
    assert_eq!(homes.each_ref().map(launched), [1, 1]);
    assert_ne!(holder(), had_it);
    assert_eq!(cluster.number("SELECT count(*) FROM run_row"), 4);
    // One that ends in order gives the right back at once.
    assert_eq!(servers[1 - first].take().unwrap().stop(Signal::TERM), Some(130));
    assert_eq!(cluster.postgres.number("SELECT count(*) FROM orbweaver.scheduler WHERE until > now()"), 0);
}

#[test]
fn a_run_that_was_meant_to_be_another_is_not_begun() {
    let (_script, cluster) = collected("");
    let (store, archive) = (cluster.postgres.url(), cluster.archive());
    let environment = [("ORB_STORE", store.as_str()), ("ORB_ARCHIVE", archive.as_str())];
    let late = Home::new();
    let track = |run: &str| {
        late.start(&["track", PROJECT, "--shared", "--run-number", run, "--progress", "none"], &environment).finish()
    };
    let refused = track("2");
    assert!(refused.complaint(1).contains("run 2 was begun by somebody else"), "{refused}");
    assert_eq!(cluster.number("SELECT count(*) FROM run_row"), 2);
    track("3").expect(0);
    assert_eq!(cluster.number("SELECT count(*) FROM run_row"), 3);
}

#[test]
fn without_its_store_a_server_shows_what_it_has_and_says_how_old_that_is() {
    let (script, mut cluster) = collected("");
    let home = inhabited();
    home.orb(&["project", "new", "mine", "--seed", &format!("http://{}/", script.address)]).expect(0);
    let served = serve(&cluster, &home, &["--no-schedule"]);
    let ann = cookie(&served, "ann");
    wait_for_copy(&served, &ann);
    cluster.postgres.stop();
    let is_away = |served: &Served, ann: &str| {
        let shown = page(served, ann, "/p/p");
        shown.status == 200 && shown.body.contains("which does not answer; shown as it was")
    };
    until("the page says so", || is_away(&served, &ann));
    assert_eq!(page(&served, &ann, "/p/mine").status, 200);
    let all = page(&served, &ann, "/");
    assert!(all.status == 200 && all.body.contains("/p/mine") && all.body.contains("does not answer"), "{all:?}");
    let refused = send(&served, &ann, "/api/v1/projects/p/runs", r#"{"kind":"crawl"}"#);
    assert_eq!((refused.status, &refused.json()["type"]), (503, &"/problems/store-away".into()), "{refused:?}");
    assert_eq!(told(&served, &ann, "/api/v1/projects/p").json()["shared"]["problem"], "store-away");
    // One that starts meanwhile knows what was copied before.
    drop(served);
    let served = serve(&cluster, &home, &[]);
    until("the page says so", || is_away(&served, &ann));
    cluster.postgres.serve();
    until("the store is back", || {
        let shown = page(&served, &ann, "/p/p").body;
        shown.contains("On a shared store; shown as it was")
    });
}

/// The screens on which a shared project is something else than one of the home.
#[test]
fn the_screens_of_a_shared_project_are_for_everybody() {
    let (site, cluster, home) = (HeldSite::serve(Manner::Silent), Cluster::new(LEASE, SLICE), inhabited());
    let first = planted(&cluster, &site.url("/"), "");
    until("the site is asked", || site.asked() > 0);
    let served = serve(&cluster, &home, &["--no-schedule"]);
    let ann = cookie(&served, "ann");
    wait_for_copy(&served, &ann);
    let has_machine = |path: &str| page(&served, &ann, path).body.contains("w1");
    until("the machine is seen", || has_machine("/machines") && has_machine("/p/p/runs/1/live"));
    let paths = ["/", "/machines", "/schedule", "/p/p", "/p/p/run", "/p/p/runs/1/live", "/p/p/runs", "/p/p/settings"];
    let job = json!({
        "base": format!("http://{}", served.address), "account": ["ann", "a password"], "paths": paths, "axe": true,
        "views": [["light", 1280], ["dark", 1280], ["light", 320], ["dark", 320]],
        "shots": std::env::var("ORB_SHOTS").ok(),
    });
    let seen = judge::browser("walk", &job, &home.beside("job.json"));
    let seen = seen.as_array().unwrap();
    assert_eq!(seen.len(), paths.len() * 4);
    let is_wrong = |page: &&Value| {
        let has = |what: &str| !page[what].as_array().unwrap().is_empty();
        page["status"] != 200
            || page["overflow"] != 0
            || ["ran", "errors", "strangers", "violations"].into_iter().any(has)
    };
    let wrong: Vec<String> = seen.iter().filter(is_wrong).map(|page| format!("{page:#}")).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
    cluster.dismiss(vec![first]);
}
