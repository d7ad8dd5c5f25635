//! Which streams are in a compound file?
//!
//! The container of Word, Excel, PowerPoint and Outlook before 2007: a file system in a file, with
//! sectors, an allocation table and a directory ([MS-CFB]). Every number in it is a claim. Chains
//! of sectors are followed only as long as there are sectors, so that a cycle ends, and nothing is
//! allocated that the file does not contain.

use crate::package::{u16_at, u32_at};
use std::collections::HashSet;
use std::rc::Rc;

/// Where chains end, and what is no sector.
const LAST: u32 = 0xFFFF_FFFA;
/// Streams below this size lie in the mini stream.
const MINI_CUTOFF: u64 = 4_096;
/// The size of a sector of the mini stream.
const MINI_SECTOR: usize = 64;
/// The size of a directory entry.
const ENTRY: usize = 128;
/// Maximum number of directory entries.
const MAX_ENTRIES: usize = 50_000;
/// The largest stream that is read.
const MAX_STREAM: usize = 64 << 20;

/// A compound file, or a directory of one that is a document of its own.
#[derive(Clone, Debug)]
pub(crate) struct CompoundFile<'a> {
    sectors: Rc<CompoundSectors<'a>>,
    /// The directory that is taken for the root.
    root: usize,
}

/// Where everything in a compound file is.
#[derive(Debug)]
struct CompoundSectors<'a> {
    bytes: &'a [u8],
    shift: u32,
    /// The next sector of each sector.
    table: Vec<u32>,
    mini_table: Vec<u32>,
    mini: Vec<u8>,
    entries: Vec<CompoundEntry>,
}

/// An entry of its directory.
#[derive(Clone, Debug)]
pub(crate) struct CompoundEntry {
    /// Its name.
    pub(crate) name: String,
    /// 1 for a directory, 2 for a stream, 5 for the root.
    kind: u8,
    left: u32,
    right: u32,
    child: u32,
    start: u32,
    size: u64,
}

impl<'a> CompoundSectors<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
            return None;
        }
        let shift = u32::from(u16_at(bytes, 30)?);
        if !(7..=16).contains(&shift) {
            return None;
        }
        let mut file =
            Self { bytes, shift, table: Vec::new(), mini_table: Vec::new(), mini: Vec::new(), entries: Vec::new() };
        file.read_table();
        let directory = file.chain(u32_at(bytes, 48)?, MAX_ENTRIES * ENTRY);
        file.entries = directory.chunks_exact(ENTRY).take(MAX_ENTRIES).filter_map(entry).collect();
        let root = file.entries.first()?.clone();
        let mini_table = file.chain(u32_at(bytes, 60)?, MAX_STREAM);
        file.mini_table = numbers(&mini_table).collect();
        file.mini = file.chain(root.start, usize::try_from(root.size).unwrap_or(usize::MAX).min(MAX_STREAM));
        Some(file)
    }

    fn sector(&self, number: u32) -> Option<&'a [u8]> {
        let size = 1usize << self.shift;
        let start = (number as usize).checked_add(1)?.checked_mul(size)?;
        let rest = self.bytes.get(start..)?;
        rest.get(..size).or(Some(rest)).filter(|s| !s.is_empty())
    }

    /// Reads the allocation table: the first 109 sectors of it are named in the header, the others
    /// in a chain of sectors.
    fn read_table(&mut self) {
        let sectors = (self.bytes.len() >> self.shift) + 1;
        let header = self.bytes.get(76..512).unwrap_or(&[]);
        let mut parts: Vec<u32> = numbers(header).collect();
        let mut next = u32_at(self.bytes, 68).unwrap_or(LAST);
        let mut left = sectors;
        while next < LAST && left > 0 {
            let Some(sector) = self.sector(next) else { break };
            let mut more: Vec<u32> = numbers(sector).collect();
            next = more.pop().unwrap_or(LAST);
            parts.extend(more);
            left -= 1;
        }
        let per_sector = 1usize << (self.shift - 2);
        for part in parts.into_iter().filter(|&p| p < LAST) {
            let Some(sector) = self.sector(part) else { break };
            self.table.extend(numbers(sector));
            if self.table.len() > sectors + per_sector {
                break;
            }
        }
    }

    /// The sectors of a chain, one after another, up to `cap` bytes.
    fn chain(&self, start: u32, cap: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut next = start;
        let mut left = (self.bytes.len() >> self.shift) + 1;
        while next < LAST && left > 0 && out.len() < cap {
            let Some(sector) = self.sector(next) else { break };
            out.extend_from_slice(sector);
            next = self.table.get(next as usize).copied().unwrap_or(LAST);
            left -= 1;
        }
        out.truncate(cap);
        out
    }

    fn mini_chain(&self, start: u32, cap: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut next = start;
        let mut left = self.mini.len() / MINI_SECTOR + 1;
        while next < LAST && left > 0 && out.len() < cap {
            let at = (next as usize).saturating_mul(MINI_SECTOR);
            let Some(rest) = self.mini.get(at..).filter(|r| !r.is_empty()) else { break };
            out.extend_from_slice(rest.get(..MINI_SECTOR).unwrap_or(rest));
            next = self.mini_table.get(next as usize).copied().unwrap_or(LAST);
            left -= 1;
        }
        out.truncate(cap);
        out
    }

    /// The content of a stream.
    fn content(&self, entry: &CompoundEntry) -> Vec<u8> {
        let cap = usize::try_from(entry.size).unwrap_or(usize::MAX).min(MAX_STREAM);
        if entry.size < MINI_CUTOFF { self.mini_chain(entry.start, cap) } else { self.chain(entry.start, cap) }
    }
}

impl<'a> CompoundFile<'a> {
    /// Opens a file; `None` if it is none, or has no directory.
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { sectors: Rc::new(CompoundSectors::open(bytes)?), root: 0 })
    }

    /// A directory as a file of its own, given by its number.
    pub(crate) fn within(&self, directory: usize) -> Self {
        Self { sectors: Rc::clone(&self.sectors), root: directory }
    }

    /// The entries of a directory, given by its number.
    fn children(&self, directory: usize) -> Vec<usize> {
        let entries = &self.sectors.entries;
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut pending = vec![entries.get(directory).map_or(u32::MAX, |d| d.child)];
        while let Some(number) = pending.pop() {
            let Some(entry) = entries.get(number as usize).filter(|_| seen.insert(number)) else { continue };
            found.push(number as usize);
            pending.extend([entry.left, entry.right]);
        }
        found
    }

    /// The directories of the root directory: their numbers and names, in order.
    pub(crate) fn directories(&self) -> Vec<(usize, String)> {
        let entries = self.children(self.root).into_iter().filter_map(|n| Some((n, self.entry(n)?)));
        let mut found: Vec<_> = entries.filter(|(_, e)| e.kind == 1).map(|(n, e)| (n, e.name.clone())).collect();
        found.sort_by(|a, b| a.1.cmp(&b.1));
        found
    }

    /// A directory of the root directory.
    pub(crate) fn directory(&self, name: &str) -> Option<Self> {
        let found = self.directories().into_iter().find(|(_, own)| own.eq_ignore_ascii_case(name));
        found.map(|(number, _)| self.within(number))
    }

    /// An entry by its number.
    fn entry(&self, number: usize) -> Option<&CompoundEntry> {
        self.sectors.entries.get(number)
    }

    /// The size of all streams of the root directory, as far as they can be in the file.
    pub(crate) fn size(&self) -> usize {
        let streams = self.children(self.root).into_iter().filter_map(|n| self.entry(n)).filter(|e| e.is_stream());
        let claimed = streams.fold(0, |sum: u64, entry| sum.saturating_add(entry.size));
        usize::try_from(claimed).unwrap_or(usize::MAX).min(self.sectors.bytes.len())
    }

    /// The names in the root directory.
    pub(crate) fn root_names(&self) -> Vec<String> {
        self.children(self.root).into_iter().filter_map(|n| self.entry(n)).map(|e| e.name.clone()).collect()
    }

    /// A stream of the root directory.
    pub(crate) fn stream(&self, name: &str) -> Option<Vec<u8>> {
        self.stream_in(self.root, name)
    }

    /// A stream of a directory.
    fn stream_in(&self, directory: usize, name: &str) -> Option<Vec<u8>> {
        let entries = self.children(directory).into_iter().filter_map(|n| self.entry(n));
        let entry = entries.filter(|e| e.is_stream()).find(|e| e.name.eq_ignore_ascii_case(name))?;
        Some(self.sectors.content(entry))
    }
}

impl CompoundEntry {
    /// Whether it is a stream.
    fn is_stream(&self) -> bool {
        self.kind == 2
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).filter_map(|four| u32_at(four, 0))
}

fn entry(bytes: &[u8]) -> Option<CompoundEntry> {
    let len = usize::from(u16_at(bytes, 64)?).min(64) / 2;
    let units: Vec<u16> = bytes.get(..len * 2)?.chunks_exact(2).filter_map(|two| u16_at(two, 0)).collect();
    let name = String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned();
    Some(CompoundEntry {
        name,
        kind: *bytes.get(66)?,
        left: u32_at(bytes, 68)?,
        right: u32_at(bytes, 72)?,
        child: u32_at(bytes, 76)?,
        start: u32_at(bytes, 116)?,
        // Old writers leave rubbish in the upper half.
        size: u64::from(u32_at(bytes, 120)?),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A compound file with these streams, each of them in whole sectors. They are in its root
    /// directory, or in the one that stands before a slash.
    pub(crate) fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
        let mut sectors: Vec<[u8; 512]> = Vec::new();
        let mut table: Vec<u32> = Vec::new();
        let mut chain = |content: &[u8], sectors: &mut Vec<[u8; 512]>| {
            let start = u32::try_from(sectors.len()).expect("few");
            let count = content.len().div_ceil(512).max(1);
            for i in 0..count {
                let mut sector = [0; 512];
                let part = &content[(i * 512).min(content.len())..((i + 1) * 512).min(content.len())];
                sector[..part.len()].copy_from_slice(part);
                sectors.push(sector);
                let next = u32::try_from(sectors.len()).expect("few");
                table.push(if i + 1 == count { 0xFFFF_FFFE } else { next });
            }
            start
        };
        let mut stream = |name: &str, right: u32, content: &[u8], sectors: &mut Vec<[u8; 512]>| {
            let size = content.len().max(4_096);
            let mut padded = content.to_vec();
            padded.resize(size, 0);
            let start = chain(&padded, sectors);
            directory_entry(name, 2, right, u32::MAX, (start, u32::try_from(size).expect("small")))
        };
        let mut roots: Vec<&str> = streams.iter().map(|(name, _)| name.split('/').next().expect("a name")).collect();
        roots.dedup();
        let mut directory = directory_entry("Root Entry", 5, u32::MAX, 1, (0xFFFF_FFFE, 0));
        let mut inside = Vec::new();
        let number = |at: usize| u32::try_from(at + 1).expect("few");
        for (at, root) in roots.iter().enumerate() {
            let right = if at + 1 == roots.len() { u32::MAX } else { number(at + 1) };
            if let Some((_, content)) = streams.iter().find(|(name, _)| name == root) {
                directory.extend(stream(root, right, content, &mut sectors));
                continue;
            }
            let own = |name: &str| name.strip_prefix(root)?.strip_prefix('/').map(str::to_owned);
            let own: Vec<_> = streams.iter().filter_map(|(name, content)| Some((own(name)?, content))).collect();
            let first = roots.len() + inside.len() / ENTRY;
            directory.extend(directory_entry(root, 1, right, number(first), (0, 0)));
            for (place, (name, content)) in own.iter().enumerate() {
                let right = if place + 1 == own.len() { u32::MAX } else { number(first + place + 1) };
                inside.extend(stream(name, right, content, &mut sectors));
            }
        }
        directory.extend(inside);
        let directory_start = chain(&directory, &mut sectors);
        let table_start = u32::try_from(sectors.len()).expect("few");
        let table_sectors = (table.len() + 8).div_ceil(127);
        table.extend(std::iter::repeat_n(0xFFFF_FFFD, table_sectors));
        table.resize(table_sectors * 128, u32::MAX);
        let mut out = vec![0; 512];
        out[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
        out[26..28].copy_from_slice(&3u16.to_le_bytes());
        out[30..32].copy_from_slice(&9u16.to_le_bytes());
        out[32..34].copy_from_slice(&6u16.to_le_bytes());
        out[44..48].copy_from_slice(&u32::try_from(table_sectors).expect("few").to_le_bytes());
        out[48..52].copy_from_slice(&directory_start.to_le_bytes());
        out[56..60].copy_from_slice(&4_096u32.to_le_bytes());
        out[60..64].copy_from_slice(&0xFFFF_FFFEu32.to_le_bytes());
        out[68..72].copy_from_slice(&0xFFFF_FFFEu32.to_le_bytes());
        for i in 0..109 {
            let part = if i < table_sectors { table_start + u32::try_from(i).expect("few") } else { u32::MAX };
            out[76 + i * 4..80 + i * 4].copy_from_slice(&part.to_le_bytes());
        }
        out.extend(sectors.concat());
        out.extend(table.iter().flat_map(|n| n.to_le_bytes()));
        out
    }

    fn directory_entry(name: &str, kind: u8, right: u32, child: u32, (start, size): (u32, u32)) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        entry[..wide.len()].copy_from_slice(&wide);
        entry[64..66].copy_from_slice(&u16::try_from(wide.len() + 2).expect("short").to_le_bytes());
        entry[66] = kind;
        entry[67] = 1;
        for (at, value) in [(68, u32::MAX), (72, right), (76, child), (116, start), (120, size)] {
            entry[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        entry
    }

    #[test]
    fn streams_are_found_by_name() {
        let long = vec![b'x'; 10_000];
        let bytes = compound(&[("One", b"first"), ("Two", &long)]);
        let file = CompoundFile::open(&bytes).expect("a compound file");
        assert_eq!(file.root_names(), ["One", "Two"]);
        assert!(file.stream("one").expect("there").starts_with(b"first\0"));
        assert_eq!(file.stream("Two").expect("there"), long);
        assert!(file.stream("Three").is_none());
    }

    #[test]
    fn cycles_and_lies_end() {
        let bytes = compound(&[("One", &[7; 9_000])]);
        let file = CompoundFile::open(&bytes).expect("a compound file");
        let table = bytes.len() - 512;
        // Every sector is its own successor, and the stream claims to have 4 GB.
        let mut cyclic = bytes.clone();
        for at in (table..bytes.len()).step_by(4) {
            let own = u32::try_from((at - table) / 4).expect("few");
            cyclic[at..at + 4].copy_from_slice(&own.to_le_bytes());
        }
        let name = memchr::memmem::find(&cyclic, b"O\0n\0e\0").expect("its name");
        cyclic[name + 120..name + 124].copy_from_slice(&u32::MAX.to_le_bytes());
        let told = CompoundFile::open(&cyclic).expect("a compound file");
        assert!(told.stream("One").expect("there").len() <= cyclic.len() + 512);
        assert_eq!(file.root_names(), told.root_names());
        // A chain of tables that leads back to itself, and a directory that does.
        let mut looped = bytes.clone();
        looped[68..72].copy_from_slice(&0u32.to_le_bytes());
        CompoundFile::open(&looped);
        let mut tree = bytes;
        tree[name + 68..name + 72].copy_from_slice(&1u32.to_le_bytes());
        tree[name + 72..name + 76].copy_from_slice(&1u32.to_le_bytes());
        assert_eq!(CompoundFile::open(&tree).expect("a compound file").root_names(), ["One"]);
    }
}
