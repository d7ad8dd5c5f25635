//! How do the tests of shared projects get a server, and lines that break on purpose?

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "it is part of tests")]

pub mod bucket;
pub mod proxy;
pub mod server;
pub mod worker;

use std::time::{Duration, Instant};

/// Waits until something holds, and fails if it does not within five minutes.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(300), "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
