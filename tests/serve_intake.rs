//! Do programs get whole lists, and do people who know of changes get them visited?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Home, PROJECT};
use harness::script::{Script, absent, reply};
use harness::served::{HttpReply, Served, add_user};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// A site that was crawled, and whoever may do everything with it.
struct Known {
    home: Home,
    served: Served,
    site: Script,
    /// Which version of `/a` is served.
    version: Arc<AtomicUsize>,
    token: String,
}

fn html(title: &str, body: &str) -> Vec<u8> {
    let page = format!("<!doctype html><html lang=en><title>{title}</title><main><p>{body}</p></main>");
    reply("200 OK", "Content-Type: text/html\r\n", &page)
}

fn plain(text: &str) -> Vec<u8> {
    reply("200 OK", "Content-Type: text/plain\r\n", text)
}

fn known() -> Known {
    let version = Arc::new(AtomicUsize::new(1));
    let now = Arc::clone(&version);
    let site = Script::serve(move |heard| match heard.target.as_str() {
        "/" => html("Front", "<a href='/a'>alpha</a> <a href='/b'>beta</a> <a href='/gone'>gone</a>"),
        "/a" => html("Alpha", &format!("Weavers spin webs in version {}.", now.load(Ordering::SeqCst))),
        "/b" | "/hidden" | "/also" => html(&heard.target, "Always the same words."),
        "/0123456789abcdef.txt" | "/keys/mine.txt" => plain("0123456789abcdef\n"),
        "/more-than-a-key.txt" => plain("more-than-a-key and more"),
        _ => absent(),
    });
    let home = Home::new();
    let file = home.beside("p.toml");
    fs::write(
        &file,
        format!("seeds = ['http://127.0.0.1:{}/']\nfrontier.delay = '0s'\nfrontier.per_host = 1\n", site.port()),
    )
    .unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    add_user(&home, "ann", &["--admin"]);
    let scopes = ["read", "content", "sql", "run", "edit", "admin"].map(|scope| ["--scope", scope]).concat();
    let made = home.orb(&[&["user", "token", "ann", "--json"], &scopes[..]].concat()).json();
    let token = made["token"].as_str().unwrap().to_owned();
    let served = Served::start(&home, &[]);
    Known { home, served, site, version, token }
}

impl Known {
    fn send(&self, request: &str, fields: &[(&str, &str)], body: &str) -> HttpReply {
        let bearer = format!("Bearer {}", self.token);
        self.served.send(request, &[&[("Authorization", bearer.as_str())], fields].concat(), body)
    }

    /// Gets a path below the project.
    fn get(&self, path: &str) -> HttpReply {
        self.send(&format!("GET /api/v1/projects/{PROJECT}{path}"), &[], "")
    }

    fn post(&self, path: &str, body: &Value) -> HttpReply {
        let kind = [("Content-Type", "application/json")];
        self.send(&format!("POST /api/v1/projects/{PROJECT}{path}"), &kind, &body.to_string())
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.site.port())
    }
}

/// Follows a list to its end; the paths of the pages, or the names of the hosts.
fn follow(known: &Known, first: &str, field: &str) -> Vec<String> {
    let (mut path, mut found) = (format!("/api/v1/projects/{PROJECT}{first}"), Vec::new());
    loop {
        let part = known.send(&format!("GET {path}"), &[], "");
        assert_eq!(part.status, 200, "{path}: {}", part.body);
        let json = part.json();
        let rows = json["items"].as_array().unwrap();
        found.extend(rows.iter().map(|row| row[field].as_str().unwrap().to_owned()));
        match part.header("link") {
            Some(link) => path = link.trim_start_matches('<').split('>').next().unwrap().to_owned(),
            None => return found,
        }
        assert!(!json["next"].is_null() && rows.len() <= 2);
    }
}

#[test]
fn pages_and_hosts_are_listed_by_key_in_the_form_that_is_asked_for() {
    let known = known();
    let paths = |first: &str| {
        let urls = follow(&known, first, "url");
        let here = known.url("");
        urls.iter().map(|url| url.strip_prefix(&here).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths("/pages?limit=2"), ["/", "/a", "/b", "/gone"]);
    assert_eq!(paths("/pages?limit=1&status=4xx"), ["/gone"]);
    assert_eq!(paths("/pages?url=%2Fa"), ["/a"]);
    assert_eq!(paths("/pages?mime=text/&kind=html"), ["/", "/a", "/b"]);
    assert_eq!(paths("/pages?kind=FAILED&limit=1&host=1"), ["/gone"]);
    // Where what every page is has been counted, the same is found in another way.
    assert_eq!(known.get("/stats").status, 200);
    assert_eq!(paths("/pages?kind=failed"), ["/gone"]);
    assert_eq!(paths("/pages?host=1").len(), 4);
    assert_eq!(paths("/pages?host=2").len(), 0);
    assert_eq!(follow(&known, "/hosts?limit=1", "name"), ["127.0.0.1"]);
    assert_eq!(known.get("/hosts?name=nowhere").json()["items"], json!([]));
    assert_eq!(known.get("/hosts/1").json()["pages"], 4);
    for (path, status) in [("/pages?kind=x", 400), ("/pages?status=1", 400), ("/pages?after=x", 400), ("/hosts/9", 404)]
    {
        assert_eq!(known.get(path).status, status, "{path}");
    }
    let accepting =
        |kind| known.send(&format!("GET /api/v1/projects/{PROJECT}/pages?limit=2"), &[("Accept", kind)], "");
    let lines = accepting("application/x-ndjson");
    let rows: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[1]["title"]), (2, &json!("Alpha")));
    assert!(
        lines.header("link").unwrap().contains("after=2") && lines.header("content-type").unwrap().contains("ndjson")
    );
    let table = accepting("text/csv").body;
    assert!(table.starts_with("id,url,host_id,kind,status,") && table.lines().count() == 3, "{table}");
}

#[test]
fn projects_are_made_and_removed_by_administrators() {
    let known = known();
    let make =
        |body: Value| known.send("POST /api/v1/projects", &[("Content-Type", "application/json")], &body.to_string());
    let made = make(json!({"name": "new", "seeds": ["https://example.org/"], "depth": 2}));
    assert_eq!((made.status, made.header("location")), (201, Some("/api/v1/projects/new")), "{}", made.body);
    assert_eq!(make(json!({"name": "new", "seeds": ["https://example.org/"]})).status, 409);
    assert_eq!(make(json!({"name": "x", "seeds": []})).status, 400);
    assert_eq!(make(json!({"name": "../x", "seeds": ["https://example.org/"]})).status, 422);
    // Whoever may not touch operator keys may not reach inside.
    assert_eq!(make(json!({"name": "in", "seeds": ["http://127.0.0.1/"]})).status, 422);
    let remove = |query: &str| known.send(&format!("DELETE /api/v1/projects/new{query}"), &[], "").status;
    assert_eq!(
        [remove(""), remove("?confirm=p"), remove("?confirm=new"), remove("?confirm=new")],
        [400, 400, 204, 404]
    );
}

/// The flags of a page, run by run, latest first.
fn flags(known: &Known, path: &str) -> Vec<(u64, String)> {
    let pages = known.get(&format!("/pages?url={path}")).json();
    let id = pages["items"][0]["id"].as_u64().unwrap();
    let seen = known.get(&format!("/pages/{id}/versions")).json();
    let row = |row: &Value| (row["run"].as_u64().unwrap(), row["flag"].as_str().unwrap().to_owned());
    seen["items"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn pages_that_somebody_calls_for_are_visited_first_and_teach_whom_to_believe() {
    let known = known();
    let heard = |from: usize| {
        let targets: Vec<String> = known.site.heard().into_iter().map(|heard| heard.target).skip(from).collect();
        targets.into_iter().filter(|target| target != "/robots.txt").collect::<Vec<_>>()
    };
    // By the API: two pages nobody links to, one that is known, one elsewhere, and no page at all.
    let urls =
        [known.url("/hidden"), known.url("/also#part"), known.url("/a"), "http://127.0.0.2/".into(), "mailto:x".into()];
    let called = known.post("/intake", &json!({"urls": urls}));
    assert_eq!(called.status, 202, "{}", called.body);
    let account = called.json();
    assert_eq!((&account["taken"], &account["waiting"]), (&json!(4), &json!(0)));
    assert_eq!(account["refused"][0]["url"], "mailto:x");
    assert_eq!(known.post("/intake", &json!({"urls": [known.url("/hidden")]})).json()["waiting"], 1);
    // By the command line, from another source.
    let mut command = known.home.command(&["intake", PROJECT, "-", "--source", "editors", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("# changed\n{}\n", known.url("/b")).as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(known.get("/intake").json()["waiting"], 5);
    // A crawl takes what is new; what it has already waits for a tracking run.
    let before = known.site.heard().len();
    known.home.crawl(&[PROJECT]);
    assert_eq!(heard(before), ["/hidden", "/also"]);
    let outside = known.get("/pages?kind=OUTSIDE").json();
    assert_eq!(
        (&outside["items"][0]["url"], &outside["items"][0]["why"]),
        (&json!("http://127.0.0.2/"), &json!("scope"))
    );
    assert_eq!(flags(&known, "/hidden"), [(2, "NEW".to_owned())]);
    let state = known.get("/intake").json();
    assert_eq!(state["waiting"], 2);
    assert_eq!(
        state["sources"][0],
        json!({"source": "api: ann", "right": 2, "wrong": 0, "outside": 1, "unknown": 0, "belief": 0.6})
    );
    // Within a budget, calls go first and count: the seed is visited anyway.
    known.version.store(2, Ordering::SeqCst);
    let before = known.site.heard().len();
    known.home.orb(&["track", PROJECT, "--budget", "1", "--progress", "none"]).expect(0);
    // Once, and again to tell the change from noise.
    let visited: BTreeSet<String> = heard(before).into_iter().collect();
    assert_eq!(visited, ["/", "/a"].map(str::to_owned).into());
    assert_eq!(known.get("/intake").json()["waiting"], 1, "editors are believed less, and wait");
    assert_eq!(flags(&known, "/a")[0], (3, "UPD".to_owned()));
    let before = known.site.heard().len();
    known.home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    assert_eq!(heard(before).iter().find(|target| *target != "/").unwrap(), "/b", "first of its host");
    let state = known.get("/intake").json();
    assert_eq!((&state["waiting"], &state["sources"][1]["source"]), (&json!(0), &json!("editors")));
    assert_eq!((&state["sources"][0]["right"], &state["sources"][1]["wrong"]), (&json!(3), &json!(1)));
    // A language model names pages of the collection, and nothing else.
    let arguments = json!({"ids": [format!("{PROJECT}/1"), format!("{PROJECT}/2")]});
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "visit", "arguments": arguments}});
    let asked = known.send("POST /mcp", &[("Content-Type", "application/json")], &message.to_string()).json();
    assert_eq!(
        (&asked["result"]["isError"], &known.get("/intake").json()["waiting"]),
        (&json!(false), &json!(2)),
        "{asked}"
    );
    let told = known.home.orb(&["stats", PROJECT]).expect(0).text().to_owned();
    assert!(told.contains("called by") && told.contains("editors"), "{told}");
}

#[test]
fn calls_survive_a_run_that_is_killed() {
    let known = known();
    known.home.orb(&["intake", PROJECT, &known.url("/hidden")]).expect(0);
    // After the calls are the run's, before they are nobody's; and after both.
    for (point, pass) in [("report-written", 1), ("report-kept", 1), ("report-kept", 2)] {
        let mut command = known.home.command(&["crawl", PROJECT, "--progress", "none"]);
        command.env("ORB_FAIL", format!("{point}:{pass}"));
        assert!(!command.status().unwrap().success(), "{point} {pass}");
    }
    known.home.crawl(&[PROJECT]);
    assert_eq!(flags(&known, "/hidden"), [(2, "NEW".to_owned())]);
    assert_eq!(known.get("/intake").json()["waiting"], 0);
}

#[test]
fn owners_name_changed_pages_by_indexnow_and_prove_that_they_are_theirs() {
    let known = known();
    let (port, key) = (known.site.port(), "0123456789abcdef");
    let host = format!("127.0.0.1:{port}");
    let get = |query: &str| known.served.get(&format!("/indexnow?{query}"), &[]).status;
    let post = |body: Value| {
        known.served.send("POST /indexnow", &[("Content-Type", "application/json; charset=utf-8")], &body.to_string())
    };
    let heard = || known.site.heard().len();
    let before = heard();
    let page = format!("url=http://{host}/a");
    assert_eq!([get(""), get(&page), get("key=0123456789abcdef")], [400; 3]);
    assert_eq!([get(&format!("{page}&key=short")), get(&format!("url=x&key={key}"))], [422; 2]);
    assert_eq!(get(&format!("url=http://127.0.0.2/a&key={key}")), 422, "no project collects it");
    assert_eq!(post(json!({"host": host, "key": key})).status, 400);
    let elsewhere = post(json!({"host": host, "key": key, "urlList": ["http://127.0.0.2/"]}));
    assert_eq!(elsewhere.status, 422, "{}", elsewhere.body);
    assert_eq!(heard(), before, "nothing is fetched for any of these");
    // A file without the key, or with more than it.
    for wrong in ["fedcba9876543210", "more-than-a-key"] {
        assert_eq!(get(&format!("{page}&key={wrong}")), 403, "{wrong}");
    }
    let (before, wrong) = (heard(), "fedcba9876543210");
    assert_eq!((get(&format!("{page}&key={wrong}")), heard()), (403, before), "it is not looked for again");
    let many: Vec<String> = (0..9_997).map(|n| format!("http://{host}/{n}")).collect();
    let unproved = post(json!({"host": host, "key": wrong, "urlList": many}));
    assert_eq!(unproved.status, 403, "what somebody else names is not counted");
    assert_eq!(get(&format!("{page}&key={key}")), 200);
    let before = heard();
    let urls = [format!("http://{host}/hidden"), format!("http://{host}/b")];
    assert_eq!(post(json!({"host": host, "key": key, "urlList": urls})).status, 200);
    assert_eq!(heard(), before, "a proof is good for a day");
    let place = format!("http://{host}/keys/mine.txt");
    let below = |url: &str| post(json!({"host": host, "key": key, "keyLocation": place, "urlList": [url]})).status;
    assert_eq!([below(&format!("http://{host}/b")), below(&format!("http://{host}/keys/b"))], [422, 200]);
    let state = known.get("/intake").json();
    assert_eq!((&state["waiting"], &state["sources"][0]["source"]), (&json!(4), &json!(format!("indexnow: {host}"))));
    let full = post(json!({"host": host, "key": key, "urlList": many}));
    assert_eq!((full.status, full.header("retry-after")), (429, Some("86400")), "too many for a day");
    let answers: Vec<u16> = (0..60).map(|_| get("")).collect();
    assert!(answers.iter().all(|status| *status == 400), "what is no request is not counted");
    let answers: Vec<u16> = (0..60).map(|_| get(&format!("{page}&key=short"))).collect();
    assert_eq!(answers.last(), Some(&429));
}

#[test]
fn a_stranger_who_calls_makes_nobody_send_secrets_or_go_where_nothing_is_collected() {
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => html("Front", "words"),
        "/0123456789abcdef.txt" | "/keys/k.txt" | "/keys/ok.txt" => plain("0123456789abcdef"),
        _ => absent(),
    });
    let home = Home::new();
    let file = home.beside("p.toml");
    let host = format!("127.0.0.1:{}", site.port());
    let settings = format!(
        "seeds = ['http://{host}/']\nfrontier.delay = '0s'\n[scope]\nrules = [{{ deny = '/keys/k' }}]\n\
         [[auth]]\nhost = '{host}'\ntoken = 'secret'\n"
    );
    fs::write(&file, settings).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    let has_secret = |heard: &harness::script::Heard| heard.field("authorization").is_some();
    assert!(site.heard().iter().any(has_secret), "the run logs in");
    // From now on the project has patience.
    let file = home.project().join("project.toml");
    let slow = |line: &str| match line.trim_start().strip_prefix("frontier.").unwrap_or(line).starts_with("delay") {
        true => format!("{}= '1h'\n", line.split('=').next().unwrap()),
        false => format!("{line}\n"),
    };
    let kept: String = fs::read_to_string(&file).unwrap().lines().map(slow).collect();
    assert!(kept.contains("'1h'"), "{kept}");
    fs::write(&file, kept).unwrap();
    let served = Served::start(&home, &["--no-schedule"]);
    let before = site.heard().len();
    let call = |url: &str, more: &str| {
        served.get(&format!("/indexnow?url=http://{host}{url}&key=0123456789abcdef{more}"), &[])
    };
    for place in ["/keys/k.txt", "/keys/ok.txt%3Fx=1", "/keys/ok.txt?x=1"] {
        let url = place.rsplit_once('/').unwrap().0;
        let refused = call(&format!("{url}/x"), &format!("&keyLocation=http://{host}{place}"));
        assert_eq!(refused.status, 422, "{place}: {}", refused.body);
    }
    assert_eq!(site.heard().len(), before, "nothing is fetched for any of these");
    assert_eq!(call("/x", "").status, 200);
    assert!(site.heard().len() > before && !site.heard()[before..].iter().any(has_secret), "nothing of the project's");
    let early = served.get(&format!("/indexnow?url=http://{host}/x&key=fedcba9876543210"), &[]);
    assert_eq!((early.status, early.header("retry-after").is_some()), (429, true), "the host has its pause");
    assert_eq!(call("/y", "").status, 200, "what is proved needs no other look");
}

/// The fields of a form or a query.
fn fields(text: &str) -> BTreeMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

/// A site with a feed and its hub, and what the hub is asked.
fn site_with_a_hub() -> (Script, mpsc::Receiver<String>) {
    let (tell, asked) = mpsc::channel();
    let tell = Mutex::new(tell);
    let site = Script::serve(move |heard| {
        let here = heard.field("host").unwrap_or_default().to_owned();
        match heard.target.as_str() {
            "/" => html("Front", "<a href='/news'>news</a> <a href='/a'>a</a>"),
            "/news" => {
                let feed = format!(
                    "<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title><id>urn:x</id>\
                     <link rel='hub' href='http://{here}/hub'/><link rel='self' href='http://{here}/news'/></feed>"
                );
                reply("200 OK", "Content-Type: application/atom+xml\r\n", &feed)
            }
            "/hub" | "/hub-of-a" => {
                tell.lock().unwrap().send(String::from_utf8(heard.body.clone()).unwrap()).unwrap();
                reply("202 Accepted", "", "")
            }
            // The hub in the header goes before the one in the page.
            "/a" => {
                let header = format!("Content-Type: text/html\r\nLink: <http://{here}/hub-of-a>; rel=\"hub\"\r\n");
                reply("200 OK", &header, &format!("<link rel=hub href='http://{here}/hub-no'><title>A</title>a"))
            }
            "/fresh" => html("Fresh", "fresh"),
            _ => absent(),
        }
    });
    (site, asked)
}

#[test]
fn feeds_are_subscribed_to_and_what_their_hub_delivers_is_visited() {
    let (site, asked) = site_with_a_hub();
    let home = Home::new();
    let file = home.beside("p.toml");
    let here = format!("http://127.0.0.1:{}", site.port());
    fs::write(&file, format!("seeds = ['{here}/']\nfrontier.delay = '0s'\n[scope]\nrules = [{{ deny = '/hub' }}]\n"))
        .unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    let bad = home.orb(&["serve", "--public-url", "nowhere"]);
    bad.expect(1);
    let served = Served::start(&home, &["--public-url", "https://orb.test/base/"]);
    let form = fields(&asked.recv_timeout(Duration::from_secs(60)).expect("the hub is asked"));
    let topic = format!("{here}/news");
    assert_eq!((form["hub.mode"].as_str(), form["hub.topic"].as_str()), ("subscribe", topic.as_str()));
    assert!(form["hub.secret"].len() < 200 && form["hub.lease_seconds"].parse::<u32>().unwrap() > 86_400);
    let of_page = fields(&asked.recv_timeout(Duration::from_secs(60)).expect("the hub of a page is asked, too"));
    assert_eq!(of_page["hub.topic"], format!("{here}/a"));
    assert!(site.heard().iter().any(|heard| heard.target == "/hub-of-a"));
    let path = form["hub.callback"].strip_prefix("https://orb.test/base").unwrap();
    let name = [("Host", "orb.test")];
    let ask = |path: &str, mode: &str, topic: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("hub.mode", mode),
                ("hub.topic", topic),
                ("hub.challenge", "<b>1</b>"),
                ("hub.lease_seconds", "864000"),
            ])
            .finish();
        served.get(&format!("{path}?{query}"), &name)
    };
    for (path, mode, topic) in
        [("/websub/other", "subscribe", &*topic), (path, "subscribe", "http://x.test/"), (path, "unsubscribe", &topic)]
    {
        assert_eq!(ask(path, mode, topic).status, 404, "{path} {mode} {topic}");
    }
    let news = format!(
        "<rss version='2.0'><channel><title>News</title><link>{here}/</link><item><title>Fresh</title>\
         <link>{here}/fresh</link></item><item><link>http://elsewhere.test/x</link></item></channel></rss>"
    );
    let deliver = |signature: &str| {
        let kind = [("Content-Type", "application/rss+xml"), ("X-Hub-Signature", signature)];
        served.send(&format!("POST {path}"), &[&name[..], &kind].concat(), &news).status
    };
    let signed = |way: &str| format!("{way}={}", judge::hub_signature(&form["hub.secret"], way, &news));
    assert_eq!(deliver(&signed("sha256")), 202, "not confirmed yet: it is not believed");
    let confirmed = ask(path, "subscribe", &topic);
    assert_eq!((confirmed.status, confirmed.body.as_str()), (200, "<b>1</b>"));
    assert!(confirmed.header("content-type").unwrap().starts_with("text/plain"));
    for wrong in ["", "sha256=00", &signed("sha256").replace("sha256", "sha512")] {
        assert_eq!(deliver(wrong), 202, "nobody learns what was wrong");
    }
    let waiting = || home.orb(&["intake", PROJECT, "--json"]).json();
    assert_eq!(waiting()["waiting"], 0);
    assert_eq!(deliver(&signed("sha1")), 202);
    // It is read after the hub was answered.
    let state = (0..600).map(|_| waiting()).find(|state| state["waiting"] != 0).expect("the delivery is read");
    assert_eq!((&state["waiting"], &state["sources"][0]["source"]), (&json!(2), &json!("websub: 127.0.0.1")));
    let before = site.heard().len();
    home.crawl(&[PROJECT]);
    assert!(site.heard().iter().skip(before).any(|heard| heard.target == "/fresh"));
    assert_eq!(ask(path, "denied", &topic).status, 200);
    assert_eq!(deliver(&signed("sha384")), 202);
}

#[test]
fn the_api_keeps_what_its_description_says() {
    let known = known();
    known.version.store(2, Ordering::SeqCst);
    known.home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    known.home.orb(&["graph", "build", PROJECT]).expect(0);
    judge::schemathesis(&format!("http://{}", known.served.address), &known.token);
}
