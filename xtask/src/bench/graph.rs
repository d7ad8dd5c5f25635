//! How long does a graph take to build, how small does it get, and how fast are backlink queries?
//!
//! `weave` generates a web of fifty million arcs and builds it; WebGraph's own command line builds
//! the same arcs, and reads our files: it must find the same arcs in them, forwards and backwards.
//! `star` generates a collection in which 100,000 pages link to one.

use super::verdict::{FigureTarget, TargetVerdict};
use super::{BenchOptions, PartReport, built};
use crate::steps::{cargo, root, step, succeeds};
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// Number of pages that gives fifty million arcs.
const PAGES: &str = "2520000";
/// WebGraph's command line.
const PEER: (&str, &str) = ("webgraph-cli", "0.5.0");
/// Number of pages that link to one, and the links of each.
const STAR: (&str, &str) = ("100000", "20");
/// Number of backlink queries.
const ASKED: usize = 21;

/// Runs the measurements in a directory of their own.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    set_up()?;
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-graph", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let report = graph(&dir).and_then(|mut report| {
        let star = links_in(&dir, &wish.orb)?;
        report.tables.extend(star.tables);
        report.verdicts.extend(star.verdicts);
        Ok(report)
    });
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    report
}

fn set_up() -> Result<()> {
    cargo(&["build", "--release", "-p", "orb-graph", "--example", "weave"])?;
    cargo(&["build", "--release", "-p", "orb-store", "--example", "star"])?;
    let place = root().join("target/webgraph-cli");
    if !succeeds(&peer().to_string_lossy(), &["--version"]) {
        let place = place.to_string_lossy();
        let args = ["install", PEER.0, "--version", PEER.1, "--locked", "--root", &place];
        step("WebGraph's command line", || cargo(&args))?;
    }
    Ok(())
}

fn peer() -> PathBuf {
    root().join("target/webgraph-cli/bin/webgraph")
}

fn weave() -> PathBuf {
    built("examples/weave")
}

/// A command's figures: what it printed as `name value`, its duration, and its peak memory.
fn figures(command: &mut Command) -> Result<(HashMap<String, f64>, f64, f64)> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut said = String::new();
    if let Some(mut out) = child.stdout.take() {
        std::io::Read::read_to_string(&mut out, &mut said)?;
    }
    let ended = child.wait4()?;
    ensure!(ended.status.success(), "{command:?} failed");
    let lines = said.lines().filter_map(|line| line.split_once(' '));
    let figures = lines.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect();
    Ok((figures, begun.elapsed().as_secs_f64(), ended.rusage.maxrss as f64 / 1e6))
}

fn graph(dir: &Path) -> Result<PartReport> {
    let ours = dir.join("graph");
    let (said, seconds, megabytes) = figures(Command::new(weave()).arg("build").arg(&ours).arg(PAGES))?;
    let figure = |name: &str| said.get(name).copied().with_context(|| format!("weave did not say {name}"));
    let (pages, arcs) = (figure("pages")?, figure("arcs")?);
    let theirs = dir.join("theirs");
    let begun = Instant::now();
    let mut told = Command::new(weave()).args(["arcs", PAGES]).stdout(Stdio::piped()).spawn()?;
    let arcs_of_it = told.stdout.take().context("weave says nothing")?;
    let mut from = Command::new(peer());
    from.args(["from", "arcs", "--num-nodes", &format!("{pages}")]).arg(&theirs).stdin(arcs_of_it);
    ensure!(from.status()?.success() && told.wait()?.success(), "{from:?} failed");
    let peer_seconds = begun.elapsed().as_secs_f64();
    let bits = bits_per_link(&theirs)?;
    agreement(&ours)?;
    let table = format!(
        "### {arcs} arcs between {pages} pages\n\n| | s | peak RSS MB | bits a link | transposed |\n|---|---|---|---|---|\n\
         | orb: order URLs, sort, compress, both ways | {seconds:.1} | {megabytes:.0} | {:.3} | {:.3} |\n\
         | webgraph from arcs: sort, compress, one way | {peer_seconds:.1} | | {bits:.3} | |\n\n\
         URLs ordered after {:.1} s, links told after {:.1} s. WebGraph's command line reads both directions and finds the same arcs.\n",
        figure("bits")?,
        figure("transposed")?,
        figure("numbered")?,
        figure("told")?
    );
    let verdicts = [
        TargetVerdict::of("graph: million arcs", [arcs / 1e6], FigureTarget::AtLeast(50.0)),
        TargetVerdict::of("graph: seconds to build and transpose", [seconds], FigureTarget::AtMost(180.0)),
        TargetVerdict::of("graph: peak RSS in GB", [megabytes / 1e3], FigureTarget::AtMost(2.0)),
        TargetVerdict::of("graph: bits a link, orb / webgraph", [figure("bits")? / bits], FigureTarget::AtMost(1.05)),
    ];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

/// The bits per link in a graph's properties.
fn bits_per_link(base: &Path) -> Result<f64> {
    let path = base.with_extension("properties");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("bitsperlink="));
    line.and_then(|value| value.parse().ok()).with_context(|| format!("no bitsperlink in {}", path.display()))
}

/// Checks that WebGraph's command line finds our arcs in our files.
fn agreement(graph: &Path) -> Result<()> {
    let told = sum(Command::new(weave()).args(["arcs", PAGES]))?;
    let forward = sum(Command::new(peer()).args(["to", "arcs"]).arg(graph.join("web")))?;
    let backward = sum(Command::new(peer()).args(["to", "arcs"]).arg(graph.join("web-t")))?;
    ensure!(told == forward, "webgraph reads other arcs: {forward:?} instead of {told:?}");
    let [count, out, back] = &told[..] else { bail!("no sum of arcs: {told:?}") };
    ensure!(backward == [count, back, out].map(Clone::clone), "webgraph reads another transpose: {backward:?}");
    Ok(())
}

/// The number of arcs a command prints, their checksum, and that of the transpose.
fn sum(command: &mut Command) -> Result<Vec<String>> {
    let mut told = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {command:?}"))?;
    let arcs = told.stdout.take().context("no output")?;
    let summed = Command::new(weave()).arg("sum").stdin(arcs).output()?;
    ensure!(told.wait()?.success() && summed.status.success(), "{command:?} failed");
    Ok(String::from_utf8_lossy(&summed.stdout).split_whitespace().map(str::to_owned).collect())
}

fn links_in(dir: &Path, program: &Path) -> Result<PartReport> {
    let home = dir.join("home");
    let orb = |args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).args(["--progress", "none", "--quiet", "--home"]).arg(&home);
        command
    };
    let made = Command::new(built("examples/star")).arg(&home).args([STAR.0, STAR.1]).status()?;
    ensure!(made.success(), "star failed");
    let ask = ["links", "star", "http://star.example/1/page-0000001.html", "--in", "--limit", "100", "--json"];
    let scanned = asked(&mut orb(&ask))?;
    let (_, built_in, _) = figures(&mut orb(&["graph", "build", "star"]))?;
    let (_, nothing_new, _) = figures(&mut orb(&["graph", "build", "star"]))?;
    let times = (0..ASKED).map(|_| asked(&mut orb(&ask))).collect::<Result<Vec<_>>>()?;
    let slowest = times.iter().max().copied().unwrap_or_default();
    let verdict = TargetVerdict::of(
        "links --in: ms to the first 100",
        times.iter().map(|time| time.as_secs_f64() * 1e3),
        FigureTarget::AtMost(50.0),
    );
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let table = format!(
        "### {} pages with {} links each, all of them to one page\n\n| | ms |\n|---|---|\n| first 100 backward links, no graph | {:.0} |\n\
         | graph build | {:.0} |\n| graph build, nothing new | {:.0} |\n| first 100 backward links, slowest of {ASKED} | {:.1} |\n",
        STAR.0,
        STAR.1,
        ms(scanned),
        built_in * 1e3,
        nothing_new * 1e3,
        ms(slowest),
    );
    Ok(PartReport { tables: vec![table], verdicts: verdict.into_iter().collect() })
}

/// The duration of a command, which must list a hundred links.
fn asked(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let took = begun.elapsed();
    let listed = String::from_utf8_lossy(&output.stdout).matches("\"src\":").count();
    ensure!(output.status.success() && listed == 100, "{command:?} listed {listed}");
    Ok(took)
}
