//! Which feeds say where their news can be had at once?
//!
//! A feed that names a hub (WebSub: a link with `rel=hub`, in the feed or in the header of its
//! response) is delivered by that hub to whoever subscribes to its topic, which the feed names with
//! `rel=self`; without that it is the feed's own URL.

use crate::{Collection, Result};
use orb_page::PageId;
use orb_store::{LinkRow, PageSieve};

/// The media types of feeds.
const FEEDS: [&str; 5] =
    ["application/atom+xml", "application/rss+xml", "application/rdf+xml", "application/xml", "text/xml"];

/// Feeds that are examined, of each media type.
const EXAMINED: u64 = 1_000;

/// Links of a feed that are examined.
const LINKS: u64 = 1_000;

/// A feed with a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedHub {
    /// What to subscribe to.
    pub topic: String,
    /// Where.
    pub hub: String,
}

/// The feeds of a collection that have hubs.
pub fn hubs(collection: &Collection) -> Result<Vec<FeedHub>> {
    let reader = collection.catalogue();
    let mut found: Vec<FeedHub> = Vec::new();
    for mime in FEEDS {
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

/// The target of the first link with this relation that is still there.
fn named(links: &[LinkRow], rel: &str) -> Option<String> {
    let is_named = |link: &&LinkRow| link.last_run.is_none() && link.rel.split(' ').any(|token| token == rel);
    links.iter().find(is_named).map(|link| link.url.clone())
}
