//! What does the program say about input it cannot use?
//!
//! One clear line on standard error, exit code 1 or 2, and nothing lost.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT, crawling};
use harness::script::Script;
use harness::tls::{Flaw, SecureSite};
use orb_testweb::{Dns, Server, Spec, Web};
use std::fs;
use std::net::TcpListener;
use std::sync::atomic::Ordering;

const PAGE: &str = "<!doctype html><title>Behind TLS</title><p>Here.";

/// The one-line error of a command that must have failed because of its input.
#[track_caller]
fn refused(finished: &Finished) -> &str {
    let code = if finished.code == Some(2) { 2 } else { 1 };
    finished.complaint(code)
}

/// The one-line error of a crawl that must fail, in its own home.
#[track_caller]
fn refused_crawl(args: &[&str], words: &[&str]) {
    let finished = Home::new().orb(&crawling(args));
    let line = refused(&finished).to_lowercase();
    for word in words {
        assert!(line.contains(&word.to_lowercase()), "no {word:?} in: {line}");
    }
}

#[test]
fn what_is_no_url_is_refused_by_name() {
    for text in ["not a url", "http://", "http://[::1", "http://a b/", "http://999.1.1.1/", "//", "http:///x y"] {
        refused_crawl(&[text], &[text.trim()]);
    }
}

#[test]
fn a_crawl_that_is_refused_leaves_nothing_behind() {
    let home = Home::new();
    let file = home.beside("wrong.toml");
    fs::write(&file, "seeds = ['http://a.test/']\n[[steps]]\nname = 'a'\nunknown = 1\n").unwrap();
    let secret = home.beside("secret.toml");
    fs::write(
        &secret,
        "seeds = ['http://a.test/']\n[[auth]]\nhost = 'a.test'\nuser = 'me'\npassword_env = 'ORB_NOT_SET'\n",
    )
    .unwrap();
    let refusals: [&[&str]; 9] = [
        &["http://a.test/", "--allow", "("],
        &["http://a.test/", "--ca-file", "nowhere"],
        &["http://a.test/", "--cookies", "nowhere"],
        &["http://a.test/", "--proxy", "ftp://x"],
        &["http://a.test/", "--resolve", "x"],
        &["http://a.test/", "--render", "always"],
        &["gopher://a.test/"],
        &[file.to_str().unwrap()],
        &[secret.to_str().unwrap()],
    ];
    for args in refusals {
        let finished = home.orb(&crawling(args));
        refused(&finished);
        assert!(!home.path().exists(), "{args:?} left {:?}", fs::read_dir(home.path()).map(Iterator::count));
    }
    home.orb(&["project", "new", "other", "--seed", "http://a.test/"]).expect(0);
    for args in refusals {
        refused(&home.orb(&crawling(args)));
        assert!(!home.project().exists(), "{args:?}");
        assert_eq!(home.orb(&["project", "list"]).expect(0).text(), "other\n", "{args:?}");
    }
}

#[test]
fn whatever_else_is_refused_makes_no_home() {
    let home = Home::new();
    for (code, args) in [
        (2, &["project", "new", "x/y"][..]),
        (2, &["crawl", "http://a.test/", "--project", "x/y"]),
        (1, &["user", "grant", "bob", "x", "read"]),
        (1, &["user", "add", "bob"]),
        (2, &["crawl", "http://a.test/", "--store", "postgres://nobody@127.0.0.1:1/none"]),
        (1, &["crawl", "http://a.test/", "--store", "nonsense", "--archive", "file:///nowhere"]),
    ] {
        let refused = home.orb(args);
        refused.complaint(code);
        assert!(!home.path().exists(), "{args:?}: {refused}");
    }
}

#[test]
fn a_flag_with_a_value_that_it_cannot_have_is_wrong_usage() {
    let home = Home::new();
    home.orb(&["project", "new", PROJECT, "--seed", "http://a.test/"]).expect(0);
    let wrong: [&[&str]; 10] = [
        &["--allow", "("],
        &["--deny", "("],
        &["--proxy", "ftp://x"],
        &["--resolve", "x"],
        &["--dns", "here"],
        &["--accept", "html"],
        &["--user-agent", ""],
        &["--user-agent", "\u{e9}"],
        &["--engine", "http://a.test/"],
        &["--engine", "http://[{searchTerms}"],
    ];
    for words in wrong {
        for command in [["crawl", "http://a.test/"], ["crawl", PROJECT], ["track", PROJECT]] {
            let refused = home.orb(&[&command[..], words].concat());
            let named = format!("orb: {}: ", words[0]);
            assert!(refused.complaint(2).starts_with(&named), "{refused}");
        }
    }
    let phrase = home.orb(&crawling(&["?wolf spiders"]));
    assert!(phrase.complaint(2).contains("--engine"), "{phrase}");
    for words in [["--delay", "banana"], ["--max-bytes", "x"], ["--bandwidth", "fast"], ["--depth", "x"]] {
        let refused = home.orb(&[&["crawl", "http://a.test/"][..], &words].concat());
        assert!(refused.expect(2).stderr.contains(words[0]), "{refused}");
    }
    // A file that says so has failed: nothing is wrong with the command.
    let file = home.beside("wrong.toml");
    fs::write(&file, "seeds = ['http://a.test/']\nfetch.proxy = 'ftp://x'\n").unwrap();
    for command in ["crawl", "track"] {
        let refused = home.orb(&[command, file.to_str().unwrap()]);
        assert!(refused.complaint(1).contains("wrong.toml:2:15: "), "{refused}");
    }
    fs::write(home.project().join("project.toml"), "seeds = ['http://a.test/']\nfetch.dns = 'here'\n").unwrap();
    for words in [&[][..], &["--accept", "text/html"]] {
        let refused = home.orb(&[&["crawl", PROJECT][..], words].concat());
        assert!(refused.complaint(1).contains("project.toml:2:13: "), "{refused}");
    }
}

#[test]
fn what_a_newcomer_tries_is_answered_in_words() {
    let home = Home::new();
    assert!(home.orb(&["--help"]).expect(0).text().starts_with("Crawls web sites into a directory"));
    home.orb(&["project", "new", PROJECT, "--seed", "http://127.0.0.1:1/"]).expect(0);
    for command in ["check", "stats", "report", "health"] {
        let refused = home.orb(&[command, PROJECT]);
        assert!(refused.complaint(1).contains("has collected nothing yet; run orb crawl first"), "{refused}");
    }
    let none = home.orb(&["crawl", PROJECT, "--max-pages", "0", "--progress", "none"]);
    assert!(none.expect(0).text().starts_with("project p, run 1: budget used up in "), "{none}");
    let refused = home.orb(&["export", PROJECT, "wacz"]);
    assert!(refused.complaint(1).contains("fetched nothing"), "{refused}");
    let refused = home.orb(&["export", PROJECT, "markdown", "out dir"]);
    assert!(refused.complaint(2).contains("--output"), "{refused}");
}

#[test]
fn a_scheme_that_is_not_crawled_is_refused_by_name() {
    for (url, scheme) in [
        ("gopher://example.test/", "gopher"),
        ("mailto:someone@example.test", "mailto"),
        ("wss://example.test/chat", "wss"),
        ("javascript:alert(1)", "javascript"),
        ("wombat://example.test/", "wombat"),
    ] {
        refused_crawl(&[url], &[scheme]);
    }
}

#[test]
fn seeds_that_cannot_be_read_are_named() {
    let home = Home::new();
    let missing = home.orb(&crawling(&["@no-such-file"]));
    assert!(refused(&missing).contains("no-such-file"), "{missing}");
    let list = home.beside("seeds.txt");
    fs::write(&list, "# a comment\n\nhttp://fine.test/\nhttp://[broken\n").unwrap();
    let broken = home.orb(&crawling(&[&format!("@{}", list.display())]));
    assert!(refused(&broken).contains("seeds.txt:4"), "{broken}");
    let unmarked = home.orb(&crawling(&[list.to_str().unwrap()]));
    assert!(refused(&unmarked).contains("@FILE"), "{unmarked}");
    fs::write(&list, "# nothing else\n").unwrap();
    let empty = home.orb(&crawling(&[&format!("@{}", list.display())]));
    assert!(refused(&empty).contains("seed"), "{empty}");
}

#[test]
fn a_host_that_does_not_resolve_is_named() {
    let dns = Dns::spawn(&Web::new(Spec::default()).unwrap()).unwrap();
    let server = dns.addr().to_string();
    refused_crawl(&["http://nowhere.invalid/", "--dns", &server, "--retries", "0"], &["nowhere.invalid", "resol"]);
}

#[test]
fn a_refused_connection_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    refused_crawl(&[&url, "--retries", "0", "--delay", "0"], &[&url, "refused"]);
}

#[test]
fn a_server_that_was_down_is_asked_again_by_the_same_command() {
    let (site, is_up) = Script::down_at_first();
    let (home, url) = (Home::new(), format!("http://{}/", site.address));
    let crawl = || home.orb(&crawling(&[&url, "--retries", "0", "--delay", "0"]));
    for _ in 0..2 {
        let asked = site.heard().len();
        assert!(refused(&crawl()).contains("not HTTP"));
        assert!(site.heard().len() > asked, "it was not asked again");
    }
    is_up.store(true, Ordering::SeqCst);
    assert_eq!(crawl().expect(0).number("pages"), 2);
    let asked = site.heard().len();
    assert_eq!(crawl().expect(0).number("pages"), 2);
    assert_eq!(site.heard().len(), asked, "what was reached is done");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_bad_certificate_is_named_and_a_trusted_one_is_taken() {
    let home = Home::new();
    let issuer = home.beside("issuer.pem");
    for (flaw, word) in [(Flaw::Expired, "expired"), (Flaw::WrongName, "name")] {
        let site = SecureSite::serve(PAGE, flaw);
        fs::write(&issuer, &site.issuer).unwrap();
        let file = issuer.to_str().unwrap();
        refused_crawl(&[&site.url("/"), "--ca-file", file, "--retries", "0"], &["certificate", word]);
    }
    let site = SecureSite::serve(PAGE, Flaw::None);
    refused_crawl(&[&site.url("/"), "--retries", "0"], &["certificate", "issuer"]);
    fs::write(&issuer, &site.issuer).unwrap();
    let trusted = ["--ca-file", issuer.to_str().unwrap(), "--delay", "0"];
    for flags in [trusted.as_slice(), &["--insecure", "--delay", "0"]] {
        let home = Home::new();
        let url = site.url("/");
        home.crawl(&[&[url.as_str()], flags].concat());
        assert_eq!(home.catalogue().page(&url).title.as_deref(), Some("Behind TLS"));
    }
}

#[test]
fn an_issuer_file_that_cannot_be_used_is_named() {
    let home = Home::new();
    let junk = home.beside("junk.pem");
    fs::write(&junk, "no certificate at all\n").unwrap();
    for file in [junk.to_str().unwrap(), "no-such.pem"] {
        let name = file.rsplit('/').next().unwrap();
        refused_crawl(&["https://127.0.0.1:1/", "--ca-file", file], &[name]);
    }
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let home = Home::new();
    fs::write(home.path(), "a file where the home should be").unwrap();
    let finished = home.orb(&crawling(&["http://127.0.0.1:1/"]));
    assert!(refused(&finished).contains("home"), "{finished}");
    assert_eq!(fs::read_to_string(home.path()).unwrap(), "a file where the home should be");
}

#[test]
fn a_home_of_a_newer_version_is_left_alone() {
    let (_server, home) = crawled();
    for database in [home.path().join("orb.db"), home.project().join("crawl.db")] {
        let version = set_version(&database, 9_999);
        let finished = home.orb(&crawling(&[PROJECT]));
        let line = refused(&finished);
        assert!(line.contains("9999") && line.contains("version"), "{line}");
        set_version(&database, version);
    }
    home.orb(&["check", PROJECT]).expect(0);
}

fn set_version(database: &std::path::Path, version: i64) -> i64 {
    let connection = rusqlite::Connection::open(database).unwrap();
    let before = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    before
}

/// A small web that was crawled completely, and its home.
fn crawled() -> (Server, Home) {
    let server = Server::spawn(Spec { cross_host_links: 0.0, ..Spec::default() }).unwrap();
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", server.addr()), "--delay", "0"]);
    (server, home)
}

#[test]
fn a_second_process_on_the_same_project_is_refused_and_harms_nothing() {
    let server = Server::spawn(Spec { cross_host_links: 0.0, ..Spec::default() }).unwrap();
    let home = Home::new();
    let seed = format!("http://{}/", server.addr());
    let first = home.start(&crawling(&[&seed, "--delay", "100ms"]), &[]);
    harness::until("the first process is at work", || server.counters().requests > 3);
    let second = home.orb(&crawling(&[&seed, "--delay", "0"]));
    assert!(refused(&second).contains("in use"), "{second}");
    assert_eq!(first.finish().expect(0).number("pages"), 20);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn names_of_projects_that_lead_elsewhere_are_refused() {
    for name in ["../up", "a/b", "", ".", "..", ".hidden", "with space", "UPPER\u{0307}"] {
        let home = Home::new();
        let finished = home.orb(&["crawl", "http://127.0.0.1:1/", "--project", name]);
        refused(&finished);
        let finished = home.orb(&["project", "remove", name, "--yes"]);
        refused(&finished);
    }
}

#[test]
fn what_is_not_there_is_named() {
    let (_server, home) = crawled();
    for command in ["status", "stats", "check"] {
        let finished = home.orb(&[command, "nobody"]);
        assert!(refused(&finished).contains("nobody"), "{finished}");
    }
    for command in ["show", "cat", "links"] {
        let finished = home.orb(&[command, PROJECT, "http://127.0.0.1/never-seen"]);
        assert!(refused(&finished).contains("never-seen"), "{finished}");
    }
}

#[test]
fn a_malformed_project_file_is_refused_with_its_line() {
    let home = Home::new();
    let file = home.beside("site.toml");
    for (text, line, words) in [
        ("seeds = [\"http://a.test/\"]\n[frontier]\ndealy = \"1s\"\n", 3, "`delay`"),
        ("seeds = [\"http://a.test/\"]\n\n[fetch]\ntimeout = \"soon\"\n", 4, "duration"),
        ("[frontier]\norder = \"bsf\"\n", 2, "`bfs`"),
        ("seeds = [\n", 1, "site.toml"),
        ("[fronteer]\n", 1, "`frontier`"),
    ] {
        fs::write(&file, text).unwrap();
        let finished = home.orb(&["crawl", file.to_str().unwrap()]);
        let said = refused(&finished);
        assert!(said.contains(&format!("site.toml:{line}")) && said.contains(words), "{said}");
    }
    let finished = home.orb(&["crawl", "no-such.toml"]);
    assert!(refused(&finished).contains("no-such.toml"), "{finished}");
}

#[test]
fn a_bad_rule_is_refused_with_its_text() {
    refused_crawl(&["http://127.0.0.1:1/", "--allow", "(unclosed"], &["(unclosed"]);
    refused_crawl(&["http://127.0.0.1:1/", "--deny", "[z-a]"], &["[z-a]"]);
}

#[test]
fn sql_that_would_write_is_refused() {
    let (_server, home) = crawled();
    let before = fs::read(home.project().join("crawl.db")).unwrap();
    for sql in [
        "DELETE FROM page",
        "DELETE FROM page_row",
        "UPDATE page_row SET url = ''",
        "DROP TABLE page_row",
        "ATTACH 'other.db' AS other",
        "PRAGMA user_version = 7",
        "VACUUM INTO 'copy.db'",
        "CREATE TABLE t (a)",
        "SELECT load_extension('x')",
        "SELEC 1",
        "",
    ] {
        let finished = home.orb(&["sql", PROJECT, sql]);
        refused(&finished);
    }
    assert_eq!(fs::read(home.project().join("crawl.db")).unwrap(), before);
    assert_eq!(fs::read_dir(home.beside("")).unwrap().count(), 1, "a file was left beside the home");
}

#[test]
fn bad_numbers_and_units_are_refused() {
    for flags in [
        ["--delay", "soon"],
        ["--max-size", "big"],
        ["--bandwidth", "0"],
        ["--connections", "0"],
        ["--order", "alphabetical"],
        ["--scope", "galaxy"],
        ["--resolve", "nonsense"],
        ["--dns", "nonsense"],
        ["--proxy", "nonsense://"],
        ["--accept", "nonsense"],
    ] {
        let finished = Home::new().orb(&crawling(&["http://127.0.0.1:1/", flags[0], flags[1]]));
        assert!(matches!(finished.code, Some(1 | 2)), "{finished}");
        assert!(finished.stderr.contains(flags[1]), "{finished}");
        assert!(!finished.stderr.contains("panicked"), "{finished}");
    }
}
