//! How near is a page to all others?
//!
//! Harmonic centrality (Boldi and Vigna, "Axioms for centrality", 2014): the sum of 1/d over all
//! other pages, where d is their distance to this page; unreachable ones add nothing. Not
//! normalised, like networkx.
//!
//! Computed by multi-source breadth-first search from 64 sources at once, one bit per source (Then
//! et al., "The more the merrier", VLDB 2014): the searches overlap within a few links, so an arc
//! is followed a few times for all 64. With every node as a source the result is exact. A graph too
//! large for that is sampled (Eppstein and Wang 2001): `samples` sources without replacement,
//! chosen deterministically, and the sums scaled up. With k sources, a page that a share p of the
//! web can reach has a relative standard error of about sqrt((1 - p) / (p k)): 6 % for p = 1/2 and
//! k = 256.

use super::plain::Neighbours;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Sources per search.
const TOGETHER: usize = 64;

/// Parameters of harmonic centrality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harmonic {
    /// Up to this product of nodes and arcs, every node is a source.
    pub exact_work: u64,
    /// Number of sources sampled in a larger graph.
    pub samples: usize,
}

impl Default for Harmonic {
    fn default() -> Self {
        Self { exact_work: 4_000_000_000, samples: 256 }
    }
}

impl Harmonic {
    /// The centralities, and the number of sources used.
    pub(crate) fn of(&self, forward: &impl Neighbours) -> (Vec<f64>, usize) {
        let nodes = forward.nodes();
        let exact = (nodes as u64).saturating_mul(forward.arcs()) <= self.exact_work || nodes <= self.samples;
        let sources = if exact { (0..nodes).collect() } else { drawn(nodes, self.samples.max(1)) };
        let mut sums = visited(forward, &sources);
        if !exact {
            // A source says nothing about itself: each node was seen from a share of the *other*
            // nodes.
            let scale = (nodes - 1) as f64;
            let mut seen = vec![sources.len(); nodes];
            sources.iter().for_each(|source| seen[*source] -= 1);
            sums.iter_mut().zip(&seen).for_each(|(sum, seen)| *sum *= scale / (*seen).max(1) as f64);
        }
        (sums, sources.len())
    }
}

/// A deterministic stratified sample of distinct nodes: one from each of `count` ranges of equal
/// length, since neighbours in URL order are similar.
fn drawn(nodes: usize, count: usize) -> Vec<usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let place = |i: usize| usize::try_from(i as u128 * nodes as u128 / count as u128).unwrap_or(nodes);
    let pick = |i: usize| {
        let (start, end) = (place(i), place(i + 1));
        // Marsaglia's xorshift: any even distribution will do.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let width = (end - start) as u64;
        start + usize::try_from(state % width.max(1)).unwrap_or(0)
    };
    (0..count).map(pick).collect()
}

/// The sum of 1/d over these sources, for every node.
fn visited(forward: &impl Neighbours, sources: &[usize]) -> Vec<f64> {
    let nodes = forward.nodes();
    let groups: Vec<&[usize]> = sources.chunks(TOGETHER).collect();
    // One visitor per core: each needs 32 bytes per node.
    let share = groups.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
    let all: Vec<Vec<f64>> = groups
        .par_chunks(share)
        .map(|groups| {
            let mut visitor = Visitor::new(nodes);
            groups.iter().for_each(|group| visitor.visit(forward, group));
            visitor.sums
        })
        .collect();
    let mut all = all.into_iter();
    let mut sums = all.next().unwrap_or_else(|| vec![0.0; nodes]);
    for more in all {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// A search from up to 64 sources: each bit of a word stands for one of them.
struct Visitor {
    /// Sources that have reached each node.
    seen: Vec<u64>,
    /// Sources that reached it in this step.
    here: Vec<u64>,
    /// Sources that reach it in the next step.
    next: Vec<u64>,
    sums: Vec<f64>,
    room: Vec<u32>,
}

impl Visitor {
    fn new(nodes: usize) -> Self {
        Self {
            seen: vec![0; nodes],
            here: vec![0; nodes],
            next: vec![0; nodes],
            sums: vec![0.0; nodes],
            room: Vec::new(),
        }
    }

    fn visit(&mut self, forward: &impl Neighbours, sources: &[usize]) {
        self.seen.fill(0);
        let mut active = Vec::with_capacity(sources.len());
        for (bit, &source) in sources.iter().enumerate() {
            if self.here[source] == 0 {
                active.push(source);
            }
            self.here[source] |= 1 << bit;
            self.seen[source] |= 1 << bit;
        }
        let mut touched = Vec::new();
        let mut distance = 1.0;
        while !active.is_empty() {
            for node in active.drain(..) {
                let visitors = std::mem::take(&mut self.here[node]);
                for &to in forward.of(node, &mut self.room) {
                    let next = &mut self.next[to as usize];
                    if *next == 0 {
                        touched.push(to as usize);
                    }
                    *next |= visitors;
                }
            }
            for node in touched.drain(..) {
                let new = std::mem::take(&mut self.next[node]) & !self.seen[node];
                if new != 0 {
                    self.seen[node] |= new;
                    self.here[node] = new;
                    self.sums[node] += f64::from(new.count_ones()) / distance;
                    active.push(node);
                }
            }
            distance += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::CsrGraph;
    use super::*;

    #[test]
    fn a_path_and_a_ring_have_the_sums_of_their_distances() {
        let path = CsrGraph::from_arcs(4, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(Harmonic::default().of(&path), (vec![0.0, 1.0, 1.5, 1.5 + 1.0 / 3.0], 4));
        let ring: Vec<(u32, u32)> = (0..200).map(|n| (n, (n + 1) % 200)).collect();
        let (found, _) = Harmonic::default().of(&CsrGraph::from_arcs(200, &ring));
        let sum: f64 = (1..200).map(|d| 1.0 / f64::from(d)).sum();
        assert!(found.iter().all(|h| (h - sum).abs() < 1e-12));
        assert_eq!(Harmonic::default().of(&CsrGraph::from_arcs(0, &[])), (vec![], 0));
    }

    #[test]
    fn a_sample_comes_near_the_truth_and_draws_nobody_twice() {
        let mut state = 7u64;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u32::try_from(state >> 33).unwrap_or(0) % below
        };
        let arcs: Vec<(u32, u32)> = (0..40_000).map(|_| (draw(4_000), draw(4_000) % (1 + draw(4_000)))).collect();
        let graph = CsrGraph::from_arcs(4_000, &arcs);
        let (exact, all) = Harmonic::default().of(&graph);
        let (near, some) = Harmonic { exact_work: 0, samples: 256 }.of(&graph);
        assert_eq!((all, some), (4_000, 256));
        for (node, (exact, near)) in exact.iter().zip(&near).enumerate().filter(|(_, (e, _))| **e > 400.0) {
            assert!((exact - near).abs() < 0.25 * exact, "node {node}: {near} instead of {exact}");
        }
        for (nodes, count) in [(256, 256), (257, 256), (1_000_000, 256), (10, 1)] {
            let drawn = drawn(nodes, count);
            assert_eq!(drawn.len(), count);
            assert!(drawn.windows(2).all(|w| w[0] < w[1]) && drawn.iter().all(|node| *node < nodes));
        }
    }
}
