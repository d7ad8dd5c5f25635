//! What did one crawl cost, and how much did it find?

use super::tools::Tool;
use super::web::{BenchWeb, RequestsSeen};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wait4::{ResUse, ResourceUsage, Wait4};

/// A crawler that neither makes requests nor uses CPU for this long has stalled and is killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(250);

/// The figures of one crawl.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    wall: Duration,
    cpu: Duration,
    peak_rss: u64,
    /// What the web saw of it.
    pub(super) seen: RequestsSeen,
    stalled: bool,
}

impl Figures {
    /// Pages per second over this time.
    fn over(&self, time: Duration) -> f64 {
        self.seen.pages as f64 / time.as_secs_f64().max(0.001)
    }

    /// Pages per second, including closing the stores; for a tool that does not exit, while it made
    /// requests.
    pub(super) fn rate(&self) -> f64 {
        self.over(if self.stalled { self.seen.span } else { self.wall })
    }

    /// Pages per second from the first request to the last.
    pub(super) fn fetching(&self) -> f64 {
        self.over(self.seen.span)
    }

    /// CPU time per page in microseconds.
    pub(super) fn cpu_per_page(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.seen.pages.max(1) as f64
    }

    /// The cells of a table row.
    pub(super) fn row(&self, all: usize) -> String {
        let share = self.seen.pages as f64 * 100.0 / all as f64;
        let end = if self.stalled { "stalled".to_owned() } else { format!("{:.0}", self.rate()) };
        let (fetching, cpu, rss) = (self.fetching(), self.cpu_per_page(), self.peak_rss as f64 / 1e6);
        let RequestsSeen { pages, requests, handshakes: [full, resumed], .. } = self.seen;
        format!(
            "{end} | {fetching:.0} | {cpu:.0} | {rss:.0} | {pages} ({share:.1} %) | {requests} | {full} + {resumed}"
        )
    }
}

/// The column headings.
const HEADS: &[&str] = &[
    "pages/s to the end",
    "while fetching",
    "CPU µs a page",
    "peak RSS MB",
    "pages found",
    "requests",
    "TLS handshakes, full + resumed",
];

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, rate, pages) = (self.wall.as_secs_f64(), self.rate(), self.seen.pages);
        let (cpu, rss) = (self.cpu_per_page(), self.peak_rss as f64 / 1e6);
        let stalled = if self.stalled { ", stalled" } else { "" };
        write!(f, "{pages} pages in {wall:.1} s: {rate:.0} a second, {cpu:.0} µs CPU a page, {rss:.0} MB{stalled}")
    }
}

/// Runs a tool (ours with this build) on a web in an empty directory, which is removed afterwards
/// in any case.
pub(super) fn run(tool: &Tool, web: &BenchWeb, build: &Path) -> Result<Figures> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-{}", std::process::id(), tool.name));
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let figures = (tool.command)(web, &dir, build).and_then(|command| crawl(command, tool.name, web));
    fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    figures
}

/// Runs a crawler on a web and says what it used and found.
pub(super) fn crawl(mut command: Command, name: &str, web: &BenchWeb) -> Result<Figures> {
    web.reset()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
    let pid = child.id();
    let (sender, end) = channel();
    // Some of them exit with an error because robots.txt is missing; what counts is what the web
    // saw.
    std::thread::spawn(move || sender.send((child.wait4(), start.elapsed())));
    let (used, wall, stalled) = wait(&end, pid, web)?;
    let seen = web.seen()?;
    if seen.pages == 0 {
        bail!("{name} found nothing");
    }
    Ok(Figures { wall, cpu: used.utime + used.stime, peak_rss: used.maxrss, seen, stalled })
}

/// How a crawler ended, and when.
type CrawlerExit = (std::io::Result<ResUse>, Duration);

/// Waits for a crawler to exit, and kills it if it has stalled.
fn wait(end: &Receiver<CrawlerExit>, pid: u32, web: &BenchWeb) -> Result<(ResourceUsage, Duration, bool)> {
    let (mut done, mut since, mut stalled) = ((0, 0), Instant::now(), false);
    loop {
        match end.recv_timeout(LOOK) {
            Ok((used, wall)) => return Ok((used?.rusage, wall, stalled)),
            Err(RecvTimeoutError::Disconnected) => bail!("a crawler was lost"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = (web.requests()?, worked(pid));
        if now != done {
            (done, since) = (now, Instant::now());
        } else if since.elapsed() > PATIENCE && !stalled {
            stalled = true;
            crate::steps::run("kill", &["-KILL", &pid.to_string()])?;
        }
    }
}

/// Whole seconds of CPU time used by a process, from the kernel's hundredths; 0 if it has exited.
fn worked(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The program's name is in brackets and may contain anything; times are fields 14 and 15.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() / 100
}

/// The round with the median rate.
pub(super) fn median<'a>(figures: impl Iterator<Item = &'a Figures>) -> Option<Figures> {
    let mut figures: Vec<Figures> = figures.copied().collect();
    figures.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    figures.get(figures.len() / 2).copied()
}

/// A Markdown table, with a row for each that has figures.
pub(super) fn table<'a>(title: &str, all: usize, rows: impl Iterator<Item = (&'a str, Figures)>) -> String {
    let (heads, rule) = (HEADS.join(" | "), "---|".repeat(HEADS.len() + 1));
    let rows: String = rows.map(|(name, figures)| format!("| {name} | {} |\n", figures.row(all))).collect();
    format!("### {title}\n\n| tool | {heads} |\n|{rule}\n{rows}")
}
