//! Are other protocols than the web's crawled, archived and tracked like it, by the front door?
//!
//! Against scripted servers, because these lie, break off and attack on demand. Real servers are
//! asked in `tests/real_servers.rs`.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Finished, Home, PROJECT};
use orb_testweb::{FtpServer, NewsServer, Trick};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;

/// A time that is long past, so that listings settle what has changed.
const THEN: i64 = 1_700_000_000;
const FILES: [(&str, i64, &str); 4] = [
    ("/a.txt", THEN, "one"),
    ("/page.html", THEN + 1, "<title>A page</title><a href='a.txt'>one</a> <a href='file:///etc/passwd'>x</a>"),
    ("/sub dir/b.txt", THEN + 2, "two"),
    ("/sub dir/deep/c.txt", THEN + 3, "three"),
];

fn crawl(home: &Home, seed: &str, more: &[&str]) -> Finished {
    home.crawl(&[&[seed, "--delay", "0", "--no-index"], more].concat())
}

fn track(home: &Home) -> Finished {
    let finished = home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"]);
    finished.expect(0);
    finished
}

/// What the last run says of every page, by path: kind, status and flag.
fn told(home: &Home, root: &str) -> BTreeMap<String, String> {
    let sql = "SELECT p.url, p.kind, v.flag FROM visit v JOIN page p ON p.id = v.page_id
               WHERE v.run = (SELECT max(id) FROM run)";
    let rows = home.catalogue().rows(sql);
    let path = |url: &str| url.strip_prefix(root).unwrap_or(url).to_owned();
    rows.iter().map(|row| (path(&row[0]), format!("{} {}", row[1], row[2]))).collect()
}

#[track_caller]
fn assert_told(home: &Home, root: &str, expected: &[(&str, &str)]) {
    let told = told(home, root);
    let told: Vec<_> = told.iter().map(|(path, said)| (path.as_str(), said.as_str())).collect();
    assert_eq!(told, expected);
}

fn verbs(log: &[String], verb: &str) -> usize {
    log.iter().filter(|line| line.split(' ').next() == Some(verb)).count()
}

#[test]
fn a_tree_on_an_ftp_server_is_crawled_archived_and_tracked() {
    let server = FtpServer::start(&FILES, Vec::new()).unwrap();
    let (home, root) = (Home::new(), server.url("/"));
    crawl(&home, &root, &[]);
    assert_told(
        &home,
        &root,
        &[
            ("", "LISTING NEW"),
            ("a.txt", "BINARY NEW"),
            ("page.html", "HTML NEW"),
            ("sub%20dir/", "LISTING NEW"),
            ("sub%20dir/b.txt", "BINARY NEW"),
            ("sub%20dir/deep/", "LISTING NEW"),
            ("sub%20dir/deep/c.txt", "BINARY NEW"),
        ],
    );
    let log = server.take_log();
    assert_eq!((verbs(&log, "MLSD"), verbs(&log, "RETR")), (3, 5), "four files and robots.txt: {log:?}");
    judge::warcio_check(&home.warcs());
    let records = judge::records(&home.warcs());
    let of = |kind: &str| records.iter().filter(|record| record.kind == kind).count();
    assert_eq!((of("resource"), of("metadata")), (8, 8), "{records:?}");
    let cat = home.orb(&["cat", PROJECT, &server.url("/sub%20dir/b.txt")]);
    cat.expect(0);
    assert_eq!(cat.text(), "two");

    track(&home);
    let log = server.take_log();
    assert_eq!((verbs(&log, "MLSD"), verbs(&log, "RETR")), (3, 0), "an unchanged tree: {log:?}");
    assert!(told(&home, &root).values().all(|said| said.ends_with(" SAM")), "{:?}", told(&home, &root));

    server.tree().insert("/a.txt".to_owned(), (THEN + 60, b"one more".to_vec()));
    server.tree().insert("/new.txt".to_owned(), (THEN + 61, b"new".to_vec()));
    server.tree().remove("/sub dir/deep/c.txt");
    track(&home);
    let log = server.take_log();
    let mut transfers: Vec<_> = log.iter().filter(|line| line.starts_with("RETR")).map(String::as_str).collect();
    transfers.sort_unstable();
    assert_eq!(transfers, ["RETR /a.txt", "RETR /new.txt", "RETR /sub dir/deep/c.txt"], "{log:?}");
    let now = told(&home, &root);
    let flag = |path: &str| now[path].rsplit(' ').next().unwrap().to_owned();
    let flags = ["a.txt", "new.txt", "page.html", "sub%20dir/b.txt", "sub%20dir/deep/c.txt"].map(flag);
    assert_eq!(flags, ["UPD", "NEW", "SAM", "SAM", "MIS"], "{now:?}");
}

#[test]
fn a_netrc_file_logs_in_to_ftp_if_the_project_says_so() {
    let server = FtpServer::start(&FILES, Vec::new()).unwrap();
    let crawled = |settings: &str| {
        let home = Home::new();
        let machine = "machine 127.0.0.1 login annemarie password s3cret";
        std::fs::write(home.beside("netrc"), machine).unwrap();
        std::fs::write(home.beside("p.toml"), format!("seeds = ['{}']\n{settings}", server.url("/"))).unwrap();
        let args = harness::orb::crawling(&["p.toml", "--delay", "0", "--no-index"]);
        home.start(&args, &[("NETRC", home.beside("netrc").to_str().unwrap())]).finish().expect(0);
        let log = server.take_log();
        let user = log.iter().find(|line| line.starts_with("USER")).unwrap().clone();
        let is_sent = log.iter().any(|line| line == "PASS s3cret");
        let kept = std::fs::read_to_string(home.project().join("project.toml")).unwrap();
        assert!(!kept.contains("annemarie") && !kept.contains("s3cret"), "{kept}");
        assert_eq!(home.catalogue().number("SELECT count(*) FROM run WHERE settings LIKE '%annemarie%'"), 0);
        (user, is_sent)
    };
    assert_eq!(crawled(""), ("USER anonymous".to_owned(), false));
    assert_eq!(crawled("fetch.netrc = true"), ("USER annemarie".to_owned(), true));
    let own =
        "[[auth]]\nhost = 'ftp://127.0.0.1'\nuser = 'bob'\npassword = 'x'\nallow_plain = true\n[fetch]\nnetrc = true";
    assert_eq!(crawled(own), ("USER bob".to_owned(), false), "the project's own logins come first");
}

#[test]
fn depth_scope_and_the_number_of_pages_hold_for_ftp() {
    let server = FtpServer::start(&FILES, Vec::new()).unwrap();
    let seen = |seed: &str, more: &[&str]| {
        let home = Home::new();
        crawl(&home, &server.url(seed), more);
        told(&home, &server.url("")).into_keys().collect::<Vec<_>>()
    };
    assert_eq!(seen("/", &["--depth", "1"]), ["/", "/a.txt", "/page.html", "/sub%20dir/"]);
    assert_eq!(seen("/", &["--max-pages", "2"]).len(), 2);
    let below = ["/sub%20dir/", "/sub%20dir/b.txt", "/sub%20dir/deep/", "/sub%20dir/deep/c.txt"];
    assert_eq!(seen("/sub%20dir/", &["--scope", "prefix"]), below);
    assert_eq!(seen("/sub%20dir", &["--scope", "prefix"])[..2], ["/sub%20dir", "/sub%20dir/"], "a slash is missing");
}

#[test]
fn a_robots_txt_on_an_ftp_server_is_obeyed() {
    let files =
        [("/a.txt", THEN, "one"), ("/b.txt", THEN, "two"), ("/robots.txt", THEN, "User-agent: *\nDisallow: /b")];
    let server = FtpServer::start(&files, Vec::new()).unwrap();
    let home = Home::new();
    crawl(&home, &server.url("/"), &[]);
    let log = server.take_log();
    assert!(!log.iter().any(|line| line == "RETR /b.txt"), "{log:?}");
    assert_eq!(home.catalogue().pages()[&server.url("/b.txt")].kind, "DISALLOWED");
}

#[test]
fn servers_without_modern_commands_are_read_by_older_ones() {
    let refused = |verb| Trick::Says(verb, "502 what?\r\n".to_owned());
    let listing = "total 2\r\n-rw-r--r-- 1 ftp ftp 3 Jan 02 2019 a.txt\r\ndrwxr-xr-x 2 ftp ftp 99 Jan 02 2019 no\r\n";
    let tricks = vec![refused("MLSD"), refused("EPSV"), refused("FEAT"), Trick::Lists(listing.to_owned())];
    let server = FtpServer::start(&[("/a.txt", THEN, "one")], tricks).unwrap();
    let (home, root) = (Home::new(), server.url("/"));
    crawl(&home, &root, &["--depth", "1"]);
    assert_eq!(told(&home, &root)["a.txt"], "BINARY NEW");
    server.take_log();
    track(&home);
    let log = server.take_log();
    assert_eq!((verbs(&log, "LIST"), verbs(&log, "RETR"), verbs(&log, "EPSV")), (1, 0, 1), "{log:?}");
    assert_eq!(told(&home, &root)["a.txt"], "BINARY SAM");
}

#[test]
fn a_transfer_that_breaks_off_is_resumed() {
    let long = "0123456789".repeat(10_000);
    let server = FtpServer::start(&[("/long.txt", THEN, &long)], vec![Trick::BreaksOff(33_333)]).unwrap();
    let home = Home::new();
    crawl(&home, &server.url("/"), &[]);
    assert!(server.take_log().iter().any(|line| line == "REST 33333"));
    let cat = home.orb(&["cat", PROJECT, &server.url("/long.txt")]);
    assert_eq!(cat.text(), long);
}

#[test]
fn a_refused_file_is_an_error_and_stays_known() {
    let server = FtpServer::start(&FILES[..1], Vec::new()).unwrap();
    let (home, root) = (Home::new(), server.url("/"));
    crawl(&home, &root, &[]);
    // Listed, with another size, and refused.
    server.tree().clear();
    let lies = "type=file;size=99;modify=20260101000000; a.txt\r\n";
    let refusing = FtpServer::start(&[], vec![Trick::Lists(lies.to_owned())]).unwrap();
    let there = format!("{}:{}", "127.0.0.1", refusing.addr().port());
    let moved =
        home.orb(&["crawl", &format!("ftp://{there}/"), "--project", "other", "--json", "--no-index", "--delay", "0"]);
    moved.expect(0);
    let sql =
        "SELECT p.kind, v.status, v.problem FROM visit v JOIN page p ON p.id = v.page_id WHERE p.url LIKE '%a.txt'";
    let catalogue = harness::catalogue::Catalogue::open(&home.path().join("other/crawl.db"));
    assert_eq!(catalogue.rows(sql), [["HTTP_ERROR", "550", "refused: 550 no such file"]]);
    // Neither listed nor there any more: gone.
    track(&home);
    assert_eq!(told(&home, &root)["a.txt"], "HTTP_ERROR MIS");
}

/// A server that nobody may talk to.
fn canary() -> TcpListener {
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    canary
}

#[test]
fn data_come_from_where_the_commands_went_and_from_no_service_of_the_system() {
    let canary = canary();
    let port = canary.local_addr().unwrap().port();
    let inside = format!("227 here (127,0,0,1,{},{})\r\n", port >> 8, port & 255);
    let elsewhere = format!("227 here (10,0,0,1,{},{})\r\n", port >> 8, port & 255);
    let tricks =
        |epsv: &str, pasv: &str| vec![Trick::Says("EPSV", epsv.to_owned()), Trick::Says("PASV", pasv.to_owned())];
    let low = [tricks("229 here (|||22|)\r\n", ""), tricks("502 no\r\n", "227 here (127,0,0,1,0,25)\r\n")];
    for tricks in low {
        let server = FtpServer::start(&FILES, tricks).unwrap();
        let home = Home::new();
        home.orb(&harness::orb::crawling(&[&server.url("/")[..], "--delay", "0", "--no-index"])).expect(1);
        let log = server.take_log();
        assert_eq!(verbs(&log, "MLSD") + verbs(&log, "RETR"), 0, "{log:?}");
    }
    // The address is not believed: it is the server's own machine that is asked, where the canary
    // happens to be. It hears nothing but a connection, and no page comes of it.
    for pasv in [inside, elsewhere] {
        let server = FtpServer::start(&FILES, tricks("502 no\r\n", &pasv)).unwrap();
        let home = Home::new();
        let args = ["--timeout", "1s", "--retries", "0"];
        home.orb(&harness::orb::crawling(&[&[&server.url("/")[..], "--delay", "0", "--no-index"], &args[..]].concat()));
        let (_, from) = canary.accept().unwrap();
        assert!(from.ip().is_loopback());
    }
}

#[test]
fn a_listing_leads_nowhere_else() {
    let listing = "type=file;size=1; ../../etc/passwd\r\ntype=dir; ..\r\ntype=dir; .\r\ntype=file;size=1; a\rDELE b\r\n\
        type=file;size=1; /abs\r\ntype=file;size=1; sub/x\r\ntype=file;size=1; \r\ntype=file;size=3;modify=20200101000000; a.txt\r\n\
        type=file;size=1; http:%2F%2Fevil\r\ntype=dir;modify=x; %2E%2E\r\n\x01\x02\r\n;;;;\r\n";
    let server = FtpServer::start(&[("/a.txt", THEN, "one")], vec![Trick::Lists(listing.to_owned())]).unwrap();
    let home = Home::new();
    crawl(&home, &server.url("/"), &["--depth", "1"]);
    let log = server.take_log();
    let allowed = ["RETR /robots.txt", "RETR /a.txt", "RETR /http:%2F%2Fevil"];
    let asked: Vec<_> = log.iter().filter(|line| line.starts_with("RETR") || line.starts_with("CWD")).collect();
    assert!(asked.iter().all(|line| allowed.contains(&line.as_str()) || *line == "CWD /http:%2F%2Fevil"), "{log:?}");
    assert!(!log.iter().any(|line| line.starts_with("DELE")), "{log:?}");
}

#[test]
fn a_server_that_talks_without_end_is_left() {
    let tricks = [Trick::Babbles("FEAT"), Trick::Drones("GREETING"), Trick::Babbles("EPSV"), Trick::HangsUp("MLSD")];
    for trick in tricks {
        let shown = format!("{trick:?}");
        let server = FtpServer::start(&FILES, vec![trick]).unwrap();
        let home = Home::new();
        home.orb(&harness::orb::crawling(&[&server.url("/")[..], "--delay", "0", "--no-index", "--retries", "0"]));
        let pages = home.catalogue().pages();
        assert!(pages.values().all(|page| page.kind != "HTML" && page.kind != "BINARY"), "{shown}: {pages:?}");
    }
}

#[test]
fn a_page_from_elsewhere_does_not_lead_to_files_of_this_machine() {
    let server = FtpServer::start(&FILES, Vec::new()).unwrap();
    let home = Home::new();
    crawl(&home, &server.url("/"), &["--scope", "any"]);
    let pages = home.catalogue().pages();
    assert!(!pages.contains_key("file:///etc/passwd"), "{pages:?}");
}

fn tree_on_disk(home: &Home) -> std::path::PathBuf {
    let root = home.beside("tree");
    std::fs::create_dir_all(root.join("sub dir/deep")).unwrap();
    for (path, _, text) in FILES {
        std::fs::write(root.join(&path[1..]), text).unwrap();
    }
    std::fs::write(home.beside("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret.txt", root.join("leak.txt")).unwrap();
    std::os::unix::fs::symlink("..", root.join("up")).unwrap();
    root
}

fn file_url(path: &Path) -> String {
    format!("file://{}/", path.display())
}

#[test]
fn a_directory_of_this_machine_is_crawled_archived_and_tracked() {
    let home = Home::new();
    let root = tree_on_disk(&home);
    let url = file_url(&root);
    // There is nobody to be polite to: the default delay would take seven seconds.
    home.crawl(&[&url[..], "--no-index"]);
    let first = told(&home, &url);
    let expected =
        ["", "a.txt", "page.html", "sub%20dir/", "sub%20dir/b.txt", "sub%20dir/deep/", "sub%20dir/deep/c.txt"];
    assert_eq!(first.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    assert_eq!(home.catalogue().pages()["file:///etc/passwd"].kind, "OUTSIDE");
    judge::warcio_check(&home.warcs());
    let cat = home.orb(&["cat", PROJECT, &format!("{url}a.txt")]);
    assert_eq!(cat.text(), "one");

    std::fs::write(root.join("a.txt"), "ONE").unwrap();
    std::fs::remove_file(root.join("sub dir/b.txt")).unwrap();
    std::fs::write(root.join("sub dir/new.txt"), "new").unwrap();
    std::fs::remove_dir_all(root.join("sub dir/deep")).unwrap();
    track(&home);
    let now = told(&home, &url);
    let flag = |path: &str| now[path].rsplit(' ').next().unwrap().to_owned();
    let paths = ["a.txt", "page.html", "sub%20dir/b.txt", "sub%20dir/new.txt", "sub%20dir/deep/c.txt"];
    assert_eq!(paths.map(flag), ["UPD", "SAM", "MIS", "NEW", "MIS"], "{now:?}");
}

#[test]
fn only_what_a_seed_or_the_operator_names_is_read_of_this_machine() {
    let home = Home::new();
    let root = tree_on_disk(&home);
    crawl(&home, &format!("file://{}/sub%20dir/b.txt", root.display()), &["--scope", "any"]);
    let pages = home.catalogue().pages();
    assert_eq!(pages.len(), 1, "{pages:?}");
    let home = Home::new();
    home.orb(&harness::orb::crawling(&[&format!("file://{}/leak.txt", root.display())[..], "--no-index"]));
    let pages = home.catalogue().pages();
    assert!(pages.values().all(|page| page.kind == "HTTP_ERROR"), "{pages:?}");
}

#[test]
fn newsgroups_are_crawled_archived_and_tracked() {
    let server = NewsServer::start(&[("misc.test", 3), ("comp.lang.c", 2)], Vec::new()).unwrap();
    let (home, root) = (Home::new(), server.url("/"));
    crawl(&home, &root, &[]);
    let first = told(&home, &root);
    let expected = [
        "",
        "comp.lang.c/",
        "comp.lang.c/1",
        "comp.lang.c/2",
        "misc.test/",
        "misc.test/1",
        "misc.test/2",
        "misc.test/3",
    ];
    assert_eq!(first.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    assert!(!server.take_log().iter().any(|line| line.contains("robots")));
    judge::warcio_check(&home.warcs());
    let cat = home.orb(&["cat", PROJECT, &server.url("/misc.test/1")]);
    assert!(cat.text().ends_with("number 1.\r\n.\r\n..two dots\r\n"), "dots come as they were written: {cat}");

    track(&home);
    let log = server.take_log();
    assert_eq!((verbs(&log, "GROUP"), verbs(&log, "OVER"), verbs(&log, "ARTICLE")), (2, 0, 0), "{log:?}");

    let text = server.news()["misc.test"][&3].replace("<3.", "<4.");
    server.news().get_mut("misc.test").unwrap().insert(4, text);
    server.news().get_mut("misc.test").unwrap().remove(&1);
    track(&home);
    let log = server.take_log();
    assert_eq!((verbs(&log, "OVER"), verbs(&log, "ARTICLE")), (1, 1), "{log:?}");
    let now = told(&home, &root);
    let flag = |path: &str| now[path].rsplit(' ').next().unwrap().to_owned();
    let flags = ["misc.test/1", "misc.test/2", "misc.test/4", "comp.lang.c/1"].map(flag);
    assert_eq!(flags, ["MIS", "SAM", "NEW", "SAM"], "{now:?}");
}

#[test]
fn groups_are_chosen_by_a_pattern_and_articles_by_their_id() {
    let server = NewsServer::start(&[("misc.test", 1), ("comp.lang.c", 1)], Vec::new()).unwrap();
    let home = Home::new();
    crawl(&home, &server.url("/comp.*"), &[]);
    assert_eq!(
        told(&home, &server.url("/")).into_keys().collect::<Vec<_>>(),
        ["comp.*", "comp.lang.c/", "comp.lang.c/1"]
    );
    let home = Home::new();
    crawl(&home, &server.url("/1.misc.test@example.org"), &[]);
    assert_eq!(told(&home, &server.url("/"))["1.misc.test@example.org"], "BINARY NEW");
}

#[test]
fn news_seeds_are_groups_of_the_server_that_is_set_or_in_the_environment() {
    let server = NewsServer::start(&[("misc.test", 1), ("comp.lang.c", 1), ("comp.lang.d", 1)], Vec::new()).unwrap();
    let host = server.addr().to_string();
    let found = |home: &Home| told(home, &server.url("/")).into_keys().collect::<Vec<_>>();
    let begun = |home: &Home, seed: &str, environment: &[(&str, &str)]| {
        let args = harness::orb::crawling(&[seed, "--delay", "0", "--no-index"]);
        home.start(&args, environment).finish()
    };
    let home = Home::new();
    begun(&home, "news:comp.*", &[("NNTPSERVER", &host)]).expect(0);
    assert_eq!(found(&home), ["comp.*", "comp.lang.c/", "comp.lang.c/1", "comp.lang.d/", "comp.lang.d/1"]);
    track(&home);
    assert_eq!(found(&home).len(), 5, "a later run needs no environment");

    let home = Home::new();
    let file = home.beside("p.toml");
    std::fs::write(&file, format!("seeds = ['news:comp.lang.c']\nnntp.server = '{host}'\n")).unwrap();
    begun(&home, file.to_str().unwrap(), &[("NNTPSERVER", "nobody.invalid")]).expect(0);
    assert_eq!(found(&home), ["comp.lang.c/", "comp.lang.c/1"]);

    let refused = begun(&Home::new(), "news:comp.*", &[]);
    let told = refused.complaint(2);
    assert!(told.contains("[nntp]") && told.contains("NNTPSERVER"), "{refused}");
    let home = Home::new();
    let file = home.beside("p.toml");
    std::fs::write(&file, "seeds = ['news:comp.*']\nnntp.server = 'http://a.test/'\n").unwrap();
    let refused = begun(&home, file.to_str().unwrap(), &[]);
    assert!(refused.complaint(1).contains("is not a news server"), "{refused}");
}

#[test]
fn a_news_server_that_breaks_the_rules_is_left() {
    let long = format!("220 1 <x@y>\r\n{}\r\n.\r\n", "x".repeat(1 << 20));
    for trick in [
        Trick::Drones("ARTICLE"),
        Trick::Says("ARTICLE", long),
        Trick::HangsUp("ARTICLE"),
        Trick::Babbles("CAPABILITIES"),
    ] {
        let shown = format!("{trick:?}").chars().take(60).collect::<String>();
        let server = NewsServer::start(&[("misc.test", 2)], vec![trick]).unwrap();
        let home = Home::new();
        home.orb(&harness::orb::crawling(&[&server.url("/")[..], "--delay", "0", "--no-index", "--retries", "0"]));
        let pages = home.catalogue().pages();
        assert!(pages.values().all(|page| page.kind != "BINARY"), "{shown}: {pages:?}");
    }
}

/// Kinds of the pages below a server's root, by path, after a crawl of a server with a trick.
fn after_trick(trick: Trick) -> (Home, NewsServer, BTreeMap<String, String>) {
    let server = NewsServer::start(&[("misc.test", 2)], vec![trick]).unwrap();
    let home = Home::new();
    home.orb(&harness::orb::crawling(&[&server.url("/")[..], "--delay", "0", "--no-index", "--retries", "0"]));
    let kinds = home.catalogue().pages().into_iter().map(|(url, page)| (url, page.kind));
    let root = server.url("/");
    let kinds = kinds.map(|(url, kind)| (url.strip_prefix(&root).unwrap_or(&url).to_owned(), kind)).collect();
    (home, server, kinds)
}

#[test]
fn what_a_news_server_breaks_off_is_no_article_and_no_group() {
    let half = "224 overview\r\n1\tsubject\tfrom\tdate\t<1@x>\t\t9\t1\r\n".to_owned();
    for trick in [
        Trick::CutsOff("ARTICLE", "220 1 <x@y>\r\nSubject: half a".to_owned()),
        Trick::CutsOff("ARTICLE", "220 1 <x@y>\r\nSubject: half\r\n\r\nof it\r\n".to_owned()),
        Trick::CutsOff("OVER", half),
        Trick::CutsOff("GROUP", "211 2 1".to_owned()),
    ] {
        let shown = format!("{trick:?}");
        let (_, _, kinds) = after_trick(trick);
        assert!(kinds.values().all(|kind| kind != "BINARY"), "{shown}: {kinds:?}");
        assert_eq!(kinds[""], "LISTING", "{shown}: {kinds:?}");
    }
}

#[test]
fn what_a_news_server_counts_and_numbers_is_not_believed() {
    let group = |said: &str| Trick::Says("GROUP", format!("{said}\r\n"));
    for trick in [
        group("211 99999999999999999999999 1 5 misc.test"),
        group("211 4000000000 1 4000000000 misc.test"),
        group("211 -1 -1 -1 misc.test"),
        group("211"),
        group("211 5 9 1 misc.test"),
    ] {
        let shown = format!("{trick:?}");
        let (_, _, kinds) = after_trick(trick);
        assert!(kinds.len() <= 2, "{shown}: {kinds:?}");
    }
    let lines = "7\tx\r\n-1\tx\r\n99999999999999999999999\tx\r\n../../etc\tx\r\n1/2\tx\r\n\tx\r\n1\ts\tf\td\t<1@x>\t\t99999999999\t1\r\n";
    let (_, server, kinds) = after_trick(Trick::Says("OVER", format!("224 overview\r\n{lines}.\r\n")));
    assert_eq!(kinds.get("misc.test/1").map(String::as_str), Some("BINARY"), "{kinds:?}");
    assert_eq!(kinds.get("misc.test/7").map(String::as_str), Some("HTTP_ERROR"), "{kinds:?}");
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    let asked: Vec<String> = server.take_log().into_iter().filter(|line| line.starts_with("ARTICLE")).collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
}

#[test]
fn dots_are_taken_away_and_lines_may_end_as_they_like() {
    let text = "220 1 <x@y>\r\nSubject: dots\r\n\r\n..\r\n...three\r\n.one\r\nbare\n..and\r\n.\r\n".to_owned();
    let (home, server, kinds) = after_trick(Trick::Says("ARTICLE", text));
    // Every article is answered alike: the one that is read first is kept, the other repeats it.
    let (kept, _) = kinds.iter().find(|(_, kind)| *kind == "BINARY").unwrap_or_else(|| panic!("{kinds:?}"));
    let cat = home.orb(&["cat", PROJECT, &server.url(&format!("/{kept}"))]);
    let lines: Vec<&str> = cat.text().lines().collect();
    assert_eq!(lines, ["Subject: dots", "", ".", "..three", "one", "bare", ".and"]);
}

#[test]
fn an_ftp_server_that_breaks_off_or_floods_is_survived() {
    let many = (0..30_000).map(|n| format!("type=file;size=1;modify=20200101000000; f{n}\r\n")).collect::<String>();
    let long =
        format!("type=file;size=1; {}\r\ntype=file;size=3;modify=20200101000000; a.txt\r\n", "x".repeat(1 << 20));
    let huge = "type=file;size=99999999999999;modify=20200101000000; a.txt\r\n".to_owned();
    let strange = "type=file;size=-5;modify=99999999999999; a.txt\r\ntype=file;size=;modify=; b\r\n\
        type=cdir;modify=20200101000000; .\r\ntype=OS.unix=slink:/etc/passwd; link\r\n"
        .to_owned();
    for (trick, fetched) in [
        (Trick::CutsOff("RETR", "150 here it comes\r\n".to_owned()), 0),
        (Trick::CutsOff("MLSD", "150 here".to_owned()), 0),
        (Trick::Says("RETR", "150 one\r\n226 two\r\n".to_owned()), 0),
        (Trick::Lists(many), 0),
        (Trick::Lists(long), 1),
        // Known, and not asked for.
        (Trick::Lists(huge), 1),
        (Trick::Lists(strange), 1),
    ] {
        let shown = format!("{trick:?}").chars().take(60).collect::<String>();
        let server = FtpServer::start(&[("/a.txt", THEN, "one")], vec![trick]).unwrap();
        let home = Home::new();
        let args = ["--delay", "0", "--no-index", "--retries", "0", "--timeout", "2s", "--depth", "1"];
        let more = ["--max-pages", "40"];
        home.orb(&harness::orb::crawling(&[&[&server.url("/")[..]], &args[..], &more[..]].concat()));
        let pages = home.catalogue().pages();
        let whole = pages.values().filter(|page| page.kind == "BINARY").count();
        let told = || pages.iter().take(9).map(|(url, page)| (url.clone(), page.kind.clone())).collect::<Vec<_>>();
        assert_eq!(whole, fetched, "{shown}: {:?}", told());
        let is_asked = server.take_log().iter().any(|line| line == "RETR /a.txt");
        assert_eq!(
            is_asked,
            !shown.contains("size=99999999999999") && pages.contains_key(&server.url("/a.txt")),
            "{shown}"
        );
    }
}
