//! How are the sources formatted and measured?

use crate::shape;
use crate::steps::{cargo, step};
use anyhow::Result;

/// Formats every source and then measures it.
pub(crate) fn run() -> Result<()> {
    step("format", || cargo(&["fmt", "--all"]))?;
    step("shape", shape::check)
}
