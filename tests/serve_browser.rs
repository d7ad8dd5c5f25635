//! Does everything work in a real browser, for everybody, and does nothing from the web act there?
//!
//! Debian's Chromium, driven by Playwright, which can reach nothing but the server under test. axe
//! judges every screen, light and dark, wide and narrow; the story from the first account to a
//! schedule is gone through with script, without, and by keyboard alone.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::held::{HeldSite, Manner};
use harness::judge;
use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, reply};
use harness::served::{Served, add_user};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What pages try, each on one of its own: in titles, words, attributes, addresses, pictures and
/// frames, in charsets that hide it, and as other kinds of documents.
const HOSTILE: [(&str, &str, &str); 26] = [
    ("title", HTML, "<title><script>alert(1)</script></title>hostile"),
    ("title-end", HTML, "<title></title></title><img src=x onerror=alert(2)></title>hostile"),
    ("heading", HTML, "<h1><img src=x onerror=alert(3)>hostile</h1>"),
    (
        "heading-text",
        HTML,
        "<title>&lt;img src=x onerror=alert(4)&gt;</title><h1>&lt;svg onload=alert(4)&gt; hostile</h1>",
    ),
    ("anchor", HTML, "<a href='/'>&lt;script&gt;alert(5)&lt;/script&gt; hostile</a>"),
    (
        "anchor-url",
        HTML,
        "<a href='javascript:alert(6)'>hostile</a><a href='/&quot;onmouseover=alert(6) x='>hostile</a>",
    ),
    ("alt", HTML, "hostile <img src=/x.png alt='&quot;&gt;&lt;script&gt;alert(7)&lt;/script&gt;'>"),
    ("no-alt", HTML, "hostile <img src='/&quot;&gt;&lt;script&gt;alert(8)&lt;/script&gt;'>"),
    ("body", HTML, "hostile <script>alert(9)</script><body onload=alert(9)>"),
    ("svg", HTML, "hostile <svg><script>alert(10)</script><animate onbegin=alert(10) attributeName=x dur=1s></svg>"),
    (
        "math",
        HTML,
        "hostile <math><mtext><table><mglyph><style><img src=x onerror=alert(11)></style></mglyph></table></mtext></math>",
    ),
    (
        "frame",
        HTML,
        "hostile <iframe srcdoc='<script>parent.alert(12)</script>'></iframe><iframe src='javascript:alert(12)'></iframe>",
    ),
    (
        "object",
        HTML,
        "hostile <object data='data:text/html,<script>alert(13)</script>'></object><embed src='javascript:alert(13)'>",
    ),
    ("base", HTML, "<base href='javascript:alert(14)//'>hostile <a href='x'>x</a>"),
    ("refresh", HTML, "<meta http-equiv=refresh content='0;url=javascript:alert(15)'>hostile"),
    (
        "style",
        HTML,
        "hostile <style>@import 'http://evil.test/';body{background:url(http://evil.test/)}</style><p style='background:url(javascript:alert(16))'>",
    ),
    (
        "form",
        HTML,
        "hostile <form action=javascript:alert(17)><button autofocus onfocus=alert(17)>x</button></form><input autofocus onfocus=alert(17)>",
    ),
    ("noscript", HTML, "hostile <noscript><p title='</noscript><img src=x onerror=alert(18)>'></noscript>"),
    ("comment", HTML, "hostile <!--><script>alert(19)</script>--><!-- --!><script>alert(19)</script>"),
    ("template", HTML, "hostile <template><script>alert(20)</script></template><xmp><script>alert(20)</script></xmp>"),
    ("utf7", "text/html; charset=utf-7", "+ADw-script+AD4-alert(21)+ADw-/script+AD4- hostile"),
    (
        "iso2022",
        "text/html; charset=iso-2022-jp",
        "hostile <img src=x alt=\"\u{1b}$B\"><img src=x alt=\"\u{1b}(B onerror=alert(22) \">",
    ),
    (
        "picture",
        "image/svg+xml",
        "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(23)'><script>alert(23)</script></svg>",
    ),
    (
        "xhtml",
        "application/xhtml+xml",
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>hostile</title></head><body><script>alert(24)</script></body></html>",
    ),
    ("script", "text/javascript", "alert(25) // hostile"),
    ("paper", "application/pdf", PAPER),
];

/// A document that wants to act when it is opened, with a title that would like to be markup.
const PAPER: &str = "%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(26\\); alert\\(26\\))>>>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>
/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/A<</S/URI/URI(javascript:alert\\(26\\))>>>>]>> endobj
4 0 obj <</Length 74>> stream
BT /F 12 Tf 20 100 Td (hostile <img src=x onerror=alert\\(26\\)> words) Tj ET 
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
6 0 obj <</Title(<script>alert\\(26\\)</script>)>> endobj
trailer <</Root 1 0 R/Info 6 0 R/Size 7>>
startxref
0
%%EOF
";

/// A script that leaves a trace, too, where no dialog is allowed.
fn armed(body: &str) -> String {
    let mut parts = body.split("alert(");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number: String = part.chars().take_while(char::is_ascii_digit).collect();
        let trace = format!("document.documentElement.setAttribute(`data-ran`,{number}),self.ran={number}");
        out.push_str(&format!("alert({number},{trace}{}", &part[number.len()..]));
    }
    out
}

const HTML: &str = "text/html";

fn kind(mime: &str) -> String {
    format!("Content-Type: {mime}\r\n")
}

fn answer(heard: &Heard, is_later: bool) -> Vec<u8> {
    let html = |body: &str| reply("200 OK", &kind(HTML), &format!("<!doctype html><html lang=en>{body}"));
    match heard.target.trim_start_matches('/') {
        "" => {
            let links: String = HOSTILE.iter().map(|(name, ..)| format!("<li><a href=/{name}>{name}</a>")).collect();
            html(&format!(
                "<title>Start</title><p>Welcome to the library of weather.</p><a href=/rain>about the rain</a> <a href=/gone>gone</a><ul>{links}</ul>"
            ))
        }
        "rain" if is_later => {
            html("<title>Rain</title><h1>Rain</h1><p>The rain falls on the hills.</p><p>It is wet.</p>")
        }
        "rain" => html("<title>Rain</title><h1>Rain</h1><p>The rain falls on the plains.</p><p>It is wet.</p>"),
        name => match HOSTILE.iter().find(|(known, ..)| *known == name) {
            Some((_, mime, body)) => {
                let later =
                    if is_later { " and later <b onclick=alert(0)>more</b><script>alert(0)</script>" } else { "" };
                reply("200 OK", &kind(mime), &armed(&format!("{body}{later}")))
            }
            None => absent(),
        },
    }
}

/// A home whose project was crawled and tracked, served to an administrator.
fn looked_at() -> (Script, Home, Served) {
    let later = Arc::new(AtomicBool::new(false));
    let is_later = Arc::clone(&later);
    let script = Script::serve(move |heard| answer(heard, is_later.load(Ordering::SeqCst)));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", script.address), "--delay", "0"]);
    later.store(true, Ordering::SeqCst);
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    home.orb(&["graph", "build", PROJECT]).expect(0);
    home.orb(&["project", "new", "weekly", "--template", "news", "--seed", "http://a.test/"]).expect(0);
    add_user(&home, "ann", &["--admin"]);
    let served = Served::start(&home, &["--no-schedule"]);
    (script, home, served)
}

/// What was seen on each page in each view.
fn walked(home: &Home, served: &Served, paths: &[String], views: &Value, asks_axe: bool) -> Vec<Value> {
    let shots = std::env::var("ORB_SHOTS").ok();
    let job = json!({
        "base": format!("http://{}", served.address), "account": ["ann", "a password"],
        "paths": paths, "views": views, "axe": asks_axe, "shots": shots,
    });
    judge::browser("walk", &job, &home.beside("job.json")).as_array().unwrap().clone()
}

/// The numbers of the pages, by the ends of their URLs.
fn page_number(home: &Home, name: &str) -> String {
    home.catalogue().column(&format!("SELECT id FROM page WHERE url LIKE '%/{name}'")).remove(0)
}

/// The screens of a project.
const SCREENS: &[&str] = &[
    "",
    "/run",
    "/runs",
    "/runs/2",
    "/runs/2/live",
    "/runs/1/log",
    "/runs/1/log?level=warning",
    "/changes",
    "/search?q=rain",
    "/search?q=hostile",
    "/pages",
    "/pages/{rain}",
    "/pages/{rain}/content",
    "/pages/{rain}/diff",
    "/hosts",
    "/hosts/1",
    "/health",
    "/health/broken_link",
    "/structure",
    "/graph",
    "/queue",
    "/intake",
    "/exports",
    "/check",
    "/sql?q=SELECT+url%2C+title+FROM+page",
    "/words/rain",
    "/settings",
    "/rules",
    "/steps",
    "/compare",
    "/compare?url={url}&ignore=%5Erain",
];

#[test]
fn every_screen_is_for_everybody_and_asks_nobody_else() {
    let (script, home, served) = looked_at();
    let (rain, url) = (page_number(&home, "rain"), format!("http://{}/rain", script.address));
    let filled = |path: &&str| path.replace("{rain}", &rain).replace("{url}", &url);
    let of_project = SCREENS.iter().map(|path| format!("/p/{PROJECT}{}", filled(path)));
    let general = [
        "/",
        "/new",
        "/new?url=http%3A%2F%2Fa.test%2F&template=news",
        "/me",
        "/changes",
        "/schedule",
        "/search?q=rain",
        "/machines",
        "/users",
        "/plan",
    ];
    let paths: Vec<String> = general.iter().map(|path| (*path).to_owned()).chain(of_project).collect();
    let views = json!([["light", 1280], ["dark", 1280], ["light", 320], ["dark", 320]]);
    let seen = walked(&home, &served, &paths, &views, true);
    assert_eq!(seen.len(), paths.len() * 4);
    let is_wrong = |page: &&Value| {
        let has = |what: &str| !page[what].as_array().unwrap().is_empty();
        page["status"] != 200
            || page["overflow"] != 0
            || ["ran", "errors", "strangers", "violations"].into_iter().any(has)
    };
    let wrong: Vec<String> = seen.iter().filter(is_wrong).map(|page| format!("{page:#}")).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
}

#[test]
fn nothing_that_was_collected_acts_on_any_screen() {
    let (_script, home, served) = looked_at();
    let mut paths: Vec<String> = Vec::new();
    for (name, ..) in HOSTILE {
        let number = page_number(&home, name);
        for part in ["", "/content", "/content?as=view", "/content?as=text", "/content?as=markdown", "/diff"] {
            paths.push(format!("/p/{PROJECT}/pages/{number}{part}"));
        }
    }
    let lists = [
        "",
        "/runs/2",
        "/runs/1/log",
        "/changes",
        "/search?q=hostile",
        "/pages",
        "/health",
        "/graph",
        "/queue",
        "/runs/2/live",
        "/hosts/1",
    ];
    let kinds = ["missing_title", "equal_title", "missing_alt", "broken_link", "duplicate"]
        .map(|kind| format!("/health/{kind}"));
    let sql = "/sql?q=SELECT+url%2C+title+FROM+page".to_owned();
    let lists = lists.iter().map(|list| (*list).to_owned()).chain(kinds).chain([sql]);
    paths.extend(lists.map(|list| format!("/p/{PROJECT}{list}")));
    let seen = walked(&home, &served, &paths, &json!([["light", 1000]]), false);
    assert_eq!(seen.len(), paths.len());
    let acted = |page: &&Value| ["ran", "strangers"].iter().any(|what| !page[what].as_array().unwrap().is_empty());
    let acted: Vec<&Value> = seen.iter().filter(acted).collect();
    assert!(acted.is_empty(), "{acted:#?}");
    // Nothing even tries: what was collected reaches the browser without its scripts and frames.
    // That a page is not there is said on the console, too.
    let tried = |page: &&Value| {
        let errors = page["errors"].as_array().unwrap();
        errors.iter().any(|error| !error.as_str().unwrap().contains("status of 404"))
    };
    let tried: Vec<&Value> = seen.iter().filter(tried).collect();
    assert!(tried.is_empty(), "{tried:#?}");
    let unexpected: Vec<&Value> = seen.iter().filter(|page| page["status"] != 200 && page["status"] != 404).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    // A script has no words. Its source is shown, as text.
    let ann = served.post("/login", &[], "name=ann&password=a+password");
    let ann = [("Cookie", ann.cookie().unwrap())];
    let source = served.get(&format!("/p/{PROJECT}/pages/{}/content", page_number(&home, "script")), &ann).body;
    assert!(source.contains("alert(25,") && source.contains("// hostile"), "{source}");
}

#[test]
fn what_is_seen_before_a_log_in_and_when_things_go_wrong_is_for_everybody_too() {
    let (_script, home, served) = looked_at();
    home.orb(&["user", "grant", "anyone", PROJECT, "read"]).expect(0);
    let rain = page_number(&home, "rain");
    let guest = ["", "/runs", "/runs/2", "/changes", "/pages", "/health", "/hosts", "/graph", "/search?q=rain"];
    let guest = guest.map(|path| format!("/p/{PROJECT}{path}")).to_vec();
    let of_page = ["", "/content", "/content?as=text", "/diff"].map(|part| format!("/p/{PROJECT}/pages/{rain}{part}"));
    let as_guest = [&["/".to_owned(), "/login".to_owned()], guest.as_slice(), &of_page].concat();
    let absent = ["/nowhere", "/p/nowhere", "/p/p/pages/999999", "/p/p/runs/99", "/p/p/health/nothing"];
    let absent: Vec<String> = absent.map(str::to_owned).to_vec();
    let as_ann = [vec!["/users/ann".to_owned()], absent].concat();
    judged(&home, &served, &as_guest, None);
    judged(&home, &served, &as_ann, Some("ann"));
    let empty = Home::new();
    let first = Served::start(&empty, &["--no-schedule"]);
    judged(&empty, &first, &[first.first.clone().unwrap()], None);
}

#[test]
fn a_run_is_watched_by_everybody_while_it_goes_on() {
    let site = HeldSite::serve(Manner::Silent);
    let home = Home::new();
    home.orb(&["project", "new", PROJECT, "--seed", &site.url("/")]).expect(0);
    // However long a busy machine takes to look at every page, the run goes on.
    let file = home.project().join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (settings, end) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&file, format!("{settings}\n[fetch]\ntimeout = \"1h\"\ntotal_timeout = \"1h\"\n{end}\n")).unwrap();
    add_user(&home, "ann", &["--admin"]);
    let served = Served::start(&home, &["--no-schedule"]);
    let came = served.post("/login", &[], "name=ann&password=a+password");
    let ann = [("Cookie", came.cookie().unwrap())];
    let started = served.post("/p/p/runs", &ann, "kind=crawl");
    assert_eq!(started.header("location"), Some("/p/p/runs/1/live"), "{started:?}");
    let paths = ["/p/p/runs/1/live", "/p/p/runs/1/log", "/p/p/run", "/p/p", "/"].map(str::to_owned);
    judged(&home, &served, &paths, Some("ann"));
    // What is new comes without taking away what somebody holds.
    let base = format!("http://{}", served.address);
    let job = json!({"base": base, "account": ["ann", "a password"], "path": "/p/p/runs/1/live"});
    let held = judge::browser("hold", &job, &home.beside("job.json"));
    let told = (&held["before"], &held["within"], &held["kept"], &held["then"]);
    assert_eq!(told, (&held["after"], &json!(true), &json!("gone"), &json!("more")), "{held:#}");
    assert!(held["before"].is_string() && held["errors"] == json!([]), "{held:#}");
    assert_eq!(served.post("/p/p/runs/1/stop", &ann, "").status, 303);
    assert!(served.get("/p/p/runs/1/events", &ann).body.contains("event: end"));
}

/// Axe finds nothing on these pages in any theme and width, and they do nothing that they should
/// not.
fn judged(home: &Home, served: &Served, paths: &[String], who: Option<&str>) {
    let views = json!([["light", 1280], ["dark", 1280], ["light", 320], ["dark", 320]]);
    let job = json!({
        "base": format!("http://{}", served.address), "account": who.map(|name| [name, "a password"]),
        "paths": paths, "views": views, "axe": true, "shots": std::env::var("ORB_SHOTS").ok(),
    });
    let seen = judge::browser("walk", &job, &home.beside("job.json")).as_array().unwrap().clone();
    assert_eq!(seen.len(), paths.len() * 4);
    let is_wrong = |page: &&Value| {
        let has = |what: &str| !page[what].as_array().unwrap().is_empty();
        // A page that is not there is told of on the console, and so is the icon that a plain text
        // cannot name.
        let is_absent = |error: &Value| error.as_str().unwrap().contains("status of 404");
        let is_told = !page["errors"].as_array().unwrap().iter().all(is_absent);
        !matches!(page["status"].as_u64(), Some(200 | 404))
            || page["overflow"] != 0
            || is_told
            || ["ran", "strangers", "violations"].into_iter().any(has)
    };
    let wrong: Vec<String> = seen.iter().filter(is_wrong).map(|page| format!("{page:#}")).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
}

/// A small library with a door that wants a word.
fn library(heard: &Heard) -> Vec<u8> {
    let html = |body: &str| {
        reply("200 OK", &kind(HTML), &format!("<!doctype html><html lang=en><title>Library</title>{body}"))
    };
    match heard.target.split('?').next().unwrap() {
        "/" => html("<p>Welcome.</p><a href=/rain>rain</a> <a href=/private/x>private</a>"),
        "/rain" => html("<p>The rain falls on the plains.</p>"),
        "/door" => html("<form action=/inside><input name=word></form>"),
        "/inside" => html("<p>Inside.</p>"),
        _ => absent(),
    }
}

fn told(how: &str) {
    let script = Script::serve(library);
    let home = Home::new();
    let served = Served::start(&home, &["--no-schedule", "--operator-keys"]);
    let site = format!("http://{}/", script.address);
    let job = json!({
        "base": format!("http://{}", served.address), "first": served.first, "site": site, "how": how,
    });
    let told = judge::browser("story", &job, &home.beside("job.json"));
    let names: Vec<&str> = told["told"].as_array().unwrap().iter().map(|part| part[0].as_str().unwrap()).collect();
    let whole =
        ["account", "logged in", "project", "rules", "steps", "live", "report", "document", "acknowledged", "schedule"];
    assert_eq!(names, whole, "{told:#}");
    assert!(["ran", "errors", "strangers"].iter().all(|what| told[what].as_array().unwrap().is_empty()), "{told:#}");
    let read = told["told"][7][2].as_array().unwrap();
    assert!(told["told"][7][1].as_array().unwrap().iter().all(|status| *status == 200), "{told:#}");
    for text in ["The rain falls on the plains.", "Welcome."] {
        assert!(read.iter().any(|read| read.as_str().unwrap().contains(text)), "nobody could read {text}: {told:#}");
    }
    let asked: Vec<String> = script.heard().iter().map(|heard| heard.target.clone()).collect();
    assert!(asked.contains(&"/inside?word=sesame".to_owned()), "the form was filled: {asked:?}");
    assert!(asked.iter().all(|target| !target.contains("private")), "the rule was heeded: {asked:?}");
}

#[test]
fn the_whole_story_is_told_with_script() {
    told("script");
}

#[test]
fn the_whole_story_is_told_without_script() {
    told("plain");
}

#[test]
fn the_whole_story_is_told_by_keyboard_alone() {
    told("keyboard");
}
