//! What do others call a page?
//!
//! With a graph the pages that point there are known and their links are looked up by key; without one all links are read, which a catalogue of some size
//! makes a matter of seconds.

use super::backward::{links_in, usable};
use crate::error::CrawlError;
use orb_page::PageId;
use orb_store::{AnchorRow, CatalogueReader, LinkRow};
use std::collections::HashMap;
use std::path::Path;

/// Pages with links up to which reading them all is a matter of a moment.
const FEW: u64 = 20_000;

/// The words of links to a page.
#[derive(Debug)]
pub struct Called {
    /// The words, most common first.
    pub anchors: Vec<AnchorRow>,
    /// What the reader should know about them, if anything.
    pub note: Option<String>,
}

/// The most common words of the living links to a page, however long that takes.
pub fn anchors(reader: &CatalogueReader, graph: &Path, page: PageId, limit: u64) -> Result<Called, CrawlError> {
    let (known, note) = usable(graph, &reader.extent()?)?;
    if known.is_none() {
        return Ok(Called { anchors: reader.anchors(page, limit)?, note });
    }
    drop(known);
    let found = links_in(reader, graph, page, (u64::MAX, 0))?;
    let mut anchors = counted(&found.links);
    anchors.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Called { anchors, note: found.note })
}

/// The same, where it is a matter of a moment; `None` where it is not.
pub fn anchors_at_hand(
    reader: &CatalogueReader,
    graph: &Path,
    page: PageId,
    limit: u64,
) -> Result<Option<Vec<AnchorRow>>, CrawlError> {
    let extent = reader.extent()?;
    let quick = extent.sources <= FEW || usable(graph, &extent)?.0.is_some();
    if quick { Ok(Some(anchors(reader, graph, page, limit)?.anchors)) } else { Ok(None) }
}

/// Links that say the same, counted together.
fn counted(links: &[LinkRow]) -> Vec<AnchorRow> {
    let mut by_words: HashMap<&str, (AnchorRow, u64)> = HashMap::new();
    for link in links.iter().filter(|l| l.is_spoken() && l.last_run.is_none() && !l.anchor.is_empty()) {
        let fresh = || {
            let row = AnchorRow { anchor: link.anchor.clone(), count: 0, sources: 0, example: link.url.clone() };
            (row, 0)
        };
        let (row, last) = by_words.entry(&link.anchor).or_insert_with(fresh);
        row.count += link.count;
        // Links of one page stand side by side.
        row.sources += u64::from(std::mem::replace(last, link.src) != link.src);
    }
    let mut rows: Vec<AnchorRow> = by_words.into_values().map(|(row, _)| row).collect();
    rows.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.anchor.cmp(&b.anchor)));
    rows
}
