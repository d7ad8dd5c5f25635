//! What is exported, and as of which moment?
//!
//! An [`Exporter`] reads a project beside the process that crawls it. What it writes to, and who
//! watches, is up to the caller.

use crate::error::Result;
use crate::markdown::{MarkdownCounts, export_markdown};
use crate::postgres::export_postgres;
use crate::wacz::export_wacz;
use crate::{ExportError, ExportProgress, PostgresCounts, PostgresTarget, TableFormat, WaczCounts, export_table};
use orb_answers::ContentExtent;
use orb_page::RunId;
use orb_store::{ArchiveReader, CatalogueReader, ProjectDir, StoreError, Table};
use std::io::{self, Seek, Write};
use std::path::Path;

/// A project, opened for exporting it.
pub struct Exporter {
    project: ProjectDir,
    reader: CatalogueReader,
    archive: ArchiveReader,
}

impl Exporter {
    /// Opens a project that has collected something.
    pub fn open(project: &ProjectDir) -> Result<Self> {
        let (reader, archive) = (CatalogueReader::open(project)?, ArchiveReader::open(project));
        Ok(Self { project: project.clone(), reader, archive })
    }

    /// Everything that `work` exports is as the catalogue was at one moment.
    pub fn at_one_moment<T>(&self, work: impl FnOnce(&Self) -> T) -> Result<T> {
        Ok(self.reader.at_one_moment(|_| Ok::<T, StoreError>(work(self)))?)
    }

    /// Writes a table and returns its number of rows.
    pub fn table(
        &self,
        (table, format): (Table, TableFormat),
        out: impl Write + Send,
        watch: &mut ExportProgress<'_>,
    ) -> Result<u64> {
        Ok(export_table(&self.reader, table, format, out, watch)?)
    }

    /// Writes the archive with its index and its list of pages into one file for replay.
    pub fn wacz(&self, out: impl Write + Seek, watch: &mut ExportProgress<'_>) -> Result<WaczCounts> {
        export_wacz(&self.project, &self.reader, out, watch)
    }

    /// Gives every HTML page, or those found new or changed after a run, as a Markdown file to
    /// `put`: its name, and its text, the main content or everything.
    pub fn markdown(
        &self,
        (since, extent): (Option<u32>, ContentExtent),
        put: impl FnMut(&Path, &str) -> io::Result<()>,
        watch: &mut ExportProgress<'_>,
    ) -> Result<MarkdownCounts> {
        let since = since.map(RunId);
        if let Some(run) = since
            && self.reader.run(run)?.is_none()
        {
            return Err(ExportError::Refused(format!("project {} has no run {}", self.project.name, run.0)));
        }
        Ok(export_markdown((&self.reader, &self.archive), (since, extent), put, watch)?)
    }

    /// Creates relational models in a PostgreSQL database.
    pub fn postgres<'a>(
        &'a self,
        target: &PostgresTarget,
        watch: &'a mut ExportProgress<'a>,
    ) -> Result<PostgresCounts> {
        export_postgres(&self.reader, target, self.archive.clone(), watch)
    }
}
