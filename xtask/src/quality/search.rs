//! Does search find the page that answers?
//!
//! The figures come from the test that guards them, `tests/search_quality.rs`: it crawls two real
//! documentations and asks questions whose answers are known.

use super::PartEnd;
use crate::steps::cargo;
use anyhow::Result;
use std::path::Path;

/// The documentations that are asked, as Debian installs them.
const DOCUMENTATIONS: [&str; 2] = ["/usr/share/doc/python3-doc/html", "/usr/share/cppreference/doc/html"];

/// Prints the mean reciprocal ranks and the verdict on them; an error if they are too low.
pub(super) fn run() -> Result<PartEnd> {
    if DOCUMENTATIONS.iter().any(|directory| !Path::new(directory).is_dir()) {
        return Ok(PartEnd::Skipped("python3-doc and cppreference-doc-en-html are not installed"));
    }
    let test = ["test", "--workspace", "--test", "search_quality", "--", "--nocapture", "--test-threads", "1"];
    cargo(&test).map(|()| PartEnd::Measured)
}
