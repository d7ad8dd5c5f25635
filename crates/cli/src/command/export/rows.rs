//! How are tables exported as files?

use super::place::{Unfinished, tell};
use super::{ExportJob, ExportedFile};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use clap::ValueEnum;
use orb_export::{Table, TableFormat};
use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Names of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// Runs
    #[value(alias = "run")]
    Runs,
    /// Servers
    #[value(alias = "host")]
    Hosts,
    /// Pages with what their latest visit found
    #[value(alias = "page")]
    Pages,
    /// What each run saw of each page
    #[value(alias = "visit")]
    Visits,
    /// Links, current or gone
    #[value(alias = "link")]
    Links,
    /// Images on pages
    #[value(alias = "image")]
    Images,
}

impl Name {
    const fn table(self) -> Table {
        match self {
            Self::Runs => Table::Runs,
            Self::Hosts => Table::Hosts,
            Self::Pages => Table::Pages,
            Self::Visits => Table::Visits,
            Self::Links => Table::Links,
            Self::Images => Table::Images,
        }
    }
}

/// Writes one table to a file or to standard output, or several to a directory.
pub(super) fn run(job: &mut ExportJob<'_>, format: TableFormat) -> Result<Vec<ExportedFile>, CommandFailure> {
    let mut tables: Vec<Table> = job.args.tables.iter().map(|name| name.table()).collect();
    tables.sort_unstable();
    tables.dedup();
    let output = job.args.output.clone();
    match (tables.as_slice(), output) {
        (&[table], Some(path)) if path == Path::new("-") => to_stdout(job, table, format).map(|()| Vec::new()),
        (_, Some(path)) if path == Path::new("-") => {
            Err(CommandFailure::Usage("standard output takes one table: choose it with --table".to_owned()))
        }
        (&[table], output) => {
            let name = format!("{}-{}.{}", job.collection.name(), table.name(), format.extension());
            let path = output.unwrap_or_else(|| PathBuf::from(name));
            // In an existing directory the file is named after the table.
            let path = if path.is_dir() { path.join(file_name(table, format)) } else { path };
            let (file, written) = to_file(job, table, format, &path)?;
            file.keep()?;
            Ok(vec![written])
        }
        (tables, output) => {
            let dir =
                output.unwrap_or_else(|| PathBuf::from(format!("{}-{}", job.collection.name(), format.extension())));
            let all = if tables.is_empty() { &Table::ALL } else { tables };
            to_directory(job, all, format, &dir)
        }
    }
}

fn file_name(table: Table, format: TableFormat) -> String {
    format!("{}.{}", table.name(), format.extension())
}

fn to_stdout(job: &mut ExportJob<'_>, table: Table, format: TableFormat) -> Result<(), CommandFailure> {
    if format == TableFormat::Parquet && std::io::stdout().is_terminal() {
        return Err(CommandFailure::Usage(
            "Parquet cannot be shown on a terminal: write it to a file with -o".to_owned(),
        ));
    }
    let watch = &mut job.account.watch(table.name());
    tell(job.exporter.table((table, format), out::content(), watch), Path::new("-")).map(drop)
}

fn to_file(
    job: &mut ExportJob<'_>,
    table: Table,
    format: TableFormat,
    path: &Path,
) -> Result<(Unfinished, ExportedFile), CommandFailure> {
    let mut file = Unfinished::begin(path, job.args.force)?;
    let watch = &mut job.account.watch(table.name());
    let rows = tell(job.exporter.table((table, format), file.file(), watch), path)?;
    Ok((file, ExportedFile { path: path.display().to_string(), count: rows, of: "rows" }))
}

/// All or none of them get their names; a directory created for them is removed with them.
fn to_directory(
    job: &mut ExportJob<'_>,
    tables: &[Table],
    format: TableFormat,
    dir: &Path,
) -> Result<Vec<ExportedFile>, CommandFailure> {
    for table in tables {
        super::place::refuse_existing(&dir.join(file_name(*table, format)), job.args.force)?;
    }
    let made = !dir.exists();
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let all: Result<Vec<(Unfinished, ExportedFile)>, CommandFailure> =
        tables.iter().map(|table| to_file(job, *table, format, &dir.join(file_name(*table, format)))).collect();
    let kept = all.and_then(|files| {
        files
            .into_iter()
            .map(|(file, written)| file.keep().map(|()| written))
            .collect::<Result<Vec<_>, CommandFailure>>()
    });
    if kept.is_err() && made {
        // Removes only an empty one.
        let _ = fs::remove_dir(dir);
    }
    kept
}
