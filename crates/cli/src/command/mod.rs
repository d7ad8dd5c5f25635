//! One file a command.

pub(crate) mod cat;
pub(crate) mod changes;
pub(crate) mod check;
mod content;
pub(crate) mod crawl;
pub(crate) mod deliver;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod export;
mod forms;
pub(crate) mod graph;
pub(crate) mod index;
pub(crate) mod inspect;
pub(crate) mod links;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod ranks;
pub(crate) mod report;
pub(crate) mod run_due;
pub(crate) mod search;
mod sessions;
pub(crate) mod show;
mod simulate;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod top;
pub(crate) mod track;
pub(crate) mod why;
pub(crate) mod words;

use crate::args::Common;
use crate::failure::Failure;
use anyhow::anyhow;
use orb_store::{CatalogueReader, Home, PageRow, ProjectDir};
use orb_urls::session::Site;
use orb_urls::{Canonicaliser, Rules};

/// A project's place and its catalogue, to read.
pub(crate) fn open_reader(common: &Common, project: &str) -> Result<(ProjectDir, CatalogueReader), Failure> {
    let project = Home::open(&common.home)?.find(project)?;
    if project.is_empty() {
        return Err(anyhow!("project {} has collected nothing yet; orb crawl does that", project.name).into());
    }
    let reader = CatalogueReader::open(&project.catalogue())?;
    Ok((project, reader))
}

/// The page with this URL, as typed, in canonical form, or without the session ids of its host.
pub(crate) fn find_page(reader: &CatalogueReader, project: &str, url: &str) -> Result<PageRow, Failure> {
    if let Some(page) = reader.page_by_url(url)? {
        return Ok(page);
    }
    let canonical = Canonicaliser::new(Rules::default()).parse_seed(url);
    let canonical = canonical.map_err(|e| Failure::Usage(format!("'{url}' is no URL: {e}")))?;
    if let Some(page) = reader.page_by_url(canonical.as_str())? {
        return Ok(page);
    }
    for rules in reader.sessions(canonical.host())? {
        let site: Site = serde_json::from_str(&rules).unwrap_or_default();
        if let Some(page) = reader.page_by_url(&site.identity(canonical.as_str()))? {
            return Ok(page);
        }
    }
    Err(anyhow!("project {project} does not know {}", canonical.as_str()).into())
}
