//! What must a change pass?
//!
//! Setting up comes first and stops the rest where it cannot be done, so that a test never fails for want of a package.

use crate::steps::{cargo, step};
use crate::{judges, packages, shape};
use anyhow::Result;

/// Brings what the tests need onto the machine.
pub(crate) fn setup() -> Result<()> {
    step("Debian packages", || packages::ensure(packages::FOR_TESTS))?;
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
