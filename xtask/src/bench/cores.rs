//! What does a crawl achieve on one core?
//!
//! Pinned by `taskset`, the crawler has one thread for its sockets and one that reads pages; the
//! server keeps all cores. A crawl that stalls is ended by the bench, and then lacks pages.

use super::measure::{self, Figures};
use super::tools::{Role, Tool, crawl_of, orb};
use super::verdict::{FigureTarget, TargetVerdict};
use super::web::{BenchWeb, WEBS};
use super::{BenchOptions, PartReport, chosen};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

const ALL: Tool = Tool { name: "all cores", role: Role::Ours, command: orb };
const ONE: Tool = Tool { name: "one core", role: Role::Ours, command: pinned };

fn pinned(web: &BenchWeb, dir: &Path, build: &Path) -> Result<Command> {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(build).args(crawl_of(web, dir));
    Ok(command)
}

/// The rates on all cores and on one, in turn, over many hosts.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let mut report = PartReport::default();
    let many = |name: &str| if wish.webs.is_empty() { name == "many-gzip" } else { chosen(&wish.webs, name) };
    for ground in WEBS.iter().filter(|ground| many(ground.name)) {
        let web = BenchWeb::on(ground, wish.pages)?;
        let mut rounds: [Vec<Figures>; 2] = Default::default();
        for _ in 0..wish.rounds {
            for (tool, figures) in [ALL, ONE].iter().zip(&mut rounds) {
                figures.push(measure::run(tool, &web, &wish.orb)?);
            }
        }
        let rows = [ALL, ONE].iter().zip(&rounds);
        let rows = rows.filter_map(|(tool, figures)| Some((tool.name, measure::median(figures.iter())?)));
        report.tables.push(measure::table(&web.title(), web.pages(), rows));
        let found = rounds[1].iter().map(|one| one.seen.pages as f64 / web.pages() as f64).reduce(f64::min);
        let what = format!("{}: share of the pages found on one core", ground.name);
        report.verdicts.extend(TargetVerdict::of(what, found, FigureTarget::AtLeast(1.0)));
    }
    Ok(report)
}
