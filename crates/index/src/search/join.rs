//! Which document of the pages is which of the anchors?
//!
//! Both indexes number their documents by themselves and know the page's number alone. The join is read once, when a query first needs it: 12
//! bytes a page. After that a match among the anchors is a match among the pages by one look into a table.

use crate::anchors::Anchors;
use crate::schema::column;
use tantivy::{DocAddress, DocId, Searcher};

/// A document of the pages: its segment and number there.
type Place = (u32, DocId);

/// What stands for no document.
const NOWHERE: Place = (u32::MAX, DocId::MAX);

/// Pages looked at one by one before the rest is searched: both lists are nearly in the same order.
const NEAR: usize = 8;

/// The two indexes side by side.
pub(super) struct Join {
    /// For every document of the anchors, by segment, where its page lies.
    places: Vec<Vec<Place>>,
    /// For every document of the pages, by segment, how many pages link to it.
    sources: Vec<Vec<u32>>,
}

impl Join {
    /// Reads the numbers of all pages in both.
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

    /// Where the page of a document of the anchors lies, if it is there.
    pub(super) fn place(&self, segment: usize, doc: DocId) -> Option<Place> {
        let place = *self.places.get(segment)?.get(doc as usize)?;
        (place != NOWHERE).then_some(place)
    }

    /// How many pages link to a page.
    pub(super) fn sources(&self, at: DocAddress) -> u32 {
        let row = self.sources.get(at.segment_ord as usize);
        row.and_then(|row| row.get(at.doc_id as usize)).copied().unwrap_or(0)
    }
}

/// Where every page lies, in the order of their numbers.
fn by_number(pages: &Searcher) -> tantivy::Result<Vec<(u64, u32, DocId)>> {
    let mut known = Vec::with_capacity(usize::try_from(pages.num_docs()).unwrap_or(0));
    for (number, segment) in (0..).zip(pages.segment_readers()) {
        let ids = segment.fast_fields().u64(column::ID)?;
        known.extend(segment.doc_ids_alive().filter_map(|doc| Some((ids.first(doc)?, number, doc))));
    }
    // Pages come nearly in the order of their numbers: this sort takes advantage of it.
    known.sort();
    Ok(known)
}

/// The list from the first page with this number or a larger one.
fn from(list: &[(u64, u32, DocId)], page: u64) -> &[(u64, u32, DocId)] {
    let near = list.iter().take(NEAR).position(|(number, ..)| *number >= page);
    &list[near.unwrap_or_else(|| list.partition_point(|(number, ..)| *number < page))..]
}
