//! `orb check`.
use crate::args::{Common, ProjectArgs};
use crate::failure::Failure;
pub(crate) fn run(_: &Common, _: &ProjectArgs) -> Result<(), Failure> { Ok(()) }
