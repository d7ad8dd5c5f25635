//! Do the ranks agree with networkx on the same arcs?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::networkx_ranks;
use orb_graph::{CatalogueMark, GraphOptions, Merit, Naming, Ranking, SeenLink, WebGraph, unwatched};
use orb_page::{HostId, LinkKind, PageId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use tempfile::TempDir;

/// A deterministic pseudo-random number generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(((self.0 >> 33) * u64::from(n)) >> 31).unwrap()
    }
}

type Arcs = BTreeSet<(u32, u32)>;

/// Every arc equally likely.
fn random(nodes: u32, arcs: usize, draw: &mut Draw) -> Arcs {
    (0..arcs).map(|_| (draw.below(nodes), draw.below(nodes))).filter(|(a, b)| a != b).collect()
}

/// Hosts of a hundred pages: most links are local, some go to the few popular pages, and a fifth of
/// the pages are dangling.
fn web_like(nodes: u32, degree: u32, draw: &mut Draw) -> Arcs {
    let mut arcs = Arcs::new();
    for from in 0..nodes {
        if draw.below(5) == 0 {
            continue;
        }
        for _ in 0..1 + draw.below(2 * degree - 1) {
            let to = match draw.below(10) {
                0 => draw.below(nodes),
                1 | 2 => {
                    let (a, b) = (draw.below(nodes), draw.below(1_000));
                    u32::try_from(u64::from(a) * u64::from(b) / 1_000 * u64::from(b) / 1_000).unwrap()
                }
                _ => (from / 100 * 100 + draw.below(100)).min(nodes - 1),
            };
            if to != from {
                arcs.insert((from, to));
            }
        }
    }
    arcs
}

/// A ranked graph, and networkx's scores for it.
struct Judged {
    ours: Vec<Merit>,
    theirs: BTreeMap<String, Vec<Value>>,
}

impl Judged {
    fn new(nodes: u32, arcs: &Arcs, ranking: &Ranking, wanted: &[&str]) -> Self {
        let tmp = TempDir::new().unwrap();
        let list = tmp.path().join("arcs");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&list).unwrap());
        arcs.iter().for_each(|(a, b)| writeln!(file, "{a} {b}").unwrap());
        file.into_inner().unwrap();
        let ours = ranked(&tmp.path().join("graph"), nodes, arcs, ranking);
        Self { ours, theirs: networkx_ranks(&list, nodes as usize, wanted) }
    }

    /// Every score agrees within a relative error of a millionth; those below a hundredth of the
    /// largest, within a millionth of that.
    #[track_caller]
    fn agree(&self, what: &str, ours: impl Fn(&Merit) -> f64) {
        let theirs: Vec<f64> = self.theirs[what].iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(theirs.len(), self.ours.len());
        let largest = theirs.iter().copied().fold(0.0, f64::max);
        for (node, (ours, theirs)) in self.ours.iter().map(ours).zip(theirs).enumerate() {
            let near = (ours - theirs).abs() <= 1e-6 * theirs.abs().max(1e-2 * largest);
            assert!(near, "{what} of {node}: {ours} instead of {theirs}");
        }
    }

    /// Two nodes share a component here if and only if they share one there.
    #[track_caller]
    fn same_components(&self) {
        let mut pairs = BTreeMap::new();
        for (merit, theirs) in self.ours.iter().zip(&self.theirs["components"]) {
            let theirs = theirs.as_u64().unwrap();
            assert_eq!(*pairs.entry(merit.component).or_insert(theirs), theirs);
        }
        assert_eq!(pairs.values().collect::<BTreeSet<_>>().len(), pairs.len());
    }

    #[track_caller]
    fn same_bow_tie(&self) {
        for (node, (merit, theirs)) in self.ours.iter().zip(&self.theirs["bowtie"]).enumerate() {
            assert_eq!(merit.bowtie.name(), theirs.as_str().unwrap(), "node {node}");
        }
    }
}

/// The scores of a graph's nodes; node n is page n + 1.
fn ranked(dir: &std::path::Path, nodes: u32, arcs: &Arcs, ranking: &Ranking) -> Vec<Merit> {
    let mut naming = Naming::begin(dir, GraphOptions::default(), CatalogueMark::default(), unwatched()).unwrap();
    naming.host(HostId(1), "http://h").unwrap();
    for node in 0..nodes {
        // URL order differs from number order.
        naming.page(PageId(u64::from(node) + 1), HostId(1), &format!("http://h/{:08x}", node.reverse_bits())).unwrap();
    }
    let mut linking = naming.number().unwrap();
    for (a, b) in arcs {
        let (src, dst) = (PageId(u64::from(*a) + 1), PageId(u64::from(*b) + 1));
        linking.link(&SeenLink { src, dst, kind: LinkKind::A, nofollow: false, gone: false }).unwrap();
    }
    linking.finish().unwrap();
    let graph = WebGraph::open(dir).unwrap();
    graph.rank(ranking, u64::MAX, &mut |_| ()).unwrap();
    let merits: Vec<(u64, Merit)> = graph.ranks().unwrap().unwrap().pages().unwrap().collect();
    assert!(merits.iter().map(|(page, _)| *page).eq(1..=u64::from(nodes)));
    merits.into_iter().map(|(_, merit)| merit).collect()
}

#[test]
fn networkx_finds_the_same_ranks_on_small_graphs_of_every_sort() {
    let mut draw = Draw(1);
    for (nodes, arcs) in [
        (600, web_like(600, 6, &mut draw)),
        (500, random(500, 2_500, &mut draw)),
        // So few arcs that the graph is disconnected.
        (400, random(400, 350, &mut draw)),
    ] {
        let all = ["pagerank", "hits", "harmonic", "components", "bowtie"];
        let judged = Judged::new(nodes, &arcs, &Ranking::default(), &all);
        judged.agree("pagerank", |m| m.pagerank);
        judged.agree("hub", |m| m.hub);
        judged.agree("authority", |m| m.authority);
        judged.agree("harmonic", |m| m.harmonic);
        judged.same_components();
        judged.same_bow_tie();
        for (node, merit) in (0..).zip(&judged.ours) {
            let out = arcs.iter().filter(|(a, _)| *a == node).count();
            let into = arcs.iter().filter(|(_, b)| *b == node).count();
            assert_eq!((merit.outdegree as usize, merit.indegree as usize), (out, into));
        }
    }
}

#[test]
fn networkx_finds_the_same_ranks_on_a_web_of_100_000_pages() {
    let arcs = web_like(100_000, 4, &mut Draw(2));
    // networkx would need hours for all distances: three pages suffice as a sample.
    let all = ["pagerank", "hits", "harmonic:0,1,50000", "components", "bowtie"];
    let judged = Judged::new(100_000, &arcs, &Ranking::default(), &all);
    judged.agree("pagerank", |m| m.pagerank);
    judged.agree("hub", |m| m.hub);
    judged.agree("authority", |m| m.authority);
    judged.same_components();
    judged.same_bow_tie();
    for (node, theirs) in [0, 1, 50_000].into_iter().zip(&judged.theirs["harmonic"]) {
        let (ours, theirs) = (judged.ours[node].harmonic, theirs.as_f64().unwrap());
        assert!((ours - theirs).abs() < 0.15 * theirs, "harmonic of {node}: {ours} instead of {theirs}");
    }
}
