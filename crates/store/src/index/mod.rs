//! Which URLs are known, and what is queued?
//!
//! The frontier index is an LSM tree (fjall) beside the catalogue: the seen set, the first page of
//! each digest, a queue per host. Everything in it is derived from the catalogue, batch by batch;
//! an index that does not match the catalogue's history is discarded and rebuilt. Hosts are written
//! with every batch and its watermark, without fsync: after a power cut they may be behind, and
//! catch up. The rest is kept in memory until there is enough for large tables (`fold`), and
//! replayed from the catalogue after a crash.
//!
//! Memory: bounded tables in front of the tree, half a million unfolded changes, the read-ahead of
//! queues, and 24 bytes for each host whose number is near that of one with queued pages.

mod adopt;
mod ahead;
mod apply;
mod bucket;
mod fold;
mod follow;
mod fresh;
mod intact;
mod layout;
mod lengths;
mod open;
mod parked;
mod pieces;
mod rebuild;
mod runs;
mod sound;
mod spaces;
mod table;
mod varint;
mod verify;
mod waiting;
mod warm;

use crate::QueueLengths;
use crate::error::{Result, StoreError};
use crate::sqlite::PageReader;
use ahead::Ahead;
use fjall::Keyspace;
use fresh::KnownKeys;
pub(crate) use layout::name_key;
use layout::{RECORD, ROBOTS};
use lengths::Lengths;
pub(crate) use open::IndexFreshness;
pub use open::{IndexDefect, IndexStart};
use orb_page::{HostId, PageId, UrlKey};
use parked::ParkedPages;
pub(crate) use parked::is_parked;
use spaces::Spaces;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use table::TableLookup;
pub(crate) use varint::{put_varint, take_varint};
use waiting::QueueChanges;

/// The seen set and the queues. A handle: clones share one index and may be used from several
/// threads.
#[derive(Clone)]
pub(crate) struct FrontierIndex {
    shared: Arc<IndexShared>,
}

struct IndexShared {
    dir: PathBuf,
    /// `None` only if reopening it has failed.
    spaces: RwLock<Option<Spaces>>,
    state: Mutex<QueueState>,
    seen: Mutex<KnownKeys>,
    digests: Mutex<KnownKeys>,
    names: Mutex<KnownKeys>,
    parked: Mutex<ParkedPages>,
    /// Changes of the queues since the last fold. Locked before `state` if both are needed.
    waiting: RwLock<QueueChanges>,
    /// The read-ahead of the tree's queues. Used while holding `waiting`.
    ahead: Mutex<Ahead>,
    /// Reads the details of queued pages; `None` once the index is closed.
    pages: Mutex<Option<PageReader>>,
    /// Number of entries that trigger a fold.
    fold_at: AtomicUsize,
}

/// What is kept in memory about the queues.
#[derive(Default)]
struct QueueState {
    mark: layout::IndexMark,
    /// The mark of the last fold.
    folded: layout::IndexMark,
    /// Visits since then.
    visits: u64,
    hosts: Lengths,
    /// Ranks and pages of entries read and not yet removed, so that removing them needs no look-up.
    /// At most [`PEEKED`].
    peeked: HashSet<(u64, u64)>,
}

/// Maximum entries remembered as read.
const PEEKED: usize = 1 << 18;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl FrontierIndex {
    fn spaces(&self) -> Result<Spaces> {
        let spaces = read(&self.shared.spaces);
        // Closed while in use, it waits for disk space to be reopened.
        spaces.clone().ok_or_else(|| StoreError::NoSpace { path: self.shared.dir.clone() })
    }

    fn fail(&self, what: &'static str) -> impl Fn(fjall::Error) -> StoreError {
        let dir = self.shared.dir.clone();
        move |e| {
            let error = StoreError::index(what, &dir, e);
            if !matches!(error, StoreError::NoSpace { .. }) {
                open::suspect(&dir);
            }
            error
        }
    }

    /// A fault injection point.
    fn stage(&self, point: &'static str) -> Result<()> {
        crate::fault::point(point).map_err(|e| StoreError::io("write", &self.shared.dir, e))
    }

    fn damaged(&self, what: &str) -> StoreError {
        open::suspect(&self.shared.dir);
        StoreError::damaged(&self.shared.dir, what)
    }

    /// The numbers of the pages with these URLs, as far as they are committed.
    pub(crate) fn seen(&self, keys: &[UrlKey]) -> Result<Vec<Option<PageId>>> {
        let known = &mut *lock(&self.shared.seen);
        known.table.fetch(keys.iter().map(|k| k.0));
        let mut spaces = None;
        let mut out = Vec::with_capacity(keys.len());
        for key in keys {
            let answer = match known.table.get(key.0) {
                TableLookup::Known(n) => Some(n),
                TableLookup::Unknown => None,
                TableLookup::Ask => {
                    let space = match &spaces {
                        Some(space) => space,
                        None => spaces.insert(self.spaces()?.seen),
                    };
                    self.ask(known, key.0, space, &key.0.to_be_bytes())?
                }
            };
            out.push(answer.map(PageId));
        }
        Ok(out)
    }

    /// The page that first had this content.
    pub(crate) fn digest_first(&self, digest: &[u8; 32]) -> Result<Option<PageId>> {
        let key = layout::digest_key(digest);
        let found = self.cached(&self.shared.digests, key, |s| s.digest.clone(), &key.to_be_bytes())?;
        Ok(found.map(PageId))
    }

    /// The number of a host.
    pub(crate) fn host_id(&self, scheme: &str, name: &str, port: u16) -> Result<Option<HostId>> {
        self.host_at(name_key(scheme, name, port))
    }

    /// The number of the host whose name has this key.
    pub(crate) fn host_at(&self, key: u128) -> Result<Option<HostId>> {
        let found = self.cached(&self.shared.names, key, |s| s.host.clone(), &layout::name_slot(key))?;
        Ok(found.and_then(|n| u32::try_from(n).ok()).map(HostId))
    }

    fn cached(
        &self,
        known: &Mutex<KnownKeys>,
        key: u128,
        space: impl Fn(&Spaces) -> Keyspace,
        slot: &[u8],
    ) -> Result<Option<u64>> {
        let mut known = lock(known);
        match known.table.get(key) {
            TableLookup::Known(n) => Ok(Some(n)),
            TableLookup::Unknown => Ok(None),
            TableLookup::Ask => self.ask(&mut known, key, &space(&self.spaces()?), slot),
        }
    }

    /// Looks up a key below the table.
    fn ask(&self, known: &mut KnownKeys, key: u128, space: &Keyspace, slot: &[u8]) -> Result<Option<u64>> {
        let found = match known.fresh.get(key) {
            Some(n) => Some(n),
            None => self.number_at(space, slot)?,
        };
        if let Some(n) = found {
            known.table.put(key, n);
        }
        Ok(found)
    }

    /// The number of a key, ignoring the table.
    fn number_below(&self, known: &Mutex<KnownKeys>, space: &Keyspace, key: u128) -> Result<Option<u64>> {
        match lock(known).fresh.get(key) {
            Some(n) => Ok(Some(n)),
            None => self.number_at(space, &key.to_be_bytes()),
        }
    }

    fn number_at(&self, space: &Keyspace, key: &[u8]) -> Result<Option<u64>> {
        let Some(value) = space.get(key).map_err(self.fail("look up a key"))? else { return Ok(None) };
        layout::parse_number(&value).map(Some).ok_or_else(|| self.damaged("a number cannot be read"))
    }
}

impl QueueLengths for FrontierIndex {
    fn queued_of(&self, host: HostId) -> u64 {
        lock(&self.shared.state).hosts.get(host.0).map_or(0, |p| p.count)
    }

    fn longest(&self, most: usize) -> Vec<(HostId, u64)> {
        let mut longest = BinaryHeap::with_capacity(most.min(1_024) + 1);
        for (host, pending) in lock(&self.shared.state).hosts.each() {
            // The top of the heap is the shortest queue, and among equals the host with the highest
            // number.
            let here = (Reverse(pending.count), host);
            if longest.len() < most {
                longest.push(here);
            } else if let Some(mut shortest) = longest.peek_mut().filter(|shortest| here < **shortest) {
                *shortest = here;
            }
        }
        longest.into_sorted_vec().into_iter().map(|(Reverse(count), host)| (HostId(host), count)).collect()
    }
}

impl FrontierIndex {
    /// Changes how many entries trigger a fold.
    pub(crate) fn fold_at(&self, entries: usize) {
        self.shared.fold_at.store(entries, std::sync::atomic::Ordering::Relaxed);
    }

    /// The last folded batch: the catalogue must keep listing what later ones touched.
    pub(crate) fn folded(&self) -> u64 {
        lock(&self.shared.state).folded.watermark.no
    }

    /// Number of known URLs.
    pub(crate) fn known(&self) -> u64 {
        lock(&self.shared.state).mark.seen
    }
}

/// The range of keys with a leading letter in the `host` space.
fn letter_range(letter: u8) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    debug_assert!([RECORD, ROBOTS, layout::PARKED].contains(&letter));
    (Bound::Included(vec![letter]), Bound::Excluded(vec![letter + 1]))
}
