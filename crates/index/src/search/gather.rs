//! How many pages match, and which of them score best?
//!
//! A page matches if it has all required clauses and enough of the others: each of these has a
//! weight, by the rarity of its word, and the weights of those a page has must reach a sum. A page
//! that has only light ones cannot reach it, so the heavy ones alone are read in full
//! ([`SoftClauses::driving`]), as in WAND (Broder et al. 2003).
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

use super::source::{Clause, MatchSource, SoftClause};
use super::stream::{PostingStream, Weighed};
use std::ops::Range;
use tantivy::query::Occur;
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentReader, TERMINATED};

/// Documents per window.
const WINDOW: u32 = 4_096;

/// Sums of weights are compared this exactly.
const ROUNDED: f32 = 1.0 - 1e-4;

/// Maximum number of soft clauses: a set of them is a `u32`.
pub(super) const MOST_SOFT: usize = 32;

/// The result of a query.
pub(super) struct TopMatches {
    /// Number of matching pages.
    pub(super) total: u64,
    /// Number of those that match every clause.
    pub(super) complete: u64,
    /// The best of them, unordered.
    pub(super) best: Vec<(Score, DocAddress)>,
}

/// Clauses of which a page must have enough.
pub(super) struct SoftClauses<'c> {
    /// By weight, heaviest first; at most [`MOST_SOFT`].
    pub(super) clauses: &'c [SoftClause],
    /// The sum of weights that is enough; every page with any of them if 0.
    pub(super) enough: f32,
}

impl SoftClauses<'_> {
    /// Without any.
    pub(super) const NONE: Self = Self { clauses: &[], enough: 0.0 };

    /// How many of the heaviest must be read in full: the others together are not enough.
    fn driving(&self) -> usize {
        let mut light = 0.0;
        let light_ones = self.clauses.iter().rev().take_while(|clause| {
            light += clause.weight;
            light < self.enough * ROUNDED
        });
        self.clauses.len() - light_ones.count()
    }

    /// Whether the clauses of a set are enough.
    fn is_enough(&self, set: u32) -> bool {
        let weights = self.clauses.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
        set != 0 && weights.map(|(_, clause)| clause.weight).sum::<f32>() >= self.enough * ROUNDED
    }

    /// The set of all.
    fn all(&self) -> u32 {
        u32::try_from((1u64 << self.clauses.len().min(MOST_SOFT)) - 1).unwrap_or(u32::MAX)
    }
}

/// Counts the pages that match these clauses and keeps the best; ties go to those indexed first.
pub(super) fn gather(
    searcher: &Searcher,
    clauses: &[Clause],
    soft: &SoftClauses<'_>,
    most: usize,
) -> tantivy::Result<TopMatches> {
    let mut firm: Vec<(Occur, Vec<Weighed<'_>>)> = Vec::new();
    for clause in clauses {
        firm.push((clause.occur, weighed(&clause.sources, searcher)?));
    }
    let mut loose: Vec<Vec<Weighed<'_>>> = Vec::new();
    for clause in soft.clauses {
        loose.push(weighed(&clause.sources, searcher)?);
    }
    let mut best = TopDocuments::new(most);
    let mut window = DocumentWindow::default();
    let (mut total, mut complete) = (0, 0);
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let Some(mut streams) = Streams::open((&firm, &loose), soft, number, segment)? else { continue };
        // Windows only move forward, whatever a damaged file says.
        let mut from = 0;
        while let Some(start) = streams.next_window().filter(|start| *start >= from) {
            from = start.saturating_add(WINDOW);
            window.open(start);
            streams.run(&mut window, segment);
            total += window.candidates.len() as u64;
            for doc in &window.candidates {
                complete += u64::from(window.sets[slot(*doc)] == soft.all());
                best.offer(window.scores[slot(*doc)], DocAddress::new(number, *doc));
            }
        }
    }
    Ok(TopMatches { total, complete, best: best.finish() })
}

/// Sources with the statistics of the whole index.
fn weighed<'a>(sources: &'a [MatchSource], searcher: &Searcher) -> tantivy::Result<Vec<Weighed<'a>>> {
    sources.iter().map(|source| Weighed::new(source, searcher)).collect()
}

/// The clauses of a query in one segment, by their role.
struct Streams<'a> {
    /// Required clauses, rarest first.
    wanted: Vec<Vec<PostingStream<'a>>>,
    /// Clauses of which enough are required, heaviest first, and how many of them are read in full.
    soft: Vec<Vec<PostingStream<'a>>>,
    driving: usize,
    rules: &'a SoftClauses<'a>,
    welcome: Vec<PostingStream<'a>>,
    unwanted: Vec<PostingStream<'a>>,
    documents: u32,
}

/// The weighed sources of the firm clauses and of the soft ones.
type WeighedClauses<'a> = (&'a [(Occur, Vec<Weighed<'a>>)], &'a [Vec<Weighed<'a>>]);

/// Opens the sources of a clause in a segment, without those that have no document there.
fn opened<'a>(
    sources: &'a [Weighed<'a>],
    number: u32,
    segment: &SegmentReader,
) -> tantivy::Result<Vec<PostingStream<'a>>> {
    let mut streams = Vec::new();
    for source in sources {
        streams.extend(source.open(number as usize, segment)?.filter(|stream| stream.next() != TERMINATED));
    }
    Ok(streams)
}

impl<'a> Streams<'a> {
    /// Opens them; `None` if no document of the segment can match.
    fn open(
        (firm, soft): WeighedClauses<'a>,
        rules: &'a SoftClauses<'a>,
        number: u32,
        segment: &SegmentReader,
    ) -> tantivy::Result<Option<Self>> {
        let (documents, driving) = (segment.max_doc(), rules.driving());
        let [wanted, soft_streams] = [Vec::new(), Vec::new()];
        let (welcome, unwanted) = (Vec::new(), Vec::new());
        let mut out = Self { wanted, soft: soft_streams, driving, rules, welcome, unwanted, documents };
        for (occur, sources) in firm {
            let mut streams = opened(sources, number, segment)?;
            match occur {
                Occur::Must if streams.is_empty() => return Ok(None),
                Occur::Must => out.wanted.push(streams),
                Occur::Should => out.welcome.append(&mut streams),
                Occur::MustNot => out.unwanted.append(&mut streams),
            }
        }
        for sources in soft {
            out.soft.push(opened(sources, number, segment)?);
        }
        if !soft.is_empty() && out.soft[..driving].iter().all(Vec::is_empty) {
            return Ok(None);
        }
        out.wanted.sort_by_key(|streams| streams.iter().map(PostingStream::cost).sum::<u64>());
        Ok(Some(out))
    }

    /// The start of the next window that can contain a match: by the rarest required clause, or by
    /// the soft ones that are read in full.
    fn next_window(&self) -> Option<DocId> {
        let next = match self.wanted.first() {
            Some(rarest) => rarest.iter().map(PostingStream::next).min(),
            None => self.soft[..self.driving].iter().flatten().map(PostingStream::next).min(),
        };
        next.filter(|next| *next != TERMINATED).map(|next| next / WINDOW * WINDOW)
    }

    /// Leaves the matches of a window as its candidates, with their scores.
    fn run(&mut self, window: &mut DocumentWindow, segment: &SegmentReader) {
        let range = window.range();
        let swept = match self.wanted.is_empty() {
            true => self.sweep_soft(window, segment),
            false => self.run_wanted(window, segment),
        };
        let candidates = std::mem::take(&mut window.candidates);
        for (bit, clause) in self.soft.iter_mut().enumerate().skip(swept) {
            for stream in clause {
                stream.meet(range.clone(), &candidates, self.documents, |doc, score| window.touch(doc, score, bit));
            }
        }
        for stream in &mut self.unwanted {
            stream.meet(range.clone(), &candidates, self.documents, |doc, _| window.seen[slot(doc)] = 0);
        }
        for stream in &mut self.welcome {
            stream.meet(range.clone(), &candidates, self.documents, |doc, score| window.scores[slot(doc)] += score);
        }
        let stage = u16::try_from(self.wanted.len().max(1)).unwrap_or(u16::MAX);
        window.keep(candidates, stage);
        if !self.soft.is_empty() {
            let mut candidates = std::mem::take(&mut window.candidates);
            candidates.retain(|doc| self.rules.is_enough(window.sets[slot(*doc)]));
            window.candidates = candidates;
        }
    }

    /// Leaves the documents with any of the driving soft clauses; returns how many clauses are
    /// done.
    fn sweep_soft(&mut self, window: &mut DocumentWindow, segment: &SegmentReader) -> usize {
        let range = window.range();
        for (bit, clause) in self.soft[..self.driving].iter_mut().enumerate() {
            for stream in clause {
                stream.sweep(range.clone(), |doc, score| {
                    window.seen[slot(doc)] = 1;
                    window.touch(doc, score, bit);
                });
            }
        }
        window.settle(segment);
        self.driving
    }

    /// Leaves the documents with all required clauses.
    fn run_wanted(&mut self, window: &mut DocumentWindow, segment: &SegmentReader) -> usize {
        let range = window.range();
        let Some((rarest, others)) = self.wanted.split_first_mut() else { return 0 };
        for stream in rarest {
            stream.sweep(range.clone(), |doc, score| window.reach(doc, score, 1));
        }
        window.settle(segment);
        for (stage, clause) in (2..).zip(others) {
            if window.candidates.is_empty() {
                break;
            }
            let candidates = std::mem::take(&mut window.candidates);
            for stream in clause {
                stream.meet(range.clone(), &candidates, self.documents, |doc, score| window.reach(doc, score, stage));
            }
            window.keep(candidates, stage);
        }
        0
    }
}

/// A range of consecutive documents and their state.
struct DocumentWindow {
    start: DocId,
    scores: Box<[Score; WINDOW as usize]>,
    /// How many required clauses a document has matched, as long as it missed none.
    seen: Box<[u16; WINDOW as usize]>,
    /// Which soft clauses a document has, as bits.
    sets: Box<[u32; WINDOW as usize]>,
    /// Documents that match all clauses so far, in order.
    candidates: Vec<DocId>,
}

impl Default for DocumentWindow {
    fn default() -> Self {
        let (scores, seen) = (Box::new([0.0; WINDOW as usize]), Box::new([0; WINDOW as usize]));
        Self { start: 0, scores, seen, sets: Box::new([0; WINDOW as usize]), candidates: Vec::new() }
    }
}

impl DocumentWindow {
    fn open(&mut self, start: DocId) {
        self.start = start;
        self.scores.fill(0.0);
        self.seen.fill(0);
        self.sets.fill(0);
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

    /// Records that a document has a soft clause.
    fn touch(&mut self, doc: DocId, score: Score, bit: usize) {
        let slot = slot(doc);
        self.sets[slot] |= 1 << bit;
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
