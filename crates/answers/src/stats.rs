//! What does the collection hold, in numbers?

use crate::{Collection, Result};
use orb_store::Stats;

/// The table of a crawl: one column for the seeds' own hosts, one for everything.
pub fn stats(collection: &Collection) -> Result<Stats> {
    Ok(collection.catalogue().stats()?)
}
