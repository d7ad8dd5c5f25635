//! Which URLs are known, and what waits?
//!
//! The frontier index is a log-structured tree (fjall) beside the catalogue: the seen set, the first page of each digest, a queue for each
//! host. Everything in it is derived from the catalogue, batch by batch, with a watermark in the same atomic write; what does not fit the
//! catalogue's history is thrown away and rebuilt. It is written without fsync: after a power cut it may be behind, and catches up.
//!
//! Memory: bounded tables before the tree, small memtables in it, and some 40 bytes for each host that has queued pages.

mod apply;
mod intact;
mod layout;
mod open;
mod parked;
mod rebuild;
mod sound;
mod spaces;
mod table;
mod varint;
mod verify;
mod warm;

use crate::error::{Result, StoreError};
use crate::sqlite::Watermark;
use crate::{HostRecord, Queued, Queues};
use fjall::Keyspace;
use layout::{PENDING, RECORD, ROBOTS};
pub use open::IndexStart;
pub(crate) use open::{AHEAD, Standing};
use orb_page::{HostId, PageId, UrlKey};
use parked::Parked;
pub(crate) use parked::is_parked;
use spaces::Spaces;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use table::{Answer, KeyTable};
pub(crate) use varint::{put_varint, take_varint};

/// The seen set and the queues. A handle: clones share one index, and may be used from several threads.
#[derive(Clone)]
pub struct FrontierIndex {
    shared: Arc<Shared>,
}

struct Shared {
    dir: PathBuf,
    /// `None` only where opening it again has failed.
    spaces: RwLock<Option<Spaces>>,
    state: Mutex<State>,
    seen: Mutex<KeyTable>,
    digests: Mutex<KeyTable>,
    names: Mutex<KeyTable>,
    parked: Mutex<Parked>,
}

/// What is kept in memory of the queues.
#[derive(Default)]
struct State {
    mark: layout::Mark,
    queued: u64,
    hosts: BTreeMap<u32, Pending>,
    /// Ranks and pages of entries read and not yet taken out, so that taking them out needs no look. Not more than [`PEEKED`].
    peeked: HashSet<(u64, u64)>,
}

/// Entries remembered as read.
const PEEKED: usize = 1 << 18;

/// The queue of one host: how long it is, and a place before which it is known to be empty, so that the marks left by
/// finished pages are stepped over once and not at every look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pending {
    count: u64,
    front: (u64, u64),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FrontierIndex {
    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.shared.dir
    }

    fn spaces(&self) -> Result<Spaces> {
        let spaces = self.shared.spaces.read().unwrap_or_else(PoisonError::into_inner);
        // Closed while it is in use, it waits for room to be opened again.
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

    /// A point where a crash or a failure may be staged.
    fn stage(&self, point: &'static str) -> Result<()> {
        crate::fault::point(point).map_err(|e| StoreError::io("write", &self.shared.dir, e))
    }

    fn damaged(&self, what: &str) -> StoreError {
        open::suspect(&self.shared.dir);
        StoreError::damaged(&self.shared.dir, what)
    }

    /// The numbers of the pages with these URLs, as far as they are committed.
    pub fn seen(&self, keys: &[UrlKey]) -> Result<Vec<Option<PageId>>> {
        let mut cache = lock(&self.shared.seen);
        cache.fetch(keys.iter().map(|k| k.0));
        let mut spaces = None;
        let mut out = Vec::with_capacity(keys.len());
        for key in keys {
            let answer = match cache.get(key.0) {
                Answer::Known(n) => Some(n),
                Answer::Unknown => None,
                Answer::Ask => {
                    let space = match &spaces {
                        Some(space) => space,
                        None => spaces.insert(self.spaces()?.seen),
                    };
                    let found = self.number_at(space, &key.0.to_be_bytes())?;
                    if let Some(n) = found {
                        cache.put(key.0, n);
                    }
                    found
                }
            };
            out.push(answer.map(PageId));
        }
        Ok(out)
    }

    /// The page that first had this content.
    pub fn digest_first(&self, digest: &[u8; 32]) -> Result<Option<PageId>> {
        let key = layout::digest_key(digest);
        let found = self.cached(&self.shared.digests, key, |s| s.digest.clone(), &key.to_be_bytes())?;
        Ok(found.map(PageId))
    }

    /// The number of a host.
    pub fn host_id(&self, scheme: &str, name: &str, port: u16) -> Result<Option<HostId>> {
        let key = layout::name_key(scheme, name, port);
        let found = self.cached(&self.shared.names, key, |s| s.host.clone(), &layout::name_slot(key))?;
        Ok(found.and_then(|n| u32::try_from(n).ok()).map(HostId))
    }

    fn cached(
        &self,
        cache: &Mutex<KeyTable>,
        key: u128,
        space: impl Fn(&Spaces) -> Keyspace,
        slot: &[u8],
    ) -> Result<Option<u64>> {
        let mut cache = lock(cache);
        match cache.get(key) {
            Answer::Known(n) => Ok(Some(n)),
            Answer::Unknown => Ok(None),
            Answer::Ask => {
                let found = self.number_at(&space(&self.spaces()?), slot)?;
                if let Some(n) = found {
                    cache.put(key, n);
                }
                Ok(found)
            }
        }
    }

    fn number_at(&self, space: &Keyspace, key: &[u8]) -> Result<Option<u64>> {
        let Some(value) = space.get(key).map_err(self.fail("look up a key"))? else { return Ok(None) };
        layout::parse_number(&value).map(Some).ok_or_else(|| self.damaged("a number cannot be read"))
    }
}

impl Queues for FrontierIndex {
    type Error = StoreError;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>> {
        let (pending, batch) = {
            let state = lock(&self.shared.state);
            let Some(pending) = state.hosts.get(&host.0).copied() else { return Ok(Vec::new()) };
            (pending, state.mark.watermark)
        };
        let front = Bound::Included(layout::queue_key(host, pending.front.0, PageId(pending.front.1)));
        let from = match after {
            Some((rank, page)) if (rank, page.0) >= pending.front => {
                Bound::Excluded(layout::queue_key(host, rank, page))
            }
            _ => front,
        };
        let to = Bound::Included(layout::queue_key(host, u64::MAX, PageId(u64::MAX)));
        let limit_here = limit.min(usize::try_from(pending.count).unwrap_or(usize::MAX));
        let mut out = Vec::with_capacity(limit_here.min(1_024));
        for entry in self.spaces()?.queue.range::<[u8; 20], _>((from, to)).take(limit_here) {
            let (key, value) = entry.into_inner().map_err(self.fail("read a queue"))?;
            out.push(layout::parse_queued(&key, &value).ok_or_else(|| self.damaged("a queue entry cannot be read"))?);
        }
        let first = out.first().filter(|_| after.is_none()).map(|q| (q.rank, q.page.0));
        self.note_peeked(host, batch, first, &out);
        Ok(out)
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>> {
        let state = lock(&self.shared.state);
        Ok(state.hosts.range((Bound::Excluded(after.0), Bound::Unbounded)).next().map(|(id, _)| HostId(*id)))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>> {
        let space = self.spaces()?.host;
        let Some(value) = space.get(layout::host_slot(RECORD, id)).map_err(self.fail("read a host"))? else {
            return Ok(None);
        };
        let mut record = layout::parse_host(id, &value).ok_or_else(|| self.damaged("a host cannot be read"))?;
        if let Some(value) = space.get(layout::host_slot(ROBOTS, id)).map_err(self.fail("read a host"))? {
            record.robots =
                Some(layout::parse_robots(&value).ok_or_else(|| self.damaged("a robots.txt cannot be read"))?);
        }
        Ok(Some(record))
    }

    fn queued(&self) -> u64 {
        lock(&self.shared.state).queued
    }
}

impl FrontierIndex {
    /// Notes what was read, and the first entry found, unless a batch has come in meanwhile, which may have put something before it
    /// or taken something out.
    fn note_peeked(&self, host: HostId, batch: Watermark, first: Option<(u64, u64)>, read: &[Queued]) {
        let mut state = lock(&self.shared.state);
        if state.mark.watermark != batch {
            return;
        }
        if state.peeked.len() + read.len() > PEEKED {
            state.peeked.clear();
        }
        state.peeked.extend(read.iter().map(|q| (q.rank, q.page.0)));
        if let (Some(pending), Some(first)) = (state.hosts.get_mut(&host.0), first) {
            pending.front = first;
        }
    }

    /// How many pages of a host are queued.
    pub fn queued_of(&self, host: HostId) -> u64 {
        lock(&self.shared.state).hosts.get(&host.0).map_or(0, |p| p.count)
    }

    /// The hosts with the longest queues, longest first.
    pub fn longest(&self, most: usize) -> Vec<(HostId, u64)> {
        let mut longest = BinaryHeap::with_capacity(most.min(1_024) + 1);
        for (host, pending) in &lock(&self.shared.state).hosts {
            // The heap's greatest is the shortest queue, and of equals the host that came last.
            let here = (Reverse(pending.count), *host);
            if longest.len() < most {
                longest.push(here);
            } else if let Some(mut shortest) = longest.peek_mut().filter(|shortest| here < **shortest) {
                *shortest = here;
            }
        }
        longest.into_sorted_vec().into_iter().map(|(Reverse(count), host)| (HostId(host), count)).collect()
    }

    /// How many URLs are known.
    pub fn known(&self) -> u64 {
        lock(&self.shared.state).mark.seen
    }
}

/// The first and last key that begin with a letter in the `host` space.
fn letter_range(letter: u8) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    debug_assert!([RECORD, ROBOTS, PENDING, layout::PARKED].contains(&letter));
    (Bound::Included(vec![letter]), Bound::Excluded(vec![letter + 1]))
}
