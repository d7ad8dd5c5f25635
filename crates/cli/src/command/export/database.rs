//! How are tables exported to a PostgreSQL database?

use super::{ExportJob, ExportedFile};
use crate::failure::{CommandFailure, complain};
use anyhow::anyhow;
use clap::ValueEnum;
use orb_answers::content::{decoded, source};
use orb_export::{ContentSource, ExportError, Model, PostgresTarget, export_postgres};
use orb_page::WarcPosition;
use orb_store::{ArchiveReader, StoredExchange};

/// Names of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelName {
    /// hosts, resources, links
    Classic,
    /// site, page, page_type, page_data, image, link
    Crawldb,
    /// All of them
    Both,
}

pub(super) fn run(job: &mut ExportJob<'_>) -> Result<Vec<ExportedFile>, CommandFailure> {
    let args = job.args;
    let url = args.url.clone().ok_or_else(|| anyhow!("say which database"))?;
    let model = match args.model.unwrap_or(ModelName::Both) {
        ModelName::Classic => Model::Classic,
        ModelName::Crawldb => Model::Crawldb,
        ModelName::Both => Model::Both,
    };
    let password = std::env::var("PGPASSWORD").ok();
    let target = PostgresTarget { url, password, model, schema: args.schema.clone(), replace: args.force };
    let archive = Archived { archive: ArchiveReader::open(&job.project) };
    let contents = (!args.no_content).then(|| Box::new(archive) as Box<dyn ContentSource>);
    let counts = export_postgres(job.reader, &target, contents, &mut job.account.watch("rows"));
    let counts = counts.map_err(|e| match e {
        ExportError::Store(e) => CommandFailure::from(e),
        other => CommandFailure::from(other),
    })?;
    if counts.unreadable > 0 {
        complain(&format!("the content of {} pages could not be read and is left out", counts.unreadable));
    }
    Ok(counts.tables.into_iter().map(|(path, count)| ExportedFile { path, count, of: "rows" }).collect())
}

/// Page contents from the archive.
struct Archived {
    archive: ArchiveReader,
}

impl Archived {
    fn read(&self, at: &WarcPosition) -> Option<(StoredExchange, bytes::Bytes)> {
        let stored = self.archive.exchange(at).ok()?;
        let content = decoded(&stored).ok()?;
        Some((stored, content))
    }
}

impl ContentSource for Archived {
    fn text(&mut self, url: &str, at: &WarcPosition) -> Option<String> {
        let (stored, content) = self.read(at)?;
        Some(source(url, &stored, &content))
    }

    fn bytes(&mut self, _url: &str, at: &WarcPosition) -> Option<Vec<u8>> {
        Some(self.read(at)?.1.to_vec())
    }
}
