//! How does our crawler compare with others?
//!
//! Every tool crawls every web, round by round. A verdict is on the median of the ratios within a
//! round, because the machine varies more from minute to minute than the tools differ.

use super::measure::{self, Figures};
use super::tools::{Role, TOOLS, Tool};
use super::verdict::{FigureTarget, NO_DEARER, NO_SLOWER, TargetVerdict};
use super::web::{BenchWeb, Ground, WEBS};
use super::{BenchOptions, PartReport, chosen};
use crate::steps::{cargo, root, step};
use crate::{judges, packages};
use anyhow::Result;
use std::path::PathBuf;

/// Target ratio to the fastest peer if the server sends plain bytes, and if it compresses.
const FASTER: [f64; 2] = [1.0, 1.4];
/// The same over TLS.
const FASTER_OVER_TLS: f64 = 1.2;

/// A tool with its figures per round; `None` if it could not be run.
type PeerRow = (&'static Tool, Vec<Option<Figures>>);

/// Sets up the tools and runs them.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let tools: Vec<&'static Tool> = TOOLS.iter().filter(|tool| wants(wish, tool)).collect();
    set_up(&tools)?;
    let mut report = PartReport::default();
    for ground in
        WEBS.iter().filter(|ground| chosen(&wish.webs, ground.name) && (!ground.vocabulary || !wish.webs.is_empty()))
    {
        let web = BenchWeb::on(ground, wish.pages)?;
        let rows = step(&web.title(), || Ok(rounds(&web, ground, &tools, wish)))?;
        let medians =
            rows.iter().filter_map(|(tool, figures)| Some((tool.name, measure::median(figures.iter().flatten())?)));
        report.tables.push(measure::table(&web.title(), web.pages(), medians));
        report.verdicts.extend(verdicts(&web, ground, &rows));
    }
    Ok(report)
}

fn wants(wish: &BenchOptions, tool: &Tool) -> bool {
    match tool.role {
        Role::Base => wish.against.is_some(),
        Role::Slow => chosen(&wish.tools, tool.name) && (wish.slow || !wish.tools.is_empty()),
        _ => chosen(&wish.tools, tool.name),
    }
}

/// Builds and installs what the tools need.
fn set_up(tools: &[&Tool]) -> Result<()> {
    let has = |name: &str| tools.iter().any(|tool| tool.name == name);
    step("Debian packages", || packages::ensure(packages::FOR_BENCH))?;
    if has("scrapy") {
        step("peers from PyPI", || judges::ensure("peers", "xtask/peers/requirements.txt"))?;
    }
    if has("spider") {
        let (manifest, target) = (format!("{SPIDER}/Cargo.toml"), root().join(SPIDER_TARGET));
        let (manifest, target) = (manifest.as_str(), target.to_string_lossy());
        let build = ["build", "--release", "--locked", "--manifest-path", manifest, "--target-dir", &target];
        step("peer from crates.io", || cargo(&build))?;
    }
    if has("fetch-only") {
        step("bare client", || cargo(&["build", "--release", "-p", "orb-fetch", "--example", "ceiling"]))?;
    }
    Ok(())
}

const SPIDER: &str = "xtask/peers/spider";
const SPIDER_TARGET: &str = "target/peer-spider";

/// The program that crawls with the crate spider.
pub(super) fn spider() -> PathBuf {
    root().join(SPIDER_TARGET).join("release/spider-peer")
}

/// Runs all tools in turn, round by round. A tool that cannot be run is reported, and the others
/// continue.
fn rounds(web: &BenchWeb, ground: &Ground, tools: &[&'static Tool], wish: &BenchOptions) -> Vec<PeerRow> {
    let mut rows: Vec<PeerRow> = tools.iter().map(|tool| (*tool, Vec::new())).collect();
    for round in 1..=wish.rounds {
        for (tool, figures) in &mut rows {
            let once = matches!(tool.role, Role::Once | Role::Slow);
            if (once && round > 1) || (tool.role == Role::Slow && (!ground.gzip || ground.tls.is_some())) {
                continue;
            }
            let build = wish.against.as_ref().filter(|_| tool.role == Role::Base).unwrap_or(&wish.orb);
            let one = measure::run(tool, web, build);
            match &one {
                Ok(one) => println!("    round {round}: {:<10} {one}", tool.name),
                Err(error) => println!("    round {round}: {:<10} left out: {error:#}", tool.name),
            }
            figures.push(one.ok());
        }
    }
    rows
}

/// The targets for our figures on one web.
fn verdicts(web: &BenchWeb, ground: &Ground, rows: &[PeerRow]) -> Vec<TargetVerdict> {
    let Some((_, ours)) = rows.iter().find(|(tool, _)| tool.role == Role::Ours) else { return Vec::new() };
    let on = |what: &str| format!("{}: {what}", ground.name);
    let of = |role: Role| rows.iter().filter(|(tool, _)| tool.role == role).collect::<Vec<&PeerRow>>();
    let (rivals, base) = (of(Role::Rival), of(Role::Base));
    let found = ours.iter().flatten().map(|one| one.seen.pages as f64 / web.pages() as f64).reduce(f64::min);
    let faster = if ground.tls.is_some() { FASTER_OVER_TLS } else { FASTER[usize::from(ground.gzip)] };
    let rates = |others: &[&PeerRow]| against(ours, others, Figures::rate, f64::max);
    let costs = |others: &[&PeerRow]| against(ours, others, Figures::cpu_per_page, f64::min);
    let mut verdicts = vec![
        TargetVerdict::of(on("orb / fastest peer"), rates(&rivals), FigureTarget::AtLeast(faster)),
        TargetVerdict::of(on("share of the pages found"), found, FigureTarget::AtLeast(1.0)),
        TargetVerdict::of(on("pages/s, orb / base"), rates(&base), NO_SLOWER),
        TargetVerdict::of(on("CPU a page, orb / base"), costs(&base), NO_DEARER),
    ];
    if ground.tls.is_none() {
        let what = on("CPU a page, orb / least of the peers");
        verdicts.push(TargetVerdict::of(what, costs(&rivals), FigureTarget::AtMost(1.0)));
    }
    verdicts.into_iter().flatten().collect()
}

/// Our figure relative to the best of the others', round by round, if there are both.
fn against(
    ours: &[Option<Figures>],
    others: &[&PeerRow],
    of: fn(&Figures) -> f64,
    better: fn(f64, f64) -> f64,
) -> Vec<f64> {
    let best = |round: usize| {
        let figures = others.iter().filter_map(|(_, rounds)| rounds.get(round)?.as_ref());
        figures.map(of).reduce(better)
    };
    let rounds = ours.iter().enumerate();
    rounds.filter_map(|(round, one)| Some(of(one.as_ref()?) / best(round)?)).collect()
}
