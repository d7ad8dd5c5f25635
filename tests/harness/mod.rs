//! How is the program asked, and how is what it did judged?
//!
//! Tests at the front door run the binary as a user would, in a home of their own, against servers on loopback, and judge
//! it by three witnesses: what it printed, what the servers' logs say, and what its files hold in the eyes of others.
#![allow(dead_code, reason = "each test file needs its own part of this")]
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

pub(crate) mod catalogue;
pub(crate) mod held;
pub(crate) mod history;
pub(crate) mod judge;
pub(crate) mod orb;
pub(crate) mod postgres;
pub(crate) mod recorded;
pub(crate) mod scene;
pub(crate) mod script;
pub(crate) mod site;
pub(crate) mod tls;
pub(crate) mod web;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Nothing in a test may take longer: a hang is a failure, not a wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Waits until something is so, which another thread or process brings about; fails the test where it never is.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        // Not a guess at how long it takes: only how often to look.
        std::thread::park_timeout(Duration::from_millis(1));
    }
}
