//! `orb track --simulate`: what would be gained by visiting where it is worth most?

use crate::args::{Common, TrackArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_crawl::track::{mixed, recorded};
use orb_project::Settings;
use orb_track::rate::simulate::{Policy, PolicyOutcome, World, optimum, simulate};
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

/// The random seed: the figures are reproducible.
const SEED: u64 = 1;

/// The results.
#[derive(Serialize)]
struct SimulationReport {
    pages: usize,
    days: f64,
    visits_a_day: f64,
    /// The upper bound of freshness, if changes are random with the given rates.
    optimum: Option<f64>,
    policies: Vec<PolicyRow>,
}

#[derive(Serialize)]
struct PolicyRow {
    #[serde(flatten)]
    outcome: PolicyOutcome,
    /// Freshness relative to uniform visits.
    against_uniform: f64,
}

pub(super) fn run(common: &Common, args: &TrackArgs) -> Result<(), CommandFailure> {
    let made_up = args.history.as_deref().filter(|history| *history != "recorded");
    let world = match made_up {
        Some(file) => mixed(Path::new(file))?,
        None => {
            let name = args.crawl.seeds.first().context("say which project; or --history FILE")?;
            let (project, reader) = super::open_reader(common, name)?;
            let settings = Settings::kept(&project)?.unwrap_or_default();
            recorded(&reader, settings.track.budget.map(orb_project::units::Pace::a_day))?
        }
    };
    let account = compare(&world, &args.policies, made_up.is_some());
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else {
        print(&mut stdout, &account)?;
    }
    Ok(stdout.flush()?)
}

fn compare(world: &World, policies: &[Policy], random: bool) -> SimulationReport {
    let uniform = simulate(world, Policy::Uniform, SEED);
    let asked = |policy: &Policy| policies.is_empty() || policies.contains(policy);
    let row = |policy: Policy| {
        let outcome = if policy == Policy::Uniform { uniform.clone() } else { simulate(world, policy, SEED) };
        let against_uniform = outcome.freshness / uniform.freshness.max(f64::MIN_POSITIVE);
        PolicyRow { outcome, against_uniform }
    };
    SimulationReport {
        pages: world.pages.len(),
        days: world.span,
        visits_a_day: world.budget,
        optimum: random.then(|| optimum(world)),
        policies: Policy::ALL.into_iter().filter(asked).map(row).collect(),
    }
}

fn print(stdout: &mut impl std::io::Write, account: &SimulationReport) -> std::io::Result<()> {
    let SimulationReport { pages, days, visits_a_day, .. } = account;
    writeln!(stdout, "{} pages, {days:.1} days, {visits_a_day:.1} visits a day", out::grouped(*pages as u64))?;
    if let Some(optimum) = account.optimum {
        writeln!(stdout, "no choice of visits is fresher than {:.1} %", optimum * 100.0)?;
    }
    let cells = |row: &PolicyRow| {
        let o = &row.outcome;
        vec![
            o.policy.name().to_owned(),
            format!("{:.1} %", o.freshness * 100.0),
            format!("{:+.1} %", (row.against_uniform - 1.0) * 100.0),
            format!("{:.1}", o.age),
            out::grouped(o.visits),
            out::grouped(o.changes),
        ]
    };
    let rows: Vec<Vec<String>> = account.policies.iter().map(cells).collect();
    out::table(stdout, &["visits", "fresh", "against uniform", "age in days", "visits made", "saw a change"], &rows)
}
