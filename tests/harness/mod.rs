//! How is the program run, and how is the result judged?
//!
//! End-to-end tests run the binary as a user would, in a home of their own, against servers on
//! loopback. Three witnesses judge it: what it printed, what the servers logged, and what other
//! tools find in its files.
#![allow(dead_code, reason = "each test file needs its own part of this")]
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

#[allow(unreachable_pub, reason = "a file of the store's tests")]
#[path = "../../crates/store/tests/cluster/bucket.rs"]
pub(crate) mod bucket;
pub(crate) mod catalogue;
pub(crate) mod cluster;
pub(crate) mod daemons;
pub(crate) mod disk;
pub(crate) mod edits;
pub(crate) mod held;
pub(crate) mod history;
pub(crate) mod idle;
pub(crate) mod judge;
pub(crate) mod orb;
pub(crate) mod postgres;
pub(crate) mod proxy;
pub(crate) mod recorded;
pub(crate) mod scene;
pub(crate) mod script;
pub(crate) mod served;
pub(crate) mod site;
pub(crate) mod tls;
pub(crate) mod web;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Timeout for everything in a test: a hang is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Waits for a condition that another thread or process brings about; panics on timeout.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        // Only the polling interval, not a guess at how long it takes.
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Lets this much time pass.
pub(crate) fn wait_for(span: Duration) {
    let began = Instant::now();
    until("that long has passed", || began.elapsed() >= span);
}
