//! Do the screens of the people who look after a server do what they say: users, exports, the map,
//! the queue, the machine?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Home, PROJECT, Running};
use harness::script::{Script, absent, page, reply};
use harness::served::{HttpReply, Served, add_user, text};
use harness::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cookie of somebody who has logged in.
fn cookie(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

/// Somebody who asks.
struct Visitor<'s> {
    served: &'s Served,
    cookie: String,
}

impl<'s> Visitor<'s> {
    fn new(served: &'s Served, name: &str) -> Self {
        Self { served, cookie: cookie(served, name) }
    }

    fn get(&self, path: &str) -> HttpReply {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", "text/html")])
    }

    /// A page, which must be there.
    fn page(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")), "{reply:?}");
        reply.body
    }

    fn json(&self, path: &str) -> Value {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", "application/json")]).json()
    }

    fn post(&self, path: &str, form: &str) -> HttpReply {
        self.served.post(path, &[("Cookie", &self.cookie)], form)
    }

    /// Sends JSON to the API.
    fn send(&self, request: &str, body: &str) -> HttpReply {
        self.served.send(request, &[("Cookie", &self.cookie), ("Content-Type", "application/json")], body)
    }

    /// A response whose body is any bytes: its head, in lower case, and the body.
    fn bytes(&self, path: &str, fields: &[(&str, &str)]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.served.address).unwrap();
        let fields = [&[("Cookie", self.cookie.as_str())], fields].concat();
        stream.write_all(text(self.served.address, &format!("GET {path}"), &fields, "").as_bytes()).unwrap();
        let mut read = Vec::new();
        stream.read_to_end(&mut read).unwrap();
        let end = read.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8(read[..end].to_vec()).unwrap().to_lowercase(), read[end + 4..].to_vec())
    }
}

/// A home with projects `p` and `q`, an administrator, and somebody who may do nothing yet.
fn staffed() -> Home {
    let home = Home::new();
    for project in ["p", "q"] {
        home.orb(&["project", "new", project, "--seed", "http://a.test/"]).expect(0);
    }
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &["--email", "bob@a.test"]);
    home
}

#[test]
fn an_administrator_adds_users_and_says_what_they_may_do() {
    let home = staffed();
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    assert!(ann.page("/").contains("href=\"/users\""), "the list of users is not linked to");
    let refused = ann.post("/users", "name=Eve+%3Cb%3E&password=long+enough");
    assert!(refused.status == 422 && refused.body.contains("is not a user") && !refused.body.contains("<b>&"));
    assert!(ann.post("/users", "name=eve&password=short").body.contains("at least 8 characters"));
    let added = ann.post("/users", "name=eve&password=a+password&full_name=%3Cscript%3E&email=eve%40a.test");
    assert_eq!((added.status, added.header("location")), (303, Some("/users/eve?said=added")));
    let page = ann.page("/users");
    assert!(page.contains("&#60;script&#62;") && !page.contains("<script>"), "{page}");
    assert_eq!(ann.post("/users/eve/grants", "p.p=read&p.q=run&p.nowhere=edit").status, 303);
    assert_eq!(ann.post("/users/eve/grants", "p.p=none").status, 303);
    assert_eq!(ann.post("/users/eve/grants", "p.p=everything").status, 400);
    let shown = ann.json("/users/eve");
    assert_eq!(shown["grants"], json!({"q": "run"}), "{shown}");
    let eve = Visitor::new(&served, "eve");
    assert_eq!((eve.get("/users").status, eve.get("/p/q").status, eve.get("/p/p").status), (403, 200, 404));
    assert!(!eve.page("/").contains("href=\"/users\""));
    // A forgotten password is set by somebody else and ends the sessions.
    assert_eq!(ann.post("/users/eve/password", "password=another+one").status, 303);
    assert_eq!(eve.get("/").status, 303);
    assert_eq!(ann.post("/users/ann/password", "password=another+one").status, 409, "without the old one");
    // Tokens are listed and revoked, of the user in the address alone.
    let made = home.orb(&["user", "token", "eve", "--scope", "read", "--json"]).json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let id = ann.json("/users/eve")["tokens"][0]["id"].to_string();
    assert_eq!(served.get("/api/v1/projects/q", &[("Authorization", &bearer)]).status, 200);
    assert_eq!(ann.post(&format!("/users/bob/tokens/{id}/revoke"), "").status, 404);
    assert_eq!(ann.post(&format!("/users/eve/tokens/{id}/revoke"), "").status, 303);
    assert_eq!(served.get("/api/v1/projects/q", &[("Authorization", &bearer)]).status, 401);
    assert_eq!(ann.post("/users/eve/remove", "").header("location"), Some("/users?removed=eve"));
    assert_eq!(ann.get("/users/eve").status, 404);
    // What was done is written down with who did it.
    let last = ann.json("/users")["last"].clone();
    assert_eq!((&last[0]["user"], &last[0]["what"]), (&"ann".into(), &"removed user eve".into()), "{last}");
    let noted = last.to_string();
    for what in ["user eve may run on project q", "changed the password of eve", "revoked token", "added user eve"] {
        assert!(noted.contains(what), "{what}: {noted}");
    }
}

#[test]
fn nobody_takes_the_last_administrator_away() {
    let home = staffed();
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    let refused = ann.post("/users/ann/admin", "admin=0");
    assert!(refused.status == 422 && refused.body.contains("last administrator"), "{refused:?}");
    assert_eq!(ann.post("/users/ann/remove", "").status, 409);
    let told = home.orb(&["user", "remove", "ann"]);
    assert!(told.complaint(1).contains("last administrator"), "{told}");
    assert_eq!(ann.post("/users/bob/admin", "admin=1").status, 303);
    let bob = Visitor::new(&served, "bob");
    assert_eq!(ann.post("/users/ann/admin", "admin=0").header("location"), Some("/"));
    assert_eq!((ann.get("/users").status, bob.get("/users").status), (403, 200));
    assert_eq!(bob.post("/users/bob/admin", "admin=0").status, 422);
    assert_eq!(bob.post("/users/ann/remove", "").status, 303);
    assert_eq!(ann.get("/").status, 303, "the session outlives its user");
}

/// A home whose project has five pages, the graph, an administrator and somebody who may read.
fn collected() -> (Home, Script) {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => page(["/a", "/b", "/c"]),
        "/a" => page(["/b", "/"]),
        "/b" => page(["/d"]),
        "/c" => reply("200 OK", "Content-Type: text/html\r\n", "<title></script><script>alert(1)</script></title>c"),
        "/d" => page(["/"]),
        _ => absent(),
    });
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    home.orb(&["graph", "build", PROJECT]).expect(0);
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &[]);
    add_user(&home, "eve", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    (home, site)
}

/// The exports of the project, newest first.
fn exports(who: &Visitor<'_>) -> Vec<Value> {
    who.json("/p/p/exports")["exports"].as_array().unwrap().clone()
}

/// Waits until the newest export is in this state.
fn until_state(who: &Visitor<'_>, state: &str) -> Value {
    until(&format!("the export is {state}"), || exports(who)[0]["state"] == state);
    exports(who).remove(0)
}

#[test]
fn an_export_is_made_downloaded_in_parts_and_removed() {
    let (home, _site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let (ann, bob) = (Visitor::new(&served, "ann"), Visitor::new(&served, "bob"));
    assert!(bob.page("/p/p").contains("href=\"/p/p/exports\""), "the exports are not linked to");
    assert!(bob.page("/p/p/exports").contains("Nothing has been exported"));
    assert_eq!(bob.post("/p/p/exports", "format=csv&table=pages").status, 403);
    assert_eq!(ann.post("/p/p/exports", "format=csv&table=pages").header("location"), Some("/p/p/exports"));
    let done = until_state(&bob, "done");
    let path = format!("/p/p/exports/{}/file", done["id"].as_str().unwrap());
    assert!(bob.page("/p/p/exports").contains(&format!("href=\"{path}\"")));
    // It is what the command writes.
    let (head, whole) = bob.bytes(&path, &[]);
    let expected = home.orb(&["export", PROJECT, "csv", "--table", "pages", "-o", "-"]);
    assert_eq!(String::from_utf8(whole.clone()).unwrap(), expected.expect(0).text());
    assert!(head.starts_with("http/1.1 200"), "{head}");
    for field in ["filename=\"p-pages.csv\"", "accept-ranges: bytes", "sandbox", &format!("length: {}", whole.len())] {
        assert!(head.contains(field), "{field}: {head}");
    }
    let tag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    let length = whole.len();
    for (wanted, part) in [("bytes=0-9", &whole[..10]), ("bytes=-7", &whole[length - 7..]), ("bytes=20-", &whole[20..])]
    {
        let (head, read) = bob.bytes(&path, &[("Range", wanted), ("If-Range", &tag)]);
        assert!(head.starts_with("http/1.1 206") && read == part, "{wanted}: {head}");
    }
    assert!(bob.bytes(&path, &[("Range", &format!("bytes={length}-"))]).0.starts_with("http/1.1 416"));
    assert!(bob.bytes(&path, &[("Range", "bytes=0-9"), ("If-Range", "\"other\"")]).0.starts_with("http/1.1 200"));
    // Nobody else's, and nothing but ids.
    assert_eq!(Visitor::new(&served, "eve").get(&path).status, 404);
    for wrong in ["..%2F..%2Fcrawl.db", ".", "0123456789abcdef0123456789abcdef"] {
        assert_eq!(bob.get(&format!("/p/p/exports/{wrong}/file")).status, 404, "{wrong}");
    }
    let remove = path.replace("/file", "/remove");
    assert_eq!((bob.post(&remove, "").status, ann.post(&remove, "").status), (403, 303));
    assert_eq!((exports(&bob).len(), fs::read_dir(home.project().join("exports")).unwrap().count()), (0, 0));
    assert_eq!(bob.get(&path).status, 404);
}

#[test]
fn programs_export_every_format_and_are_told_what_fails() {
    let (home, _site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    let ask = |wish: &str| ann.send("POST /api/v1/projects/p/exports", wish);
    for (wish, status) in [
        (r#"{"format": "wacz", "table": "pages"}"#, 422),
        (r#"{"format": "postgres"}"#, 400),
        (r#"{"format": "csv", "output": "/tmp/x"}"#, 400),
    ] {
        assert_eq!(ask(wish).status, status, "{wish}");
    }
    for (format, inside) in [
        ("wacz", &["datapackage.json", "pages/pages.jsonl"][..]),
        ("jsonl", &["pages.jsonl", "links.jsonl"]),
        ("parquet", &["visits.parquet"]),
        ("markdown", &["p"]),
        ("webgraph", &["p.graph", "p-t.graph", "p.urls"]),
        ("gexf", &[]),
    ] {
        let begun = ask(&format!(r#"{{"format": "{format}"}}"#));
        assert_eq!(begun.status, 202, "{begun:?}");
        let place = begun.header("location").unwrap().to_owned();
        until("it is done", || ann.json(&place)["state"] == "done");
        let (_, bytes) = ann.bytes(&format!("{place}/file"), &[]);
        let (file, dir) = (home.beside(format), home.beside(&format!("{format}-files")));
        fs::write(&file, &bytes).unwrap();
        assert_eq!(ann.json(&place)["bytes"], bytes.len());
        if !inside.is_empty() {
            judge::unzip(&file, &dir);
        }
        for name in inside {
            assert!(dir.join(name).exists(), "{format}: {name}");
        }
    }
    let failed = ask(r#"{"format": "markdown", "since": 99}"#);
    let place = failed.header("location").unwrap().to_owned();
    until("it has failed", || ann.json(&place)["state"] == "failed");
    assert_eq!(ann.json(&place)["told"], "project p has no run 99");
    assert_eq!(ann.json(&format!("{place}/file"))["type"], "/problems/failed");
    assert_eq!(ann.send(&format!("DELETE {place}"), "").status, 204);
    let listed = ann.json("/api/v1/projects/p/exports");
    assert_eq!(listed["items"].as_array().unwrap().len(), 6, "{listed}");
}

/// Makes the archive a pipe, so that whoever exports it waits. Returns it and what it would hold.
fn hold_the_archive(home: &Home) -> (PathBuf, Vec<u8>) {
    let file = home.warcs().remove(0);
    let held = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    (file, held)
}

/// The process that makes an export.
fn maker(home: &Home, export: &Value) -> Pid {
    let file = home.project().join("exports").join(export["id"].as_str().unwrap()).join("export.json");
    let record: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    Pid::from_raw(i32::try_from(record["pid"].as_u64().unwrap()).unwrap()).unwrap()
}

#[test]
fn an_export_outlives_a_server_that_is_killed() {
    let (home, _site) = collected();
    let (pipe, held) = hold_the_archive(&home);
    let first = Served::start(&home, &["--no-schedule"]);
    let wish = r#"{"format": "wacz"}"#;
    assert_eq!(Visitor::new(&first, "ann").send("POST /api/v1/projects/p/exports", wish).status, 202);
    assert_eq!(first.stop(Signal::KILL), None);
    let second = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&second, "ann");
    let making = until_state(&ann, "making");
    let file = format!("/p/p/exports/{}/file", making["id"].as_str().unwrap());
    assert_eq!(ann.get(&file).status, 409, "half a file is handed out");
    assert!(ann.page("/p/p/exports").contains("being made"));
    // It goes on where it waited, and is whole.
    fs::write(&pipe, &held).unwrap();
    until_state(&ann, "done");
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, &held).unwrap();
    fs::write(home.beside("x.wacz"), ann.bytes(&file, &[]).1).unwrap();
    judge::wacz_validate(&home.beside("x.wacz"));
}

#[test]
fn an_export_that_is_killed_with_its_server_has_failed_and_can_be_made_again() {
    let (home, _site) = collected();
    let (pipe, held) = hold_the_archive(&home);
    let first = Served::start(&home, &["--no-schedule"]);
    let ask = |who: &Visitor<'_>| who.send("POST /api/v1/projects/p/exports", r#"{"format": "wacz"}"#).status;
    let ann = Visitor::new(&first, "ann");
    assert_eq!(ask(&ann), 202);
    let killed = maker(&home, &exports(&ann)[0]);
    assert_eq!(first.stop(Signal::KILL), None);
    kill_process(killed, Signal::KILL).unwrap();
    let second = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&second, "ann");
    assert_eq!(until_state(&ann, "failed")["told"], "it was killed");
    // Two at once, and no more; one that is being made is ended when it is removed.
    assert_eq!((ask(&ann), ask(&ann), ask(&ann)), (202, 202, 409));
    for export in exports(&ann) {
        let remove = format!("DELETE /api/v1/projects/p/exports/{}", export["id"].as_str().unwrap());
        assert_eq!(ann.send(&remove, "").status, 204);
    }
    assert_eq!(fs::read_dir(home.project().join("exports")).unwrap().count(), 0, "something is left");
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, &held).unwrap();
    assert_eq!(ask(&ann), 202);
    until_state(&ann, "done");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn deliveries_show_how_far_they_are_and_what_failed() {
    let refuses = Arc::new(AtomicBool::new(true));
    let refusing = Arc::clone(&refuses);
    let receiver = Script::serve(move |_| match refusing.load(Ordering::SeqCst) {
        true => reply("503 Service Unavailable", "", "<b>no</b>"),
        false => reply("204 No Content", "", ""),
    });
    let later = Arc::new(AtomicBool::new(false));
    let is_later = Arc::clone(&later);
    let site = Script::serve(move |heard| match (heard.target.as_str(), is_later.load(Ordering::SeqCst)) {
        ("/", false) => page(["/a"]),
        ("/", true) => page(["/a", "/b"]),
        ("/a" | "/b", _) => page(["/"; 0]),
        _ => absent(),
    });
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    later.store(true, Ordering::SeqCst);
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    assert!(ann.page("/p/p/exports").contains("has no outputs"));
    let news = ann.page("/p/p/pages/1?since=1").split("id=\"since\"").nth(1).unwrap().to_owned();
    assert!(news.contains("/b</td>") && news.contains(">new<") && !news.contains("/a</td>"), "{news}");
    let told = ann.json("/p/p/pages/1?since=1");
    assert_eq!((&told["links_since"][0]["change"], told["links_since"].as_array().unwrap().len()), (&json!("new"), 1));
    let problem = ann.page("/p/p/health/missing_title");
    assert!(ann.page(problem.split('"').find(|part| part.starts_with("/p/p/sql?q=")).unwrap()).contains("rows"));
    let hook = format!("[[outputs.webhook]]\nurl = 'http://me:secret@{}/hook'\nretries = 0\n", receiver.address);
    let file = home.project().join("project.toml");
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, "[outputs").unwrap();
    assert!(ann.page("/p/p/exports").contains("project.toml:1"), "settings that cannot be read are not told");
    let kept = kept.replace("[outputs]", "[outputs]\njsonl = 'changes.jsonl'").replace("webhook = []", "");
    fs::write(&file, format!("{kept}\n{hook}")).unwrap();
    let outputs = || {
        let found = ann.json("/api/v1/projects/p/outputs");
        assert!(found["items"].is_array(), "{found}");
        found["items"].clone()
    };
    assert_eq!((&outputs()[0]["left"], &outputs()[0]["cursor"]), (&json!(2), &json!(0)), "{}", outputs());
    assert_eq!(ann.post("/p/p/deliver", "").status, 303);
    until("the receiver has refused", || !outputs()[1]["failure"].is_null());
    until("the file is written", || outputs()[0]["left"] == 0);
    assert_eq!(outputs()[1]["left"], 2);
    let page = ann.page("/p/p/exports");
    assert!(page.contains("503") && !page.contains("secret"), "{page}");
    refuses.store(false, Ordering::SeqCst);
    assert_eq!(ann.post("/p/p/deliver", "").status, 303);
    until("the receiver has taken them", || outputs()[1]["left"] == 0);
    assert!(outputs()[1]["failure"].is_null(), "{}", outputs());
    let bob = Visitor::new(&served, "bob");
    assert_eq!(bob.post("/p/p/deliver", "").status, 403);
    // The path of a webhook is often its secret.
    let hook = |who: &Visitor| who.json("/api/v1/projects/p/outputs")["items"][1]["output"].clone();
    assert!(hook(&bob) == format!("http://{}/…", receiver.address) && hook(&ann).as_str().unwrap().ends_with("/hook"));
    assert!(!bob.page("/p/p/exports").contains("/hook") && ann.page("/p/p/exports").contains("/hook"));
}

#[test]
fn the_map_is_a_table_that_a_script_of_ours_draws() {
    let (home, site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let bob = Visitor::new(&served, "bob");
    let whole = bob.page("/p/p/graph");
    assert!(whole.contains("5 pages, 7 links") && whole.contains("href=\"/p/p/pages/1\""), "{whole}");
    assert!(!whole.contains("<script>") && whole.contains("&#60;script&#62;alert(1)"), "{whole}");
    let policy = bob.get("/p/p/graph").header("content-security-policy").unwrap().to_owned();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    // What the page loads is there, and asks nothing of anybody else.
    let named = whole.split('"').filter(|part| part.starts_with("/assets/"));
    let texts: Vec<String> = named.map(|path| served.get(path, &[]).body).collect();
    assert_eq!(texts.len(), 5);
    assert!(texts.iter().any(|text| text.contains("class Layout")));
    assert!(texts.iter().all(|text| !text.contains("http://") && !text.contains("https://")));
    let source = whole.split("data-graph=\"").nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let drawn = bob.json(&source);
    assert_eq!((drawn["nodes"].as_array().unwrap().len(), drawn["arcs"].as_array().unwrap().len()), (5, 14), "{drawn}");
    let graph = |query: &str| bob.json(&format!("/api/v1/projects/p/graph{query}"));
    assert_eq!(graph("?top=2")["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(graph("?top=0")["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(graph("?top=10&of=hosts")["about"], "1 hosts, 0 links");
    let url = |path: &str| format!("http://{}{path}", site.address);
    let near = graph(&format!("?around={}", url("/d")));
    let names: Vec<&str> = near["nodes"].as_array().unwrap().iter().map(|node| node["n"].as_str().unwrap()).collect();
    assert_eq!(names, [url("/"), url("/b"), url("/d")]);
    assert_eq!(graph(&format!("?around={}&hops=2", near["around"]))["nodes"].as_array().unwrap().len(), 5);
    assert_eq!(graph("")["nodes"], 5, "the figures, without a wish");
    for (query, status) in [("?around=999", 404), ("?top=x", 400), ("?around=http://nowhere.test/", 404)] {
        assert_eq!(bob.get(&format!("/p/p/graph{query}")).status, status, "{query}");
    }
    fs::remove_dir_all(home.project().join("graph")).unwrap();
    let again = Served::start(&home, &["--no-schedule"]);
    assert!(Visitor::new(&again, "bob").page("/p/p/graph").contains("orb graph build p"));
}

#[test]
fn the_scripts_of_the_map_draw_it_in_a_browser() {
    let (home, _site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let bob = Visitor::new(&served, "bob");
    let whole = bob.page("/p/p/graph");
    let drawn = bob.json("/api/v1/projects/p/graph?top=100").to_string();
    // The browser gets the page and what it loads as files, and the graph without the server.
    let dir = home.beside("browser");
    fs::create_dir(&dir).unwrap();
    for path in whole.split('"').filter(|part| part.starts_with("/assets/")) {
        fs::write(dir.join(&path["/assets/".len()..]), served.get(path, &[]).body).unwrap();
    }
    let stub = format!(
        "<script>window.fetch = async () => new Response({});</script>",
        json!(drawn).to_string().replace('<', "\\u003c")
    );
    let page =
        whole.replace("/assets/", &format!("file://{}/", dir.display())).replace("<head>", &format!("<head>{stub}"));
    fs::write(dir.join("map.html"), page).unwrap();
    let mut command = Command::new("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,800",
        "--virtual-time-budget=10000",
    ]);
    command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]);
    command.arg(format!("file://{}", dir.join("map.html").display()));
    let finished = Running::start({
        command.env("HOME", &dir).current_dir(&dir);
        command
    })
    .finish();
    let dom = finished.expect(0).text();
    assert!(dom.contains("data-ready=\"yes\""), "the scripts did not come to their end: {finished}");
    assert!(dom.contains("<span id=\"summary\">5 pages, 7 links</span>"), "{finished}");
    assert!(!dom.contains("aria-label=\"Drawing\" hidden"), "the drawing is not shown: {finished}");
}

#[test]
fn the_queue_is_shown_by_host_filtered_and_sent_as_text() {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => page((0..30).map(|n| format!("/{}/{n}?x=<b>", if n < 10 { "a" } else { "b" }))),
        _ => page(["/"; 0]),
    });
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0", "--max-pages", "1"]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    let served = Served::start(&home, &["--no-schedule"]);
    let bob = Visitor::new(&served, "bob");
    let whole = bob.page("/p/p/queue");
    assert!(whole.contains("30 pages wait") && whole.contains("href=\"/p/p/hosts/1\""), "{whole}");
    let part = bob.json("/p/p/queue");
    assert_eq!((&part["found"], &part["hosts"][0]["queued"], &part["next"]), (&json!(30), &json!(30), &json!(null)));
    assert_eq!(part["pages"].as_array().unwrap().len(), 30);
    for (query, found) in [
        ("?url=/a/", 10),
        ("?url=%5C/a%5C/%5B0-4%5D%5C%3F&pattern=1", 5),
        ("?url=%5C/a%5C/", 0),
        ("?host=1", 30),
        ("?host=2", 0),
        ("?before=2", 0),
        ("?before=12", 10),
    ] {
        assert_eq!(bob.json(&format!("/p/p/queue{query}"))["found"], found, "{query}");
    }
    let wrong = bob.get("/p/p/queue?url=(&pattern=1");
    assert!(wrong.status == 400 && wrong.body.contains("not a regular expression"), "{wrong:?}");
    assert!(bob.page("/p/p/queue?url=/a/").contains("href=\"/p/p/queue.txt?url=%2Fa%2F\""));
    let (head, text) = bob.bytes("/p/p/queue.txt?url=/a/", &[]);
    assert!(head.contains("text/plain") && head.contains("attachment; filename=\"p-queue.txt\""), "{head}");
    assert_eq!(String::from_utf8(text).unwrap().matches("/a/").count(), 10);
    assert_eq!(bob.get("/p/p/queue.txt?url=(&pattern=1").status, 400);
    // What was fetched is not queued any more.
    home.orb(&["crawl", PROJECT, "--max-pages", "1000", "--progress", "none"]).expect(0);
    assert!(bob.page("/p/p/queue").contains("Nothing waits"));
}

#[test]
fn machines_and_plans_are_shown_to_those_who_may_see_them() {
    let (home, _site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let (ann, bob) = (Visitor::new(&served, "ann"), Visitor::new(&served, "bob"));
    let machine = bob.json("/machines")["machines"][0].clone();
    assert!(machine["cores"].as_u64() >= Some(1) && machine["disk"].as_u64() >= machine["disk_free"].as_u64());
    assert!(bob.page("/machines").contains("Nothing runs now"));
    assert_eq!(bob.get("/plan").status, 403);
    assert!(ann.page("/machines").contains("href=\"/plan\"") && ann.page("/plan").contains("Italian web"));
    let told = home.orb(&["plan", "--pages", "1M", "--hosts", "1k", "--delay", "2s", "--json"]).json();
    assert_eq!(ann.json("/plan?pages=1M&hosts=1k&delay=2s"), told);
    let page = ann.page("/plan?pages=1M&hosts=1k&delay=2s");
    assert!(
        page.contains("1,000,000 pages") && page.contains("measured here") && page.contains("politeness"),
        "{page}"
    );
    let wrong = ann.page("/plan?pages=many");
    assert!(wrong.contains("is not a number"), "{wrong}");
    assert_eq!(ann.json("/plan?pages=9&from=nowhere")["status"], 404);
}

#[test]
fn a_check_runs_beside_the_server_and_says_what_it_found() {
    let (home, _site) = collected();
    let served = Served::start(&home, &["--no-schedule"]);
    let (ann, bob) = (Visitor::new(&served, "ann"), Visitor::new(&served, "bob"));
    assert_eq!((bob.get("/p/p/check").status, bob.post("/p/p/check", "").status), (403, 403));
    assert!(ann.page("/p/p/check").contains("was not checked here yet"));
    let check = || {
        assert_eq!(ann.post("/p/p/check", "").header("location"), Some("/p/p/check"));
        until("it is checked", || ann.json("/p/p/check")["state"] != "checking");
        ann.json("/p/p/check")
    };
    let clean = check();
    assert_eq!(
        (&clean["state"], &clean["report"]["found"], &clean["asked"]["by"]),
        (&json!("done"), &json!(0), &json!("ann"))
    );
    assert_eq!(clean["report"], home.orb(&["check", PROJECT, "--json"]).json());
    assert!(ann.page("/p/p/check").contains("All agree."));
    // Damage is found and told.
    let file = home.warcs().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    assert!(check()["report"]["found"].as_u64() > Some(0));
    assert!(ann.page("/p/p/check").contains("findings"));
    // One that was killed has failed, and does not pass for the one before.
    let (pipe, _) = hold_the_archive(&home);
    assert_eq!(ann.post("/p/p/check", "").status, 303);
    assert_eq!(ann.json("/p/p/check")["state"], "checking");
    assert_eq!(ann.post("/p/p/check", "").status, 409);
    let command = format!("check\0{PROJECT}\0--home\0{}", home.path().display());
    kill_process(running(&command), Signal::KILL).unwrap();
    until("it has ended", || ann.json("/p/p/check")["state"] == "failed");
    assert!(ann.page("/p/p/check").contains("did not come to its end: it was killed"));
    drop(pipe);
}

#[test]
fn a_graph_is_built_from_the_page_that_lacks_it() {
    let (home, _site) = collected();
    fs::remove_dir_all(home.path().join(PROJECT).join("graph")).unwrap();
    let served = Served::start(&home, &["--no-schedule"]);
    let (ann, bob) = (Visitor::new(&served, "ann"), Visitor::new(&served, "bob"));
    assert_eq!(bob.post("/p/p/graph", "").status, 403);
    let (map, of_bob) = (ann.page("/p/p/graph"), bob.page("/p/p/graph"));
    assert!(map.contains("Build the graph") && !of_bob.contains("Build the graph"), "{map} {of_bob}");
    assert!(of_bob.contains("orb graph build p"), "{of_bob}");
    assert_eq!(ann.post("/p/p/graph", "back=structure").header("location"), Some("/p/p/structure"));
    until("it is built", || !ann.page("/p/p/structure").contains("is being built"));
    let built = ann.page("/p/p/structure");
    assert!(built.contains("Best by PageRank") && !built.contains("Build the graph"), "{built}");
    assert!(!ann.page("/p/p/graph").contains("Build the graph"));
}

/// The process whose command line contains this.
fn running(command: &str) -> Pid {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let numbers = processes.filter_map(|name| name.parse::<i32>().ok());
    let is_it = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(command))
    };
    Pid::from_raw(numbers.into_iter().find(is_it).unwrap()).unwrap()
}
