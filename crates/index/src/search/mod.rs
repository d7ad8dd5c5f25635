//! Which pages answer this query, best first?
//!
//! A [`Searcher`] reads the last commit and nothing else of a project: for display, callers get
//! titles from the catalogue and texts from the archive. Matches are scored by their text (see
//! [`Weights`]). The thousand best are re-ranked by importance, and then duplicates and
//! near-duplicates (SimHash within [`ALIKE`] bits, after Manku, Jain and Das Sarma) are collapsed
//! into the best of them.

mod build;
mod gather;
mod hits;
mod join;
mod source;
mod stream;
mod words;

pub use words::{Occurrence, WordCount};

use crate::analyze::Stems;
use crate::anchors::Anchors;
use crate::error::{IndexError, Result};
use crate::query::{Node, QueryError, parse};
use crate::rank::Weights;
use crate::schema::{self, TextField, column};
use crate::snippet::Marker;
use crate::standing::{CommitPayload, open};
use crate::writer::{holdings, reader};
use build::Builder;
use gather::{TopMatches, gather};
use join::Join;
use orb_page::{HostId, Moment, PageId};
use source::{MatchSource, QueryPlan, ScorePart, any_of};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use stream::Weighed;
use tantivy::columnar::Column;
use tantivy::query::EnableScoring;
use tantivy::{DocAddress, DocId, Score};

/// How many matches are re-ranked and deduplicated.
const WEIGHED: usize = 1_000;

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
    /// Whether no page matches all terms, so that matches of any term are returned.
    pub relaxed: bool,
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
    /// The parts of the text score: terms, field, score.
    pub shares: Vec<(String, TextField, f64)>,
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
}

/// The columns of a segment: page number, host, duplicate cluster, SimHash.
type Columns = [Column<u64>; 4];

/// What distinguishes a commit from any other: its opstamp and its segments.
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
        let (anchors, join, columns) = (Anchors::open(dir), OnceLock::new(), OnceLock::new());
        Ok(Self { dir: dir.to_owned(), engine, index, commit, standing, anchors, join, columns })
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
        let marker = Marker::of(&node, &stems);
        let depth = WEIGHED.max(request.offset.saturating_add(request.limit).div_ceil(WEIGHED) * WEIGHED);
        let mut plan = self.plan(&node, &stems, request.weights, false)?;
        let (mut found, mut relaxed) = (self.gather(&plan, depth)?, false);
        if found.total == 0 && matches!(node, Node::And(_)) {
            plan = self.plan(&node, &stems, request.weights, true)?;
            found = self.gather(&plan, depth)?;
            relaxed = found.total > 0;
        }
        self.add_neighbours(&plan.near, &mut found.best)?;
        let mut candidates = self.candidates(&found.best)?;
        self.weigh(&mut candidates, request.weights, importance)?;
        let kept = fold(candidates, request.per_host, request.offset.saturating_add(request.limit));
        let mut hits = Vec::new();
        for mut one in kept.into_iter().skip(request.offset) {
            if request.explain {
                one.hit.shares = self.explain(&plan.shares, one.at)?;
            }
            hits.push(one.hit);
        }
        Ok(SearchResults { total: found.total, relaxed, hits, marker })
    }

    /// Builds the engine's query with all terms required, or any.
    fn plan(&self, node: &Node, stems: &Stems, weights: &Weights, any: bool) -> Result<QueryPlan> {
        let builder = Builder {
            searcher: &self.engine,
            anchors: self.anchors.as_ref(),
            stems,
            weights,
            join: &|anchors| self.join(anchors),
            any,
            shares: Vec::new(),
            near: Vec::new(),
        };
        builder.plan(node)
    }

    fn gather(&self, plan: &QueryPlan, depth: usize) -> Result<TopMatches> {
        gather(&self.engine, &plan.clauses, depth.min(self.most())).map_err(|e| self.failed(&e))
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

    /// Adds proximity scores to the best matches only: reading positions is expensive.
    fn add_neighbours(&self, near: &[MatchSource], best: &mut [(Score, DocAddress)]) -> Result<()> {
        let fail = |e| self.failed(&e);
        best.sort_unstable_by_key(|(_, at)| *at);
        for source in near {
            let weighed = Weighed::new(source, &self.engine).map_err(fail)?;
            for segment in best.chunk_by_mut(|(_, a), (_, b)| a.segment_ord == b.segment_ord) {
                let number = segment[0].1.segment_ord;
                let reader = self.engine.segment_reader(number);
                let Some(mut stream) = weighed.open(number as usize, reader).map_err(fail)? else { continue };
                let wanted: Vec<DocId> = segment.iter().map(|(_, at)| at.doc_id).collect();
                let mut rest = segment.iter_mut();
                stream.probe(&wanted, |doc, score| {
                    if let Some((sum, _)) = rest.find(|(_, at)| at.doc_id == doc) {
                        *sum += score;
                    }
                });
            }
        }
        Ok(())
    }

    fn candidates(&self, best: &[(Score, DocAddress)]) -> Result<Vec<Candidate>> {
        let columns = self.columns()?;
        let candidate = |(score, at): &(Score, DocAddress)| {
            let of = |column: &Column<u64>| column.first(at.doc_id).unwrap_or(0);
            let [page, host, cluster, simhash] = columns[at.segment_ord as usize].each_ref().map(of);
            let hit = Hit {
                page: PageId(page),
                host: HostId(u32::try_from(host).unwrap_or(0)),
                score: f64::from(*score),
                text: f64::from(*score),
                importance: 0.0,
                alike: Vec::new(),
                shares: Vec::new(),
            };
            Candidate { at: *at, hit, cluster, simhash }
        };
        Ok(best.iter().map(candidate).collect())
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

    /// The score of each term in each field of one document.
    fn explain(&self, shares: &[ScorePart], at: DocAddress) -> Result<Vec<(String, TextField, f64)>> {
        let fail = |e| self.failed(&e);
        let segment = self.engine.segment_reader(at.segment_ord);
        let mut out = Vec::new();
        for share in shares {
            let weight =
                any_of(&share.sources).weight(EnableScoring::enabled_from_searcher(&self.engine)).map_err(fail)?;
            let mut scorer = weight.scorer(segment, 1.0).map_err(fail)?;
            if scorer.doc() <= at.doc_id && scorer.seek(at.doc_id) == at.doc_id {
                out.push((share.words.clone(), share.part, f64::from(scorer.score())));
            }
        }
        Ok(out)
    }
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
