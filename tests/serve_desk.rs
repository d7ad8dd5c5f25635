//! Do links, kept queries, logs, reports, schedules, events and compressed pages do what they say?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::held::{HeldSite, Manner};
use harness::orb::Home;
use harness::script::{Script, page};
use harness::served::{HttpReply, Served, add_user, text};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a form encodes as.
fn form(fields: &[(&str, &str)]) -> String {
    let byte = |b: u8| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") };
    let encoded = |text: &str| text.bytes().map(byte).collect::<String>();
    fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect::<Vec<_>>().join("&")
}

/// A home with projects `p`, of five pages, and `q`, served to its administrator.
struct Attended {
    home: Home,
    _site: Script,
    served: Served,
    ann: String,
}

impl Attended {
    fn new() -> Self {
        // After the first visit there is one page more.
        let visits = AtomicUsize::new(0);
        let site = Script::serve(move |heard| match heard.target.as_str() {
            "/" => page((1..5 + visits.fetch_add(1, Ordering::SeqCst).min(1)).map(|n| format!("/{n}"))),
            _ => page(["/"]),
        });
        let home = Home::new();
        home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
        home.orb(&["project", "new", "q", "--seed", "http://a.test/"]).expect(0);
        Self::of(home, site)
    }

    fn of(home: Home, site: Script) -> Self {
        add_user(&home, "ann", &["--admin"]);
        add_user(&home, "bob", &[]);
        let served = Served::start(&home, &["--no-schedule", "--operator-keys"]);
        let ann = log_in(&served, "ann");
        Self { home, _site: site, served, ann }
    }

    fn get(&self, path: &str) -> HttpReply {
        self.served.get(path, &[("Cookie", &self.ann), ("Accept", "text/html")])
    }

    /// A page, which must be there.
    fn page(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }

    fn json(&self, path: &str) -> Value {
        self.served.get(path, &[("Cookie", &self.ann), ("Accept", "application/json")]).json()
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> HttpReply {
        self.served.post(path, &[("Cookie", &self.ann), ("Accept", "text/html")], &form(fields))
    }

    /// The lines of a stream of events, as they come.
    fn events(&self, path: &str) -> impl Iterator<Item = String> + use<> {
        let mut stream = TcpStream::connect(self.served.address).unwrap();
        let fields = [("Cookie", self.ann.as_str())];
        stream.write_all(text(self.served.address, &format!("GET {path}"), &fields, "").as_bytes()).unwrap();
        BufReader::new(stream).lines().map_while(Result::ok)
    }
}

fn log_in(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

#[test]
fn a_link_opens_one_project_for_reading_until_it_is_revoked() {
    let desk = Attended::new();
    let made = desk.post("/links", &[("project", "p"), ("days", "7")]);
    assert_eq!((made.status, made.header("cache-control")), (200, Some("no-store")), "{made:?}");
    let secret = made.body.split("/link/").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let entered = desk.served.get(&format!("/link/{secret}"), &[("Accept", "text/html")]);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/p/p")), "{entered:?}");
    let cookie = entered.cookie().unwrap().to_owned();
    assert!(entered.header("set-cookie").unwrap().contains("HttpOnly; SameSite=Lax"), "{entered:?}");
    let guest = |path: &str| desk.served.get(path, &[("Cookie", &cookie), ("Accept", "text/html")]);
    assert!(guest("/p/p").status == 200 && guest("/p/p/pages").status == 200);
    for closed in ["/p/q", "/p/p/sql", "/p/p/settings", "/p/p/run", "/"] {
        assert_eq!(guest(closed).status, 303, "{closed}");
    }
    assert!(!guest("/login").body.contains("/p/p"), "the page to log in names it");
    // It is no token for programs, and whoever has no link sees nothing.
    let bearer = format!("Bearer {secret}");
    let program = desk.served.get("/api/v1/projects/p", &[("Authorization", &bearer)]);
    assert_eq!(program.status, 403, "{program:?}");
    assert_eq!(desk.served.get("/p/p", &[("Accept", "text/html")]).status, 303);
    assert_eq!(desk.served.get("/link/orb_0000", &[]).status, 404);
    // Somebody with an account that may not read the project reads it by the link, too.
    let bob = log_in(&desk.served, "bob");
    let with = |cookies: &str| desk.served.get("/p/p", &[("Cookie", cookies), ("Accept", "text/html")]).status;
    assert_eq!((with(&bob), with(&format!("{bob}; {cookie}"))), (404, 200));
    let links = desk.json("/users")["links"].clone();
    assert_eq!((&links[0]["project"], &links[0]["user"]), (&"p".into(), &"ann".into()), "{links}");
    let revoked = desk.post(&format!("/users/ann/tokens/{}/revoke", links[0]["id"]), &[]);
    assert_eq!(revoked.status, 303, "{revoked:?}");
    assert_eq!((guest("/p/p").status, desk.served.get(&format!("/link/{secret}"), &[]).status), (303, 404));
    let bob = [("Cookie", bob.as_str())];
    assert_eq!(desk.served.post("/links", &bob, "project=p").status, 403, "only administrators make links");
}

/// The head of a response in lower case, and its body.
fn bytes(desk: &Attended, path: &str, fields: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(desk.served.address).unwrap();
    stream.write_all(text(desk.served.address, &format!("GET {path}"), fields, "").as_bytes()).unwrap();
    let mut read = Vec::new();
    stream.read_to_end(&mut read).unwrap();
    let end = read.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8(read[..end].to_vec()).unwrap().to_lowercase(), read[end + 4..].to_vec())
}

#[test]
fn what_our_own_pages_load_is_compressed_unless_it_holds_a_secret() {
    let desk = Attended::new();
    let ask = |path: &str, more: &[(&str, &str)]| {
        let fields = [&[("Cookie", desk.ann.as_str()), ("Accept-Encoding", "gzip, br"), ("Accept", "text/html")], more];
        bytes(&desk, path, &fields.concat())
    };
    let is_packed = |head: &str| head.contains("content-encoding: gzip");
    let (head, body) = ask("/p/p", &[("Sec-Fetch-Site", "same-origin")]);
    assert!(is_packed(&head) && head.contains("vary: accept-encoding"), "{head}");
    let mut plain = String::new();
    flate2::read::GzDecoder::new(&body[..]).read_to_string(&mut plain).unwrap();
    assert!(plain.contains("<h1>p</h1>") && plain.len() > 2 * body.len(), "{} of {}", body.len(), plain.len());
    // A page of another site that has it loaded learns nothing by its length.
    for elsewhere in [&[("Sec-Fetch-Site", "cross-site")][..], &[("Sec-Fetch-Site", "same-site")], &[]] {
        let (head, _) = ask("/p/p?x=guess", elsewhere);
        assert!(head.starts_with("http/1.1 200") && !is_packed(&head), "{elsewhere:?}: {head}");
    }
    for secret in ["/p/p/settings", "/p/p/steps", "/p/p/exports", "/p/p/pages/1/content", "/api/v1/projects/p/settings"]
    {
        let (head, _) = ask(secret, &[("Sec-Fetch-Site", "same-origin")]);
        assert!(head.starts_with("http/1.1 200") && !is_packed(&head), "{secret}: {head}");
    }
    let (head, _) = bytes(&desk, "/login", &[("Accept", "text/html")]);
    assert!(!is_packed(&head), "nobody asked for it: {head}");
    let style = plain.split("href=\"/assets/").nth(1).unwrap().split('"').next().unwrap();
    let (head, packed) = bytes(&desk, &format!("/assets/{style}"), &[("Accept-Encoding", "gzip")]);
    let (_, whole) = bytes(&desk, &format!("/assets/{style}"), &[]);
    assert!(is_packed(&head) && packed.len() * 2 < whole.len(), "{head}");
    let mut same = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut same).unwrap();
    assert_eq!(same, whole);
}

#[test]
fn projects_that_come_go_and_change_and_deliveries_are_events() {
    let desk = Attended::new();
    let mut all = desk.events("/events");
    let mut told = Vec::new();
    let mut until_told = |event: &str, said: &str| {
        let wanted = format!("event: {event}");
        while !told.windows(2).any(|two: &[String]| two[0] == wanted && two[1].contains(said)) {
            told.push(all.next().expect("the stream ended"));
        }
        told.clear();
    };
    until_told("run", "\"project\":\"p\"");
    until_told("run", "\"project\":\"q\"");
    // Listeners are told of what happens after the first look, which a change of its own marks.
    let touch = || {
        let file = desk.home.path().join("q/project.toml");
        let kept = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{kept}# again\n")).unwrap();
    };
    let (stop, writing) = (AtomicBool::new(false), std::time::Duration::from_millis(300));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                touch();
                std::thread::park_timeout(writing);
            }
        });
        until_told("project", "\"what\":\"settings\"");
        stop.store(true, Ordering::SeqCst);
    });
    let made = desk.post("/new", &[("name", "r"), ("seeds", "http://b.test/"), ("template", "news")]);
    assert_eq!(made.header("location"), Some("/p/r/settings"), "{made:?}");
    until_told("project", "{\"project\":\"r\",\"what\":\"made\"}");
    let file = desk.home.project().join("project.toml");
    let kept = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, kept.replace("[outputs]", "[outputs]\njsonl = 'changes.jsonl'")).unwrap();
    desk.home.orb(&["deliver", "p"]).expect(0);
    until_told("delivery", "\"output\":\"changes.jsonl\"");
    desk.home.orb(&["project", "remove", "r", "--yes"]).expect(0);
    until_told("project", "{\"project\":\"r\",\"what\":\"removed\"}");
}

#[test]
fn a_log_is_filtered_by_level_and_followed_while_the_run_goes_on() {
    let held = HeldSite::serve(Manner::Silent);
    let home = Home::new();
    home.orb(&["project", "new", "p", "--seed", &held.url("/")]).expect(0);
    let desk = Attended::of(home, Script::serve(|_| page(["/"])));
    assert_eq!(desk.post("/p/p/runs", &[("kind", "crawl")]).header("location"), Some("/p/p/runs/1/live"));
    let log = desk.page("/p/p/runs/1/log");
    assert!(log.contains("data-events=\"/p/p/runs/1/log/events\"") && log.contains("follows the run"), "{log}");
    let running = desk.page("/p/p");
    assert!(running.contains("action=\"/p/p/runs/1/stop\"") && running.contains("Watch it"), "{running}");
    let mut lines = desk.events("/p/p/runs/1/log/events");
    assert!(lines.any(|line| line.contains("begun")), "the log was not sent");
    // What cannot be used is a warning.
    let file = desk.home.project().join("project.toml");
    let kept = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{kept}[fetch]\nuser_agent = ''\nnonsense = 1\n")).unwrap();
    assert!(lines.any(|line| line.contains("warning: the settings were changed and are not used")), "no warning");
    std::fs::write(&file, kept).unwrap();
    held.release();
    assert_eq!(desk.post("/p/p/runs/1/stop", &[]).status, 303);
    assert!(lines.any(|line| line == "event: end"), "the stream did not end with the run");
    let warnings = desk.json("/p/p/runs/1/log?level=warning");
    let listed = warnings["lines"].as_array().unwrap();
    assert!(!listed.is_empty() && listed.iter().all(|line| line["level"] == "warning"), "{warnings}");
    assert!(desk.page("/p/p/runs/1/log").contains("class=\"warning\""));
    assert_eq!(desk.get("/p/p/runs/1/log?level=loud").status, 400);
}

#[test]
fn queries_are_kept_for_everybody_who_may_ask() {
    let desk = Attended::new();
    let query = "SELECT kind, count(*) FROM page GROUP BY kind";
    let kept = desk.post("/p/p/sql/saved", &[("name", "kinds <b>"), ("q", query)]);
    assert_eq!(kept.status, 303, "{kept:?}");
    let page = desk.page(kept.header("location").unwrap());
    assert!(page.contains("kinds &#60;b&#62;</a>") && page.contains("HTML") && page.contains("by ann"), "{page}");
    desk.home.orb(&["user", "grant", "bob", "p", "read"]).expect(0);
    let bob = log_in(&desk.served, "bob");
    let with = [("Cookie", bob.as_str()), ("Accept", "text/html")];
    let seen = desk.served.get("/p/p/sql", &with).body;
    assert!(seen.contains("kinds &#60;b&#62;</a>") && !seen.contains("sql/saved"), "{seen}");
    assert_eq!(desk.served.post("/p/p/sql/saved", &with, "name=x&q=SELECT+1").status, 403);
    assert_eq!(desk.post("/p/p/sql/saved", &[("name", "x"), ("q", " ")]).status, 400);
    assert_eq!(desk.post("/p/p/sql/saved/remove", &[("name", "kinds <b>")]).status, 303);
    assert_eq!(desk.post("/p/p/sql/saved/remove", &[("name", "kinds <b>")]).status, 404);
}

#[test]
fn a_project_begins_with_a_template_and_its_week_is_shown() {
    let desk = Attended::new();
    let shown = desk.page("/new?url=http%3A%2F%2Fb.test%2F&template=docs");
    for part in ["<option value=\"docs\" selected>", "value=\"prefix\" selected", "name=\"every\" value=\"1d\""] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(desk.get("/new?template=poem").status, 400);
    let fields =
        [("name", "manual"), ("seeds", "http://b.test/"), ("template", "docs"), ("mode", "prefix"), ("every", "8h")];
    assert_eq!(desk.post("/new", &fields).header("location"), Some("/p/manual/settings"));
    let file = std::fs::read_to_string(desk.home.path().join("manual/project.toml")).unwrap();
    assert!(file.contains("markdown = \"pages\"") && file.contains("every = \"8h\""), "{file}");
    assert!(file.contains("# Print, raw and old versions are duplicates"), "its comments are lost: {file}");
    let due = desk.json("/schedule");
    assert_eq!((&due["due"][0]["project"], &due["week"][0]["project"]), (&"manual".into(), &"manual".into()), "{due}");
    let times = due["week"][0]["due"].as_array().unwrap().len();
    assert!((18..=22).contains(&times), "{times} times a week, every eight hours");
    let page = desk.page("/schedule");
    assert!(page.contains("Today</th>") && page.contains("The week, by UTC"), "{page}");
    let api = desk.served.send(
        "POST /api/v1/projects",
        &[("Cookie", desk.ann.as_str()), ("Content-Type", "application/json")],
        r#"{"name": "paper", "seeds": ["http://c.test/"], "template": "news", "max_pages": 7}"#,
    );
    assert_eq!(api.status, 201, "{api:?}");
    let shown = desk.home.orb(&["project", "show", "paper", "--json"]).json();
    assert_eq!((&shown["frontier"]["depth"], &shown["frontier"]["max_pages"]), (&3.into(), &7.into()), "{shown}");
}

#[test]
fn a_report_is_taken_along_and_acknowledged_where_the_project_stands() {
    let desk = Attended::new();
    let report = desk.page("/p/p/runs/1?flag=NEW");
    assert!(report.contains("href=\"/p/p/runs/1/report.csv?flag=NEW\""), "{report}");
    let csv = desk.get("/p/p/runs/1/report.csv?flag=NEW");
    assert_eq!(csv.header("content-disposition"), Some("attachment; filename=\"p-run-1.csv\""), "{csv:?}");
    let lines: Vec<&str> = csv.body.lines().collect();
    assert!(lines.len() == 6 && lines[0].starts_with("flag,page_id,url,") && lines[1].starts_with("NEW,"), "{lines:?}");
    assert_eq!(desk.get("/p/p/runs/1/report.txt?flag=NEW").body.lines().count(), 5);
    assert!(desk.page("/p/p").contains("action=\"/p/p/runs/1/ack\""));
    let file = desk.home.project().join("project.toml");
    let kept = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, kept.replace("hold_until_acknowledged = false", "hold_until_acknowledged = true")).unwrap();
    let waits = "href=\"/p/p/runs/2\">waits to be acknowledged";
    let first = desk.page("/");
    assert!(!first.contains(waits) && first.contains("Nothing does."), "a first run changes nothing: {first}");
    // Numbers lead to what they count.
    for path in ["/p/p/pages", "/p/p/runs/1?flag=NEW"] {
        assert!(first.contains(&format!("href=\"{path}\"")), "{path}: {first}");
    }
    desk.home.orb(&["track", "p", "--delay", "0"]).expect(0);
    let second = desk.page("/");
    assert!(second.contains(waits) && second.contains("href=\"/p/p/runs/2\">run 2 waits for you"), "{second}");
    assert_eq!(desk.post("/p/p/runs/2/ack", &[]).status, 303);
    let page = desk.page("/p/p");
    assert!(page.contains("Acknowledged by ann") && !page.contains("/ack\""), "{page}");
    assert!(!desk.page("/").contains(waits) && desk.page("/").contains("Nothing does."));
    assert!(desk.page("/p/p/runs").contains("Asked for by"));
}

#[test]
fn a_project_that_cannot_be_read_takes_no_other_away() {
    let desk = Attended::new();
    std::fs::write(desk.home.path().join("q").join("crawl.db"), "no database at all ".repeat(1_000)).unwrap();
    let home = desk.page("/");
    assert!(home.contains("href=\"/p/p/pages\"") && home.contains("cannot be read"), "{home}");
    let all = desk.json("/api/v1/projects");
    assert_eq!((&all["items"][0]["project"], &all["items"][0]["run"]), (&"p".into(), &1.into()), "{all}");
    assert!(all["items"][1]["problem"].as_str().unwrap().contains("orb check q"), "{all}");
    assert!(desk.get("/metrics").body.contains("orb_project_run{project=\"p\"} 1"));
    let told = desk.events("/events").find(|line| line.starts_with("data:")).unwrap();
    assert!(told.contains("\"project\":\"p\""), "{told}");
    let call =
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "projects", "arguments": {}}}"#;
    let fields = [("Cookie", desk.ann.as_str()), ("Content-Type", "application/json")];
    let answer = desk.served.send("POST /mcp", &fields, call).json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"last_run\":1") && text.contains("problem"), "{answer}");
    for path in ["/schedule", "/machines", "/search?q=page", "/users", "/me"] {
        assert_eq!(desk.get(path).status, 200, "{path}");
    }
}

#[test]
fn a_host_shows_its_sitemaps() {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => {
            let map = format!("Sitemap: http://{}/map.xml\n", heard.field("host").unwrap());
            harness::script::reply("200 OK", "Content-Type: text/plain\r\n", &map)
        }
        _ => page(["/"]),
    });
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    let map = format!("http://{}/map.xml", site.address);
    let desk = Attended::of(home, site);
    let host = desk.page("/p/p/hosts/1");
    assert!(host.contains(&format!("<li class=\"break\">{map}</li>")), "{host}");
    assert!(host.contains("href=\"/p/p/queue?host=1\""), "{host}");
}
