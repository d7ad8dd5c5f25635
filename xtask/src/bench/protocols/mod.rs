//! How fast are directories and newsgroups crawled that are not on the web?
//!
//! The same tree behind servers that people use, fetched by us, with archive and catalogue, and by
//! the tools that people use for it, which write files; with as many connections as we have. Then
//! again, unchanged. Files of this machine and a newsgroup have no peers, but a rate to keep.

mod servers;

use super::verdict::{FigureTarget, TargetVerdict};
use super::web::number_field;
use super::{BenchOptions, PartReport};
use crate::{judges, packages};
use anyhow::{Context, Result, bail};
use servers::TreeServer;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The tree: directories, files in each, and bytes of a file.
const DIRECTORIES: usize = 200;
const FILES: usize = 10;
const BYTES: usize = 20_000;
/// Connections of every tool that can have several.
const CONNECTIONS: usize = 2;
/// Articles of the newsgroup, and files of this machine.
const ARTICLES: u32 = 10_000;
const LOCAL: usize = 100_000;
/// A word in the files.
const WORDS: [&str; 8] = ["spider", "thread", "orb", "web", "silk", "leg", "prey", "wind"];

/// What the rounds have shown.
#[derive(Default)]
struct ProtocolFigures {
    rows: Vec<String>,
    verdicts: Vec<TargetVerdict>,
}

/// At most this share of the first time may an unchanged tree take over FTP, where every file that
/// need not be fetched saves a connection. Over SFTP files and listings share one session: the
/// share is shown and has no target.
const UNCHANGED_FTP: Option<f64> = Some(0.1);

/// A tree behind a server: its name, its address, the settings for it, and the target for fetching
/// it again, if there is one.
#[derive(Clone, Copy)]
struct ServedTree<'a> {
    server: &'a str,
    url: &'a str,
    settings: &'a str,
    unchanged: Option<f64>,
}

/// One way to fetch a tree.
type FetchTool<'a> = (&'a str, Box<dyn Fn(&Path) -> Command + 'a>);

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    packages::ensure(packages::FOR_PROTOCOLS)?;
    judges::ensure("judges", "tests/judges/requirements.txt")?;
    let dir = tempdir("protocols")?;
    let mut figures = ProtocolFigures::default();
    let done = measure(wish, &dir, &mut figures);
    fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    done?;
    let heads = "| what | tool | seconds | files/s |\n|---|---|---|---|\n";
    Ok(PartReport { tables: vec![format!("{heads}{}", figures.rows.concat())], verdicts: figures.verdicts })
}

fn measure(wish: &BenchOptions, dir: &Path, figures: &mut ProtocolFigures) -> Result<()> {
    let tree = dir.join("tree");
    grow(&tree, DIRECTORIES, FILES, BYTES)?;
    let server = TreeServer::pyftpdlib(&tree)?;
    ftp(wish, dir, ("pyftpdlib", &server), figures)?;
    drop(server);
    let server = TreeServer::vsftpd(&tree, dir)?;
    ftp(wish, dir, ("vsftpd", &server), figures)?;
    drop(server);
    sftp(wish, dir, &tree, figures)?;
    news(wish, dir, figures)?;
    local(wish, dir, figures)
}

fn ftp(
    wish: &BenchOptions,
    dir: &Path,
    (name, server): (&str, &TreeServer),
    figures: &mut ProtocolFigures,
) -> Result<()> {
    let url = format!("ftp://127.0.0.1:{}/", server.port);
    let tools: [FetchTool<'_>; 2] = [
        (
            "wget -r",
            Box::new(|to: &Path| {
                let mut command = Command::new("wget");
                command.args(["-q", "-r", "-l", "inf", "-P"]).arg(to).arg(&url);
                command
            }),
        ),
        (
            "lftp mirror",
            Box::new(|to: &Path| {
                // From where the server puts us, which need not be its root.
                let script = format!("mirror --parallel={CONNECTIONS} . {}", to.join("mirror").display());
                let mut command = Command::new("lftp");
                command.args(["-e", &format!("{script}; exit"), &url]);
                command
            }),
        ),
    ];
    let least = [("wget -r", 1.5), ("lftp mirror", 1.0)];
    let tree = ServedTree { server: name, url: &url, settings: "", unchanged: UNCHANGED_FTP };
    compare(wish, dir, tree, &tools, &least, figures)
}

fn sftp(wish: &BenchOptions, dir: &Path, tree: &Path, figures: &mut ProtocolFigures) -> Result<()> {
    let beside = dir.join("ssh");
    fs::create_dir_all(&beside)?;
    let server = TreeServer::sshd(&beside)?;
    let user = String::from_utf8(Command::new("id").arg("-un").output()?.stdout)?;
    let (port, key, user) = (server.port, beside.join("client"), user.trim());
    let url = format!("sftp://127.0.0.1:{port}{}/", tree.display());
    let auth =
        format!("[[auth]]\nhost = \"sftp://127.0.0.1:{port}\"\nuser = \"{user}\"\nkey_file = \"{}\"\n", key.display());
    let tools: [FetchTool<'_>; 1] = [(
        "sftp get -r",
        Box::new(|to: &Path| {
            let mut command = Command::new("sftp");
            let options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
            command.args(["-q", "-r", "-F", "none", "-i"]).arg(&key).args(["-P", &port.to_string()]);
            command.args(options.iter().flat_map(|option| ["-o", option]));
            command.arg(format!("{user}@127.0.0.1:{}", tree.display())).arg(to);
            command
        }),
    )];
    let tree = ServedTree { server: "sshd", url: &url, settings: &auth, unchanged: None };
    compare(wish, dir, tree, &tools, &[("sftp get -r", 1.0)], figures)
}

/// Fetches a tree with every tool and with ours, which then tracks it, round by round.
fn compare(
    wish: &BenchOptions,
    dir: &Path,
    tree: ServedTree<'_>,
    tools: &[FetchTool<'_>],
    least: &[(&str, f64)],
    figures: &mut ProtocolFigures,
) -> Result<()> {
    let (files, ServedTree { server, url, settings, unchanged }) = (DIRECTORIES * FILES, tree);
    let (mut ours, mut again, mut theirs) = (Vec::new(), Vec::new(), vec![Vec::new(); tools.len()]);
    for _ in 0..wish.rounds {
        let home = dir.join("home");
        make_project(wish, &home, url, settings)?;
        let [first, second] = crawl_and_track(wish, &home, files + DIRECTORIES + 1)?;
        fs::remove_dir_all(&home)?;
        figures.row(server, "orb", first, files);
        figures.row(server, "orb, unchanged", second, files);
        ours.push(first);
        again.push(second.as_secs_f64() / first.as_secs_f64());
        for ((name, command), times) in tools.iter().zip(&mut theirs) {
            let to = dir.join("fetched");
            fs::create_dir_all(&to)?;
            let time = timed(command(&to).stdin(Stdio::null()))?;
            let found = count(&to);
            fs::remove_dir_all(&to)?;
            if found != files {
                bail!("{name} fetched {found} of {files} files from {server}");
            }
            figures.row(server, name, time, files);
            times.push(time);
        }
    }
    for ((name, _), times) in tools.iter().zip(&theirs) {
        let ratios = ours.iter().zip(times).map(|(ours, theirs)| theirs.as_secs_f64() / ours.as_secs_f64());
        let wanted = least.iter().find(|(tool, _)| tool == name).map_or(1.0, |(_, wanted)| *wanted);
        let what = format!("{server}: files/s, orb / {name}");
        figures.verdicts.extend(TargetVerdict::of(what, ratios, FigureTarget::AtLeast(wanted)));
    }
    let what = format!("{server}: time of an unchanged tree / the first time");
    figures.verdicts.extend(unchanged.and_then(|most| TargetVerdict::of(what, again, FigureTarget::AtMost(most))));
    Ok(())
}

fn news(wish: &BenchOptions, dir: &Path, figures: &mut ProtocolFigures) -> Result<()> {
    let server = TreeServer::news(ARTICLES)?;
    let url = format!("nntp://127.0.0.1:{}/misc.test/", server.port);
    let (mut rates, mut again) = (Vec::new(), Vec::new());
    for _ in 0..wish.rounds {
        let home = dir.join("home");
        make_project(wish, &home, &url, "")?;
        let [first, second] = crawl_and_track(wish, &home, ARTICLES as usize + 1)?;
        fs::remove_dir_all(&home)?;
        figures.row("news", "orb", first, ARTICLES as usize);
        figures.row("news", "orb, unchanged", second, ARTICLES as usize);
        rates.push(f64::from(ARTICLES) / first.as_secs_f64());
        again.push(second.as_secs_f64() / first.as_secs_f64());
    }
    figures.verdicts.extend(TargetVerdict::of("news: articles/s", rates, FigureTarget::AtLeast(2_000.0)));
    let what = "news: time of an unchanged group / the first time";
    figures.verdicts.extend(TargetVerdict::of(what, again, FigureTarget::AtMost(0.2)));
    Ok(())
}

fn local(wish: &BenchOptions, dir: &Path, figures: &mut ProtocolFigures) -> Result<()> {
    let (tree, directories) = (dir.join("many"), 1_000);
    grow(&tree, directories, LOCAL / directories, 1_000)?;
    let url = format!("file://{}/", tree.display());
    let home = dir.join("home");
    make_project(wish, &home, &url, "")?;
    let [first, second] = crawl_and_track(wish, &home, LOCAL + directories + 1)?;
    figures.row("files", "orb", first, LOCAL);
    figures.row("files", "orb, unchanged", second, LOCAL);
    let rate = LOCAL as f64 / first.as_secs_f64();
    figures.verdicts.extend(TargetVerdict::of("files/s of this machine", [rate], FigureTarget::AtLeast(5_000.0)));
    let what = "files of this machine again, in seconds";
    figures.verdicts.extend(TargetVerdict::of(what, [second.as_secs_f64()], FigureTarget::AtMost(3.0)));
    Ok(())
}

impl ProtocolFigures {
    fn row(&mut self, what: &str, tool: &str, time: Duration, files: usize) {
        let seconds = time.as_secs_f64();
        let row = format!("| {what} | {tool} | {seconds:.2} | {:.0} |\n", files as f64 / seconds);
        print!("{row}");
        self.rows.push(row);
    }
}

fn make_project(wish: &BenchOptions, home: &Path, url: &str, settings: &str) -> Result<()> {
    let mut command = Command::new(&wish.orb);
    command.args(["project", "new", "bench", "--seed", url, "--home"]).arg(home);
    timed(&mut command)?;
    let file = home.join("bench/project.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(fs::write(file, format!("{text}\n{settings}"))?)
}

/// The times of a crawl of this many pages, and of finding them unchanged.
fn crawl_and_track(wish: &BenchOptions, home: &Path, pages: usize) -> Result<[Duration; 2]> {
    let run = |verb: &str, field: &str, wanted: usize| -> Result<Duration> {
        let mut command = Command::new(&wish.orb);
        command.args([verb, "bench", "--delay", "0", "--no-index", "--json", "--progress", "none"]);
        command.args(["--per-host", &CONNECTIONS.to_string(), "--home"]).arg(home);
        let begun = Instant::now();
        let output = command.output().context("cannot start orb")?;
        let time = begun.elapsed();
        let told = String::from_utf8_lossy(&output.stdout);
        let found = number_field(&told, field);
        if !output.status.success() || found != Some(wanted as u64) {
            bail!("{field} should be {wanted}: {told} {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(time)
    };
    Ok([run("crawl", "pages", pages)?, run("track", "pages", pages)?])
}

fn timed(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    let output = command.stdout(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(begun.elapsed())
}

/// Makes a tree of texts that are long unchanged.
fn grow(tree: &Path, directories: usize, files: usize, bytes: usize) -> Result<()> {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let (mut dice, open) = (1_u64, |mode| fs::Permissions::from_mode(mode));
    for directory in 0..directories {
        let place = tree.join(format!("d{directory:04}"));
        fs::create_dir_all(&place)?;
        for file in 0..files {
            let mut text = String::with_capacity(bytes + 8);
            while text.len() < bytes {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(WORDS[usize::try_from(dice >> 61)?]);
                text.push_str(if dice >> 40 & 7 == 0 { ".\n" } else { " " });
            }
            let path = place.join(format!("f{file:03}.txt"));
            fs::write(&path, &text[..bytes])?;
            File::options().write(true).open(&path)?.set_modified(old)?;
            fs::set_permissions(&path, open(0o644))?;
        }
        fs::set_permissions(&place, open(0o755))?;
    }
    Ok(fs::set_permissions(tree, open(0o755))?)
}

fn tempdir(name: &str) -> Result<std::path::PathBuf> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-{name}", std::process::id()));
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))?;
    Ok(dir)
}

/// The files below a directory, without what wget leaves behind.
fn count(dir: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let is_text = |path: &Path| path.extension().is_some_and(|ending| ending == "txt");
    entries
        .flatten()
        .map(|entry| if entry.path().is_dir() { count(&entry.path()) } else { usize::from(is_text(&entry.path())) })
        .sum()
}
