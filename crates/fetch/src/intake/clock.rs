//! Has the server had enough time?
//!
//! Four timers run during a response: for its head, between two reads, over an interval in which it
//! must keep a minimum speed, and in total. Time in which our own bandwidth limit kept us from
//! reading stops them all.

use crate::FetchConfig;
use crate::line::late;
use orb_page::{Failure, Truncation};
use std::time::Duration;
use tokio::time::Instant;

/// The timers of one exchange.
#[derive(Debug)]
pub(crate) struct ExchangeTimers {
    head: Duration,
    idle: Duration,
    min_speed: Option<(u64, Duration)>,
    /// The total deadline.
    end: Instant,
    total: Duration,
    /// When the current wait began.
    since: Instant,
    /// When the current interval began, and the bytes received in it.
    stretch: (Instant, u64),
    /// How long the bandwidth limit had throttled the connection when the timers were set.
    held: Duration,
}

impl ExchangeTimers {
    /// Timers for an exchange that starts now on a connection that was throttled for `held` so far.
    pub(crate) fn new(config: &FetchConfig, held: Duration) -> Self {
        let now = Instant::now();
        let t = &config.timeouts;
        let min_speed = config.min_speed.filter(|(speed, over)| *speed > 0 && !over.is_zero());
        let (head, idle, total) = (t.head, t.idle, t.total);
        Self { head, idle, min_speed, end: now + total, total, since: now, stretch: (now, 0), held }
    }

    /// The request was sent: the head is due.
    pub(crate) fn sent(&mut self) {
        self.since = Instant::now();
    }

    /// The deadline for the head, or for the request to be accepted.
    pub(crate) fn head_deadline(&mut self, held: Duration) -> Instant {
        self.stop_for(held);
        (self.since + self.head).min(self.end)
    }

    /// Why there is no head.
    pub(crate) fn head_failure(&self) -> Failure {
        late("no answer", self.head.min(self.total))
    }

    /// The head arrived: the body is due.
    pub(crate) fn body_begins(&mut self) {
        self.since = Instant::now();
        self.stretch = (self.since, 0);
    }

    /// The deadline for the next read of the body.
    pub(crate) fn body_deadline(&mut self, held: Duration) -> Instant {
        self.stop_for(held);
        let deadline = (self.since + self.idle).min(self.end);
        self.min_speed.map_or(deadline, |(_, over)| deadline.min(self.stretch.0 + over))
    }

    /// Counts bytes of the body (0 after a timeout), and returns whether the body has taken too
    /// long.
    pub(crate) fn tick(&mut self, bytes: usize, held: Duration) -> Option<Truncation> {
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

    /// Moves all timers by the time the bandwidth limit has taken since the last call.
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
