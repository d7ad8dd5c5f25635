//! `orb export`: how does the collection leave for other people's tools?
//!
//! Everything streams. A file gets its name only when it is complete, and an existing one is not
//! overwritten without `--force`.

mod account;
mod database;
mod graphs;
mod markdown;
mod packed;
pub(crate) mod place;
mod rows;

use super::open;
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use account::ExportMonitor;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use orb_answers::Collection;
use orb_export::{Exporter, TableFormat};
use serde::Serialize;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `orb export`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// Output format
    #[arg(value_enum)]
    format: ExportFormat,
    /// The database, for postgres: postgres://user@host/database; the password may be in PGPASSWORD
    #[arg(value_name = "URL", required_if_eq("format", "postgres"))]
    url: Option<String>,
    /// A file, a directory, or '-' for standard output [default: named after the project]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only these tables, for parquet, jsonl and csv [default: all]
    #[arg(long = "table", value_enum, value_delimiter = ',', value_name = "TABLE")]
    tables: Vec<rows::Name>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// One ZIP file instead of several files, for parquet, jsonl, csv, markdown and webgraph
    #[arg(long)]
    zip: bool,
    /// Whole pages, with menus and footers, not only their main content, for markdown
    #[arg(long)]
    whole: bool,
    /// Only pages found new or changed after this run, for markdown
    #[arg(long, value_name = "RUN", value_parser = clap::value_parser!(u32).range(1..))]
    since: Option<u32>,
    /// Data model to create, for postgres [default: both]
    #[arg(long, value_enum, value_name = "MODEL")]
    model: Option<database::ModelName>,
    /// Schema to create it in, for postgres [default: public for classic, crawldb for crawldb]
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,
    /// Leave out page content, for postgres
    #[arg(long)]
    no_content: bool,
}

/// Export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Tables as Apache Parquet
    Parquet,
    /// Tables as JSON lines
    Jsonl,
    /// Tables as comma-separated values
    Csv,
    /// Archive, index and page list in one file for replay (WACZ)
    Wacz,
    /// HTML pages as Markdown, one file each
    Markdown,
    /// The web graph as GraphML
    Graphml,
    /// The web graph as GEXF, for Gephi
    Gexf,
    /// The web graph, a pair of URLs per line
    Edges,
    /// The web graph in WebGraph's format
    Webgraph,
    /// Tables in a PostgreSQL database
    Postgres,
}

/// What was written.
#[derive(Debug, Serialize)]
struct ExportedFile {
    /// A file, a directory or a table.
    path: String,
    /// Number of items in it.
    count: u64,
    /// What the items are.
    of: &'static str,
}

/// What an export has done.
#[derive(Debug, Serialize)]
struct ExportReport<'a> {
    project: &'a str,
    written: &'a [ExportedFile],
}

/// What an export works on.
struct ExportJob<'a> {
    args: &'a ExportArgs,
    collection: &'a Collection,
    exporter: &'a Exporter,
    account: ExportMonitor,
}

pub(crate) fn run(common: &Common, args: &ExportArgs) -> Result<(), CommandFailure> {
    fitting(args)?;
    let collection = open(common, &args.of)?;
    let exporter = Exporter::open(collection.project())?;
    let account = ExportMonitor::open(common)?;
    let packing = args.zip.then(|| packed::Packing::begin(args)).transpose()?;
    let inner = packing.as_ref().map_or(args, |packing| &packing.args);
    let mut job = ExportJob { args: inner, collection: &collection, exporter: &exporter, account };
    let done = exporter.at_one_moment(|_| write(&mut job)).map_err(CommandFailure::from).flatten();
    let mut account = job.account;
    let written = match (done, packing) {
        (Ok(_), Some(packing)) => packing.finish(&mut account.watch("files")),
        (done, _) => done,
    };
    account.close();
    let written = written?;
    if args.output.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    report(common, args, &written)
}

/// Writes what is asked for where it is to go.
fn write(job: &mut ExportJob<'_>) -> Result<Vec<ExportedFile>, CommandFailure> {
    match job.args.format {
        ExportFormat::Parquet => rows::run(job, TableFormat::Parquet),
        ExportFormat::Jsonl => rows::run(job, TableFormat::Jsonl),
        ExportFormat::Csv => rows::run(job, TableFormat::Csv),
        ExportFormat::Wacz => wacz(job),
        ExportFormat::Markdown => markdown::run(job),
        ExportFormat::Postgres => database::run(job),
        ExportFormat::Graphml => graphs::run(job, graphs::As::Form(orb_export::graph::GraphFormat::Graphml)),
        ExportFormat::Gexf => graphs::run(job, graphs::As::Form(orb_export::graph::GraphFormat::Gexf)),
        ExportFormat::Edges => graphs::run(job, graphs::As::Form(orb_export::graph::GraphFormat::Edges)),
        ExportFormat::Webgraph => graphs::run(job, graphs::As::Lists),
    }
}

/// Refuses options that the format does not use.
fn fitting(args: &ExportArgs) -> Result<(), CommandFailure> {
    let (format, database) = (args.format, args.format == ExportFormat::Postgres);
    let tables = matches!(format, ExportFormat::Parquet | ExportFormat::Jsonl | ExportFormat::Csv);
    let unfit = [
        ("a URL (--output names what is written)", args.url.is_some() && !database),
        ("--table", !args.tables.is_empty() && !tables),
        ("--zip", args.zip && !tables && !matches!(format, ExportFormat::Markdown | ExportFormat::Webgraph)),
        ("--since", args.since.is_some() && format != ExportFormat::Markdown),
        ("--whole", args.whole && format != ExportFormat::Markdown),
        ("--model", args.model.is_some() && !database),
        ("--schema", args.schema.is_some() && !database),
        ("--no-content", args.no_content && !database),
        ("--output", args.output.is_some() && database),
    ];
    match unfit.iter().find(|(_, given)| *given) {
        Some((what, _)) => {
            let name = format.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
            Err(CommandFailure::Usage(format!("{what} does not apply to an export as {name}")))
        }
        None => Ok(()),
    }
}

fn wacz(job: &mut ExportJob<'_>) -> Result<Vec<ExportedFile>, CommandFailure> {
    let name = format!("{}.wacz", job.collection.name());
    let path = job.args.output.clone().unwrap_or_else(|| PathBuf::from(name));
    if path == Path::new("-") {
        return Err(CommandFailure::Usage("a WACZ file cannot be streamed: name a file".to_owned()));
    }
    orb_answers::need_bytes(job.collection.project())?;
    let mut file = place::Unfinished::begin(&path, job.args.force)?;
    let counts = {
        let watch = &mut job.account.watch("pieces");
        let exported = job.exporter.wacz(file.file(), watch);
        place::tell(exported, &path)?
    };
    file.keep()?;
    Ok(vec![ExportedFile { path: path.display().to_string(), count: counts.records, of: "records" }])
}

fn report(common: &Common, args: &ExportArgs, written: &[ExportedFile]) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &ExportReport { project: &args.of.project, written })?;
    } else if !common.quiet {
        for one in written {
            writeln!(stdout, "{}: {} {}", one.path, out::grouped(one.count), one.of)?;
        }
    }
    stdout.flush().context("cannot say what was written")?;
    Ok(())
}
