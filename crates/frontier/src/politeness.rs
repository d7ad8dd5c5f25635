//! How long must a host be left alone?
//!
//! The delay before a host's next request is the longest of: the configured delay, the Crawl-delay
//! of its robots.txt, the duration of its last response if that was slow, and the back-off after
//! refusals and failures (RFC 6585, 429; RFC 9110, 503 and Retry-After). Only the configured delay
//! applies to the address as well.

use crate::retry_after::MAX_RETRY_AFTER;
use crate::warmth::ConnectionEnd;
use orb_page::FailureKind;
use std::time::Duration;

/// How hosts and addresses are protected from load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Politeness {
    /// Minimum time between two requests to one host and to one address. With zero, neither gate
    /// exists.
    pub delay: Duration,
    /// Maximum requests in flight on a host without any delay; otherwise there is one.
    pub per_host: usize,
    /// Maximum Crawl-delay honoured.
    pub max_crawl_delay: Duration,
    /// After a response slower than this the host waits as long as it took, if there is a delay.
    pub slow_answer: Duration,
    /// Maximum such wait.
    pub max_slow_wait: Duration,
    /// The initial back-off is the larger of the delay and this; it doubles each time.
    pub min_backoff: Duration,
    /// Maximum back-off.
    pub max_backoff: Duration,
    /// A host that asks for a longer wait is excluded from this run; its pages stay queued.
    pub max_wait: Duration,
    /// A host with this many consecutive failures is excluded from this run; its pages stay queued.
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
    /// The delay between two requests to a host with this Crawl-delay.
    pub fn pause(&self, crawl_delay: Option<Duration>) -> Duration {
        self.delay.max(crawl_delay.unwrap_or_default().min(self.max_crawl_delay))
    }

    /// Maximum requests in flight on a host with this delay.
    pub fn at_once(&self, pause: Duration) -> usize {
        if pause.is_zero() { self.per_host.max(1) } else { 1 }
    }

    /// The back-off that follows one of this length.
    pub fn next_backoff(&self, last: Duration) -> Duration {
        if last.is_zero() { self.delay.max(self.min_backoff) } else { (last * 2).min(self.max_backoff) }
    }

    /// The wait after a response of this duration.
    pub fn slow_wait(&self, elapsed: Duration) -> Option<Duration> {
        (!self.delay.is_zero() && elapsed > self.slow_answer).then(|| elapsed.min(self.max_slow_wait))
    }
}

/// Status codes of transient failures: they say nothing about the page itself.
pub const RETRY_CODES: [u16; 7] = [408, 425, 429, 500, 502, 503, 504];

/// Which failures are retried, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Retries of a page, a robots.txt or a look-up.
    pub most: u32,
    /// Status codes that are retried, besides broken connections.
    pub codes: Vec<u16>,
}

impl Default for Retries {
    fn default() -> Self {
        Self { most: 2, codes: RETRY_CODES.to_vec() }
    }
}

impl Retries {
    /// Whether a retry may help.
    fn may_help(&self, ended: &FetchEnd) -> bool {
        match (ended.status, ended.failure) {
            // A truncated body is a broken connection, whatever the status says.
            (Some(200..300), Some(failure)) => failure.is_passing(),
            (Some(status), _) => self.codes.contains(&status),
            (None, failure) => failure.is_some_and(FailureKind::is_passing),
        }
    }
}

/// How a fetch ended, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchEnd {
    /// Status code, if there was a response.
    pub status: Option<u16>,
    /// Why there was none.
    pub failure: Option<FailureKind>,
    /// The server's `Retry-After`; see [`crate::retry_after`].
    pub retry_after: Option<Duration>,
    /// Duration of the fetch.
    pub elapsed: Duration,
    /// Whether the server redirected to the same URL, having set something (a cookie): the next
    /// response will differ.
    pub turned: bool,
    /// Whether the server redirected to another spelling of the page's URL, by which it is
    /// requested next.
    pub respelt: bool,
    /// Whether nothing was sent, because the lease of the address had ended: the page goes back as
    /// if it had never been granted.
    pub unsent: bool,
    /// What has become of its connection.
    pub connection: ConnectionEnd,
}

impl FetchEnd {
    /// Whether to back off from the host.
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

    /// Whether to retry the page after this many failed attempts.
    pub(crate) fn is_worth_another(&self, attempt: u32, retries: &Retries) -> bool {
        (retries.may_help(self) && attempt < retries.most) || (self.turned && attempt == 0)
    }

    /// Whether something may have reached the server although no request was reported as sent.
    pub(crate) fn touched(&self) -> bool {
        matches!(
            self.failure,
            Some(
                FailureKind::Connect
                    | FailureKind::Tls
                    | FailureKind::HostKey
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
    fn codes_that_may_pass_and_broken_connections_are_worth_another_try() {
        let retries = Retries { most: 2, codes: vec![500] };
        let worth = |status, failure, attempt| {
            FetchEnd { status, failure, ..FetchEnd::default() }.is_worth_another(attempt, &retries)
        };
        assert!(worth(Some(500), None, 1) && !worth(Some(500), None, 2) && !worth(Some(503), None, 0));
        assert!(worth(None, Some(FailureKind::Connect), 0) && worth(Some(200), Some(FailureKind::Protocol), 0));
        assert!(!worth(None, Some(FailureKind::Guard), 0) && !worth(Some(200), None, 0));
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
