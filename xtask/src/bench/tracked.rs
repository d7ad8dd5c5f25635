//! What does it cost to find that nothing has changed?
//!
//! A site of pages with validators is crawled and then tracked, with archive and links on. The rate
//! and the bytes of the second run are compared with those of the first.

use super::tools::crawl_of;
use super::verdict::{FigureTarget, NO_SLOWER, TargetVerdict};
use super::web::{BenchWeb, number_field};
use super::{BenchOptions, PartReport};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Target speed relative to the first crawl.
const FASTER: f64 = 3.0;

/// Maximum share of the first crawl's bytes.
const BYTES: f64 = 0.05;

/// The figures a run reports.
struct TrackedFigures {
    rate: f64,
    bytes: f64,
    same: u64,
}

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let (mut faster, mut less) = (Vec::new(), Vec::new());
    let mut than_base = [Vec::new(), Vec::new()];
    let mut table = String::from("| run | pages/s | bytes |\n|---|---|---|\n");
    let mut row =
        |name: &str, run: &TrackedFigures| table += &format!("| {name} | {:.0} | {:.0} |\n", run.rate, run.bytes);
    for _ in 0..wish.rounds {
        let [first, second] = site(wish, &wish.orb)?;
        row("crawl", &first);
        row("track", &second);
        if let Some(base) = &wish.against {
            let [base_first, base_second] = site(wish, base)?;
            row("crawl, base", &base_first);
            row("track, base", &base_second);
            than_base[0].push(first.rate / base_first.rate);
            than_base[1].push(second.rate / base_second.rate);
        }
        faster.push(second.rate / first.rate);
        less.push(second.bytes / first.bytes);
    }
    let [crawl, track] = than_base;
    let verdicts = [
        TargetVerdict::of("track: pages/s of the first crawl, orb / base", crawl, NO_SLOWER),
        TargetVerdict::of("track: pages/s, orb / base", track, NO_SLOWER),
        TargetVerdict::of(
            "track: pages/s / those of the first crawl".to_owned(),
            faster,
            FigureTarget::AtLeast(FASTER),
        ),
        TargetVerdict::of("track: bytes / those of the first crawl".to_owned(), less, FigureTarget::AtMost(BYTES)),
    ];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

/// Crawls a site and tracks it with this build.
fn site(wish: &BenchOptions, build: &Path) -> Result<[TrackedFigures; 2]> {
    let web = BenchWeb::with_validators((1, 20_000), wish.pages)?;
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-track", std::process::id()));
    let runs = both(&web, &dir, build);
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    let runs = runs?;
    if runs[1].same != web.pages() as u64 {
        bail!("{} of {} pages were found unchanged", runs[1].same, web.pages());
    }
    Ok(runs)
}

fn both(web: &BenchWeb, dir: &Path, build: &Path) -> Result<[TrackedFigures; 2]> {
    let crawl = crawl_of(web, dir);
    let home = dir.to_string_lossy().into_owned();
    let track = ["track", "bench", "--quiet", "--home", &home].map(str::to_owned);
    Ok([account(build, &crawl)?, account(build, &track)?])
}

fn account(build: &Path, args: &[String]) -> Result<TrackedFigures> {
    let began = Instant::now();
    let output = Command::new(build).args(args).arg("--json").output().context("cannot start orb")?;
    let seconds = began.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("orb {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let number = |name: &str| number_field(&told, name).with_context(|| format!("no {name} in {told}"));
    let (pages, bytes) = (number("pages")?, number("bytes")?);
    Ok(TrackedFigures { rate: pages as f64 / seconds, bytes: bytes as f64, same: number("SAM")? })
}
