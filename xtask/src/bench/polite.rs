//! Is the crawler as fast as politeness allows?
//!
//! A thousand hosts, each at its own address, each contacted once a second: no host gates another.
//! A host's robots.txt and pages then take as many seconds as there are requests, minus the first;
//! no crawl can take less, and that is the rate politeness allows. The home pages of all hosts are
//! seeds, so nothing waits to be discovered, and there are as many connections as hosts, so none is
//! opened twice.

use super::measure;
use super::tools::{Role, Tool};
use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const HOSTS: u32 = 1_000;
const PAGES_PER_HOST: u32 = 100;
const DELAY: Duration = Duration::from_secs(1);
/// Within ten per cent.
const WANTED: f64 = 0.9;
/// How late the server may notice the first of two requests, so that their gap looks shorter than
/// it was.
const LATENESS: Duration = Duration::from_millis(100);

/// The crawl's figures relative to what politeness allows.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let web = BenchWeb::start((HOSTS, PAGES_PER_HOST), HOSTS * PAGES_PER_HOST)?;
    let figures = measure::run(&Tool { name: "orb", role: Role::Ours, command: politely }, &web, &wish.orb)?;
    let (seen, least) = (figures.seen, DELAY * PAGES_PER_HOST);
    let title = format!("{}, a request a second to each", web.title());
    let mut table = measure::table(&title, web.pages(), [("orb", figures)].into_iter());
    let (span, gap) = (seen.span.as_secs_f64(), seen.least_gap.as_secs_f64());
    table += &format!(
        "\n{span:.1} s from the first request to the last, at least {} s by politeness; no address was asked twice within {gap:.3} s.\n",
        least.as_secs()
    );
    let of = |what: &str, figure, wanted| TargetVerdict::of(format!("polite: {what}"), [figure], wanted);
    let verdicts = [
        of("rate / rate that politeness allows", least.as_secs_f64() / span, FigureTarget::AtLeast(WANTED)),
        of("share of the pages found", seen.pages as f64 / web.pages() as f64, FigureTarget::AtLeast(1.0)),
        of("shortest gap in seconds", gap, FigureTarget::AtLeast((DELAY - LATENESS).as_secs_f64())),
    ];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

fn politely(web: &BenchWeb, dir: &Path, build: &Path) -> Result<Command> {
    let seeds = dir.join("seeds");
    std::fs::write(&seeds, web.homes().join("\n")).with_context(|| format!("cannot write {}", seeds.display()))?;
    let mut command = Command::new(build);
    command.arg("crawl").arg(format!("@{}", seeds.display())).args(["--project", "bench", "--progress", "none"]);
    command.args(["--delay", &format!("{}ms", DELAY.as_millis()), "--connections", &HOSTS.to_string(), "--home"]);
    command.arg(dir.join("home"));
    Ok(command)
}
