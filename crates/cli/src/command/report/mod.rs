//! `orb report`: what did a run find new, the same, updated, missing?
//!
//! A report is the account of the run and then its documents, row after row; each format is one
//! file here, and none buffers the rows.

mod csv;
mod html;
mod json;
mod text;

use super::changes::flag;
use super::export::place::{Unfinished, unwritten};
use super::open;
use crate::args::{Common, ListingArgs, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_answers::{AnswerError, Report, ReportWish};
use orb_page::Flag;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// `orb report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// The run [default: the last]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run: Option<u32>,
    /// Output format [default: text, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// List only documents with these flags [default: NEW, UPD, MIS and ERR]
    #[arg(long, value_name = "FLAG", value_delimiter = ',', value_parser = flag)]
    flag: Vec<Flag>,
    /// List documents that are SAM but changed around their main content, in advertisements or
    /// navigation; only these, or with --flag these of the documents that are SAM
    #[arg(long)]
    around: bool,
    /// Number of updated documents to show with their differences, for html
    #[arg(long, value_name = "N", default_value_t = 200)]
    diffs: u64,
    /// Write to a file
    #[arg(long = "out", short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// Exit with code 3 if the run found something new, updated or missing
    #[arg(long)]
    fail_on_change: bool,
    #[command(flatten)]
    listing: ListingArgs,
}

impl ReportArgs {
    /// The first lines of the report on a project's last run.
    pub(crate) fn brief(project: &str, lines: u32) -> Self {
        Self {
            of: ProjectArgs::named(project),
            run: None,
            format: None,
            flag: Vec::new(),
            around: false,
            diffs: 0,
            output: None,
            force: false,
            fail_on_change: false,
            listing: ListingArgs { limit: Some(lines.into()), offset: 0 },
        }
    }
}

/// Report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people
    Text,
    /// One object
    Json,
    /// The documents as comma-separated values
    Csv,
    /// One self-contained page with tables, filters and differences
    Html,
}

/// The flags in the order in which they are told.
const FLAGS: [Flag; 5] = [Flag::New, Flag::Same, Flag::Updated, Flag::Missing, Flag::Error];

pub(crate) fn run(common: &Common, args: &ReportArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let format = args.format.unwrap_or(if common.json { ReportFormat::Json } else { ReportFormat::Text });
    let (limit, offset) = (args.listing.limit, args.listing.offset);
    let wish = ReportWish { run: args.run, flags: args.flag.clone(), around: args.around, limit, offset };
    let changed =
        orb_answers::report(&collection, &wish, |report| write(report, format, args).map(|()| report.changed() > 0))??;
    if changed && args.fail_on_change { Err(CommandFailure::Changed) } else { Ok(()) }
}

/// Writes it to its destination.
fn write(report: &Report<'_>, format: ReportFormat, args: &ReportArgs) -> Result<(), CommandFailure> {
    let written = |done: Result<(), AnswerError>, path: &Path| match done {
        Err(AnswerError::Output(e)) => Err(unwritten(e, path)),
        other => Ok(other?),
    };
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut stdout = out::stdout();
        written(told(report, format, args.diffs, &mut stdout), Path::new("-"))?;
        return Ok(stdout.flush()?);
    };
    let mut file = Unfinished::begin(path, args.force)?;
    let mut sink = BufWriter::with_capacity(1 << 16, file.file());
    let done = told(report, format, args.diffs, &mut sink).and_then(|()| sink.flush().map_err(AnswerError::Output));
    drop(sink);
    written(done, path)?;
    file.keep()
}

fn told(report: &Report<'_>, format: ReportFormat, diffs: u64, sink: &mut impl Write) -> Result<(), AnswerError> {
    match format {
        ReportFormat::Text => text::write(report, sink),
        ReportFormat::Json => json::write(report, sink),
        ReportFormat::Csv => csv::write(report, sink),
        ReportFormat::Html => html::write(report, diffs, sink),
    }
}

/// `known before = SAM + UPD + MIS + ERR`, in numbers.
fn sum(report: &Report<'_>) -> String {
    let terms = FLAGS[1..].iter().map(|flag| format!("{} {flag}", out::grouped(report.count(*flag))));
    let (known, sum) = (out::grouped(report.account.known), terms.collect::<Vec<_>>().join(" + "));
    match report.account.unaccounted {
        0 => format!("known before: {known} = {sum}"),
        left => format!("known before: {known} = {sum} + {} not visited yet", out::grouped(left)),
    }
}
