//! How many pages match, and which of them score best?
//!
//! Every match is counted, so every match is visited; only the work per match can be reduced. The
//! documents of a segment are processed a [`WINDOW`] at a time. The clause with the fewest
//! documents is read first and leaves candidates. Each further clause removes those it lacks and
//! adds its scores: by scanning its blocks if there are many candidates, by seeking if there are
//! few. Scores accumulate in an array that stays in the L1 cache, so a document costs a few
//! nanoseconds per term and no call.
//!
//! Processing windows of documents is what Lucene's `BooleanScorer` does. Block-max WAND, which
//! skips documents that cannot reach the top, would still have to count them, and a thousand are
//! kept.

use super::source::Clause;
use super::stream::{PostingStream, Weighed};
use std::ops::Range;
use tantivy::query::Occur;
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentReader, TERMINATED};

/// Documents per window.
const WINDOW: u32 = 4_096;

/// The result of a query.
pub(super) struct TopMatches {
    /// Number of matching pages.
    pub(super) total: u64,
    /// The best of them, unordered.
    pub(super) best: Vec<(Score, DocAddress)>,
}

/// Counts the pages that match these clauses and keeps the best; ties go to those indexed first.
pub(super) fn gather(searcher: &Searcher, clauses: &[Clause], most: usize) -> tantivy::Result<TopMatches> {
    let mut weighed: Vec<(Occur, Vec<Weighed<'_>>)> = Vec::new();
    for clause in clauses {
        let sources: tantivy::Result<_> = clause.sources.iter().map(|source| Weighed::new(source, searcher)).collect();
        weighed.push((clause.occur, sources?));
    }
    let mut best = TopDocuments::new(most);
    let mut window = DocumentWindow::default();
    let mut total = 0;
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let Some(mut streams) = Streams::open(&weighed, number, segment)? else { continue };
        // Windows only move forward, whatever a damaged file says.
        let mut from = 0;
        while let Some(start) = streams.next_window().filter(|start| *start >= from) {
            from = start.saturating_add(WINDOW);
            window.open(start);
            streams.run(&mut window, segment);
            total += window.candidates.len() as u64;
            for doc in &window.candidates {
                best.offer(window.scores[slot(*doc)], DocAddress::new(number, *doc));
            }
        }
    }
    Ok(TopMatches { total, best: best.finish() })
}

/// The clauses of a query in one segment, by their role.
struct Streams<'a> {
    /// Required clauses, rarest first.
    wanted: Vec<Vec<PostingStream<'a>>>,
    welcome: Vec<PostingStream<'a>>,
    unwanted: Vec<PostingStream<'a>>,
    documents: u32,
}

impl<'a> Streams<'a> {
    /// Opens them; `None` if a required clause has no document in the segment.
    fn open(
        clauses: &'a [(Occur, Vec<Weighed<'a>>)],
        number: u32,
        segment: &SegmentReader,
    ) -> tantivy::Result<Option<Self>> {
        let documents = segment.max_doc();
        let mut out = Self { wanted: Vec::new(), welcome: Vec::new(), unwanted: Vec::new(), documents };
        for (occur, sources) in clauses {
            let mut streams = Vec::new();
            for source in sources {
                streams.extend(source.open(number as usize, segment)?.filter(|stream| stream.next() != TERMINATED));
            }
            match occur {
                Occur::Must if streams.is_empty() => return Ok(None),
                Occur::Must => out.wanted.push(streams),
                Occur::Should => out.welcome.append(&mut streams),
                Occur::MustNot => out.unwanted.append(&mut streams),
            }
        }
        out.wanted.sort_by_key(|streams| streams.iter().map(PostingStream::cost).sum::<u64>());
        Ok(Some(out))
    }

    /// The start of the next window that can contain a match, by the rarest clause.
    fn next_window(&self) -> Option<DocId> {
        let next = self.wanted.first()?.iter().map(PostingStream::next).min()?;
        (next != TERMINATED).then_some(next / WINDOW * WINDOW)
    }

    /// Leaves the matches of a window as its candidates, with their scores.
    fn run(&mut self, window: &mut DocumentWindow, segment: &SegmentReader) {
        let range = window.range();
        let Some((rarest, others)) = self.wanted.split_first_mut() else { return };
        for stream in rarest {
            stream.sweep(range.clone(), |doc, score| window.reach(doc, score, 1));
        }
        window.settle(segment);
        for (stage, clause) in (2..).zip(others) {
            if window.candidates.is_empty() {
                return;
            }
            let candidates = std::mem::take(&mut window.candidates);
            for stream in clause {
                stream.meet(range.clone(), &candidates, self.documents, |doc, score| window.reach(doc, score, stage));
            }
            window.keep(candidates, stage);
        }
        let candidates = std::mem::take(&mut window.candidates);
        for stream in &mut self.unwanted {
            stream.meet(range.clone(), &candidates, self.documents, |doc, _| window.seen[slot(doc)] = 0);
        }
        for stream in &mut self.welcome {
            stream.meet(range.clone(), &candidates, self.documents, |doc, score| window.scores[slot(doc)] += score);
        }
        window.keep(candidates, u16::try_from(self.wanted.len()).unwrap_or(u16::MAX));
    }
}

/// A range of consecutive documents and their state.
struct DocumentWindow {
    start: DocId,
    scores: Box<[Score; WINDOW as usize]>,
    /// How many required clauses a document has matched, as long as it missed none.
    seen: Box<[u16; WINDOW as usize]>,
    /// Documents that match all clauses so far, in order.
    candidates: Vec<DocId>,
}

impl Default for DocumentWindow {
    fn default() -> Self {
        let (scores, seen) = (Box::new([0.0; WINDOW as usize]), Box::new([0; WINDOW as usize]));
        Self { start: 0, scores, seen, candidates: Vec::new() }
    }
}

impl DocumentWindow {
    fn open(&mut self, start: DocId) {
        self.start = start;
        self.scores.fill(0.0);
        self.seen.fill(0);
        self.candidates.clear();
    }

    fn range(&self) -> Range<DocId> {
        self.start..self.start.saturating_add(WINDOW)
    }

    /// Records that a document matches the clause of this stage. Adding to one that is already out
    /// is harmless.
    fn reach(&mut self, doc: DocId, score: Score, stage: u16) {
        let slot = slot(doc);
        self.seen[slot] += u16::from(self.seen[slot] + 1 == stage);
        self.scores[slot] += score;
    }

    /// Turns the documents of the first clause into candidates, except deleted ones.
    fn settle(&mut self, segment: &SegmentReader) {
        let reached = (self.start..).zip(self.seen.iter()).filter(|(_, seen)| **seen == 1).map(|(doc, _)| doc);
        match segment.alive_bitset() {
            Some(alive) => self.candidates.extend(reached.filter(|doc| alive.is_alive(*doc))),
            None => self.candidates.extend(reached),
        }
    }

    /// Keeps the candidates that have reached this stage.
    fn keep(&mut self, mut candidates: Vec<DocId>, stage: u16) {
        candidates.retain(|doc| self.seen[slot(*doc)] == stage);
        self.candidates = candidates;
    }
}

/// A document's offset in its window.
fn slot(doc: DocId) -> usize {
    (doc % WINDOW) as usize
}

/// The best documents so far.
struct TopDocuments {
    most: usize,
    /// Up to twice the limit, so that the worse half is dropped at once and not one by one.
    kept: Vec<(Score, DocAddress)>,
    /// The score needed to be among them.
    above: Score,
}

impl TopDocuments {
    fn new(most: usize) -> Self {
        Self { most, kept: Vec::new(), above: Score::NEG_INFINITY }
    }

    /// Documents arrive in order, so one that scores no better than the worst kept one loses the
    /// tie.
    fn offer(&mut self, score: Score, at: DocAddress) {
        if score > self.above {
            self.kept.push((score, at));
            if self.kept.len() >= self.most.saturating_mul(2) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.most && self.most > 0 {
            let better = |a: &(Score, DocAddress), b: &(Score, DocAddress)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            let (_, last, _) = self.kept.select_nth_unstable_by(self.most - 1, better);
            self.above = last.0;
            self.kept.truncate(self.most);
        }
    }

    fn finish(mut self) -> Vec<(Score, DocAddress)> {
        self.cut();
        self.kept
    }
}
