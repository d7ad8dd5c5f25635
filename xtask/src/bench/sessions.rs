//! How fast are session ids found?
//!
//! The bench of `urls` times recorded links and pages of three hundred.

use super::PartReport;
use super::verdict::{FigureTarget, TargetVerdict};
use crate::steps::root;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Maximum microseconds for a pair of links.
const PAIR: f64 = 10.0;

/// Maximum microseconds for a page of three hundred links.
const PAGE: f64 = 1_000.0;

/// The figures of the bench.
pub(super) fn measured() -> Result<PartReport> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let bench = ["bench", "-q", "-p", "orb-urls", "--bench", "sessions"];
    let output = Command::new(cargo).args(bench).current_dir(root()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the bench failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let mut report = PartReport::default();
    let mut table = "### Session ids\n\n| what | µs |\n|---|---|\n".to_owned();
    for (what, micros) in told.lines().filter_map(|line| line.split_once('\t')) {
        table += &format!("| {what} | {micros} |\n");
        let most = if what.starts_with("pair") { PAIR } else { PAGE };
        report.verdicts.extend(TargetVerdict::of(
            format!("µs: {what}"),
            micros.parse().ok(),
            FigureTarget::AtMost(most),
        ));
    }
    report.tables.push(table);
    Ok(report)
}
