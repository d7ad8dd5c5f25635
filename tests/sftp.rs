//! Is a directory behind SSH crawled, archived and tracked, and is the server the one it was?
//!
//! Against OpenSSH's server, started privately with a key of its own, and against one that lies.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::daemons::{Daemon, python, ssh_key, sshd, user};
use harness::edits::{EditedTree, a_thousand_edits, told};
use harness::judge;
use harness::orb::{Finished, Home, PROJECT};
use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server with a tree, and a project that may log in.
struct Stage {
    home: Home,
    server: Daemon,
    key: PathBuf,
}

impl Stage {
    fn new(passphrase: &str) -> Self {
        let home = Home::new();
        let beside = home.beside("server");
        fs::create_dir_all(&beside).unwrap();
        let key = ssh_key(&home.beside("client"), passphrase);
        fs::copy(key.with_extension("pub"), beside.join("authorized")).unwrap();
        let server = sshd(&beside, &ssh_key(&home.beside("host"), ""), None);
        Self { home, server, key }
    }

    fn url(&self, path: &Path) -> String {
        format!("sftp://127.0.0.1:{}{}/", self.server.port, path.display())
    }

    /// A project with a seed, a row of `[[auth]]` with the key, and more settings.
    fn project(&self, seed: &str, more: &str) {
        self.home.orb(&["project", "new", PROJECT, "--seed", seed]).expect(0);
        let file = self.home.project().join("project.toml");
        let (text, port, key) = (fs::read_to_string(&file).unwrap(), self.server.port, self.key.display());
        let auth =
            format!("[[auth]]\nhost = \"sftp://127.0.0.1:{port}\"\nuser = \"{}\"\nkey_file = \"{key}\"\n", user());
        fs::write(&file, format!("{text}\n{auth}{more}")).unwrap();
    }

    fn crawl(&self, more: &[&str]) -> Finished {
        let args = ["crawl", PROJECT, "--delay", "0", "--no-index", "--json", "--progress", "none", "--retries", "0"];
        self.home.orb(&[&args, more].concat())
    }

    fn track(&self) -> Finished {
        self.home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"])
    }

    fn problems(&self) -> String {
        let sql = "SELECT coalesce(problem, '') FROM visit WHERE run = (SELECT max(id) FROM run)";
        self.home.catalogue().rows(sql).concat().join("\n")
    }

    fn pinned(&self) -> PathBuf {
        self.home.project().join("known_hosts")
    }
}

fn script(path: &Path, text: &str) -> String {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// How often each type of request was sent, from what went into `ssh`.
fn requests(log: &Path) -> [usize; 32] {
    let (bytes, mut counts, mut at) = (fs::read(log).unwrap_or_default(), [0; 32], 0);
    while let Some(head) = bytes.get(at..at + 5) {
        counts[usize::from(head[4]) % 32] += 1;
        at += 4 + usize::try_from(u32::from_be_bytes(head[..4].try_into().unwrap())).unwrap();
    }
    counts
}

#[test]
fn sshd_is_tracked_exactly() {
    let stage = Stage::new("");
    let mut tree = EditedTree::new(stage.home.beside("tree"), 0x0f7b_0006);
    let root = stage.url(&tree.root);
    stage.project(&root, "");
    a_thousand_edits(&stage.home, &mut tree, &root);
}

#[test]
fn an_unchanged_tree_costs_one_listing_a_directory() {
    let stage = Stage::new("");
    let tree = EditedTree::new(stage.home.beside("tree"), 0x0f7b_0007);
    for path in tree.files() {
        let old = Command::new("touch").args(["-d", "2020-01-01"]).arg(tree.root.join(path)).status();
        assert!(old.unwrap().success());
    }
    let log = stage.home.beside("log");
    let ssh = script(&stage.home.beside("ssh"), &format!("#!/bin/sh\ntee -a {} | ssh \"$@\"\n", log.display()));
    stage.project(&stage.url(&tree.root), &format!("[sftp]\nprogram = \"{ssh}\"\n"));
    stage.crawl(&["--per-host", "1"]).expect(0);
    let (files, directories) = (tree.files().len(), 1 + 7 + 21);
    let [open, list] = [3, 11].map(|kind| requests(&log)[kind]);
    assert_eq!((open, list), (files, directories));
    judge::warcio_check(&stage.home.warcs());
    let records = judge::records(&stage.home.warcs());
    assert_eq!(records.iter().filter(|record| record.kind == "resource").count(), files + directories);
    fs::remove_file(&log).unwrap();
    stage.track().expect(0);
    let [open, list, stat] = [3, 11, 17].map(|kind| requests(&log)[kind]);
    assert_eq!((open, list, stat), (0, directories, 0));
}

#[test]
fn a_key_is_pinned_at_first_sight_and_another_is_a_failure_of_its_own() {
    let mut stage = Stage::new("");
    let tree = EditedTree::new(stage.home.beside("tree"), 0x0f7b_0008);
    let root = stage.url(&tree.root);
    stage.project(&root, "");
    let first = stage.crawl(&[]);
    first.expect(0);
    let told_of = first.json()["host_keys"][0].as_str().unwrap().to_owned();
    assert!(told_of.contains("ssh-ed25519 SHA256:") && told_of.contains("first time"), "{told_of}");
    let pinned = fs::read_to_string(stage.pinned()).unwrap();
    assert!(pinned.starts_with(&format!("[127.0.0.1]:{} ssh-ed25519 ", stage.server.port)), "{pinned}");
    let again = stage.track();
    again.expect(0);
    assert!(again.json().get("host_keys").is_none(), "it is told once");

    let (port, key) = (stage.server.port, ssh_key(&stage.home.beside("host"), ""));
    let beside = stage.home.beside("server");
    stage.server.stop();
    stage.server = sshd(&beside, &key, Some(port));
    stage.track();
    assert!(told(&stage.home, &root).values().all(|flag| flag == "ERR"), "{:?}", told(&stage.home, &root));
    assert!(stage.problems().contains("another host key than before"), "{}", stage.problems());
    assert_eq!(fs::read_to_string(stage.pinned()).unwrap(), pinned, "the new key is not taken");
    fs::remove_file(stage.pinned()).unwrap();
    stage.track().expect(0);
    assert!(told(&stage.home, &root).values().all(|flag| flag == "SAM"), "{:?}", told(&stage.home, &root));
}

#[test]
fn with_a_file_of_the_users_only_its_keys_are_accepted() {
    let stage = Stage::new("");
    let tree = EditedTree::new(stage.home.beside("tree"), 0x0f7b_0009);
    let known = stage.home.beside("known");
    fs::write(&known, "").unwrap();
    stage.project(&stage.url(&tree.root), &format!("[sftp]\nknown_hosts = \"{}\"\n", known.display()));
    stage.crawl(&[]).expect(1);
    assert!(stage.problems().contains("host key is not in"), "{}", stage.problems());
    let public = fs::read_to_string(stage.home.beside("host.pub")).unwrap();
    fs::write(&known, format!("[127.0.0.1]:{} {public}", stage.server.port)).unwrap();
    stage.track().expect(0);
    let found = stage.home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    assert_eq!(found, tree.files().len());
    assert!(!stage.pinned().exists());
}

#[test]
fn a_password_unlocks_the_key_and_nobody_else_comes_in() {
    let stage = Stage::new("open sesame");
    let tree = EditedTree::new(stage.home.beside("tree"), 0x0f7b_000a);
    stage.project(&stage.url(&tree.root), "");
    stage.crawl(&[]).expect(1);
    assert!(stage.problems().contains("Permission denied"), "{}", stage.problems());
    let file = stage.home.project().join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("key_file", "password_env = \"SESAME\"\nkey_file")).unwrap();
    let args = ["track", PROJECT, "--delay", "0", "--no-index", "--progress", "none"];
    stage.home.start(&args, &[("SESAME", "open sesame")]).finish().expect(0);
    let fetched = stage.home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    assert_eq!(fetched, tree.files().len());
}

#[test]
fn only_files_and_directories_are_taken_whatever_they_are_called() {
    let stage = Stage::new("");
    let root = stage.home.beside("tree");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("sub/inside.txt"), "inside").unwrap();
    let names: [&[u8]; 6] = [b"a b%41?#.txt", b"..x", b"-rf", b"\xff\xfe.txt", b"~", b"back\\slash"];
    for name in names {
        fs::write(root.join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::write(root.join(OsStr::from_bytes(b"two\nlines")), "x").unwrap();
    symlink("sub/inside.txt", root.join("link.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    stage.project(&stage.url(&root), "");
    stage.crawl(&[]).expect(0);
    let prefix = stage.url(&root);
    let pages = stage.home.catalogue().pages();
    let mut found: Vec<&str> = pages.keys().filter_map(|url| url.strip_prefix(&prefix)).collect();
    found.retain(|path| !path.is_empty() && !path.ends_with('/'));
    found.sort_unstable();
    let wanted =
        ["%FF%FE.txt", "-rf", "..x", "a%20b%2541%3F%23.txt", "back%5Cslash", "link.txt", "sub/inside.txt", "~"];
    assert_eq!(found, wanted);
    let cat = stage.home.orb(&["cat", PROJECT, &format!("{prefix}a%20b%2541%3F%23.txt")]);
    assert_eq!(cat.text(), "a b%41?#.txt");
}

#[test]
fn a_server_that_lies_hurts_nobody() {
    let home = Home::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let liar = harness::root().join("tests/judges/liar.py");
    let ssh = format!("#!/bin/sh\nexec {} {}\n", python().display(), liar.display());
    let ssh = script(&home.beside("ssh"), &ssh);
    let root = format!("sftp://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    home.orb(&["project", "new", PROJECT, "--seed", &root]).expect(0);
    let file = home.project().join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[sftp]\nprogram = \"{ssh}\"\n")).unwrap();
    let args = ["crawl", PROJECT, "--delay", "0", "--no-index", "--progress", "none", "--retries", "0"];
    home.orb(&args).expect(0);
    let pages = home.catalogue().pages();
    let kind = |path: &str| pages.get(&format!("{root}{path}")).map(|page| page.kind.as_str().to_owned());
    assert_eq!(kind("sound.txt").as_deref(), Some("BINARY"));
    for broken in ["other-number.txt", "too-long.txt", "hangs-up.txt", "other-type.txt"] {
        assert_eq!(kind(broken).as_deref(), Some("HTTP_ERROR"), "{broken}");
    }
    assert_eq!(pages.len(), 6, "names that lead elsewhere are no entries: {:?}", pages.keys());
}

#[test]
fn without_the_program_it_is_said_what_to_install() {
    let home = Home::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("sftp://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    home.orb(&["project", "new", PROJECT, "--seed", &root]).expect(0);
    let file = home.project().join("project.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[sftp]\nprogram = \"/nowhere/ssh\"\n")).unwrap();
    let failed = home.orb(&["crawl", PROJECT, "--progress", "none"]);
    assert!(failed.complaint(1).contains("install OpenSSH"), "{}", failed.complaint(1));
}
