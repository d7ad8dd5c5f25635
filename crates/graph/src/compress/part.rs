//! How does a range of nodes become a part of the file, and how are parts joined?
//!
//! WebGraph's writers flush in `drop` and panic if that fails: two such panics at once would abort
//! the process. So they write to a [`InfallibleFile`] that accepts everything, remembers the first
//! error, and is checked afterwards.

use crate::arcs::MergeFailure;
use crate::error::{GraphError, Result};
use dsi_bitstream::codes::GammaWrite as _;
use dsi_bitstream::impls::{BufBitReader, BufBitWriter, WordAdapter};
use dsi_bitstream::traits::{BE, BitWrite};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use webgraph::graphs::bvgraph::{BvComp, CompFlags, CompStats, DynCodesEncoder, OffsetsWriter};

/// A file whose writes always appear to succeed.
struct InfallibleFile {
    file: File,
    path: PathBuf,
    failed: MergeFailure,
    broken: bool,
}

impl InfallibleFile {
    fn create(path: &Path, failed: &MergeFailure) -> Result<Self> {
        let file = File::create(path).map_err(GraphError::io("create", path))?;
        Ok(Self { file, path: path.to_owned(), failed: failed.clone(), broken: false })
    }
}

impl Write for InfallibleFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.broken
            && let Err(e) = self.file.write_all(bytes)
        {
            self.broken = true;
            self.failed.set(GraphError::io("write", &self.path)(e));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type PartBits = BufBitWriter<BE, WordAdapter<usize, BufWriter<InfallibleFile>>>;

fn bits(path: &Path, failed: &MergeFailure) -> Result<PartBits> {
    Ok(BufBitWriter::new(WordAdapter::new(BufWriter::new(InfallibleFile::create(path, failed)?))))
}

/// A compressed range of nodes.
pub(super) struct CompressedPart {
    graph: PathBuf,
    offsets: PathBuf,
    stats: CompStats,
}

impl CompressedPart {
    /// Compresses the arcs of a half-open range of source nodes.
    pub(super) fn write(
        base: &Path,
        number: usize,
        (from, to): (u32, u32),
        arcs: impl Iterator<Item = (usize, usize)>,
        failed: &MergeFailure,
    ) -> Result<Self> {
        let graph = base.with_extension(format!("{number}.graph.part"));
        let offsets = base.with_extension(format!("{number}.offsets.part"));
        let fail = |e| GraphError::Compression { what: "compress", path: base.to_owned(), why: format!("{e:#}") };
        let flags = CompFlags::default();
        let encoder = DynCodesEncoder::new(bits(&graph, failed)?, &flags).map_err(fail)?;
        let lengths = OffsetsWriter::from_write(InfallibleFile::create(&offsets, failed)?, false).map_err(fail)?;
        let (window, refs, interval) = (flags.compression_window, flags.max_ref_count, flags.min_interval_length);
        let mut writer = BvComp::new(encoder, lengths, window, refs, interval, from as usize, ());
        let mut arcs = arcs.peekable();
        for node in from as usize..to as usize {
            writer
                .push(std::iter::from_fn(|| arcs.next_if(|arc| arc.0 == node).map(|arc| (arc.1, ()))))
                .map_err(fail)?;
        }
        // `next_if` has already polled the end, at which the counter adds up its totals.
        debug_assert!(arcs.next().is_none());
        let stats = CompStats { num_nodes: (to - from) as usize, ..writer.flush().map_err(fail)? };
        Ok(Self { graph, offsets, stats })
    }
}

/// Concatenates the parts and deletes them.
pub(super) fn join(base: &Path, parts: &[CompressedPart], failed: &MergeFailure) -> Result<CompStats> {
    let mut graph = bits(&base.with_extension("graph"), failed)?;
    let mut offsets = bits(&base.with_extension("offsets"), failed)?;
    let fail = |e: io::Error| GraphError::io("write", base)(e);
    offsets.write_gamma(0).map_err(fail)?;
    let mut whole = CompStats::default();
    for part in parts {
        append(&mut graph, &part.graph, part.stats.written_bits)?;
        append(&mut offsets, &part.offsets, part.stats.offsets_written_bits)?;
        whole += part.stats;
    }
    BitWrite::flush(&mut graph).map_err(fail)?;
    BitWrite::flush(&mut offsets).map_err(fail)?;
    drop((graph, offsets));
    failed.check()?;
    Ok(whole)
}

fn append(to: &mut PartBits, from: &Path, length: u64) -> Result<()> {
    let file = File::open(from).map_err(GraphError::io("open", from))?;
    let mut reader = BufBitReader::<BE, _>::new(WordAdapter::<u32, _>::new(BufReader::new(file)));
    let copied = to.copy_from(&mut reader, length);
    copied.map_err(|e| GraphError::io("read", from)(io::Error::other(e.to_string())))?;
    std::fs::remove_file(from).map_err(GraphError::io("remove", from))
}
