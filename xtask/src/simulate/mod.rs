//! What happens at sizes that no test machine has, and in histories that no test could stage?
//!
//! `scale` is in here. `protocol` is the crate `simulation`, which needs the frontier and the store
//! and is therefore built for itself: this program stays small.

mod scale;
mod web;

use crate::steps::cargo;
use anyhow::{Context, Result, bail};

/// How many histories are played in a night.
pub(crate) const NIGHT: u64 = 10_000;

/// `simulate scale` and `simulate protocol`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args.split_first().map(|(what, rest)| (what.as_str(), rest)) {
        Some(("scale", rest)) => {
            let [hosts, seed] = numbers(rest, [("--hosts", 10_000_000), ("--seed", 1)])?;
            scale::scale(u32::try_from(hosts).context("so many hosts cannot be numbered")?, seed);
            Ok(())
        }
        Some(("protocol", rest)) => {
            // A seed by itself is one history, played again.
            let one = rest.iter().any(|arg| arg == "--seed") && !rest.iter().any(|arg| arg == "--seeds");
            let [seeds, seed] = numbers(rest, [("--seeds", if one { 1 } else { NIGHT }), ("--seed", 0)])?;
            protocol(seeds, seed)
        }
        _ => bail!("simulate what? There are scale (--hosts N --seed N) and protocol (--seeds N --seed N)"),
    }
}

/// Plays so many histories, from this seed on.
pub(crate) fn protocol(seeds: u64, first: u64) -> Result<()> {
    let (first, seeds) = (first.to_string(), seeds.to_string());
    cargo(&["run", "--quiet", "--release", "-p", "orb-simulation", "--", &first, &seeds])
}

/// The values of two options, each with a number.
fn numbers(args: &[String], mut options: [(&str, u64); 2]) -> Result<[u64; 2]> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let [(first, _), (second, _)] = options;
        let Some((_, place)) = options.iter_mut().find(|(name, _)| *name == arg.as_str()) else {
            bail!("{arg} is neither {first} nor {second}")
        };
        let value = args.next().with_context(|| format!("{arg} needs a number"))?;
        *place = value.parse().with_context(|| format!("{arg} needs a number, not {value}"))?;
    }
    Ok(options.map(|(_, value)| value))
}
