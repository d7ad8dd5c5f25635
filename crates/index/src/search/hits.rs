//! How do pages found elsewhere take part in a search?
//!
//! The matches of an anchor are page numbers of another index. Here they become a query of the engine like any other: for every segment the
//! documents of those pages in order, each with its score.

use crate::schema::column;
use orb_page::PageId;
use std::collections::HashMap;
use std::sync::Arc;
use tantivy::index::SegmentId;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED};

/// Where every page lies: its segment and document there, by page number. 16 bytes a page.
pub(super) struct PageMap {
    segments: Vec<SegmentId>,
    pages: Vec<(u64, u32, DocId)>,
}

impl PageMap {
    /// Reads the numbers of all pages.
    pub(super) fn of(searcher: &Searcher) -> tantivy::Result<Self> {
        let mut pages = Vec::with_capacity(usize::try_from(searcher.num_docs()).unwrap_or(0));
        let mut segments = Vec::new();
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let ids = segment.fast_fields().u64(column::ID)?;
            pages.extend(segment.doc_ids_alive().filter_map(|doc| Some((ids.first(doc)?, number, doc))));
            segments.push(segment.segment_id());
        }
        pages.sort_unstable();
        Ok(Self { segments, pages })
    }
}

/// Documents with scores, for every segment in the order of documents.
#[derive(Clone, Debug)]
pub(super) struct HitsQuery {
    hits: Arc<HashMap<SegmentId, Scored>>,
}

/// Documents of a segment in order, each with its score.
type Scored = Arc<Vec<(DocId, Score)>>;

impl HitsQuery {
    pub(super) fn new(map: &PageMap, mut found: Vec<(PageId, Score)>) -> Self {
        let mut hits: Vec<Vec<(DocId, Score)>> = vec![Vec::new(); map.segments.len()];
        found.sort_unstable_by_key(|(page, _)| *page);
        let mut rest = map.pages.as_slice();
        for (page, score) in found {
            rest = &rest[rest.partition_point(|(known, ..)| *known < page.0)..];
            if let Some((_, segment, doc)) = rest.first().filter(|(known, ..)| *known == page.0) {
                hits[*segment as usize].push((*doc, score));
            }
        }
        let sorted = |mut hits: Vec<(DocId, Score)>| {
            hits.sort_unstable_by_key(|(doc, _)| *doc);
            hits.dedup_by_key(|(doc, _)| *doc);
            Arc::new(hits)
        };
        Self { hits: Arc::new(map.segments.iter().copied().zip(hits.into_iter().map(sorted)).collect()) }
    }
}

impl Query for HitsQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for HitsQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let hits = self.hits.get(&reader.segment_id()).cloned().unwrap_or_default();
        Ok(Box::new(Hits { hits, at: 0, boost }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        match scorer.doc() <= doc && scorer.seek(doc) == doc {
            true => Ok(Explanation::new("anchor", scorer.score())),
            false => Err(tantivy::TantivyError::InvalidArgument(format!("document {doc} does not match"))),
        }
    }
}

struct Hits {
    hits: Scored,
    at: usize,
    boost: Score,
}

impl DocSet for Hits {
    fn advance(&mut self) -> DocId {
        self.at = (self.at + 1).min(self.hits.len());
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.at += self.hits[self.at..].partition_point(|(doc, _)| *doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.hits.get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.hits.len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for Hits {
    fn score(&mut self) -> Score {
        self.hits.get(self.at).map_or(0.0, |(_, score)| score * self.boost)
    }
}
