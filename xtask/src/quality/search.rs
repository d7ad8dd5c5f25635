//! Does search find the page that answers?
//!
//! The figures come from the test that guards them, `tests/search_quality.rs`: it crawls two real
//! documentations and asks questions whose answers are known.

use crate::steps::cargo;
use anyhow::Result;

/// Prints the mean reciprocal ranks.
pub(super) fn run() -> Result<()> {
    let test = ["test", "--workspace", "--test", "search_quality", "--", "--nocapture", "--test-threads", "1"];
    cargo(&test)
}
