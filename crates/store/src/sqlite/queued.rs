//! What are the details of a page that is due?
//!
//! The queues of the frontier index hold numbers only. Their readers come here with a handful of
//! them at a time: one leaf access for each, and another for its visits if it is revisited.

use super::before::BeforeReader;
use super::reader::connect;
use crate::Queued;
use crate::error::{Result, StoreError};
use orb_page::PageId;
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A reader of pages by number.
pub(crate) struct PageReader {
    db: Connection,
    path: PathBuf,
}

impl PageReader {
    /// Opens an existing catalogue.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let db = connect(path)?;
        // Enough for the inner nodes of fifty million pages.
        db.execute_batch("PRAGMA cache_size = -4096").map_err(|e| StoreError::sql("open", path, e))?;
        Ok(Self { db, path: path.to_owned() })
    }

    /// The pages at these positions of a queue.
    pub(crate) fn queued(&self, places: &[(u64, PageId)]) -> Result<Vec<Queued>> {
        let fail = |e| StoreError::sql("read the queued pages", &self.path, e);
        // One transaction, so that locks are taken once.
        let look = self.db.unchecked_transaction().map_err(fail)?;
        let out = self.read(places).map_err(fail)?;
        if out.len() < places.len() {
            return Err(StoreError::damaged(&self.path, "a page is queued that it does not have"));
        }
        look.finish().map_err(fail)?;
        Ok(out)
    }

    fn read(&self, places: &[(u64, PageId)]) -> rusqlite::Result<Vec<Queued>> {
        let mut row = self
            .db
            .prepare_cached("SELECT url, depth, redirects, asked, again NOTNULL, step FROM page_row WHERE id = ?1")?;
        let mut visits = BeforeReader::new(&self.db)?;
        let mut out = Vec::with_capacity(places.len());
        for &(rank, page) in places {
            let found = row
                .query_row([page.0.cast_signed()], |r| {
                    let (url, asked) = (r.get(0)?, r.get(3)?);
                    let (depth, redirects, step) = (r.get(1)?, r.get(2)?, r.get(5)?);
                    Ok((Queued { page, rank, url, asked, depth, redirects, step, before: None }, r.get::<_, bool>(4)?))
                })
                .optional()?;
            let Some((mut queued, again)) = found else { continue };
            if again {
                queued.before = visits.read(page)?.map(Arc::new);
            }
            out.push(queued);
        }
        Ok(out)
    }
}
