//! How large is the graph, and how old?

use super::{built, standing};
use crate::{Collection, Result};
use orb_graph::{Account, BowTie, GraphOptions, Manifest, Standing, Tally, WebGraph};
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
    /// Arcs between them.
    pub arcs: u64,
    /// Bits that an arc takes.
    pub bits_per_link: f64,
    /// Bits that an arc of the transpose takes.
    pub transpose_bits_per_link: f64,
    /// Nodes without an arc that leaves them.
    pub dangling: u64,
    /// Nodes without an arc that reaches them.
    pub unlinked: u64,
    /// Arcs that leave a node.
    pub out_degree: GraphDegree,
    /// Arcs that reach a node.
    pub in_degree: GraphDegree,
    /// Hosts.
    pub hosts: u64,
    /// Arcs between hosts.
    pub host_arcs: u64,
    /// Pairs of pages joined only by links that are no arcs.
    pub other_links: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// When it was built.
    pub built_at: String,
    /// The last run it knows of.
    pub run: u32,
    /// The last batch of the catalogue it knows of.
    pub batch: u64,
    /// `current`, `behind` or `foreign`.
    pub standing: &'static str,
    /// What the catalogue has that the graph has not.
    pub behind: GraphLag,
    /// How it was built.
    #[schemars(with = "serde_json::Value")]
    pub options: GraphOptions,
}

/// How many arcs a node has.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct GraphDegree {
    /// On average.
    pub mean: f64,
    /// At most.
    pub max: u64,
}

/// What the catalogue has that the graph has not.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct GraphLag {
    /// Batches.
    pub batches: u64,
    /// Pages.
    pub pages: u64,
    /// Runs.
    pub runs: u32,
}

/// The graph in figures, with how it was ranked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphStats {
    /// Its size and age.
    #[serde(flatten)]
    pub figures: GraphFigures,
    /// How it was ranked; none where it was not.
    pub ranks: Option<RankAccounts>,
}

/// How pages and hosts were ranked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankAccounts {
    /// The pages.
    pub pages: RankAccount,
    /// The hosts.
    pub hosts: RankAccount,
}

/// How a ranking went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankAccount {
    /// Nodes ranked.
    pub nodes: u64,
    /// Arcs between them.
    pub arcs: u64,
    /// Rounds that PageRank took.
    pub pagerank_rounds: u32,
    /// The sum of the changes in the last of them.
    pub pagerank_change: f64,
    /// Rounds that hubs and authorities took.
    pub hits_rounds: u32,
    /// The residual that was left.
    pub hits_change: f64,
    /// Sources of the harmonic centrality: all nodes where it is exact.
    pub harmonic_sources: u64,
    /// Strongly connected components.
    pub components: u64,
    /// Nodes of the largest one.
    pub largest_component: u64,
    /// Nodes in each part of the bow-tie.
    #[serde(serialize_with = "as_object")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub bow_tie: Vec<(&'static str, u64)>,
}

fn as_object<S: serde::Serializer>(parts: &[(&'static str, u64)], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(parts.iter().copied())
}

impl From<&[&Account; 2]> for RankAccounts {
    fn from([pages, hosts]: &[&Account; 2]) -> Self {
        Self { pages: RankAccount::from(*pages), hosts: RankAccount::from(*hosts) }
    }
}

impl From<&Account> for RankAccount {
    fn from(account: &Account) -> Self {
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
        let (name, behind) = match standing(graph, now) {
            Standing::Current => ("current", GraphLag::default()),
            Standing::Behind { batches, pages, runs } => ("behind", GraphLag { batches, pages, runs }),
            Standing::Foreign => ("foreign", GraphLag::default()),
        };
        let degree = |tally: &Tally| GraphDegree { mean: ratio(tally.arcs, m.nodes), max: tally.most };
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
            standing: name,
            behind,
            options: m.options.clone(),
        }
    }
}

/// How large the graph is, how old, and how it was ranked.
pub fn graph_stats(collection: &Collection) -> Result<GraphStats> {
    let graph = built(collection)?;
    let figures = GraphFigures::of(collection.name(), graph, &collection.catalogue().extent()?);
    // Ranks that cannot be read are told of by those who need them.
    let ranks = collection.ranks().ok().flatten().map(|ranks| RankAccounts::from(&ranks.accounts()));
    Ok(GraphStats { figures, ranks })
}
