//! What is near a page?

use super::dated;
use crate::{AnswerError, Collection, Result, Window};
use orb_graph::{Direction, Reach};
use orb_page::PageId;
use schemars::JsonSchema;
use serde::Serialize;

/// The pages around one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PageNeighbours {
    /// The pages, nearest first.
    pub rows: Vec<NeighbourRow>,
    /// What the reader should know about the graph, if anything.
    pub note: Option<String>,
}

/// A page near another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeighbourRow {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Distance in links.
    pub hops: u32,
    /// Its PageRank; `None` if the graph was not ranked.
    pub score: Option<f64>,
}

/// The neighbourhood of the page with this URL, up to this many links.
pub fn neighbours(
    collection: &Collection,
    url: &str,
    (hops, direction): (u32, Direction),
    rows: Window,
) -> Result<PageNeighbours> {
    let page = collection.page(url)?;
    let (graph, note) = dated(collection)?;
    let (limit, offset) = rows.sizes();
    // The first one is the page itself.
    let reach = Reach { hops, direction, limit: limit.saturating_add(offset).saturating_add(1) };
    let around = graph.around(PageId(page.id), &reach)?;
    if around.is_empty() {
        let name = collection.name();
        return Err(AnswerError::NotBuilt(format!(
            "{} was found after the graph was built; orb graph build {name}",
            page.url
        )));
    }
    let ranks = collection.ranks()?;
    let mut found = Vec::new();
    for near in around.into_iter().skip(1).skip(offset) {
        let score = match ranks {
            Some(ranks) => ranks.of(near.page)?.map(|merit| merit.pagerank),
            None => None,
        };
        let title = collection.catalogue().title(near.page)?;
        found.push(NeighbourRow { url: near.url, title, hops: near.hops, score });
    }
    Ok(PageNeighbours { rows: found, note })
}
