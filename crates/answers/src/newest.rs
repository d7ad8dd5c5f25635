//! Which pages did the last run visit last?

use crate::{Collection, Result};
use orb_store::NewestRow;

/// The pages that the last run recorded last, newest first.
pub fn newest(collection: &Collection, limit: u32) -> Result<Vec<NewestRow>> {
    let Some(run) = collection.catalogue().runs()?.into_iter().next() else { return Ok(Vec::new()) };
    Ok(collection.catalogue().newest(run.id, limit)?)
}
