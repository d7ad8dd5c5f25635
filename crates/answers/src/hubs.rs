//! Which feeds and pages say where their news can be had at once?
//!
//! One that names a hub (WebSub: a link with `rel=hub`, in the header of its response or in itself)
//! is delivered by that hub to whoever subscribes to its topic, which it names with `rel=self`;
//! without that it is its own URL. As the recommendation has it, the header goes before the
//! document (w3.org/TR/websub, section 4).

use crate::{Collection, Result};
use orb_page::{LinkKind, PageId};
use orb_store::{LinkRow, PageSieve};

/// The media types of feeds, and of pages.
const MEDIA: [&str; 7] = [
    "application/atom+xml",
    "application/rss+xml",
    "application/rdf+xml",
    "application/xml",
    "text/xml",
    "text/html",
    "application/xhtml+xml",
];

/// Documents that are examined, of each media type.
const EXAMINED: u64 = 1_000;

/// Links of a document that are examined.
const LINKS: u64 = 1_000;

/// A feed or page with a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedHub {
    /// What to subscribe to.
    pub topic: String,
    /// Where.
    pub hub: String,
}

/// The feeds and pages of a collection that have hubs.
pub fn hubs(collection: &Collection) -> Result<Vec<FeedHub>> {
    let reader = collection.catalogue();
    let mut found: Vec<FeedHub> = Vec::new();
    for mime in MEDIA {
        let sieve = PageSieve { mime: Some(mime), ..PageSieve::default() };
        for page in reader.pages(&sieve, (0, u64::MAX), EXAMINED)? {
            let links = reader.links_out(PageId(page.id), LINKS, 0)?;
            let Some(hub) = named(&links, "hub") else { continue };
            let topic = named(&links, "self").unwrap_or(page.url);
            if !found.iter().any(|known| known.topic == topic) {
                found.push(FeedHub { topic, hub });
            }
        }
    }
    Ok(found)
}

/// The target of the first link with this relation that is still there, those of the header first.
fn named(links: &[LinkRow], rel: &str) -> Option<String> {
    let is_named = |link: &&LinkRow| link.last_run.is_none() && link.rel.split(' ').any(|token| token == rel);
    let in_header = |link: &&LinkRow| is_named(link) && link.kind == LinkKind::Header.name();
    links.iter().find(in_header).or_else(|| links.iter().find(is_named)).map(|link| link.url.clone())
}
