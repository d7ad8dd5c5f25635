//! How does a graph become small?
//!
//! In the BV format of Boldi and Vigna ("The WebGraph framework I: compression techniques", WWW
//! 2004): a page's successor list is encoded as a copy of one of the previous seven lists, plus
//! intervals, plus gaps. It works because pages that are adjacent in URL order link to the same
//! targets. Codes and parameters are WebGraph's defaults, so WebGraph can read the files. Each node
//! range is compressed on its own core, and no list references one in another range.

mod part;

use crate::arcs::{MergeFailure, SortedArcs};
use crate::error::{GraphError, Result};
use crate::progress::{BuildProgress, BuildStep};
use dsi_bitstream::traits::BE;
use dsi_progress_logger::no_logging;
use part::{CompressedPart, join};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use webgraph::graphs::bvgraph::{CompFlags, store_ef_with_data};

/// Statistics of a compressed graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressionStats {
    /// Arcs.
    pub arcs: u64,
    /// Size of the compressed lists in bits.
    pub bits: u64,
    /// Number of nodes with at least one arc.
    pub sources: u64,
    /// Maximum out-degree.
    pub most: u64,
}

/// Compresses arcs into `<base>.graph`, `.offsets`, `.properties` and `.ef`.
pub(crate) fn compress(base: &Path, arcs: &SortedArcs, watch: &BuildProgress) -> Result<CompressionStats> {
    let failed = MergeFailure::default();
    let shared = Arc::new(SharedTally {
        watch: watch.clone(),
        of: arcs.at_most(),
        done: AtomicU64::new(0),
        tally: Mutex::default(),
    });
    let flags = CompFlags::default();
    let written: Result<Vec<CompressedPart>> = (0..arcs.bounds().len() - 1)
        .into_par_iter()
        .map(|number| {
            let (here, node, degree) = (CompressionStats::default(), None, 0);
            let counted = CountedArcs { arcs: arcs.part(number, &failed)?, shared: shared.clone(), here, node, degree };
            CompressedPart::write(base, number, (arcs.bounds()[number], arcs.bounds()[number + 1]), counted, &failed)
        })
        .collect();
    failed.check()?;
    let stats = join(base, &written?, &failed)?;
    let fail = |what| move |e| GraphError::Compression { what, path: base.to_owned(), why: format!("{e:#}") };
    let properties = flags.to_properties::<BE>(&stats).map_err(fail("describe"))?;
    let described = base.with_extension("properties");
    std::fs::write(&described, properties).map_err(GraphError::io("write", &described))?;
    let (file, offsets) = (base.with_extension("graph"), base.with_extension("offsets"));
    let ef = base.with_extension("ef");
    store_ef_with_data(stats.num_nodes, &file, &offsets, ef, no_logging![]).map_err(fail("index"))?;
    let tally = *shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(CompressionStats { bits: stats.written_bits, ..tally })
}

/// State shared by the parts.
struct SharedTally {
    watch: BuildProgress,
    of: u64,
    done: AtomicU64,
    tally: Mutex<CompressionStats>,
}

/// Arcs between two progress reports.
const BEAT: u64 = 1 << 18;

/// Counts the arcs on their way to the compressor.
struct CountedArcs<I> {
    arcs: I,
    shared: Arc<SharedTally>,
    here: CompressionStats,
    node: Option<usize>,
    degree: u64,
}

impl<I: Iterator<Item = (usize, usize)>> Iterator for CountedArcs<I> {
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
            // Relaxed: a progress counter synchronises nothing.
            let done = self.shared.done.fetch_add(BEAT, Ordering::Relaxed) + BEAT;
            (self.shared.watch)(BuildStep::Compressing, done, self.shared.of);
        }
        Some((src, dst))
    }
}

impl<I> CountedArcs<I> {
    /// Adds the local counts to the shared ones, once.
    fn finish(&mut self) {
        let here = std::mem::take(&mut self.here);
        let mut whole = self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
        whole.arcs += here.arcs;
        whole.sources += here.sources;
        whole.most = whole.most.max(here.most).max(std::mem::take(&mut self.degree));
    }
}
