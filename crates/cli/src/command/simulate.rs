//! `orb track --simulate`: what would be gained by visiting where it is worth most?

use crate::args::{Common, TrackArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_crawl::track::{PolicyTrial, Rehearsed, VisitRehearsal, rehearse};
use orb_project::Home;
use std::io::Write as _;
use std::path::Path;

pub(super) fn run(common: &Common, args: &TrackArgs) -> Result<(), CommandFailure> {
    let made_up = args.history.as_deref().filter(|history| *history != "recorded");
    let account = match made_up {
        Some(file) => rehearse(Rehearsed::Mix(Path::new(file)), &args.policies)?,
        None => {
            let name = args.crawl.seeds.first().context("say which project; or --history FILE")?;
            let project = Home::look(&common.home)?.find(name)?;
            rehearse(Rehearsed::Recorded(&project), &args.policies)?
        }
    };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &account)?;
    } else {
        print(&mut stdout, &account)?;
    }
    Ok(stdout.flush()?)
}

fn print(stdout: &mut impl std::io::Write, account: &VisitRehearsal) -> std::io::Result<()> {
    let VisitRehearsal { pages, days, visits_a_day, .. } = account;
    writeln!(stdout, "{} pages, {days:.1} days, {visits_a_day:.1} visits a day", out::grouped(*pages as u64))?;
    if let Some(optimum) = account.optimum {
        writeln!(stdout, "no choice of visits is fresher than {:.1} %", optimum * 100.0)?;
    }
    let cells = |row: &PolicyTrial| {
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
