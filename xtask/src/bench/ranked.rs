//! How many arcs per second does PageRank follow?
//!
//! The graph's own bench builds a graph of fifty million arcs with web-like locality and ranks it;
//! one figure has a target.

use super::PartReport;
use super::verdict::{FigureTarget, TargetVerdict};
use crate::steps::root;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Target: million arcs per second and core in a PageRank iteration.
const WANTED: f64 = 20.0;

/// The figures of the graph's bench.
pub(super) fn measured() -> Result<PartReport> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let bench = ["bench", "-q", "-p", "orb-graph", "--bench", "ranks", "--", "--arcs", "50"];
    let output = Command::new(cargo).args(bench).current_dir(root()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the bench failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let mut table = "### Ranks of a web-like graph of 50 million links\n\n".to_owned();
    for line in told.lines().filter(|line| !line.is_empty() && !line.starts_with("speed ")) {
        table += &format!("- {line}\n");
    }
    let speed = told.lines().find_map(|line| line.strip_prefix("speed ")?.parse().ok());
    let what = "million arcs a second and core in a round of PageRank";
    Ok(PartReport {
        tables: vec![table],
        verdicts: TargetVerdict::of(what, speed, FigureTarget::AtLeast(WANTED)).into_iter().collect(),
    })
}
