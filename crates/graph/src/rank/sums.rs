//! How do all cores add up millions of numbers and always get the same result?
//!
//! Floating-point sums depend on their order. So a slice is always split at the same places,
//! whatever the number of cores, and the partial sums are added in order.

use super::plain::{Neighbours, pieces};
use rayon::prelude::*;

const CHUNK: usize = 1 << 14;

/// The sum of `value` over all elements.
pub(super) fn sum_of<T: Sync>(slice: &[T], value: impl Fn(&T) -> f64 + Sync) -> f64 {
    let sums: Vec<f64> = slice.par_chunks(CHUNK).map(|chunk| chunk.iter().map(&value).sum()).collect();
    sums.iter().sum()
}

/// The dot product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let sum = |(a, b): (&[f64], &[f64])| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let sums: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(sum).collect();
    sums.iter().sum()
}

/// The sum of the values of these nodes, with four accumulators, so that no addition waits for the
/// previous one.
#[inline]
pub(super) fn added(values: &[f64], nodes: &[u32]) -> f64 {
    let mut sums = [0.0; 4];
    let mut fours = nodes.chunks_exact(4);
    for four in &mut fours {
        for (sum, node) in sums.iter_mut().zip(four) {
            *sum += values[*node as usize];
        }
    }
    let rest: f64 = fours.remainder().iter().map(|node| values[*node as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Sets every node of `out` to the sum of its neighbours' values: a sparse matrix-vector product.
pub(super) fn gather(graph: &impl Neighbours, values: &[f64], out: &mut [f64]) {
    let parts = graph.parts();
    let pieces = pieces(&parts, out);
    parts.par_iter().zip(pieces).for_each(|(part, piece)| {
        graph.scan(part.clone(), |node, neighbours| piece[node - part.start] = added(values, neighbours));
    });
}
