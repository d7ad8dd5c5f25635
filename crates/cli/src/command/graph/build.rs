//! `orb graph build`: how is a graph built from the links collected so far?

use super::ranks::{self, RankArgs};
use super::stats;
use crate::args::{Common, ProjectArgs};
use crate::command::open;
use crate::failure::CommandFailure;
use crate::meter::Meter;
use crate::out;
use clap::{Args, ValueEnum};
use orb_answers::{Collection, GraphFigures, RankAccounts};
use orb_crawl::structure::{BuildProgress, GraphBuildOutcome, GraphOptions, build};
use orb_page::LinkKind;
use serde::Serialize;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// `orb graph build`.
#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// Link kinds that become arcs: a,area,img,…, or all; a redirect is an arc to its target
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "a,area,frame,redirect,refresh")]
    kinds: Vec<String>,
    /// What to do with links marked nofollow
    #[arg(long, value_enum, default_value_t = KeepOrDrop::Keep, value_name = "WHAT")]
    nofollow: KeepOrDrop,
    /// What to do with self-loops
    #[arg(long, value_enum, default_value_t = KeepOrDrop::Drop, value_name = "WHAT")]
    self_loops: KeepOrDrop,
    /// Include links that are gone
    #[arg(long)]
    gone: bool,
    /// Build even if nothing has changed
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    ranks: RankArgs,
}

/// What to do with links of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeepOrDrop {
    /// Make them arcs
    Keep,
    /// Leave them out
    Drop,
}

impl BuildArgs {
    fn options(&self) -> Result<GraphOptions, CommandFailure> {
        let mut kinds = Vec::new();
        for name in &self.kinds {
            match (name.trim(), LinkKind::from_name(name.trim())) {
                ("all", _) => kinds.extend(LinkKind::ALL),
                (_, Some(kind)) => kinds.push(kind),
                (name, None) => {
                    let known: Vec<&str> = LinkKind::ALL.iter().map(|kind| kind.name()).collect();
                    let known = known.join(", ");
                    return Err(CommandFailure::Usage(format!(
                        "'{name}' is not a kind of link; there are {known}, and all"
                    )));
                }
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        let (nofollow, self_loops) = (self.nofollow == KeepOrDrop::Keep, self.self_loops == KeepOrDrop::Keep);
        Ok(GraphOptions { kinds, nofollow, self_loops, gone: self.gone })
    }
}

/// What was built, with its size.
#[derive(Serialize)]
struct Done {
    #[serde(flatten)]
    figures: GraphFigures,
    built: bool,
    ranks: Option<RankAccounts>,
    seconds: f64,
}

pub(super) fn run(common: &Common, args: &BuildArgs) -> Result<(), CommandFailure> {
    let options = args.options()?;
    let project = open(common, &args.of)?.project().clone();
    let begin = Instant::now();
    let meter = Meter::start(common, &format!("graph {}", project.name));
    let said = meter.said();
    let told = said.clone();
    let watch: BuildProgress = Arc::new(move |step, done, of| told.tell(step.name(), done, of));
    let outcome = build(&project, &options, args.force, &watch);
    let ranked = if outcome.is_ok() { args.ranks.rank(&project, &said) } else { Ok(None) };
    drop(meter);
    let built = matches!(outcome?, GraphBuildOutcome::Built(_));
    let ranks = ranked?;
    let seconds = begin.elapsed().as_secs_f64();
    let figures = orb_answers::graph_stats(&Collection::of(project.clone())?)?.figures;
    let done = Done { figures, built, ranks, seconds: out::milliseconds(seconds) };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &done)?;
        return Ok(stdout.flush()?);
    }
    let size = stats::line(&done.figures);
    if built {
        writeln!(stdout, "graph of {}: {size} in {}", project.name, out::seconds(seconds))?;
    } else {
        let at = &done.figures.built_at;
        writeln!(stdout, "graph of {}: nothing new since it was built at {at}: {size}", project.name)?;
    }
    if let Some(ranks) = &done.ranks {
        writeln!(stdout, "ranks: {}", ranks::line(&ranks.pages))?;
    }
    Ok(stdout.flush()?)
}
