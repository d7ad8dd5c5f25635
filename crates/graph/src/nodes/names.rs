//! How are a hundred million URLs stored so that look-ups in both directions are fast?
//!
//! Sorted and front-coded: a name is stored as the length of the prefix it shares with its
//! predecessor, and the rest. Every sixteenth name is complete and begins a block; a table holds
//! the offsets of the blocks. Number to name takes two reads; name to number is a binary search
//! over the first names of the blocks. Nothing is loaded up front, and every byte is validated:
//! damage is an error, never a panic.
//!
//! File format: `orburls1`, the number of names, the offset of the table; the blocks; the table.
//! Integers are 64-bit little-endian.

use crate::error::{GraphError, Result};
use crate::varint;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"orburls1";

/// Names per block.
const BLOCK: u64 = 16;

/// Size of the header in bytes.
const HEAD: u64 = 24;

/// Bytes read for the first name of a block; longer names take a second read.
const GLANCE: usize = 256;

/// Writes names that arrive in order.
pub(crate) struct NameWriter {
    out: BufWriter<File>,
    path: PathBuf,
    last: Vec<u8>,
    count: u64,
    at: u64,
    table: Vec<u64>,
    bytes: Vec<u8>,
}

impl NameWriter {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(GraphError::io("write", path))?;
        let mut writer = Self {
            out: BufWriter::with_capacity(1 << 18, file),
            path: path.to_owned(),
            last: Vec::new(),
            count: 0,
            at: 0,
            table: Vec::new(),
            bytes: vec![0; 24],
        };
        writer.flush_bytes()?;
        Ok(writer)
    }

    fn flush_bytes(&mut self) -> Result<()> {
        self.out.write_all(&self.bytes).map_err(GraphError::io("write", &self.path))?;
        self.at += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    pub(crate) fn push(&mut self, name: &[u8]) -> Result<()> {
        let mut shared = 0;
        if self.count.is_multiple_of(BLOCK) {
            self.table.push(self.at);
        } else {
            shared = self.last.iter().zip(name).take_while(|(a, b)| a == b).count();
            varint::put(&mut self.bytes, shared as u64);
        }
        varint::put(&mut self.bytes, (name.len() - shared) as u64);
        self.bytes.extend_from_slice(&name[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&name[shared..]);
        self.count += 1;
        self.flush_bytes()
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        let end = self.at;
        for place in std::mem::take(&mut self.table) {
            self.bytes.extend_from_slice(&place.to_le_bytes());
            if self.bytes.len() >= 1 << 16 {
                self.flush_bytes()?;
            }
        }
        self.bytes.extend_from_slice(&end.to_le_bytes());
        self.flush_bytes()?;
        self.bytes.extend_from_slice(MAGIC);
        self.bytes.extend_from_slice(&self.count.to_le_bytes());
        self.bytes.extend_from_slice(&end.to_le_bytes());
        let sought = self.out.seek(SeekFrom::Start(0)).map_err(GraphError::io("write", &self.path));
        sought.and_then(|_| self.flush_bytes())?;
        self.out.flush().map_err(GraphError::io("write", &self.path))
    }
}

/// Sorted names on disk.
pub(crate) struct NameList {
    file: File,
    path: PathBuf,
    count: u64,
    table: u64,
}

impl NameList {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(GraphError::io("read", path))?;
        let length = file.metadata().map_err(GraphError::io("read", path))?.len();
        let mut names = Self { file, path: path.to_owned(), count: 0, table: 0 };
        let mut head = [0; HEAD as usize];
        names.read(0, &mut head)?;
        (names.count, names.table) = (number(&head[8..]), number(&head[16..]));
        let table = (names.count.div_ceil(BLOCK) + 1).checked_mul(8);
        if &head[..8] != MAGIC || table.and_then(|t| t.checked_add(names.table)) != Some(length) {
            return Err(names.damaged("it is not a list of URLs"));
        }
        Ok(names)
    }

    /// Number of names.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    fn damaged(&self, why: &str) -> GraphError {
        GraphError::damaged(&self.path, why)
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, at).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => self.damaged("it ends early"),
            _ => GraphError::io("read", &self.path)(e),
        })
    }

    /// Offset and length of a block.
    fn place(&self, block: u64) -> Result<(u64, usize)> {
        let mut ends = [0; 16];
        self.read(self.table + block * 8, &mut ends)?;
        let (from, to) = (number(&ends), number(&ends[8..]));
        let length = to.checked_sub(from).filter(|_| from >= HEAD && to <= self.table);
        let length = length.and_then(|l| usize::try_from(l).ok()).ok_or_else(|| self.damaged("its table is wrong"))?;
        Ok((from, length))
    }

    /// First name of a block.
    fn first(&self, block: u64) -> Result<Vec<u8>> {
        let (from, length) = self.place(block)?;
        let mut bytes = vec![0; length.min(GLANCE)];
        self.read(from, &mut bytes)?;
        let mut rest = bytes.as_slice();
        let name = varint::take(&mut rest).and_then(|n| usize::try_from(n).ok());
        let name = name.ok_or_else(|| self.damaged("a name cannot be read"))?;
        if let Some(name) = rest.get(..name) {
            return Ok(name.to_vec());
        }
        let head = bytes.len() - rest.len();
        if length - head < name {
            return Err(self.damaged("a name cannot be read"));
        }
        let mut whole = vec![0; name];
        self.read(from + head as u64, &mut whole)?;
        Ok(whole)
    }

    /// Calls `tell` with the names of a block in order until it returns `false`.
    fn each(&self, block: u64, mut tell: impl FnMut(u64, &[u8]) -> bool) -> Result<()> {
        let (from, length) = self.place(block)?;
        let mut bytes = vec![0; length];
        self.read(from, &mut bytes)?;
        let (mut rest, mut name) = (bytes.as_slice(), Vec::new());
        for i in 0..BLOCK.min(self.count - block * BLOCK) {
            let shared = if i == 0 { Some(0) } else { varint::take(&mut rest) };
            let more = varint::take(&mut rest);
            let shared = shared.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= name.len());
            let more = more.and_then(|n| usize::try_from(n).ok()).and_then(|n| rest.split_at_checked(n));
            let (Some(shared), Some((more, after))) = (shared, more) else {
                return Err(self.damaged("a name cannot be read"));
            };
            rest = after;
            name.truncate(shared);
            name.extend_from_slice(more);
            if !tell(block * BLOCK + i, &name) {
                break;
            }
        }
        Ok(())
    }

    /// The name with this number.
    pub(crate) fn name(&self, number: u64) -> Result<Option<String>> {
        if number >= self.count {
            return Ok(None);
        }
        let mut found = None;
        self.each(number / BLOCK, |i, name| {
            if i == number {
                found = Some(name.to_vec());
            }
            i < number
        })?;
        let text = found.and_then(|name| String::from_utf8(name).ok());
        text.map(Some).ok_or_else(|| self.damaged("a name is not valid UTF-8"))
    }

    /// The number of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<u64>> {
        let wanted = name.as_bytes();
        // Binary search for the last block whose first name is not greater.
        let (mut low, mut high) = (0, self.count.div_ceil(BLOCK));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle)?.as_slice() <= wanted { low = middle + 1 } else { high = middle }
        }
        let mut found = None;
        if low > 0 {
            self.each(low - 1, |i, name| {
                let order = name.cmp(wanted);
                if order == Ordering::Equal {
                    found = Some(i);
                }
                order == Ordering::Less
            })?;
        }
        Ok(found)
    }

    /// Calls `tell` with all names in order and their numbers.
    pub(crate) fn all(&self, mut tell: impl FnMut(u64, &[u8])) -> Result<()> {
        (0..self.count.div_ceil(BLOCK)).try_for_each(|block| {
            self.each(block, |i, name| {
                tell(i, name);
                true
            })
        })
    }
}

/// Decodes the first eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn written(dir: &Path, names: &BTreeSet<String>) -> NameList {
        let path = dir.join("urls");
        let mut writer = NameWriter::create(&path).unwrap();
        names.iter().for_each(|name| writer.push(name.as_bytes()).unwrap());
        writer.finish().unwrap();
        NameList::open(&path).unwrap()
    }

    proptest! {
        #[test]
        fn every_name_is_found_and_no_other(
            names in prop::collection::btree_set("(http://(a|b)/)?[a-c/]{0,12}([ -~é]{0,300})?", 0..80),
            others in prop::collection::vec("[a-c/]{0,6}", 0..20),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let list = written(dir.path(), &names);
            prop_assert_eq!(list.len(), names.len() as u64);
            for (i, name) in (0..).zip(&names) {
                prop_assert_eq!(list.find(name).unwrap(), Some(i));
                prop_assert_eq!(&list.name(i).unwrap().unwrap_or_default(), name);
            }
            for other in others.iter().filter(|o| !names.contains(*o)) {
                prop_assert_eq!(list.find(other).unwrap(), None);
            }
            prop_assert_eq!(list.name(names.len() as u64).unwrap(), None);
            let mut all = Vec::new();
            list.all(|_, name| all.push(String::from_utf8(name.to_vec()).unwrap())).unwrap();
            prop_assert_eq!(all, names.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn no_damage_makes_it_panic(flips in prop::collection::vec((0usize..2_000, 1u8..), 1..4), cut in 0usize..2_000) {
            let dir = tempfile::tempdir().unwrap();
            let names = (0..99).map(|i| format!("http://a/{i:03}/{}", "x".repeat(i))).collect();
            drop(written(dir.path(), &names));
            let path = dir.path().join("urls");
            let mut bytes = std::fs::read(&path).unwrap();
            for (at, flip) in flips {
                let at = at % bytes.len();
                bytes[at] ^= flip;
            }
            if cut < 200 {
                bytes.truncate(bytes.len() - cut);
            }
            std::fs::write(&path, bytes).unwrap();
            if let Ok(list) = NameList::open(&path) {
                for i in 0..list.len().min(120) {
                    let _ = list.name(i);
                }
                for name in &names {
                    let _ = list.find(name);
                }
            }
        }
    }
}
