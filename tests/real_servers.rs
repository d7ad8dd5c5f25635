//! Do servers that others wrote agree with us?
//!
//! Each is started privately, on a free port of loopback and over a directory of the test
//! (`harness/daemons.rs`). The tree is edited a thousand times at random between runs, and every
//! run must flag exactly what was edited, also when it was killed on the way (`harness/edits.rs`).
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::daemons::{self, NOBODY, SmallNews, proftpd, pyftpdlib, vsftpd};
use harness::edits::{EditedGroup, EditedTree, a_thousand_edits, expected, pick, told};
use harness::judge;
use harness::orb::{Finished, Home, PROJECT};
use harness::scene::Dice;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

/// A project with a seed and more settings.
fn make_project(home: &Home, seed: &str, settings: &str) {
    home.orb(&["project", "new", PROJECT, "--seed", seed]).expect(0);
    let file = home.project().join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n{settings}")).unwrap();
}

fn crawl_with(home: &Home, seed: &str, settings: &str, more: &[&str]) -> Finished {
    make_project(home, seed, settings);
    let args = ["crawl", PROJECT, "--delay", "0", "--no-index", "--progress", "none", "--retries", "0"];
    home.orb(&[&args, more].concat())
}

/// The row of `[[auth]]` for proftpd.
fn login(scheme: &str, port: u16, more: &str) -> String {
    format!("[[auth]]\nhost = \"{scheme}://127.0.0.1:{port}\"\nuser = \"me\"\npassword = \"secret\"\n{more}")
}

fn documents(home: &Home) -> usize {
    home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count()
}

#[test]
fn pyftpdlib_is_tracked_exactly() {
    let home = Home::new();
    let mut tree = EditedTree::new(home.beside("tree"), 0x0f7b_0001);
    let server = pyftpdlib(&tree.root);
    let root = format!("ftp://127.0.0.1:{}/", server.port);
    a_thousand_edits(&home, &mut tree, &root);
}

#[test]
fn vsftpd_is_tracked_exactly() {
    let home = Home::new();
    let mut tree = EditedTree::new(home.beside("tree"), 0x0f7b_0002);
    let above = home.beside("tree");
    fs::set_permissions(above.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let server = vsftpd(&tree.root, &home.beside("server"), &[]);
    let root = format!("ftp://127.0.0.1:{}/", server.port);
    a_thousand_edits(&home, &mut tree, &root);
}

#[test]
fn vsftpd_under_tls_wants_its_sessions_resumed_and_certificates_are_checked_where_tls_is_required() {
    let home = Home::new();
    let tree = EditedTree::new(home.beside("tree"), 0x0f7b_0005);
    fs::set_permissions(tree.root.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let (certificate, key, issuer) = harness::tls::server_files(&home.beside("tls"));
    if geteuid().is_root() {
        chown(&key, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let settings =
        ["ssl_enable", "require_ssl_reuse", "allow_anon_ssl", "force_anon_data_ssl", "force_anon_logins_ssl"];
    let mut more: Vec<String> = settings.iter().map(|name| format!("{name}=YES")).collect();
    more.extend([format!("rsa_cert_file={certificate}"), format!("rsa_private_key_file={key}")]);
    let server = vsftpd(&tree.root, &home.beside("server"), &more);
    let root = format!("ftp://127.0.0.1:{}/", server.port);
    home.crawl(&[&root[..], "--delay", "0", "--no-index"]);
    assert_eq!(documents(&home), tree.files().len());
    let required = "[ftp]\ntls = \"require\"\n";
    let distrustful = Home::new();
    crawl_with(&distrustful, &root, required, &[]).expect(1);
    let trusting = Home::new();
    crawl_with(&trusting, &root, required, &["--ca-file", &issuer]).expect(0);
    assert_eq!(documents(&trusting), tree.files().len());
}

#[test]
fn proftpd_is_tracked_exactly() {
    let home = Home::new();
    let mut tree = EditedTree::new(home.beside("tree"), 0x0f7b_000b);
    fs::set_permissions(tree.root.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let server = proftpd(&tree.root, &home.beside("server"), None, false);
    let root = format!("ftp://127.0.0.1:{}/", server.port);
    make_project(&home, &root, &login("ftp", server.port, "allow_plain = true\n"));
    a_thousand_edits(&home, &mut tree, &root);
}

#[test]
fn proftpd_under_tls_sends_data_only_where_its_session_is_resumed() {
    let beside = Home::new();
    let tree = EditedTree::new(beside.beside("tree"), 0x0f7b_000c);
    fs::set_permissions(tree.root.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let (certificate, key, issuer) = harness::tls::server_files(&beside.beside("tls"));
    for (scheme, implicit) in [("ftp", false), ("ftps", true)] {
        let home = Home::new();
        let server = proftpd(&tree.root, &beside.beside(scheme), Some((&certificate, &key)), implicit);
        let root = format!("{scheme}://127.0.0.1:{}/", server.port);
        let settings = login(scheme, server.port, "");
        crawl_with(&home, &root, &settings, &["--ca-file", &issuer]).expect(0);
        assert_eq!(documents(&home), tree.files().len(), "{scheme}");
        judge::warcio_check(&home.warcs());
        let distrustful = Home::new();
        crawl_with(&distrustful, &root, &settings, &[]).expect(1);
    }
}

#[test]
fn news_come_under_tls_from_the_first_byte_on_or_from_where_the_server_offers_it() {
    let beside = Home::new();
    let news = beside.beside("news");
    fs::create_dir(&news).unwrap();
    (1..=20).for_each(|n| fs::write(news.join(n.to_string()), format!("Article {n}.\n")).unwrap());
    let (certificate, key, issuer) = harness::tls::server_files(&beside.beside("tls"));
    for (scheme, how) in [("nntps", "nntps"), ("nntp", "starttls")] {
        let home = Home::new();
        let server = daemons::news(&news, Some((how, &certificate, &key)));
        let root = format!("{scheme}://127.0.0.1:{}/misc.test/", server.port);
        crawl_with(&home, &root, "", &["--ca-file", &issuer]).expect(0);
        assert_eq!(documents(&home), 20, "{how}");
        let distrustful = Home::new();
        let refused = crawl_with(&distrustful, &root, "", &[]);
        // Without a password any certificate is better than no TLS, where TLS is not required.
        refused.expect(if how == "nntps" { 1 } else { 0 });
    }
}

#[test]
fn files_are_tracked_exactly() {
    let home = Home::new();
    let mut tree = EditedTree::new(home.beside("tree"), 0x0f7b_0003);
    let root = format!("file://{}/", tree.root.display());
    a_thousand_edits(&home, &mut tree, &root);
}

#[test]
fn a_news_server_is_tracked_exactly() {
    let home = Home::new();
    let mut group = EditedGroup::new(home.beside("news"), 200, 0x4e57);
    let server = daemons::news(&group.place, None);
    let root = format!("nntp://127.0.0.1:{}/misc.test/", server.port);
    a_thousand_edits(&home, &mut group, &root);
}

#[test]
fn a_news_server_of_earlier_days_is_tracked_exactly() {
    let home = Home::new();
    let server = SmallNews::start(&home.beside("spool"), "misc.test");
    let post = |numbers: &[usize]| {
        let article = |n: &usize| {
            format!(
                "From: a@example.org\r\nSubject: Article {n}\r\nNewsgroups: misc.test\r\n\
                 Message-ID: <{n}@example.org>\r\n\r\nArticle {n}.\r\n..\r\n...dots\r\n.\r\n"
            )
        };
        server.post(&numbers.iter().map(article).collect::<String>());
    };
    let mut there: Vec<usize> = (10..110).collect();
    post(&there);
    let root = format!("nntp://127.0.0.1:{}/misc.test/", server.port);
    home.crawl(&[&root[..], "--delay", "0", "--no-index"]);
    assert_eq!(documents(&home), there.len());
    let cat = home.orb(&["cat", PROJECT, &format!("{root}42")]);
    assert!(cat.text().ends_with("\r\n\r\nArticle 42.\r\n.\r\n..dots\r\n"), "{cat}");
    judge::warcio_check(&home.warcs());
    let (mut dice, mut next) = (Dice(0x5e5e), 110);
    for round in 0..6 {
        let before = there.clone();
        // At first nothing is added: the figures of the group stay what they were.
        let more: Vec<usize> = (next..next + if round == 0 { 0 } else { pick(&mut dice, 9) }).collect();
        next += more.len();
        post(&more);
        there.extend(more);
        for _ in 0..=pick(&mut dice, 5) {
            server.cancel("misc.test", there.remove(1 + pick(&mut dice, there.len() - 2)));
        }
        home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"]).expect(0);
        let number = |n: &usize| (n.to_string(), Vec::new());
        let wanted = expected(&before.iter().map(number).collect(), &there.iter().map(number).collect());
        assert_eq!(told(&home, &root), wanted, "round {round}");
    }
}
