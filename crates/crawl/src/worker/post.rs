//! Who reads the letters to our shards?
//!
//! A thread with a connection of its own hands them to the recorder, no more at a time than fit
//! into memory. A letter stays in the store until the batch that has digested it is committed.

use super::clerk::HeldShards;
use crate::record::Item;
use crate::shared::Stop;
use crossbeam_channel::{Receiver, Sender};
use orb_store::{LetterId, Mailbox, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How often letters are looked for when there are none.
const EVERY: Duration = Duration::from_millis(200);

/// Bytes of letters read at once.
const BYTES: usize = 4 << 20;

/// Deliveries that the recorder may have without having committed them.
const MOST_OPEN: usize = 64;

/// What the postman works with.
pub(super) struct Post {
    pub(super) mailbox: Mailbox,
    pub(super) held: Arc<HeldShards>,
    pub(super) recorder: Sender<Item>,
    pub(super) settled: Receiver<Vec<LetterId>>,
    pub(super) stop: Arc<Stop>,
}

impl Post {
    /// Delivers until this incarnation is asked to stop.
    pub(super) fn run(mut self) -> Result<(), StoreError> {
        let mut open = 0_usize;
        while !self.stop.is_set() {
            while let Ok(read) = self.settled.try_recv() {
                open = open.saturating_sub(read.len());
                self.mailbox.settle(&read);
            }
            let held = self.held.get();
            let full = held.is_empty() || open >= MOST_OPEN;
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
            open += deliveries.len();
            let _ = self.recorder.send(Item::Letters(deliveries));
        }
        Ok(())
    }
}
