//! What did one crawl cost, and how much did it find?

use super::tools::Tool;
use super::web::{BenchWeb, Seen};
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wait4::{ResUse, ResourceUsage, Wait4};

/// A crawler that neither asks for anything nor works for so long has stalled, and is ended.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often to look.
const LOOK: Duration = Duration::from_millis(250);

/// The figures of one crawl.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    wall: Duration,
    cpu: Duration,
    peak_rss: u64,
    seen: Seen,
    stalled: bool,
}

impl Figures {
    /// Pages a second, over the time in which there were requests, or to the end.
    fn rate(&self, time: Duration) -> f64 {
        self.seen.pages as f64 / time.as_secs_f64().max(0.001)
    }

    fn cpu_per_thousand(&self) -> f64 {
        self.cpu.as_secs_f64() * 1_000.0 / self.seen.pages.max(1) as f64
    }

    fn rss_mb(&self) -> f64 {
        self.peak_rss as f64 / 1e6
    }

    /// The cells of a table.
    pub(super) fn row(&self, all: usize) -> String {
        let share = self.seen.pages as f64 * 100.0 / all as f64;
        let end = if self.stalled { "stalled".to_owned() } else { format!("{:.0}", self.rate(self.wall)) };
        let (fetching, cpu, rss) = (self.rate(self.seen.span), self.cpu_per_thousand(), self.rss_mb());
        let Seen { pages, requests, .. } = self.seen;
        format!("{end} | {fetching:.0} | {cpu:.3} | {rss:.0} | {pages} ({share:.1} %) | {requests}")
    }
}

/// The heads of the cells.
pub(super) const HEADS: &[&str] =
    &["pages/s to the end", "while fetching", "CPU s per 1,000 pages", "peak RSS MB", "pages found", "requests"];

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, span) = (self.wall.as_secs_f64(), self.seen.span.as_secs_f64());
        let (cpu, rss, pages) = (self.cpu_per_thousand(), self.rss_mb(), self.seen.pages);
        let stalled = if self.stalled { ", stalled" } else { "" };
        write!(f, "{pages} pages in {wall:.1} s ({span:.1} s of requests), {cpu:.3} CPU s/1,000, {rss:.0} MB{stalled}")
    }
}

/// Lets a tool crawl a web into an empty directory, which is removed afterwards.
pub(super) fn run(tool: &Tool, web: &BenchWeb) -> Result<Figures> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-{}", std::process::id(), tool.name));
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    web.reset()?;
    let mut command = (tool.command)(web, &dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", tool.name))?;
    let pid = child.id();
    let (sender, end) = channel();
    // Some of them end with an error because robots.txt is missing; what counts is what the web saw.
    std::thread::spawn(move || sender.send((child.wait4(), start.elapsed())));
    let (used, wall, stalled) = wait(&end, pid, web)?;
    let seen = web.seen()?;
    fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    Ok(Figures { wall, cpu: used.utime + used.stime, peak_rss: used.maxrss, seen, stalled })
}

/// How a crawler ended, and when.
type End = (std::io::Result<ResUse>, Duration);

/// Waits for the end of a crawler, and brings it about where it has stalled.
fn wait(end: &Receiver<End>, pid: u32, web: &BenchWeb) -> Result<(ResourceUsage, Duration, bool)> {
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

/// Whole seconds of processor time a process has used, by the kernel's hundredths; 0 where it has ended.
fn worked(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program stands in brackets and may hold anything; times are fields 14 and 15.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() / 100
}

/// The round with the median time.
pub(super) fn median(figures: &mut [Figures]) -> Option<Figures> {
    figures.sort_by_key(|one| one.wall);
    figures.get(figures.len() / 2).copied()
}
