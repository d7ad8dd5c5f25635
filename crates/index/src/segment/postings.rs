//! How are the posting lists of a field written?
//!
//! In the engine's format. Most terms are rare, and the engine's serializer prepares each for lists
//! of any length (a table of scores, several buffers) before it writes a few bytes. Lists that are
//! shorter than a block are written here; longer ones by the engine.

use super::automaton::TermAutomaton;
use super::infos::{TermFacts, TermFactsWriter};
use std::io::{self, Write};
use tantivy::directory::{CompositeWrite, WritePtr};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentComponent;
use tantivy::positions::PositionSerializer;
use tantivy::postings::serializer::PostingsSerializer;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, Segment};

/// Documents, or positions, per block of the engine.
const BLOCK: usize = 128;

/// Bytes collected before they are written.
const PIECE: usize = 1 << 16;

/// Marks the last byte of a number.
const LAST: u8 = 0x80;

/// The three files of a segment with its posting lists.
pub(super) struct PostingFiles {
    terms: CompositeWrite<WritePtr>,
    postings: CompositeWrite<WritePtr>,
    positions: CompositeWrite<WritePtr>,
}

/// What is to be written of a field.
pub(super) struct FieldOutline {
    pub(super) field: Field,
    pub(super) record: IndexRecordOption,
    /// Number of its tokens.
    pub(super) words: u64,
    /// How many of them each document has.
    pub(super) lengths: Option<FieldNormReader>,
}

/// One field.
pub(super) struct FieldWriter<'a> {
    outline: FieldOutline,
    automaton: TermAutomaton<&'a mut dyn Write>,
    facts: TermFactsWriter,
    postings: ListWriter<'a>,
    positions: ListWriter<'a>,
}

impl PostingFiles {
    pub(super) fn open(segment: &Segment) -> tantivy::Result<Self> {
        Ok(Self {
            terms: CompositeWrite::wrap(segment.open_write(SegmentComponent::Terms)?),
            postings: CompositeWrite::wrap(segment.open_write(SegmentComponent::Postings)?),
            positions: CompositeWrite::wrap(segment.open_write(SegmentComponent::Positions)?),
        })
    }

    /// Begins the next field.
    pub(super) fn field(&mut self, outline: FieldOutline) -> io::Result<FieldWriter<'_>> {
        let postings = self.postings.for_field(outline.field);
        postings.write_all(&outline.words.to_le_bytes())?;
        Ok(FieldWriter {
            automaton: TermAutomaton::new(self.terms.for_field(outline.field)),
            facts: TermFactsWriter::default(),
            postings: ListWriter::new(postings),
            positions: ListWriter::new(self.positions.for_field(outline.field)),
            outline,
        })
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.terms.close()?;
        self.postings.close()?;
        self.positions.close()
    }
}

impl FieldWriter<'_> {
    /// Adds a term, which comes after all others, with its documents, how often each has it, and
    /// the distances between its positions; as much of that as the field records.
    pub(super) fn term(&mut self, word: &[u8], documents: &[(DocId, u32)], steps: &[u32]) -> io::Result<()> {
        self.automaton.insert(word)?;
        let count = u32::try_from(documents.len()).unwrap_or(u32::MAX);
        self.facts.push(TermFacts { documents: count, ..self.end() });
        if documents.len() < BLOCK {
            self.few_documents(documents);
        } else {
            self.many_documents(documents, count)?;
        }
        if self.outline.record.has_positions() {
            self.positions.list(steps)?;
        }
        self.postings.pass_on()?;
        self.positions.pass_on()
    }

    /// Where the next lists begin.
    fn end(&self) -> TermFacts {
        TermFacts { documents: 0, postings: self.postings.len(), positions: self.positions.len() }
    }

    fn few_documents(&mut self, documents: &[(DocId, u32)]) {
        let out = &mut self.postings.bytes;
        let mut last = 0;
        for (document, _) in documents {
            write_number(out, document - last);
            last = *document;
        }
        if self.outline.record.has_freq() {
            documents.iter().for_each(|(_, count)| write_number(out, *count));
        }
    }

    fn many_documents(&mut self, documents: &[(DocId, u32)], count: u32) -> io::Result<()> {
        let FieldOutline { record, words, lengths, .. } = &self.outline;
        let all = lengths.as_ref().map_or(0, FieldNormReader::num_docs);
        let average = if all == 0 { 0.0 } else { *words as Score / all as Score };
        let mut list = PostingsSerializer::new(average, *record, lengths.clone());
        list.new_term(count, record.has_freq());
        documents.iter().for_each(|(document, count)| list.write_doc(*document, *count));
        list.close_term(count, &mut self.postings.bytes)
    }

    pub(super) fn close(mut self) -> io::Result<()> {
        self.postings.flush()?;
        self.positions.flush()?;
        let end = self.end();
        let facts = self.facts.finish(end, self.automaton.terms());
        self.automaton.finish(&facts)
    }
}

/// One of the files, with what is not written yet.
struct ListWriter<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
    before: u64,
}

impl<'a> ListWriter<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, bytes: Vec::with_capacity(2 * PIECE), before: 0 }
    }

    /// Number of bytes so far.
    fn len(&self) -> u64 {
        self.before + self.bytes.len() as u64
    }

    /// Adds a list of positions.
    fn list(&mut self, steps: &[u32]) -> io::Result<()> {
        if steps.len() < BLOCK {
            // No blocks come first.
            write_number(&mut self.bytes, 0);
            steps.iter().for_each(|step| write_number(&mut self.bytes, *step));
            return Ok(());
        }
        let mut list = PositionSerializer::new(&mut self.bytes);
        list.write_positions_delta(steps);
        list.close_term()?;
        list.close()
    }

    /// Writes what has come together, if that is much.
    fn pass_on(&mut self) -> io::Result<()> {
        if self.bytes.len() < PIECE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.before += self.bytes.len() as u64;
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Seven bits a byte, lowest first.
#[inline]
fn write_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= u32::from(LAST) {
        out.push(number as u8 & !LAST);
        number >>= 7;
    }
    out.push(number as u8 | LAST);
}
