//! Who are a node's neighbours, as fast as memory gives them?
//!
//! [`Neighbours`] is what a ranking needs of a graph: a scan of a range of nodes, and the neighbours of one. [`Plain`] is the graph as two arrays
//! (compressed sparse rows): where each node's neighbours begin, and all of them behind each other, four bytes an arc. The compressed
//! files are read through the same trait where the arrays would not fit memory. Node numbers are the graph's own and leave the crate nowhere.

use std::ops::Range;

/// Into how many ranges a scan is cut: always as many, so that sums are the same whatever the number of cores.
const PARTS: usize = 64;

/// The neighbours of every node, in one direction.
pub(crate) trait Neighbours: Sync {
    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// How many arcs there are.
    fn arcs(&self) -> u64;

    /// The ranges in which a scan is best divided: all nodes, in order.
    fn parts(&self) -> Vec<Range<usize>>;

    /// Calls `each` with every node of the range and its neighbours.
    fn scan(&self, range: Range<usize>, each: impl FnMut(usize, &[u32]));

    /// One node's neighbours; `room` is memory to put them into.
    fn of<'a>(&'a self, node: usize, room: &'a mut Vec<u32>) -> &'a [u32];
}

/// A graph in one direction as two arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Where each node's neighbours begin, and the end of the last one's.
    starts: Vec<u64>,
    targets: Vec<u32>,
}

impl Plain {
    /// What the arrays of a graph take, in bytes.
    pub(crate) fn size(nodes: usize, arcs: u64) -> u64 {
        8 * (nodes as u64 + 1) + 4 * arcs
    }

    /// The graph whose nodes' neighbours come one list after the other.
    #[cfg(test)]
    pub(crate) fn from_lists<L: IntoIterator<Item = u32>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut plain = Self { starts: vec![0], targets: Vec::new() };
        for list in lists {
            plain.push(list);
        }
        plain
    }

    /// An empty graph with room for this many nodes and arcs.
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

    /// The graph of these arcs, each of them once.
    #[cfg(test)]
    pub(crate) fn from_arcs(nodes: usize, arcs: &[(u32, u32)]) -> Self {
        let mut lists = vec![std::collections::BTreeSet::new(); nodes];
        for &(from, to) in arcs {
            lists[from as usize].insert(to);
        }
        Self::from_lists(lists)
    }

    /// The same arcs the other way round.
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

impl Neighbours for Plain {
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

/// Ranges of equally many nodes, for a graph whose arcs cannot be counted by range.
pub(crate) fn even_parts(nodes: usize) -> Vec<Range<usize>> {
    let step = nodes.div_ceil(PARTS).max(1);
    (0..nodes).step_by(step).map(|start| start..(start + step).min(nodes)).collect()
}

/// The pieces of a slice that belong to the parts of a scan.
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
            let plain = Plain::from_arcs(nodes, &arcs);
            for parts in [plain.parts(), even_parts(nodes)] {
                let all: Vec<usize> = parts.iter().cloned().flatten().collect();
                assert_eq!(all, (0..nodes).collect::<Vec<_>>());
                assert!(parts.len() <= PARTS);
            }
        }
    }

    #[test]
    fn a_graph_transposed_twice_is_itself() {
        let plain = Plain::from_arcs(4, &[(0, 1), (0, 3), (2, 0), (3, 3), (0, 1)]);
        assert_eq!(plain.arcs(), 4);
        assert_eq!(plain.of(0, &mut Vec::new()), [1, 3]);
        assert_eq!(plain.transposed().of(3, &mut Vec::new()), [0, 3]);
        assert_eq!(plain.transposed().transposed(), plain);
    }
}
