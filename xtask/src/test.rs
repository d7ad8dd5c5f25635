//! What must a change pass?
//!
//! Setup comes first and stops the rest if it fails, so that a test never fails for a missing
//! package.

use crate::steps::{cargo, step};
use crate::{judges, packages, shape};
use anyhow::Result;

/// Installs what the tests need.
pub(crate) fn setup() -> Result<()> {
    step("Debian packages", || packages::ensure(packages::FOR_TESTS).and_then(|()| packages::unpack()))?;
    step("judges from PyPI", || judges::ensure("judges", "tests/judges/requirements.txt"))
}

/// Sets up and tests everything; the first failure ends it.
pub(crate) fn run() -> Result<()> {
    setup()?;
    step("formatting", || cargo(&["fmt", "--all", "--check"]))?;
    step("shape", shape::check)?;
    step("lints", || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    step("tests", || cargo(&["test", "--workspace"]))
}
