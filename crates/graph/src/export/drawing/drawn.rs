//! What does a drawing show?

use super::MOST_DRAWN;
use crate::export::vertex::Vertex;
use crate::export::{ArcEnd, GraphSink};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::io;

/// Maximum length of a title.
const TITLE: usize = 200;

/// A part of a graph, for drawing it. Names are short because there are thousands of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnGraph {
    /// How much it is, in words.
    pub about: String,
    /// The hosts, those with most pages first.
    pub hosts: Vec<String>,
    /// The pages or hosts.
    pub nodes: Vec<DrawnNode>,
    /// The arcs: source and target by turns, as places in `nodes`.
    pub arcs: Vec<usize>,
}

/// A page or host in a drawing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DrawnNode {
    /// Its number in the catalogue.
    #[serde(rename = "k")]
    pub number: u64,
    /// Its URL.
    #[serde(rename = "n")]
    pub name: String,
    /// A page's title.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its host, as a place in `hosts`.
    #[serde(rename = "h")]
    pub host: usize,
    /// Its ranks, if the graph was ranked.
    #[serde(flatten)]
    pub merit: Option<DrawnMerit>,
}

/// The ranks of a page or host in a drawing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DrawnMerit {
    /// PageRank.
    #[serde(rename = "p")]
    pub pagerank: f64,
    /// Hub score.
    #[serde(rename = "u")]
    pub hub: f64,
    /// Authority score.
    #[serde(rename = "a")]
    pub authority: f64,
    /// Harmonic centrality.
    #[serde(rename = "m")]
    pub harmonic: f64,
    /// In-degree in the whole graph.
    #[serde(rename = "i")]
    pub indegree: u32,
    /// Out-degree in the whole graph.
    #[serde(rename = "o")]
    pub outdegree: u32,
    /// Place in the bow-tie.
    #[serde(rename = "b")]
    pub bowtie: &'static str,
}

/// A drawing that is being collected.
#[derive(Default)]
pub(in crate::export) struct DrawingDraft {
    graph: DrawnGraph,
    /// Index of each vertex in the drawing, by its number.
    places: HashMap<u64, usize>,
    /// Number of pages of each host.
    sizes: Vec<usize>,
    hosts: HashMap<String, usize>,
}

impl DrawingDraft {
    fn host(&mut self, name: &str) -> usize {
        let place = match self.hosts.get(name) {
            Some(place) => *place,
            None => {
                self.graph.hosts.push(name.to_owned());
                self.hosts.insert(name.to_owned(), self.sizes.len());
                self.sizes.push(0);
                self.sizes.len() - 1
            }
        };
        self.sizes[place] += 1;
        place
    }

    pub(in crate::export) fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        if self.graph.nodes.len() == MOST_DRAWN {
            let why = format!("a drawing holds {MOST_DRAWN} pages at most; --top N chooses the best");
            return Err(io::Error::other(why));
        }
        let title = vertex.title.filter(|title| !title.trim().is_empty());
        let merit = vertex.merit.as_ref().map(|merit| DrawnMerit {
            pagerank: merit.pagerank,
            hub: merit.hub,
            authority: merit.authority,
            harmonic: merit.harmonic,
            indegree: merit.indegree,
            outdegree: merit.outdegree,
            bowtie: merit.bowtie.name(),
        });
        let node = DrawnNode {
            number: vertex.number,
            name: vertex.name.to_owned(),
            title: title.map(|title| title.chars().take(TITLE).collect()),
            host: self.host(vertex.host()),
            merit,
        };
        self.places.insert(vertex.number, self.graph.nodes.len());
        self.graph.nodes.push(node);
        Ok(())
    }

    pub(in crate::export) fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) {
        if let (Some(from), Some(to)) = (self.places.get(&from.number), self.places.get(&to.number)) {
            self.graph.arcs.extend([*from, *to]);
        }
    }

    /// The drawing, its hosts ordered by number of pages.
    pub(in crate::export) fn finish(&mut self) -> DrawnGraph {
        let mut graph = std::mem::take(&mut self.graph);
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by_key(|host| std::cmp::Reverse(self.sizes[*host]));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, host)| place[*host] = at);
        graph.nodes.iter_mut().for_each(|node| node.host = place[node.host]);
        graph.hosts = order.iter().map(|host| std::mem::take(&mut graph.hosts[*host])).collect();
        graph.about = format!("{} pages, {} links", graph.nodes.len(), graph.arcs.len() / 2);
        graph
    }
}

/// A drawing for whoever asked, in memory.
pub(in crate::export) struct KeptDrawing<'a> {
    draft: DrawingDraft,
    kept: &'a mut DrawnGraph,
}

impl<'a> KeptDrawing<'a> {
    pub(in crate::export) fn new(kept: &'a mut DrawnGraph) -> Self {
        Self { draft: DrawingDraft::default(), kept }
    }
}

impl GraphSink for KeptDrawing<'_> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        self.draft.vertex(vertex)
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        self.draft.arc(from, to);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        *self.kept = self.draft.finish();
        Ok(())
    }
}
