//! How is a graph ranked that does not fit in memory as plain arrays?
//!
//! Straight from its compressed lists: several times slower, but with no memory beyond the scores.

use super::plain::{CsrGraph, Neighbours, even_parts};
use crate::error::Result;
use crate::read::{Lists, WebGraph, Which};
use lender::prelude::*;
use std::ops::Range;
use webgraph::traits::{RandomAccessGraph as _, RandomAccessLabeling, SequentialLabeling as _};

/// One of the compressed graphs in one direction.
pub(super) struct Compressed<'a> {
    lists: Option<&'a Lists>,
    nodes: usize,
}

impl<'a> Compressed<'a> {
    pub(super) fn open(graph: &'a WebGraph, which: Which) -> Result<Self> {
        let nodes = graph.nodes(which) as usize;
        // A graph without nodes has no lists to open.
        let lists = if nodes == 0 { None } else { Some(graph.lists(which)?) };
        Ok(Self { lists, nodes })
    }

    /// Decompresses it into plain arrays.
    pub(super) fn plain(&self) -> CsrGraph {
        let mut plain = CsrGraph::with_capacity(self.nodes, usize::try_from(self.arcs()).unwrap_or(0));
        self.scan(0..self.nodes, |_, list| plain.push(list.iter().copied()));
        plain
    }
}

impl Neighbours for Compressed<'_> {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn arcs(&self) -> u64 {
        self.lists.map_or(0, RandomAccessLabeling::num_arcs)
    }

    fn parts(&self) -> Vec<Range<usize>> {
        even_parts(self.nodes)
    }

    fn scan(&self, range: Range<usize>, mut each: impl FnMut(usize, &[u32])) {
        let Some(lists) = self.lists else { return };
        let mut room = Vec::new();
        for_!((node, successors) in lists.iter_from(range.start).take(range.len()) {
            room.clear();
            room.extend(successors.into_iter().map(|to| to as u32));
            each(node, &room);
        });
    }

    fn of<'a>(&'a self, node: usize, room: &'a mut Vec<u32>) -> &'a [u32] {
        room.clear();
        if let Some(lists) = self.lists {
            room.extend(lists.successors(node).map(|to| to as u32));
        }
        room
    }
}
