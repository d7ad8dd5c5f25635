//! Which pages are queued, in which order?
//!
//! A host's queue is what the tree holds, modified by the inserts and removals since the last fold,
//! which are in memory. An entry is a position in the order and nothing else; the page's details
//! are read from the catalogue when it is due, so the tree, which is rewritten by compaction, stays
//! small. The tree is read ahead (`ahead`).

use super::ahead::{GOING_ON, QueueReader};
use super::layout::{self, QueueKey};
use super::runs::Runs;
use super::{FrontierIndex, lock, read};
use crate::error::{Result, StoreError};
use crate::sqlite::Watermark;
use crate::{HostRecord, Queued, Queues};
use fjall::Keyspace;
use orb_page::{HostId, PageId};
use std::cmp::Ordering;
use std::ops::Bound;

/// A position in a queue, and whether the entry was inserted or removed.
pub(super) type QueueEdit = (QueueKey, bool);

/// Changes of the queues since the last fold.
pub(super) type QueueChanges = Runs<QueueKey, bool>;

/// The entries in a range of positions, merged from the tree and the changes since.
struct QueueMerge<C: Iterator<Item = QueueEdit>, S: Iterator<Item = Result<QueueKey>>> {
    changes: std::iter::Peekable<C>,
    stored: S,
    next: Option<QueueKey>,
}

impl<C: Iterator<Item = QueueEdit>, S: Iterator<Item = Result<QueueKey>>> QueueMerge<C, S> {
    fn new(changes: C, mut stored: S) -> Result<Self> {
        let next = stored.next().transpose()?;
        Ok(Self { changes: changes.peekable(), stored, next })
    }

    /// The next existing entry.
    fn advance(&mut self) -> Result<Option<QueueKey>> {
        loop {
            let order = match (self.changes.peek(), &self.next) {
                (None, None) => return Ok(None),
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((changed, _)), Some(stored)) => changed.cmp(stored),
            };
            let stored = self.next;
            if order.is_ge() {
                self.next = self.stored.next().transpose()?;
            }
            if order.is_gt() {
                return Ok(stored);
            }
            if let Some((place, true)) = self.changes.next() {
                return Ok(Some(place));
            }
        }
    }
}

impl FrontierIndex {
    /// Calls back with every entry of every queue in order.
    pub(super) fn each_waiting(&self, mut each: impl FnMut(QueueKey) -> Result<()>) -> Result<()> {
        let (spaces, waiting) = (self.spaces()?, read(&self.shared.waiting));
        let all = (Bound::Included(layout::queue_key(HostId(1), 0, PageId(0))), Bound::Unbounded);
        let mut places =
            QueueMerge::new(waiting.range(all), spaces.queue.range(all).map(|entry| self.place_of(entry)))?;
        while let Some(place) = places.advance()? {
            each(place)?;
        }
        Ok(())
    }

    /// Whether an entry is in its queue.
    pub(super) fn holds(&self, tree: &Keyspace, place: &QueueKey) -> Result<bool> {
        match read(&self.shared.waiting).get(place) {
            Some(there) => Ok(there),
            None => tree.contains_key(place).map_err(self.fail("look into a queue")),
        }
    }

    /// The position of a tree entry.
    pub(super) fn place_of(&self, entry: fjall::Guard) -> Result<QueueKey> {
        let key = entry.key().map_err(self.fail("read a queue"))?;
        (*key).try_into().map_err(|_| self.damaged("a queue entry cannot be read"))
    }

    /// The first positions of a host's queue, from one on; `first` is how many to read if there is
    /// no read-ahead.
    fn places(&self, host: HostId, from: Bound<(u64, u64)>, limit: usize, first: usize) -> Result<Vec<(u64, PageId)>> {
        let key = |(rank, page)| layout::queue_key(host, rank, PageId(page));
        let spaces = self.spaces()?;
        // The read-ahead is valid as long as nothing is folded.
        let waiting = read(&self.shared.waiting);
        let folded = host.0 < lock(&self.shared.state).folded.next_host;
        let mut stored = folded.then(|| QueueReader::new(self, &spaces.queue, host, from, first)).transpose()?;
        let changes = waiting.range((from.map(key), Bound::Included(key((u64::MAX, u64::MAX)))));
        let mut places = QueueMerge::new(changes, stored.iter_mut().flatten())?;
        let mut out = Vec::with_capacity(limit.min(1_024));
        while out.len() < limit
            && let Some(place) = places.advance()?
        {
            let (_, rank, page) = layout::parse_queue_key(&place);
            out.push((rank, page));
        }
        if let (Some(stored), Some((rank, page))) = (stored, out.last()) {
            stored.keep((*rank, page.0));
        }
        Ok(out)
    }

    /// Records what was read, and the first entry found, unless a batch was applied meanwhile,
    /// which may have inserted something before it or removed something.
    fn note_peeked(&self, host: HostId, batch: Watermark, first: Option<(u64, u64)>, read: &[Queued]) {
        let mut state = lock(&self.shared.state);
        if state.mark.watermark != batch {
            return;
        }
        if state.peeked.len() + read.len() > super::PEEKED {
            state.peeked.clear();
        }
        state.peeked.extend(read.iter().map(|q| (q.rank, q.page.0)));
        if let Some(first) = first {
            state.hosts.set_front(host.0, first);
        }
    }
}

impl Queues for FrontierIndex {
    type Error = StoreError;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>> {
        let (pending, batch) = {
            let state = lock(&self.shared.state);
            let Some(pending) = state.hosts.get(host.0) else { return Ok(Vec::new()) };
            (pending, state.mark.watermark)
        };
        let from = match after {
            Some((rank, page)) if (rank, page.0) >= pending.front => Bound::Excluded((rank, page.0)),
            _ => Bound::Included(pending.front),
        };
        let limit = limit.min(usize::try_from(pending.count).unwrap_or(usize::MAX));
        // A reader at the front may start again: the next batch can insert something before all
        // this.
        let first = if after.is_some() { GOING_ON } else { (2 * limit).max(1) };
        let places = self.places(host, from, limit, first)?;
        let out = match &*lock(&self.shared.pages) {
            Some(pages) => pages.queued(&places)?,
            None => return Err(StoreError::NoSpace { path: self.shared.dir.clone() }),
        };
        let first = out.first().filter(|_| after.is_none()).map(|q| (q.rank, q.page.0));
        self.note_peeked(host, batch, first, &out);
        Ok(out)
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>> {
        Ok(lock(&self.shared.state).hosts.next_after(after.0).map(HostId))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>> {
        let space = self.spaces()?.host;
        let Some(value) = space.get(layout::host_slot(layout::RECORD, id)).map_err(self.fail("read a host"))? else {
            return Ok(None);
        };
        let mut record = layout::parse_host(id, &value).ok_or_else(|| self.damaged("a host cannot be read"))?;
        if let Some(value) = space.get(layout::host_slot(layout::ROBOTS, id)).map_err(self.fail("read a host"))? {
            record.robots =
                Some(layout::parse_robots(&value).ok_or_else(|| self.damaged("a robots.txt cannot be read"))?);
        }
        Ok(Some(record))
    }

    fn queued(&self) -> u64 {
        lock(&self.shared.state).hosts.queued()
    }
}
