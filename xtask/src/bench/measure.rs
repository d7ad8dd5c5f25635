//! What did one crawl cost, and how much did it find?

use super::tools::Tool;
use super::web::BenchWeb;
use anyhow::{Context, Result};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};
use wait4::Wait4;

/// The figures of one crawl.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    wall: Duration,
    cpu: Duration,
    peak_rss: u64,
    pages: usize,
    requests: usize,
}

impl Figures {
    fn rate(&self) -> f64 {
        self.pages as f64 / self.wall.as_secs_f64()
    }

    fn cpu_per_thousand(&self) -> f64 {
        self.cpu.as_secs_f64() * 1_000.0 / self.pages.max(1) as f64
    }

    fn rss_mb(&self) -> f64 {
        self.peak_rss as f64 / 1e6
    }

    /// The cells of a table.
    pub(super) fn row(&self, all: usize) -> String {
        let share = self.pages as f64 * 100.0 / all as f64;
        let (rate, cpu, rss) = (self.rate(), self.cpu_per_thousand(), self.rss_mb());
        format!("{rate:.0} | {cpu:.3} | {rss:.0} | {} ({share:.1} %) | {}", self.pages, self.requests)
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, rate, cpu) = (self.wall.as_secs_f64(), self.rate(), self.cpu_per_thousand());
        write!(
            f,
            "{wall:6.1} s, {rate:6.0} pages/s, {cpu:.3} CPU s/1,000, {:.0} MB, {} pages",
            self.rss_mb(),
            self.pages
        )
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
    // Some of them end with an error because robots.txt is missing; what counts is what the web saw.
    let used = child.wait4()?.rusage;
    let wall = start.elapsed();
    let seen = web.seen()?;
    fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    Ok(Figures {
        wall,
        cpu: used.utime + used.stime,
        peak_rss: used.maxrss,
        pages: seen.pages,
        requests: seen.requests,
    })
}

/// The round with the median rate.
pub(super) fn median(figures: &mut [Figures]) -> Option<Figures> {
    figures.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    figures.get(figures.len() / 2).copied()
}
