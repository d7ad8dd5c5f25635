//! How large is the graph, and how old?

use super::{built, standing};
use crate::{Collection, Result};
use orb_graph::{BowTie, CompressionStats, GraphFreshness, GraphOptions, Manifest, RankingStats, WebGraph};
use orb_store::Extent;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The graph in figures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphFigures {
    /// The project.
    pub project: String,
    /// Pages.
    pub nodes: u64,
    /// Number of arcs.
    pub arcs: u64,
    /// Bits per arc.
    pub bits_per_link: f64,
    /// Bits per arc of the transpose.
    pub transpose_bits_per_link: f64,
    /// Nodes without outgoing arcs.
    pub dangling: u64,
    /// Nodes without incoming arcs.
    pub unlinked: u64,
    /// Out-degrees.
    pub out_degree: GraphDegree,
    /// In-degrees.
    pub in_degree: GraphDegree,
    /// Hosts.
    pub hosts: u64,
    /// Arcs between hosts.
    pub host_arcs: u64,
    /// Pairs of pages connected only by links that are not arcs.
    pub other_links: u64,
    /// Total size of its files in bytes.
    pub bytes: u64,
    /// When it was built.
    pub built_at: String,
    /// The last run it includes.
    pub run: u32,
    /// The last batch of the catalogue it includes.
    pub batch: u64,
    /// How it relates to the catalogue.
    pub standing: GraphAge,
    /// What the catalogue has and the graph lacks.
    pub behind: GraphLag,
    /// Its build options.
    #[schemars(with = "serde_json::Value")]
    pub options: GraphOptions,
}

/// How a graph relates to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraphAge {
    /// It has everything that was recorded.
    Current,
    /// Something was recorded since it was built.
    Behind,
    /// It was built from another catalogue.
    Foreign,
}

/// A degree distribution.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct GraphDegree {
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: u64,
}

/// What the catalogue has and the graph lacks.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct GraphLag {
    /// Batches.
    pub batches: u64,
    /// Pages.
    pub pages: u64,
    /// Runs.
    pub runs: u32,
}

/// The graph in figures, with the statistics of its ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphStats {
    /// Its size and age.
    #[serde(flatten)]
    pub figures: GraphFigures,
    /// The statistics of its ranking, if it was ranked.
    pub ranks: Option<RankAccounts>,
}

/// Ranking statistics of pages and hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankAccounts {
    /// The pages.
    pub pages: RankAccount,
    /// The hosts.
    pub hosts: RankAccount,
}

/// Statistics of a ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankAccount {
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
    /// Nodes in each part of the bow-tie.
    #[serde(serialize_with = "as_object")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub bow_tie: Vec<(&'static str, u64)>,
}

fn as_object<S: serde::Serializer>(parts: &[(&'static str, u64)], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(parts.iter().copied())
}

impl From<&[&RankingStats; 2]> for RankAccounts {
    fn from([pages, hosts]: &[&RankingStats; 2]) -> Self {
        Self { pages: RankAccount::from(*pages), hosts: RankAccount::from(*hosts) }
    }
}

impl From<&RankingStats> for RankAccount {
    fn from(account: &RankingStats) -> Self {
        Self {
            nodes: account.nodes,
            arcs: account.arcs,
            pagerank_rounds: account.pagerank_rounds,
            pagerank_change: account.pagerank_change,
            hits_rounds: account.hits_rounds,
            hits_change: account.hits_change,
            harmonic_sources: account.harmonic_sources,
            components: account.components,
            largest_component: account.largest_component,
            bow_tie: BowTie::ALL.iter().map(|part| part.name()).zip(account.bow_tie).collect(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e3).round() / 1e3 }
}

impl GraphFigures {
    fn of(project: &str, graph: &WebGraph, now: &Extent) -> Self {
        let m: &Manifest = graph.manifest();
        let (age, behind) = match standing(graph, now) {
            GraphFreshness::Current => (GraphAge::Current, GraphLag::default()),
            GraphFreshness::Behind { batches, pages, runs } => (GraphAge::Behind, GraphLag { batches, pages, runs }),
            GraphFreshness::Foreign => (GraphAge::Foreign, GraphLag::default()),
        };
        let degree = |tally: &CompressionStats| GraphDegree { mean: ratio(tally.arcs, m.nodes), max: tally.most };
        Self {
            project: project.to_owned(),
            nodes: m.nodes,
            arcs: m.web.arcs,
            bits_per_link: ratio(m.web.bits, m.web.arcs),
            transpose_bits_per_link: ratio(m.web_t.bits, m.web_t.arcs),
            dangling: m.nodes - m.web.sources.min(m.nodes),
            unlinked: m.nodes - m.web_t.sources.min(m.nodes),
            out_degree: degree(&m.web),
            in_degree: degree(&m.web_t),
            hosts: m.hosts,
            host_arcs: m.host.arcs,
            other_links: m.rest_t.arcs,
            bytes: m.files.values().map(|file| file.length).sum(),
            built_at: m.built_at.to_string(),
            run: m.mark.run.0,
            batch: m.mark.batch,
            standing: age,
            behind,
            options: m.options.clone(),
        }
    }
}

/// The size and age of the graph, and the statistics of its ranking.
pub fn graph_stats(collection: &Collection) -> Result<GraphStats> {
    let graph = built(collection)?;
    let figures = GraphFigures::of(collection.name(), graph, &collection.catalogue().extent()?);
    // Questions that need the ranks report unreadable ones.
    let ranks = collection.ranks().ok().flatten().map(|ranks| RankAccounts::from(&ranks.accounts()));
    Ok(GraphStats { figures, ranks })
}
