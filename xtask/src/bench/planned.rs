//! Does the plan of a crawl say what it then takes?
//!
//! A small crawl is measured, twenty thousand pages are planned from it, and then crawled. What
//! every store takes on the disk is held against what was planned for it.

use super::tools::crawl_of;
use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Pages of the crawl that is measured.
const FEW: u32 = 1_000;

/// By how much a part may differ from its plan.
const WITHIN: f64 = 0.2;

/// What lies where in a project, and which shares of the plan it is.
const PLACES: [(&[&str], &[&str]); 5] = [
    (&["warc"], &["WARC"]),
    (&["crawl.db"], &["catalogue", "links"]),
    (&["frontier", "keys"], &["frontier index"]),
    (&["index"], &["text index"]),
    (&["graph"], &["graph", "graph, transposed", "graph, URLs", "graph, ranks"]),
];

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-plan", std::process::id()));
    let compared = compare(wish, &dir.join("few"), &dir.join("many"));
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    compared
}

fn compare(wish: &BenchOptions, few: &Path, many: &Path) -> Result<PartReport> {
    let web = BenchWeb::start((10, FEW / 10), FEW)?;
    collect(&wish.orb, &web, few)?;
    let web = BenchWeb::start((200, 100), wish.pages)?;
    let pages = web.pages().to_string();
    let plan = orb(&wish.orb, few, &["plan", "--json", "--pages", &pages])?;
    let plan: Value = serde_json::from_slice(&plan).context("the plan")?;
    collect(&wish.orb, &web, many)?;
    let mut table = String::from("| part | planned | taken | planned / taken |\n|---|---|---|---|\n");
    let mut verdicts = Vec::new();
    for (places, shares) in PLACES {
        let name = shares[0];
        let planned: f64 = shares.iter().map(|share| planned(&plan, share)).sum();
        let taken = places.iter().map(|place| size(&many.join("bench").join(place))).sum::<u64>() as f64;
        table += &format!("| {name} | {planned:.0} | {taken:.0} | {:.2} |\n", planned / taken);
        let what = format!("plan: {name}, how far from what was taken");
        verdicts.extend(TargetVerdict::of(what, [(planned / taken - 1.0).abs()], FigureTarget::AtMost(WITHIN)));
    }
    Ok(PartReport { tables: vec![table], verdicts })
}

/// Crawls a web with everything there is, and builds its graph.
fn collect(build: &Path, web: &BenchWeb, home: &Path) -> Result<()> {
    let all = crawl_of(web, home).into_iter().filter(|arg| arg != "--no-index");
    run(Command::new(build).args(all))?;
    orb(build, home, &["graph", "build", "bench"]).map(drop)
}

fn planned(plan: &Value, share: &str) -> f64 {
    let shares = plan["disk"].as_array().into_iter().flatten();
    shares.filter(|one| one["store"] == share).filter_map(|one| one["bytes"].as_f64()).sum()
}

fn orb(build: &Path, home: &Path, args: &[&str]) -> Result<Vec<u8>> {
    run(Command::new(build).args(args).arg("--home").arg(home))
}

fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().context("cannot start orb")?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// The bytes of a file, or of everything in a directory.
fn size(path: &Path) -> u64 {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| size(&entry.path())).sum(),
        Err(_) => std::fs::metadata(path).map_or(0, |m| m.len()),
    }
}
