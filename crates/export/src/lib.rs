//! How do the facts leave for other people's tools?
//!
//! An [`Exporter`] writes tables row by row as CSV, JSON lines or Parquet; the classic relational
//! models into PostgreSQL; pages as Markdown; the archive as one WACZ file. Everything streams:
//! memory is bounded by a row group, whatever the size of the catalogue. Nothing is written to the
//! project, and if the caller wants to stop, [`ExportError::Stopped`] is returned.

mod csv;
mod error;
mod exporter;
mod jsonl;
mod markdown;
mod merge;
mod pack;
mod parquet;
mod postgres;
mod wacz;
mod zip;

pub use error::ExportError;
pub use exporter::Exporter;
pub use markdown::MarkdownCounts;
/// The web graph in other tools' formats, and as a drawing.
pub use orb_graph::export as graph;
pub use orb_store::Table;
use orb_store::{CatalogueReader, CatalogueWalk, Cell};
use orb_store::{Result, StoreError};
pub use pack::pack_directory;
pub use postgres::{Model, PostgresCounts, PostgresTarget};
use std::io::{self, Write};
use std::ops::ControlFlow;
pub use wacz::WaczCounts;

/// Progress callback: rows written so far; breaks off to stop the export.
pub type ExportProgress<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// The format of an exported table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// A header line, then one line per row (RFC 4180); NULL is an empty cell.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet, compressed with zstd.
    Parquet,
}

impl TableFormat {
    /// Its file extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// Takes rows one by one.
trait Sink {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Writes a table and returns its number of rows.
fn export_table<'w>(
    reader: &CatalogueReader,
    table: Table,
    format: TableFormat,
    out: impl Write + Send + 'w,
    watch: &mut ExportProgress<'_>,
) -> Result<u64> {
    let columns = table.columns();
    let sink: io::Result<Box<dyn Sink + 'w>> = match format {
        TableFormat::Csv => csv::Csv::new(out, columns).map(|s| Box::new(s) as Box<dyn Sink>),
        TableFormat::Jsonl => Ok(Box::new(jsonl::Jsonl::new(out, columns))),
        TableFormat::Parquet => parquet::Parquet::new(out, table.name(), columns).map(|s| Box::new(s) as Box<dyn Sink>),
    };
    let mut sink = sink.map_err(StoreError::Output)?;
    let mut rows = 0;
    reader.each_row(CatalogueWalk::Table(table), |cells| {
        sink.row(cells).map_err(StoreError::Output)?;
        rows += 1;
        step(rows, watch)
    })?;
    sink.finish().map_err(StoreError::Output)?;
    Ok(rows)
}

/// Asks periodically whether to continue.
fn step(rows: u64, watch: &mut ExportProgress<'_>) -> Result<()> {
    if rows.is_multiple_of(256) && watch(rows).is_break() { Err(StoreError::Stopped) } else { Ok(()) }
}
