//! How does a graph become small?
//!
//! In the format of Boldi and Vigna ("The WebGraph framework I: compression techniques", WWW 2004): a page's successors are told as a copy of
//! those of one of the seven pages before it, as intervals, and as the gaps that remain. Pages in the order of their URLs have neighbours
//! that point to the same places, which is why it works. The codes and parameters are those of WebGraph's own defaults, so that WebGraph
//! reads the files; each range of nodes is compressed by a core of its own, and no list refers to one in another range.

use crate::arcs::{Failed, SortedArcs};
use crate::error::{GraphError, Result};
use crate::progress::{Step, Watch};
use dsi_bitstream::traits::BE;
use dsi_progress_logger::no_logging;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use webgraph::graphs::bvgraph::{BvComp, store_ef_with_data};
use webgraph::graphs::par_sorted_graph::ParSortedGraph;

/// What was counted while a graph was compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Arcs.
    pub arcs: u64,
    /// Bits of the compressed lists.
    pub bits: u64,
    /// Nodes that any arc leaves.
    pub sources: u64,
    /// The most arcs that leave one node.
    pub most: u64,
}

/// Compresses arcs into `<base>.graph`, `.offsets`, `.properties` and `.ef`.
pub(crate) fn compress(base: &Path, arcs: &SortedArcs, watch: &Watch) -> Result<Tally> {
    let failed = Failed::default();
    let shared =
        Arc::new(Shared { watch: watch.clone(), of: arcs.at_most(), done: AtomicU64::new(0), tally: Mutex::default() });
    let parts = (0..arcs.bounds().len() - 1)
        .map(|part| {
            Ok(Counted {
                arcs: arcs.part(part, &failed)?,
                shared: shared.clone(),
                here: Tally::default(),
                node: None,
                degree: 0,
            })
        })
        .collect::<Result<Box<[_]>>>()?;
    let bounds: Box<[usize]> = arcs.bounds().iter().map(|bound| *bound as usize).collect();
    let nodes = bounds.last().copied().unwrap_or(0);
    let fail = |what| move |e| GraphError::Compression { what, path: base.to_owned(), why: format!("{e:#}") };
    let graph = ParSortedGraph::from_parts(bounds, parts);
    let dir = base.parent().unwrap_or(base);
    let written = BvComp::with_basename(base).tmp_dir(dir).par_comp::<BE, _>(graph);
    failed.check()?;
    let bits = written.map_err(fail("compress"))?;
    let (file, offsets) = (base.with_extension("graph"), base.with_extension("offsets"));
    store_ef_with_data(nodes, &file, &offsets, base.with_extension("ef"), no_logging![]).map_err(fail("index"))?;
    let tally = *shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Tally { bits, ..tally })
}

/// What the parts have in common.
struct Shared {
    watch: Watch,
    of: u64,
    done: AtomicU64,
    tally: Mutex<Tally>,
}

/// Arcs between two words about progress.
const BEAT: u64 = 1 << 18;

/// Arcs on their way to the compressor, counted.
struct Counted<I> {
    arcs: I,
    shared: Arc<Shared>,
    here: Tally,
    node: Option<usize>,
    degree: u64,
}

impl<I: Iterator<Item = (usize, usize)>> Iterator for Counted<I> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let Some((src, dst)) = self.arcs.next() else {
            self.finish();
            return None;
        };
        self.here.arcs += 1;
        if self.node == Some(src) {
            self.degree += 1;
        } else {
            self.here.most = self.here.most.max(self.degree);
            (self.node, self.degree) = (Some(src), 1);
            self.here.sources += 1;
        }
        if self.here.arcs.is_multiple_of(BEAT) {
            let done = self.shared.done.fetch_add(BEAT, Ordering::Relaxed) + BEAT;
            (self.shared.watch)(Step::Compressing, done, self.shared.of);
        }
        Some((src, dst))
    }
}

impl<I> Counted<I> {
    /// Adds what was counted here to the whole, once.
    fn finish(&mut self) {
        let here = std::mem::take(&mut self.here);
        let mut whole = self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
        whole.arcs += here.arcs;
        whole.sources += here.sources;
        whole.most = whole.most.max(here.most).max(std::mem::take(&mut self.degree));
    }
}
