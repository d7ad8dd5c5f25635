//! `orb health`: what is wrong with the pages, and how is it repaired?

use super::{open, tell};
use crate::args::{Common, ListingArgs, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use orb_answers::{Collection, Health, HealthKind, HealthPart, HealthRow, HealthRows, HealthWish};
use orb_project::units::HumanDuration;
use std::io::{self, Write};

/// Default number of rows.
const SHOWN: u64 = 100;

/// Characters of a URL or text that are shown.
const WIDTH: usize = 90;

/// `orb health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// List the rows of this kind [default: count all kinds]
    #[arg(value_parser = kinds())]
    kind: Option<HealthKind>,
    /// Count as new what is there since this run or later [default: the last run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run: Option<u32>,
    /// List only what is new
    #[arg(long, requires = "kind")]
    new: bool,
    /// Time limit for one kind
    #[arg(long, value_name = "DUR", default_value = "60s")]
    timeout: HumanDuration,
    #[command(flatten)]
    listing: ListingArgs,
}

impl HealthArgs {
    fn wish(&self) -> HealthWish {
        HealthWish { run: self.run, time: self.timeout.0 }
    }
}

/// Reads a kind by its name.
fn kinds() -> impl clap::builder::TypedValueParser<Value = HealthKind> {
    let named = |name: String| HealthKind::from_name(&name).ok_or("there is no such kind");
    PossibleValuesParser::new(HealthKind::ALL.map(HealthKind::name)).try_map(named)
}

pub(crate) fn run(common: &Common, args: &HealthArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let mut stdout = out::stdout();
    match args.kind {
        Some(kind) => list(common, args, &collection, kind, &mut stdout)?,
        None => count(common, args, &collection, &mut stdout)?,
    }
    Ok(stdout.flush()?)
}

fn count(
    common: &Common,
    args: &HealthArgs,
    collection: &Collection,
    out: &mut impl Write,
) -> Result<(), CommandFailure> {
    let mut health = orb_answers::health(collection, args.wish())?;
    let late: Vec<&str> = health.kinds.iter().filter(|k| k.count.is_none()).map(|k| k.kind.name()).collect();
    let note = format!("not counted in time (--timeout raises the limit): {}", late.join(", "));
    tell(common, (!late.is_empty()).then_some(&note));
    health.kinds = args.listing.window(u64::MAX).of(health.kinds);
    match common.json {
        true => out::json(out, &health.kinds)?,
        false => print_counts(out, &health)?,
    }
    Ok(())
}

fn print_counts(out: &mut impl Write, health: &Health) -> io::Result<()> {
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), out::grouped);
    let rows = health.kinds.iter().map(|k| {
        let (kind, severity) = (k.kind.name().to_owned(), k.severity.name().to_owned());
        vec![kind, severity, number(k.count), number(k.new), k.about.to_owned()]
    });
    let new = health.run.map_or_else(|| "new".to_owned(), |run| format!("new since run {run}"));
    out::table(out, &["kind", "severity", "count", &new, "what"], &rows.collect::<Vec<_>>())?;
    writeln!(out, "\norb health {} KIND lists the rows of a kind and says how to repair them", health.project)
}

fn list(
    common: &Common,
    args: &HealthArgs,
    collection: &Collection,
    kind: HealthKind,
    out: &mut impl Write,
) -> Result<(), CommandFailure> {
    let part = if args.new { HealthPart::New } else { HealthPart::All };
    let found = orb_answers::health_rows(collection, kind, part, args.wish(), args.listing.window(SHOWN))?;
    match common.json {
        true => out::json(out, &found.rows)?,
        false => print_rows(out, &found)?,
    }
    Ok(())
}

fn print_rows(out: &mut impl Write, found: &HealthRows) -> io::Result<()> {
    writeln!(out, "{}: {}", found.severity.name(), found.about)?;
    writeln!(out, "repair: {}", found.fix)?;
    writeln!(out, "sql: {}\n", found.sql)?;
    let columns: Vec<_> = COLUMNS.iter().filter(|(_, cell)| found.rows.iter().any(|row| cell(row).is_some())).collect();
    if columns.is_empty() {
        return writeln!(out, "none");
    }
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let line = |row: &HealthRow| columns.iter().map(|(_, cell)| cell(row).unwrap_or_default()).collect();
    out::table(out, &heads, &found.rows.iter().map(line).collect::<Vec<_>>())
}

type HealthColumn = (&'static str, fn(&HealthRow) -> Option<String>);

/// The columns of the table; one in which no row has anything is left out.
const COLUMNS: &[HealthColumn] = &[
    ("since run", |r| r.since.map(|n| n.to_string())),
    ("status", |r| r.status.map(|n| n.to_string())),
    ("hops", |r| r.hops.map(out::grouped)),
    ("pages", |r| r.pages.map(out::grouped)),
    ("depth", |r| r.depth.map(out::grouped)),
    ("ms", |r| r.elapsed_ms.map(out::grouped)),
    ("bytes", |r| r.length.map(out::grouped)),
    ("trap", |r| r.why.clone()),
    ("page", |r| Some(out::clip(&r.url, WIDTH))),
    ("by", |r| r.kind.clone()),
    ("other", |r| r.other.as_deref().map(|url| out::clip(url, WIDTH))),
    ("words", |r| r.anchor.as_deref().filter(|a| !a.is_empty()).map(|a| out::clip(a, WIDTH))),
    ("title", |r| r.title.as_deref().map(|t| out::clip(t, WIDTH))),
    ("problem", |r| r.problem.as_deref().map(|p| out::clip(p, WIDTH))),
];
