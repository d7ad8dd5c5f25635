//! How is the graph built from the catalogue?

use super::{GraphFreshness, mark, seen, standing};
use crate::error::CrawlError;
use orb_graph::{BuildProgress, GraphError, GraphOptions, Manifest, Naming, WebGraph};
use orb_store::{CatalogueReader, ProjectDir};

/// The result of a build.
#[derive(Debug)]
pub enum GraphBuildOutcome {
    /// There is a new graph.
    Built(Manifest),
    /// The existing graph is up to date with the catalogue.
    Current(Manifest),
}

/// Brings the graph of a project up to date with its catalogue, even during a crawl. If nothing was
/// recorded since it was built with the same options, nothing is done, unless forced.
pub fn build(
    project: &ProjectDir,
    options: &GraphOptions,
    always: bool,
    watch: &BuildProgress,
) -> Result<GraphBuildOutcome, CrawlError> {
    let reader = CatalogueReader::open(project)?;
    let dir = project.graph();
    reader.at_one_moment(|reader| {
        let extent = reader.extent()?;
        if !always
            && let Some(manifest) = standing_graph(&dir, options)?
            && standing(&manifest.mark, &extent) == GraphFreshness::Current
        {
            return Ok(GraphBuildOutcome::Current(manifest));
        }
        let mut naming = Naming::begin(&dir, options.clone(), mark(&extent), watch.clone())?;
        reader.each_origin(|host, origin| Ok::<_, CrawlError>(naming.host(host, origin)?))?;
        reader.each_url(|page, host, url| Ok::<_, CrawlError>(naming.page(page, host, url)?))?;
        let mut linking = naming.number()?;
        reader.each_link(|link| Ok::<_, CrawlError>(linking.link(&seen(link))?))?;
        Ok(GraphBuildOutcome::Built(linking.finish()?))
    })
}

/// The existing graph with these options, if it is complete.
fn standing_graph(dir: &std::path::Path, options: &GraphOptions) -> Result<Option<Manifest>, CrawlError> {
    match WebGraph::open(dir).and_then(|graph| graph.verify().map(|()| graph)) {
        Ok(graph) => Ok(Some(graph.manifest().clone()).filter(|m| m.options == *options)),
        Err(GraphError::Missing { .. } | GraphError::Damaged { .. } | GraphError::OtherFormat { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
