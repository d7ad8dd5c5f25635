//! Are the pages of applications read as a browser shows them?

use super::harness::judge;
use super::harness::orb::{Home, PROJECT};
use super::harness::script::{Script, absent, reply};
use super::{rendered, site};
use orb_testweb::WebApp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn serve(app: WebApp) -> Script {
    site(move |heard| match app.answer(&heard.target) {
        Some((mime, body)) => reply("200 OK", &format!("Content-Type: {mime}\r\n"), &body),
        None => absent(),
    })
}

fn path_of(url: &str, site: &Script) -> String {
    let start = format!("http://site.test:{}", site.port());
    url.strip_prefix(&start).unwrap_or_else(|| panic!("{url} is not of the site")).to_owned()
}

/// The links that people see of a page.
fn links(home: &Home, site: &Script, path: &str) -> BTreeSet<String> {
    let sql = format!(
        "SELECT DISTINCT d.url FROM link l JOIN page s ON s.id = l.src JOIN page d ON d.id = l.dst \
         WHERE l.kind = 'a' AND s.url = 'http://site.test:{}{path}'",
        site.port()
    );
    home.catalogue().column(&sql).iter().map(|url| path_of(url, site)).collect()
}

/// The links of every page, by its path, in the document that Chromium has when nothing moves any
/// more.
fn links_of_documents(site: &Script, beside: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let base = format!("http://127.0.0.1:{}", site.port());
    let job = json!({ "base": base, "paths": WebApp::paths() });
    let told = judge::browser("links", &job, beside);
    let own = |url: &Value| url.as_str().unwrap().strip_prefix(&base).expect("no link leads elsewhere").to_owned();
    let page = |(path, urls): (&String, &Value)| (path.clone(), urls.as_array().unwrap().iter().map(own).collect());
    told.as_object().unwrap().iter().map(page).collect()
}

#[test]
fn the_links_of_every_page_are_those_of_the_document() {
    for app in WebApp::ALL {
        let documents = links_of_documents(&serve(app), &Home::new().beside("job"));
        for when in ["always", "auto"] {
            let (site, home) = (serve(app), Home::new());
            rendered(&home, &site, when, "");
            let kinds = home.catalogue().rows(
                "SELECT url, kind, coalesce(title, ''), coalesce(problem, '') FROM page WHERE mime = 'text/html'",
            );
            let pages: BTreeSet<String> =
                kinds.iter().filter(|row| row[1] == "HTML").map(|row| path_of(&row[0], &site)).collect();
            let pages: BTreeSet<String> = pages.into_iter().filter(|path| !path.contains('?')).collect();
            assert_eq!(pages, WebApp::paths(), "{app:?} {when}: {kinds:#?}");
            for path in WebApp::paths() {
                assert_eq!(links(&home, &site, &path), documents[&path], "{app:?} {when} {path}");
                assert_eq!(documents[&path], WebApp::links(&path), "{app:?} {path}: what people see");
                let url = format!("http://site.test:{}{path}", site.port());
                let row = kinds.iter().find(|row| row[0] == url).unwrap();
                assert_eq!((row[2].as_str(), row[3].as_str()), (WebApp::title(&path).as_str(), ""), "{app:?} {path}");
            }
            home.orb(&["check", PROJECT]).expect(0);
        }
    }
}

#[test]
fn a_page_is_asked_for_once_and_so_is_a_script() {
    let (site, home) = (serve(WebApp::React), Home::new());
    rendered(&home, &site, "always", "");
    let heard = site.heard();
    let times = |target: &str| heard.iter().filter(|heard| heard.target == target).count();
    for path in WebApp::paths() {
        assert_eq!(times(&path), 1, "{path}");
    }
    assert_eq!(times("/assets/react.js"), 1 + 1, "once for the pages, once as a page of its own");
    assert!(heard.iter().all(|heard| heard.field("user-agent").is_some_and(|agent| agent.starts_with("Orbweaver/"))));
}

#[test]
fn the_archive_replays_the_page_with_its_parts() {
    let (site, home) = (serve(WebApp::Vue), Home::new());
    rendered(&home, &site, "always", "frontier.depth = 0");
    judge::warcio_check(&home.warcs());
    let replay = judge::Replay::start(&home.project().join("warc"), &home.beside("pywb"));
    let start = format!("http://site.test:{}", site.port());
    for (path, says) in [
        ("/", "<div id=app></div>"),
        ("/assets/vue.js", "drawItems"),
        ("/assets/list.js", "drawItems"),
        ("/api/items.json", "Item number 12"),
    ] {
        let replayed = replay.get("2", "id_", &format!("{start}{path}"));
        assert_eq!(replayed.status, 200, "{path}: {}", replayed.head);
        assert!(String::from_utf8_lossy(&replayed.body).contains(says), "{path}");
    }
    let job = json!({ "base": replay.base(), "path": format!("/orb/2/{start}/"), "text": "Item number 12" });
    let seen = judge::browser("replay", &job, &home.beside("job"));
    let texts: Vec<&str> = seen["links"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((texts.len(), &seen["title"]), (14, &"All items".into()), "{seen}");
    assert_eq!(seen["strangers"], json!([]), "{seen}");
    let shown = home.orb(&["cat", PROJECT, &format!("{start}/")]);
    shown.expect(0);
    assert!(shown.text().contains("Item number 12"), "{shown}");
}
