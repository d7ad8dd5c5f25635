//! What does a crawl cost with fifty million known URLs, and how fast does one with ten million
//! resume?
//!
//! `growth` is the store's own bench, which grows a project through the public API and measures
//! windows of ordinary pages. `restart` grows a project to ten million URLs, leaves it as a killed
//! process does, and starts the program on it repeatedly: after a crash, after `kill -9` under
//! load, and after a clean shutdown. The measure is the time until the server sees the first
//! request.

use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use crate::steps::{cargo, run, step};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Known URLs of the project that is restarted, in millions.
const KNOWN: &str = "10";
/// A start that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the store's bench, which prints and judges; first that of the base build, which is not
/// judged.
pub(super) fn growth(wish: &BenchOptions) -> Result<PartReport> {
    let bench = ["bench", "-p", "orb-store", "--bench", "growth"];
    let sizes = ["--", "--sizes", "1,10,33,50"];
    match (&wish.base_tree, &wish.against) {
        (Some(tree), _) => {
            let [manifest, target] =
                ["Cargo.toml", "target"].map(|name| tree.join(name).to_string_lossy().into_owned());
            let there = ["--manifest-path", &manifest, "--target-dir", &target];
            let judged = step("the base", || cargo(&[&bench[..], &there, &sizes].concat()));
            if let Err(error) = judged {
                println!("    the base: {error:#}");
            }
        }
        (None, Some(_)) => {
            println!("    the store is grown by its own bench: name the base by its tree to measure it, too");
        }
        (None, None) => {}
    }
    cargo(&[&bench[..], &sizes].concat())?;
    Ok(PartReport::default())
}

/// Runs the store's bench of shared projects, which starts a PostgreSQL of its own, prints and
/// judges: with 1 and 10 million URLs, and if there is time with 50 million.
pub(super) fn shared(wish: &BenchOptions) -> Result<PartReport> {
    let sizes: &[&str] = if wish.slow { &["--", "1", "10", "50"] } else { &[] };
    let bench: &[&str] = &["bench", "-p", "orb-store", "--bench", "shared"];
    cargo(&[bench, sizes].concat())?;
    Ok(PartReport::default())
}

/// The table of starts.
pub(super) fn restart(wish: &BenchOptions) -> Result<PartReport> {
    let home = std::env::temp_dir().join(format!("orb-bench-{}-grown", std::process::id()));
    let table = starts(&home, wish);
    std::fs::remove_dir_all(&home).with_context(|| format!("cannot remove {}", home.display()))?;
    table
}

fn starts(home: &Path, wish: &BenchOptions) -> Result<PartReport> {
    let web = BenchWeb::start((1, 100), 100)?;
    let project = home.join("grown");
    std::fs::create_dir_all(&project)?;
    let settings = format!(
        "name = \"grown\"\nseeds = [\"http://www.notes-1.test/\"]\n[scope]\nmode = \"any\"\n[fetch]\nproxy = \"{}\"\n# end of the settings\n",
        web.seed().trim_end_matches('/')
    );
    std::fs::write(project.join("project.toml"), settings)?;
    let place = home.to_str().context("the temporary directory has no plain name")?;
    cargo(&[
        "bench",
        "-p",
        "orb-store",
        "--bench",
        "growth",
        "--",
        "--sizes",
        KNOWN,
        "--window",
        "1000",
        "--home",
        place,
    ])?;
    let mut table =
        format!("### {KNOWN} million known URLs: from the start to the first request\n\n| after | s |\n|---|---|\n");
    let mut verdicts = Vec::new();
    for (after, signal) in
        [("a crash while it grew", "-KILL"), ("kill -9 under load", "-TERM"), ("an orderly end", "-KILL")]
    {
        let (mut process, took) = first_request(home, &web, &wish.orb)?;
        // A few more commits, so that there is something to lose.
        std::thread::sleep(Duration::from_secs(5));
        run("kill", &[signal, &process.id().to_string()])?;
        process.wait()?;
        table += &format!("| {after} | {:.2} |\n", took.as_secs_f64());
        let what = format!("seconds to the first request after {after}");
        verdicts.extend(TargetVerdict::of(what, [took.as_secs_f64()], FigureTarget::AtMost(5.0)));
    }
    Ok(PartReport { tables: vec![table], verdicts })
}

/// Starts the program and waits for its first request.
fn first_request(home: &Path, web: &BenchWeb, orb: &Path) -> Result<(Child, Duration)> {
    web.reset()?;
    let begun = Instant::now();
    let mut process = Command::new(orb)
        .args(["crawl", "grown", "--quiet", "--progress", "none", "--home"])
        .arg(home)
        .stdin(Stdio::null())
        .spawn()
        .context("cannot start orb")?;
    while web.requests()? == 0 {
        if let Some(status) = process.try_wait()? {
            bail!("orb ended before its first request: {status}");
        }
        if begun.elapsed() > PATIENCE {
            process.kill()?;
            bail!("no request in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((process, begun.elapsed()))
}
