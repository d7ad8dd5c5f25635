//! Who points to a page?
//!
//! The catalogue has no index by target. The graph names the pages that pointed to it when it was built, the catalogue has their links by key;
//! pages that got their first links since are few and lie at the end of the catalogue, where they are looked through. What those links say
//! is as of now. Only a link that a page gained at a later visit than its first is missed until the graph is built again, and that is
//! said. Without a graph, or with one of no use, all links are read.

use super::{Standing, standing};
use crate::error::CrawlError;
use orb_graph::{GraphError, WebGraph};
use orb_page::PageId;
use orb_store::{CatalogueReader, Extent, LinkRow};
use std::path::Path;

/// Pages with links up to which reading them all is a matter of a moment.
const FEW: u64 = 20_000;

/// The links to a page.
#[derive(Debug)]
pub struct Backward {
    /// The links, by the URLs of the pages they are on.
    pub links: Vec<LinkRow>,
    /// What the reader should know about them, if anything.
    pub note: Option<String>,
}

/// The links to a page, those that are gone included: `limit` of them after the first `offset`.
pub fn links_in(
    reader: &CatalogueReader,
    graph: &Path,
    page: PageId,
    (limit, offset): (u64, u64),
) -> Result<Backward, CrawlError> {
    reader.at_one_moment(|reader| {
        let extent = reader.extent()?;
        let (graph, note) = usable(graph, &extent)?;
        let Some(graph) = graph else {
            return Ok(Backward { links: reader.links_in(page, limit, offset)?, note });
        };
        let mut out = Window { links: Vec::new(), limit, offset };
        match from_graph(reader, &graph, page, &mut out) {
            Err(CrawlError::Graph(e @ GraphError::Damaged { .. })) => {
                let note = Some(format!("{e}; all links were read instead"));
                Ok(Backward { links: reader.links_in(page, limit, offset)?, note })
            }
            done => done.map(|()| Backward { links: out.links, note }),
        }
    })
}

/// The graph, if it is of use with a catalogue of this extent; and what is to be said about it.
pub(super) fn usable(dir: &Path, extent: &Extent) -> Result<(Option<WebGraph>, Option<String>), CrawlError> {
    let graph = match WebGraph::open(dir) {
        Ok(graph) => graph,
        Err(GraphError::Missing { .. }) => {
            let slow = "all links were read, since no graph is built; orb graph build makes this quick";
            return Ok((None, (extent.sources > FEW).then(|| slow.to_owned())));
        }
        Err(e @ (GraphError::Damaged { .. } | GraphError::OtherFormat { .. })) => {
            return Ok((None, Some(format!("{e}; all links were read instead"))));
        }
        Err(e) => return Err(e.into()),
    };
    Ok(match standing(&graph.manifest().mark, extent) {
        Standing::Current => (Some(graph), None),
        Standing::Behind { batches, runs: 0, .. } => {
            let note = format!("the graph is {batches} batches older than the catalogue, from which the rest was read");
            (Some(graph), Some(note))
        }
        Standing::Behind { runs, .. } => {
            let note = format!(
                "the graph is {runs} runs older than the catalogue: links that pages gained when they were visited again are missing; \
                 orb graph build adds them"
            );
            (Some(graph), Some(note))
        }
        Standing::Foreign => {
            let note =
                "the graph was built from another catalogue, and all links were read; orb graph build makes a new one";
            (None, Some(note.to_owned()))
        }
    })
}

/// Takes what lies between the first rows to be left out and the last one wanted.
struct Window {
    links: Vec<LinkRow>,
    limit: u64,
    offset: u64,
}

impl Window {
    fn is_full(&self) -> bool {
        self.links.len() as u64 >= self.limit
    }

    fn push(&mut self, link: LinkRow) {
        if self.offset > 0 {
            self.offset -= 1;
        } else if !self.is_full() {
            self.links.push(link);
        }
    }
}

/// What the graph knows, and what the catalogue has besides, in the order of the URLs.
fn from_graph(reader: &CatalogueReader, graph: &WebGraph, page: PageId, out: &mut Window) -> Result<(), CrawlError> {
    let known = graph.manifest().mark.sources;
    let mut since = reader.links_in_after(page, known)?.into_iter().peekable();
    for source in graph.pages_pointing_to(page)? {
        if out.is_full() {
            return Ok(());
        }
        for link in reader.links_between(source?, page)? {
            while let Some(earlier) = since.next_if(|l| l.url < link.url) {
                out.push(earlier);
            }
            out.push(link);
        }
    }
    since.for_each(|link| out.push(link));
    Ok(())
}
