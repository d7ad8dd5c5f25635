//! Which catalogue number belongs to which node, and vice versa?
//!
//! Two arrays of 32-bit integers in one file: `orbnums1`, the number of nodes, the number of
//! catalogue numbers (from 0), then the catalogue number of each node and the node of each
//! catalogue number, with `0xffffffff` for none. A look-up is one read.

use crate::error::{GraphError, Result};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"orbnums1";

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// Size of the header in bytes.
const HEAD: u64 = 16;

/// Writes the file: `numbers` indexed by node, `nodes` indexed by catalogue number.
pub(crate) fn write(path: &Path, numbers: &[u32], nodes: &[u32]) -> Result<()> {
    let fail = GraphError::io("write", path);
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path).map_err(&fail)?);
    let length = |list: &[u32]| u32::try_from(list.len()).map_err(|_| GraphError::TooLarge);
    out.write_all(MAGIC).map_err(&fail)?;
    for entry in [length(numbers)?, length(nodes)?].iter().chain(numbers).chain(nodes) {
        out.write_all(&entry.to_le_bytes()).map_err(&fail)?;
    }
    out.flush().map_err(&fail)
}

/// Both mappings on disk.
pub(crate) struct NodeNumbers {
    file: File,
    path: PathBuf,
    nodes: u32,
    numbers: u32,
}

impl NodeNumbers {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(GraphError::io("read", path))?;
        let length = file.metadata().map_err(GraphError::io("read", path))?.len();
        let mut head = [0; HEAD as usize];
        let read = file.read_exact_at(&mut head, 0);
        let field = |at: usize| head[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        let (nodes, numbers) = (field(8), field(12));
        let whole = length == HEAD + 4 * (u64::from(nodes) + u64::from(numbers));
        if read.is_err() || &head[..8] != MAGIC || !whole {
            return Err(GraphError::damaged(path, "it is not a list of numbers"));
        }
        Ok(Self { file, path: path.to_owned(), nodes, numbers })
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// One more than the highest catalogue number.
    pub(crate) fn numbers(&self) -> u32 {
        self.numbers
    }

    fn entry(&self, place: u64) -> Result<u32> {
        let mut bytes = [0; 4];
        let read = self.file.read_exact_at(&mut bytes, HEAD + 4 * place);
        read.map_err(GraphError::io("read", &self.path))?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The catalogue number of a node.
    pub(crate) fn number(&self, node: u32) -> Result<Option<u32>> {
        if node < self.nodes { self.entry(u64::from(node)).map(Some) } else { Ok(None) }
    }

    /// The node of a catalogue number.
    pub(crate) fn node(&self, number: u64) -> Result<Option<u32>> {
        if number >= u64::from(self.numbers) {
            return Ok(None);
        }
        let node = self.entry(u64::from(self.nodes) + number)?;
        Ok((node < self.nodes).then_some(node))
    }

    /// The catalogue numbers of all nodes, in node order.
    pub(crate) fn all(&self) -> Result<Vec<u32>> {
        let mut bytes = vec![0; self.nodes as usize * 4];
        self.file.read_exact_at(&mut bytes, HEAD).map_err(GraphError::io("read", &self.path))?;
        Ok(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_nodes_are_found_both_ways() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pages");
        write(&path, &[3, 1], &[NONE, 1, NONE, 0]).unwrap();
        let list = NodeNumbers::open(&path).unwrap();
        assert_eq!(
            (list.number(0).unwrap(), list.number(1).unwrap(), list.number(2).unwrap()),
            (Some(3), Some(1), None)
        );
        assert_eq!([0, 1, 2, 3, 4].map(|n| list.node(n).unwrap()), [None, Some(1), None, Some(0), None]);
        assert_eq!(list.all().unwrap(), [3, 1]);
        std::fs::write(&path, b"orbnums1short").unwrap();
        assert!(NodeNumbers::open(&path).is_err());
    }
}
