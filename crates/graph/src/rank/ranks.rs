//! What are the ranks of this page?
//!
//! The scores of the page graph and the host graph lie in the graph's directory (`ranks`,
//! `hosts.ranks`) and belong to one build: the next build replaces them with everything else.
//! Callers use the catalogue's numbers; node numbers stay inside.

use super::compressed::Compressed;
use super::file::{self, RankFile};
use super::plain::{CsrGraph, Neighbours};
use super::{By, Merit, Ranking, RankingStats};
use crate::error::{GraphError, Result};
use crate::manifest::Manifest;
use crate::nodes::{NameList, NodeNumbers};
use crate::read::{WebGraph, Which};
use orb_page::{HostId, PageId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The files for pages and for hosts.
const FILES: [&str; 2] = ["ranks", "hosts.ranks"];

/// An entry in a list of the top pages or hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Its number in the catalogue.
    pub number: u64,
    /// The page's URL, or the common prefix of the host's pages' URLs.
    pub url: String,
    /// Its score in the requested ranking.
    pub score: f64,
    /// All its scores.
    pub merit: Merit,
}

impl WebGraph {
    /// Ranks pages and hosts and writes the scores. The caller must have a [`Hold`](crate::Hold) on
    /// the graph's directory. The arcs are decompressed if they fit into `memory` bytes.
    pub fn rank(
        &self,
        ranking: &Ranking,
        memory: u64,
        on_step: &mut dyn FnMut(&'static str),
    ) -> Result<[RankingStats; 2]> {
        let pages = self.ranked([Which::Web, Which::WebT], ranking, memory, on_step)?;
        let hosts = self.ranked([Which::Host, Which::HostT], ranking, memory, on_step)?;
        if Manifest::read(self.dir())?.id != self.manifest().id {
            return Err(GraphError::damaged(self.dir(), "another graph took its place while it was ranked"));
        }
        on_step("writing");
        let build = self.manifest().id;
        for (name, scores) in FILES.iter().zip([&pages, &hosts]) {
            file::write(&self.dir().join(name), build, ranking, scores)?;
        }
        Ok([pages.account, hosts.account])
    }

    fn ranked(
        &self,
        [forth, back]: [Which; 2],
        ranking: &Ranking,
        memory: u64,
        on_step: &mut dyn FnMut(&'static str),
    ) -> Result<super::Scores> {
        on_step("reading arcs");
        let (forward, backward) = (Compressed::open(self, forth)?, Compressed::open(self, back)?);
        if 2 * CsrGraph::size(forward.nodes(), forward.arcs()) > memory {
            return Ok(ranking.of(&forward, &backward, on_step));
        }
        Ok(ranking.of(&forward.plain(), &backward.plain(), on_step))
    }

    /// The ranks of this build; `None` if it has not been ranked.
    pub fn ranks(&self) -> Result<Option<Ranks>> {
        let of = |which: Which, name: &str| RankedGraph::open(self.dir(), which, name, self.manifest().id);
        let (pages, hosts) = (of(Which::Web, FILES[0])?, of(Which::Host, FILES[1])?);
        Ok(pages.zip(hosts).map(|(pages, hosts)| Ranks { pages, hosts }))
    }
}

/// The top nodes of a ranking with their scores, best first.
type TopNodes = Arc<[(u32, f64)]>;

/// Nodes of a ranking that are kept in memory.
const KEPT: usize = 1_000;

/// The ranks of a graph's pages and hosts.
pub struct Ranks {
    pages: RankedGraph,
    hosts: RankedGraph,
}

/// The ranks of one graph, with its node numbering.
struct RankedGraph {
    scores: RankFile,
    names: NameList,
    numbers: NodeNumbers,
    /// The top nodes by each measure that was asked for: to find them takes a scan of all scores.
    tops: Mutex<Vec<(By, TopNodes)>>,
}

impl RankedGraph {
    fn open(dir: &Path, which: Which, name: &str, build: u64) -> Result<Option<Self>> {
        let path: PathBuf = dir.join(name);
        let Some(scores) = RankFile::open(&path)?.filter(|scores| scores.build() == build) else { return Ok(None) };
        let (names, numbers) =
            (NameList::open(&dir.join(which.names()))?, NodeNumbers::open(&dir.join(which.numbers()))?);
        if scores.account().nodes != u64::from(numbers.nodes()) {
            return Err(GraphError::damaged(&path, "it belongs to another graph"));
        }
        Ok(Some(Self { scores, names, numbers, tops: Mutex::default() }))
    }

    fn of(&self, number: u64) -> Result<Option<Merit>> {
        self.numbers.node(number)?.map(|node| self.scores.merit(node)).transpose()
    }

    /// The top nodes with their scores, best first. Those at the very top are looked for once.
    fn top(&self, by: By, limit: usize, offset: usize) -> Result<Vec<(u32, f64)>> {
        if limit.saturating_add(offset) > KEPT {
            return self.scores.best(by, limit, offset);
        }
        let kept = || {
            let tops = self.tops.lock().unwrap_or_else(PoisonError::into_inner);
            tops.iter().find(|(other, _)| *other == by).map(|(_, top)| Arc::clone(top))
        };
        let top = match kept() {
            Some(top) => top,
            None => {
                let top: TopNodes = self.scores.best(by, KEPT, 0)?.into();
                self.tops.lock().unwrap_or_else(PoisonError::into_inner).push((by, Arc::clone(&top)));
                top
            }
        };
        Ok(top.iter().skip(offset).take(limit).copied().collect())
    }

    fn best(&self, by: By, limit: usize, offset: usize) -> Result<Vec<Ranked>> {
        let best = self.top(by, limit, offset)?;
        best.into_iter()
            .filter_map(|(node, score)| {
                let entry = || {
                    let (Some(number), Some(url)) = (self.numbers.number(node)?, self.names.name(u64::from(node))?)
                    else {
                        return Ok(None);
                    };
                    let merit = self.scores.merit(node)?;
                    Ok(Some(Ranked { number: u64::from(number), url, score, merit }))
                };
                entry().transpose()
            })
            .collect()
    }

    /// All of them, in order of catalogue numbers.
    fn all(&self) -> Result<impl Iterator<Item = (u64, Merit)> + use<>> {
        let mut numbers: Vec<(u32, u32)> = self.numbers.all()?.into_iter().zip(0..).collect();
        numbers.sort_unstable();
        let merits = self.scores.merits()?;
        Ok(numbers
            .into_iter()
            .filter_map(move |(number, node)| merits.get(node as usize).map(|merit| (u64::from(number), *merit))))
    }
}

impl Ranks {
    /// Opens the ranks of the graph in a directory; `None` if it has not been ranked.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        WebGraph::open(dir)?.ranks()
    }

    /// The scores of a page; `None` if the graph does not contain it.
    pub fn of(&self, page: PageId) -> Result<Option<Merit>> {
        self.pages.of(page.0)
    }

    /// The scores of a host.
    pub fn of_host(&self, host: HostId) -> Result<Option<Merit>> {
        self.hosts.of(u64::from(host.0))
    }

    /// The PageRank of every page by its number; 0 if the graph does not contain it.
    pub fn pageranks(&self) -> Result<Vec<f64>> {
        let numbers = self.pages.numbers.all()?;
        let mut ranks = vec![0.0; self.pages.numbers.numbers() as usize];
        self.pages.scores.scores(By::Pagerank, |node, score| {
            if let Some(rank) = numbers.get(node as usize).and_then(|number| ranks.get_mut(*number as usize)) {
                *rank = score;
            }
        })?;
        Ok(ranks)
    }

    /// The top pages, best first; ties are in URL order.
    pub fn best(&self, by: By, limit: usize, offset: usize) -> Result<Vec<Ranked>> {
        self.pages.best(by, limit, offset)
    }

    /// The top hosts.
    pub fn best_hosts(&self, by: By, limit: usize, offset: usize) -> Result<Vec<Ranked>> {
        self.hosts.best(by, limit, offset)
    }

    /// The scores of every page, in order of page numbers.
    pub fn pages(&self) -> Result<impl Iterator<Item = (u64, Merit)> + use<>> {
        self.pages.all()
    }

    /// The scores of every host, in order of host numbers.
    pub fn hosts(&self) -> Result<impl Iterator<Item = (u64, Merit)> + use<>> {
        self.hosts.all()
    }

    /// The parameters of the ranking.
    pub fn ranking(&self) -> &Ranking {
        self.pages.scores.ranking()
    }

    /// The statistics for pages and for hosts.
    pub fn accounts(&self) -> [&RankingStats; 2] {
        [self.pages.scores.account(), self.hosts.scores.account()]
    }

    /// Verifies all checksums.
    pub fn verify(&self) -> Result<()> {
        self.pages.scores.check()?;
        self.hosts.scores.check()
    }
}

/// Access by node, for this crate only.
impl Ranks {
    fn side(&self, which: Which) -> &RankedGraph {
        if matches!(which, Which::Host | Which::HostT) { &self.hosts } else { &self.pages }
    }

    /// The scores of a node.
    pub(crate) fn merit(&self, which: Which, node: u32) -> Result<Merit> {
        self.side(which).scores.merit(node)
    }

    /// The PageRank of a node.
    pub(crate) fn pagerank_of(&self, which: Which, node: u32) -> Result<f64> {
        self.side(which).scores.score(By::Pagerank, node)
    }

    /// The top nodes.
    pub(crate) fn best_nodes(&self, which: Which, by: By, count: usize) -> Result<Vec<u32>> {
        Ok(self.side(which).scores.best(by, count, 0)?.into_iter().map(|(node, _)| node).collect())
    }
}
