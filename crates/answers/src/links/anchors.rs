//! What do others call a page?
//!
//! With a graph, the linking pages are known and their links are looked up by key; without one all
//! links are scanned, which takes seconds on a catalogue of some size.

use super::backward::{backward, usable};
use crate::{Collection, Result, Window};
use orb_page::PageId;
use orb_store::{AnchorRow, LinkRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// Up to this many pages with links, a full scan is instant.
const FEW: u64 = 20_000;

/// The anchor texts of links to a page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LinkTexts {
    /// The texts, most frequent first.
    pub anchors: Vec<AnchorRow>,
    /// What the reader should know about them, if anything.
    pub note: Option<String>,
}

/// The most frequent anchor texts of the current links to the page with this URL, however long that
/// takes.
pub fn link_texts(collection: &Collection, url: &str, rows: Window) -> Result<LinkTexts> {
    let page = PageId(collection.page(url)?.id);
    let mut texts = texts(collection, page, rows.limit.saturating_add(rows.offset))?;
    texts.anchors = rows.of(texts.anchors);
    Ok(texts)
}

fn texts(collection: &Collection, page: PageId, limit: u64) -> Result<LinkTexts> {
    let reader = collection.catalogue();
    let (known, note) = usable(collection, &reader.extent()?)?;
    if known.is_none() {
        return Ok(LinkTexts { anchors: reader.anchors(page, limit)?, note });
    }
    let found = backward(collection, page, Window::ALL)?;
    let mut anchors = counted(&found.links);
    anchors.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(LinkTexts { anchors, note: found.note })
}

/// The same if it is instant; `None` if it is not.
pub(crate) fn anchors_at_hand(collection: &Collection, page: PageId, limit: u64) -> Result<Option<Vec<AnchorRow>>> {
    let extent = collection.catalogue().extent()?;
    let quick = extent.sources <= FEW || usable(collection, &extent)?.0.is_some();
    if quick { Ok(Some(texts(collection, page, limit)?.anchors)) } else { Ok(None) }
}

/// Counts links with equal texts.
fn counted(links: &[LinkRow]) -> Vec<AnchorRow> {
    let mut by_words: HashMap<&str, (AnchorRow, u64)> = HashMap::new();
    for link in links.iter().filter(|l| l.is_spoken() && l.last_run.is_none() && !l.anchor.is_empty()) {
        let fresh = || {
            let row = AnchorRow { anchor: link.anchor.clone(), count: 0, sources: 0, example: link.url.clone() };
            (row, 0)
        };
        let (row, last) = by_words.entry(&link.anchor).or_insert_with(fresh);
        row.count += link.count;
        // Links of one page are adjacent.
        row.sources += u64::from(std::mem::replace(last, link.src) != link.src);
    }
    let mut rows: Vec<AnchorRow> = by_words.into_values().map(|(row, _)| row).collect();
    rows.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.anchor.cmp(&b.anchor)));
    rows
}
