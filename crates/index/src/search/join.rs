//! Which document of the page index belongs to which of the anchor index?
//!
//! Each index numbers its own documents and knows only the page's number. The join is read once,
//! when a query first needs it, and takes 12 bytes per page. From then on, mapping an anchor match
//! to its page is one array access.

use crate::anchors::Anchors;
use crate::schema::column;
use tantivy::{DocAddress, DocId, Searcher};

/// A document of the page index: its segment and number.
type PageDocument = (u32, DocId);

/// Stands for no document.
const NOWHERE: PageDocument = (u32::MAX, DocId::MAX);

/// How many entries are scanned linearly before a binary search: both lists are in nearly the same
/// order.
const NEAR: usize = 8;

/// The mapping between both indexes.
pub(super) struct Join {
    /// The page document of each anchor document, by segment.
    places: Vec<Vec<PageDocument>>,
    /// The number of linking pages of each page document, by segment.
    sources: Vec<Vec<u32>>,
}

impl Join {
    /// Reads all page numbers in both indexes.
    pub(super) fn of(pages: &Searcher, anchors: &Anchors) -> tantivy::Result<Self> {
        let known = by_number(pages)?;
        let empty = |segment: &tantivy::SegmentReader| vec![0; segment.max_doc() as usize];
        let mut sources: Vec<Vec<u32>> = pages.segment_readers().iter().map(empty).collect();
        let mut places = Vec::new();
        for segment in anchors.searcher.segment_readers() {
            let (ids, counts) = (segment.fast_fields().u64(column::ID)?, segment.fast_fields().u64(column::SOURCES)?);
            let mut row = vec![NOWHERE; segment.max_doc() as usize];
            let (mut rest, mut last) = (known.as_slice(), 0);
            for doc in segment.doc_ids_alive() {
                let Some(page) = ids.first(doc) else { continue };
                if page < last {
                    rest = &known;
                }
                (rest, last) = (from(rest, page), page);
                if let Some((_, segment, at)) = rest.first().filter(|(number, ..)| *number == page) {
                    row[doc as usize] = (*segment, *at);
                    sources[*segment as usize][*at as usize] =
                        u32::try_from(counts.first(doc).unwrap_or(0)).unwrap_or(u32::MAX);
                }
            }
            places.push(row);
        }
        Ok(Self { places, sources })
    }

    /// The page document of an anchor document, if it exists.
    pub(super) fn place(&self, segment: usize, doc: DocId) -> Option<PageDocument> {
        let place = *self.places.get(segment)?.get(doc as usize)?;
        (place != NOWHERE).then_some(place)
    }

    /// The number of pages that link to a page.
    pub(super) fn sources(&self, at: DocAddress) -> u32 {
        let row = self.sources.get(at.segment_ord as usize);
        row.and_then(|row| row.get(at.doc_id as usize)).copied().unwrap_or(0)
    }
}

/// The location of every page, ordered by page number.
fn by_number(pages: &Searcher) -> tantivy::Result<Vec<(u64, u32, DocId)>> {
    let mut known = Vec::with_capacity(usize::try_from(pages.num_docs()).unwrap_or(0));
    for (number, segment) in (0..).zip(pages.segment_readers()) {
        let ids = segment.fast_fields().u64(column::ID)?;
        known.extend(segment.doc_ids_alive().filter_map(|doc| Some((ids.first(doc)?, number, doc))));
    }
    // Pages arrive nearly in order, which the adaptive stable sort exploits.
    known.sort();
    Ok(known)
}

/// The list from the first page with at least this number.
fn from(list: &[(u64, u32, DocId)], page: u64) -> &[(u64, u32, DocId)] {
    let near = list.iter().take(NEAR).position(|(number, ..)| *number >= page);
    &list[near.unwrap_or_else(|| list.partition_point(|(number, ..)| *number < page))..]
}
