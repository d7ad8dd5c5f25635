//! Who reads the letters to our shards?
//!
//! A thread with a connection of its own hands them to the recorder. A letter stays in the store
//! until the batch that has digested it is committed, which may take seconds; no more are read
//! meanwhile than fit into memory, however many bundles these are.

use super::clerk::HeldShards;
use crate::record::Item;
use crate::shared::Stop;
use crossbeam_channel::{Receiver, Sender};
use orb_store::{LetterBundle, LetterId, Mailbox, StoreError};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How often letters are looked for when there are none.
const EVERY: Duration = Duration::from_millis(200);

/// Bytes of letters read at once, as they are stored.
const BYTES: usize = 1 << 20;

/// Bytes of letters that the recorder may have without having committed them: some 250,000.
const MOST_OPEN: usize = 32 << 20;

/// What the postman works with.
pub(super) struct Post {
    pub(super) mailbox: Mailbox,
    pub(super) held: Arc<HeldShards>,
    pub(super) recorder: Sender<Item>,
    pub(super) settled: Receiver<Vec<LetterId>>,
    pub(super) stop: Arc<Stop>,
}

/// Bundles that the recorder has and no commit has deleted.
#[derive(Default)]
struct OpenLetters {
    sizes: HashMap<LetterId, usize>,
    bytes: usize,
}

impl OpenLetters {
    fn deliver(&mut self, bundles: &[LetterBundle]) {
        for bundle in bundles {
            let before = self.sizes.insert(bundle.id, bundle.bytes).unwrap_or(0);
            self.bytes = self.bytes - before + bundle.bytes;
        }
    }

    fn settle(&mut self, read: &[LetterId]) {
        self.bytes -= read.iter().filter_map(|id| self.sizes.remove(id)).sum::<usize>();
    }

    fn are_enough(&self) -> bool {
        self.bytes >= MOST_OPEN
    }
}

impl Post {
    /// Delivers until this incarnation is asked to stop.
    pub(super) fn run(mut self) -> Result<(), StoreError> {
        let mut open = OpenLetters::default();
        while !self.stop.is_set() {
            while let Ok(read) = self.settled.try_recv() {
                open.settle(&read);
                self.mailbox.settle(&read);
            }
            let held = self.held.get();
            let full = held.is_empty() || open.are_enough();
            let read = if full { Ok(Vec::new()) } else { self.mailbox.read(&held, BYTES) };
            let deliveries = match read {
                // The clerk says so.
                Err(StoreError::StoreAway { .. }) => Vec::new(),
                read => read?,
            };
            if deliveries.is_empty() {
                self.stop.wait(EVERY);
                continue;
            }
            open.deliver(&deliveries);
            let _ = self.recorder.send(Item::Letters(deliveries));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::{ShardId, WorkerId};

    fn bundle(batch: u64, bytes: usize) -> LetterBundle {
        LetterBundle { id: LetterId { to: ShardId(1), from: WorkerId(2), batch }, bytes, letters: Vec::new() }
    }

    #[test]
    fn the_bytes_of_open_letters_are_limited_and_not_their_bundles() {
        let mut open = OpenLetters::default();
        open.deliver(&(0..1_000).map(|batch| bundle(batch, 100)).collect::<Vec<_>>());
        assert!(!open.are_enough());
        open.deliver(&[bundle(1_000, MOST_OPEN)]);
        assert!(open.are_enough());
        open.settle(&[bundle(1_000, 0).id, bundle(1_001, 0).id]);
        assert!(!open.are_enough() && open.bytes == 100_000);
    }
}
