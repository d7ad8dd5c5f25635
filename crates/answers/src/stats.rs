//! What does the collection contain, in numbers?

use crate::{Collection, Result};
use orb_store::Stats;

/// The statistics of a crawl: one column for the seeds' own hosts, one for everything.
pub fn stats(collection: &Collection) -> Result<Stats> {
    Ok(collection.catalogue().stats()?)
}
