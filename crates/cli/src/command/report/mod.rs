//! `orb report`: what did a run find new, the same, updated, missing?
//!
//! A report is the account of the run and then its documents, row after row; each format is one
//! file here, and none buffers the rows.

mod account;
mod csv;
mod html;
mod json;
mod sides;
mod text;

use super::changes::flag;
use super::export::place::{Unfinished, tell};
use super::open_reader;
use crate::args::{Common, Listing};
use crate::failure::Failure;
use crate::out;
use account::Account;
use clap::{Args, ValueEnum};
use orb_page::Flag;
use orb_store::{CatalogueReader, ProjectDir, ToldRow, Wanted};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// `orb report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The project
    project: String,
    /// The run [default: the last]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run: Option<u32>,
    /// Output format [default: text, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// List only documents with these flags [default: NEW, UPD, MIS and ERR]
    #[arg(long, value_name = "FLAG", value_delimiter = ',', value_parser = flag)]
    flag: Vec<Flag>,
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
    listing: Listing,
}

impl ReportArgs {
    /// The first lines of the report on a project's last run.
    pub(crate) fn brief(project: &str, lines: u32) -> Self {
        Self {
            project: project.to_owned(),
            run: None,
            format: None,
            flag: Vec::new(),
            diffs: 0,
            output: None,
            force: false,
            fail_on_change: false,
            listing: Listing { limit: Some(lines.into()), offset: 0 },
        }
    }
}

/// Report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One object
    Json,
    /// The documents as comma-separated values
    Csv,
    /// One self-contained page with tables, filters and differences
    Html,
}

/// What a report is made from.
struct Report<'a> {
    project: &'a ProjectDir,
    reader: &'a CatalogueReader,
    account: Account,
    /// The flags of the listed documents.
    flags: Vec<Flag>,
    /// Maximum number of rows, if given.
    limit: Option<u64>,
    offset: u64,
    /// Number of updated documents whose diffs are shown.
    diffs: u64,
}

impl Report<'_> {
    /// Calls back with the listed documents, one by one; stops if the output fails.
    fn each(&self, each: impl FnMut(ToldRow) -> std::io::Result<()>) -> orb_store::Result<()> {
        self.each_of(&self.flags, u64::MAX, each)
    }

    /// The same for some flags, with a default limit.
    fn each_of(
        &self,
        flags: &[Flag],
        usual: u64,
        mut each: impl FnMut(ToldRow) -> std::io::Result<()>,
    ) -> orb_store::Result<()> {
        let limit = self.limit.unwrap_or(usual);
        let wanted = Wanted { run: self.account.id, flags, limit, offset: self.offset };
        self.reader.each_told(&wanted, |row| each(row).map_err(orb_store::StoreError::Output))
    }
}

pub(crate) fn run(common: &Common, args: &ReportArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let format = args.format.unwrap_or(if common.json { Format::Json } else { Format::Text });
    let changed = reader.at_one_moment(|reader| {
        let account = Account::of(&project, reader, args.run)?;
        let changed = account.counts.changed() > 0;
        let flags = match args.flag.as_slice() {
            [] => vec![Flag::New, Flag::Updated, Flag::Missing, Flag::Error],
            flags => flags.to_vec(),
        };
        let (limit, offset, diffs) = (args.listing.limit, args.listing.offset, args.diffs);
        let report = Report { project: &project, reader, account, flags, limit, offset, diffs };
        write(&report, format, args)?;
        Ok::<_, Failure>(changed)
    })?;
    if changed && args.fail_on_change { Err(Failure::Changed) } else { Ok(()) }
}

/// Writes it to its destination.
fn write(report: &Report<'_>, format: Format, args: &ReportArgs) -> Result<(), Failure> {
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut stdout = out::stdout();
        tell(told(report, format, &mut stdout), Path::new("-"))?;
        return Ok(stdout.flush()?);
    };
    let mut file = Unfinished::begin(path, args.force)?;
    let mut sink = BufWriter::with_capacity(1 << 16, file.file());
    let done = told(report, format, &mut sink).and_then(|()| sink.flush().map_err(orb_store::StoreError::Output));
    drop(sink);
    tell(done, path)?;
    file.keep()
}

fn told(report: &Report<'_>, format: Format, sink: &mut impl Write) -> orb_store::Result<()> {
    match format {
        Format::Text => text::write(report, sink),
        Format::Json => json::write(report, sink),
        Format::Csv => csv::write(report, sink),
        Format::Html => html::write(report, sink),
    }
}
