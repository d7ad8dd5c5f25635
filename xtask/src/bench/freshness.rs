//! How fresh is a collection under different visiting policies?

use super::verdict::{FigureTarget, TargetVerdict};
use super::{BenchOptions, PartReport};
use crate::steps::root;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The mixes, and whether the gain on it has a target.
const MIXES: [(&str, bool); 2] = [("freshness-mix", true), ("freshness-web", false)];

/// Compares visiting policies on the mixes in `examples`.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let mut report = PartReport::default();
    for (name, judged) in MIXES {
        let account = compared(&wish.orb, name)?;
        let optimum = account["optimum"].as_f64().context("no optimum")?;
        let mut table =
            format!("| {name} | fresh | against uniform | of the optimum | age, days |\n|---|---|---|---|---|\n");
        for row in account["policies"].as_array().context("no policies")? {
            let figure = |key: &str| row[key].as_f64().with_context(|| format!("no {key}"));
            let (policy, fresh) = (row["policy"].as_str().unwrap_or_default(), figure("freshness")?);
            let (gain, share) = (figure("against_uniform")?, fresh / optimum);
            table += &format!("| {policy} | {fresh:.3} | {gain:.3} | {share:.3} | {:.1} |\n", figure("age")?);
            if policy == "known" {
                let what = format!("freshness with known rates / optimum, {name}");
                report.verdicts.extend(TargetVerdict::of(what, [share], FigureTarget::AtLeast(0.99)));
            }
            if judged && ["known", "learning"].contains(&policy) {
                let what = format!("freshness, {policy} / uniform, {name}");
                report.verdicts.extend(TargetVerdict::of(what, [gain], FigureTarget::AtLeast(1.25)));
            }
        }
        report.tables.push(table);
    }
    Ok(report)
}

fn compared(orb: &Path, name: &str) -> Result<Value> {
    let mix = root().join("examples").join(format!("{name}.toml"));
    let output = Command::new(orb).args(["track", "--simulate", "--json", "--history"]).arg(&mix).output()?;
    if !output.status.success() {
        bail!("orb track --simulate failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
