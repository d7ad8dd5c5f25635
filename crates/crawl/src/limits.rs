//! When has a run had enough, besides pages?

use crate::progress::Waiting;
use crate::shared::Shared;
use orb_page::Moment;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Budgets of bytes and time, counted over all resumptions of a run.
pub(crate) struct Limits {
    bytes: Option<u64>,
    until: Option<Instant>,
    looked: Mutex<Instant>,
}

impl Limits {
    /// What is left of these budgets for a run that has already used so much.
    pub(crate) fn new(
        max_bytes: Option<u64>,
        used_bytes: u64,
        max_time: Option<Duration>,
        used_time: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            bytes: max_bytes.map(|max| max.saturating_sub(used_bytes)),
            until: max_time.and_then(|max| now.checked_add(max.saturating_sub(used_time))),
            looked: Mutex::new(now),
        }
    }

    /// Whether one of them is spent.
    pub(crate) fn are_spent(&self, bytes: u64) -> bool {
        self.bytes.is_some_and(|max| bytes >= max) || self.until.is_some_and(|end| Instant::now() >= end)
    }

    /// Now and then, looks who waits for what, for the display.
    pub(crate) fn note_waiting(&self, shared: &Shared, now: Moment) {
        let Ok(mut looked) = self.looked.try_lock() else { return };
        if looked.elapsed() < Duration::from_millis(300) {
            return;
        }
        *looked = Instant::now();
        let waiting = shared.frontier().waiting(now);
        shared.progress.note_waiting(Waiting {
            active: waiting.active,
            reasons: waiting.reasons.into_iter().map(|(why, hosts, name)| (why.text(), hosts, name)).collect(),
        });
    }
}
