//! Who points to what matters, and what is pointed to by those who know?
//!
//! HITS (Kleinberg 1999) on the whole graph: a page's authority is the sum of the hub scores of the
//! pages that link to it, and its hub score the sum of the authorities it links to. So authorities
//! are the dominant eigenvector of AᵀA, and hubs that of AAᵀ. Both are normalised to sum 1, like
//! networkx. If the dominant eigenvalue is degenerate, the result is the projection of the uniform
//! start vector.
//!
//! Computed by the locally optimal conjugate gradient method (Knyazev 2001: LOBPCG with block size
//! one and no preconditioner): each iteration finds the best vector in the span of the current one,
//! its residual and the last step. An iteration costs as much as one of the power method, but about
//! the square root of its iterations suffice when the second eigenvalue is close to the first, as
//! it is on the web.

use super::pagerank::Settled;
use super::plain::Neighbours;
use super::sums::{dot, gather, sum_of};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of HITS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hits {
    /// Stops when the residual, relative to the eigenvalue, falls below this.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub rounds: u32,
}

impl Default for Hits {
    fn default() -> Self {
        Self { tolerance: 1e-10, rounds: 300 }
    }
}

/// An authority vector together with the hub vector it induces.
#[derive(Clone, Debug)]
struct AuthorityPair {
    authorities: Vec<f64>,
    hubs: Vec<f64>,
}

impl AuthorityPair {
    fn new(authorities: Vec<f64>, forward: &impl Neighbours) -> Self {
        let mut hubs = vec![0.0; authorities.len()];
        gather(forward, &authorities, &mut hubs);
        Self { authorities, hubs }
    }

    fn scale(&mut self, by: f64) {
        for side in [&mut self.authorities, &mut self.hubs] {
            side.par_iter_mut().for_each(|x| *x *= by);
        }
    }

    /// Adds a multiple of another.
    fn add(&mut self, by: f64, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.par_iter_mut().zip(from).for_each(|(x, y)| *x += by * y);
        };
        add(&mut self.authorities, &other.authorities);
        add(&mut self.hubs, &other.hubs);
    }

    /// Orthogonalises it against the others, which are orthonormal, and normalises it; `false` if
    /// nothing is left.
    fn orthonormalise(&mut self, others: &[&Self]) -> bool {
        let before = dot(&self.authorities, &self.authorities).sqrt();
        // Twice is enough (Kahan, after Parlett).
        for _ in 0..2 {
            for other in others {
                let common = dot(&self.authorities, &other.authorities);
                self.add(-common, other);
            }
        }
        let left = dot(&self.authorities, &self.authorities).sqrt();
        if left.is_nan() || left <= before * 1e-12 || left <= f64::MIN_POSITIVE {
            return false;
        }
        self.scale(1.0 / left);
        true
    }
}

impl Hits {
    /// Hubs and authorities, each with sum 1; all 0 if there are no arcs.
    pub(crate) fn of(&self, forward: &impl Neighbours, backward: &impl Neighbours) -> Settled<[Vec<f64>; 2]> {
        let nodes = forward.nodes();
        let mut best = AuthorityPair::new(vec![1.0; nodes], forward);
        if forward.arcs() == 0 || !best.orthonormalise(&[]) {
            return Settled { scores: [vec![0.0; nodes], vec![0.0; nodes]], rounds: 0, change: 0.0 };
        }
        let mut step: Option<AuthorityPair> = None;
        let (mut rounds, mut change) = (0, f64::INFINITY);
        while rounds < self.rounds {
            rounds += 1;
            let (residual, length) = residual(&best, backward);
            change = length;
            if change < self.tolerance {
                break;
            }
            let mut ahead = AuthorityPair::new(residual, forward);
            if !ahead.orthonormalise(&[&best]) {
                break;
            }
            step = Some(advance(&mut best, ahead, step));
        }
        let [mut hubs, mut authorities] = [best.hubs, best.authorities];
        for side in [&mut hubs, &mut authorities] {
            let sum = sum_of(side, |x| x.abs());
            side.par_iter_mut().for_each(|x| *x = x.abs() / sum);
        }
        Settled { scores: [hubs, authorities], rounds, change }
    }
}

/// The residual of the eigenvector equation for AᵀA, and its length relative to the eigenvalue.
fn residual(best: &AuthorityPair, backward: &impl Neighbours) -> (Vec<f64>, f64) {
    let value = dot(&best.hubs, &best.hubs);
    let mut residual = vec![0.0; best.authorities.len()];
    gather(backward, &best.hubs, &mut residual);
    residual.par_iter_mut().zip(&best.authorities).for_each(|(r, x)| *r -= value * x);
    let length = dot(&residual, &residual).sqrt() / value;
    (residual, length)
}

/// Moves to the best vector in the span of the current one, the residual and the last step, and
/// returns the step taken.
fn advance(best: &mut AuthorityPair, ahead: AuthorityPair, last: Option<AuthorityPair>) -> AuthorityPair {
    let mut ways = vec![ahead];
    if let Some(mut last) = last
        && last.orthonormalise(&[best, &ways[0]])
    {
        ways.push(last);
    }
    let mut space = [[0.0; 3]; 3];
    let members: Vec<&[f64]> = std::iter::once(&*best).chain(&ways).map(|pair| pair.hubs.as_slice()).collect();
    for (row, a) in space.iter_mut().zip(&members) {
        for (value, b) in row.iter_mut().zip(&members) {
            *value = dot(a, b);
        }
    }
    let found = dominant(space);
    let sign = if found[0] < 0.0 { -1.0 } else { 1.0 };
    best.scale(sign * found[0]);
    let mut ways = ways.into_iter().zip(&found[1..]);
    let (mut step, by) = ways.next().unwrap_or_else(|| (best.clone(), &0.0));
    step.scale(sign * by);
    for (way, by) in ways {
        step.add(sign * by, &way);
    }
    best.add(1.0, &step);
    best.orthonormalise(&[]);
    step
}

/// The dominant eigenvector of a symmetric matrix, by Jacobi rotations.
fn dominant(mut a: [[f64; 3]; 3]) -> [f64; 3] {
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tangent = theta.signum() / (theta.abs() + theta.mul_add(theta, 1.0).sqrt());
            let cosine = 1.0 / tangent.mul_add(tangent, 1.0).sqrt();
            let sine = tangent * cosine;
            for row in &mut a {
                (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
            }
            for i in 0..3 {
                (a[p][i], a[q][i]) = (cosine * a[p][i] - sine * a[q][i], sine * a[p][i] + cosine * a[q][i]);
                let row = &mut vectors[i];
                (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
            }
        }
    }
    let largest = (0..3).max_by(|x, y| a[*x][*x].total_cmp(&a[*y][*y])).unwrap_or(0);
    [vectors[0][largest], vectors[1][largest], vectors[2][largest]]
}

#[cfg(test)]
mod tests {
    use super::super::plain::CsrGraph;
    use super::*;

    fn hits(nodes: usize, arcs: &[(u32, u32)]) -> Settled<[Vec<f64>; 2]> {
        let forward = CsrGraph::from_arcs(nodes, arcs);
        Hits { tolerance: 1e-13, rounds: 500 }.of(&forward, &forward.transposed())
    }

    #[track_caller]
    fn near(got: &[f64], want: &[f64]) {
        let far = got.iter().zip(want).any(|(g, w)| (g - w).abs() > 1e-9);
        assert!(!far && got.len() == want.len(), "{got:?} instead of {want:?}");
    }

    #[test]
    fn a_star_has_one_authority_and_its_leaves_are_the_hubs() {
        let found = hits(4, &[(1, 0), (2, 0), (3, 0)]);
        near(&found.scores[0], &[0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        near(&found.scores[1], &[1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_small_graph_is_ranked_as_solved_by_hand() {
        // 0 -> 2, 0 -> 3, 1 -> 3: on (2, 3), AᵀA is the matrix [[1, 1], [1, 2]], whose dominant
        // eigenvector is (1, φ).
        let golden = f64::midpoint(1.0, 5f64.sqrt());
        let found = hits(4, &[(0, 2), (0, 3), (1, 3)]);
        near(&found.scores[1], &[0.0, 0.0, 1.0 / (1.0 + golden), golden / (1.0 + golden)]);
        near(&found.scores[0], &[golden / (1.0 + golden), 1.0 / (1.0 + golden), 0.0, 0.0]);
    }

    #[test]
    fn two_communities_of_nearly_the_same_weight_are_told_apart_in_few_rounds() {
        // Two complete bipartite graphs of 400 and 401 hubs: the power method would need thousands
        // of iterations.
        let mut arcs = Vec::new();
        for hub in 0..801u32 {
            let first = if hub < 400 { 801 } else { 811 };
            arcs.extend((first..first + 10).map(|to| (hub, to)));
        }
        let found = hits(821, &arcs);
        assert!(found.rounds < 60, "{} rounds", found.rounds);
        near(&found.scores[1][801..811], &[0.0; 10]);
        near(&found.scores[1][811..], &[0.1; 10]);
    }

    #[test]
    fn without_arcs_nobody_has_a_score_and_a_tie_is_shared() {
        assert_eq!(hits(3, &[]).scores, [vec![0.0; 3], vec![0.0; 3]]);
        assert_eq!(hits(0, &[]).scores, [Vec::<f64>::new(), Vec::new()]);
        near(&hits(4, &[(0, 1), (2, 3)]).scores[1], &[0.0, 0.5, 0.0, 0.5]);
        near(&hits(2, &[(0, 0)]).scores[0], &[1.0, 0.0]);
    }
}
