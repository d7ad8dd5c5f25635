//! How are the tables in memory warmed from the tree?
//!
//! Piece by piece in key order: some when the index is opened, and some after every batch, so that
//! a crawl of fifty million URLs resumes at once. Below the key reached so far, a table's answer is
//! final; above it the tree is consulted.

use super::layout::{name_range, parse_number};
use super::{FrontierIndex, KnownKeys, lock};
use crate::error::Result;
use fjall::Keyspace;
use std::ops::Bound;
use std::sync::Mutex;

/// Keys read when the index is opened: some tens of milliseconds.
pub(super) const FIRST: usize = 200_000;
/// Keys read after a batch: a third of a second. Until all are read, a batch looks up tens of
/// thousands on disk, which takes longer.
pub(super) const MORE: usize = 1_000_000;

impl FrontierIndex {
    /// Maximum memory for known keys: about 13 bytes per URL, 13 per fetched page and 13 per host.
    /// What does not fit is looked up on disk.
    pub(crate) fn limit_memory(&self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (digests, names) = (bytes / 12, bytes / 64);
        lock(&self.shared.digests).table.set_limit(digests);
        lock(&self.shared.names).table.set_limit(names);
        lock(&self.shared.seen).table.set_limit(bytes - digests - names);
    }

    /// Clears the tables, which then know nothing of what the tree holds, and the tree is all there
    /// is.
    pub(super) fn cool(&self) {
        for known in [&self.shared.seen, &self.shared.digests, &self.shared.names] {
            let mut known = lock(known);
            known.table.clear();
            known.fresh.clear();
        }
    }

    /// Reads this many more keys, if any are left and there is room.
    pub(super) fn warm(&self, keys: usize) -> Result<()> {
        if [&self.shared.seen, &self.shared.digests, &self.shared.names].iter().all(|t| lock(t).table.is_complete()) {
            return Ok(());
        }
        let spaces = self.spaces()?;
        self.read_on(&self.shared.names, &spaces.host, 1, keys)?;
        self.read_on(&self.shared.digests, &spaces.digest, 0, keys)?;
        self.read_on(&self.shared.seen, &spaces.seen, 0, keys)
    }

    /// Reads the next part of a keyspace into its table; `prefix` is the number of bytes before a
    /// key.
    fn read_on(&self, known: &Mutex<KnownKeys>, space: &Keyspace, prefix: usize, keys: usize) -> Result<()> {
        let table = &mut lock(known).table;
        let Some(from) = table.complete_below() else { return Ok(()) };
        if table.is_full() {
            return Ok(());
        }
        let (first, last) =
            if prefix == 0 { (from.to_be_bytes().to_vec(), vec![u8::MAX; 17]) } else { name_range(from) };
        let (mut read, mut to) = (0, None);
        for entry in space.range::<Vec<u8>, _>((Bound::Included(first), Bound::Included(last))).take(keys) {
            let (key, value) = entry.into_inner().map_err(self.fail("read the known keys"))?;
            let key = key.get(prefix..).and_then(|k| k.try_into().ok()).map(u128::from_be_bytes);
            let (key, number) = key
                .zip(parse_number(&value))
                .ok_or_else(|| self.damaged("an entry of the known keys cannot be read"))?;
            table.put(key, number);
            (read, to) = (read + 1, key.checked_add(1));
        }
        table.set_complete_below(to.filter(|_| read == keys));
        Ok(())
    }
}
