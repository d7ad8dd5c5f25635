//! How fast are pages rendered, compared with a plain script, and what is saved by rendering only
//! what needs it?
//!
//! Five hundred pages of three applications, given as a list, in turn by `orb` and by a Playwright
//! loop with as many tabs in the same browser. `orb` archives, catalogues and links what it sees;
//! the loop keeps nothing. The links that both see of every page are compared. Then a mixed site,
//! one page in ten of which is an application's, with `always` and with `auto`.
//!
//! `upkeep` renders five thousand pages and looks every second at what the browser takes.

use super::verdict::{FigureTarget, TargetVerdict};
use super::{BenchOptions, PartReport, built};
use crate::judges;
use crate::steps::{root, step};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Pages of applications; a third of them for each.
const PAGES: u32 = 501;

/// Pages of the mixed site, and one in how many of them is an application's.
const MIXED: (u32, u32) = (500, 10);

/// Pages of the long run, unless `--pages` says fewer.
const LONG: u32 = 5_000;

/// Pages at once, for each core.
const TABS_A_CORE: usize = 3;

/// Targets: relative to the loop, pages a second and core, and `auto` relative to `always`.
const FASTER: f64 = 1.2;
const A_CORE: f64 = 4.0;
const SPARED: f64 = 5.0;

/// Targets of the long run: memory of the browser in MB, and seconds without a request.
const MEMORY: f64 = 1_000.0;
const STALL: f64 = 30.0;

/// The applications, in a process of their own until they are dropped.
struct AppWeb {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    apps: Vec<String>,
    mixed: String,
}

impl AppWeb {
    fn start(items: u32) -> Result<Self> {
        let mut command = Command::new(built("testweb"));
        command.args(["--apps", &items.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("cannot start testweb")?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (input, output) = pipes.context("testweb has no pipes")?;
        let mut web = Self { process, input, output: BufReader::new(output), apps: Vec::new(), mixed: String::new() };
        let told = web.line()?;
        web.apps = told["apps"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        web.mixed = told["mixed"].as_str().unwrap_or_default().to_owned();
        ensure!(!web.apps.is_empty(), "testweb did not say where its applications are: {told}");
        Ok(web)
    }

    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("testweb says {line}"))
    }

    /// Number of requests so far.
    fn requests(&mut self) -> Result<u64> {
        writeln!(self.input)?;
        self.line()?["requests"].as_u64().context("testweb does not count")
    }

    /// The first so many pages of every application.
    fn pages(&self, each: u32) -> Vec<String> {
        (1..=each).flat_map(|n| self.apps.iter().map(move |app| format!("{app}/items/{n}"))).collect()
    }

    fn mixed_pages(&self) -> Vec<String> {
        let (all, apart) = MIXED;
        let path = |n| if n % apart == 0 { format!("items/{}", n / apart) } else { format!("articles/{n}") };
        (1..=all).map(|n| format!("{}/{}", self.mixed, path(n))).collect()
    }
}

impl Drop for AppWeb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A directory that is removed in any case.
struct BenchDir(PathBuf);

impl BenchDir {
    fn new(name: &str) -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("orb-bench-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Self(dir))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.0.join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }
}

impl Drop for BenchDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The links of every page.
type PageLinks = BTreeMap<String, BTreeSet<String>>;

/// A crawl of these URLs, and nothing behind them.
struct RenderedCrawl<'a> {
    orb: &'a Path,
    urls: &'a [String],
    when: &'a str,
}

impl RenderedCrawl<'_> {
    fn command(&self, dir: &BenchDir) -> Result<Command> {
        let seeds = dir.write("seeds", &self.urls.join("\n"))?;
        let file = dir.write(
            "bench.toml",
            &format!(
                "seeds = ['@{}']\nfrontier.delay = '0s'\nfrontier.depth = 0\nfrontier.per_host = {tabs}\nfetch.allow_private = true\n\
                 render.when = '{}'\nrender.tabs = {tabs}\nrender.no_sandbox = true\n",
                seeds.display(),
                self.when,
                tabs = tabs()
            ),
        )?;
        let mut command = Command::new(self.orb);
        command.arg("crawl").arg(file).args(["--quiet", "--no-index", "--json", "--home"]).arg(dir.0.join("home"));
        Ok(command)
    }

    /// Pages a second, and the links of every page.
    fn run(&self) -> Result<(f64, PageLinks)> {
        let dir = BenchDir::new("rendered")?;
        let began = Instant::now();
        told(&mut self.command(&dir)?)?;
        let rate = self.urls.len() as f64 / began.elapsed().as_secs_f64();
        Ok((rate, self.links(&dir)?))
    }

    fn links(&self, dir: &BenchDir) -> Result<PageLinks> {
        let sql = "SELECT s.url AS page, d.url AS link FROM page s LEFT JOIN link l ON l.src = s.id AND l.kind = 'a' \
                   LEFT JOIN page d ON d.id = l.dst WHERE s.status = 200 AND s.kind = 'HTML'";
        let mut ask = Command::new(self.orb);
        ask.args(["sql", "bench", sql, "--format", "json", "--home"]).arg(dir.0.join("home"));
        let answer: Value = serde_json::from_str(&told(&mut ask)?).context("orb sql --json")?;
        let mut links = PageLinks::new();
        for row in rows(&answer) {
            let field = |name: &str| row.get(name).and_then(Value::as_str);
            let Some(page) = field("page") else { continue };
            links.entry(page.to_owned()).or_default().extend(field("link").map(str::to_owned));
        }
        Ok(links)
    }
}

/// The rows of an answer, wherever it has them.
fn rows(answer: &Value) -> impl Iterator<Item = &Value> {
    let rows = answer.as_array().or_else(|| answer.get("rows").and_then(Value::as_array));
    rows.into_iter().flatten()
}

/// What a program prints, if it succeeds.
fn told(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn tabs() -> usize {
    cores() * TABS_A_CORE
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Loads the same pages with Playwright: pages a second, and the links of every page.
fn with_playwright(urls: &[String]) -> Result<(f64, PageLinks)> {
    let dir = BenchDir::new("playwright")?;
    let list = dir.write("urls", &urls.join("\n"))?;
    let mut command = Command::new(root().join("target/judges/bin/python"));
    command.arg(root().join("xtask/peers/with_playwright.py")).args([chromium()?, &tabs().to_string()]).arg(list);
    let began = Instant::now();
    let answer: Value = serde_json::from_str(&told(&mut command)?).context("with_playwright.py")?;
    let rate = urls.len() as f64 / began.elapsed().as_secs_f64();
    let found = answer["found"].as_object().context("with_playwright.py found nothing")?;
    let links = |page: &Value| {
        page["links"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Ok((rate, found.iter().map(|(url, page)| (url.clone(), links(page))).collect()))
}

/// The browser that `orb` finds first.
fn chromium() -> Result<&'static str> {
    let programs =
        ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
    programs.into_iter().find(|program| Path::new(program).is_file()).context("there is no Chromium")
}

/// The share of pages whose links are the same.
fn agreement(ours: &PageLinks, theirs: &PageLinks) -> f64 {
    let same = theirs.iter().filter(|(url, links)| ours.get(*url) == Some(links)).count();
    same as f64 / theirs.len().max(1) as f64
}

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    step("judges", || judges::ensure("judges", "tests/judges/requirements.txt"))?;
    let web = AppWeb::start(PAGES)?;
    let (urls, mixed) = (web.pages(PAGES / web.apps.len() as u32), web.mixed_pages());
    let orb = |urls, when| RenderedCrawl { orb: &wish.orb, urls, when }.run();
    let (mut rates, mut faster, mut spared) = (Vec::new(), Vec::new(), Vec::new());
    let mut same: f64 = 1.0;
    let mut table = format!(
        "### {} pages of applications, {} tabs, {} cores\n\n| round | orb, pages/s | Playwright | mixed site, always | auto |\n|---|---|---|---|---|\n",
        urls.len(),
        tabs(),
        cores()
    );
    for round in 1..=wish.rounds {
        let (ours, theirs) = (orb(&urls, "always")?, with_playwright(&urls)?);
        let (always, auto) = (orb(&mixed, "always")?.0, orb(&mixed, "auto")?.0);
        let row = format!("| {round} | {:.2} | {:.2} | {always:.2} | {auto:.2} |", ours.0, theirs.0);
        println!("    {row}");
        table += &(row + "\n");
        same = same.min(agreement(&ours.1, &theirs.1));
        rates.push(ours.0 / cores() as f64);
        faster.push(ours.0 / theirs.0);
        spared.push(auto / always);
    }
    let verdicts = [
        TargetVerdict::of("render: orb / Playwright", faster, FigureTarget::AtLeast(FASTER)),
        TargetVerdict::of("render: pages a second and core", rates, FigureTarget::AtLeast(A_CORE)),
        TargetVerdict::of("render: pages with the links that Playwright sees", [same], FigureTarget::AtLeast(1.0)),
        TargetVerdict::of("render: auto / always on a mixed site", spared, FigureTarget::AtLeast(SPARED)),
    ];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

/// What a long run took at its worst.
#[derive(Default)]
struct Upkeep {
    memory: u64,
    zombies: usize,
    stall: Duration,
}

/// Renders thousands of pages and watches the browser.
pub(super) fn upkeep(wish: &BenchOptions) -> Result<PartReport> {
    let mut web = AppWeb::start(LONG)?;
    let urls = web.pages(LONG.min(wish.pages) / web.apps.len() as u32);
    let dir = BenchDir::new("upkeep")?;
    let crawl = RenderedCrawl { orb: &wish.orb, urls: &urls, when: "always" };
    let began = Instant::now();
    let mut child = crawl.command(&dir)?.stdout(Stdio::null()).spawn().context("cannot start orb")?;
    let (mut worst, mut last, mut since) = (Upkeep::default(), 0, Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_secs(1));
        let (memory, zombies) = descendants(child.id());
        let requests = web.requests()?;
        if requests != last {
            (last, since) = (requests, Instant::now());
        }
        let stall = since.elapsed();
        worst = Upkeep {
            memory: worst.memory.max(memory),
            zombies: worst.zombies.max(zombies),
            stall: worst.stall.max(stall),
        };
    };
    ensure!(status.success(), "orb failed: {status}");
    let seconds = began.elapsed().as_secs_f64();
    let found = crawl.links(&dir)?;
    let missing = urls.iter().filter(|url| found.get(*url).is_none_or(BTreeSet::is_empty)).count();
    let megabytes = worst.memory as f64 / 1e6;
    let table = format!(
        "### {} pages of applications, one after the other\n\n| pages/s | browser, MB at most | zombies at most | longest stall, s | pages without links |\n\
         |---|---|---|---|---|\n| {:.2} | {megabytes:.0} | {} | {:.1} | {missing} |\n",
        urls.len(),
        urls.len() as f64 / seconds,
        worst.zombies,
        worst.stall.as_secs_f64()
    );
    let of =
        |what: &str, figure, most| TargetVerdict::of(format!("upkeep: {what}"), [figure], FigureTarget::AtMost(most));
    let verdicts = [
        of("MB of the browser", megabytes, MEMORY),
        // One that has just ended is there until it is waited for.
        of("zombies that stay", worst.zombies as f64, 0.0),
        of("longest stall in seconds", worst.stall.as_secs_f64(), STALL),
        of("pages that were not rendered", missing as f64, 0.0),
    ];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

/// Memory (proportional) of everything that a process has started, and the zombies among it that
/// are still there a moment later.
fn descendants(pid: u32) -> (u64, usize) {
    let below = family(pid);
    let memory = below.iter().filter_map(|(pid, _)| proportional(*pid)).sum();
    let dead: Vec<u32> = below.iter().filter(|(_, state)| *state == 'Z').map(|(pid, _)| *pid).collect();
    if dead.is_empty() {
        return (memory, 0);
    }
    std::thread::sleep(Duration::from_secs(2));
    let still = family(pid).into_iter().filter(|(pid, state)| *state == 'Z' && dead.contains(pid)).count();
    (memory, still)
}

/// The processes below one, with their states.
fn family(pid: u32) -> Vec<(u32, char)> {
    let all: Vec<(u32, u32, char)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let state = fields.next()?.chars().next()?;
            Some((pid, fields.next()?.parse().ok()?, state))
        })
        .collect();
    let (mut below, mut from) = (Vec::new(), vec![pid]);
    while let Some(parent) = from.pop() {
        for (child, _, state) in all.iter().filter(|(_, of, _)| *of == parent) {
            below.push((*child, *state));
            from.push(*child);
        }
    }
    below
}

/// The memory of a process, its share of what is shared.
fn proportional(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
