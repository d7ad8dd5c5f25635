//! Which documents of a segment match this source, and with which score?
//!
//! A [`PostingStream`] iterates once, in order, over the documents of one source, a window at a
//! time. It is either swept, which yields every document of the window, or probed for the few that
//! are still candidates. A posting list is decoded block by block without a call per document; any
//! other engine query goes through the engine's own interface.

use super::hits::HitsQuery;
use super::source::MatchSource;
use std::ops::Range;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{Bm25Weight, EnableScoring, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, Searcher, SeekDangerResult, SegmentReader, TERMINATED, Term};

/// Seeking to one document costs about as much as reading this many in sequence.
const PROBE: u64 = 8;

/// Documents per block of a posting list, except the last.
const COMPRESSED: usize = 128;

/// A source with the statistics of the whole index.
pub(super) enum Weighed<'a> {
    Word(&'a Term, Bm25Weight),
    Hits(&'a HitsQuery, Score),
    Query(Box<dyn Weight>),
}

impl<'a> Weighed<'a> {
    pub(super) fn new(source: &'a MatchSource, searcher: &Searcher) -> tantivy::Result<Self> {
        Ok(match source {
            MatchSource::Word(term, boost) => {
                let weight = Bm25Weight::for_terms(searcher, std::slice::from_ref(term))?;
                Self::Word(term, weight.boost_by(*boost))
            }
            MatchSource::Hits(hits, boost) => Self::Hits(hits, *boost),
            MatchSource::Query(query) => Self::Query(query.weight(EnableScoring::enabled_from_searcher(searcher))?),
        })
    }

    /// Its documents in one segment; `None` if it has none.
    pub(super) fn open(&self, number: usize, segment: &SegmentReader) -> tantivy::Result<Option<PostingStream<'_>>> {
        Ok(match self {
            Self::Word(term, weight) => {
                let postings =
                    segment.inverted_index(term.field())?.read_block_postings(term, IndexRecordOption::WithFreqs)?;
                let Some(postings) = postings else { return Ok(None) };
                let norms = segment.get_fieldnorms_reader(term.field())?;
                Some(PostingStream::Word(Box::new(WordStream { postings, at: 0, norms, weight })))
            }
            Self::Hits(hits, boost) => {
                Some(PostingStream::Hits(HitsStream { hits: hits.within(number), boost: *boost }))
            }
            Self::Query(weight) => {
                let scorer = weight.scorer(segment, 1.0)?;
                let next = scorer.doc();
                Some(PostingStream::Scorer(ScorerStream { scorer, next }))
            }
        })
    }
}

/// The documents of a source in a segment.
pub(super) enum PostingStream<'a> {
    Word(Box<WordStream<'a>>),
    Hits(HitsStream<'a>),
    Scorer(ScorerStream),
}

impl PostingStream<'_> {
    /// Approximate number of documents.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Self::Word(word) => u64::from(word.postings.doc_freq()),
            Self::Hits(hits) => hits.hits.len() as u64,
            Self::Scorer(scorer) => scorer.scorer.cost(),
        }
    }

    /// The next document, for a stream that is only ever swept.
    pub(super) fn next(&self) -> DocId {
        match self {
            Self::Word(word) => word.next(),
            Self::Hits(hits) => hits.next(),
            Self::Scorer(scorer) => scorer.next,
        }
    }

    /// Yields all documents of a window.
    pub(super) fn sweep(&mut self, window: Range<DocId>, touch: impl FnMut(DocId, Score)) {
        match self {
            Self::Word(word) => word.sweep(window, touch),
            Self::Hits(hits) => hits.sweep(window, touch),
            Self::Scorer(scorer) => scorer.sweep(window, touch),
        }
    }

    /// Yields the wanted documents of a window, and possibly others: probes if few are wanted,
    /// sweeps otherwise.
    pub(super) fn meet(&mut self, window: Range<DocId>, wanted: &[DocId], of: u32, touch: impl FnMut(DocId, Score)) {
        match self {
            Self::Word(word) => {
                let there = u64::from(word.postings.doc_freq()) * (window.len() as u64) / u64::from(of.max(1));
                match (wanted.len() as u64) * PROBE < there {
                    true => word.probe(wanted, touch),
                    false => word.sweep(window, touch),
                }
            }
            Self::Hits(hits) => hits.sweep(window, touch),
            Self::Scorer(scorer) => scorer.probe(wanted, touch),
        }
    }
}

/// The posting list of a term.
pub(super) struct WordStream<'a> {
    postings: BlockSegmentPostings,
    /// Index of the next document in the block.
    at: usize,
    norms: FieldNormReader,
    weight: &'a Bm25Weight,
}

impl WordStream<'_> {
    fn next(&self) -> DocId {
        self.postings.docs().get(self.at).copied().unwrap_or(TERMINATED)
    }

    fn sweep(&mut self, window: Range<DocId>, mut touch: impl FnMut(DocId, Score)) {
        if self.next() < window.start {
            self.at = self.postings.seek(window.start);
        }
        loop {
            let (docs, freqs) = (self.postings.docs(), self.postings.freqs());
            let whole = docs.last().is_none_or(|last| *last < window.end);
            let to = if whole { docs.len() } else { docs.partition_point(|doc| *doc < window.end) };
            let from = self.at.min(to);
            for (doc, freq) in docs[from..to].iter().zip(&freqs[from..to]) {
                touch(*doc, self.weight.score(self.norms.fieldnorm_id(*doc), *freq));
            }
            // Only the last block is not full.
            if !whole || docs.len() < COMPRESSED {
                self.at = to;
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }

    fn probe(&mut self, wanted: &[DocId], mut touch: impl FnMut(DocId, Score)) {
        for doc in wanted.iter().copied() {
            let mut next = self.next();
            if next < doc {
                self.at = self.postings.seek(doc);
                next = self.next();
            }
            if next == doc {
                touch(doc, self.weight.score(self.norms.fieldnorm_id(doc), self.postings.freq(self.at)));
            }
        }
    }
}

/// Matches from another index.
pub(super) struct HitsStream<'a> {
    hits: &'a [(DocId, Score)],
    boost: Score,
}

impl HitsStream<'_> {
    fn next(&self) -> DocId {
        self.hits.first().map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn sweep(&mut self, window: Range<DocId>, mut touch: impl FnMut(DocId, Score)) {
        let from = self.hits.partition_point(|(doc, _)| *doc < window.start);
        let to = from + self.hits[from..].partition_point(|(doc, _)| *doc < window.end);
        for (doc, score) in &self.hits[from..to] {
            touch(*doc, score * self.boost);
        }
        self.hits = &self.hits[to..];
    }
}

/// Matches of an engine query.
pub(super) struct ScorerStream {
    scorer: Box<dyn Scorer>,
    /// No match is before this document.
    next: DocId,
}

impl ScorerStream {
    fn sweep(&mut self, window: Range<DocId>, mut touch: impl FnMut(DocId, Score)) {
        if self.next < window.start {
            self.next = self.scorer.seek(window.start);
        }
        while self.next < window.end {
            touch(self.next, self.scorer.score());
            self.next = self.scorer.advance();
        }
    }

    /// Tests only these documents: finding the next match of a phrase is expensive and not needed.
    pub(super) fn probe(&mut self, wanted: &[DocId], mut touch: impl FnMut(DocId, Score)) {
        for doc in wanted.iter().copied().filter(|doc| *doc < TERMINATED) {
            if self.next > doc {
                continue;
            }
            match self.scorer.seek_danger(doc) {
                SeekDangerResult::Found => touch(doc, self.scorer.score()),
                SeekDangerResult::SeekLowerBound(next) => self.next = next,
            }
        }
    }
}
