//! Which pages can reach each other, and what shape does that give the web?
//!
//! Strongly connected components by Tarjan's algorithm (1972), iteratively, since chains of a
//! million pages exist: the pending neighbours lie on an explicit stack. The bow-tie is that of
//! Broder et al., "Graph structure in the web" (2000). The core is the largest component (ties go
//! to the one with the first URL); around it are the pages that lead into it, those it leads to,
//! and those attached to these without touching the core.

use super::plain::Neighbours;
use serde::{Deserialize, Serialize};

/// A page's place in the bow-tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BowTie {
    /// In the largest component, where every page can reach every other.
    Core,
    /// Can reach the core but cannot be reached from it.
    In,
    /// Can be reached from the core but cannot reach it.
    Out,
    /// On a path from IN to OUT that bypasses the core.
    Tube,
    /// Attached to the others without being any of them: reachable from IN, leading to OUT, or
    /// connected to such pages.
    Tendril,
    /// Not connected to the core, even if arcs are followed in both directions.
    Disconnected,
}

impl BowTie {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 6] = [Self::Core, Self::In, Self::Out, Self::Tube, Self::Tendril, Self::Disconnected];

    /// Its name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::In => "in",
            Self::Out => "out",
            Self::Tube => "tube",
            Self::Tendril => "tendril",
            Self::Disconnected => "disconnected",
        }
    }

    /// Its index in [`BowTie::ALL`].
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// The strongly connected components of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Components {
    /// The component of each node, numbered from the largest to the smallest.
    pub(crate) of: Vec<u32>,
    /// The number of nodes in each.
    pub(crate) sizes: Vec<u32>,
}

impl Components {
    /// Computes them.
    pub(crate) fn of(forward: &impl Neighbours) -> Self {
        let found = Tarjan::run(forward);
        let mut sizes: Vec<u32> = vec![0; found.count as usize];
        found.component.iter().for_each(|c| sizes[*c as usize] += 1);
        // Of equally large components the one met first comes first.
        let mut first = vec![u32::MAX; sizes.len()];
        for (node, c) in (0..).zip(&found.component) {
            first[*c as usize] = first[*c as usize].min(node);
        }
        let mut order: Vec<u32> = (0..found.count).collect();
        order.sort_unstable_by_key(|c| (std::cmp::Reverse(sizes[*c as usize]), first[*c as usize]));
        let mut place = vec![0; sizes.len()];
        for (at, c) in (0..).zip(&order) {
            place[*c as usize] = at;
        }
        let of = found.component.iter().map(|c| place[*c as usize]).collect();
        let sizes = order.iter().map(|c| sizes[*c as usize]).collect();
        Self { of, sizes }
    }

    /// The place of each node in the bow-tie.
    pub(crate) fn bow_tie(&self, forward: &impl Neighbours, backward: &impl Neighbours) -> Vec<BowTie> {
        let core: Vec<u32> = (0..).zip(&self.of).filter(|(_, c)| **c == 0).map(|(node, _)| node).collect();
        let after = reached(forward, &core);
        let before = reached(backward, &core);
        let of = |wanted: &[bool], unwanted: &[bool]| -> Vec<u32> {
            (0..).zip(wanted.iter().zip(unwanted)).filter(|(_, (w, u))| **w && !**u).map(|(node, _)| node).collect()
        };
        let from_in = reached(forward, &of(&before, &after));
        let to_out = reached(backward, &of(&after, &before));
        let joined = reached_both(forward, backward, &core);
        (0..self.of.len())
            .map(|node| match (before[node], after[node], from_in[node], to_out[node]) {
                (true, true, ..) => BowTie::Core,
                (true, false, ..) => BowTie::In,
                (false, true, ..) => BowTie::Out,
                (_, _, true, true) => BowTie::Tube,
                _ if joined[node] => BowTie::Tendril,
                _ => BowTie::Disconnected,
            })
            .collect()
    }
}

/// The nodes reachable from these.
fn reached(graph: &impl Neighbours, from: &[u32]) -> Vec<bool> {
    let mut seen = vec![false; graph.nodes()];
    from.iter().for_each(|node| seen[*node as usize] = true);
    let (mut waiting, mut room) = (from.to_vec(), Vec::new());
    while let Some(node) = waiting.pop() {
        spread(graph.of(node as usize, &mut room), &mut seen, &mut waiting);
    }
    seen
}

/// The nodes weakly connected to these.
fn reached_both(forward: &impl Neighbours, backward: &impl Neighbours, from: &[u32]) -> Vec<bool> {
    let mut seen = vec![false; forward.nodes()];
    from.iter().for_each(|node| seen[*node as usize] = true);
    let (mut waiting, mut room) = (from.to_vec(), Vec::new());
    while let Some(node) = waiting.pop() {
        spread(forward.of(node as usize, &mut room), &mut seen, &mut waiting);
        spread(backward.of(node as usize, &mut room), &mut seen, &mut waiting);
    }
    seen
}

fn spread(neighbours: &[u32], seen: &mut [bool], waiting: &mut Vec<u32>) {
    for &to in neighbours {
        if !std::mem::replace(&mut seen[to as usize], true) {
            waiting.push(to);
        }
    }
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan {
    /// Tarjan's low-link: when a node was entered, lowered to the earliest open node it can reach.
    low: Vec<u32>,
    component: Vec<u32>,
    count: u32,
    clock: u32,
    /// Nodes that were entered but have no component yet.
    open: Vec<u32>,
}

/// A node on the call stack: when it was entered, and where its neighbours begin on the stack.
struct Entered {
    node: u32,
    at: u32,
    start: usize,
}

impl Tarjan {
    fn run(graph: &impl Neighbours) -> Self {
        let nodes = graph.nodes();
        let mut tarjan =
            Self { low: vec![UNSEEN; nodes], component: vec![UNSEEN; nodes], count: 0, clock: 0, open: Vec::new() };
        let (mut path, mut waiting, mut room) = (Vec::new(), Vec::new(), Vec::new());
        for root in 0..u32::try_from(nodes).unwrap_or(UNSEEN) {
            if tarjan.low[root as usize] != UNSEEN {
                continue;
            }
            tarjan.enter(graph, root, &mut path, (&mut waiting, &mut room));
            while let Some(entered) = path.last() {
                let (node, start) = (entered.node, entered.start);
                if waiting.len() == start {
                    let at = entered.at;
                    path.pop();
                    tarjan.leave(node, at, path.last().map(|e: &Entered| e.node));
                    continue;
                }
                let Some(to) = waiting.pop() else { break };
                if tarjan.low[to as usize] == UNSEEN {
                    tarjan.enter(graph, to, &mut path, (&mut waiting, &mut room));
                } else {
                    tarjan.meet(node, to);
                }
            }
        }
        tarjan
    }

    fn enter(
        &mut self,
        graph: &impl Neighbours,
        node: u32,
        path: &mut Vec<Entered>,
        (waiting, room): (&mut Vec<u32>, &mut Vec<u32>),
    ) {
        self.low[node as usize] = self.clock;
        self.open.push(node);
        path.push(Entered { node, at: self.clock, start: waiting.len() });
        self.clock += 1;
        for &to in graph.of(node as usize, room) {
            // Visited neighbours need no entry on the stack.
            if self.low[to as usize] == UNSEEN {
                waiting.push(to);
            } else {
                self.meet(node, to);
            }
        }
    }

    /// Handles a visited neighbour: if its component is still open, this node's low-link is at most
    /// the neighbour's.
    fn meet(&mut self, node: u32, to: u32) {
        if self.component[to as usize] == UNSEEN {
            self.low[node as usize] = self.low[node as usize].min(self.low[to as usize]);
        }
    }

    fn leave(&mut self, node: u32, at: u32, parent: Option<u32>) {
        if self.low[node as usize] == at {
            while let Some(member) = self.open.pop() {
                self.component[member as usize] = self.count;
                if member == node {
                    break;
                }
            }
            self.count += 1;
        } else if let Some(parent) = parent {
            self.low[parent as usize] = self.low[parent as usize].min(self.low[node as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::CsrGraph;
    use super::*;
    use proptest::prelude::*;

    fn shape(nodes: usize, arcs: &[(u32, u32)]) -> (Components, Vec<BowTie>) {
        let forward = CsrGraph::from_arcs(nodes, arcs);
        let components = Components::of(&forward);
        let tie = components.bow_tie(&forward, &forward.transposed());
        (components, tie)
    }

    #[test]
    fn every_part_of_the_bow_tie_is_told() {
        use BowTie::{Core, Disconnected, In, Out, Tendril, Tube};
        // 1 2 3 are the core; 0 is in IN, 4 in OUT; 5 is a tube; 6 hangs off IN, 7 leads to OUT, 8
        // leads to 6; 9 is isolated.
        let arcs = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (0, 5), (5, 4), (0, 6), (7, 4), (8, 6)];
        let (components, tie) = shape(10, &arcs);
        assert_eq!(tie, [In, Core, Core, Core, Out, Tube, Tendril, Tendril, Tendril, Disconnected]);
        assert_eq!(components.sizes, [3, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(components.of[..5], [1, 0, 0, 0, 2]);
        assert_eq!(shape(0, &[]).1, []);
        assert_eq!(BowTie::ALL.map(BowTie::code), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_chain_of_a_million_pages_is_no_harm() {
        let nodes = 1_000_000u32;
        let lists = |back: bool| (0..nodes).map(move |n| if n + 1 < nodes { Some(n + 1) } else { back.then_some(0) });
        assert_eq!(Components::of(&CsrGraph::from_lists(lists(false))).sizes.len(), nodes as usize);
        assert_eq!(Components::of(&CsrGraph::from_lists(lists(true))).sizes, [nodes]);
    }

    proptest! {
        #[test]
        fn two_nodes_share_a_component_when_each_reaches_the_other(
            arcs in prop::collection::vec((0u32..12, 0u32..12), 0..30)
        ) {
            let (components, _) = shape(12, &arcs);
            let forward = CsrGraph::from_arcs(12, &arcs);
            let from: Vec<Vec<bool>> = (0..12).map(|n| reached(&forward, &[n])).collect();
            for (a, reached_a) in from.iter().enumerate() {
                for (b, reached_b) in from.iter().enumerate() {
                    prop_assert_eq!(components.of[a] == components.of[b], reached_a[b] && reached_b[a]);
                }
            }
            prop_assert!(components.sizes.is_sorted_by(|a, b| a >= b));
        }
    }
}
