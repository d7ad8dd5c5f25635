//! How far is each page really from the seeds?
//!
//! A page's depth is set when it is discovered. With many concurrent requests, or in an order other
//! than breadth-first, a page may be discovered over a longer path first, and what lies behind it
//! be cut off by a limit that the shorter path satisfies. Shortest distances follow from the link
//! table by relaxation (Bellman–Ford): passes over the links in the order of visits, until nothing
//! changes. Usually the first pass changes nothing. Steps of a project have separate distances: a
//! path through another step does not count. Who links to an alias that was never fetched links to
//! its page.

use super::Catalogue;
use crate::error::{Result, StoreError};
use orb_page::LinkKind;
use rusqlite::{Connection, params};

impl Catalogue {
    /// Corrects the depths that are larger than the shortest path over followed links; returns
    /// their number.
    ///
    /// Memory: eight bytes per page. `nofollow` links count only if the crawl follows them; a
    /// redirect is not a step.
    pub(crate) fn settle_depths(&mut self, follow_nofollow: bool) -> Result<u64> {
        let fail = |e| StoreError::sql("settle the depths", &self.path, e);
        let (before, steps) = depths(&self.db, self.next_page).map_err(fail)?;
        let mut depths = before.clone();
        while relax(&self.db, &mut depths, &steps, follow_nofollow).map_err(fail)? {}
        let tx = self.db.unchecked_transaction().map_err(fail)?;
        let mut corrected = 0;
        for (page, (new, _)) in depths.iter().zip(&before).enumerate().filter(|(_, (new, old))| new < old) {
            let id = i64::try_from(page).unwrap_or(i64::MAX);
            tx.prepare_cached("UPDATE page_row SET depth = ?2 WHERE id = ?1")
                .and_then(|mut s| s.execute(params![id, new]))
                .map_err(fail)?;
            corrected += 1;
        }
        tx.commit().map_err(fail)?;
        Ok(corrected)
    }
}

/// The depth of each page and its step (0: none), by its number.
fn depths(db: &Connection, pages: u64) -> rusqlite::Result<(Vec<u32>, Vec<u32>)> {
    let pages = usize::try_from(pages).unwrap_or(0);
    let (mut depths, mut steps) = (vec![u32::MAX; pages], vec![0; pages]);
    let mut rows = db.prepare("SELECT id, depth, coalesce(step, 0) FROM page_row")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let page = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
        if let (Some(depth), Some(step)) = (depths.get_mut(page), steps.get_mut(page)) {
            (*depth, *step) = (row.get(1)?, row.get(2)?);
        }
    }
    Ok((depths, steps))
}

/// One pass over the links; returns whether any distance became shorter.
fn relax(db: &Connection, depths: &mut [u32], steps: &[u32], follow_nofollow: bool) -> rusqlite::Result<bool> {
    let sql = "SELECT s.page, l.dst, l.kind FROM source_row s CROSS JOIN link_row l ON l.source = s.id
               WHERE last_run IS NULL AND kind <> ?1 AND (?2 OR rel IS NULL OR rel NOT LIKE '%nofollow%')";
    let mut rows = db.prepare(sql)?;
    let mut rows = rows.query(params![LinkKind::Form.code(), follow_nofollow])?;
    let mut changed = false;
    while let Some(row) = rows.next()? {
        let at = |column| row.get::<_, i64>(column).map(|id| usize::try_from(id).unwrap_or(usize::MAX));
        let (src, dst) = (at(0)?, at(1)?);
        if steps.get(src) != steps.get(dst) {
            continue;
        }
        let step = u32::from(row.get::<_, u8>(2)? != LinkKind::Redirect.code());
        let Some(reached) = depths.get(src).and_then(|d| d.checked_add(step)) else { continue };
        if let Some(known) = depths.get_mut(dst).filter(|known| **known != u32::MAX && reached < **known) {
            *known = reached;
            changed = true;
        }
    }
    Ok(relax_aliases(db, depths)? || changed)
}

/// A page is as near as its withheld aliases; returns whether any became nearer.
fn relax_aliases(db: &Connection, depths: &mut [u32]) -> rusqlite::Result<bool> {
    let mut rows = db.prepare("SELECT page, target FROM alias_row WHERE tested = 0")?;
    let mut rows = rows.query([])?;
    let mut changed = false;
    while let Some(row) = rows.next()? {
        let at = |column| row.get::<_, i64>(column).map(|id| usize::try_from(id).unwrap_or(usize::MAX));
        let Some(reached) = depths.get(at(0)?).copied() else { continue };
        if let Some(known) = depths.get_mut(at(1)?).filter(|known| reached < **known) {
            *known = reached;
            changed = true;
        }
    }
    Ok(changed)
}
