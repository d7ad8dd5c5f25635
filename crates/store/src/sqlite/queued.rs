//! What is there to say of a page when its turn comes?
//!
//! The queues of the frontier index hold numbers alone. Their readers come here with a handful of them at a time: one look at a leaf for each.

use super::reader::connect;
use crate::Queued;
use crate::error::{Result, StoreError};
use orb_page::PageId;
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};

/// A reader of pages by number.
pub(crate) struct PageReader {
    db: Connection,
    path: PathBuf,
}

impl PageReader {
    /// Opens a catalogue that is there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let db = connect(path)?;
        // The inner nodes of fifty million pages.
        db.execute_batch("PRAGMA cache_size = -4096").map_err(|e| StoreError::sql("open", path, e))?;
        Ok(Self { db, path: path.to_owned() })
    }

    /// The pages at these places of a queue.
    pub(crate) fn queued(&self, places: &[(u64, PageId)]) -> Result<Vec<Queued>> {
        let fail = |e| StoreError::sql("read the queued pages", &self.path, e);
        // One transaction: the locks are taken once.
        let look = self.db.unchecked_transaction().map_err(fail)?;
        let mut row =
            self.db.prepare_cached("SELECT url, depth, redirects FROM page_row WHERE id = ?1").map_err(fail)?;
        let mut out = Vec::with_capacity(places.len());
        for (rank, page) in places {
            let found = row
                .query_row([page.0.cast_signed()], |r| {
                    Ok(Queued { page: *page, rank: *rank, url: r.get(0)?, depth: r.get(1)?, redirects: r.get(2)? })
                })
                .optional();
            out.extend(found.map_err(fail)?);
        }
        if out.len() < places.len() {
            return Err(StoreError::damaged(&self.path, "a page is queued that it does not have"));
        }
        drop(row);
        look.finish().map_err(fail)?;
        Ok(out)
    }
}
