//! Can a collection be read in a browser, from its account down to the bytes of a page, without
//! anything from the web acting in our name?
//!
//! A small site, part of it hostile, is crawled, changed and tracked. Then every screen is asked
//! for as somebody who may read it.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, moved, reply};
use harness::served::{HttpReply, Served, add_user};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A page that tries everything: its title, its words, its pictures, its address.
const HOSTILE: &str = "<title><script>alert('title')</script></title><h1 onclick=alert(1)>Hostile weather</h1>\
    <script>alert('body')</script><img src=x onerror=alert(2) alt='\"><script>alert(3)</script>'><svg onload=alert(4)>\
    <a href='javascript:alert(5)'>run</a> <a href='/?<script>'>home</a><iframe srcdoc='<script>alert(6)</script>'></iframe>\
    <style>body{background:url(http://evil.test/)}</style><form action=http://evil.test/><input name=password></form>";

fn answer(heard: &Heard, edition: u32) -> Vec<u8> {
    let html = |body: &str| reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html>{body}"));
    match heard.target.as_str() {
        "/" => html(
            "<title>Start</title><p>Welcome to the library of weather.</p><a href=/rain>about the rain</a> \
             <a href=/hostile>hostile</a> <a href=/gone>gone</a> <a href=/moved>moved</a> <a href=/notes.txt>notes</a>",
        ),
        "/rain" if edition > 1 => absent(),
        "/rain" if edition == 1 => html("<title>Rain</title><p>The rain falls on the hills.</p><p>It is wet.</p>"),
        "/rain" => html("<title>Rain</title><p>The rain falls on the plains.</p><p>It is wet.</p>"),
        "/hostile" => html(HOSTILE),
        "/moved" => moved("/rain"),
        "/notes.txt" => reply("200 OK", "Content-Type: text/plain\r\n", "<b>notes</b>"),
        _ => absent(),
    }
}

/// A home whose project was crawled and tracked, served to somebody who may read it.
struct Reading {
    _script: Script,
    home: Home,
    edition: Arc<AtomicU32>,
    served: Served,
    cookie: String,
}

impl Reading {
    fn new() -> Self {
        let edition = Arc::new(AtomicU32::new(0));
        let current = Arc::clone(&edition);
        let script = Script::serve(move |heard| answer(heard, current.load(Ordering::SeqCst)));
        let home = Home::new();
        home.crawl(&[&format!("http://{}/", script.address), "--delay", "0", "--per-host", "1"]);
        edition.store(1, Ordering::SeqCst);
        home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
        home.orb(&["graph", "build", PROJECT]).expect(0);
        add_user(&home, "bob", &[]);
        home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
        let served = Served::start(&home, &[]);
        let reply = served.post("/login", &[], "name=bob&password=a+password&next=/");
        let cookie = reply.cookie().unwrap().to_owned();
        Self { _script: script, home, edition, served, cookie }
    }

    fn get(&self, path: &str, accept: &str) -> HttpReply {
        let path = if path.starts_with("/search") { path.to_owned() } else { format!("/p/{PROJECT}{path}") };
        self.served.get(&path, &[("Cookie", &self.cookie), ("Accept", accept)])
    }

    /// The page at a path below the project's, as a browser gets it.
    fn page(&self, path: &str) -> String {
        let reply = self.get(path, "text/html");
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        reply.body
    }

    /// The same as a program gets it.
    fn json(&self, path: &str) -> Value {
        let reply = self.get(path, "application/json");
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{path}");
        reply.json()
    }

    /// The number of the page at a path of the site.
    fn id(&self, path: &str) -> u64 {
        let found = self.json("/pages");
        let ends = |page: &&Value| page["url"].as_str().unwrap().ends_with(path);
        found["pages"].as_array().unwrap().iter().find(ends).unwrap()["id"].as_u64().unwrap()
    }
}

/// Every screen of a project; `{rain}` and `{hostile}` are pages of it.
const SCREENS: &[&str] = &[
    "",
    "/runs",
    "/runs/2",
    "/runs/2?flag=SAM",
    "/runs/1/log",
    "/changes",
    "/changes?flag=UPD",
    "/search?q=rain",
    "/search?q=hostile",
    "/pages",
    "/pages?kind=HTML&status=2xx&mime=text/&url=rain",
    "/pages/{hostile}",
    "/pages/{hostile}/content",
    "/pages/{rain}",
    "/pages/{rain}/content",
    "/pages/{rain}/diff",
    "/hosts",
    "/hosts/1",
    "/health",
    "/health/broken_link",
    "/structure",
    "/structure?by=hub&of=hosts",
    "/sql?q=SELECT+url%2C+title+FROM+page",
    "/words/rain",
    "/words/ra*",
    "/queue",
    "/intake",
];

/// What a form with these fields encodes as.
fn form(fields: &[(&str, &str)]) -> String {
    let byte = |b: u8| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") };
    let encoded = |text: &str| text.bytes().map(byte).collect::<String>();
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

#[test]
fn what_one_has_not_seen_is_marked_until_one_says_so() {
    let reading = Reading::new();
    let bob = [("Cookie", reading.cookie.as_str())];
    let unseen = |page: &str| page.matches("class=\"unread\"").count();
    let all = reading.json("/changes").as_array().unwrap().len();
    assert!(all > 0);
    let page = reading.page("/changes");
    assert_eq!(unseen(&page), all);
    assert!(page.contains(&format!("{all} you have not seen yet")), "{page}");
    let not_seen = format!("{all} not seen");
    assert!(reading.served.get("/", &bob).body.contains(&not_seen));
    assert!(reading.page("").contains(&format!("{all} changes</a> you have not seen")));
    // Reading alone changes nothing, and nobody reads for somebody else.
    assert_eq!(unseen(&reading.page("/changes")), all);
    let last = page.split("name=\"up_to\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let everywhere = reading.served.get("/changes", &bob).body;
    assert!(everywhere.contains(&format!("p: {all} not seen")) && everywhere.contains("UPD"), "{everywhere}");
    let marked = reading.served.post("/p/p/changes/seen", &bob, &format!("up_to={last}"));
    assert_eq!((marked.status, marked.header("location")), (303, Some("/p/p/changes")), "{marked:?}");
    let page = reading.page("/changes");
    assert!(unseen(&page) == 0 && page.contains("You have seen all of them"), "{page}");
    assert!(!reading.served.get("/", &bob).body.contains("not seen"));
    assert!(reading.served.get("/changes", &bob).body.contains("You have seen all changes"));
    add_user(&reading.home, "ann", &["--admin"]);
    let ann = reading.served.post("/login", &[], "name=ann&password=a+password");
    assert!(reading.served.get("/", &[("Cookie", ann.cookie().unwrap())]).body.contains(&not_seen));
    // What changes later is not seen again.
    reading.edition.store(2, Ordering::SeqCst);
    reading.home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    let later = reading.json("/changes").as_array().unwrap().len() - all;
    assert!(later > 0 && unseen(&reading.page("/changes")) == later);
}

#[test]
fn a_line_that_differs_is_ignored_and_a_part_is_chosen_after_a_preview() {
    let reading = Reading::new();
    let rain = reading.id("/rain");
    assert!(!reading.page(&format!("/pages/{rain}/diff")).contains("ignore this"), "somebody who may not edit");
    reading.home.orb(&["user", "grant", "bob", PROJECT, "edit"]).expect(0);
    let settings = || std::fs::read_to_string(reading.home.project().join("project.toml")).unwrap_or_default();
    let before = settings();
    let diff = reading.page(&format!("/pages/{rain}/diff"));
    assert!(
        diff.contains("class=\"minimap\"") && diff.contains("href=\"#d1\"") && diff.contains("id=\"d1\""),
        "{diff}"
    );
    let link = diff.split("class=\"ignore\" href=\"/p/p").nth(1).unwrap().split('"').next().unwrap();
    let tried = reading.page(&link.replace("&#38;", "&"));
    assert!(tried.contains("Not saved yet") && tried.contains("SAM"), "{tried}");
    assert_eq!(settings(), before, "a preview saves nothing");
    let field = |name: &str| {
        let section = tried.split("not saved</span>").nth(1).unwrap();
        let value = section.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
        value.split('"').next().unwrap().to_owned()
    };
    let ignored = tried.split("name=\"ignore\"").nth(1).unwrap().split("\n").nth(1).unwrap();
    let ignored = ignored.split("</textarea>").next().unwrap();
    assert!(ignored.starts_with("^The rain falls on the .*"), "{ignored}");
    let fields =
        [("version", &*field("version")), ("row", &field("row")), ("match", &field("match")), ("ignore", ignored)];
    let bob = [("Cookie", reading.cookie.as_str())];
    let saved = reading.served.post("/p/p/compare", &bob, &form(&fields));
    assert_eq!(saved.status, 303, "{saved:?}");
    assert!(settings().contains("The rain falls on the"), "{}", settings());
    let url = reading.json(&format!("/pages/{rain}"))["page"]["url"].as_str().unwrap().to_owned();
    let page = reading.page(&format!("/compare?{}", form(&[("url", &url)])));
    assert!(page.contains("Choose a part of this page") || !page.contains("only this"), "{page}");
    let chosen = reading.page(&format!("/compare?{}", form(&[("url", &url), ("exclude", "p")])));
    assert!(chosen.contains("Not saved yet") && chosen.contains("\np</textarea>"), "{chosen}");
    let wrong = reading.get(&format!("/compare?{}", form(&[("url", &url), ("include", "p[")])), "text/html");
    assert_eq!(wrong.status, 422, "{wrong:?}");
}

#[test]
fn pages_are_called_for_in_the_browser() {
    let reading = Reading::new();
    let bob = [("Cookie", reading.cookie.as_str())];
    assert!(reading.page("/intake").contains("Nobody has called"));
    let call = |urls: &str| reading.served.post("/p/p/intake", &bob, &form(&[("urls", urls)]));
    assert_eq!(call("http://a.test/").status, 403, "somebody who may not run it");
    reading.home.orb(&["user", "grant", "bob", PROJECT, "run"]).expect(0);
    let wrong = call("http://a.test/x\nmailto:<b>\n");
    assert!(wrong.status == 422 && wrong.body.contains("1 taken") && !wrong.body.contains("<b>"), "{wrong:?}");
    let taken = call("http://a.test/x http://a.test/y");
    assert!(taken.status == 200 && taken.body.contains("1 taken; 1 waited already"), "{taken:?}");
    let state = reading.json("/intake");
    assert_eq!((&state["waiting"], &state["calls"][0]["url"]), (&2.into(), &"http://a.test/y".into()), "{state}");
    assert_eq!(state["sources"][0]["source"], "web: bob");
}

#[test]
fn a_project_is_opened_to_anyone_and_closed_again() {
    let reading = Reading::new();
    let guest = |path: &str| reading.served.get(path, &[("Accept", "text/html")]);
    assert_eq!(guest("/p/p").status, 303, "closed by default");
    assert!(!guest("/login").body.contains("/p/p"));
    reading.home.orb(&["user", "grant", "anyone", PROJECT, "run"]).complaint(2);
    reading.home.orb(&["user", "grant", "anyone", PROJECT, "read"]).expect(0);
    assert!(guest("/login").body.contains("href=\"/p/p\""));
    let rain = reading.id("/rain");
    for path in ["", "/changes", "/runs/2", "/pages", "/health", "/search?q=rain"] {
        let page = guest(&format!("/p/p{path}"));
        assert_eq!(page.status, 200, "{path}");
        assert!(page.body.contains("href=\"/login\"") && !page.body.contains("Log out"), "{path}");
        for closed in ["/p/p/settings", "/p/p/run\"", "/p/p/exports", "/p/p/sql", "/p/p/queue", "method=\"post\""] {
            assert!(!page.body.contains(closed), "{path} leads to {closed}");
        }
    }
    for (path, status) in [
        (format!("/p/p/pages/{rain}/content"), 200),
        (format!("/p/p/pages/{rain}/content?as=text"), 200),
        (format!("/p/p/pages/{rain}/diff"), 200),
        (format!("/p/p/pages/{rain}/content?as=raw"), 401),
        (format!("/doc/p.{rain}"), 303),
        ("/api/v1/projects/p".to_owned(), 401),
        ("/p/p/sql".to_owned(), 303),
        ("/p/p/queue".to_owned(), 303),
        ("/".to_owned(), 303),
    ] {
        assert_eq!(guest(&path).status, status, "{path}");
    }
    assert_eq!(reading.served.post("/p/p/changes/seen", &[], "").status, 401);
    let view = guest(&format!("/p/p/pages/{rain}/content?as=view"));
    assert!(view.header("content-security-policy").unwrap().starts_with("sandbox "), "{view:?}");
    // A session that is none sees no less than a guest.
    assert_eq!(reading.served.get("/p/p", &[("Cookie", "orb=0000")]).status, 200);
    reading.home.orb(&["user", "grant", "anyone", PROJECT, "none"]).expect(0);
    assert_eq!(guest("/p/p").status, 303);
}

#[test]
fn every_screen_is_shown_escaped_and_answers_programs_too() {
    let reading = Reading::new();
    let (rain, hostile) = (reading.id("/rain").to_string(), reading.id("/hostile").to_string());
    for screen in SCREENS {
        let path = screen.replace("{rain}", &rain).replace("{hostile}", &hostile);
        let page = reading.page(&path);
        assert!(page.contains("</html>") && page.contains("<main id=\"main\">"), "{path}");
        for bad in ["<script>alert", "onclick=", "onerror=", "<svg onload", "href=\"javascript", "<style", " style="] {
            assert!(!page.contains(bad), "{path} contains {bad}");
        }
        reading.json(&path);
        for link in page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let link = format!("/{}", link.replace("&#38;", "&"));
            let reply = reading.served.get(&link, &[("Cookie", &reading.cookie), ("Accept", "text/html")]);
            assert!(reply.status == 200 || link.contains("/health?"), "{path} links to {link}: {}", reply.status);
        }
    }
    let within = |query: &str| {
        let reply = reading.served.get(&format!("/p/{PROJECT}/search?q=rain{query}"), &[("Cookie", &reading.cookie)]);
        assert_eq!(reply.status, 200, "{query}: {}", reply.body);
        reply.body
    };
    assert!(within("&filetype=html").contains("class=\"hit\"") && !within("&filetype=pdf").contains("class=\"hit\""));
    assert!(within("&lang=en+OR+*").contains("class=\"hit\""), "what is no word is no filter");
    assert!(within("").contains("explain=1") && within("&explain=1").contains("Without reasons"));
    assert!(!within("&offset=18446744073709551615").contains("class=\"hit\""), "nobody gets that far");
    let everywhere = reading.page("/search?q=plains+OR+hills+rain");
    assert!(everywhere.contains("/pages/"), "{everywhere}");
}

#[test]
fn the_account_of_a_run_leads_to_what_it_counts() {
    let reading = Reading::new();
    let project = reading.page("");
    assert!(project.contains(&format!("href=\"/p/{PROJECT}/runs/2?flag=UPD\">1</a>")), "{project}");
    let report = reading.json("/runs/2?flag=UPD");
    assert_eq!((report["flags"]["UPD"].as_u64(), report["documents"].as_array().unwrap().len()), (Some(1), 1));
    assert_eq!(report["known"], report["accounted"]);
    let rain = reading.id("/rain");
    assert_eq!(report["documents"][0]["page_id"], rain);
    let difference = reading.page(&format!("/pages/{rain}/diff?to=2"));
    assert!(difference.contains("<del>plains</del>") && difference.contains("<ins>hills</ins>"), "{difference}");
    let record = reading.page(&format!("/pages/{rain}"));
    assert!(record.contains("about the rain") && record.contains("class=\"flag UPD\""), "{record}");
    assert_eq!(reading.get(&format!("/pages/{rain}/diff?by=x"), "text/html").status, 400);
    assert_eq!(reading.get("/pages/999", "text/html").status, 404);
    assert_eq!(reading.get("/runs/9", "text/html").status, 404);
}

#[test]
fn archived_content_cannot_act() {
    let reading = Reading::new();
    let hostile = reading.id("/hostile");
    let content = |query: &str| reading.get(&format!("/pages/{hostile}/content{query}"), "text/html");
    let raw = content("?as=raw");
    assert_eq!(raw.header("content-type"), Some("application/octet-stream"));
    assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));
    assert!(raw.header("content-disposition").unwrap().starts_with("attachment; filename=\""));
    assert!(raw.header("content-security-policy").unwrap().starts_with("sandbox; default-src 'none'"));
    assert!(raw.body.contains(HOSTILE), "{}", raw.body);
    for form in ["text", "markdown"] {
        let text = content(&format!("?as={form}"));
        assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(text.body.contains("Hostile weather"), "{}", text.body);
    }
    let view = content("?as=view");
    let policy = view.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox allow-top-navigation-by-user-activation; default-src 'none'"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("unsafe"), "{policy}");
    assert!(view.body.contains("<h1>Hostile weather</h1>"), "{}", view.body);
    for bad in ["<script", "onclick", "onerror", "<svg", "javascript:", "<iframe", "<style", "<form", "<input", "evil"]
    {
        assert!(!view.body.contains(bad), "{bad}: {}", view.body);
    }
    assert_eq!(content("?as=html").status, 400);
    assert_eq!(content("?run=9").status, 404);
    let around = content("");
    assert!(around.body.contains("<iframe class=\"view\" sandbox=\"allow-top-navigation-by-user-activation\""));
    let start = reading.json("/pages")["pages"][0]["id"].as_u64().unwrap();
    let view = reading.get(&format!("/pages/{start}/content?as=view"), "text/html").body;
    let rain = format!("href=\"/p/{PROJECT}/pages/{}/content\" target=\"_top\"", reading.id("/rain"));
    assert!(view.contains(&rain), "{view}");
}

#[test]
fn archived_pages_are_shown_on_a_host_of_their_own() {
    let reading = Reading::new();
    let apart = Served::start(&reading.home, &["--view-host", "view.localhost"]);
    let (home, port) = (format!("localhost:{}", apart.address.port()), apart.address.port());
    let bob = [("Cookie", reading.cookie.as_str()), ("Host", &home), ("Accept", "text/html")];
    let content = format!("/p/p/pages/{}/content", reading.id("/hostile"));
    let around = apart.get(&content, &bob);
    let begin = format!("//view.localhost:{port}/view/");
    let ticket = around.body.split('"').find_map(|part| part.strip_prefix(begin.as_str())).unwrap().to_owned();
    let policy = around.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("frame-src view.localhost:{port};")), "{policy}");
    // There it is shown without a cookie, and framed by the server alone; its links lead back.
    let there = format!("view.localhost:{port}");
    let there = [("Host", there.as_str())];
    let view = apart.get(&format!("/view/{ticket}"), &there);
    assert_eq!(view.status, 200, "{view:?}");
    let policy = view.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox ") && policy.contains(&format!("frame-ancestors {home};")), "{policy}");
    assert!(view.body.contains("Hostile weather") && !view.body.contains("<script"), "{}", view.body);
    let start = reading.json("/pages")["pages"][0]["id"].as_u64().unwrap();
    let led = apart.get(&format!("/p/p/pages/{start}/content?as=view"), &bob);
    assert_eq!(led.status, 303, "{led:?}");
    let place = led.header("location").unwrap().strip_prefix(&begin).unwrap().to_owned();
    let linked = apart.get(&format!("/view/{place}"), &there).body;
    assert!(linked.contains(&format!("href=\"//{home}/p/p/pages/")), "{linked}");
    // That host has nothing else, not even for somebody who is logged in; and no other has views.
    let cookie = [there[0], ("Cookie", reading.cookie.as_str())];
    for path in ["/", "/login", "/healthz", "/p/p", content.as_str(), "/view/", "/view/x", "/api/v1", "/assets/x"] {
        assert_eq!(apart.get(path, &cookie).status, 404, "{path}");
    }
    assert_eq!(apart.send("POST /login", &there, "").status, 404);
    assert_eq!(apart.get(&format!("/view/{ticket}"), &bob).status, 404);
    assert_eq!(apart.get("/", &[("Host", "other.localhost")]).status, 421);
}

#[test]
fn lists_are_filtered_and_read_part_by_part() {
    let reading = Reading::new();
    let urls = |query: &str| {
        let found = reading.json(&format!("/pages{query}"));
        let pages = found["pages"].as_array().unwrap().clone();
        pages
            .iter()
            .map(|page| page["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(urls("?status=4xx"), ["gone", "x", "?%3Cscript%3E"]);
    assert_eq!(urls("?status=4xx&url=gone"), ["gone"]);
    assert_eq!(urls("?kind=REDIRECT"), ["moved"]);
    assert_eq!(urls("?mime=text/plain"), ["notes.txt"]);
    assert_eq!(urls("?mime=text/plai"), [""; 0]);
    assert_eq!(urls(&format!("?url=ain&after={}", reading.id("/rain") - 1)), ["rain"]);
    assert_eq!(urls("?host=77"), [""; 0]);
    for wrong in ["/pages?kind=NONE", "/pages?status=x", "/pages?after=x", "/hosts?after=x", "/changes?flag=x"] {
        assert_eq!(reading.get(wrong, "text/html").status, 400, "{wrong}");
    }
    let csv = reading.get("/sql?as=csv&q=SELECT+1+AS+a%2C+%27%3Dx%27+AS+b", "text/html");
    assert_eq!((csv.header("content-type"), csv.body.as_str()), (Some("text/csv; charset=utf-8"), "a,b\r\n1,'=x\r\n"));
    let refused = reading.page("/sql?q=DELETE+FROM+page_row");
    assert!(refused.contains("role=\"alert\""), "{refused}");
    let completed = reading.json("/complete?q=wea");
    assert_eq!(completed[0]["text"], "weather", "{completed}");
}

/// How often a page that is gone is linked to, once that has been counted for a run. What is not
/// of that run says so.
fn broken_links(reading: &Reading, run: u32) -> u64 {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let health = reading.json("/health");
        let broken = health["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == "broken_link").unwrap();
        if health["standing"] == "current" {
            assert_eq!(health["run"], run, "counts of another run as current: {health}");
            return broken["count"].as_u64().unwrap();
        }
        let page = reading.page("/health");
        assert!(page.contains("being counted") || page.contains("Found"), "{page}");
    }
    panic!("nothing was counted in a minute");
}

#[test]
fn counts_are_never_those_of_before_the_last_run() {
    let reading = Reading::new();
    let before = broken_links(&reading, 2);
    assert_eq!(reading.json("")["account"]["run"], 2);
    reading.edition.store(2, Ordering::SeqCst);
    reading.home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    // The first page links to what is gone now, and another leads there.
    assert_eq!(broken_links(&reading, 3), before + 2);
    let listed = reading.json("/health/broken_link");
    assert_eq!(listed["rows"].as_array().unwrap().len() as u64, before + 2, "{listed}");
    let project = reading.json("");
    assert_eq!((&project["account"]["run"], &project["account"]["flags"]["MIS"]), (&3.into(), &1.into()));
    let is_current = project["counted_at"].is_null() && !project["stats"].is_null();
    let errors = &project["stats"]["whole"]["errors"]["HTTP_ERROR"];
    let broken =
        reading.home.orb(&["stats", PROJECT, "--json"]).expect(0).json()["whole"]["errors"]["HTTP_ERROR"].clone();
    assert!(!is_current || *errors == broken, "{project}");
    let state = reading.served.get(&format!("/p/{PROJECT}"), &[("Cookie", &reading.cookie), ("Accept", "text/html")]);
    assert!(state.body.contains("run 3"), "{}", state.body);
}
