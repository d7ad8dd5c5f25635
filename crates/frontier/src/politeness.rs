//! How long does a host want to be left alone?
//!
//! The pause before a host's next request is the longest of: the configured delay, the Crawl-delay of its robots.txt, the time its
//! last answer took where that was long, and the back-off after refusals and failures (RFC 6585, 429; RFC 9110, 503 and Retry-After).
//! Only the configured delay binds the address as well.

use crate::retry_after::MAX_RETRY_AFTER;
use orb_page::FailureKind;
use std::time::Duration;

/// How hosts and addresses are spared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Politeness {
    /// The least time between two requests to one host and to one address. With none, neither gate exists.
    pub delay: Duration,
    /// Requests in flight on one host where it has no delay at all; otherwise there is one.
    pub per_host: usize,
    /// The longest Crawl-delay obeyed.
    pub max_crawl_delay: Duration,
    /// Answers slower than this make the host wait as long as they took, where there is a delay.
    pub slow_answer: Duration,
    /// The longest such wait.
    pub max_slow_wait: Duration,
    /// The first back-off is the delay, or this where that is longer; each further one is twice the last.
    pub min_backoff: Duration,
    /// The longest back-off.
    pub max_backoff: Duration,
    /// A host that wants to be left alone for longer is left out of this run; its pages stay queued.
    pub max_wait: Duration,
    /// A host that fails this often in a row is left out of this run; its pages stay queued.
    pub max_failures: u32,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            per_host: 6,
            max_crawl_delay: Duration::from_secs(60),
            slow_answer: Duration::from_secs(2),
            max_slow_wait: Duration::from_secs(30),
            min_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(300),
            max_wait: Duration::from_secs(3_600),
            max_failures: 8,
        }
    }
}

impl Politeness {
    /// The pause between two requests to a host with this Crawl-delay.
    pub fn pause(&self, crawl_delay: Option<Duration>) -> Duration {
        self.delay.max(crawl_delay.unwrap_or_default().min(self.max_crawl_delay))
    }

    /// How many requests may be in flight on a host with this pause.
    pub fn at_once(&self, pause: Duration) -> usize {
        if pause.is_zero() { self.per_host.max(1) } else { 1 }
    }

    /// The back-off that follows one of this length.
    pub fn next_backoff(&self, last: Duration) -> Duration {
        if last.is_zero() { self.delay.max(self.min_backoff) } else { (last * 2).min(self.max_backoff) }
    }

    /// The wait that an answer of this duration asks for.
    pub fn slow_wait(&self, elapsed: Duration) -> Option<Duration> {
        (!self.delay.is_zero() && elapsed > self.slow_answer).then(|| elapsed.min(self.max_slow_wait))
    }
}

/// How a fetch ended, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Status code, where there was an answer.
    pub status: Option<u16>,
    /// Why there was none.
    pub failure: Option<FailureKind>,
    /// What the server asked for; see [`crate::retry_after`].
    pub retry_after: Option<Duration>,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether the server sent us to where we were, with something to bring along: the next answer will be another.
    pub turned: bool,
}

impl Ended {
    /// Whether the host should be left alone for longer than usual.
    pub fn is_refusal(&self) -> bool {
        match (self.status, self.failure) {
            (Some(429 | 503), _) => true,
            (Some(_), _) => false,
            (None, Some(kind)) => matches!(
                kind,
                FailureKind::Dns
                    | FailureKind::Connect
                    | FailureKind::Timeout
                    | FailureKind::Protocol
                    | FailureKind::Tls
            ),
            (None, None) => false,
        }
    }

    /// Whether trying the same page again may help.
    pub fn is_passing(&self) -> bool {
        match (self.status, self.failure) {
            (Some(status), _) => matches!(status, 408 | 425 | 429 | 502 | 503 | 504),
            (None, failure) => failure.is_some_and(FailureKind::is_passing),
        }
    }

    /// Whether the page is to be tried again after so many attempts that failed.
    pub(crate) fn is_worth_another(&self, attempt: u32, retries: u32) -> bool {
        (self.is_passing() && attempt < retries) || (self.turned && attempt == 0)
    }

    /// Whether something may have reached the server although no request was reported as sent.
    pub(crate) fn touched(&self) -> bool {
        matches!(
            self.failure,
            Some(
                FailureKind::Connect
                    | FailureKind::Tls
                    | FailureKind::Timeout
                    | FailureKind::Protocol
                    | FailureKind::Malformed
            )
        )
    }

    /// The wait the server asked for, within bounds.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        self.retry_after.map(|d| d.min(MAX_RETRY_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_from_the_delay_up_to_its_bound() {
        let p = Politeness { delay: Duration::from_secs(5), ..Politeness::default() };
        let mut lengths = vec![Duration::ZERO];
        while lengths.len() < 10 {
            lengths.push(p.next_backoff(lengths[lengths.len() - 1]));
        }
        let seconds: Vec<u64> = lengths.iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [0, 5, 10, 20, 40, 80, 160, 300, 300, 300]);
    }

    #[test]
    fn the_pause_is_the_longer_of_delay_and_bounded_crawl_delay() {
        let p = Politeness::default();
        assert_eq!(p.pause(None), Duration::from_secs(1));
        assert_eq!(p.pause(Some(Duration::from_millis(500))), Duration::from_secs(1));
        assert_eq!(p.pause(Some(Duration::from_secs(10))), Duration::from_secs(10));
        assert_eq!(p.pause(Some(Duration::from_secs(10_000))), Duration::from_secs(60));
    }

    #[test]
    fn a_slow_answer_is_followed_by_as_long_a_wait() {
        let p = Politeness::default();
        assert_eq!(p.slow_wait(Duration::from_secs(1)), None);
        assert_eq!(p.slow_wait(Duration::from_secs(7)), Some(Duration::from_secs(7)));
        assert_eq!(p.slow_wait(Duration::from_secs(70)), Some(Duration::from_secs(30)));
        assert_eq!(Politeness { delay: Duration::ZERO, ..p }.slow_wait(Duration::from_secs(7)), None);
    }
}
