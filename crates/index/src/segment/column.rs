//! How is a field inverted: which documents contain each term, and where?
//!
//! A field is buffered in document order: the term ids in sequence, and where each document begins.
//! Adding a token is an append, whereas an in-memory inverted index appends to that term's posting
//! list, which mostly misses the cache. The field is inverted when the segment is written, by a
//! counting sort on the term id: one pass counts, others put every position where the counts say.
//! Each of these sorts the positions of some successive terms only, a quarter of all, so that the
//! sorted positions take a quarter of the memory.

use super::dictionary::Dictionary;
use super::postings::FieldWriter;
use std::io;
use tantivy::DocId;
use tantivy::schema::{Field, IndexRecordOption};

/// Not a term: the tokens on its two sides are not adjacent.
const GAP: u32 = u32::MAX;

/// In how many passes the positions of a large field are sorted, and how many are few enough for
/// one.
const PASSES: usize = 4;
const FEW: usize = 1 << 18;

/// Log2 of how many positions share one entry of the position-to-document table.
const STRIDE: u32 = 6;

/// One field of a segment under construction.
pub(super) struct TermColumn {
    pub(super) field: Field,
    /// Whether frequencies and positions are recorded, or only documents.
    pub(super) record: IndexRecordOption,
    numbers: Vec<u32>,
    begins: Vec<u32>,
    /// Number of tokens without gaps, including those of earlier documents.
    pub(super) words: u64,
    before: u64,
}

impl TermColumn {
    pub(super) fn new(field: Field, record: IndexRecordOption) -> Self {
        Self { field, record, numbers: Vec::new(), begins: Vec::new(), words: 0, before: 0 }
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
        let tokens = self.numbers.len();
        (tokens + tokens.div_ceil(PASSES).max(tokens.min(FEW)) + self.begins.len()) * size_of::<u32>()
    }

    /// Writes the posting list of every term; `order` lists the term ids in term order.
    pub(super) fn write(
        &mut self,
        dictionary: &Dictionary,
        order: &[u32],
        sorter: &mut Sorter,
        out: &mut FieldWriter<'_>,
    ) -> io::Result<()> {
        sorter.count(&self.numbers, order.len());
        let documents = self.documents();
        let mut writer = TermWriter { dictionary, documents, row: PostingBuffer::default() };
        let mut rest = order;
        while !rest.is_empty() {
            let terms = sorter.sort_some(&self.numbers, rest);
            let mut begin = 0;
            for number in &rest[..terms] {
                let end = sorter.finish(*number);
                if begin < end {
                    writer.term(*number, &sorter.places[begin..end], out)?;
                }
                begin = end;
            }
            rest = &rest[terms..];
        }
        Ok(())
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
    /// The positions of the terms of this pass, in term order.
    places: Vec<u32>,
    /// By term id: where its positions end so far, during its pass. Before that, how often it
    /// occurs, with the bit [`ELSEWHERE`] set; afterwards, that bit alone. One more entry, which
    /// is never of any pass, stands for gaps.
    ends: Vec<u32>,
}

/// Marks a term as not of this pass.
const ELSEWHERE: u32 = 1 << 31;

impl Sorter {
    /// Counts how often each of so many terms occurs.
    fn count(&mut self, numbers: &[u32], terms: usize) {
        self.ends.clear();
        self.ends.resize(terms + 1, ELSEWHERE);
        for number in numbers {
            self.ends[(*number as usize).min(terms)] += 1;
        }
    }

    /// Sorts the positions of the next terms in order, stably, and returns the number of terms.
    fn sort_some(&mut self, numbers: &[u32], order: &[u32]) -> usize {
        let most = numbers.len().div_ceil(PASSES).max(FEW);
        let (mut sum, mut terms) = (0, 0);
        for number in order {
            let count = self.ends[*number as usize] & !ELSEWHERE;
            if terms > 0 && (sum + count) as usize > most {
                break;
            }
            self.ends[*number as usize] = sum;
            sum += count;
            terms += 1;
        }
        // Positions of terms of other passes all go to one place behind the others. Which tokens
        // are of this pass is as good as random: a branch on it would cost more than the store.
        self.places.resize(sum as usize + 1, 0);
        let gap = self.ends.len() - 1;
        for (number, place) in numbers.iter().zip(0..) {
            let end = &mut self.ends[(*number as usize).min(gap)];
            self.places[(*end).min(sum) as usize] = place;
            *end += u32::from(*end < ELSEWHERE);
        }
        terms
    }

    /// Where the positions of a term of this pass end, which is done with it.
    fn finish(&mut self, number: u32) -> usize {
        std::mem::replace(&mut self.ends[number as usize], ELSEWHERE) as usize
    }
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
    documents: Documents,
    row: PostingBuffer,
}

impl TermWriter<'_> {
    fn term(&mut self, number: u32, places: &[u32], out: &mut FieldWriter<'_>) -> io::Result<()> {
        let row = &mut self.row;
        row.documents.clear();
        row.steps.clear();
        let (mut last, mut before) = (0, 0);
        for place in places.iter().copied() {
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
        out.term(self.dictionary.word(number), &row.documents, &row.steps)
    }
}
