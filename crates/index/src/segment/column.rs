//! How is a field inverted: which documents contain each term, and where?
//!
//! A field is buffered in document order: the term ids in sequence, and where each document begins.
//! Adding a token is an append, whereas an in-memory inverted index appends to that term's posting
//! list, which mostly misses the cache. The field is inverted when the segment is written, by a
//! stable radix sort on the term id: one pass over the sequence into 256 buckets, each of which is
//! then sorted within the cache.

use super::dictionary::Dictionary;
use std::io;
use tantivy::DocId;
use tantivy::postings::FieldSerializer;
use tantivy::schema::Field;

/// Not a term: the tokens on its two sides are not adjacent.
const GAP: u32 = u32::MAX;

/// Bits per radix sort pass.
const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << DIGIT;

/// Log2 of how many positions share one entry of the position-to-document table.
const STRIDE: u32 = 6;

/// One field of a segment under construction.
pub(super) struct TermColumn {
    pub(super) field: Field,
    /// Whether frequencies and positions are recorded, or only documents.
    places: bool,
    numbers: Vec<u32>,
    begins: Vec<u32>,
    /// Number of tokens without gaps, including those of earlier documents.
    pub(super) words: u64,
    before: u64,
}

/// An occurrence of a term in the sequence.
#[derive(Clone, Copy, Default)]
struct TermOccurrence {
    rank: u32,
    place: u32,
}

impl TermColumn {
    pub(super) fn new(field: Field, places: bool) -> Self {
        Self { field, places, numbers: Vec::new(), begins: Vec::new(), words: 0, before: 0 }
    }

    /// Begins the next document.
    pub(super) fn begin(&mut self) {
        self.begins.push(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        self.before = self.words;
    }

    /// Clears everything.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.begins.clear();
        (self.words, self.before) = (0, 0);
    }

    /// Number of tokens of the current document.
    pub(super) fn length(&self) -> u32 {
        u32::try_from(self.words - self.before).unwrap_or(u32::MAX)
    }

    /// Adds a token to the current document.
    #[inline]
    pub(super) fn push(&mut self, number: u32) {
        self.numbers.push(number);
        self.words += 1;
    }

    /// Adds a gap between two texts of the current document.
    pub(super) fn part(&mut self) {
        if self.begins.last().is_some_and(|begin| (*begin as usize) < self.numbers.len()) {
            self.numbers.push(GAP);
        }
    }

    /// Approximate memory use in bytes, including that of sorting it.
    pub(super) fn heap_bytes(&self) -> usize {
        (self.numbers.len() + self.begins.len()) * size_of::<u32>()
            + self.numbers.len() * size_of::<TermOccurrence>() * 9 / 8
    }

    /// Writes the posting list of every term; `order` lists the term ids in term order.
    pub(super) fn write(
        &mut self,
        dictionary: &Dictionary,
        order: &[u32],
        sorter: &mut Sorter,
        out: &mut FieldSerializer<'_>,
    ) -> io::Result<()> {
        let counts = self.rank(order);
        let documents = self.documents();
        let mut writer =
            TermWriter { dictionary, order, places: self.places, documents, row: PostingBuffer::default() };
        sorter.sort(&self.numbers, &counts, |sorted| {
            let mut words = sorted.chunk_by(|a, b| a.rank == b.rank);
            words.try_for_each(|word| writer.term(word[0].rank, word.iter().map(|seen| seen.place), out))
        })
    }

    /// Replaces term ids by ranks and returns the frequency of each rank.
    fn rank(&mut self, order: &[u32]) -> Vec<u32> {
        let mut ranks = vec![0; order.len()];
        for (number, rank) in order.iter().zip(0..) {
            ranks[*number as usize] = rank;
        }
        let mut counts = vec![0; order.len()];
        for number in self.numbers.iter_mut().filter(|number| **number != GAP) {
            *number = ranks[*number as usize];
            counts[*number as usize] += 1;
        }
        counts
    }

    /// Builds the position-to-document table.
    fn documents(&self) -> Documents {
        let end = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let mut begins = self.begins.clone();
        begins.push(end);
        let mut of_stride = Vec::with_capacity((end >> STRIDE) as usize + 1);
        let mut doc = 0;
        for place in (0..end).step_by(1 << STRIDE) {
            while begins[doc + 1] <= place {
                doc += 1;
            }
            of_stride.push(doc as u32);
        }
        Documents { begins, of_stride }
    }
}

/// Sort buffers, reused because allocating costs about as much as sorting.
#[derive(Default)]
pub(super) struct Sorter {
    places: Vec<TermOccurrence>,
    other: Vec<TermOccurrence>,
}

impl Sorter {
    /// Sorts the positions of a sequence by rank, stably, and calls back with runs in which all
    /// positions of a rank are together.
    fn sort(
        &mut self,
        ranks: &[u32],
        counts: &[u32],
        mut tell: impl FnMut(&[TermOccurrence]) -> io::Result<()>,
    ) -> io::Result<()> {
        let bits = counts.len().next_power_of_two().trailing_zeros();
        let high = bits.saturating_sub(DIGIT);
        let begins = begins(counts, high);
        let mut ends = begins;
        let words = counts.iter().map(|count| *count as usize).sum();
        self.places.resize(words, TermOccurrence::default());
        // Most significant digit first: every bucket is then sorted while it fits into the cache.
        for (rank, place) in ranks.iter().zip(0..).filter(|(rank, _)| **rank != GAP) {
            let end = &mut ends[(*rank >> high) as usize & (BUCKETS - 1)];
            self.places[*end] = TermOccurrence { rank: *rank, place };
            *end += 1;
        }
        for (bucket, (begin, end)) in begins.into_iter().zip(ends).enumerate().filter(|(_, (begin, end))| begin < end) {
            let first = bucket << high;
            let counts = &counts[first..counts.len().min(first + (1 << high))];
            tell(within(&mut self.places[begin..end], &mut self.other, (first, counts), high))?;
        }
        Ok(())
    }
}

/// Sorts a bucket, whose ranks begin at `first`, by the bits not yet sorted.
fn within<'a>(
    places: &'a mut [TermOccurrence],
    other: &'a mut Vec<TermOccurrence>,
    (first, counts): (usize, &[u32]),
    bits: u32,
) -> &'a [TermOccurrence] {
    // A bucket with a single term is in order already, as frequent terms often are.
    if counts.iter().filter(|count| **count > 0).count() < 2 {
        return places;
    }
    other.resize(places.len(), TermOccurrence::default());
    let (mut from, mut to) = (places, other.as_mut_slice());
    for shift in (0..bits).step_by(DIGIT as usize) {
        let mut ends = begins(counts, shift);
        for seen in from.iter() {
            let end = &mut ends[((seen.rank as usize - first) >> shift) & (BUCKETS - 1)];
            to[*end] = *seen;
            *end += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from
}

/// Start offsets of the buckets, by some bits of the rank.
fn begins(counts: &[u32], shift: u32) -> [usize; BUCKETS] {
    let mut sums = [0; BUCKETS];
    for (rank, count) in counts.iter().enumerate() {
        sums[(rank >> shift) & (BUCKETS - 1)] += *count as usize;
    }
    let mut sum = 0;
    sums.map(|count| {
        sum += count;
        sum - count
    })
}

/// Maps positions of a sequence to documents.
struct Documents {
    begins: Vec<u32>,
    of_stride: Vec<u32>,
}

impl Documents {
    /// The document of a position, given that it is not before `last`.
    #[inline]
    fn at(&self, place: u32, last: DocId) -> DocId {
        // Positions of a term ascend: neither the stride's document nor the last one is too late.
        let mut doc = self.of_stride[(place >> STRIDE) as usize].max(last) as usize;
        while self.begins[doc + 1] <= place {
            doc += 1;
        }
        doc as DocId
    }
}

/// The postings of one term: documents, frequencies and delta-encoded positions.
#[derive(Default)]
struct PostingBuffer {
    documents: Vec<(DocId, u32)>,
    steps: Vec<u32>,
}

/// Writes terms with their posting lists.
struct TermWriter<'a> {
    dictionary: &'a Dictionary,
    order: &'a [u32],
    places: bool,
    documents: Documents,
    row: PostingBuffer,
}

impl TermWriter<'_> {
    fn term(&mut self, rank: u32, places: impl Iterator<Item = u32>, out: &mut FieldSerializer<'_>) -> io::Result<()> {
        let row = &mut self.row;
        row.documents.clear();
        row.steps.clear();
        let (mut last, mut before) = (0, 0);
        for place in places {
            let doc = self.documents.at(place, last);
            match row.documents.last_mut() {
                Some((known, count)) if *known == doc => *count += 1,
                _ => {
                    row.documents.push((doc, 1));
                    before = self.documents.begins[doc as usize];
                }
            }
            row.steps.push(place - before);
            (last, before) = (doc, place);
        }
        let word = self.dictionary.word(self.order[rank as usize]);
        let documents = u32::try_from(row.documents.len()).unwrap_or(u32::MAX);
        out.new_term(word, if self.places { documents } else { 0 }, self.places)?;
        let mut steps = row.steps.as_slice();
        for (doc, count) in &row.documents {
            let of_doc;
            (of_doc, steps) = steps.split_at(*count as usize);
            if self.places { out.write_doc(*doc, *count, of_doc) } else { out.write_doc(*doc, 0, &[]) }
        }
        out.close_term()
    }
}
