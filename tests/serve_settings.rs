//! Are settings, rules, steps and comparisons changed from the web as they are meant to be, also
//! while a run goes on?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::script::{Script, absent, page, reply};
use harness::served::{HttpReply, Served, add_user};
use harness::until;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// A home with a project `p` that starts here, served to somebody who may edit it.
struct Editing {
    home: Home,
    served: Served,
    cookie: String,
}

impl Editing {
    fn of(home: Home) -> Self {
        add_user(&home, "bob", &[]);
        home.orb(&["user", "grant", "bob", "p", "edit"]).expect(0);
        let served = Served::start(&home, &["--no-schedule"]);
        let reply = served.post("/login", &[], "name=bob&password=a+password");
        let cookie = reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
        Self { home, served, cookie }
    }

    fn new(seed: &str) -> Self {
        let home = Home::new();
        home.orb(&["project", "new", "p", "--seed", seed]).expect(0);
        Self::of(home)
    }

    /// The project's file.
    fn file(&self) -> String {
        std::fs::read_to_string(self.home.project().join("project.toml")).unwrap()
    }

    fn get(&self, path: &str, accept: &str) -> HttpReply {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", accept)])
    }

    /// The settings by the API, and their version.
    fn settings(&self) -> (Value, String) {
        let reply = self.get("/api/v1/projects/p/settings", "application/json");
        assert_eq!(reply.status, 200, "{reply:?}");
        (reply.json(), reply.header("etag").unwrap().to_owned())
    }

    /// Replaces the settings by the API.
    fn put(&self, kind: &str, version: Option<&str>, body: &str) -> HttpReply {
        let mut fields = vec![("Cookie", self.cookie.as_str()), ("Content-Type", kind)];
        fields.extend(version.map(|version| ("If-Match", version)));
        self.served.send("PUT /api/v1/projects/p/settings", &fields, body)
    }
}

#[test]
fn a_program_replaces_the_version_it_has_read_and_no_other() {
    let web = Editing::new("http://a.test/");
    let (settings, version) = web.settings();
    let file = web.get("/api/v1/projects/p/settings", "application/toml");
    assert_eq!((file.body.as_str(), file.header("etag")), (web.file().as_str(), Some(version.as_str())));
    assert_eq!(settings["seeds"], json!(["http://a.test/"]));
    let text = format!("# Ours.\n{}", file.body);
    let without = web.put("application/toml", None, &text);
    assert_eq!((without.status, &without.json()["type"]), (428, &"/problems/version-wanted".into()));
    let saved = web.put("application/toml", Some(&version), &text);
    assert_eq!(saved.status, 200, "{saved:?}");
    let now = saved.header("etag").unwrap();
    assert!(now != version && web.file().contains("# Ours.\n"));
    let stale = web.put("application/toml", Some(&version), &text);
    assert_eq!((stale.status, &stale.json()["type"]), (412, &"/problems/stale".into()));
    // What people have written stays where nothing else is said.
    let mut wanted = settings;
    wanted["frontier"]["depth"] = 3.into();
    assert_eq!(web.put("application/json", Some(now), &wanted.to_string()).status, 200);
    assert!(web.file().contains("# Ours.\n") && web.file().contains("depth = 3"), "{}", web.file());
    assert_eq!(web.settings().0["frontier"]["depth"], 3);
    assert_eq!(web.put("text/plain", Some("*"), "seeds = []").status, 415);
    // What makes no sense is refused as such, also with a version that is not there any more.
    assert_eq!(web.put("application/json", Some(&version), "{").status, 400);
    assert_eq!(web.put("application/json", Some(&version), r#"{"sedes": []}"#).status, 422);
}

#[test]
fn a_program_is_told_where_settings_are_wrong_and_what_is_the_operators() {
    let web = Editing::new("http://a.test/");
    let before = web.file();
    let (_, version) = web.settings();
    for (added, place, key) in [
        ("[[track.compare]]\nmatch = '('\n", (Some(2), Some(9)), "track.compare[0].match"),
        ("[outputs]\njsonl = '/tmp/x'\n", (Some(2), Some(9)), "outputs.jsonl"),
        ("[[track.compare]]\nprogram = ['sh']\n", (Some(1), Some(1)), "track.compare"),
    ] {
        let lines = before.lines().count() as u64;
        let refused = web.put("application/toml", Some(&version), &format!("{before}{added}"));
        assert_eq!(refused.status, 422, "{refused:?}");
        let problem = refused.json();
        let fault = &problem["errors"][0];
        assert_eq!(fault["key"], key, "{problem}");
        let told = (fault["line"].as_u64().map(|line| line - lines), fault["column"].as_u64());
        assert_eq!(told, place, "{problem}");
    }
    let misspelt = web.put("application/toml", Some(&version), "[frontier]\ndealy = '1s'\n").json();
    let expected =
        json!([{"line": 2, "column": 1, "key": null, "message": "unknown key `dealy`; did you mean `delay`?"}]);
    assert_eq!(misspelt["errors"], expected);
    let (mut settings, _) = web.settings();
    settings["fetch"]["proxy"] = "http://10.0.0.1:3128".into();
    let refused = web.put("application/json", Some(&version), &settings.to_string()).json();
    assert_eq!((&refused["status"], &refused["errors"][0]["key"]), (&422.into(), &"fetch.proxy".into()), "{refused}");
    assert!(refused["errors"][0].get("line").is_none(), "{refused}");
    assert_eq!(web.file(), before);
}

/// What a form encodes as.
fn form(fields: &[(&str, &str)]) -> String {
    let byte = |b: u8| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") };
    let encoded = |text: &str| text.bytes().map(byte).collect::<String>();
    fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect::<Vec<_>>().join("&")
}

/// The value of a hidden field of a page.
fn hidden<'p>(page: &'p str, name: &str) -> &'p str {
    page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap().split('"').next().unwrap()
}

/// A site whose first page links to `/keep/1` and to thirty pages below `/drop/`.
fn site(answer: impl Fn(&str) + Send + Sync + 'static) -> Script {
    Script::serve(move |heard| {
        answer(&heard.target);
        match heard.target.as_str() {
            "/" => page((1..=30).map(|n| format!("/drop/{n}")).chain(["/keep/1".to_owned()])),
            "/robots.txt" => absent(),
            _ => page(["/"]),
        }
    })
}

impl Editing {
    /// Sends the form of a screen.
    fn send(&self, path: &str, fields: &[(&str, &str)]) -> HttpReply {
        self.served.post(path, &[("Cookie", &self.cookie), ("Accept", "text/html")], &form(fields))
    }

    /// The page at a path, as a browser gets it.
    fn page(&self, path: &str) -> String {
        let reply = self.get(path, "text/html");
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.body
    }
}

#[test]
fn rules_are_tried_moved_and_saved_with_their_comments() {
    let site = site(|_| {});
    let seed = format!("http://{}/", site.address);
    let home = Home::new();
    home.crawl(&[&seed, "--delay", "0", "--max-pages", "1"]);
    let web = Editing::of(home);
    assert!(web.page("/p/p").contains("href=\"/p/p/settings\""), "the project does not lead to its settings");
    assert!(web.page("/p/p/settings").contains("href=\"/p/p/rules\""), "the settings do not lead to the rules");
    let version = hidden(&web.page("/p/p/rules"), "version").to_owned();
    let before = web.file();
    let tried = format!("{seed}drop/7");
    let rules = [
        ("version", version.as_str()),
        ("rows", "1"),
        ("action.0", "allow"),
        ("regex.0", "/drop/7$"),
        ("comment.0", "but the seventh"),
        ("action.1", "deny"),
        ("regex.1", "/drop/"),
        ("comment.1", "too many"),
        ("try", tried.as_str()),
    ];
    let preview = web.send("/p/p/rules/draft", &rules);
    assert_eq!(preview.status, 200, "{preview:?}");
    assert!(preview.body.contains("Of 31 queued pages 29 would be left out."), "{}", preview.body);
    assert!(preview.body.contains("allowed by rule 1"), "{}", preview.body);
    assert_eq!(preview.body.matches("<li class=\"break\">").count(), 20);
    let moved = web.send("/p/p/rules/draft", &[&rules[..], &[("do", "down 0")]].concat());
    assert!(moved.body.contains("denied by rule 1") && moved.body.contains("30 would be left out"), "{}", moved.body);
    let gone = web.send("/p/p/rules/draft", &[&rules[..], &[("do", "delete 1")]].concat());
    assert!(gone.body.contains("Everything else") && !gone.body.contains("too many"), "{}", gone.body);
    let wrong = web.send("/p/p/rules/draft", &[&rules[..], &[("action.0", "deny")]].concat());
    assert_eq!(wrong.status, 200, "the first field of a name is the one that counts");
    let wrong = [("version", version.as_str()), ("regex.0", "("), ("action.0", "deny")];
    let wrong = web.send("/p/p/rules", &wrong);
    assert!(wrong.status == 422 && wrong.body.contains("not a regular expression"), "{wrong:?}");
    assert_eq!(web.file(), before, "nothing was to be saved yet");
    let saved = web.send("/p/p/rules", &rules);
    assert_eq!((saved.status, saved.header("location")), (303, Some("/p/p/rules?saved=1")), "{saved:?}");
    let file = web.file();
    assert!(file.contains("{ allow = \"/drop/7$\" }, # but the seventh"), "{file}");
    assert!(file.contains("{ deny = \"/drop/\" }, # too many"), "{file}");
    let stale = web.send("/p/p/rules", &rules);
    assert!(stale.status == 422 && stale.body.contains("meanwhile"), "{stale:?}");
    let kept = web.get("/p/p/rules?try=http%3A%2F%2Fother.test%2F", "application/json").json();
    let expected = json!({"action": "deny", "regex": "/drop/", "comment": "too many"});
    assert_eq!((&kept["rules"][1], &kept["tried"]["why"]), (&expected, &"area".into()), "{kept}");
}

/// Lets requests for some pages through when the test says so.
#[derive(Default)]
struct Barrier {
    open: Mutex<bool>,
    change: Condvar,
}

impl Barrier {
    fn pass(&self) {
        drop(self.change.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.change.notify_all();
    }
}

#[test]
fn rules_that_are_changed_during_a_run_hold_at_once() {
    let barrier = Arc::new(Barrier::default());
    let waiting = Arc::clone(&barrier);
    // The first page below the seed is held back, and with it its host, since one request is made
    // at a time.
    let site = site(move |target| {
        if target == "/drop/1" {
            waiting.pass();
        }
    });
    let home = Home::new();
    home.orb(&["project", "new", "p", "--seed", &format!("http://{}/", site.address)]).expect(0);
    let web = Editing::of(home);
    let mut settings = web.settings();
    settings.0["frontier"]["delay"] = "10ms".into();
    // A rule that denies what a later one brings in.
    settings.0["scope"]["rules"] = json!([{"deny": "/keep/"}]);
    let saved = web.put("application/json", Some(&settings.1), &settings.0.to_string());
    assert_eq!(saved.status, 200, "{saved:?}");
    assert_eq!(web.send("/p/p/runs", &[("kind", "crawl")]).status, 303);
    let asked = |what: &str| site.heard().iter().filter(|heard| heard.target.starts_with(what)).count();
    until("the first page is asked for", || asked("/drop/1") > 0);
    let log = || std::fs::read_to_string(web.home.project().join("runs/1/run.log")).unwrap();
    // A file that cannot be used changes nothing and is told once.
    let good = web.file();
    let file = web.home.project().join("project.toml");
    std::fs::write(&file, "seeds = [").unwrap();
    until("the file is refused", || log().contains("are not used"));
    std::fs::write(&file, &good).unwrap();
    let version = hidden(&web.page("/p/p/rules"), "version").to_owned();
    let rules = [("version", version.as_str()), ("action.0", "deny"), ("regex.0", "/drop/(?:[2-9]|[0-9]{2})$")];
    assert_eq!(web.send("/p/p/rules", &rules).status, 303);
    until("the rules are taken up", || log().contains("the settings were changed: rules (1 now)"));
    let outside = || {
        let found = web.get("/p/p/pages?kind=OUTSIDE", "application/json").json();
        let items = found["pages"].as_array().unwrap().clone();
        items.iter().filter(|page| page["why"] == "rule").count()
    };
    until("the queue is judged again", || outside() == 29);
    let mut settings = web.settings();
    settings.0["frontier"]["delay"] = "20ms".into();
    settings.0["limits"]["schedule"] = json!([{"days": "all", "from": "00:00", "to": "24:00", "rate": "0"}]);
    let saved = web.put("application/json", Some(&settings.1), &settings.0.to_string());
    assert_eq!(saved.status, 200, "{saved:?}");
    until("delay and limits are taken up", || log().contains("were changed: delay 20ms, limits (1 now)"));
    let live = || web.get("/p/p/runs/1/live", "application/json").json();
    until("the run pauses", || live()["speed"]["schedule"].is_string());
    settings.0["limits"]["schedule"] = json!([]);
    let now = saved.header("etag").unwrap();
    assert_eq!(web.put("application/json", Some(now), &settings.0.to_string()).status, 200);
    until("the pause is over", || live()["speed"]["schedule"].is_null());
    assert!(web.page("/p/p/runs/1/live").contains("/p/p/rules"), "the live page does not lead to the rules");
    barrier.open();
    until("the run ends", || log().contains("done: "));
    assert_eq!((asked("/drop/"), asked("/keep/1")), (1, 1), "{:?}", site.heard());
    assert_eq!(log().matches("are not used").count(), 1, "{}", log());
    assert_eq!(outside(), 29);
    until("the project is free", || web.home.orb(&["status", "p"]).text().contains("done"));
    web.home.orb(&["check", "p"]).expect(0);
    // The next run has nothing to judge again.
    web.home.orb(&["crawl", "p", "--progress", "none"]).expect(0);
    assert!(!web.home.project().join("runs/2").exists(), "another run was begun");
}

#[test]
fn rules_that_are_changed_during_a_tracking_run_hold_at_once() {
    let (barrier, is_later) = (Arc::new(Barrier::default()), Arc::new(AtomicBool::new(false)));
    let (waiting, later) = (Arc::clone(&barrier), Arc::clone(&is_later));
    // The first page that is visited again is held back, and with it its host.
    let site = site(move |target| {
        if later.load(Ordering::SeqCst) && target != "/robots.txt" {
            waiting.pass();
        }
    });
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0", "--per-host", "1"]);
    is_later.store(true, Ordering::SeqCst);
    let web = Editing::of(home);
    let first = site.heard().len();
    let again = |what: &str| site.heard().iter().skip(first).filter(|heard| heard.target.starts_with(what)).count();
    assert_eq!(web.send("/p/p/runs", &[("kind", "track")]).status, 303);
    until("a page is asked for again", || again("/") > again("/robots.txt"));
    let version = hidden(&web.page("/p/p/rules"), "version").to_owned();
    let rules = [("version", version.as_str()), ("action.0", "deny"), ("regex.0", "/drop/")];
    assert_eq!(web.send("/p/p/rules", &rules).status, 303);
    let log = || std::fs::read_to_string(web.home.project().join("runs/2/run.log")).unwrap();
    until("the rules are taken up", || log().contains("the settings were changed: rules (1 now)"));
    barrier.open();
    until("the run ends", || log().contains("done: "));
    // Whatever was under way when the rules came may have been a page that they deny.
    assert!(again("/drop/") <= 1, "{:?}", site.heard());
    assert_eq!(again("/keep/1"), 1, "{:?}", site.heard());
    until("the project is free", || web.home.orb(&["status", "p"]).text().contains("done"));
    web.home.orb(&["check", "p"]).expect(0);
}

/// A site with a log-in, a page that changes with every request and one that does not.
fn changing_site() -> Script {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Script::serve(move |heard| {
        let html = |body: &str| reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html>{body}"));
        match heard.target.as_str() {
            "/" => html("<title>Start</title><a href=/login>log in</a> <a href=/news>news</a>"),
            "/login" => html(
                "<title>Log in</title><form id=in action=/session method=post><input name=user value=nobody>\
                 <input type=password name=password><input type=hidden name=csrf value=x>\
                 <select name=lang><option>en<option>de</select><input type=checkbox name=stay></form>",
            ),
            "/news" => {
                let n = asked.fetch_add(1, Ordering::SeqCst);
                let news = if n < 1 { "The mill is open." } else { "The mill is closed." };
                html(&format!("<title>News</title><p id=story>{news}</p><p class=count>{n} readers</p>"))
            }
            _ => absent(),
        }
    })
}

#[test]
fn a_form_of_an_archived_page_becomes_a_step_but_no_secret_of_the_server() {
    let site = changing_site();
    let seed = format!("http://{}/", site.address);
    let home = Home::new();
    home.crawl(&[&seed, "--delay", "0"]);
    let web = Editing::of(home);
    let version = hidden(&web.page("/p/p/steps"), "version").to_owned();
    let url = format!("{seed}login");
    let found = web.send("/p/p/steps/look", &[("url", &url)]);
    assert!(found.status == 200 && found.body.contains("as it was archived on"), "{found:?}");
    for part in ["name=\"field.0\" value=\"user\"", "type=\"password\"", "<option selected>en</option>"] {
        assert!(found.body.contains(part), "{part}: {}", found.body);
    }
    assert!(!found.body.contains("csrf"), "what nobody fills in is not shown");
    let logged = site.heard().len();
    // A page that was never fetched would be requested, but not inside.
    let inside = web.send("/p/p/steps/look", &[("url", &format!("{seed}other"))]);
    assert!(inside.status == 422 && inside.body.contains("loopback address"), "{inside:?}");
    assert_eq!(site.heard().len(), logged);
    let step = [
        ("version", version.as_str()),
        ("start", url.as_str()),
        ("by", "id"),
        ("key", "in"),
        ("name", "door"),
        ("fields", "4"),
        ("field.0", "user"),
        ("kind.0", "text"),
        ("was.0", "nobody"),
        ("value.0", "bob"),
        ("field.1", "password"),
        ("kind.1", "password"),
        ("value.1", "hush"),
        ("field.2", "lang"),
        ("kind.2", "one"),
        ("was.2", "en"),
        ("value.2", "en"),
        ("field.3", "stay"),
        ("kind.3", "switch"),
        ("value.3", "on"),
        ("expect", "Welcome"),
    ];
    // The project may reach private addresses, so where it starts is the operator's business.
    let refused = web.send("/p/p/steps/form", &step);
    assert!(refused.status == 422 && refused.body.contains("operator of this server only"), "{refused:?}");
    let file = web.home.project().join("project.toml");
    std::fs::write(&file, web.file().replace("private_seeds = true", "private_seeds = false")).unwrap();
    let version = hidden(&web.page("/p/p/steps"), "version").to_owned();
    let with = |changes: &[(&'static str, &'static str)]| {
        let mut fields: Vec<(&str, &str)> = vec![("version", version.as_str())];
        fields.extend(changes);
        fields.extend(step.iter().skip(1));
        web.send("/p/p/steps/form", &fields)
    };
    let secret = with(&[("start", "http://a.test/login"), ("env.1", "HOME")]);
    assert!(secret.status == 422 && secret.body.contains("steps holds what the operator"), "{secret:?}");
    let added = with(&[("start", "http://a.test/login")]);
    assert_eq!((added.status, added.header("location")), (303, Some("/p/p/steps?saved=1")), "{added:?}");
    let kept = web.settings().0["steps"].clone();
    let fields = json!({"user": "bob", "password": {"secret": "door: password"}, "stay": true});
    assert_eq!(kept[0]["form"], json!({"id": "in", "fields": fields}), "{kept}");
    let page = web.page("/p/p/steps");
    assert!(page.contains("1. door") && page.contains("user = bob") && !page.contains("hush"), "{page}");
    assert!(page.contains("<b>door: password</b> for http://a.test") && !web.file().contains("hush"), "{page}");
    let version = hidden(&page, "version").to_owned();
    let second = [("version", version.as_str()), ("name", "behind"), ("links", "a"), ("depth", "2"), ("collect", "1")];
    assert_eq!(web.send("/p/p/steps", &second).status, 303);
    let version = hidden(&web.page("/p/p/steps"), "version").to_owned();
    assert_eq!(web.send("/p/p/steps", &[("version", &version), ("do", "delete 0")]).status, 422, "it goes on from 0");
    assert_eq!(web.send("/p/p/steps", &[("version", &version), ("do", "delete 1")]).status, 303);
    assert_eq!(web.settings().0["steps"].as_array().unwrap().len(), 1);
}

#[test]
fn a_rule_for_comparing_is_tried_on_the_versions_that_are_there() {
    let site = changing_site();
    let seed = format!("http://{}/", site.address);
    let home = Home::new();
    home.crawl(&[&seed, "--delay", "0"]);
    home.orb(&["track", "p", "--progress", "none"]).expect(0);
    let web = Editing::of(home);
    let before = web.file();
    let version = hidden(&web.page("/p/p/compare"), "version").to_owned();
    let url = format!("{seed}news");
    let rule = |fields: &[(&'static str, &'static str)]| {
        let all = [&[("version", version.as_str()), ("row", "0"), ("match", "/news$"), ("url", &url)], fields].concat();
        web.send("/p/p/compare/draft", &all).body
    };
    let all = rule(&[("by", "text")]);
    assert!(all.contains("Rule 1 applies: they differ: UPD.") && all.contains("readers"), "{all}");
    let story = rule(&[("include", "#story")]);
    assert!(story.contains("UPD") && story.contains("<del>open</del>") && !story.contains("readers</"), "{story}");
    let count = rule(&[("include", ".count"), ("ignore", "[0-9]+ readers")]);
    assert!(count.contains("say the same: SAM") && count.contains("nothing differs"), "{count}");
    assert!(rule(&[("include", ">>")]).contains("is not a CSS selector"));
    assert_eq!(web.file(), before, "nothing was to be saved yet");
    let row = [("version", version.as_str()), ("row", "0"), ("match", "/news$"), ("include", ".count\r\n#story")];
    assert_eq!(web.send("/p/p/compare", &row).status, 303);
    let kept = web.settings().0["track"]["compare"].clone();
    assert_eq!((&kept[0]["match"], &kept[0]["include"]), (&"/news$".into(), &json!([".count", "#story"])), "{kept}");
    // A rule with a program is the operator's, and the program is not run to try it.
    let file = web.home.project().join("project.toml");
    let told = web.home.beside("told");
    let program = format!("program = ['touch', '{}']", told.display());
    let row = "[[track.compare]]\n";
    std::fs::write(&file, web.file().replace(row, &format!("{row}{program}\n"))).unwrap();
    let shown = web.page(&format!("/p/p/compare?url={url}"));
    assert!(shown.contains("its program decides: it is not asked here") && !told.exists(), "{shown}");
    let version = hidden(&shown, "version").to_owned();
    let changed = web.send("/p/p/compare", &[("version", &version), ("row", "0"), ("match", "/")]);
    assert!(changed.status == 422 && changed.body.contains("track.compare holds what the operator"), "{changed:?}");
}

/// A site behind a log-in.
fn door() -> Script {
    Script::serve(|heard| match heard.target.as_str() {
        "/login" => reply(
            "200 OK",
            "Content-Type: text/html\r\n",
            "<form id=in method=post action=/door><input name=user><input type=password name=password></form>",
        ),
        "/door" => reply("200 OK", "Content-Type: text/html\r\n", "<p>Welcome</p><a href=/room>room</a>"),
        "/room" => page(["/"]),
        _ => absent(),
    })
}

#[test]
fn a_password_typed_in_the_browser_is_shown_to_nobody_and_sent_to_its_site_alone() {
    let site = door();
    let seed = format!("http://{}/login", site.address);
    let home = Home::new();
    home.orb(&["project", "new", "p", "--seed", &seed]).expect(0);
    let web = Editing::of(home);
    // Where a project starts on this machine is the operator's to say.
    let form = "collect = false\nexpect = 'Welcome'\n[steps.form]\nid = 'in'\nfields = { user = 'ann' }\n";
    let step = format!("[[steps]]\nname = 'in'\nstart = ['{seed}']\n{form}");
    std::fs::write(web.home.project().join("project.toml"), format!("{}\n{step}", web.file())).unwrap();
    // Typed into the file itself, it does not stay there.
    let version = hidden(&web.page("/p/p/settings"), "version").to_owned();
    let text = web.file().replace("user = 'ann' }", "user = 'ann', password = 'hush hush' }");
    let saved = web.send("/p/p/settings", &[("version", &version), ("text", &text)]);
    assert_eq!(saved.status, 303, "{saved:?}");
    assert!(web.file().contains("secret = \"in: password\"") && !web.file().contains("hush"), "{}", web.file());
    let kept = web.home.project().join("secrets.toml");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    web.home.orb(&["crawl", "p", "--delay", "0"]).expect(0);
    let sent = site.heard().into_iter().find(|heard| heard.target == "/door").unwrap();
    assert_eq!(String::from_utf8_lossy(&sent.body), "user=ann&password=hush+hush");
    for path in ["/p/p/steps", "/p/p/settings", "/api/v1/projects/p/settings", "/p/p/runs/1/log"] {
        let reply = web.get(path, "*/*");
        assert!(reply.status == 200 && !reply.body.contains("hush"), "{path}: {reply:?}");
    }
    // Nobody has it sent elsewhere.
    let asked = site.heard().len();
    let other = [("name", "in: password"), ("site", "http://other.test/x"), ("value", "hush hush")];
    assert_eq!(web.send("/p/p/secrets", &other).header("location"), Some("/p/p/steps?saved=1#secrets"));
    let told = web.home.orb(&["track", "p", "--delay", "0"]);
    let told = told.complaint(1);
    assert!(told.contains("the secret 'in: password' is for http://other.test, and the form leads to"), "{told}");
    let later = site.heard().split_off(asked);
    assert!(later.iter().all(|heard| heard.target != "/door"), "{later:?}");
    assert_eq!(web.send("/p/p/secrets", &[("name", "x"), ("site", "nowhere:"), ("value", "y")]).status, 400);
    assert_eq!(web.send("/p/p/secrets/remove", &[("name", "in: password")]).status, 303);
    assert_eq!(web.send("/p/p/secrets/remove", &[("name", "in: password")]).status, 404);
    let told = web.home.orb(&["track", "p", "--delay", "0"]);
    assert!(told.complaint(1).contains("there is no secret 'in: password'"), "{told}");
}
