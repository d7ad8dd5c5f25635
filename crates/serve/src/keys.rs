//! Which hosts have proved that they call for their own pages, and how much may they say?
//!
//! Whoever calls by IndexNow names a key, and proves with a file of that name on the host that it
//! is theirs. A proof is good for a day; a key that was wrong is not looked for again for a minute,
//! and a host is asked once at a time and at the pace of a crawl, so that nobody makes us ask it
//! over and over. It is all in memory: after a restart, keys are looked for again.

use crate::brake::customer;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// How long a proof is good, and how long a refusal.
const PROVED: Duration = Duration::from_secs(86_400);
const REFUSED: Duration = Duration::from_secs(60);

/// Pages that a host may name in a day.
const PAGES_A_DAY: u32 = 10_000;

/// Requests that an address may send in a minute.
const REQUESTS_A_MINUTE: u32 = 60;

/// How many of each are remembered.
const REMEMBERED: usize = 10_000;

/// How many key files are fetched at once.
const FETCHED_AT_ONCE: usize = 2;

/// A count that begins again after a while.
type SpanCounts<K> = Mutex<HashMap<K, (Instant, u32)>>;

/// What is known of keys and of those who use them.
pub(crate) struct KeyBook {
    proofs: Mutex<HashMap<String, (Instant, bool)>>,
    pages: SpanCounts<String>,
    requests: SpanCounts<IpAddr>,
    /// From when on a host may be asked for a key again.
    asked: Mutex<HashMap<String, Instant>>,
    /// Key files that may still be fetched.
    pub(crate) fetching: Semaphore,
}

impl Default for KeyBook {
    fn default() -> Self {
        let fetching = Semaphore::new(FETCHED_AT_ONCE);
        Self {
            proofs: Mutex::default(),
            pages: Mutex::default(),
            requests: Mutex::default(),
            asked: Mutex::default(),
            fetching,
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to a count that begins again after `span`; whether it stays within `most`.
fn count<K: Eq + Hash>(counts: &SpanCounts<K>, key: K, more: u32, (most, span): (u32, Duration), now: Instant) -> bool {
    let mut counts = lock(counts);
    if counts.len() >= REMEMBERED {
        counts.retain(|_, (since, _)| now.saturating_duration_since(*since) < span);
    }
    if counts.len() >= REMEMBERED && !counts.contains_key(&key) {
        return false;
    }
    let (since, n) = counts.entry(key).or_insert((now, 0));
    if now.saturating_duration_since(*since) >= span {
        (*since, *n) = (now, 0);
    }
    let fits = more <= most.saturating_sub(*n);
    if fits {
        *n += more;
    }
    fits
}

impl KeyBook {
    /// Whether an address may send another request.
    pub(crate) fn may_ask(&self, address: IpAddr, now: Instant) -> bool {
        count(&self.requests, customer(address), 1, (REQUESTS_A_MINUTE, Duration::from_secs(60)), now)
    }

    /// Whether a host may name so many more pages today.
    pub(crate) fn may_name(&self, host: &str, pages: usize, now: Instant) -> bool {
        let pages = u32::try_from(pages).unwrap_or(u32::MAX);
        count(&self.pages, host.to_owned(), pages, (PAGES_A_DAY, Duration::from_secs(86_400)), now)
    }

    /// Whether a host may be asked for a key now; nobody else asks it for so long.
    pub(crate) fn may_fetch(&self, host: &str, at_most: Duration, now: Instant) -> Result<(), Duration> {
        let mut asked = lock(&self.asked);
        asked.retain(|_, free| *free > now);
        match asked.get(host) {
            Some(free) => Err(free.saturating_duration_since(now)),
            None => {
                asked.insert(host.to_owned(), now + at_most);
                Ok(())
            }
        }
    }

    /// The host has answered: it may be asked again after a pause.
    pub(crate) fn fetched(&self, host: &str, pause: Duration, now: Instant) {
        lock(&self.asked).insert(host.to_owned(), now + pause);
    }

    /// Whether this key file proved right or wrong; `None` if it must be looked for.
    pub(crate) fn known(&self, file: &str, now: Instant) -> Option<bool> {
        let proofs = lock(&self.proofs);
        let (at, is_right) = proofs.get(file).copied()?;
        let good_for = if is_right { PROVED } else { REFUSED };
        (now.saturating_duration_since(at) < good_for).then_some(is_right)
    }

    /// Remembers what a key file proved.
    pub(crate) fn note(&self, file: &str, is_right: bool, now: Instant) {
        let mut proofs = lock(&self.proofs);
        if proofs.len() >= REMEMBERED {
            proofs.retain(|_, (at, is_right)| *is_right && now.saturating_duration_since(*at) < PROVED);
        }
        if proofs.len() < REMEMBERED {
            proofs.insert(file.to_owned(), (now, is_right));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_and_refusals_end() {
        let (book, now) = (KeyBook::default(), Instant::now());
        assert_eq!(book.known("a", now), None);
        book.note("a", true, now);
        book.note("b", false, now);
        assert_eq!((book.known("a", now), book.known("b", now)), (Some(true), Some(false)));
        assert_eq!((book.known("a", now + REFUSED), book.known("b", now + REFUSED)), (Some(true), None));
        assert_eq!(book.known("a", now + PROVED), None);
    }

    #[test]
    fn a_host_is_asked_once_at_a_time_and_then_after_a_pause() {
        let (book, now) = (KeyBook::default(), Instant::now());
        let seconds = Duration::from_secs;
        assert_eq!(book.may_fetch("a.test", seconds(10), now), Ok(()));
        assert_eq!(book.may_fetch("a.test", seconds(10), now + seconds(4)), Err(seconds(6)));
        assert_eq!(book.may_fetch("b.test", seconds(10), now), Ok(()));
        book.fetched("a.test", seconds(2), now + seconds(5));
        assert_eq!(book.may_fetch("a.test", seconds(10), now + seconds(6)), Err(seconds(1)));
        assert_eq!(book.may_fetch("a.test", seconds(10), now + seconds(7)), Ok(()));
    }

    #[test]
    fn nobody_says_too_much() {
        let (book, now) = (KeyBook::default(), Instant::now());
        let here: IpAddr = "192.0.2.1".parse().unwrap();
        assert!((0..REQUESTS_A_MINUTE).all(|_| book.may_ask(here, now)) && !book.may_ask(here, now));
        assert!(book.may_ask(here, now + Duration::from_secs(60)));
        let six = |n: u32| format!("2001:db8::{n:x}").parse::<IpAddr>().unwrap();
        assert!((0..REQUESTS_A_MINUTE).all(|n| book.may_ask(six(n), now)) && !book.may_ask(six(99), now));
        assert!(book.may_name("a.test", 9_999, now) && !book.may_name("a.test", 2, now));
        assert!(book.may_name("a.test", 1, now) && book.may_name("b.test", 2, now));
        assert!(book.may_name("a.test", 10_000, now + Duration::from_secs(86_400)));
    }
}
