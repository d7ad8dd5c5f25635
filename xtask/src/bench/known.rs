//! Does the crawler slow down or grow when it knows a million URLs?
//!
//! A host of more than a million pages, crawled in two runs of one project: the rate of the second,
//! which knows almost all URLs from the beginning, relative to the first. The pages' 40 links are
//! spread over the whole host, so after 100,000 pages nearly all are known.

use super::BenchOptions;
use super::web::{BenchWeb, number_field};
use anyhow::{Context, Result};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use wait4::Wait4;

const PAGES: u32 = 1_100_000;

/// The figures of one run.
struct RunFigures {
    pages: u64,
    discovered: u64,
    rate: f64,
    peak_rss: u64,
}

/// The table of both runs.
pub(super) fn measured(wish: &BenchOptions) -> Result<String> {
    let web = BenchWeb::start((1, PAGES), PAGES)?;
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-known", std::process::id()));
    let runs = crawl(wish, &web, &dir, 100_000).and_then(|first| Ok([first, crawl(wish, &web, &dir, 50_000)?]));
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    let mut table = "### a million known URLs\n\n| pages fetched | URLs known at the end | pages/s | peak RSS MB |\n|---|---|---|---|\n".to_owned();
    let mut known = 0;
    for run in runs? {
        known += run.discovered;
        let rss = run.peak_rss as f64 / 1e6;
        table += &format!("| {} | {known} | {:.0} | {rss:.0} |\n", run.pages, run.rate);
    }
    Ok(table)
}

fn crawl(wish: &BenchOptions, web: &BenchWeb, dir: &Path, pages: u32) -> Result<RunFigures> {
    let mut child = Command::new(&wish.orb)
        .args([
            "crawl",
            &web.seed(),
            "--project",
            "bench",
            "--delay",
            "0",
            "--no-index",
            "--json",
            "--progress",
            "none",
        ])
        .args(["--max-pages", &pages.to_string(), "--home"])
        .arg(dir)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start orb")?;
    let mut account = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut account)?;
    }
    let used = child.wait4()?.rusage;
    let field = |name: &str| number_field(&account, name).with_context(|| format!("no {name} in {account}"));
    Ok(RunFigures {
        pages: field("pages")?,
        discovered: field("discovered")?,
        rate: rate(&account)?,
        peak_rss: used.maxrss,
    })
}

fn rate(account: &str) -> Result<f64> {
    let text = account.split("\"pages_per_second\":").nth(1).and_then(|t| t.split([',', '}']).next());
    text.and_then(|t| t.trim().parse().ok()).with_context(|| format!("no rate in {account}"))
}
