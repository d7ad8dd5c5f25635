//! What does somebody see who has just begun: where nothing is yet, and where the first try failed?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Script, page, reply};
use harness::served::{HttpReply, Served, add_user};

/// What a command says that fails, on one line.
fn refused(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let out = home.command(&[&["serve"], args].concat()).output().unwrap();
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

const BROWSER: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

/// A served home, and the cookies of its administrator and of somebody who may read the project.
struct Newcomers {
    served: Served,
    ann: String,
    bob: String,
}

impl Newcomers {
    fn of(home: &Home) -> Self {
        add_user(home, "ann", &["--admin"]);
        add_user(home, "bob", &[]);
        home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
        let served = Served::start(home, &["--no-schedule"]);
        let [ann, bob] = ["ann", "bob"].map(|name| {
            let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
            reply.cookie().unwrap().to_owned()
        });
        Self { served, ann, bob }
    }

    fn get(&self, path: &str, cookie: &str, accept: (&str, &str)) -> HttpReply {
        self.served.get(path, &[("Cookie", cookie), accept])
    }
}

#[test]
fn a_project_without_a_run_offers_one_on_every_screen() {
    let home = Home::new();
    home.orb(&["project", "new", PROJECT, "--seed", "http://a.test/"]).expect(0);
    let new = Newcomers::of(&home);
    let start = format!("href=\"/p/{PROJECT}/run\">Start a run<");
    for screen in ["pages", "changes", "search?q=x", "health", "hosts", "structure", "queue", "sql"] {
        let path = format!("/p/{PROJECT}/{screen}");
        let shown = new.get(&path, &new.ann, BROWSER);
        assert_eq!(shown.status, 409, "{path}");
        assert!(shown.body.contains("collected nothing yet") && shown.body.contains(&start), "{path}: {}", shown.body);
        // The places of the project are still around it.
        assert!(shown.body.contains(&format!("href=\"/p/{PROJECT}/runs\"")), "{path}: {}", shown.body);
        let read = new.get(&path, &new.bob, BROWSER);
        assert!(!read.body.contains(&start), "who may only read is not led to a run: {path}");
        let told = new.get(&path, &new.ann, ("Accept", "application/json"));
        assert_eq!((told.status, told.json()["type"].as_str().unwrap()), (409, "/problems/not-built"));
    }
}

#[test]
fn a_run_that_fetched_nothing_says_which_address_and_why() {
    let home = Home::new();
    let seed = "http://no-such-host.invalid/";
    home.orb(&["crawl", seed, "--project", PROJECT, "--retries", "0", "--delay", "0"]).expect(1);
    let new = Newcomers::of(&home);
    for path in ["", "/runs/1", "/runs/1/live"].map(|path| format!("/p/{PROJECT}{path}")) {
        let shown = new.get(&path, &new.ann, BROWSER);
        assert_eq!(shown.status, 200, "{path}: {}", shown.body);
        assert!(shown.body.contains("othing could be fetched") && shown.body.contains(seed), "{path}: {}", shown.body);
    }
    let first = new.get("/", &new.ann, BROWSER).body;
    assert!(first.contains("nothing could be fetched"), "{first}");
    let listed = new.get(&format!("/p/{PROJECT}/pages?kind=FAILED"), &new.ann, BROWSER).body;
    assert!(listed.contains("no such name"), "{listed}");
}

#[test]
fn a_run_before_the_last_is_read_and_not_watched() {
    let site = Script::serve(|_| page(["/"; 0]));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    home.orb(&["track", PROJECT, "--delay", "0"]).expect(0);
    let new = Newcomers::of(&home);
    let led = new.get(&format!("/p/{PROJECT}/runs/1/live"), &new.ann, BROWSER);
    assert_eq!((led.status, led.header("location").unwrap()), (303, &*format!("/p/{PROJECT}/runs/1")));
    assert_eq!(new.get(&format!("/p/{PROJECT}/runs/2/live"), &new.ann, BROWSER).status, 200);
    assert_eq!(new.get(&format!("/p/{PROJECT}/runs/3/live"), &new.ann, BROWSER).status, 404);
    let told = new.get(&format!("/p/{PROJECT}/runs/1/live"), &new.ann, ("Accept", "application/json"));
    assert_eq!(told.status, 404);
    let report = new.get(&format!("/p/{PROJECT}/runs/1"), &new.ann, BROWSER).body;
    assert!(report.contains("Nothing was known before"), "{report}");
}

#[test]
fn the_form_that_is_liked_best_is_sent() {
    let site = Script::serve(|_| page(["/"; 0]));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    let new = Newcomers::of(&home);
    let kind = |path: &str, accept: &str| {
        let reply = new.get(path, &new.ann, ("Accept", accept));
        reply.header("content-type").unwrap().split(';').next().unwrap().to_owned()
    };
    let (screen, list) = (format!("/p/{PROJECT}/pages"), format!("/api/v1/projects/{PROJECT}/pages"));
    assert_eq!(kind(&screen, "application/json, text/html;q=0.5"), "application/json");
    assert_eq!(kind(&screen, "text/html, application/json;q=0.9"), "text/html");
    assert_eq!(kind(&list, "application/json, text/csv;q=0.1"), "application/json");
    assert_eq!(kind(&list, "text/csv, application/json;q=0.1"), "text/csv");
    assert_eq!(kind(&format!("{list}/77"), "text/html;q=0.1, application/json"), "application/problem+json");
}

#[test]
fn what_nothing_can_be_served_with_is_refused_by_its_name() {
    let home = Home::new();
    let file = |name: &str, text: &str| {
        let path = home.beside(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (empty, missing) = (file("empty.pem", "nothing\n"), home.beside("missing.pem").to_str().unwrap().to_owned());
    for (args, code, told) in [
        (&["--tls-cert", &empty, "--tls-key", &empty][..], 1, format!("cannot use {empty}: there is no certificate")),
        (&["--tls-cert", &missing, "--tls-key", &empty], 1, format!("cannot use {missing}: No such file")),
        (&["--view-host", "localhost"], 1, "--view-host localhost is a name of this server already".to_owned()),
        (&["--host", "http://orb.example.org/"], 2, "write a name like orb.example.org".to_owned()),
        (&["--patience", "0s"], 2, "--patience 0s would close every connection".to_owned()),
    ] {
        let (ended, said) = refused(&home, &[args, &["--listen", "127.0.0.1:0"]].concat());
        assert_eq!(ended, Some(code), "{args:?}: {said}");
        assert!(said.contains(&told), "{args:?}: {said}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (ended, said) = refused(&home, &["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(ended == Some(1) && said.contains("give another with --listen"), "{said}");
}

#[test]
fn a_feed_is_there_before_the_first_run_and_is_not_sent_twice() {
    let home = Home::new();
    home.orb(&["project", "new", PROJECT, "--seed", "http://a.test/"]).expect(0);
    let new = Newcomers::of(&home);
    let path = format!("/p/{PROJECT}/changes.atom");
    let feed = new.get(&path, &new.bob, BROWSER);
    assert!(feed.status == 200 && feed.body.contains("<feed") && !feed.body.contains("<entry"), "{feed:?}");
    let tag = feed.header("etag").unwrap();
    let again = new.served.get(&path, &[("Cookie", &new.bob), ("If-None-Match", tag)]);
    assert_eq!((again.status, again.body.as_str()), (304, ""));
}

#[test]
fn a_request_names_one_host() {
    let home = Home::new();
    add_user(&home, "ann", &["--admin"]);
    let served = Served::start(&home, &["--no-schedule"]);
    let own = served.address.to_string();
    let twice = served.get("/healthz", &[("Host", &own), ("Host", "evil.test")]);
    assert_eq!(twice.status, 400, "{twice:?}");
    assert_eq!(served.get("/healthz", &[("Host", &own)]).status, 200);
}

#[test]
fn a_word_is_told_page_by_page() {
    let body = "<title>Weather</title><p>rain and rain and rain</p>";
    let site = Script::serve(move |_| reply("200 OK", "Content-Type: text/html\r\n", body));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    let new = Newcomers::of(&home);
    let shown = new.get(&format!("/p/{PROJECT}/words/rain"), &new.ann, BROWSER).body;
    assert_eq!(shown.matches("/pages/1\"").count(), 1, "{shown}");
    assert!(shown.contains(" · "), "{shown}");
    let told = new.get(&format!("/p/{PROJECT}/words/rain"), &new.ann, ("Accept", "application/json")).json();
    assert_eq!(told.as_array().unwrap().len(), 3, "{told}");
}
