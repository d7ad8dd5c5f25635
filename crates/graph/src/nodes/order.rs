//! How are names, met in any order, sorted?
//!
//! By an external merge sort: names fill a buffer of fixed size, which is sorted and written as a
//! front-coded run; the runs are merged into the final list. Memory use: the buffer, and eight
//! bytes per name for the two arrays of numbers.

use super::names::NameWriter;
use super::numbers::{self, NONE};
use crate::error::{GraphError, Result};
use crate::progress::{BuildProgress, BuildStep};
use crate::varint;
use rayon::slice::ParallelSliceMut as _;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Default size of the sort buffer in bytes.
pub(crate) const BUFFER: usize = 128 << 20;

/// Sorts names with their numbers.
pub(crate) struct NameSorter {
    dir: PathBuf,
    name: &'static str,
    capacity: usize,
    bytes: Vec<u8>,
    /// End offset and number of each name; it begins where its predecessor ends.
    entries: Vec<(usize, u32)>,
    runs: Vec<PathBuf>,
    /// One more than the highest number.
    numbers: u32,
    count: u64,
}

impl NameSorter {
    /// A sorter whose runs are files in `dir` that start with `name`.
    pub(crate) fn new(dir: &Path, name: &'static str, capacity: usize) -> Self {
        let (bytes, entries, runs) = (Vec::new(), Vec::new(), Vec::new());
        Self { dir: dir.to_owned(), name, capacity, bytes, entries, runs, numbers: 0, count: 0 }
    }

    /// Number of names.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds a name.
    pub(crate) fn push(&mut self, number: u64, name: &str) -> Result<()> {
        let number = u32::try_from(number).ok().filter(|n| *n < NONE - 1).ok_or(GraphError::TooLarge)?;
        self.bytes.extend_from_slice(name.as_bytes());
        self.entries.push((self.bytes.len(), number));
        self.numbers = self.numbers.max(number + 1);
        self.count += 1;
        // An entry takes as much memory as a short name.
        if self.bytes.len() + self.entries.len() * 16 >= self.capacity { self.spill() } else { Ok(()) }
    }

    /// Writes the buffer as a run.
    fn spill(&mut self) -> Result<()> {
        let bytes = &self.bytes;
        let mut names = Vec::with_capacity(self.entries.len());
        let mut start = 0;
        for (end, number) in self.entries.drain(..) {
            names.push((&bytes[start..end], number));
            start = end;
        }
        names.par_sort_unstable();
        let path = self.dir.join(format!("{}-{}", self.name, self.runs.len()));
        let fail = GraphError::io("write", &path);
        let mut out = BufWriter::with_capacity(1 << 18, File::create(&path).map_err(&fail)?);
        let (mut line, mut last): (Vec<u8>, &[u8]) = (Vec::new(), &[]);
        for (name, number) in names {
            let shared = last.iter().zip(name).take_while(|(a, b)| a == b).count();
            line.clear();
            for n in [shared as u64, (name.len() - shared) as u64, u64::from(number)] {
                varint::put(&mut line, n);
            }
            line.extend_from_slice(&name[shared..]);
            out.write_all(&line).map_err(&fail)?;
            last = name;
        }
        out.flush().map_err(&fail)?;
        drop(fail);
        self.runs.push(path);
        self.bytes.clear();
        Ok(())
    }

    /// Writes the list and the mapping, and returns the node of each number.
    pub(crate) fn finish(mut self, list: &Path, pages: &Path, watch: &BuildProgress) -> Result<Vec<u32>> {
        self.spill()?;
        (self.bytes, self.entries) = (Vec::new(), Vec::new());
        let mut merge = NameMerge::new(&self.runs)?;
        let mut writer = NameWriter::create(list)?;
        let count = usize::try_from(self.count).map_err(|_| GraphError::TooLarge)?;
        let (mut numbers, mut nodes) = (Vec::with_capacity(count), vec![NONE; self.numbers as usize]);
        let mut node = 0u32;
        while let Some(number) = merge.next(|name| writer.push(name))? {
            if let Some(place) = nodes.get_mut(number as usize) {
                *place = node;
            }
            numbers.push(number);
            node = node.checked_add(1).filter(|n| *n < NONE).ok_or(GraphError::TooLarge)?;
            if node.is_multiple_of(1 << 16) {
                watch(BuildStep::Ordering, u64::from(node), self.count);
            }
        }
        writer.finish()?;
        numbers::write(pages, &numbers, &nodes)?;
        self.runs.iter().try_for_each(|run| std::fs::remove_file(run).map_err(GraphError::io("remove", run)))?;
        Ok(nodes)
    }
}

/// Merges the names of several runs.
struct NameMerge {
    runs: Vec<NameRunReader>,
    /// The heads of the runs, as a min-heap.
    heads: BinaryHeap<Reverse<(Vec<u8>, u32, usize)>>,
}

impl NameMerge {
    fn new(paths: &[PathBuf]) -> Result<Self> {
        let runs = paths.iter().map(|path| NameRunReader::open(path)).collect::<Result<Vec<_>>>()?;
        let mut merge = Self { heads: BinaryHeap::with_capacity(runs.len()), runs };
        for run in 0..merge.runs.len() {
            let (mut name, number) = (Vec::new(), merge.runs[run].next()?);
            if let Some(number) = number {
                name.extend_from_slice(&merge.runs[run].name);
                merge.heads.push(Reverse((name, number, run)));
            }
        }
        Ok(merge)
    }

    /// Calls `tell` with the next name and returns its number, or `None` at the end.
    fn next(&mut self, tell: impl FnOnce(&[u8]) -> Result<()>) -> Result<Option<u32>> {
        let Some(Reverse((mut name, number, run))) = self.heads.pop() else { return Ok(None) };
        tell(&name)?;
        let reader = &mut self.runs[run];
        if let Some(next) = reader.next()? {
            name.clear();
            name.extend_from_slice(&reader.name);
            self.heads.push(Reverse((name, next, run)));
        }
        Ok(Some(number))
    }
}

/// Reads a run.
struct NameRunReader {
    input: BufReader<File>,
    name: Vec<u8>,
    path: PathBuf,
}

impl NameRunReader {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(GraphError::io("read", path))?;
        Ok(Self { input: BufReader::with_capacity(1 << 17, file), name: Vec::new(), path: path.to_owned() })
    }

    /// Advances to the next name and returns its number.
    fn next(&mut self) -> Result<Option<u32>> {
        let fail = GraphError::io("read", &self.path);
        let bad = || GraphError::damaged(&self.path, "a run of the sort cannot be read");
        let Some(shared) = varint::read(&mut self.input).map_err(&fail)? else { return Ok(None) };
        let more = varint::read(&mut self.input).map_err(&fail)?.ok_or_else(bad)?;
        let number = varint::read(&mut self.input).map_err(&fail)?.ok_or_else(bad)?;
        let (shared, more) = (usize::try_from(shared), usize::try_from(more));
        let (Ok(shared), Ok(more), Ok(number)) = (shared, more, u32::try_from(number)) else { return Err(bad()) };
        if shared > self.name.len() {
            return Err(bad());
        }
        self.name.truncate(shared);
        self.name.resize(shared + more, 0);
        self.input.read_exact(&mut self.name[shared..]).map_err(&fail)?;
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NameList, NodeNumbers};
    use super::*;
    use crate::progress::unwatched;

    #[test]
    fn names_are_numbered_in_their_order_however_small_the_buffer() {
        let names: Vec<String> = (0..500u32).map(|i| format!("http://h{}/{}", i * 7 % 13, i * 7919 % 500)).collect();
        let mut sorted = names.clone();
        sorted.sort();
        for capacity in [1, 700, 1 << 20] {
            let dir = tempfile::tempdir().unwrap();
            let mut sorter = NameSorter::new(dir.path(), "t", capacity);
            for (number, name) in (1..).zip(&names) {
                sorter.push(number, name).unwrap();
            }
            let (list, pages) = (dir.path().join("urls"), dir.path().join("pages"));
            let nodes = sorter.finish(&list, &pages, &unwatched()).unwrap();
            let (list, pages) = (NameList::open(&list).unwrap(), NodeNumbers::open(&pages).unwrap());
            assert_eq!((nodes.len(), nodes[0], list.len(), pages.nodes()), (501, NONE, 500, 500));
            for (node, name) in (0..).zip(&sorted) {
                assert_eq!(list.name(node).unwrap().as_ref(), Some(name));
                let number = pages.number(node as u32).unwrap().unwrap();
                assert_eq!(&names[number as usize - 1], name);
                assert_eq!(
                    (nodes[number as usize], pages.node(u64::from(number)).unwrap()),
                    (node as u32, Some(node as u32))
                );
            }
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }
}
