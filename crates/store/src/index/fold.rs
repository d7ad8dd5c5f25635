//! How do changes get into the tree?
//!
//! Not batch by batch: what a batch adds to the seen set, the digests and the queues is kept in
//! memory and folded into the tree at half a million entries, as sorted tables ingested directly,
//! bypassing journal and memtables. A table of random keys is compacted with everything that is
//! there, so few large ones cost a fraction of many small ones: that keeps a page as cheap among
//! fifty million known URLs as among one million. What a crash loses from memory is replayed from
//! the catalogue, which lists what each batch touched (`batch_row`) until it is folded.
//!
//! A few changes, such as those of a run that found little new, go through the journal instead:
//! every table costs eight syncs, one after another, and all of the journal one when it is closed.
//!
//! The order makes it safe. Keys and digests may be in the tree before the mark says so: adding
//! them again is idempotent. The queues, their lengths and the mark are one table, or one batch of
//! the journal, which is there or not.

use super::layout::{FOLDED, count_key, number, parse_queue_key};
use super::spaces::Spaces;
use super::waiting::QueueChanges;
use super::{FrontierIndex, lock, read, write};
use crate::error::Result;
use fjall::{Keyspace, PersistMode};
use std::ops::Bound;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Default number of entries of one kind that trigger a fold.
pub(super) const ENTRIES: usize = 1 << 19;
/// Number of visits that trigger a fold in any case: they bound what must be replayed one by one
/// after a crash.
const VISITS: u64 = 100_000;

/// Up to so many entries are few.
const FEW: usize = 4_096;
/// A journal of this size is read whenever the project is opened, so nothing more goes into it.
const MAX_JOURNAL: u64 = 1 << 20;

/// How changes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoldedBy {
    /// As a table of their own.
    Table,
    /// Through the journal.
    Journal,
}

impl FrontierIndex {
    /// Folds if enough has accumulated.
    pub(super) fn fold_if_due(&self) -> Result<()> {
        let most = self.shared.fold_at.load(Ordering::Relaxed);
        // Released first: a guard in the condition would be held while the others are taken.
        let visits = lock(&self.shared.state).visits;
        let due = visits >= VISITS
            || read(&self.shared.waiting).len() >= most
            || [&self.shared.seen, &self.shared.digests].iter().any(|known| lock(known).fresh.len() >= most);
        if due { self.fold() } else { Ok(()) }
    }

    /// Writes what the tree does not have yet.
    pub(super) fn fold(&self) -> Result<()> {
        let mark = {
            let state = lock(&self.shared.state);
            if state.mark == state.folded {
                return Ok(());
            }
            state.mark
        };
        let spaces = self.spaces()?;
        self.stage("before-fold")?;
        let by = self.way_of_folding(&spaces)?;
        if by == FoldedBy::Table {
            // The hosts must not be behind the mark of the queues. In the journal they are before
            // it.
            spaces.db.persist(PersistMode::SyncAll).map_err(self.fail("write"))?;
        }
        self.fold_keys(&self.shared.seen, &spaces.seen, by)?;
        self.fold_keys(&self.shared.digests, &spaces.digest, by)?;
        self.stage("during-fold")?;
        {
            let waiting = read(&self.shared.waiting);
            let (lengths, known): (Vec<_>, _) = {
                let state = lock(&self.shared.state);
                let length = |(host, count)| (count_key(host), (count > 0).then(|| number(count)));
                (state.hosts.changed().map(length).collect(), state.folded.next_page)
            };
            // A removal needs no tombstone if the tree cannot contain the entry.
            let entries = waiting.range((Bound::Unbounded, Bound::Unbounded));
            let entries = entries.filter(|(place, there)| *there || parse_queue_key(place).2.0 < known);
            let entries = entries.map(|(place, there)| (place, there.then(Vec::new)));
            let mark = [(FOLDED, Some(mark.encode().to_vec()))];
            self.write_entries(&spaces.queue, lengths.into_iter().chain(mark).chain(entries), by)?;
            if by == FoldedBy::Journal {
                // The catalogue forgets what it has listed for a replay.
                spaces.db.persist(PersistMode::SyncAll).map_err(self.fail("write"))?;
            }
        }
        {
            // Both change atomically for readers: they look at the mark while they hold the
            // changes.
            let mut waiting = write(&self.shared.waiting);
            lock(&self.shared.ahead).follow(&waiting);
            *waiting = QueueChanges::default();
            let mut state = lock(&self.shared.state);
            (state.folded, state.visits) = (mark, 0);
            state.hosts.folded();
        }
        for known in [&self.shared.seen, &self.shared.digests] {
            lock(known).fresh.clear();
        }
        self.stage("after-fold")
    }

    fn way_of_folding(&self, spaces: &Spaces) -> Result<FoldedBy> {
        let keys = [&self.shared.seen, &self.shared.digests].map(|known| lock(known).fresh.len());
        let entries = keys.iter().sum::<usize>()
            + read(&self.shared.waiting).len()
            + lock(&self.shared.state).hosts.changed().count();
        if entries > FEW {
            return Ok(FoldedBy::Table);
        }
        let journal = spaces.db.journal_disk_space().map_err(self.fail("examine the journal"))?;
        Ok(if journal > MAX_JOURNAL { FoldedBy::Table } else { FoldedBy::Journal })
    }

    fn fold_keys(&self, known: &Mutex<super::KnownKeys>, space: &Keyspace, by: FoldedBy) -> Result<()> {
        let mut known = lock(known);
        let entries = known.fresh.in_order().map(|(key, n)| (key.to_be_bytes(), Some(number(n))));
        self.write_entries(space, entries, by)
    }

    /// Writes sorted entries; those without a value are deleted.
    fn write_entries<const N: usize>(
        &self,
        space: &Keyspace,
        entries: impl Iterator<Item = ([u8; N], Option<Vec<u8>>)>,
        by: FoldedBy,
    ) -> Result<()> {
        if by == FoldedBy::Table {
            return self.ingest(space, entries);
        }
        let mut batch = self.spaces()?.db.batch();
        for (key, value) in entries {
            match value {
                Some(value) => batch.insert(space, key, value),
                None => batch.remove(space, key),
            }
        }
        batch.commit().map_err(self.fail("write"))
    }

    /// Ingests sorted entries as a table; entries without a value are deleted.
    pub(super) fn ingest<const N: usize>(
        &self,
        space: &Keyspace,
        entries: impl Iterator<Item = ([u8; N], Option<Vec<u8>>)>,
    ) -> Result<()> {
        let fail = self.fail("write a table");
        let mut entries = entries.peekable();
        if entries.peek().is_none() {
            return Ok(());
        }
        let mut ingestion = space.start_ingestion().map_err(&fail)?;
        for (key, value) in entries {
            match value {
                Some(value) => ingestion.write(key, value).map_err(&fail)?,
                None => ingestion.write_tombstone(key).map_err(&fail)?,
            }
        }
        ingestion.finish().map_err(&fail)
    }
}
