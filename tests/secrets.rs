//! Do cookies and passwords stay where they belong, and are terminal and disk safe from pages?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, moved, page, reply};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Arguments that resolve all these names to the server, without delays.
fn args(server: &Script, names: &[&str], more: &[&str]) -> Vec<String> {
    let port = server.port();
    let mut args = Vec::new();
    for name in names {
        args.extend(["--resolve".to_owned(), format!("{name}:{port}:127.0.0.1")]);
    }
    args.extend(["--scope", "any", "--delay", "0", "--retries", "0"].map(str::to_owned));
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    args
}

/// The decompressed content of the project's archive.
fn archived(home: &Home) -> String {
    let mut all = Vec::new();
    for file in home.warcs() {
        let packed = std::fs::File::open(file).unwrap();
        flate2::read::MultiGzDecoder::new(packed).read_to_end(&mut all).unwrap();
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// The values of a header field that a host received, over all requests.
fn told(server: &Script, host: &str, field: &str) -> BTreeSet<String> {
    let heard = server.heard();
    let to = heard.iter().filter(|heard| heard.host() == host);
    to.filter_map(|heard| heard.field(field)).map(str::to_owned).collect()
}

#[test]
fn cookies_never_leave_their_site() {
    let hosts = ["www.shop.co.uk", "img.shop.co.uk", "bank.co.uk", "127.0.0.1"];
    let server = Script::serve(move |heard| {
        let port = heard.field("host").unwrap().rsplit(':').next().unwrap().to_owned();
        match heard.target.as_str() {
            "/robots.txt" => absent(),
            "/" => {
                let sent = [
                    "own=1",
                    "site=2; Domain=shop.co.uk",
                    "all=3; Domain=co.uk",
                    "bank=4; Domain=bank.co.uk",
                    "safe=5; Secure",
                ]
                .map(|cookie| format!("Set-Cookie: {cookie}\r\n"));
                let links: String =
                    hosts.iter().map(|host| format!("<a href='http://{host}:{port}/next'>x</a>")).collect();
                reply("200 OK", &format!("{}Content-Type: text/html\r\n", sent.concat()), &links)
            }
            _ => page([""; 0]),
        }
    });
    let home = Home::new();
    let seed = format!("http://www.shop.co.uk:{}/", server.port());
    home.crawl(&[vec![seed], args(&server, &hosts, &["--allow-private"])].concat());
    let set = |cookies: &[&str]| cookies.iter().map(|c| (*c).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(told(&server, "www.shop.co.uk", "cookie"), set(&["own=1; site=2"]));
    assert_eq!(told(&server, "img.shop.co.uk", "cookie"), set(&["site=2"]));
    assert_eq!(told(&server, "bank.co.uk", "cookie"), set(&[]));
    assert_eq!(told(&server, "127.0.0.1", "cookie"), set(&[]));
}

/// A site with links and redirects to itself and to another.
fn wandering(heard: &Heard) -> Vec<u8> {
    let port = heard.field("host").unwrap().rsplit(':').next().unwrap().to_owned();
    match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page(
            ["/here", "/away", "/back"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("http://other.test:{port}/linked")]),
        ),
        "/away" => moved(&format!("http://other.test:{port}/moved")),
        "/back" => moved("/here?again"),
        _ => page([""; 0]),
    }
}

#[test]
fn the_password_of_a_seed_goes_to_its_host_alone_and_not_into_the_archive() {
    let server = Script::serve(wandering);
    let home = Home::new();
    let port = server.port();
    let resolve = format!("fetch.resolve = ['site.test:{port}:127.0.0.1', 'other.test:{port}:127.0.0.1']");
    let file = home.beside("p.toml");
    let settings = format!(
        "seeds = ['http://me:pw@site.test:{port}/']\n{resolve}\nurls.strip_userinfo = false\nfrontier.delay = '0s'\nscope.mode = 'any'\n"
    );
    std::fs::write(&file, settings).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    assert_eq!(told(&server, "site.test", "authorization"), BTreeSet::from(["Basic bWU6cHc=".to_owned()]));
    assert_eq!(told(&server, "other.test", "authorization"), BTreeSet::new());
    let other: Vec<_> = server.heard().into_iter().filter(|heard| heard.host() == "other.test").collect();
    assert!(other.iter().any(|h| h.target == "/moved") && other.iter().any(|h| h.target == "/linked"));
    assert!(other.iter().all(|heard| heard.lines.iter().all(|line| !line.contains("pw"))), "{other:?}");
    let archive = archived(&home);
    assert!(archive.contains("GET /here HTTP/1.1") && !archive.contains("bWU6cHc"));
    let kept = home.catalogue().column("SELECT settings FROM run");
    assert!(kept.iter().all(|settings| !settings.contains("pw@")), "{kept:?}");
    // A password is not even used unless the user asks for it.
    let plain = Home::new();
    plain.crawl(&[vec![format!("http://me:pw@site.test:{port}/none")], args(&server, &["site.test"], &[])].concat());
    let last = server.heard().pop().unwrap();
    assert_eq!((last.target.as_str(), last.field("authorization")), ("/none", None));
    assert_eq!(plain.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%pw%'"), 0);
}

#[test]
fn the_password_of_a_proxy_is_told_to_the_proxy_and_kept_nowhere_but_in_the_project_file() {
    let proxy = Script::serve(|heard| if heard.target.ends_with("/robots.txt") { absent() } else { page(["/more"]) });
    let home = Home::new();
    let through = format!("http://me:pw@127.0.0.1:{}", proxy.port());
    home.crawl(&["http://site.test/", "--proxy", &through, "--delay", "0"]);
    assert!(proxy.heard().len() >= 3);
    assert!(proxy.heard().iter().all(|heard| heard.field("proxy-authorization") == Some("Basic bWU6cHc=")));
    assert!(!archived(&home).contains("bWU6cHc"));
    assert!(home.catalogue().column("SELECT settings FROM run").iter().all(|s| !s.contains("pw@")));
}

/// A title that would clear the screen, rename the window and hide what follows, with every escape
/// a terminal knows.
const HOSTILE: &str = "T\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31mred\u{9d}0;x\u{9c}\u{8}\u{8}\u{7f}\u{c}end";

#[test]
fn no_page_steers_the_terminal() {
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => {
            let html = format!(
                "<title>{HOSTILE}</title><p>{HOSTILE}<a href='/x' rel='{HOSTILE}'>{HOSTILE}</a><a href='/y%1b[2J'>y</a><a href='/z'>z</a>"
            );
            reply("200 OK", &format!("Content-Type: text/html; charset=utf-8\r\nETag: \"{HOSTILE}\"\r\n"), &html)
        }
        "/z" => moved(&format!("gopher://{HOSTILE}/")),
        _ => page([""; 0]),
    });
    let home = Home::new();
    let seed = format!("http://127.0.0.1:{}/", server.port());
    home.crawl(&[&seed, "--delay", "0"]);
    let (odd, gone) = (format!("{seed}y%1b[2J"), format!("{seed}z"));
    let query = "SELECT url, title, etag, problem FROM page";
    let commands: &[&[&str]] = &[
        &["show", PROJECT, &seed],
        &["show", PROJECT, &gone],
        &["show", PROJECT, &odd],
        &["links", PROJECT, &seed, "--out"],
        &["cat", PROJECT, &seed, "--as", "text"],
        &["cat", PROJECT, &seed, "--as", "markdown"],
        &["sql", PROJECT, query],
        &["sql", PROJECT, query, "--json"],
        &["show", PROJECT, &seed, "--json"],
        &["stats", PROJECT],
        &["status", PROJECT],
        &["check", PROJECT],
        &["show", PROJECT, "http://nobody.test/\u{1b}[2J"],
        &["sql", PROJECT, "SELECT nothing AS '\u{1b}[2J' FROM '\u{1b}[2J'"],
        &["inspect", "url", "http://a.test/\u{1b}[2J\u{9b}"],
    ];
    for command in commands {
        let finished = home.orb(command);
        let said = format!("{}{}", finished.text(), finished.stderr);
        let control = said.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(control, None, "{command:?}: {said:?}");
    }
    // Raw output is unmodified when it does not go to a terminal.
    assert!(home.orb(&["cat", PROJECT, &seed, "--as", "raw"]).text().contains(HOSTILE));
}

/// Every file below a directory.
fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, out);
        } else {
            out.push(entry);
        }
    }
}

#[test]
fn no_url_decides_where_a_file_is_written() {
    let names = [
        "/../../../up.txt",
        "/..%2f..%2f..%2fup.txt",
        "/%2e%2e/%2e%2e/up.txt",
        "/a/..\\..\\up.txt",
        "/%00",
        "/~/.bashrc",
        "/etc/passwd",
        "/C:/x",
    ];
    let server = Script::serve(move |heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page(names),
        _ => reply(
            "200 OK",
            "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=\"../../../up.txt\"\r\n",
            "up",
        ),
    });
    let home = Home::new();
    // The project's name comes from the seed's host, which is as odd as hosts can be.
    let seed = format!("http://..a-_b..test:{}/", server.port());
    let odd = home.orb(&["crawl", &seed, "--delay", "0", "--progress", "none"]);
    assert_ne!(odd.code, Some(0), "{odd}");
    home.crawl(&[format!("http://127.0.0.1:{}/", server.port()), "--delay".into(), "0".into()]);
    let mut all = Vec::new();
    files(home.beside("").as_path(), &mut all);
    assert!(all.len() > 5);
    for file in &all {
        let inside = file.strip_prefix(home.path()).unwrap_or_else(|_| panic!("{}", file.display()));
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let known = ["project.toml", "crawl.db", "warc", "frontier", "index", "keys", "runs", "lock"];
        let ours = parts[0].starts_with("orb.db") || known.iter().any(|name| parts[1].starts_with(name));
        assert!(ours && !file.to_str().unwrap().contains("up.txt"), "{}", file.display());
    }
    // Nor does a project file.
    let file = home.beside("p.toml");
    std::fs::write(&file, "name = '../../up'\nseeds = ['http://127.0.0.1:1/']\n").unwrap();
    let refused = home.orb(&["crawl", file.to_str().unwrap()]);
    assert!(refused.complaint(1).contains("../../up"), "{refused}");
}
