//! Has the server been given enough time?
//!
//! Four clocks run while an answer comes: for its head, between two bytes, over a stretch in which it must have kept a
//! minimum speed, and for all of it. Time in which our own bandwidth limit kept us from reading stops them all.

use super::connect::late;
use crate::FetchConfig;
use orb_page::{Failure, Truncation};
use std::time::Duration;
use tokio::time::Instant;

/// The clocks of one exchange.
#[derive(Debug)]
pub(super) struct Clock {
    head: Duration,
    idle: Duration,
    min_speed: Option<(u64, Duration)>,
    /// When it all must be over.
    end: Instant,
    total: Duration,
    /// When the present wait began.
    since: Instant,
    /// When the present stretch began, and what came in it.
    stretch: (Instant, u64),
    /// How long the bandwidth limit had held the connection up when the present clocks were set.
    held: Duration,
}

impl Clock {
    /// Clocks for an exchange that begins now on a connection held up for `held` so far.
    pub(super) fn new(config: &FetchConfig, held: Duration) -> Self {
        let now = Instant::now();
        let t = &config.timeouts;
        let min_speed = config.min_speed.filter(|(speed, over)| *speed > 0 && !over.is_zero());
        let (head, idle, total) = (t.head, t.idle, t.total);
        Self { head, idle, min_speed, end: now + total, total, since: now, stretch: (now, 0), held }
    }

    /// The request is sent: the head is due.
    pub(super) fn sent(&mut self) {
        self.since = Instant::now();
    }

    /// When waiting for the head, or for the request to be taken, ends.
    pub(super) fn head_deadline(&mut self, held: Duration) -> Instant {
        self.stop_for(held);
        (self.since + self.head).min(self.end)
    }

    /// Why there is no head.
    pub(super) fn head_failure(&self) -> Failure {
        late("no answer", self.head.min(self.total))
    }

    /// The head is there: the body is due.
    pub(super) fn body_begins(&mut self) {
        self.since = Instant::now();
        self.stretch = (self.since, 0);
    }

    /// When waiting for the next byte of the body ends.
    pub(super) fn body_deadline(&mut self, held: Duration) -> Instant {
        self.stop_for(held);
        let deadline = (self.since + self.idle).min(self.end);
        self.min_speed.map_or(deadline, |(_, over)| deadline.min(self.stretch.0 + over))
    }

    /// Counts bytes of the body (none after a wait in vain), and says whether the body has taken too long.
    pub(super) fn tick(&mut self, bytes: usize, held: Duration) -> Option<Truncation> {
        self.stop_for(held);
        let now = Instant::now();
        self.stretch.1 += bytes as u64;
        if bytes > 0 {
            self.since = now;
        }
        let mut late = now >= self.end || now >= self.since + self.idle;
        if let Some((speed, over)) = self.min_speed
            && now >= self.stretch.0 + over
        {
            let taken = now - self.stretch.0;
            late |= (self.stretch.1 as f64) < speed as f64 * taken.as_secs_f64();
            self.stretch = (now, 0);
        }
        late.then_some(Truncation::Time)
    }

    /// Moves all clocks by the time the bandwidth limit has taken since the last look.
    fn stop_for(&mut self, held: Duration) {
        let more = held.saturating_sub(self.held);
        if !more.is_zero() {
            self.end += more;
            self.since += more;
            self.stretch.0 += more;
            self.held = held;
        }
    }
}
