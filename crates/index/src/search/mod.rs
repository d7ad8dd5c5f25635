//! Which pages answer this query, best first?
//!
//! A [`Searcher`] reads the last commit and nothing else of a project: for display, callers get
//! titles from the catalogue and texts from the archive. A query is read with the words of the
//! collection ([`reading`]), matches are gathered and scored by BM25 ([`gather()`]), the best of
//! them are judged by where they have the words ([`evidence`], [`judge`]) and by importance, and
//! then duplicates and near-duplicates (SimHash within [`ALIKE`] bits, after Manku, Jain and Das
//! Sarma) are collapsed into the best of them.

mod build;
mod complete;
mod described;
mod evidence;
mod gather;
mod hits;
mod join;
mod judge;
mod lexicon;
mod reading;
mod source;
mod stream;
mod units;
mod words;

pub use reading::SpellingCorrection;
pub use words::{Occurrence, WordCount};

use crate::analyze::Stems;
use crate::anchors::Anchors;
use crate::error::{IndexError, Result};
use crate::query::{QueryError, parse};
use crate::rank::{Aspect, Weights};
use crate::schema::{self, TextField, column};
use crate::snippet::Marker;
use crate::standing::{CommitPayload, open};
use crate::writer::{holdings, reader};
use build::Builder;
use evidence::{PageEvidence, StructureColumns};
use gather::{SoftClauses, TopMatches, gather};
use join::Join;
use judge::{AverageLengths, Judge, PageJudgement};
use orb_page::{HostId, Moment, PageId};
use reading::QueryReading;
use source::QueryPlan;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tantivy::columnar::Column;
use tantivy::{DocAddress, Score};
use units::QueryUnit;

/// How many matches are re-ranked by importance and deduplicated, and for how many of them
/// positions are read.
const WEIGHED: usize = 1_000;
const JUDGED: usize = 400;

/// The share of the query's words, by rarity, that a page must have: of two, of three, of more.
const ENOUGH: [f32; 3] = [0.5, 0.45, 0.34];

/// Maximum SimHash distance of near-duplicates, in bits.
const ALIKE: u32 = 3;

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    /// The query as typed.
    pub query: &'a str,
    /// Number of results.
    pub limit: usize,
    /// Number of results to skip.
    pub offset: usize,
    /// Maximum results per host; 0 for no limit.
    pub per_host: usize,
    /// Weights of the parts of a score.
    pub weights: &'a Weights,
    /// The reference for `since:7d`.
    pub now: Moment,
    /// Whether to explain each result's score.
    pub explain: bool,
}

/// Returns the importance of pages between 0 and 1. Supplied by the owner of the graph.
pub type ImportanceFn<'a> = &'a dyn Fn(&[PageId]) -> Vec<f64>;

/// A search result.
#[derive(Debug)]
pub struct SearchResults {
    /// Number of matching pages, before duplicates are collapsed.
    pub total: u64,
    /// Whether no page has all the words.
    pub relaxed: bool,
    /// Words that were replaced.
    pub corrections: Vec<SpellingCorrection>,
    /// The requested hits, best first.
    pub hits: Vec<Hit>,
    /// Finds the query's terms in texts.
    pub marker: Marker,
}

/// A matching page.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its score.
    pub score: f64,
    /// Its text score.
    pub text: f64,
    /// Its importance between 0 and 1.
    pub importance: f64,
    /// Duplicates collapsed into this page.
    pub alike: Vec<PageId>,
    /// The number of the section that answers best, if the page has sections.
    pub section: Option<usize>,
    /// The parts of the text score: words, what they are a part of, score.
    pub shares: Vec<(String, Aspect, f64)>,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is invalid.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// An index opened for searching.
pub struct Searcher {
    dir: PathBuf,
    engine: tantivy::Searcher,
    index: tantivy::Index,
    /// The commit it was opened at.
    commit: Commit,
    standing: CommitPayload,
    anchors: Option<Anchors>,
    join: OnceLock<Join>,
    columns: OnceLock<Vec<Columns>>,
    structure: OnceLock<Vec<StructureColumns>>,
    language: OnceLock<String>,
}

/// The columns of a segment: page number, host, duplicate cluster, SimHash.
type Columns = [Column<u64>; 4];

/// What tells a commit from any other: its opstamp and its segments.
type Commit = (u64, Vec<tantivy::index::SegmentId>);

fn commit_of(index: &tantivy::Index) -> tantivy::Result<Commit> {
    let metas = index.load_metas()?;
    Ok((metas.opstamp, metas.segments.iter().map(tantivy::index::SegmentMeta::id).collect()))
}

/// A match on its way to becoming a hit.
struct Candidate {
    at: DocAddress,
    hit: Hit,
    cluster: u64,
    simhash: u64,
}

impl Searcher {
    /// Opens the index in a directory.
    pub fn open(dir: &Path) -> Result<Self> {
        let index = open(dir, &schema::pages())?;
        let standing = CommitPayload::of(&index, dir)?;
        // Read before the segments are: what is committed in between is found to be newer.
        let commit = commit_of(&index).map_err(|e| IndexError::of("read", dir, &e))?;
        let engine = reader(&index, dir)?.searcher();
        let (dir, anchors) = (dir.to_owned(), Anchors::open(dir));
        let (join, columns) = (OnceLock::new(), OnceLock::new());
        let (structure, language) = (OnceLock::new(), OnceLock::new());
        Ok(Self { dir, engine, index, commit, standing, anchors, join, columns, structure, language })
    }

    /// Whether nothing was committed since it was opened, to the pages or to the anchors.
    pub fn is_latest(&self) -> bool {
        let same = commit_of(&self.index).is_ok_and(|commit| commit == self.commit);
        same && crate::anchors::latest_mark(&self.dir).as_deref() == self.anchors_mark()
    }

    /// The mark of the catalogue it has reached; `None` if it is known to be incomplete.
    pub fn mark(&self) -> Option<&str> {
        self.standing.mark.as_deref()
    }

    /// The mark of the catalogue at which the anchors were read, if they were.
    pub fn anchors_mark(&self) -> Option<&str> {
        self.anchors.as_ref()?.mark.as_deref()
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.engine.num_docs()
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.engine.segment_readers().len()
    }

    /// All pages with their fetch times, by number.
    pub fn holdings(&self) -> Result<Vec<(PageId, Moment)>> {
        holdings(&self.index, &self.dir)
    }

    /// Files with wrong checksums.
    pub fn damaged(&self) -> Result<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> =
            self.index.validate_checksum().map_err(|e| self.failed(&e))?.into_iter().collect();
        files.sort();
        Ok(files)
    }

    fn failed(&self, error: &tantivy::TantivyError) -> IndexError {
        IndexError::of("search", &self.dir, error)
    }

    /// Runs a search.
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        importance: Option<ImportanceFn<'_>>,
    ) -> std::result::Result<SearchResults, SearchError> {
        let node = parse(request.query, request.now)?;
        let stems = Stems(self.standing.stem.clone());
        let reading = self.read(node, stems.0.is_empty())?;
        let units = self.units(&reading)?;
        let plan = self.plan(&reading, &units, &stems, request.weights)?;
        let wanted = request.offset.saturating_add(request.limit);
        let depth = WEIGHED.max(wanted.div_ceil(WEIGHED).saturating_mul(WEIGHED));
        let enough = ENOUGH[plan.soft.len().saturating_sub(2).min(2)];
        let mut found = self.gather(&plan, enough, depth)?;
        if found.total == 0 && !plan.soft.is_empty() {
            found = self.gather(&plan, 0.0, depth)?;
        }
        let relaxed = found.complete == 0 && found.total > 0;
        let mut candidates = self.judged(&found.best, (&units, &plan), request)?;
        self.weigh(&mut candidates, request.weights, importance)?;
        let kept = fold(candidates, request.per_host, wanted);
        let hits = kept.into_iter().skip(request.offset).map(|one| one.hit).collect();
        let marker = Marker::of(&reading.node, &stems, &reading.forms);
        Ok(SearchResults { total: found.total, relaxed, corrections: reading.corrections, hits, marker })
    }

    /// Builds the engine's query.
    fn plan(&self, reading: &QueryReading, units: &[QueryUnit], stems: &Stems, weights: &Weights) -> Result<QueryPlan> {
        Builder { own: self, reading, units, stems, weights, next: 0, anchored: Vec::new() }.plan()
    }

    /// The best pages with this share of the plain words, by rarity; those with any if 0.
    fn gather(&self, plan: &QueryPlan, share: f32, depth: usize) -> Result<TopMatches> {
        let all: f32 = plan.soft.iter().map(|clause| clause.weight).sum();
        let soft = SoftClauses { clauses: &plan.soft, enough: share * all };
        gather(&self.engine, &plan.clauses, &soft, depth.min(self.most())).map_err(|e| self.failed(&e))
    }

    /// Judges the best matches by where they have the words; the others follow them in their order.
    fn judged(
        &self,
        best: &[(Score, DocAddress)],
        (units, plan): (&[QueryUnit], &QueryPlan),
        request: &SearchRequest<'_>,
    ) -> Result<Vec<Candidate>> {
        let mut found = best.to_vec();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let rest = found.split_off(JUDGED.min(found.len()));
        found.sort_unstable_by_key(|(_, at)| *at);
        let pages: Vec<DocAddress> = found.iter().map(|(_, at)| *at).collect();
        let judge =
            Judge { units, weights: request.weights, average: self.average_lengths(), explain: request.explain };
        let evidence = self.evidence(units, plan, &pages)?;
        let described = described::descriptions(units, &evidence);
        let told = |page: &PageEvidence| described.get(&page.url).copied().unwrap_or(0.0);
        let judged: Vec<PageJudgement> = evidence.iter().map(|page| judge.judge(page, told(page))).collect();
        let least = judged.iter().map(|one| one.text).fold(f32::INFINITY, f32::min);
        let top = rest.first().map_or(1.0, |(score, _)| score.max(f32::MIN_POSITIVE));
        let behind =
            |(score, _): &(Score, DocAddress)| PageJudgement { text: least * score / top, ..PageJudgement::default() };
        let judgements = judged.into_iter().chain(rest.iter().map(behind));
        let places = pages.iter().copied().chain(rest.iter().map(|(_, at)| *at));
        let columns = self.columns()?;
        Ok(places.zip(judgements).map(|(at, judgement)| candidate(columns, at, judgement)).collect())
    }

    /// The average length of each field in tokens.
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    fn average_lengths(&self) -> AverageLengths {
        let mut lengths = AverageLengths::default();
        for (length, part) in lengths.iter_mut().zip(TextField::OWN) {
            let of = |segment: &tantivy::SegmentReader| segment.inverted_index(part.field()).ok();
            let tokens: u64 =
                self.engine.segment_readers().iter().filter_map(of).map(|index| index.total_num_tokens()).sum();
            *length = tokens as f32 / self.engine.num_docs().max(1) as f32;
        }
        lengths
    }

    /// The columns that tell the structure of pages, opened on first use.
    fn structure(&self) -> &[StructureColumns] {
        self.structure.get_or_init(|| self.engine.segment_readers().iter().map(StructureColumns::open).collect())
    }

    /// The mapping from anchor documents to pages, loaded on first use.
    fn join(&self, anchors: &Anchors) -> Result<&Join> {
        if let Some(join) = self.join.get() {
            return Ok(join);
        }
        let join = Join::of(&self.engine, anchors).map_err(|e| self.failed(&e))?;
        Ok(self.join.get_or_init(|| join))
    }

    /// The columns of every segment, opened on first use.
    fn columns(&self) -> Result<&[Columns]> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let open = |segment: &tantivy::SegmentReader| -> tantivy::Result<Columns> {
            let of = |name| segment.fast_fields().u64(name);
            Ok([of(column::ID)?, of(column::HOST)?, of(column::CLUSTER)?, of(column::SIMHASH)?])
        };
        let columns: tantivy::Result<_> = self.engine.segment_readers().iter().map(open).collect();
        let columns = columns.map_err(|e| self.failed(&e))?;
        Ok(self.columns.get_or_init(|| columns))
    }

    /// Upper bound on the number of results; the engine requires at least one.
    fn most(&self) -> usize {
        usize::try_from(self.engine.num_docs()).unwrap_or(usize::MAX).max(1)
    }

    /// Re-ranks matches by importance, best first; ties go to the lower page number.
    fn weigh(&self, found: &mut [Candidate], weights: &Weights, importance: Option<ImportanceFn<'_>>) -> Result<()> {
        match (importance, &self.anchors) {
            (Some(importance), _) => {
                let pages: Vec<PageId> = found.iter().map(|one| one.hit.page).collect();
                found.iter_mut().zip(importance(&pages)).for_each(|(one, rank)| one.hit.importance = rank);
            }
            (None, Some(anchors)) => {
                let join = self.join(anchors)?;
                found.iter_mut().for_each(|one| one.hit.importance = anchors.popularity(join.sources(one.at)));
            }
            (None, None) => {}
        }
        // A query of only filters gives every text score 0: then importance alone decides.
        let silent = found.iter().all(|one| one.hit.text <= 0.0);
        for one in found.iter_mut() {
            let text = if silent { 1.0 } else { one.hit.text };
            one.hit.score = text * weights.factor(one.hit.importance);
        }
        found.sort_by(|a, b| b.hit.score.total_cmp(&a.hit.score).then(a.hit.page.cmp(&b.hit.page)));
        Ok(())
    }
}

/// A judged page, with what its columns say.
fn candidate(columns: &[Columns], at: DocAddress, judgement: PageJudgement) -> Candidate {
    let of = |column: &Column<u64>| column.first(at.doc_id).unwrap_or(0);
    let [page, host, cluster, simhash] = columns[at.segment_ord as usize].each_ref().map(of);
    let share = |(words, aspect, score): (String, Aspect, f32)| (words, aspect, f64::from(score));
    let hit = Hit {
        page: PageId(page),
        host: HostId(u32::try_from(host).unwrap_or(0)),
        score: f64::from(judgement.text),
        text: f64::from(judgement.text),
        importance: 0.0,
        alike: Vec::new(),
        section: judgement.section,
        shares: judgement.shares.into_iter().map(share).collect(),
    };
    Candidate { at, hit, cluster, simhash }
}

/// The best of each group of duplicates, at most `per_host` per host, until there are enough.
fn fold(found: Vec<Candidate>, per_host: usize, enough: usize) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    let mut clusters: HashMap<u64, usize> = HashMap::new();
    let mut hosts: HashMap<HostId, usize> = HashMap::new();
    let mut full: HashSet<u64> = HashSet::new();
    for one in found {
        let near = |kept: &Candidate| one.simhash != 0 && (kept.simhash ^ one.simhash).count_ones() <= ALIKE;
        let same = clusters.get(&one.cluster).copied().or_else(|| kept.iter().position(near));
        if let Some(first) = same {
            kept[first].hit.alike.push(one.hit.page);
            continue;
        }
        // Enough are kept, but duplicates of kept ones may still follow.
        if kept.len() >= enough || full.contains(&one.cluster) {
            continue;
        }
        let of_host = hosts.entry(one.hit.host).or_default();
        if per_host > 0 && *of_host >= per_host {
            full.insert(one.cluster);
            continue;
        }
        *of_host += 1;
        clusters.insert(one.cluster, kept.len());
        kept.push(one);
    }
    kept
}

#[cfg(test)]
mod tests;
