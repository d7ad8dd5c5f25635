//! How does the first account come about?
//!
//! A home without users is served on loopback only, and the command line prints a link that makes
//! one account, once, within ten minutes. Its secret is known to whoever started the server and is
//! stored nowhere. Once anybody has an account, the link is dead, whatever made that account.

use sha2::{Digest as _, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the link is valid.
const LIFE: Duration = Duration::from_secs(600);

/// The link that makes the first account.
#[derive(Debug, Default)]
pub(crate) struct FirstLink(Mutex<Option<([u8; 32], Instant)>>);

impl FirstLink {
    /// A link with this secret, valid from now on.
    pub(crate) fn new(secret: &str, now: Instant) -> Self {
        Self(Mutex::new(Some((digest(secret), now + LIFE))))
    }

    /// Whether this is the secret, and its time is not over.
    pub(crate) fn opens(&self, secret: &str, now: Instant) -> bool {
        let link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Digests are compared, so the time it takes tells nothing about the secret.
        link.is_some_and(|(hash, until)| hash == digest(secret) && now < until)
    }

    /// It has served its purpose.
    pub(crate) fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_opens_for_its_secret_for_ten_minutes_and_until_closed() {
        let now = Instant::now();
        let link = FirstLink::new("s", now);
        assert!(link.opens("s", now) && !link.opens("t", now) && !link.opens("", now));
        assert!(!link.opens("s", now + LIFE));
        link.close();
        assert!(!link.opens("s", now) && !FirstLink::default().opens("", now));
    }
}
