//! Do the settings, manners and records of a crawl hold for rendered pages, too?

use super::harness::judge;
use super::harness::orb::{Home, PROJECT};
use super::harness::script::{Script, absent, reply};
use super::harness::served::Served;
use super::harness::tls::{Flaw, SecureSite};
use super::{html, project, rendered, site};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A page whose text is what a request for data brings.
const DATA: &str = "<!doctype html><title>page</title><div id=root></div><script>fetch('/api/data').then((r) => r.text()).then((t) => { document.getElementById('root').textContent = t })</script>";

fn text(body: &str) -> Vec<u8> {
    reply("200 OK", "Content-Type: text/plain\r\n", body)
}

fn cat(home: &Home, site: &Script, path: &str) -> String {
    home.orb(&["cat", PROJECT, &format!("http://site.test:{}{path}", site.port())]).text().to_owned()
}

#[test]
fn robots_txt_holds_for_what_a_page_loads_unless_the_project_says_otherwise() {
    for (robots, allowed) in [("parts", false), ("pages", true)] {
        let site = Script::serve(|heard| match heard.target.as_str() {
            "/robots.txt" => text("User-agent: *\nDisallow: /api/\n"),
            "/" => html(DATA),
            "/api/data" => text("the data"),
            _ => absent(),
        });
        let home = Home::new();
        rendered(&home, &site, "always", &format!("render.robots = '{robots}'\nfrontier.depth = 0"));
        let asked = site.heard().iter().any(|heard| heard.target == "/api/data");
        assert_eq!(asked, allowed, "{robots}");
        assert_eq!(cat(&home, &site, "/").contains("the data"), allowed, "{robots}");
        let problem = home.catalogue().column("SELECT coalesce(problem, '') FROM page WHERE id = 1").remove(0);
        assert_eq!(problem.contains("1 by robots.txt"), !allowed, "{problem}");
    }
}

#[test]
fn rules_say_which_pages_are_rendered() {
    let site = site(|heard| match heard.target.as_str() {
        "/" => html(
            "<title>root</title><a href=/app/one>1</a><a href=/plain>2</a><script>document.title = 'drawn'</script>",
        ),
        "/app/one" | "/plain" => html("<title>fetched</title><script>document.title = 'drawn'</script><p>x"),
        _ => absent(),
    });
    let home = Home::new();
    rendered(&home, &site, "never", "render.rules = [{ match = '/app/', when = 'always' }]");
    let titles = home.catalogue().column("SELECT title FROM page WHERE status = 200 ORDER BY url");
    assert_eq!(titles, ["root", "drawn", "fetched"]);
}

#[test]
fn a_form_that_a_script_makes_is_filled_in_by_a_step() {
    let site = site(|heard| match heard.target.as_str() {
        "/in" => html(
            "<div id=app></div><script>document.getElementById('app').innerHTML = '<form action=/check method=post><input name=user><input name=password type=password></form>'</script>",
        ),
        "/check" if heard.body == b"user=me&password=secret" => {
            reply("302 Found", "Location: /members\r\nSet-Cookie: in=yes; Path=/\r\n", "")
        }
        "/members" | "/members/data" if heard.field("cookie").is_none_or(|cookies| !cookies.contains("in=yes")) => {
            reply("403 Forbidden", "", "")
        }
        "/members" => html(
            "<title>members</title><p id=text></p><script>fetch('/members/data').then((r) => r.text()).then((t) => { document.getElementById('text').textContent = t })</script>",
        ),
        "/members/data" => text("for members alone"),
        _ => absent(),
    });
    let home = Home::new();
    let start = format!("http://site.test:{}", site.port());
    let file = project(&home, &site, "never", "");
    let steps = format!(
        "[[steps]]\nname = 'in'\nstart = ['{start}/in']\ncollect = false\nrender = 'always'\nform.fields = {{ user = 'me', password = 'secret' }}\n\
         [[steps]]\nname = 'members'\nstart = ['{start}/members']\nrender = 'always'\n"
    );
    let settings = std::fs::read_to_string(&file).unwrap().replace(&format!("seeds = ['{start}/']"), "");
    std::fs::write(&file, settings + &steps).unwrap();
    home.crawl(&[file]);
    assert!(cat(&home, &site, "/members").contains("for members alone"));
}

#[test]
fn a_picture_is_kept_on_wish_and_shown() {
    let site =
        site(|heard| if heard.target == "/" { html("<title>a</title><h1>Large letters</h1>") } else { absent() });
    let home = Home::new();
    rendered(&home, &site, "always", "render.screenshots = true");
    let url = format!("http://site.test:{}/", site.port());
    let shown = home.orb(&["show", PROJECT, &url]);
    assert!(shown.text().contains("--as picture"), "{shown}");
    let picture = home.orb(&["cat", PROJECT, &url, "--as", "picture"]);
    assert!(picture.expect(0).stdout.starts_with(b"\xff\xd8\xff"), "not a JPEG");
    home.orb(&["check", PROJECT]).expect(0);
    home.orb(&["user", "grant", "anyone", PROJECT, "read"]).expect(0);
    let served = Served::start(&home, &[]);
    let content = served.get("/p/p/pages/1/content", &[("Accept", "text/html")]);
    assert!(content.body.contains("?run=1&amp;as=picture"), "{content:?}");
    let shown = served.send("HEAD /p/p/pages/1/content?run=1&as=picture", &[], "");
    assert_eq!((shown.status, shown.header("content-type")), (200, Some("image/jpeg")), "{shown:?}");
    let plain = Home::new();
    rendered(&plain, &site, "always", "");
    assert!(plain.orb(&["cat", PROJECT, &url, "--as", "picture"]).complaint(1).contains("there is no picture"));
}

#[test]
fn tracking_compares_what_scripts_have_made() {
    let run = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&run);
    let site = site(move |heard| match heard.target.as_str() {
        "/" => reply("200 OK", "Content-Type: text/html\r\nETag: \"shell\"\r\n", DATA),
        "/api/data" if now.load(Ordering::SeqCst) < 2 => text("The museum is open on Mondays and closed on Tuesdays."),
        "/api/data" => text("The museum is closed for the winter, and nobody knows for how long."),
        _ => absent(),
    });
    let home = Home::new();
    rendered(&home, &site, "always", "frontier.depth = 0");
    for wanted in ["SAM", "UPD"] {
        run.fetch_add(1, Ordering::SeqCst);
        home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
        let flags = home.catalogue().column("SELECT flag FROM visit WHERE page_id = 1 ORDER BY run DESC LIMIT 1");
        assert_eq!(flags, [wanted]);
    }
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_page_behind_tls_is_rendered_with_parts_behind_tls() {
    let page = "<!doctype html><title>fetched</title><script>fetch('/part').then((r) => r.text()).then((t) => { document.title = t.includes('fetch') ? 'drawn' : 'odd' })</script>";
    let site = SecureSite::serve(page, Flaw::None);
    let home = Home::new();
    let (issuer, file) = (home.beside("issuer.pem"), home.beside("p.toml"));
    std::fs::write(&issuer, &site.issuer).unwrap();
    let settings = format!(
        "seeds = ['{}']\nfetch.ca_file = '{}'\nfrontier.depth = 0\nrender.when = 'always'\nrender.no_sandbox = true\n",
        site.url("/"),
        issuer.display()
    );
    std::fs::write(&file, settings).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    assert_eq!(home.catalogue().column("SELECT title FROM page WHERE id = 1"), ["drawn"]);
}

#[test]
fn what_only_a_click_brings_is_found_on_wish() {
    let page = "<title>a</title><div id=menu style='cursor: pointer'>Menu</div><button id=go>Go</button><div id=list></div>\
        <script>document.getElementById('menu').addEventListener('click', () => { document.getElementById('list').innerHTML = '<a href=/unfolded>x</a>' }); \
        document.getElementById('go').addEventListener('click', () => { location.href = '/go' + 'ne' })</script>";
    for (click, found) in [(false, 0), (true, 2)] {
        let site = site(move |heard| if heard.target == "/" { html(page) } else { absent() });
        let home = Home::new();
        rendered(&home, &site, "always", &format!("render.click = {click}\nfrontier.depth = 0"));
        let links =
            home.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%/unfolded' OR url LIKE '%/gone'");
        assert_eq!(links, found, "{click}");
    }
}

#[test]
fn what_we_are_logged_in_to_is_no_business_of_other_sites() {
    let site = site(|heard| {
        let port = heard.field("host").unwrap().rsplit(':').next().unwrap();
        let link = format!("<title>ours</title><img src=/own><a href='http://other.test:{port}/'>other</a>");
        match (heard.host(), heard.target.as_str()) {
            ("site.test", "/") => reply("200 OK", "Content-Type: text/html\r\nSet-Cookie: in=yes; Path=/\r\n", &link),
            ("other.test", "/") => html(&format!("<title>theirs</title><img src='http://site.test:{port}/theirs'>")),
            _ => text("x"),
        }
    });
    let home = Home::new();
    let file = project(&home, &site, "always", "frontier.depth = 1\nscope.mode = 'any'");
    let fixed = format!("fetch.resolve = ['other.test:{}:127.0.0.1', ", site.port());
    let settings = std::fs::read_to_string(&file).unwrap().replace("fetch.resolve = [", &fixed);
    std::fs::write(&file, settings).unwrap();
    home.crawl(&[file]);
    let heard = site.heard();
    let cookies = |target: &str| -> Vec<Option<&str>> {
        heard.iter().filter(|heard| heard.target == target).map(|heard| heard.field("cookie")).collect()
    };
    assert!(cookies("/own").contains(&Some("in=yes")), "{:?}", cookies("/own"));
    // Once for their page, and then perhaps as a page of ours.
    assert_eq!(cookies("/theirs").first(), Some(&None), "{:?}", cookies("/theirs"));
}

#[test]
fn the_archive_says_what_a_page_was_made_of() {
    let site = site(|heard| match heard.target.as_str() {
        "/" => html("<title>a</title><script src=/a.js></script><script>fetch('/data')</script>"),
        "/a.js" => reply("200 OK", "Content-Type: text/javascript\r\n", "document.title = 'b'"),
        "/data" => text("data"),
        _ => absent(),
    });
    let home = Home::new();
    rendered(&home, &site, "always", "frontier.depth = 0");
    let start = format!("http://site.test:{}", site.port());
    let archive = judge::gunzip(&home.warcs()[0]);
    let (_, record) = archive.split_once(&format!("WARC-Target-URI: urn:pageinfo:{start}/\r\n")).unwrap();
    let facts: Value = serde_json::from_str(record.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let of = |path: &str, key: &str| facts["urls"][format!("{start}{path}")][key].clone();
    assert_eq!((of("/", "status"), of("/", "type")), (200.into(), "document".into()), "{facts}");
    assert_eq!((of("/a.js", "mime"), of("/a.js", "type")), ("text/javascript".into(), "script".into()), "{facts}");
    assert_eq!((of("/data", "status"), of("/data", "type")), (200.into(), "fetch".into()), "{facts}");
    assert_eq!(facts["url"], format!("{start}/"), "{facts}");
}

#[test]
fn a_web_socket_is_refused_and_counted() {
    let page = "<title>a</title><script>const s = new WebSocket('ws://' + location.host + '/socket'); \
        s.onerror = () => { document.title = 'refused' }; s.onopen = () => { document.title = 'open' }</script>";
    let site = site(move |heard| if heard.target == "/" { html(page) } else { absent() });
    let home = Home::new();
    rendered(&home, &site, "always", "frontier.depth = 0");
    let rows = home.catalogue().rows("SELECT title, problem FROM page WHERE id = 1");
    assert_eq!(rows[0][0], "refused", "{rows:?}");
    assert!(rows[0][1].contains("1 because they are WebSockets"), "{rows:?}");
    assert!(site.heard().iter().all(|heard| heard.target != "/socket"));
}

#[test]
fn what_a_timer_brings_is_waited_for_and_an_interval_is_not() {
    let page = "<title>a</title><p>text</p><script>\
        setTimeout(() => fetch('/data').then((r) => r.text()).then((t) => { document.title = t }), 1400);\
        clearTimeout(setTimeout(() => { document.title = 'never' }, 1900));\
        setTimeout(() => { document.title = 'an hour later' }, 3600000)</script>";
    let endless = "<title>b</title><p>text</p><script>setInterval(() => { window.n = (window.n ?? 0) + 1 }, 50);\
        const again = () => setTimeout(again, 100); again()</script>";
    let site = site(move |heard| match heard.target.as_str() {
        "/" => html(page),
        "/endless" => html(endless),
        "/data" => text("late, but here"),
        _ => absent(),
    });
    let home = Home::new();
    let file = project(&home, &site, "always", "frontier.depth = 0");
    let start = format!("http://site.test:{}", site.port());
    let settings = std::fs::read_to_string(&file).unwrap();
    let both = settings.replace(&format!("['{start}/']"), &format!("['{start}/', '{start}/endless']"));
    std::fs::write(&file, both).unwrap();
    home.crawl(&[file]);
    let rows = home.catalogue().rows("SELECT title, coalesce(problem, '') FROM page WHERE status = 200 ORDER BY url");
    assert_eq!(rows, [["late, but here", ""], ["b", ""]]);
}
