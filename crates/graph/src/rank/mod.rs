//! Who matters?
//!
//! [`Ranking`] holds the parameters, [`Scores`] the result: PageRank, hubs and authorities,
//! harmonic centrality, degrees, components and the bow-tie of one graph, computed from its arcs
//! alone. Each ranking is one file, with its theory.

mod components;
mod compressed;
mod file;
mod harmonic;
mod hits;
mod pagerank;
mod plain;
mod ranks;
mod sums;

pub use components::BowTie;
pub use file::{By, Merit};
pub use harmonic::Harmonic;
pub use hits::Hits;
pub use pagerank::PageRank;
pub use ranks::{Ranked, Ranks};

use components::Components;
use plain::Neighbours;
use serde::{Deserialize, Serialize};

/// The parameters of all rankings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// PageRank.
    pub pagerank: PageRank,
    /// Hubs and authorities.
    pub hits: Hits,
    /// Harmonic centrality.
    pub harmonic: Harmonic,
}

/// The scores of every node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scores {
    pub(crate) pagerank: Vec<f64>,
    pub(crate) hub: Vec<f64>,
    pub(crate) authority: Vec<f64>,
    pub(crate) harmonic: Vec<f64>,
    pub(crate) in_degree: Vec<u32>,
    pub(crate) out_degree: Vec<u32>,
    pub(crate) component: Vec<u32>,
    pub(crate) bow_tie: Vec<BowTie>,
    pub(crate) account: RankingStats,
}

/// Statistics of a ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankingStats {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of arcs.
    pub arcs: u64,
    /// Iterations of PageRank.
    pub pagerank_rounds: u32,
    /// The L1 change in the last of them.
    pub pagerank_change: f64,
    /// Iterations of HITS.
    pub hits_rounds: u32,
    /// The remaining residual.
    pub hits_change: f64,
    /// Sources of harmonic centrality: all nodes if it is exact.
    pub harmonic_sources: u64,
    /// Number of strongly connected components.
    pub components: u64,
    /// Nodes in the largest one.
    pub largest_component: u64,
    /// Nodes in each part of the bow-tie, in the order of [`BowTie::ALL`].
    pub bow_tie: [u64; 6],
}

impl Ranking {
    /// Ranks every node; `on_step` is called with each step.
    pub(crate) fn of<G: Neighbours>(&self, forward: &G, backward: &G, on_step: &mut dyn FnMut(&'static str)) -> Scores {
        let mut scores = Scores { in_degree: degrees(backward), out_degree: degrees(forward), ..Scores::default() };
        on_step("pagerank");
        let pagerank = self.pagerank.of(backward, &scores.out_degree);
        on_step("hubs and authorities");
        let hits = self.hits.of(forward, backward);
        on_step("harmonic centrality");
        let (harmonic, sources) = self.harmonic.of(forward);
        on_step("components");
        let components = Components::of(forward);
        scores.bow_tie = components.bow_tie(forward, backward);
        let mut bow_tie = [0; 6];
        scores.bow_tie.iter().for_each(|part| bow_tie[usize::from(part.code())] += 1);
        scores.account = RankingStats {
            nodes: forward.nodes() as u64,
            arcs: forward.arcs(),
            pagerank_rounds: pagerank.rounds,
            pagerank_change: pagerank.change,
            hits_rounds: hits.rounds,
            hits_change: hits.change,
            harmonic_sources: sources as u64,
            components: components.sizes.len() as u64,
            largest_component: components.sizes.first().copied().map_or(0, u64::from),
            bow_tie,
        };
        [scores.hub, scores.authority] = hits.scores;
        (scores.pagerank, scores.harmonic, scores.component) = (pagerank.scores, harmonic, components.of);
        scores
    }
}

/// The degree of each node.
fn degrees(graph: &impl Neighbours) -> Vec<u32> {
    let mut degrees = Vec::with_capacity(graph.nodes());
    graph.scan(0..graph.nodes(), |_, list| degrees.push(u32::try_from(list.len()).unwrap_or(u32::MAX)));
    degrees
}
