//! What do others call a page?
//!
//! The texts of links are known long after a page is, and change with every run: they lie in an index of their own beside the pages',
//! written whole from the link table whenever that has changed enough, and joined by page number when somebody searches. Its documents hold
//! the texts of a page's links, each as often as the logarithm of its count says, and from how many pages they come.

use crate::analyze::{Cut, Stems};
use crate::error::{IndexError, Result};
use crate::schema::{self, ANCHOR, ID, SOURCES, column};
use crate::segment::{Figure, Figures, Pile, Text};
use crate::standing::{Standing, make, open};
use crate::writer::{LEAST_MEMORY, reader};
use orb_page::PageId;
use std::path::{Path, PathBuf};
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::TantivyDocument;
use tantivy::{DocId, Index, IndexWriter, Score, Searcher};

/// Memory for words not yet on the disk.
const MEMORY: usize = 50_000_000;

/// Where the anchors lie in an index's directory.
pub(crate) fn dir_in(index: &Path) -> PathBuf {
    index.join("anchors")
}

/// Writes what others call the pages, in the place of what was there.
pub struct AnchorWriter {
    dir: PathBuf,
    engine: IndexWriter<TantivyDocument>,
    pile: Pile,
    /// Where texts are cut.
    cuts: Vec<Cut>,
}

impl AnchorWriter {
    /// Begins anew; what was there stays until the commit.
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

    /// The texts of links to a page with how often each stands there, and from how many pages they come.
    pub fn put<'a>(&mut self, page: PageId, texts: impl Iterator<Item = (&'a str, u64)>, sources: u64) -> Result<()> {
        let mut times = Vec::new();
        for (text, count) in texts {
            if self.cuts.len() == times.len() {
                self.cuts.push(Cut::default());
            }
            self.cuts[times.len()].refill(text);
            times.push(count.max(1).ilog2() as usize + 1);
        }
        let figures = Figures([(ID, Figure::Number(page.0)), (SOURCES, Figure::Number(sources))]);
        let texts =
            self.cuts.iter().zip(times).flat_map(|(cut, times)| std::iter::repeat_n((ANCHOR, Text::Words(cut)), times));
        self.pile.add(page.0, &figures, texts).map_err(|e| IndexError::of("write", &self.dir, &e))?;
        if self.pile.weight() >= MEMORY { self.write() } else { Ok(()) }
    }

    /// Writes what has been put.
    fn write(&mut self) -> Result<()> {
        let fail = |e| IndexError::of("write", &self.dir, &e);
        if self.pile.documents() > 0 {
            let written = self.pile.write(self.engine.index()).map_err(fail)?;
            self.engine.add_segment(written).map_err(fail)?;
        }
        Ok(())
    }

    /// Makes them findable, as of this mark of the catalogue.
    pub fn commit(mut self, mark: &str) -> Result<()> {
        self.write()?;
        let fail = |e| IndexError::of("commit", &self.dir, &e);
        let mut commit = self.engine.prepare_commit().map_err(fail)?;
        commit.set_payload(&Standing::new(Some(mark.to_owned()), &Stems::default()).to_payload());
        commit.commit().map_err(fail)?;
        self.engine.wait_merging_threads().map_err(fail)
    }
}

/// The anchors, to be asked.
pub(crate) struct Anchors {
    pub(crate) searcher: Searcher,
    pub(crate) mark: Option<String>,
    dir: PathBuf,
    /// The most pages that link to one.
    most: u64,
}

impl Anchors {
    /// Those of an index, where they were ever written; nothing where they cannot be read, since search goes on without.
    pub(crate) fn open(index: &Path) -> Option<Self> {
        let dir = dir_in(index);
        let opened: Index = open(&dir, &schema::anchors()).ok()?;
        let mark = Standing::of(&opened, &dir).ok()?.mark;
        let searcher = reader(&opened, &dir).ok()?.searcher();
        let columns = searcher.segment_readers().iter().filter_map(|s| s.fast_fields().u64(column::SOURCES).ok());
        let most = columns.map(|column| column.max_value()).max().unwrap_or(0);
        Some(Self { searcher, mark, dir, most })
    }

    /// Gives the documents that match, by segment, with their scores.
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

    /// To be linked from so many pages, as a share of the most linked on a logarithmic scale.
    pub(crate) fn popularity(&self, sources: u32) -> f64 {
        if self.most == 0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let most = self.most as f64;
        (1.0 + f64::from(sources)).ln() / (1.0 + most).ln()
    }
}
