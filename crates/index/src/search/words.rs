//! Where does a word occur?
//!
//! Access to the term dictionary: in how many pages a term occurs, in which fields, and every
//! `page@position`. Positions count tokens from 0, per field. For a term with millions of
//! occurrences only the requested ones are read.

use super::Searcher;
use crate::analyze::words;
use crate::error::Result;
use crate::schema::{TextField, column};
use orb_page::PageId;
use serde::Serialize;
use std::collections::BTreeMap;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, TERMINATED, Term};

/// Maximum number of terms examined for a prefix.
const MOST_WORDS: usize = 100_000;

/// A term of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordCount {
    /// The term in its indexed form.
    pub word: String,
    /// The field.
    pub field: TextField,
    /// Number of pages that contain it in this field.
    pub documents: u64,
    /// Total number of occurrences in this field.
    pub occurrences: u64,
}

/// One occurrence of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Occurrence {
    /// The page.
    pub page: PageId,
    /// The field.
    pub field: TextField,
    /// Its token position in that field, from 0.
    pub position: u32,
}

/// A document that contains the term.
struct TermHolder {
    page: u64,
    field: TextField,
    /// Index of its segment in the field's searcher.
    segment: usize,
    doc: DocId,
    /// Term frequency.
    frequency: u32,
}

impl Searcher {
    /// The indexed form of a word; `None` if the text is not exactly one token.
    pub fn as_kept(text: &str) -> Option<String> {
        let mut cut = words(text);
        (cut.len() == 1).then(|| cut.remove(0).text)
    }

    /// The frequencies of a term by field, omitting fields without it.
    pub fn count(&self, word: &str) -> Result<Vec<WordCount>> {
        let mut out = Vec::new();
        for field in TextField::ALL {
            let holders = self.holders(word, &[*field])?;
            let occurrences = holders.iter().map(|holder| u64::from(holder.frequency)).sum();
            if !holders.is_empty() {
                out.push(WordCount {
                    word: word.to_owned(),
                    field: *field,
                    documents: holders.len() as u64,
                    occurrences,
                });
            }
        }
        Ok(out)
    }

    /// The occurrences of a term, by page, field and position.
    pub fn occurrences(&self, word: &str, limit: u64, offset: u64) -> Result<Vec<Occurrence>> {
        let mut holders = self.holders(word, TextField::ALL)?;
        holders.sort_unstable_by_key(|holder| (holder.page, holder.field));
        let (mut out, mut passed) = (Vec::new(), 0u64);
        let mut positions = Vec::new();
        for TermHolder { page, field, segment, doc, frequency } in holders {
            let times = u64::from(frequency);
            if passed + times > offset && (out.len() as u64) < limit {
                self.positions(word, field, (segment, doc), &mut positions)?;
                let skip = usize::try_from(offset.saturating_sub(passed)).unwrap_or(usize::MAX);
                let room = usize::try_from(limit - out.len() as u64).unwrap_or(usize::MAX);
                let here = positions.iter().skip(skip).take(room);
                out.extend(here.map(|position| Occurrence { page: PageId(page), field, position: *position }));
            }
            passed += times;
        }
        Ok(out)
    }

    /// The terms with this prefix, in order, with their counts.
    pub fn beginning(&self, start: &str, limit: u64, offset: u64) -> Result<Vec<WordCount>> {
        let mut counts: BTreeMap<(String, TextField), (u64, u64)> = BTreeMap::new();
        for field in TextField::ALL {
            let Some(engine) = self.engine_of(*field) else { continue };
            for segment in engine.segment_readers() {
                let index = segment.inverted_index(field.field()).map_err(|e| self.failed(&e))?;
                let mut terms = index.terms().range().ge(start).into_stream().map_err(|e| self.failed(&e.into()))?;
                while let Some((term, place)) = terms.next() {
                    if !term.starts_with(start.as_bytes()) || counts.len() > MOST_WORDS {
                        break;
                    }
                    let word = String::from_utf8_lossy(term).into_owned();
                    counts.entry((word, *field)).or_default().0 += u64::from(place.doc_freq);
                }
            }
        }
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit).unwrap_or(usize::MAX);
        let count = |((word, field), (documents, _)): ((String, TextField), (u64, u64))| WordCount {
            word,
            field,
            documents,
            occurrences: 0,
        };
        Ok(counts.into_iter().skip(skip).take(take).map(count).collect())
    }

    pub(super) fn engine_of(&self, field: TextField) -> Option<&tantivy::Searcher> {
        match field {
            TextField::Anchor => self.anchors.as_ref().map(|anchors| &anchors.searcher),
            _ => Some(&self.engine),
        }
    }

    fn holders(&self, word: &str, fields: &[TextField]) -> Result<Vec<TermHolder>> {
        let fail = |e| self.failed(&e);
        let mut out = Vec::new();
        for field in fields {
            let Some(engine) = self.engine_of(*field) else { continue };
            let term = Term::from_field_text(field.field(), word);
            for (number, segment) in engine.segment_readers().iter().enumerate() {
                let ids = segment.fast_fields().u64(column::ID).map_err(fail)?;
                let index = segment.inverted_index(field.field()).map_err(fail)?;
                let Some(mut postings) =
                    index.read_postings(&term, IndexRecordOption::WithFreqs).map_err(|e| self.failed(&e.into()))?
                else {
                    continue;
                };
                while postings.doc() != TERMINATED {
                    let doc = postings.doc();
                    if let Some(page) = ids.first(doc).filter(|_| !segment.is_deleted(doc)) {
                        out.push(TermHolder {
                            page,
                            field: *field,
                            segment: number,
                            doc,
                            frequency: postings.term_freq(),
                        });
                    }
                    postings.advance();
                }
            }
        }
        Ok(out)
    }

    fn positions(
        &self,
        word: &str,
        field: TextField,
        (segment, doc): (usize, DocId),
        out: &mut Vec<u32>,
    ) -> Result<()> {
        out.clear();
        let Some(engine) = self.engine_of(field) else { return Ok(()) };
        let term = Term::from_field_text(field.field(), word);
        let segment = &engine.segment_readers()[segment];
        let index = segment.inverted_index(field.field()).map_err(|e| self.failed(&e))?;
        let postings = index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions);
        if let Some(mut postings) = postings.map_err(|e| self.failed(&e.into()))?
            && postings.doc() <= doc
            && postings.seek(doc) == doc
        {
            postings.positions(out);
        }
        Ok(())
    }
}
