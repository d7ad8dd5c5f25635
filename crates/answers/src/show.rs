//! What is known of one page?

use crate::links::anchors_at_hand;
use crate::{Collection, Result};
use orb_graph::Merit;
use orb_page::PageId;
use orb_store::{AnchorRow, ImageRow, LinkRow, PageRow, VisitRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Link texts that are told of.
const TEXTS: u64 = 5;

/// One page: record, versions, links.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownPage {
    /// Its record.
    pub page: PageRow,
    /// The URL of the page on which it was discovered.
    pub discovered_from_url: Option<String>,
    /// What each run saw of it, latest first.
    pub visits: Vec<VisitRow>,
    /// What the rankings say of it; none where the graph does not know it.
    pub ranks: Option<Merit>,
    /// What others call it, most common first; none where telling would take long.
    pub anchors: Option<Vec<AnchorRow>>,
    /// Where it points.
    pub links: Vec<LinkRow>,
    /// Its pictures.
    pub images: Vec<ImageRow>,
}

/// What is known of the page with this URL, with at most so many of its links.
pub fn show(collection: &Collection, url: &str, links: u64) -> Result<ShownPage> {
    let reader = collection.catalogue();
    let page = collection.page(url)?;
    let id = PageId(page.id);
    let discovered_from_url = match page.discovered_from {
        Some(id) => reader.page(PageId(id))?.map(|p| p.url),
        None => None,
    };
    Ok(ShownPage {
        discovered_from_url,
        visits: reader.visits(id)?,
        // A graph that is missing or damaged is told of by those who need one.
        ranks: collection.ranks().ok().flatten().and_then(|ranks| ranks.of(id).ok().flatten()),
        anchors: anchors_at_hand(collection, id, TEXTS)?,
        links: reader.links_out(id, links, 0)?,
        images: reader.images(id)?,
        page,
    })
}
