//! Who are a node's neighbours, at memory speed?
//!
//! [`Neighbours`] is what a ranking needs from a graph: a scan over a range of nodes, and the
//! neighbours of one. [`CsrGraph`] is the graph in compressed sparse row (CSR) form: the offset of
//! each node's neighbours, and all neighbours back to back, four bytes per arc. The compressed
//! files implement the same trait for graphs whose arrays do not fit in memory. Node numbers are
//! internal and never leave the crate.

use std::ops::Range;

/// Number of ranges of a scan: constant, so that floating-point sums do not depend on the number of
/// cores.
const PARTS: usize = 64;

/// The neighbours of every node in one direction.
pub(crate) trait Neighbours: Sync {
    /// Number of nodes.
    fn nodes(&self) -> usize;

    /// Number of arcs.
    fn arcs(&self) -> u64;

    /// A balanced partition of all nodes, in order, for a parallel scan.
    fn parts(&self) -> Vec<Range<usize>>;

    /// Calls `each` with every node of the range and its neighbours.
    fn scan(&self, range: Range<usize>, each: impl FnMut(usize, &[u32]));

    /// The neighbours of one node; `room` is a scratch buffer.
    fn of<'a>(&'a self, node: usize, room: &'a mut Vec<u32>) -> &'a [u32];
}

/// A graph in one direction in CSR form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CsrGraph {
    /// Offset of each node's neighbours, and the end of the last one's.
    starts: Vec<u64>,
    targets: Vec<u32>,
}

impl CsrGraph {
    /// Memory that a graph takes, in bytes.
    pub(crate) fn size(nodes: usize, arcs: u64) -> u64 {
        8 * (nodes as u64 + 1) + 4 * arcs
    }

    /// Builds a graph from one neighbour list per node, in order.
    #[cfg(test)]
    pub(crate) fn from_lists<L: IntoIterator<Item = u32>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut plain = Self { starts: vec![0], targets: Vec::new() };
        for list in lists {
            plain.push(list);
        }
        plain
    }

    /// An empty graph with capacity for this many nodes and arcs.
    pub(crate) fn with_capacity(nodes: usize, arcs: usize) -> Self {
        let mut starts = Vec::with_capacity(nodes + 1);
        starts.push(0);
        Self { starts, targets: Vec::with_capacity(arcs) }
    }

    /// Adds a node with its neighbours.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.targets.extend(list);
        self.starts.push(self.targets.len() as u64);
    }

    /// Builds a graph from these distinct arcs.
    #[cfg(test)]
    pub(crate) fn from_arcs(nodes: usize, arcs: &[(u32, u32)]) -> Self {
        let mut lists = vec![std::collections::BTreeSet::new(); nodes];
        for &(from, to) in arcs {
            lists[from as usize].insert(to);
        }
        Self::from_lists(lists)
    }

    /// The transposed graph.
    #[cfg(test)]
    pub(crate) fn transposed(&self) -> Self {
        let mut lists = vec![Vec::new(); self.nodes()];
        self.scan(0..self.nodes(), |from, targets| {
            for &to in targets {
                lists[to as usize].push(u32::try_from(from).unwrap_or(u32::MAX));
            }
        });
        Self::from_lists(lists)
    }

    fn list(&self, node: usize) -> &[u32] {
        let at = |i: usize| usize::try_from(self.starts[i]).unwrap_or(usize::MAX);
        &self.targets[at(node)..at(node + 1)]
    }
}

impl Neighbours for CsrGraph {
    fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn arcs(&self) -> u64 {
        self.targets.len() as u64
    }

    fn parts(&self) -> Vec<Range<usize>> {
        // A node costs about as much as an arc: its score is read and written.
        let (nodes, whole) = (self.nodes(), self.arcs() + self.nodes() as u64);
        let cut = |part: usize| {
            let wanted = whole / PARTS as u64 * part as u64;
            let (mut low, mut high) = (0, nodes);
            while low < high {
                let middle = usize::midpoint(low, high);
                if self.starts[middle] + (middle as u64) < wanted {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let mut cuts: Vec<usize> = (0..PARTS).map(cut).collect();
        cuts.push(nodes);
        cuts.windows(2).map(|w| w[0]..w[1]).filter(|r| !r.is_empty()).collect()
    }

    fn scan(&self, range: Range<usize>, mut each: impl FnMut(usize, &[u32])) {
        for node in range {
            each(node, self.list(node));
        }
    }

    fn of<'a>(&'a self, node: usize, _: &'a mut Vec<u32>) -> &'a [u32] {
        self.list(node)
    }
}

/// Ranges with equal numbers of nodes, for a graph whose arcs cannot be counted by range.
pub(crate) fn even_parts(nodes: usize) -> Vec<Range<usize>> {
    let step = nodes.div_ceil(PARTS).max(1);
    (0..nodes).step_by(step).map(|start| start..(start + step).min(nodes)).collect()
}

/// Splits a slice along the parts of a scan.
pub(super) fn pieces<'a, T>(parts: &[Range<usize>], mut whole: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, rest) = whole.split_at_mut(part.len());
        pieces.push(piece);
        whole = rest;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_node_once_and_share_the_arcs() {
        for (nodes, heavy) in [(0, 0), (1, 0), (5, 3), (1_000, 0), (1_000, 999), (777, 400)] {
            let mut arcs: Vec<(u32, u32)> = (0..nodes as u32).map(|n| (n, 0)).collect();
            arcs.extend((0..nodes as u32).map(|n| (heavy, n)));
            let plain = CsrGraph::from_arcs(nodes, &arcs);
            for parts in [plain.parts(), even_parts(nodes)] {
                let all: Vec<usize> = parts.iter().cloned().flatten().collect();
                assert_eq!(all, (0..nodes).collect::<Vec<_>>());
                assert!(parts.len() <= PARTS);
            }
        }
    }

    #[test]
    fn a_graph_transposed_twice_is_itself() {
        let plain = CsrGraph::from_arcs(4, &[(0, 1), (0, 3), (2, 0), (3, 3), (0, 1)]);
        assert_eq!(plain.arcs(), 4);
        assert_eq!(plain.of(0, &mut Vec::new()), [1, 3]);
        assert_eq!(plain.transposed().of(3, &mut Vec::new()), [0, 3]);
        assert_eq!(plain.transposed().transposed(), plain);
    }
}
