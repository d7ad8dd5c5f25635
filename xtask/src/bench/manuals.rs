//! What does the text index cost a crawl of real pages?
//!
//! Two documentations from Debian packages, served from this process, are crawled with and without
//! the index, in turn. Their pages are unlike those of a synthetic web: long, with many words of
//! their own, and with menus that every page repeats.

#[path = "../../../tests/harness/site.rs"]
#[allow(clippy::unwrap_used, dead_code, reason = "it is the server of the tests")]
mod site;

use super::verdict::{FigureTarget, TargetVerdict};
use super::web::number_field;
use super::{BenchOptions, PartReport};
use anyhow::{Context, Result, ensure};
use site::Site;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The minimum share of the rate with the index.
const WANTED: f64 = 0.5;

/// The documentations: a name, the directory, where to start.
const MANUALS: [(&str, &str, &str); 2] = [
    ("python", "/usr/share/doc/python3-doc/html", "/"),
    ("cppreference", "/usr/share/cppreference/doc/html", "/en/index.html"),
];

/// One crawl.
struct ManualCrawl {
    pages: u64,
    seconds: f64,
}

impl ManualCrawl {
    fn rate(&self) -> f64 {
        self.pages as f64 / self.seconds.max(0.001)
    }
}

/// The rates with and without, on each documentation that is installed.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let mut table = String::from("| documentation | pages | pages/s with the index | without |\n|---|---|---|---|\n");
    let mut verdicts = Vec::new();
    for (name, root, start) in MANUALS {
        ensure!(Path::new(root).is_dir(), "{root} is missing; `cargo xtask setup` installs it");
        let site = Site::serve(Path::new(root));
        let mut ratios = Vec::new();
        for _ in 0..wish.rounds {
            let without = crawl(&wish.orb, &site.url(start), &["--no-index"])?;
            let with = crawl(&wish.orb, &site.url(start), &[])?;
            ensure!(with.pages == without.pages, "{name}: {} pages, then {}", without.pages, with.pages);
            table += &format!("| {name} | {} | {:.0} | {:.0} |\n", with.pages, with.rate(), without.rate());
            ratios.push(with.rate() / without.rate());
        }
        let what = format!("{name}: pages/s with the index / without");
        verdicts.extend(TargetVerdict::of(what, ratios, FigureTarget::AtLeast(WANTED)));
    }
    Ok(PartReport { tables: vec![table], verdicts })
}

fn crawl(build: &Path, url: &str, flags: &[&str]) -> Result<ManualCrawl> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-manual", std::process::id()));
    let mut command = Command::new(build);
    command.args(["crawl", url, "--project", "bench", "--delay", "0", "--json", "--progress", "none"]);
    command.args(flags).arg("--home").arg(&dir).stdin(Stdio::null());
    let began = Instant::now();
    let output = command.output().context("cannot start orb")?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let pages = number_field(&told, "pages").with_context(|| format!("no pages in {told}"))?;
    Ok(ManualCrawl { pages, seconds })
}
