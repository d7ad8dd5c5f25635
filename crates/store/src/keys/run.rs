//! What does a run look like on the disk?
//!
//! Blocks of 4 kB. The first says which pages the run covers, as of which batch, and names one of
//! them with its key, so that a run of another history is recognised. The others hold entries in
//! order, 340 of twelve bytes each: the key, and the page's distance from the run's first page.
//! Every block ends with a checksum that is seeded with its number.

use crate::error::{Result, StoreError};
use crate::fault;
use crate::sqlite::Watermark;
use orb_page::UrlKey;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const BLOCK: usize = 4_096;
const ENTRY: usize = 12;
const PER_BLOCK: u64 = 340;
/// Where a block's checksum begins.
const SUM: usize = BLOCK - 8;
const MAGIC: u64 = u64::from_le_bytes(*b"orbkeys1");
/// Guesses by interpolation before the rest is halved: far more than evenly spread keys need.
const GUESSES: u32 = 8;
/// Blocks that are read or written at once where all are.
const STRIDE: usize = 16;

/// A key and the page that has it.
pub(crate) type KeyEntry = (u64, u64);

/// The part of a URL's key that the table keeps.
pub(crate) fn short_key(key: UrlKey) -> u64 {
    (key.0 >> 64) as u64
}

/// Pages numbered from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl PageRange {
    /// The name of the run that covers these pages.
    pub(crate) fn name(self) -> String {
        format!("{}-{}.run", self.first, self.last)
    }

    /// The pages that a file of this name covers.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let (first, last) = name.strip_suffix(".run")?.split_once('-')?;
        let span = Self { first: first.parse().ok()?, last: last.parse().ok()? };
        (span.name() == name && span.first > 0 && span.first <= span.last).then_some(span)
    }

    /// How many numbers there are.
    pub(crate) fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

/// A run, open for look-ups.
#[derive(Debug)]
pub(crate) struct KeyRun {
    file: File,
    path: PathBuf,
    pub(crate) span: PageRange,
    /// The batch by which all its pages were recorded.
    pub(crate) mark: Watermark,
    entries: u64,
    /// One of its entries.
    pub(crate) witness: KeyEntry,
}

/// A block that agrees with its checksum.
struct KeyBlock {
    bytes: [u8; BLOCK],
    entries: usize,
    first: u64,
}

impl KeyBlock {
    fn key(&self, at: usize) -> u64 {
        word(&self.bytes, at * ENTRY)
    }

    fn entry(&self, at: usize) -> KeyEntry {
        let mut distance = [0; 4];
        distance.copy_from_slice(&self.bytes[at * ENTRY + 8..at * ENTRY + ENTRY]);
        (self.key(at), self.first + u64::from(u32::from_le_bytes(distance)))
    }

    fn keys(&self) -> (u64, u64) {
        (self.key(0), self.key(self.entries - 1))
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

fn checksum(block: &[u8], number: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&block[..SUM], number)
}

impl KeyRun {
    /// Opens the run that covers these pages.
    pub(crate) fn open(dir: &Path, span: PageRange) -> Result<Self> {
        let path = dir.join(span.name());
        let fail = |e| StoreError::io("read", &path, e);
        let file = File::open(&path).map_err(fail)?;
        let mut head = [0; BLOCK];
        let length = file.metadata().map_err(fail)?.len();
        let read = file.read_exact_at(&mut head, 0);
        let fields: [u64; 8] = std::array::from_fn(|i| word(&head, i * 8));
        let [magic, first, last, no, nonce, entries, key, page] = fields;
        let whole = read.is_ok() && magic == MAGIC && word(&head, SUM) == checksum(&head, 0);
        let blocks = entries.div_ceil(PER_BLOCK).checked_add(1).and_then(|blocks| blocks.checked_mul(BLOCK as u64));
        if !whole || (first, last) != (span.first, span.last) || blocks != Some(length) || entries == 0 {
            return Err(StoreError::damaged(&path, "its first block cannot be read"));
        }
        Ok(Self { file, path, span, mark: Watermark { no, nonce }, entries, witness: (key, page) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> u64 {
        self.entries
    }

    fn blocks(&self) -> u64 {
        self.entries.div_ceil(PER_BLOCK)
    }

    /// Adds the pages that may have this key.
    pub(crate) fn find(&self, key: u64, pages: &mut Vec<u64>) -> Result<()> {
        // Blocks that may hold it, and the keys known to bound them.
        let (mut low, mut high) = (0, self.blocks());
        let (mut least, mut most) = (0, u64::MAX);
        let mut guesses = 0;
        while low < high {
            let at = if guesses < GUESSES { guess((low, high), (least, most), key) } else { low + (high - low) / 2 };
            guesses += 1;
            let block = self.block(at)?;
            let (first, last) = block.keys();
            if key < first {
                (high, most) = (at, first);
            } else if key > last {
                (low, least) = (at + 1, last);
            } else {
                return self.gather(key, at, block, pages);
            }
        }
        Ok(())
    }

    /// Adds the pages with this key from the block that has it, and from its neighbours where equal
    /// keys go on there.
    fn gather(&self, key: u64, mut at: u64, mut block: KeyBlock, pages: &mut Vec<u64>) -> Result<()> {
        while at > 0 && block.key(0) == key {
            at -= 1;
            block = self.block(at)?;
        }
        loop {
            let equal = (0..block.entries).map(|i| block.entry(i)).filter(|entry| entry.0 == key);
            pages.extend(equal.map(|entry| entry.1));
            at += 1;
            if at == self.blocks() || block.keys().1 > key {
                return Ok(());
            }
            block = self.block(at)?;
        }
    }

    fn block(&self, number: u64) -> Result<KeyBlock> {
        let mut bytes = [0; BLOCK];
        let at = (number + 1) * BLOCK as u64;
        self.file.read_exact_at(&mut bytes, at).map_err(|e| StoreError::io("read", &self.path, e))?;
        self.checked(bytes, number)
    }

    fn checked(&self, bytes: [u8; BLOCK], number: u64) -> Result<KeyBlock> {
        if word(&bytes, SUM) != checksum(&bytes, number + 1) {
            return Err(StoreError::damaged(&self.path, format!("block {number} does not agree with its checksum")));
        }
        let entries = usize::try_from((self.entries - number * PER_BLOCK).min(PER_BLOCK)).unwrap_or(0);
        Ok(KeyBlock { bytes, entries, first: self.span.first })
    }

    /// Its entries in order.
    pub(crate) fn entries(&self) -> Entries<&Self> {
        Entries::of(self)
    }
}

/// The block that would hold a key if keys between the bounds were spread evenly.
fn guess((low, high): (u64, u64), (least, most): (u64, u64), key: u64) -> u64 {
    let share = u128::from(key.saturating_sub(least)) * u128::from(high - low);
    let by = share / (u128::from(most.saturating_sub(least)) + 1);
    u64::try_from(by).map_or(low, |by| low + by).min(high - 1)
}

/// The entries of a run in order, read in long strides.
pub(crate) struct Entries<R> {
    run: R,
    bytes: Vec<u8>,
    /// The block at which `bytes` begins.
    at: u64,
    next: u64,
    block: Option<KeyBlock>,
    within: usize,
}

impl<R: Deref<Target = KeyRun>> Entries<R> {
    pub(super) fn of(run: R) -> Self {
        Self { run, bytes: Vec::new(), at: 0, next: 0, block: None, within: 0 }
    }

    /// The next entry.
    pub(crate) fn next(&mut self) -> Result<Option<KeyEntry>> {
        loop {
            if let Some(block) = self.block.as_ref().filter(|block| self.within < block.entries) {
                let entry = block.entry(self.within);
                self.within += 1;
                return Ok(Some(entry));
            }
            if self.next == self.run.blocks() {
                return Ok(None);
            }
            self.block = Some(self.load()?);
            self.within = 0;
        }
    }

    fn load(&mut self) -> Result<KeyBlock> {
        let number = self.next;
        let offset = |blocks: u64| usize::try_from(blocks).unwrap_or(usize::MAX).saturating_mul(BLOCK);
        if offset(number - self.at) >= self.bytes.len() {
            let rest = (self.run.blocks() - number).min(STRIDE as u64);
            self.bytes.resize(offset(rest), 0);
            let at = (number + 1) * BLOCK as u64;
            let fail = |e| StoreError::io("read", &self.run.path, e);
            self.run.file.read_exact_at(&mut self.bytes, at).map_err(fail)?;
            self.at = number;
        }
        let mut bytes = [0; BLOCK];
        bytes.copy_from_slice(&self.bytes[offset(number - self.at)..][..BLOCK]);
        self.next += 1;
        self.run.checked(bytes, number)
    }
}

/// A run in the making, beside its place.
pub(crate) struct RunMaker {
    file: File,
    path: PathBuf,
    unfinished: PathBuf,
    span: PageRange,
    mark: Watermark,
    bytes: Vec<u8>,
    blocks: u64,
    entries: u64,
    witness: KeyEntry,
}

impl RunMaker {
    /// Begins a run of these pages, all recorded by this batch.
    pub(crate) fn new(dir: &Path, span: PageRange, mark: Watermark) -> Result<Self> {
        let path = dir.join(span.name());
        let unfinished = path.with_extension("new");
        let fail = |e| StoreError::io("write", &path, e);
        fs::create_dir_all(dir).map_err(fail)?;
        let file = File::create(&unfinished).map_err(fail)?;
        // Room for the first block, which is written last.
        let bytes = vec![0; BLOCK];
        Ok(Self { file, path, unfinished, span, mark, bytes, blocks: 1, entries: 0, witness: (0, 0) })
    }

    /// Adds the next entry in order.
    pub(crate) fn push(&mut self, (key, page): KeyEntry) -> Result<()> {
        let distance = page.checked_sub(self.span.first).and_then(|distance| u32::try_from(distance).ok());
        let Some(distance) = distance.filter(|_| page <= self.span.last) else {
            return Err(StoreError::damaged(&self.path, format!("page {page} does not belong to it")));
        };
        self.bytes.extend_from_slice(&key.to_le_bytes());
        self.bytes.extend_from_slice(&distance.to_le_bytes());
        self.entries += 1;
        // The newest page: if the history diverged anywhere within the run, it differs here.
        if page >= self.witness.1 {
            self.witness = (key, page);
        }
        if self.entries.is_multiple_of(PER_BLOCK) { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> Result<()> {
        let begin = self.bytes.len() - self.bytes.len() % BLOCK;
        self.bytes.resize(begin + SUM, 0);
        let sum = checksum(&self.bytes[begin..], self.blocks);
        self.bytes.extend_from_slice(&sum.to_le_bytes());
        self.blocks += 1;
        if self.bytes.len() >= STRIDE * BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.bytes).map_err(|e| StoreError::io("write", &self.path, e))?;
        self.bytes.clear();
        Ok(())
    }

    /// Puts the run into its place, once the disk has all of it.
    pub(crate) fn finish(mut self, dir: &Path) -> Result<KeyRun> {
        if !self.entries.is_multiple_of(PER_BLOCK) {
            self.close_block()?;
        }
        self.flush()?;
        let mut head = [0; BLOCK];
        let fields = [
            MAGIC,
            self.span.first,
            self.span.last,
            self.mark.no,
            self.mark.nonce,
            self.entries,
            self.witness.0,
            self.witness.1,
        ];
        for (place, field) in head.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let sum = checksum(&head, 0);
        head[SUM..].copy_from_slice(&sum.to_le_bytes());
        self.place(&head).map_err(|e| StoreError::io("write", &self.path, e))?;
        KeyRun::open(dir, self.span)
    }

    fn place(&self, head: &[u8]) -> io::Result<()> {
        self.file.write_all_at(head, 0)?;
        self.file.sync_data()?;
        fault::point("keys-written")?;
        fs::rename(&self.unfinished, &self.path)?;
        fault::point("keys-kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made(dir: &Path, mut entries: Vec<KeyEntry>) -> KeyRun {
        entries.sort_unstable();
        let pages = || entries.iter().map(|entry| entry.1);
        let span = PageRange { first: pages().min().unwrap(), last: pages().max().unwrap() };
        let mut maker = RunMaker::new(dir, span, Watermark { no: 3, nonce: 4 }).unwrap();
        entries.iter().for_each(|entry| maker.push(*entry).unwrap());
        maker.finish(dir).unwrap()
    }

    fn found(run: &KeyRun, key: u64) -> Vec<u64> {
        let mut pages = Vec::new();
        run.find(key, &mut pages).unwrap();
        pages
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_key_is_found_and_no_other(
            spread in prop::collection::vec(any::<u64>(), 1..2_000),
            dense in prop::collection::vec(0u64..40, 0..1_500),
            strange in any::<u64>(),
        ) {
            let tmp = tempfile::tempdir().unwrap();
            let entries: Vec<KeyEntry> = spread.iter().chain(&dense).copied().zip(7..).collect();
            let run = made(tmp.path(), entries.clone());
            for key in spread.iter().chain(&dense).copied().chain([0, 39, 40, u64::MAX, strange]) {
                let want: Vec<u64> = entries.iter().filter(|e| e.0 == key).map(|e| e.1).collect();
                prop_assert_eq!(found(&run, key), want);
            }
            let mut all = run.entries();
            let read: Vec<KeyEntry> = std::iter::from_fn(|| all.next().unwrap()).collect();
            let mut want = entries;
            want.sort_unstable();
            prop_assert_eq!(read, want);
        }
    }

    #[test]
    fn a_changed_byte_is_noticed_wherever_it_is() {
        let tmp = tempfile::tempdir().unwrap();
        let run = made(tmp.path(), (1..=1_000).map(|page| (page << 54, page)).collect());
        let whole = fs::read(run.path()).unwrap();
        assert_eq!((run.len(), whole.len(), run.witness), (1_000, 4 * BLOCK, (1_000 << 54, 1_000)));
        for at in [3, 17, 4_000, BLOCK + 5, 2 * BLOCK - 1, 3 * BLOCK + 4_085] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            fs::write(run.path(), bytes).unwrap();
            let read = KeyRun::open(tmp.path(), run.span).and_then(|run| {
                let mut all = run.entries();
                while all.next()?.is_some() {}
                Ok(())
            });
            assert!(matches!(read, Err(StoreError::Damaged { .. })), "{at}");
        }
        fs::write(run.path(), &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(KeyRun::open(tmp.path(), run.span), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn names_say_which_pages_are_covered() {
        assert_eq!(PageRange::of_name("3-17.run"), Some(PageRange { first: 3, last: 17 }));
        for other in ["3-17.new", "03-17.run", "17-3.run", "0-3.run", "-3.run", "a-b.run", "3-17.run.run"] {
            assert_eq!(PageRange::of_name(other), None, "{other}");
        }
    }
}
