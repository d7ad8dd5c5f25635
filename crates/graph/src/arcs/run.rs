//! How is a sorted run stored on disk?
//!
//! As delta-encoded varints: adjacent arcs mostly share their source, and a page mostly links to
//! its neighbours. The parts of a run are consecutive in one file, each starting from zero.

use crate::error::{GraphError, Result};
use crate::varint;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Take, Write as _};
use std::path::PathBuf;

/// Read buffer per run, in bytes.
const AHEAD: usize = 1 << 16;

/// A run on disk.
pub(crate) struct ArcRun {
    path: PathBuf,
    /// Offsets of the parts, and the end of the last one.
    starts: Vec<u64>,
    arcs: u64,
}

impl ArcRun {
    /// Writes a run of sorted arcs, partitioned by the ranges of their sources.
    pub(crate) fn write(path: PathBuf, arcs: &[u64], bounds: &[u32]) -> Result<Self> {
        let fail = GraphError::io("write", &path);
        let mut out = BufWriter::with_capacity(AHEAD, File::create(&path).map_err(&fail)?);
        let (mut starts, mut at, mut bytes) = (vec![0], 0, Vec::with_capacity(AHEAD));
        let mut rest = arcs;
        for bound in &bounds[1..] {
            let (part, after) = rest.split_at(rest.partition_point(|arc| arc >> 32 < u64::from(*bound)));
            rest = after;
            let mut last = 0;
            for arc in part {
                varint::put(&mut bytes, arc - last);
                last = *arc;
                if bytes.len() >= AHEAD - 16 {
                    at += bytes.len() as u64;
                    out.write_all(&bytes).map_err(&fail)?;
                    bytes.clear();
                }
            }
            starts.push(at + bytes.len() as u64);
        }
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(&fail)?;
        drop(fail);
        let arcs = arcs.len() as u64;
        Ok(Self { path, starts, arcs })
    }

    /// Number of arcs.
    pub(crate) fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Opens one part for reading.
    pub(crate) fn read(&self, part: usize) -> Result<ArcRunReader> {
        let fail = GraphError::io("read", &self.path);
        let mut file = File::open(&self.path).map_err(&fail)?;
        let (from, to) = (self.starts[part], self.starts[part + 1]);
        file.seek(SeekFrom::Start(from)).map_err(&fail)?;
        let input = BufReader::with_capacity(AHEAD, file.take(to - from));
        Ok(ArcRunReader { input, last: 0, path: self.path.clone() })
    }

    /// Deletes the file.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(GraphError::io("remove", &self.path))
    }
}

/// Reads one part of a run.
pub(crate) struct ArcRunReader {
    input: BufReader<Take<File>>,
    last: u64,
    path: PathBuf,
}

impl ArcRunReader {
    /// The next arc.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Option<u64>> {
        let Some(step) = varint::read(&mut self.input)? else { return Ok(None) };
        self.last = self.last.checked_add(step).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some(self.last))
    }

    /// Wraps an I/O error with the run's path.
    pub(crate) fn fail(&self, source: io::Error) -> GraphError {
        GraphError::io("read", &self.path)(source)
    }
}
