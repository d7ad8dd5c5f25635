//! What is known about one page?

use crate::links::anchors_at_hand;
use crate::properties::DocumentProperties;
use crate::{Collection, Result};
use orb_graph::Merit;
use orb_page::PageId;
use orb_store::{AliasNote, AnchorRow, ImageRow, LinkRow, PageRow, VisitRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of anchor texts.
const TEXTS: u64 = 5;

/// One page: record, versions, links.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownPage {
    /// Its record.
    pub page: PageRow,
    /// The URL of the page on which it was discovered.
    pub discovered_from_url: Option<String>,
    /// What it says about itself, if it is a document, a picture or a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentProperties>,
    /// What it is another address of, if that was learnt.
    pub alias: Option<AliasNote>,
    /// What each run saw of it, latest first.
    pub visits: Vec<VisitRow>,
    /// Its scores; `None` if the graph does not contain it.
    pub ranks: Option<Merit>,
    /// Its anchor texts, most frequent first; `None` if finding them would take long.
    pub anchors: Option<Vec<AnchorRow>>,
    /// Its links.
    pub links: Vec<LinkRow>,
    /// Its images.
    pub images: Vec<ImageRow>,
    /// The size in bytes of the picture that was taken when it was last rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<u64>,
}

/// What is known about the page with this URL, with at most this many of its links.
pub fn show(collection: &Collection, url: &str, links: u64) -> Result<ShownPage> {
    let reader = collection.catalogue();
    let page = collection.page(url)?;
    let id = PageId(page.id);
    let discovered_from_url = match page.discovered_from {
        Some(id) => reader.page(PageId(id))?.map(|p| p.url),
        None => None,
    };
    let visits = reader.visits(id)?;
    let place = visits.first().and_then(VisitRow::warc).filter(|_| visits.iter().any(|visit| visit.status.is_some()));
    let picture = place.and_then(|place| collection.archive().picture(&place).ok().flatten());
    Ok(ShownPage {
        discovered_from_url,
        document: DocumentProperties::of_page(collection, &page, &visits)?,
        alias: reader.alias(id)?,
        screenshot: picture.map(|(_, bytes)| bytes.len() as u64),
        visits,
        // Commands that need the graph report a missing or damaged one.
        ranks: collection.ranks().ok().flatten().and_then(|ranks| ranks.of(id).ok().flatten()),
        anchors: anchors_at_hand(collection, id, TEXTS)?,
        links: reader.links_out(id, links, 0)?,
        images: reader.images(id)?,
        page,
    })
}
