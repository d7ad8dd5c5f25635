//! Do servers that others wrote agree with us?
//!
//! Each is started privately, on a free port of loopback and over a directory of the test. The tree
//! is edited a thousand times at random between runs, and every run must flag exactly what was
//! edited, also when it was killed on the way.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Home, PROJECT};
use harness::scene::Dice;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The user a server runs as that must not be root: nobody.
const NOBODY: u32 = 65_534;
/// Edits between two runs, and runs.
const EDITS: usize = 50;
const ROUNDS: usize = 20;

fn pick(dice: &mut Dice, end: usize) -> usize {
    usize::try_from(dice.below(u64::try_from(end).unwrap())).unwrap()
}

/// A server, stopped when it is dropped.
struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts what this makes for a free port, and waits until it listens.
    fn start(make: impl Fn(u16) -> Command) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = make(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let daemon = Self { child, port };
        harness::until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn python() -> PathBuf {
    harness::root().join("target/judges/bin/python")
}

/// pyftpdlib: MLSD and EPSV.
fn pyftpdlib(root: &Path) -> Daemon {
    Daemon::start(|port| {
        let mut command = Command::new(python());
        command.args(["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", &port.to_string(), "-d"]).arg(root);
        command
    })
}

/// vsftpd: LIST, with times to the minute.
fn vsftpd(root: &Path, beside: &Path, more: &[String]) -> Daemon {
    Daemon::start(|port| {
        let empty = beside.join("empty");
        fs::create_dir_all(&empty).unwrap();
        let lines = [
            "listen=YES".to_owned(),
            "background=NO".to_owned(),
            "listen_address=127.0.0.1".to_owned(),
            format!("listen_port={port}"),
            "anonymous_enable=YES".to_owned(),
            format!("anon_root={}", root.display()),
            format!("secure_chroot_dir={}", empty.display()),
            "run_as_launching_user=YES".to_owned(),
            "one_process_model=YES".to_owned(),
            "seccomp_sandbox=NO".to_owned(),
            "xferlog_enable=NO".to_owned(),
        ];
        let config = beside.join("vsftpd.conf");
        fs::write(&config, [&lines[..], more].concat().join("\n") + "\n").unwrap();
        let mut command = Command::new("/usr/sbin/vsftpd");
        command.arg(&config);
        if geteuid().is_root() {
            // It reads no settings that are somebody else's.
            chown(&config, Some(NOBODY), Some(NOBODY)).unwrap();
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    })
}

/// The files of a tree by path, in the spelling of URLs, with their content.
type Snapshot = BTreeMap<String, Vec<u8>>;

/// A tree of files that is edited at random.
struct EditedTree {
    root: PathBuf,
    dice: Dice,
    edits: usize,
    /// Numbers for names and contents, so that no two are alike.
    next: usize,
}

impl EditedTree {
    fn new(root: PathBuf, seed: u64) -> Self {
        fs::create_dir_all(&root).unwrap();
        let mut tree = Self { root, dice: Dice(seed), edits: 0, next: 0 };
        for n in 0..120 {
            let directory = format!("d{}/e{}", n % 7, n % 3);
            let text = tree.text();
            tree.write(&format!("{directory}/file {n}.txt"), &text);
        }
        tree
    }

    fn text(&mut self) -> String {
        self.next += 1;
        format!("{:08} {}\n", self.next, "x".repeat(self.next % 5))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mut above = path.parent().unwrap();
        while above.starts_with(&self.root) {
            fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
            above = above.parent().unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        gather(&self.root, &self.root, &mut found);
        found.sort();
        found
    }

    fn snapshot(&self) -> Snapshot {
        let content = |path: String| {
            let bytes = fs::read(self.root.join(&path)).unwrap();
            (path.replace(' ', "%20"), bytes)
        };
        self.files().into_iter().map(content).collect()
    }

    /// One edit: half of them change a file, by as many bytes or not.
    fn edit(&mut self) {
        self.edits += 1;
        let files = self.files();
        let path = files[pick(&mut self.dice, files.len())].clone();
        let text = self.text();
        match pick(&mut self.dice, 10) {
            0..=2 => self.write(&path, &text),
            3 | 4 => {
                // As long as before: only the time tells.
                let mut old = fs::read(self.root.join(&path)).unwrap();
                old.truncate(8);
                old[..8].copy_from_slice(&text.as_bytes()[..8]);
                let length = fs::metadata(self.root.join(&path)).unwrap().len();
                old.resize(usize::try_from(length).unwrap(), b'y');
                fs::write(self.root.join(&path), old).unwrap();
            }
            5 | 6 => {
                let name = format!("{}/new {}.txt", Path::new(&path).parent().unwrap().display(), self.next);
                self.write(&name, &text);
            }
            7 => self.write(&format!("d{}/n{}/x.txt", self.next % 7, self.next), &text),
            8 => fs::remove_file(self.root.join(&path)).unwrap(),
            _ if files.len() > 60 && pick(&mut self.dice, 3) == 0 => {
                fs::remove_dir_all(self.root.join(Path::new(&path).parent().unwrap())).unwrap();
            }
            _ => {
                let to = format!("{}/moved {}.txt", Path::new(&path).parent().unwrap().display(), self.next);
                fs::rename(self.root.join(&path), self.root.join(to)).unwrap();
            }
        }
    }
}

fn gather(root: &Path, at: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// The flags that a run must report between two states.
fn expected(before: &Snapshot, after: &Snapshot) -> BTreeMap<String, String> {
    let mut flags = BTreeMap::new();
    for (path, bytes) in after {
        let flag = match before.get(path) {
            None => "NEW",
            Some(old) if old == bytes => "SAM",
            Some(_) => "UPD",
        };
        flags.insert(path.clone(), flag.to_owned());
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        flags.insert(path.clone(), "MIS".to_owned());
    }
    flags
}

/// The flags of the last run's documents, by path.
fn told(home: &Home, root: &str) -> BTreeMap<String, String> {
    let sql = "SELECT p.url, v.flag FROM visit v JOIN page p ON p.id = v.page_id
               LEFT JOIN change c ON c.run = v.run AND c.page_id = v.page_id
               WHERE v.run = (SELECT max(id) FROM run) AND p.kind <> 'LISTING' AND (c.seq NOTNULL OR v.flag = 'SAM')";
    let rows = home.catalogue().rows(sql);
    rows.iter().map(|row| (row[0].strip_prefix(root).unwrap_or(&row[0]).to_owned(), row[1].clone())).collect()
}

/// Crawls a tree, edits it a thousand times, and compares what every run says; some are killed.
fn a_thousand_edits(home: &Home, tree: &mut EditedTree, root: &str) {
    home.crawl(&[root, "--delay", "0", "--no-index"]);
    let mut before = tree.snapshot();
    let archived: usize = home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    assert_eq!(archived, before.len());
    let args = ["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"];
    for round in 0..ROUNDS {
        (0..EDITS).for_each(|_| tree.edit());
        let after = tree.snapshot();
        if round % 4 == 1 {
            kill_one(home, &args, &mut tree.dice);
        }
        home.orb(&args).expect(0);
        let (said, wanted) = (told(home, root), expected(&before, &after));
        let wrong: Vec<_> = wanted
            .iter()
            .filter(|(path, flag)| said.get(*path) != Some(flag))
            .map(|(path, flag)| format!("{path}: {flag}, told {:?}", said.get(path)))
            .chain(
                said.keys()
                    .filter(|path| !wanted.contains_key(*path))
                    .map(|path| format!("{path}: told {}", said[path])),
            )
            .collect();
        assert!(wrong.is_empty(), "round {round}: {wrong:#?}");
        before = after;
    }
    assert_eq!(tree.edits, EDITS * ROUNDS);
    judge::warcio_check(&home.warcs());
    home.orb(&["check", PROJECT]).expect(0);
    for (path, bytes) in before.iter().step_by(9) {
        let cat = home.orb(&["cat", PROJECT, &format!("{root}{path}")]);
        assert_eq!(cat.text().as_bytes(), bytes, "{path}");
    }
}

/// Starts a run and kills it at some moment.
fn kill_one(home: &Home, args: &[&str], dice: &mut Dice) {
    let recorded = || home.catalogue().number("SELECT count(*) FROM visit WHERE run = (SELECT max(id) FROM run)");
    let runs = || home.catalogue().number("SELECT max(id) FROM run");
    let (before, enough) = (runs(), i64::try_from(pick(dice, 60)).unwrap());
    let mut running = home.start(args, &[]);
    let mut ended = false;
    harness::until("some pages are recorded", || {
        ended = running.ended().is_some();
        ended || (runs() > before && recorded() >= enough)
    });
    if !ended {
        running.signal(Signal::KILL);
        running.finish();
    }
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
    let documents = |home: &Home| home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    home.crawl(&[&root[..], "--delay", "0", "--no-index"]);
    assert_eq!(documents(&home), tree.files().len());
    let required = |home: &Home, more: &[&str]| {
        let made = home.orb(&["project", "new", PROJECT, "--seed", &root]);
        made.expect(0);
        let file = home.project().join("project.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text + "\n[ftp]\ntls = \"require\"\n").unwrap();
        home.orb(
            &[&["crawl", PROJECT, "--delay", "0", "--no-index", "--progress", "none", "--retries", "0"], more].concat(),
        )
    };
    let distrustful = Home::new();
    required(&distrustful, &[]).expect(1);
    let trusting = Home::new();
    required(&trusting, &["--ca-file", &issuer]).expect(0);
    assert_eq!(documents(&trusting), tree.files().len());
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
    let news = home.beside("news");
    fs::create_dir(&news).unwrap();
    let write = |n: usize| fs::write(news.join(n.to_string()), format!("Article {n}.\n.\n..\n")).unwrap();
    (1..=200).for_each(write);
    let server = Daemon::start(|port| {
        let mut command = Command::new(python());
        command.arg(harness::root().join("tests/judges/news.py")).arg(port.to_string()).arg(&news);
        command
    });
    let root = format!("nntp://127.0.0.1:{}/misc.test/", server.port);
    home.crawl(&[&root[..], "--delay", "0", "--no-index"]);
    judge::warcio_check(&home.warcs());
    let mut dice = Dice(0x4e57);
    let (mut there, mut last): (Vec<usize>, usize) = ((1..=200).collect(), 200);
    for _ in 0..10 {
        let before = there.clone();
        for _ in 0..pick(&mut dice, 20) {
            last += 1;
            write(last);
            there.push(last);
        }
        for _ in 0..pick(&mut dice, 20) {
            let gone = there.remove(pick(&mut dice, there.len()));
            fs::remove_file(news.join(gone.to_string())).unwrap();
        }
        home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"]).expect(0);
        let number = |n: &usize| (n.to_string(), Vec::new());
        let wanted = expected(&before.iter().map(number).collect(), &there.iter().map(number).collect());
        assert_eq!(told(&home, &root), wanted);
    }
}
