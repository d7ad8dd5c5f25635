//! How do the most important pages, or those around one, link to each other?

use super::{dated, ranked};
use crate::{AnswerError, Collection, Result};
use orb_graph::export::{DrawnGraph, GraphExportRequest, MOST_DRAWN, Selection, drawn};
use orb_graph::{By, Direction, Reach};
use orb_page::PageId;
use schemars::JsonSchema;
use serde::Serialize;

/// Most links between a page and what is drawn around it.
const FARTHEST: u32 = 5;

/// Which part of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapPart {
    /// The best by a measure.
    Top {
        /// The measure.
        by: By,
        /// How many.
        count: usize,
    },
    /// What is around a page.
    Around {
        /// Its URL, or its number.
        page: String,
        /// How many links from it.
        hops: u32,
        /// How many at most.
        count: usize,
    },
}

/// A part of the web graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphMap {
    /// The pages or hosts, and the links between them.
    #[serde(flatten)]
    pub graph: DrawnGraph,
    /// The page it is drawn around.
    pub around: Option<u64>,
    /// What the reader should know about the graph, if anything.
    pub note: Option<String>,
}

/// A part of the web graph, of pages or hosts: at most 5,000 of them.
pub fn graph_map(collection: &Collection, part: &MapPart, hosts: bool) -> Result<GraphMap> {
    let (graph, note) = dated(collection)?;
    let (selection, around) = match part {
        MapPart::Top { by, count } => {
            ranked(collection)?;
            (Selection::Top { by: *by, count: bounded(*count) }, None)
        }
        MapPart::Around { page, hops, count } => {
            let page = found(collection, page)?;
            let hops = (*hops).clamp(1, FARTHEST);
            let reach = Reach { hops, direction: Direction::Both, limit: bounded(*count) };
            (Selection::Around { page, reach }, Some(page.0))
        }
    };
    let mut failed = None;
    let mut titles = |page| {
        collection.title(page).unwrap_or_else(|e| {
            failed.get_or_insert(e);
            None
        })
    };
    let mut wish = GraphExportRequest { selection, hosts, title: "", titles: &mut titles };
    let mut graph = drawn(graph, &mut wish)?;
    if let Some(error) = failed {
        return Err(error);
    }
    if hosts {
        graph.about = graph.about.replace("pages", "hosts");
    }
    if around.is_some() && graph.nodes.is_empty() {
        let why = format!("the page was found after the graph was built; orb graph build {}", collection.name());
        return Err(AnswerError::NotBuilt(why));
    }
    Ok(GraphMap { graph, around, note })
}

/// The page with this number or URL.
fn found(collection: &Collection, page: &str) -> Result<PageId> {
    let row = match page.parse() {
        Ok(number) => collection.numbered(number)?,
        Err(_) => collection.page(page)?,
    };
    Ok(PageId(row.id))
}

fn bounded(count: usize) -> usize {
    count.clamp(1, MOST_DRAWN)
}
