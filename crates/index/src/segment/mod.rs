//! How do tokens become a segment of the index?
//!
//! A [`Pile`] buffers documents up to its memory limit and is then written as one segment in the
//! engine's format. The numbering of terms ([`dictionary`]), the inversion ([`column`]), the term
//! dictionary ([`automaton`]) and short posting lists ([`postings`]) are ours, the rest is written
//! by the engine's serializers. The engine inverts token by token into a hash table of posting
//! lists, which takes two to three times as long on prose.

mod automaton;
mod column;
mod dictionary;
mod infos;
mod postings;

use crate::analyze::TokenizedText;
use column::{Sorter, TermColumn};
use dictionary::{Dictionary, first_of};
use postings::{FieldOutline, PostingFiles};
use tantivy::directory::TerminatingWrite as _;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormReader, FieldNormReaders, FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::SegmentComponent;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::schema::{Field, FieldType, IndexRecordOption, Schema, TextFieldIndexing};
use tantivy::store::StoreWriter;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{DocId, Index, Segment, SegmentMeta, TantivyDocument};

/// A numeric value of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumericValue {
    Number(u64),
    Moment(i64),
}

/// The numeric fields of a document; several values of one field are in order.
pub(crate) struct NumericFields(pub(crate) Vec<(Field, NumericValue)>);

impl<'a> Value<'a> for NumericValue {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Number(n) => ReferenceValueLeaf::U64(n),
            Self::Moment(at) => ReferenceValueLeaf::I64(at),
        })
    }
}

impl Document for NumericFields {
    type Value<'a> = NumericValue;
    type FieldsValuesIter<'a> = std::iter::Copied<std::slice::Iter<'a, (Field, NumericValue)>>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.0.iter().copied()
    }
}

/// A text field of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text<'a> {
    /// Tokens of prose.
    Words(&'a TokenizedText),
    /// Tags, separated by spaces.
    Tags(&'a str),
}

/// A segment under construction.
pub(crate) struct Pile {
    schema: Schema,
    dictionary: Dictionary,
    columns: Vec<TermColumn>,
    /// The indexed numeric field, and each document's value.
    key: Option<Field>,
    keys: Vec<(u64, DocId)>,
    lengths: FieldNormsWriter,
    figures: FastFieldsWriter,
    /// Memory use of `figures` without documents.
    empty: usize,
    documents: DocId,
    sorter: Sorter,
}

impl Pile {
    /// An empty segment. Of the schema's fields, it inverts the texts and the one indexed number.
    pub(crate) fn of(schema: &Schema) -> tantivy::Result<Self> {
        let (mut columns, mut key) = (Vec::new(), None);
        for (field, entry) in schema.fields() {
            match entry.field_type() {
                FieldType::Str(options) => {
                    let record = options.get_indexing_options().map(TextFieldIndexing::index_option);
                    columns.extend(record.map(|record| TermColumn::new(field, record)));
                }
                FieldType::U64(options) if options.is_indexed() => key = Some(field),
                _ => {}
            }
        }
        let figures = figures_of(schema)?;
        Ok(Self {
            dictionary: Dictionary::new(),
            columns,
            key,
            keys: Vec::new(),
            lengths: FieldNormsWriter::for_schema(schema),
            empty: figures.mem_usage(),
            figures,
            documents: 0,
            sorter: Sorter::default(),
            schema: schema.clone(),
        })
    }

    /// Adds a document: its key, its numeric fields, and its texts by field. Several texts of one
    /// field are not adjacent.
    pub(crate) fn add<'a>(
        &mut self,
        key: u64,
        figures: &NumericFields,
        texts: impl Iterator<Item = (Field, Text<'a>)>,
    ) -> tantivy::Result<()> {
        self.figures.add_document(figures)?;
        let document = self.documents;
        self.documents += 1;
        if let Some(field) = self.key {
            self.keys.push((key, document));
            self.lengths.record(document, field, 1);
        }
        self.columns.iter_mut().for_each(TermColumn::begin);
        for (field, text) in texts {
            let Some(column) = self.columns.iter_mut().find(|column| column.field == field) else { continue };
            column.part();
            match text {
                Text::Words(cut) => cut.each(|word, first| column.push(self.dictionary.number(word, first))),
                Text::Tags(tags) => {
                    let tags = tags.split(' ').map(str::as_bytes);
                    tags.for_each(|tag| column.push(self.dictionary.number(tag, first_of(tag))));
                }
            }
        }
        for column in &self.columns {
            self.lengths.record(document, column.field, column.length());
        }
        Ok(())
    }

    /// Number of documents.
    pub(crate) fn documents(&self) -> DocId {
        self.documents
    }

    /// Approximate memory use in bytes, including that of writing it.
    pub(crate) fn heap_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(TermColumn::heap_bytes).sum();
        // Writing does not release what the empty numeric columns take.
        let figures = self.figures.mem_usage().saturating_sub(self.empty);
        columns + figures + self.dictionary.heap_bytes() + self.keys.len() * size_of::<(u64, DocId)>()
    }

    /// Writes a segment, not yet registered with the index, and clears this one.
    pub(crate) fn write(&mut self, index: &Index) -> tantivy::Result<SegmentMeta> {
        let written = self.write_files(index);
        self.clear()?;
        written
    }

    fn write_files(&mut self, index: &Index) -> tantivy::Result<SegmentMeta> {
        let segment = index.new_segment();
        self.write_words(&segment)?;
        let mut figures = segment.open_write(SegmentComponent::FastFields)?;
        self.figures.serialize(&mut figures, None)?;
        figures.terminate()?;
        self.write_store(&segment)?;
        let meta = segment.with_max_doc(self.documents).meta().clone();
        meta.untrack_temp_docstore();
        Ok(meta)
    }

    /// Removes all documents but keeps the buffers.
    fn clear(&mut self) -> tantivy::Result<()> {
        self.dictionary.clear();
        self.columns.iter_mut().for_each(TermColumn::clear);
        self.keys.clear();
        self.lengths = FieldNormsWriter::for_schema(&self.schema);
        self.figures = figures_of(&self.schema)?;
        self.documents = 0;
        Ok(())
    }

    fn write_words(&mut self, segment: &Segment) -> tantivy::Result<()> {
        self.lengths.fill_up_to_max_doc(self.documents);
        let lengths = FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?;
        self.lengths.serialize(lengths, None)?;
        let lengths = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?;
        let mut out = PostingFiles::open(segment)?;
        if let Some(field) = self.key {
            self.write_keys(&mut out, field, lengths.get_field(field)?)?;
        }
        let order = self.dictionary.sorted();
        for column in &mut self.columns {
            let (field, words, record) = (column.field, column.words, column.record);
            let mut words = out.field(FieldOutline { field, record, words, lengths: lengths.get_field(field)? })?;
            column.write(&self.dictionary, &order, &mut self.sorter, &mut words)?;
            words.close()?;
        }
        Ok(out.close()?)
    }

    fn write_keys(
        &mut self,
        out: &mut PostingFiles,
        field: Field,
        lengths: Option<FieldNormReader>,
    ) -> tantivy::Result<()> {
        self.keys.sort_unstable();
        let (record, words) = (IndexRecordOption::Basic, self.keys.len() as u64);
        let mut keys = out.field(FieldOutline { field, record, words, lengths })?;
        let mut documents = Vec::new();
        for same in self.keys.chunk_by(|(a, _), (b, _)| a == b) {
            documents.clear();
            documents.extend(same.iter().map(|(_, document)| (*document, 1)));
            keys.term(&same[0].0.to_be_bytes(), &documents, &[])?;
        }
        Ok(keys.close()?)
    }

    /// Nothing is stored, but the engine expects an entry per document.
    fn write_store(&self, segment: &Segment) -> tantivy::Result<()> {
        let settings = segment.index().settings();
        let out = segment.open_write(SegmentComponent::Store)?;
        let mut store = StoreWriter::new(out, settings.docstore_compression, settings.docstore_blocksize, false)?;
        let nothing = TantivyDocument::default();
        for _ in 0..self.documents {
            store.store(&nothing, &self.schema)?;
        }
        Ok(store.close()?)
    }
}

fn figures_of(schema: &Schema) -> tantivy::Result<FastFieldsWriter> {
    FastFieldsWriter::from_schema_and_tokenizer_manager(schema, TokenizerManager::new())
}

#[cfg(test)]
mod tests;
