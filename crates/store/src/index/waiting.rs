//! Which pages wait, in which order?
//!
//! A host's queue is what the tree holds, changed by what the batches since the last fold put in and took out, which is kept in
//! memory. An entry is a place in the order and nothing else; what there is to say of the page is read from the catalogue when its turn comes,
//! so that the tree, which is rewritten now and then, stays small.

use super::layout::{self, Place};
use super::{FrontierIndex, lock, read};
use crate::error::{Result, StoreError};
use crate::sqlite::Watermark;
use crate::{HostRecord, Queued, Queues};
use fjall::Keyspace;
use orb_page::{HostId, PageId};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// What the queues have become since the last fold.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Entries put in (`true`) or taken out.
    pub(super) changes: BTreeMap<Place, bool>,
    /// Hosts whose queues have another length now.
    pub(super) hosts: BTreeSet<u32>,
}

/// The entries of a range of places as the tree and what changed since say it.
struct Places<'a> {
    changes: std::iter::Peekable<std::collections::btree_map::Range<'a, Place, bool>>,
    stored: Option<fjall::Iter>,
    next: Option<Place>,
    index: &'a FrontierIndex,
}

impl<'a> Places<'a> {
    fn new(
        index: &'a FrontierIndex,
        waiting: &'a Waiting,
        tree: Option<&Keyspace>,
        range: (Bound<Place>, Bound<Place>),
    ) -> Result<Self> {
        let changes = waiting.changes.range(range).peekable();
        let mut places = Self { changes, stored: tree.map(|tree| tree.range(range)), next: None, index };
        places.read_on()?;
        Ok(places)
    }

    fn read_on(&mut self) -> Result<()> {
        self.next = match self.stored.as_mut().and_then(Iterator::next) {
            Some(entry) => {
                let key = entry.key().map_err(self.index.fail("read a queue"))?;
                let place = (*key).try_into().map_err(|_| self.index.damaged("a queue entry cannot be read"))?;
                Some(place)
            }
            None => None,
        };
        Ok(())
    }

    /// The next entry that is there.
    fn advance(&mut self) -> Result<Option<Place>> {
        loop {
            let order = match (self.changes.peek(), &self.next) {
                (None, None) => return Ok(None),
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((changed, _)), Some(stored)) => (*changed).cmp(stored),
            };
            let stored = self.next;
            if order.is_ge() {
                self.read_on()?;
            }
            if order.is_gt() {
                return Ok(stored);
            }
            if let Some((place, true)) = self.changes.next() {
                return Ok(Some(*place));
            }
        }
    }
}

impl FrontierIndex {
    /// Gives every entry of every queue in order.
    pub(super) fn each_waiting(&self, mut each: impl FnMut(Place) -> Result<()>) -> Result<()> {
        let (spaces, waiting) = (self.spaces()?, read(&self.shared.waiting));
        let all = (Bound::Included(layout::queue_key(HostId(1), 0, PageId(0))), Bound::Unbounded);
        let mut places = Places::new(self, &waiting, Some(&spaces.queue), all)?;
        while let Some(place) = places.advance()? {
            each(place)?;
        }
        Ok(())
    }

    /// Whether an entry is in its queue.
    pub(super) fn holds(&self, tree: &Keyspace, place: &Place) -> Result<bool> {
        match read(&self.shared.waiting).changes.get(place) {
            Some(there) => Ok(*there),
            None => tree.contains_key(place).map_err(self.fail("look into a queue")),
        }
    }

    /// The first places of a host's queue, from one on.
    fn places(&self, host: HostId, from: Bound<Place>, limit: usize) -> Result<Vec<Place>> {
        let to = Bound::Included(layout::queue_key(host, u64::MAX, PageId(u64::MAX)));
        let spaces = self.spaces()?;
        let waiting = read(&self.shared.waiting);
        let folded = host.0 < lock(&self.shared.state).folded.next_host;
        let mut places = Places::new(self, &waiting, folded.then_some(&spaces.queue), (from, to))?;
        let mut out = Vec::with_capacity(limit.min(1_024));
        while out.len() < limit
            && let Some(place) = places.advance()?
        {
            out.push(place);
        }
        Ok(out)
    }

    /// Notes what was read, and the first entry found, unless a batch has come in meanwhile, which may have put something before it
    /// or taken something out.
    fn note_peeked(&self, host: HostId, batch: Watermark, first: Option<(u64, u64)>, read: &[Queued]) {
        let mut state = lock(&self.shared.state);
        if state.mark.watermark != batch {
            return;
        }
        if state.peeked.len() + read.len() > super::PEEKED {
            state.peeked.clear();
        }
        state.peeked.extend(read.iter().map(|q| (q.rank, q.page.0)));
        if let (Some(pending), Some(first)) = (state.hosts.get_mut(&host.0), first) {
            pending.front = first;
        }
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
        let from = match after {
            Some((rank, page)) if (rank, page.0) >= pending.front => {
                Bound::Excluded(layout::queue_key(host, rank, page))
            }
            _ => Bound::Included(layout::queue_key(host, pending.front.0, PageId(pending.front.1))),
        };
        let limit = limit.min(usize::try_from(pending.count).unwrap_or(usize::MAX));
        let places = self.places(host, from, limit)?;
        let places: Vec<(u64, PageId)> = places.iter().map(layout::parse_queue_key).map(|(_, r, p)| (r, p)).collect();
        let out = match &*lock(&self.shared.pages) {
            Some(pages) => pages.queued(&places)?,
            None => return Err(StoreError::NoSpace { path: self.shared.dir.clone() }),
        };
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
        lock(&self.shared.state).queued
    }
}
