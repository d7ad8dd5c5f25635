//! How do matches from another index take part in a search?
//!
//! Matches in the anchor index are documents of that index. Here they are mapped to documents of
//! the page index, per segment and in order, with their scores: a source like any other, and an
//! engine query when nested in another query.

use super::join::Join;
use crate::anchors::Anchors;
use std::sync::Arc;
use tantivy::index::SegmentId;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED};

/// Documents of a segment in order, with their scores.
type Scored = Vec<(DocId, Score)>;

/// Documents with scores, for every segment.
#[derive(Clone, Debug)]
pub(super) struct HitsQuery {
    hits: Arc<Vec<(SegmentId, Scored)>>,
}

impl HitsQuery {
    /// The pages whose anchor texts match; `None` if there are none.
    pub(super) fn of(
        query: &dyn Query,
        anchors: &Anchors,
        join: &Join,
        pages: &Searcher,
    ) -> crate::Result<Option<Self>> {
        let mut hits: Vec<(SegmentId, Scored)> =
            pages.segment_readers().iter().map(|segment| (segment.segment_id(), Vec::new())).collect();
        anchors.matches(query, |segment, doc, score| {
            if let Some((segment, doc)) = join.place(segment, doc) {
                hits[segment as usize].1.push((doc, score));
            }
        })?;
        for (_, hits) in &mut hits {
            hits.sort_unstable_by_key(|(doc, _)| *doc);
            hits.dedup_by_key(|(doc, _)| *doc);
        }
        Ok(hits.iter().any(|(_, hits)| !hits.is_empty()).then(|| Self { hits: Arc::new(hits) }))
    }

    /// The matches in the segment with this number.
    pub(super) fn within(&self, segment: usize) -> &[(DocId, Score)] {
        self.hits.get(segment).map_or(&[], |(_, hits)| hits)
    }
}

impl HitsQuery {
    /// The score of one document; 0 if it does not match.
    pub(super) fn score_of(&self, at: tantivy::DocAddress) -> Score {
        let hits = self.within(at.segment_ord as usize);
        hits.binary_search_by_key(&at.doc_id, |(doc, _)| *doc).map_or(0.0, |found| hits[found].1)
    }

    /// The highest score.
    pub(super) fn most(&self) -> Score {
        let scores = self.hits.iter().flat_map(|(_, hits)| hits).map(|(_, score)| *score);
        scores.fold(f32::MIN_POSITIVE, Score::max)
    }
}

impl Query for HitsQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for HitsQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let number = self.hits.iter().position(|(segment, _)| *segment == reader.segment_id());
        Ok(Box::new(HitsScorer { query: self.clone(), segment: number.unwrap_or(usize::MAX), at: 0, boost }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        match scorer.doc() <= doc && scorer.seek(doc) == doc {
            true => Ok(Explanation::new("anchor", scorer.score())),
            false => Err(tantivy::TantivyError::InvalidArgument(format!("document {doc} does not match"))),
        }
    }
}

struct HitsScorer {
    query: HitsQuery,
    segment: usize,
    at: usize,
    boost: Score,
}

impl HitsScorer {
    fn hits(&self) -> &[(DocId, Score)] {
        self.query.within(self.segment)
    }
}

impl DocSet for HitsScorer {
    fn advance(&mut self) -> DocId {
        self.at = (self.at + 1).min(self.hits().len());
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.at += self.hits()[self.at..].partition_point(|(doc, _)| *doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.hits().get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.hits().len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for HitsScorer {
    fn score(&mut self) -> Score {
        self.hits().get(self.at).map_or(0.0, |(_, score)| score * self.boost)
    }
}
