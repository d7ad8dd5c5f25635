//! Who links to a page?
//!
//! The catalogue has no index by target. The graph names the pages that linked to it when it was
//! built, and the catalogue has their links by key; pages that got their first links since are few
//! and at the end of the catalogue, where they are scanned. The links themselves are current. Only
//! a link that a page gained after its first visit is missed until the graph is rebuilt, and the
//! note says so. Without a usable graph, all links are scanned.

use crate::graph::standing;
use crate::{AnswerError, Collection, Result, Window};
use orb_graph::{GraphError, GraphFreshness, WebGraph};
use orb_page::PageId;
use orb_store::{CatalogueReader, Extent, LinkRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Up to this many pages with links, a full scan is instant.
const FEW: u64 = 20_000;

/// From this many pages with links on, nobody waits for a full scan who did not ask for it.
const MANY: u64 = 100_000;

/// The links to a page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LinksIn {
    /// The links, ordered by the URLs of their pages.
    pub links: Vec<LinkRow>,
    /// What the reader should know about them, if anything.
    pub note: Option<String>,
}

/// The links to the page with this URL, including those that have disappeared.
pub fn links_in(collection: &Collection, url: &str, rows: Window) -> Result<LinksIn> {
    backward(collection, PageId(collection.page(url)?.id), rows)
}

/// The same if they are found quickly; otherwise none, and the note says how to get them.
pub fn links_in_at_hand(collection: &Collection, url: &str, rows: Window) -> Result<LinksIn> {
    let extent = collection.catalogue().extent()?;
    if extent.sources > MANY && usable(collection, &extent)?.0.is_none() {
        let name = collection.name();
        let note =
            format!("finding them would read all links of the collection; orb graph build {name} makes it quick");
        return Ok(LinksIn { links: Vec::new(), note: Some(note) });
    }
    links_in(collection, url, rows)
}

pub(super) fn backward(collection: &Collection, page: PageId, rows: Window) -> Result<LinksIn> {
    collection.catalogue().at_one_moment(|reader| {
        let (graph, note) = usable(collection, &reader.extent()?)?;
        let all = |note| Ok(LinksIn { links: reader.links_in(page, rows.limit, rows.offset)?, note });
        let Some(graph) = graph else { return all(note) };
        let mut taken = LimitOffset { links: Vec::new(), rows };
        match from_graph(reader, graph, page, &mut taken) {
            Err(Trouble::Graph(e @ GraphError::Damaged { .. })) => {
                all(Some(format!("{e}; all links were read instead")))
            }
            Err(trouble) => Err(trouble.into()),
            Ok(()) => Ok(LinksIn { links: taken.links, note }),
        }
    })
}

/// The graph, if it is usable with a catalogue of this extent; and what to say about it.
pub(super) fn usable<'a>(
    collection: &'a Collection,
    extent: &Extent,
) -> Result<(Option<&'a WebGraph>, Option<String>)> {
    let graph = match collection.graph() {
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
    Ok(match standing(graph, extent) {
        GraphFreshness::Current => (Some(graph), None),
        GraphFreshness::Behind { .. } if collection.catalogue().is_copy()? => {
            let note = "the graph is older than the copy, and all links were read; orb graph build makes this quick";
            (None, Some(note.to_owned()))
        }
        GraphFreshness::Behind { batches, runs: 0, .. } => {
            let note = format!("the graph is {batches} batches older than the catalogue, from which the rest was read");
            (Some(graph), Some(note))
        }
        GraphFreshness::Behind { runs, .. } => {
            let note = format!(
                "the graph is {runs} runs older than the catalogue: links that pages gained when they were visited again are missing; \
                 orb graph build adds them"
            );
            (Some(graph), Some(note))
        }
        GraphFreshness::Foreign => {
            let note =
                "the graph was built from another catalogue, and all links were read; orb graph build makes a new one";
            (None, Some(note.to_owned()))
        }
    })
}

/// Applies limit and offset.
struct LimitOffset {
    links: Vec<LinkRow>,
    rows: Window,
}

impl LimitOffset {
    fn is_full(&self) -> bool {
        self.links.len() as u64 >= self.rows.limit
    }

    fn push(&mut self, link: LinkRow) {
        if self.rows.offset > 0 {
            self.rows.offset -= 1;
        } else if !self.is_full() {
            self.links.push(link);
        }
    }
}

/// What went wrong on the way: a damaged graph can be done without.
enum Trouble {
    Graph(GraphError),
    Store(orb_store::StoreError),
}

impl From<GraphError> for Trouble {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl From<orb_store::StoreError> for Trouble {
    fn from(error: orb_store::StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Trouble> for AnswerError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Graph(error) => error.into(),
            Trouble::Store(error) => error.into(),
        }
    }
}

/// What the graph knows, and what the catalogue has in addition, in URL order.
fn from_graph(
    reader: &CatalogueReader,
    graph: &WebGraph,
    page: PageId,
    out: &mut LimitOffset,
) -> std::result::Result<(), Trouble> {
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
