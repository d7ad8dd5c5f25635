//! How do the parsers of untrusted bytes handle unexpected input?
//!
//! libFuzzer drives each target of `fuzz/` for some minutes, starting from its corpus. New inputs
//! go below `target/fuzz`, so that the corpora in the repository stay small; what breaks a property
//! goes into `fuzz/artifacts`, and once fixed, into the corpus.

use crate::steps::{root, run, step, succeeds};
use anyhow::{Context, Result, bail};
use std::fs;

/// Seconds per target.
const SECONDS: u64 = 600;
/// An input that exceeds these limits, in seconds or megabytes, is a finding.
const LIMITS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=4096"];
/// Link-time optimisation would cost minutes per target and finds nothing; overflow checks do.
const BUILD: [&str; 9] = [
    "CARGO_PROFILE_RELEASE_LTO=off",
    "cargo",
    "+nightly",
    "fuzz",
    "run",
    "--fuzz-dir=fuzz",
    "--features=libfuzzer",
    "--sanitizer=none",
    "--debug-assertions",
];

/// The command line options.
struct FuzzOptions {
    seconds: u64,
    targets: Vec<String>,
}

impl FuzzOptions {
    /// Parses `--seconds N` and target names; all targets if none is named.
    fn read(args: &[String]) -> Result<Self> {
        let known = targets()?;
        let mut wish = Self { seconds: SECONDS, targets: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--seconds" => {
                    wish.seconds = args.next().context("--seconds needs a value")?.parse().context("--seconds")?;
                }
                name if known.iter().any(|target| target == name) => wish.targets.push(name.to_owned()),
                other => bail!("no flag and no target: {other}; the targets are {}", known.join(", ")),
            }
        }
        if wish.targets.is_empty() {
            wish.targets = known;
        }
        Ok(wish)
    }
}

/// Runs the targets in turn; the first finding ends it.
pub(crate) fn run_targets(args: &[String]) -> Result<()> {
    let wish = FuzzOptions::read(args)?;
    if !succeeds("cargo", &["+nightly", "fuzz", "--version"]) {
        bail!("needed and not there: rustup toolchain install nightly && cargo install cargo-fuzz");
    }
    let time = format!("-max_total_time={}", wish.seconds);
    for target in &wish.targets {
        let found = format!("target/fuzz/{target}");
        fs::create_dir_all(root().join(&found)).with_context(|| format!("cannot make {found}"))?;
        let corpus = format!("fuzz/corpus/{target}");
        let mut args = BUILD.to_vec();
        args.extend([target, &found, &corpus, "--", &time, "-print_final_stats=1"]);
        args.extend(LIMITS);
        step(target, || run("env", &args))?;
    }
    Ok(())
}

/// The names of the targets, in order.
fn targets() -> Result<Vec<String>> {
    let dir = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))? {
        names.extend(entry?.path().file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
