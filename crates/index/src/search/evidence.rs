//! Where on a page is what the query asks for?
//!
//! For the best matches only, the positions of every unit in every field are read from the posting
//! lists: sorted by document, so that each list is gone through once. A phrase or an identifier is
//! found by intersecting the positions of its tokens.

use super::Searcher;
use super::source::QueryPlan;
use super::units::{QueryUnit, WrittenForm};
use crate::described::{DescriptionMark, UrlHash};
use crate::error::Result;
use crate::schema::{TextField, column};
use crate::section::{NameMark, SectionMark};
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, Term};

/// Maximum occurrences of a unit that are read of one field.
const MOST: usize = 2_000;

/// The places of the text and of the anchor texts among the fields.
pub(super) const BODY: usize = 2;
const ANCHOR: usize = 4;

/// The occurrences of a unit on a page.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitPlaces {
    /// Weighted number of occurrences by field, in the order of [`TextField::ALL`].
    pub(super) counts: [f32; TextField::ALL.len()],
    /// Where it is in the text, the title and the URL, in order.
    pub(super) body: Vec<UnitPlace>,
    pub(super) title: Vec<UnitPlace>,
    pub(super) url: Vec<UnitPlace>,
}

/// An occurrence of a unit: its position, and what the form counts in which it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitPlace {
    pub(super) at: u32,
    pub(super) worth: f32,
}

/// What is known of a page that may be an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct PageEvidence {
    /// For each unit of the query.
    pub(super) units: Vec<UnitPlaces>,
    /// Lengths of the fields in tokens, approximately.
    pub(super) lengths: [u32; TextField::ALL.len()],
    /// The sections of its own text in order, and their numbers among all of the page.
    pub(super) sections: Vec<SectionMark>,
    pub(super) numbers: Vec<usize>,
    /// Which tokens of its URL are its name, and how much of it is links.
    pub(super) name: NameMark,
    /// What others know it by, and which of them it describes, in order.
    pub(super) url: UrlHash,
    pub(super) described: Vec<DescriptionMark>,
}

/// Columns that tell the structure of the pages of a segment.
pub(super) struct StructureColumns {
    sections: Option<Column<u64>>,
    name: Option<Column<u64>>,
    described: Option<Column<u64>>,
    norms: Vec<Option<FieldNormReader>>,
}

impl StructureColumns {
    pub(super) fn open(segment: &SegmentReader) -> Self {
        let of = |name| segment.fast_fields().u64(name).ok();
        let norm = |part: &TextField| segment.get_fieldnorms_reader(part.field()).ok();
        Self {
            sections: of(column::SECTIONS),
            name: of(column::NAME),
            described: of(column::DESCRIBED),
            norms: TextField::OWN.iter().map(norm).collect(),
        }
    }

    fn read(&self, doc: DocId, page: &mut PageEvidence) {
        if let Some(sections) = &self.sections {
            let all = sections.values_for_doc(doc).map(SectionMark::unpacked).enumerate();
            (page.numbers, page.sections) = all.filter(|(_, section)| section.is_own()).unzip();
        }
        let name = self.name.as_ref().and_then(|name| name.first(doc)).unwrap_or(0);
        page.name = NameMark::unpacked(name);
        if let Some(described) = &self.described {
            (page.url, page.described) = DescriptionMark::all_of(described.values_for_doc(doc));
        }
        for (length, norm) in page.lengths.iter_mut().zip(&self.norms) {
            *length = norm.as_ref().map_or(0, |norm| norm.fieldnorm(doc));
        }
    }
}

impl Searcher {
    /// What is known of these documents, which are in order.
    pub(super) fn evidence(
        &self,
        units: &[QueryUnit],
        plan: &QueryPlan,
        pages: &[DocAddress],
    ) -> Result<Vec<PageEvidence>> {
        let mut out = vec![
            PageEvidence { units: vec![UnitPlaces::default(); units.len()], ..PageEvidence::default() };
            pages.len()
        ];
        let structure = self.structure();
        for (page, at) in out.iter_mut().zip(pages) {
            if let Some(columns) = structure.get(at.segment_ord as usize) {
                columns.read(at.doc_id, page);
            }
        }
        for (number, unit) in units.iter().enumerate() {
            for form in &unit.forms {
                for (field, part) in TextField::OWN.iter().enumerate() {
                    if unit.part.is_none_or(|only| only == *part) {
                        self.read_form(form, (field, *part), number, pages, &mut out)?;
                    }
                }
            }
        }
        for page in &mut out {
            page.units.iter_mut().for_each(UnitPlaces::settle);
        }
        for (number, hits) in &plan.anchored {
            let most = hits.most();
            for (page, at) in out.iter_mut().zip(pages) {
                page.units[*number].counts[ANCHOR] = hits.score_of(*at) / most;
            }
        }
        Ok(out)
    }

    /// Reads the occurrences of one form in one field.
    fn read_form(
        &self,
        form: &WrittenForm,
        (field, part): (usize, TextField),
        unit: usize,
        pages: &[DocAddress],
        out: &mut [PageEvidence],
    ) -> Result<()> {
        let mut rest = out;
        for same in pages.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let (here, after) = rest.split_at_mut(same.len());
            rest = after;
            let segment = self.engine.segment_reader(same[0].segment_ord);
            let Some(mut lists) = self.lists(form, part, segment)? else { continue };
            let mut positions = vec![Vec::new(); lists.len()];
            for (at, page) in same.iter().zip(here) {
                if !all_at(&mut lists, at.doc_id) {
                    continue;
                }
                for (list, positions) in lists.iter_mut().zip(&mut positions) {
                    list.positions(positions);
                }
                page.units[unit].add(field, part, form.worth, &in_a_row(&positions));
            }
        }
        Ok(())
    }

    /// The posting lists of a form's tokens; `None` if one of them is not there.
    fn lists(
        &self,
        form: &WrittenForm,
        part: TextField,
        segment: &SegmentReader,
    ) -> Result<Option<Vec<SegmentPostings>>> {
        let index = segment.inverted_index(part.field()).map_err(|e| self.failed(&e))?;
        let mut lists = Vec::with_capacity(form.tokens.len());
        for token in &form.tokens {
            let term = Term::from_field_text(part.field(), token);
            let list = index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions);
            match list.map_err(|e| self.failed(&e.into()))? {
                Some(list) => lists.push(list),
                None => return Ok(None),
            }
        }
        Ok((!lists.is_empty()).then_some(lists))
    }
}

/// Whether a document is in all lists, each of which is moved there.
fn all_at(lists: &mut [SegmentPostings], doc: DocId) -> bool {
    lists.iter_mut().all(|list| list.doc() <= doc && (list.doc() == doc || list.seek(doc) == doc))
}

/// The positions at which the first of several tokens is followed by the others.
fn in_a_row(positions: &[Vec<u32>]) -> Vec<u32> {
    let Some((first, others)) = positions.split_first() else { return Vec::new() };
    let follows = |at: &u32| (1..).zip(others).all(|(step, other)| other.binary_search(&(at + step)).is_ok());
    first.iter().copied().filter(follows).take(MOST).collect()
}

impl UnitPlaces {
    fn add(&mut self, field: usize, part: TextField, worth: f32, positions: &[u32]) {
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let count = positions.len() as f32;
        self.counts[field] += worth * count;
        let places = match part {
            TextField::Body => &mut self.body,
            TextField::Title => &mut self.title,
            TextField::Url => &mut self.url,
            TextField::Headings | TextField::Anchor | TextField::Around => return,
        };
        places.extend(positions.iter().map(|at| UnitPlace { at: *at, worth }));
    }

    /// Orders the occurrences; of two at one position the better stays.
    fn settle(&mut self) {
        for places in [&mut self.body, &mut self.title, &mut self.url] {
            places.sort_unstable_by(|a, b| a.at.cmp(&b.at).then(b.worth.total_cmp(&a.worth)));
            places.dedup_by_key(|place| place.at);
        }
    }
}
