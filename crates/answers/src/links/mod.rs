//! Where does a page link, who links to it, and how have links changed since a run?

mod anchors;
mod backward;
mod since;

pub(crate) use anchors::anchors_at_hand;
pub use anchors::{LinkTexts, link_texts};
pub use backward::{LinksIn, links_in, links_in_at_hand};
pub use since::{LinkFilter, links_since};

use crate::{Collection, Result, Window};
use orb_page::PageId;
use orb_store::LinkRow;

/// The links of a page, including those that have disappeared.
pub fn links_out(collection: &Collection, url: &str, rows: Window) -> Result<Vec<LinkRow>> {
    let page = collection.page(url)?;
    Ok(collection.catalogue().links_out(PageId(page.id), rows.limit, rows.offset)?)
}

/// The full history of a page's links, from which run to which.
pub fn link_history(collection: &Collection, url: &str, rows: Window) -> Result<Vec<LinkRow>> {
    let page = collection.page(url)?;
    Ok(rows.of(collection.catalogue().link_history(PageId(page.id))?))
}
