//! Which budgets besides pages end a run?

use std::time::{Duration, Instant};

/// Budgets of bytes and time, accumulated over all resumptions of a run.
pub(crate) struct Limits {
    bytes: Option<u64>,
    until: Option<Instant>,
}

impl Limits {
    /// What is left of these budgets for a run that has already used this much.
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
        }
    }

    /// Whether one of them is exhausted.
    pub(crate) fn are_spent(&self, bytes: u64) -> bool {
        self.bytes.is_some_and(|max| bytes >= max) || self.until.is_some_and(|end| Instant::now() >= end)
    }
}
