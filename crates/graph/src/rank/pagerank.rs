//! Where would a random surfer be?
//!
//! PageRank (Page, Brin, Motwani, Winograd 1999): with probability `damping` the surfer follows one
//! of the page's links, chosen uniformly; otherwise, and always on a dangling page, she jumps to a
//! uniformly chosen page. So the rank of dangling pages is spread evenly over all pages, as in
//! networkx; Boldi, Posenato, Santini and Vigna call this strongly preferential PageRank.
//!
//! Computed by the power method in gather (pull) form over the transposed graph: each page adds up
//! the shares of the pages that link to it, so no two threads write to the same location. The ranks
//! sum to 1. The remaining error is at most `damping / (1 - damping)` times the last change.

use super::plain::{Neighbours, pieces};
use super::sums::{added, sum_of};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of PageRank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageRank {
    /// The damping factor: the probability of following a link.
    pub damping: f64,
    /// Stops when the L1 change falls below this.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub rounds: u32,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-9, rounds: 200 }
    }
}

/// Scores of an iterative method.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled<S> {
    /// The scores.
    pub(crate) scores: S,
    /// Number of iterations.
    pub(crate) rounds: u32,
    /// The change or residual in the last one.
    pub(crate) change: f64,
}

impl PageRank {
    /// The ranks of all nodes, from the transposed graph and the out-degrees.
    pub(crate) fn of(&self, backward: &impl Neighbours, out_degrees: &[u32]) -> Settled<Vec<f64>> {
        let nodes = backward.nodes();
        if nodes == 0 {
            return Settled { scores: Vec::new(), rounds: 0, change: 0.0 };
        }
        let even = 1.0 / nodes as f64;
        let mut ranks = vec![even; nodes];
        let mut shares = vec![0.0; nodes];
        let (mut rounds, mut change) = (0, f64::INFINITY);
        while rounds < self.rounds && change >= self.tolerance {
            let dangling = self.share(&ranks, out_degrees, &mut shares);
            let floor = (1.0 - self.damping + self.damping * dangling) * even;
            change = self.gather(backward, &shares, floor, &mut ranks);
            rounds += 1;
        }
        // Rounding lets the sum drift by about 10^-16 per iteration.
        let sum = sum_of(&ranks, |r| *r);
        ranks.par_iter_mut().for_each(|rank| *rank /= sum);
        Settled { scores: ranks, rounds, change }
    }

    /// Computes each node's contribution to each of its successors, and returns the rank held by
    /// dangling nodes.
    fn share(&self, ranks: &[f64], out_degrees: &[u32], shares: &mut [f64]) -> f64 {
        const CHUNK: usize = 1 << 14;
        let chunks = shares.par_chunks_mut(CHUNK).zip(ranks.par_chunks(CHUNK)).zip(out_degrees.par_chunks(CHUNK));
        let dangling: Vec<f64> = chunks
            .map(|((shares, ranks), degrees)| {
                let mut dangling = 0.0;
                for ((share, rank), degree) in shares.iter_mut().zip(ranks).zip(degrees) {
                    *share = if *degree == 0 { 0.0 } else { self.damping * rank / f64::from(*degree) };
                    dangling += if *degree == 0 { *rank } else { 0.0 };
                }
                dangling
            })
            .collect();
        dangling.iter().sum()
    }

    /// One iteration: recomputes every rank and returns the L1 change.
    fn gather(&self, backward: &impl Neighbours, shares: &[f64], floor: f64, ranks: &mut [f64]) -> f64 {
        let parts = backward.parts();
        let pieces = pieces(&parts, ranks);
        let changes: Vec<f64> = parts
            .par_iter()
            .zip(pieces)
            .map(|(part, piece)| {
                let mut change = 0.0;
                backward.scan(part.clone(), |node, sources| {
                    let rank = floor + added(shares, sources);
                    let place = &mut piece[node - part.start];
                    change += (rank - *place).abs();
                    *place = rank;
                });
                change
            })
            .collect();
        changes.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::CsrGraph;
    use super::*;

    fn ranks(nodes: usize, arcs: &[(u32, u32)], damping: f64) -> Vec<f64> {
        let forward = CsrGraph::from_arcs(nodes, arcs);
        let mut degrees = Vec::new();
        forward.scan(0..nodes, |_, to| degrees.push(to.len() as u32));
        PageRank { damping, tolerance: 1e-14, rounds: 2_000 }.of(&forward.transposed(), &degrees).scores
    }

    #[track_caller]
    fn near(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() < 1e-12, "{got:?} instead of {want:?}");
        }
    }

    #[test]
    fn a_ring_ranks_all_alike_and_an_empty_graph_none() {
        near(&ranks(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], 0.85), &[0.25; 4]);
        near(&ranks(0, &[], 0.85), &[]);
        near(&ranks(3, &[], 0.85), &[1.0 / 3.0; 3]);
    }

    #[test]
    fn a_star_is_ranked_as_solved_by_hand() {
        // Three leaves link to the centre, which is dangling: with a leaf's rank l and the centre's
        // c, l = (1 - d) / 4 + d c / 4 and c = l + 3 d l.
        let d = 0.5;
        let leaf = 1.0 / (4.0 + 3.0 * d);
        near(&ranks(4, &[(1, 0), (2, 0), (3, 0)], d), &[leaf * (1.0 + 3.0 * d), leaf, leaf, leaf]);
    }

    #[test]
    fn without_damping_every_page_is_as_likely_and_loops_hold_what_they_have() {
        near(&ranks(3, &[(0, 1), (1, 2)], 0.0), &[1.0 / 3.0; 3]);
        // x = (1 - d) / 2 + d x for a self-loop that nobody else links to.
        near(&ranks(2, &[(0, 0), (1, 1)], 0.85), &[0.5, 0.5]);
    }
}
