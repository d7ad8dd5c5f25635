//! How do pages get into the index?
//!
//! Each project has one [`PageIndexWriter`]. Pages are processed by its own threads ([`Hands`]) and
//! become visible with the next commit. A commit carries the mark of the catalogue's batch it has
//! reached, so that the process that opens the index knows what is missing. Putting a page again
//! replaces it. Nothing here is a source of truth: if the index is unusable, the writer creates a
//! new one and says so.

use crate::analyze::Stems;
use crate::entry::IndexEntry;
use crate::error::{IndexError, Result};
use crate::hands::Hands;
use crate::schema::{self, ID, column};
use crate::split::{IndexSplitReader, SplitEntry};
use crate::standing::{CommitPayload, make, open};
use hashbrown::HashSet;
use orb_page::{IdSet, Moment, PageId};
use std::path::{Path, PathBuf};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, SegmentMeta, TantivyDocument, Term};

/// The engine's minimum memory, although it only receives finished segments.
pub(crate) const LEAST_MEMORY: usize = 16_000_000;

/// Number of segments of one size that are merged at once, and the size (in documents) up to which
/// all count as small.
const MERGED_AT_ONCE: usize = 10;
const SMALL: u32 = 10_000;

/// How an index is written.
#[derive(Clone, Debug)]
pub struct WriterRules {
    /// Memory for documents that are not on disk yet.
    pub memory: u64,
    /// Number of indexing threads.
    pub threads: usize,
    /// Languages whose words are stemmed.
    pub stems: Stems,
}

/// What a writer found when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExistingIndex {
    /// No index: a new one was created.
    Nothing,
    /// An index that has reached this mark.
    Index(Option<String>),
    /// An unusable index, for this reason: a new one was created.
    Unfit(String),
}

/// The writer of an index.
pub struct PageIndexWriter {
    dir: PathBuf,
    engine: IndexWriter<TantivyDocument>,
    hands: Hands,
    stems: Stems,
    /// A bit set of the pages in the index.
    known: IdSet,
    /// Pages put since the last commit, and their segments.
    fresh: HashSet<PageId>,
    written: Vec<SegmentMeta>,
    /// Whether pages of earlier commits were deleted since the last commit.
    taken_out: bool,
    uncommitted: u64,
}

impl PageIndexWriter {
    /// Opens the index in a directory, or creates one.
    pub fn open(dir: &Path, rules: &WriterRules) -> Result<(Self, ExistingIndex)> {
        let existing = open(dir, &schema::pages()).and_then(|index| {
            let standing = CommitPayload::of(&index, dir)?;
            if standing.stem != rules.stems.0 {
                let what = "its words were stemmed in other languages".to_owned();
                return Err(IndexError::Unfit { dir: dir.to_owned(), what });
            }
            let holdings = holdings(&index, dir)?;
            Ok((index, standing.mark, holdings))
        });
        match existing {
            Ok((index, mark, holdings)) => {
                let mut writer = Self::over(&index, dir, rules)?;
                writer.known = holdings.iter().map(|(page, _)| page.0).collect();
                Ok((writer, ExistingIndex::Index(mark)))
            }
            Err(IndexError::Absent { .. }) => Ok((Self::make(dir, rules)?, ExistingIndex::Nothing)),
            Err(IndexError::Outdated { .. }) => Ok((
                Self::make(dir, rules)?,
                ExistingIndex::Unfit("it was written by another version of orb".to_owned()),
            )),
            Err(IndexError::Unfit { what, .. }) => Ok((Self::make(dir, rules)?, ExistingIndex::Unfit(what))),
            Err(other) => Err(other),
        }
    }

    /// Discards what is there and starts again.
    pub fn make(dir: &Path, rules: &WriterRules) -> Result<Self> {
        Self::over(&make(dir, schema::pages())?, dir, rules)
    }

    fn over(index: &Index, dir: &Path, rules: &WriterRules) -> Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(LEAST_MEMORY)
            .build();
        let engine = index.writer_with_options(options).map_err(|e| IndexError::of("write", dir, &e))?;
        let mut merging = LogMergePolicy::default();
        merging.set_min_num_segments(MERGED_AT_ONCE);
        merging.set_min_layer_size(SMALL);
        engine.set_merge_policy(Box::new(merging));
        let hands = Hands::start(index, dir, rules)?;
        Ok(Self {
            dir: dir.to_owned(),
            engine,
            hands,
            stems: rules.stems.clone(),
            known: IdSet::default(),
            fresh: HashSet::new(),
            written: Vec::new(),
            taken_out: false,
            uncommitted: 0,
        })
    }

    /// Adds a page, replacing an earlier version.
    pub fn put(&mut self, entry: IndexEntry) -> Result<()> {
        self.forget(entry.page)?;
        self.known.insert(entry.page.0);
        self.fresh.insert(entry.page);
        self.uncommitted += 1;
        self.hands.put(entry)?;
        self.written.extend(self.hands.written()?);
        Ok(())
    }

    /// Deletes a page if it is there.
    pub fn forget(&mut self, page: PageId) -> Result<()> {
        if self.known.contains(page.0) {
            // The engine deletes only from segments it knows of.
            if self.fresh.contains(&page) {
                self.commit(None)?;
            }
            self.known.remove(page.0);
            self.uncommitted += 1;
            self.taken_out = true;
            self.engine.delete_term(Term::from_field_u64(ID, page.0));
        }
        Ok(())
    }

    /// Takes over the documents of a split that are wanted, which replace earlier versions like
    /// pages that are put. Returns how many. `wanted` must not accept a page twice before the next
    /// commit.
    pub fn take_over(&mut self, split: &IndexSplitReader, wanted: &mut dyn FnMut(SplitEntry) -> bool) -> Result<u64> {
        let mut taken = 0;
        for chosen in split.choose(wanted)? {
            let segment = split.copy(&chosen, self.engine.index());
            let segment = segment.map_err(|e| IndexError::of("write", &self.dir, &e))?;
            for page in &chosen.pages {
                self.forget(*page)?;
                self.known.insert(page.0);
            }
            self.fresh.extend(&chosen.pages);
            self.written.push(segment);
            self.uncommitted += chosen.pages.len() as u64;
            taken += chosen.pages.len() as u64;
        }
        Ok(taken)
    }

    /// Number of changes the next commit would make.
    pub fn uncommitted(&self) -> u64 {
        self.uncommitted
    }

    /// Commits everything put so far, and records the mark reached: `None` if the index is not
    /// known to be complete.
    ///
    /// A deletion applies to every segment the engine knows of. The replacement of a deleted page
    /// must therefore follow in a later commit, and the commit with the deletion says that
    /// something is missing.
    pub fn commit(&mut self, mark: Option<&str>) -> Result<()> {
        self.written.extend(self.hands.empty()?);
        if self.taken_out && !self.written.is_empty() {
            self.publish(None)?;
        }
        for segment in self.written.drain(..) {
            self.engine.add_segment(segment).map_err(|e| IndexError::of("write", &self.dir, &e))?;
        }
        self.publish(mark)?;
        self.fresh.clear();
        self.uncommitted = 0;
        Ok(())
    }

    fn publish(&mut self, mark: Option<&str>) -> Result<()> {
        let fail = |e| IndexError::of("commit", &self.dir, &e);
        let standing = CommitPayload::new(mark.map(str::to_owned), &self.stems);
        let mut commit = self.engine.prepare_commit().map_err(fail)?;
        commit.set_payload(&standing.to_payload());
        commit.commit().map_err(fail)?;
        self.taken_out = false;
        Ok(())
    }

    /// The pages there will be after the next commit, by number.
    pub fn pages(&self) -> Vec<PageId> {
        self.known.iter().map(PageId).collect()
    }

    /// Pages at the last commit with their fetch times, by number.
    pub fn holdings(&self) -> Result<Vec<(PageId, Moment)>> {
        holdings(self.engine.index(), &self.dir)
    }

    /// Waits for background merges.
    pub fn finish(self) -> Result<()> {
        let dir = self.dir;
        self.engine.wait_merging_threads().map_err(|e| IndexError::of("finish", &dir, &e))
    }
}

/// A reader of the last commit that does not watch for new ones.
pub(crate) fn reader(index: &Index, dir: &Path) -> Result<IndexReader> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
    reader.map_err(|e| IndexError::of("read", dir, &e))
}

/// The pages of the last commit with their fetch times, by number.
pub(crate) fn holdings(index: &Index, dir: &Path) -> Result<Vec<(PageId, Moment)>> {
    let fail = |e| IndexError::of("read", dir, &e);
    let searcher = reader(index, dir)?.searcher();
    let mut out = Vec::with_capacity(usize::try_from(searcher.num_docs()).unwrap_or(0));
    for segment in searcher.segment_readers() {
        let ids = segment.fast_fields().u64(column::ID).map_err(fail)?;
        let ats = segment.fast_fields().i64(column::AT).map_err(fail)?;
        for doc in segment.doc_ids_alive() {
            if let (Some(id), Some(at)) = (ids.first(doc), ats.first(doc)) {
                out.push((PageId(id), Moment(at)));
            }
        }
    }
    out.sort_unstable();
    Ok(out)
}
