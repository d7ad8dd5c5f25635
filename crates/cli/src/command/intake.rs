//! `orb intake`: which pages should be visited next?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_answers::IntakeState;
use orb_project::{CallAccount, Home, call_for};
use std::io::{self, Read as _, Write};

/// `orb intake`.
#[derive(Debug, Args)]
pub(crate) struct IntakeArgs {
    /// The project
    project: String,
    /// Pages to visit next; - reads them from standard input, one per line [default: show what
    /// waits]
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// Who calls: how often a source was right decides how far it is believed
    #[arg(long, value_name = "NAME", default_value = "command line")]
    source: String,
}

pub(crate) fn run(common: &Common, args: &IntakeArgs) -> Result<(), CommandFailure> {
    let project = Home::look(&common.home)?.find(&args.project)?;
    let mut stdout = out::stdout();
    if args.urls.is_empty() {
        let state = orb_answers::intake(&project)?;
        match common.json {
            true => out::json(&mut stdout, &state)?,
            false => show(&mut stdout, &args.project, &state)?,
        }
        return Ok(stdout.flush()?);
    }
    let account = call_for(&project, &urls(args)?, &args.source)?;
    match common.json {
        true => out::json(&mut stdout, &account)?,
        false if !common.quiet => print(&mut stdout, &account)?,
        false => {}
    }
    stdout.flush()?;
    if account.refused.is_empty() { Ok(()) } else { Err(CommandFailure::Found) }
}

/// The URLs that were given, with those of standard input in place of a dash.
fn urls(args: &IntakeArgs) -> io::Result<Vec<String>> {
    let mut urls = Vec::new();
    for given in &args.urls {
        if given != "-" {
            urls.push(given.clone());
            continue;
        }
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        urls.extend(lines.map(str::to_owned));
    }
    Ok(urls)
}

fn print(stdout: &mut impl Write, account: &CallAccount) -> io::Result<()> {
    let (taken, waiting) = (out::grouped(account.taken), out::grouped(account.waiting));
    writeln!(stdout, "{taken} pages wait for the next run of {}; {waiting} waited already", account.project)?;
    account.refused.iter().try_for_each(|refused| writeln!(stdout, "  {}: {}", refused.url, refused.why))
}

fn show(stdout: &mut impl Write, project: &str, state: &IntakeState) -> io::Result<()> {
    match &state.since {
        Some(since) => writeln!(stdout, "{} pages wait, the first since {since}", out::grouped(state.waiting))?,
        None => writeln!(stdout, "nothing waits; orb intake {project} URL has a page visited by the next run")?,
    }
    sources(stdout, state)
}

/// How far those who call are believed.
pub(super) fn sources(stdout: &mut impl Write, state: &IntakeState) -> io::Result<()> {
    if state.sources.is_empty() {
        return Ok(());
    }
    let row = |source: &orb_answers::CallSource| {
        let record = source.record;
        let counts = [record.right, record.wrong, record.outside, record.unknown].map(out::grouped);
        let mut row = vec![source.source.clone()];
        row.extend(counts);
        row.push(format!("{:.0} %", source.belief * 100.0));
        row
    };
    let rows: Vec<Vec<String>> = state.sources.iter().map(row).collect();
    out::table(stdout, &["called by", "right", "wrong", "outside", "not visited", "believed"], &rows)
}
