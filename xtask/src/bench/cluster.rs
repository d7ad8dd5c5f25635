//! Does speed add up over several workers, and what does a shared store cost one?
//!
//! Workers, PostgreSQL, the archive and the web are processes of this machine, on the same cores.
//! First one worker on a shared store crawls what a project of the home crawls, in turn. Then
//! politeness is the limit: servers answer after 200 ms, a worker has 20 connections, and each of
//! 400 addresses is asked once a second. One worker is held up by its connections, eight by the
//! delay; in between, twice the workers should fetch twice the pages.

use super::measure::{self, Figures};
use super::tools::{Role, Tool, crawl_of, orb};
use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use crate::packages::is_root;
use anyhow::{Context, Result, bail, ensure};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The least share of the rate of a project of the home.
const OF_EMBEDDED: f64 = 0.6;
/// Hosts and pages of each where the processor is the limit.
const QUICK: (u32, u32) = (200, 300);
/// The same where politeness is.
const POLITE: (u32, u32) = (400, 2_000);
/// How long a server takes to answer, in milliseconds.
const LATENCY: u32 = 200;
const CONNECTIONS: &str = "20";
/// When workers have joined, and shards and leases have found their places.
const SETTLED: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(30);
/// The least share of what so many workers should reach.
const ADDS_UP: f64 = 0.95;
/// The user a server runs as when the bench runs as root, which it refuses: nobody.
const NOBODY: u32 = 65_534;

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let mut report = beside_embedded(wish)?;
    let polite = adding_up(wish)?;
    report.tables.extend(polite.tables);
    report.verdicts.extend(polite.verdicts);
    Ok(report)
}

/// One worker on a shared store, in turn with a project of the home.
fn beside_embedded(wish: &BenchOptions) -> Result<PartReport> {
    let web = BenchWeb::start(QUICK, QUICK.0 * QUICK.1)?;
    let (mut ratios, mut both) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..wish.rounds {
        let home = measure::run(&Tool { name: "home", role: Role::Ours, command: orb }, &web, &wish.orb)?;
        let shared = on_a_store(&web, &wish.orb)?;
        println!("    home {home}\n    shared {shared}");
        ensure!(shared.seen.pages == web.pages(), "a worker has found {} pages", shared.seen.pages);
        ratios.push(shared.rate() / home.rate());
        both[0].push(home);
        both[1].push(shared);
    }
    let rows = ["a project of the home", "one worker on a shared store"].into_iter().zip(&both);
    let rows = rows.filter_map(|(name, figures)| Some((name, measure::median(figures.iter())?)));
    let table = measure::table(&web.title(), web.pages(), rows.collect::<Vec<_>>().into_iter());
    let verdict =
        TargetVerdict::of("one worker on a shared store / embedded", ratios, FigureTarget::AtLeast(OF_EMBEDDED));
    Ok(PartReport { tables: vec![table], verdicts: verdict.into_iter().collect() })
}

/// A crawl by one worker on a shared store of its own.
fn on_a_store(web: &BenchWeb, build: &Path) -> Result<Figures> {
    let dir = Place::new("shared")?;
    let database = Database::start(&dir.0.join("database"))?;
    let mut command = Command::new(build);
    command.args(crawl_of(web, &dir.0)).args(database.named(&dir.0.join("archive"))?);
    measure::crawl(command, "shared", web)
}

/// 1, 2, 4 and 8 workers where politeness is the limit.
fn adding_up(wish: &BenchOptions) -> Result<PartReport> {
    let web = BenchWeb::slowly(POLITE, LATENCY)?;
    let (mut one, mut verdicts) = (0.0, Vec::new());
    let mut table = format!(
        "### {}, answers after {LATENCY} ms, {CONNECTIONS} connections a worker, a request a second to each address\n\n| workers | pages/s | share of what is possible |\n|---|---|---|\n",
        web.title()
    );
    for workers in [1, 2, 4, 8] {
        let rate = rate_of(wish, &web, workers)?;
        if workers == 1 {
            one = rate;
        }
        let possible = (one * f64::from(workers)).min(f64::from(POLITE.0));
        println!("    {workers} workers: {rate:.1} pages/s of {possible:.1}");
        table += &format!("| {workers} | {rate:.1} | {:.3} |\n", rate / possible);
        let what = format!("{workers} workers / what is possible");
        verdicts.extend(TargetVerdict::of(what, [rate / possible], FigureTarget::AtLeast(ADDS_UP)));
    }
    Ok(PartReport { tables: vec![table], verdicts })
}

/// The pages a second that so many workers fetch together, once all have their shares.
fn rate_of(wish: &BenchOptions, web: &BenchWeb, workers: u32) -> Result<f64> {
    let place = Place::new("cluster")?;
    let dir = &place.0;
    let database = Database::start(&dir.join("database"))?;
    let store = database.named(&dir.join("archive"))?;
    let seeds = dir.join("seeds");
    std::fs::write(&seeds, web.homes().join("\n"))?;
    web.reset()?;
    let mut all = Vec::new();
    for worker in 1..=workers {
        let mut command = Command::new(&wish.orb);
        if worker == 1 {
            command.arg("crawl").arg(format!("@{}", seeds.display())).args(["--project", "bench", "--scope", "any"]);
            command.args(["--delay", "1s", "--connections", CONNECTIONS, "--ignore-robots", "--progress", "none"]);
        } else {
            command.args(["worker", "--project", "bench"]);
        }
        command.args(["--worker-name", &format!("w{worker}"), "--quiet", "--home"]).arg(dir.join(worker.to_string()));
        command.args(&store).stdin(Stdio::null()).stdout(Stdio::null());
        all.push(Running(command.spawn().context("cannot start orb")?));
        if worker == 1 {
            wait_for("the first request", || Ok(web.requests()? > 0))?;
        }
    }
    std::thread::sleep(SETTLED);
    let (before, begun) = (web.requests()?, Instant::now());
    std::thread::sleep(WINDOW);
    let rate = (web.requests()? - before) as f64 / begun.elapsed().as_secs_f64();
    // Workers first, then the server they are connected to, then its files.
    drop(all);
    Ok(rate)
}

/// A directory, until it is dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("orb-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Self(dir))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A worker, until it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A PostgreSQL server in a directory of its own, until it is dropped.
struct Database {
    socket: PathBuf,
    server: Child,
}

impl Database {
    fn start(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        if is_root() {
            chown(dir, Some(NOBODY), Some(NOBODY))?;
        }
        let files = dir.join("cluster");
        let mut make = program(dir, "initdb")?;
        make.arg("-D").arg(&files).args(["-U", "orb", "-A", "trust", "-N", "--locale=C", "--encoding=UTF8"]);
        ensure!(make.stdout(Stdio::null()).status()?.success(), "initdb has failed");
        let mut serve = program(dir, "postgres")?;
        serve.arg("-D").arg(files).arg("-k").arg(dir).args(["-c", "listen_addresses=", "-c", "max_connections=100"]);
        let server = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let database = Self { socket: dir.to_owned(), server };
        wait_for("PostgreSQL", || Ok(dir.join(".s.PGSQL.5432").exists()))?;
        Ok(database)
    }

    /// The arguments that name it and an archive beside it.
    fn named(&self, archive: &Path) -> Result<[String; 4]> {
        std::fs::create_dir_all(archive)?;
        let socket = self.socket.to_str().context("the temporary directory has no plain name")?.replace('/', "%2F");
        let store = format!("postgres://orb@{socket}/postgres");
        Ok(["--store".to_owned(), store, "--archive".to_owned(), format!("file://{}", archive.display())])
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = crate::steps::run("kill", &["-QUIT", &self.server.id().to_string()]);
        let _ = self.server.wait();
    }
}

/// A program of the newest installed PostgreSQL, run as a user it accepts.
fn program(dir: &Path, name: &str) -> Result<Command> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is missing")?;
    let mut found: Vec<PathBuf> = versions.flatten().map(|version| version.path().join("bin").join(name)).collect();
    found.retain(|path| path.exists());
    found.sort();
    let mut command = Command::new(found.pop().context("PostgreSQL is missing: apt-get install postgresql")?);
    command.current_dir(dir);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    Ok(command)
}

fn wait_for(what: &str, mut there: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !there()? {
        if begun.elapsed() > Duration::from_secs(60) {
            bail!("waited a minute for {what}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
