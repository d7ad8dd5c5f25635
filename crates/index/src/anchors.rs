//! What do others call a page?
//!
//! Anchor texts become known long after the page itself and change with every run. So they have
//! their own index beside the pages', rewritten completely from the link table when enough has
//! changed, and joined by page number at query time. Each document holds the anchor texts of a
//! page, each repeated by the logarithm of its count, and the number of linking pages.

use crate::analyze::{Stems, TokenizedText};
use crate::error::{IndexError, Result};
use crate::schema::{self, ANCHOR, ID, SOURCES, column};
use crate::segment::{NumericFields, NumericValue, Pile, Text};
use crate::standing::{CommitPayload, make, open};
use crate::writer::{LEAST_MEMORY, reader};
use orb_page::PageId;
use std::path::{Path, PathBuf};
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::TantivyDocument;
use tantivy::{DocId, Index, IndexWriter, Score, Searcher};

/// Memory for documents that are not on disk yet.
const MEMORY: usize = 20_000_000;

/// The directory of the anchor index.
pub(crate) fn dir_in(index: &Path) -> PathBuf {
    index.join("anchors")
}

/// Writes a new anchor index that replaces the old one.
pub struct AnchorWriter {
    dir: PathBuf,
    engine: IndexWriter<TantivyDocument>,
    pile: Pile,
    /// Buffers for tokenizing.
    cuts: Vec<TokenizedText>,
}

impl AnchorWriter {
    /// Starts a new index; the old one stays until the commit.
    pub fn open(index: &Path) -> Result<Self> {
        let dir = dir_in(index);
        let index = match open(&dir, &schema::anchors()) {
            Err(e) if e.is_unfit() => make(&dir, schema::anchors()),
            other => other,
        }?;
        let fail = |e| IndexError::of("write", &dir, &e);
        let engine: IndexWriter<TantivyDocument> = index.writer_with_num_threads(1, LEAST_MEMORY).map_err(fail)?;
        engine.delete_all_documents().map_err(fail)?;
        let pile = Pile::of(&index.schema()).map_err(fail)?;
        Ok(Self { dir, engine, pile, cuts: Vec::new() })
    }

    /// Adds a page: its anchor texts with their counts, and the number of linking pages.
    pub fn put<'a>(&mut self, page: PageId, texts: impl Iterator<Item = (&'a str, u64)>, sources: u64) -> Result<()> {
        let mut times = Vec::new();
        for (text, count) in texts {
            if self.cuts.len() == times.len() {
                self.cuts.push(TokenizedText::default());
            }
            self.cuts[times.len()].refill(text);
            times.push(count.max(1).ilog2() as usize + 1);
        }
        let figures = vec![(ID, NumericValue::Number(page.0)), (SOURCES, NumericValue::Number(sources))];
        let texts =
            self.cuts.iter().zip(times).flat_map(|(cut, times)| std::iter::repeat_n((ANCHOR, Text::Words(cut)), times));
        self.pile.add(page.0, &NumericFields(figures), texts).map_err(|e| IndexError::of("write", &self.dir, &e))?;
        if self.pile.heap_bytes() >= MEMORY { self.write() } else { Ok(()) }
    }

    /// Writes the buffered documents as a segment.
    fn write(&mut self) -> Result<()> {
        let fail = |e| IndexError::of("write", &self.dir, &e);
        if self.pile.documents() > 0 {
            let written = self.pile.write(self.engine.index()).map_err(fail)?;
            self.engine.add_segment(written).map_err(fail)?;
        }
        Ok(())
    }

    /// Makes the new index visible, as of this mark of the catalogue.
    pub fn commit(mut self, mark: &str) -> Result<()> {
        self.write()?;
        let fail = |e| IndexError::of("commit", &self.dir, &e);
        let mut commit = self.engine.prepare_commit().map_err(fail)?;
        commit.set_payload(&CommitPayload::new(Some(mark.to_owned()), &Stems::default()).to_payload());
        commit.commit().map_err(fail)?;
        self.engine.wait_merging_threads().map_err(fail)
    }
}

/// The anchor index, opened for searching.
pub(crate) struct Anchors {
    pub(crate) searcher: Searcher,
    pub(crate) mark: Option<String>,
    dir: PathBuf,
    /// The largest number of pages that link to one page.
    most: u64,
}

/// The mark of the last commit of an index's anchors, if there are any.
pub(crate) fn latest_mark(index: &Path) -> Option<String> {
    let dir = dir_in(index);
    let opened: Index = open(&dir, &schema::anchors()).ok()?;
    CommitPayload::of(&opened, &dir).ok()?.mark
}

impl Anchors {
    /// Opens the anchor index; `None` if it was never written or cannot be read, since search works
    /// without it.
    pub(crate) fn open(index: &Path) -> Option<Self> {
        let dir = dir_in(index);
        let opened: Index = open(&dir, &schema::anchors()).ok()?;
        let mark = CommitPayload::of(&opened, &dir).ok()?.mark;
        let searcher = reader(&opened, &dir).ok()?.searcher();
        let columns = searcher.segment_readers().iter().filter_map(|s| s.fast_fields().u64(column::SOURCES).ok());
        let most = columns.map(|column| column.max_value()).max().unwrap_or(0);
        Some(Self { searcher, mark, dir, most })
    }

    /// Calls `visit` with the matching documents of each segment and their scores.
    pub(crate) fn matches(&self, query: &dyn Query, mut visit: impl FnMut(usize, DocId, Score)) -> Result<()> {
        let fail = |e| IndexError::of("search", &self.dir, &e);
        let weight = query.weight(EnableScoring::enabled_from_searcher(&self.searcher)).map_err(fail)?;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut take = |doc, score| {
                if !segment.is_deleted(doc) {
                    visit(number, doc, score);
                }
            };
            weight.for_each(segment, &mut take).map_err(fail)?;
        }
        Ok(())
    }

    /// Link popularity: the number of linking pages on a logarithmic scale, relative to the most
    /// linked page.
    pub(crate) fn popularity(&self, sources: u32) -> f64 {
        if self.most == 0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let most = self.most as f64;
        (1.0 + f64::from(sources)).ln() / (1.0 + most).ln()
    }
}
