//! How much may be taken: open files from this machine, bytes per second from a shared line?

use crate::FetchError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Raises the soft limit on open files as far as allowed and returns it; fails if that is less than
/// `wanted`.
pub fn raise_open_files(wanted: u64) -> Result<u64, FetchError> {
    let now = getrlimit(Resource::Nofile);
    let (Some(soft), hard) = (now.current, now.maximum.unwrap_or(u64::MAX)) else { return Ok(u64::MAX) };
    // Not every kernel accepts an unlimited hard limit as a soft one; a million sockets are enough
    // for anybody.
    let goal = hard.min(wanted.max(1 << 20));
    if soft < goal {
        let raised = Rlimit { current: Some(goal), maximum: now.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised)
            && soft < wanted
        {
            return Err(FetchError::Limit(error.into()));
        }
    }
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if limit < wanted { Err(FetchError::OpenFiles { wanted, limit }) } else { Ok(limit) }
}

/// A token bucket over all sockets together, smooth rather than stop-and-go.
///
/// A reader reserves a slot on a virtual clock that runs at the allowed rate (the leaky bucket as a
/// meter, GCRA), waits for it, reads at most what it reserved and refunds the rest. So many readers
/// queue in order instead of bursting when a second begins. A hundredth of a second may be made up
/// for, since timers fire late by about as much.
#[derive(Debug, Default)]
pub struct TokenBucket {
    /// Bytes per second; 0 means no limit.
    rate: AtomicU64,
    /// When the next byte may be read.
    next: Mutex<Option<Instant>>,
}

/// How much idle time may be made up for.
const SLACK: Duration = Duration::from_millis(10);
/// A line on which reads wait for longer than this is full.
const FULL: Duration = Duration::from_millis(200);

impl TokenBucket {
    /// A bucket with this rate; `None` for no limit.
    pub fn new(rate: Option<u64>) -> Self {
        Self { rate: AtomicU64::new(rate.unwrap_or(0)), next: Mutex::new(None) }
    }

    /// Changes the rate from now on.
    pub fn set_rate(&self, rate: Option<u64>) {
        self.rate.store(rate.unwrap_or(0), Ordering::Relaxed);
        // Reservations made at the old rate no longer hold.
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The rate in bytes per second.
    pub fn rate(&self) -> Option<u64> {
        Some(self.rate.load(Ordering::Relaxed)).filter(|&r| r > 0)
    }

    /// How long the reads already waiting will take; `None` if the line is not full, so that one
    /// more request is welcome. Requests in progress are finished before new ones start.
    pub fn full_for(&self) -> Option<Duration> {
        self.rate()?;
        let next = (*self.next.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(next.saturating_duration_since(Instant::now())).filter(|wait| *wait > FULL)
    }

    /// The receive window of one connection: a tenth of a second, within reason.
    pub(crate) fn window(rate: u64) -> u32 {
        u32::try_from(rate / 10).unwrap_or(u32::MAX).clamp(8 * 1024, 256 * 1024)
    }

    /// Maximum size of one read at this rate: a twentieth of a second, within reason.
    pub(crate) fn quantum(rate: u64) -> usize {
        usize::try_from(rate / 20).unwrap_or(usize::MAX).clamp(256, 16 * 1024)
    }

    /// Reserves `bytes` and returns when they may be read.
    pub(crate) fn reserve(&self, bytes: usize, now: Instant) -> Instant {
        let Some(rate) = self.rate() else { return now };
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let place = next.map_or(now, |n| n.max(now.checked_sub(SLACK).unwrap_or(now)));
        *next = Some(place + span(bytes, rate));
        place.max(now)
    }

    /// Refunds what was reserved and not read.
    pub(crate) fn refund(&self, bytes: usize) {
        let Some(rate) = self.rate() else { return };
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = next.and_then(|n| n.checked_sub(span(bytes, rate)));
    }
}

/// How long this many bytes take.
fn span(bytes: usize, rate: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / rate as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_file_limit_is_raised_or_the_shortage_named() {
        assert!(raise_open_files(16).unwrap() >= 16);
        let refused = raise_open_files(u64::MAX - 1);
        assert!(refused.is_err() || refused.is_ok_and(|l| l >= u64::MAX - 1));
    }

    #[test]
    fn reservations_queue_at_the_allowed_rate() {
        let (bucket, start) = (TokenBucket::new(Some(1_000)), Instant::now());
        assert_eq!(bucket.reserve(500, start), start);
        assert_eq!(bucket.reserve(500, start), start + Duration::from_millis(500));
        bucket.refund(250);
        assert_eq!(bucket.reserve(100, start), start + Duration::from_millis(750));
        let later = start + Duration::from_secs(60);
        assert_eq!(bucket.reserve(100, later), later);
        let after = later + Duration::from_millis(100) - SLACK;
        assert_eq!(bucket.reserve(100, later), after, "of unused time only the slack is saved up");
    }

    #[test]
    fn a_line_is_full_while_enough_is_waiting_to_be_read() {
        let bucket = TokenBucket::new(Some(1_000));
        assert_eq!(bucket.full_for(), None);
        bucket.reserve(100, Instant::now());
        assert_eq!(bucket.full_for(), None);
        bucket.reserve(60_000, Instant::now());
        assert!(bucket.full_for().is_some_and(|wait| wait > Duration::from_secs(30)));
        bucket.set_rate(None);
        assert_eq!(bucket.full_for(), None);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let (bucket, now) = (TokenBucket::new(None), Instant::now());
        assert!((0..1_000).all(|_| bucket.reserve(1 << 30, now) == now));
        bucket.set_rate(Some(10));
        bucket.reserve(10, now);
        assert!(bucket.reserve(10, now) > now);
    }
}
