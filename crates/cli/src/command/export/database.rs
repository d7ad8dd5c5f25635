//! How are tables exported to a PostgreSQL database?

use super::{ExportJob, ExportedFile};
use crate::failure::{CommandFailure, complain};
use anyhow::anyhow;
use clap::ValueEnum;
use orb_export::{Model, PostgresTarget};

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
    let (schema, replace, contents) = (args.schema.clone(), args.force, !args.no_content);
    let target = PostgresTarget { url, password, model, schema, replace, contents };
    let counts = job.exporter.postgres(&target, &mut job.account.watch("rows"))?;
    if counts.unreadable > 0 {
        complain(&format!("the content of {} pages could not be read and is left out", counts.unreadable));
    }
    Ok(counts.tables.into_iter().map(|(path, count)| ExportedFile { path, count, of: "rows" }).collect())
}
