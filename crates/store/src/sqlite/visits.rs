//! How do visits become rows?
//!
//! In page order, each with its links and images. A page gets a number for its links (`source`)
//! when some are first seen on it, and keeps it: the visit with which it was assigned stores it.

use super::commit::{file_id, name_id};
use super::links::{Earlier, LinkWriter};
use crate::{Batch, FinishedVisit};
use orb_page::{Flag, PageKind, RunId, Visit};
use rusqlite::{CachedStatement, Connection, params};
use std::collections::HashMap;
use std::sync::Arc;

/// The columns of `visit_row`.
pub(super) const VISIT_COLUMNS: &str =
    "page, run, flag, kind, at, by, status, mime, charset, length, transferred, digest, simhash,
    title, lang, etag, last_modified, duplicate_of, problem, elapsed_ms, warc, warc_offset, warc_length, source";

const VALUES: &str = "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)";

/// Writes the visits of a batch.
pub(super) struct VisitWriter<'db> {
    db: &'db Connection,
    run: RunId,
    next_source: i64,
    insert: CachedStatement<'db>,
    replace: CachedStatement<'db>,
    earlier: CachedStatement<'db>,
    links: LinkWriter<'db>,
    images: ImageWriter<'db>,
    bare: bool,
}

/// What was known about a page before a visit: its last run before this one, and the number of its
/// links.
#[derive(Clone, Copy, Default)]
struct PriorVisit {
    run: Option<u32>,
    source: Option<i64>,
}

impl<'db> VisitWriter<'db> {
    /// A writer that numbers pages with links from `next_source` on.
    pub(super) fn new(db: &'db Connection, run: RunId, next_source: i64) -> rusqlite::Result<Self> {
        Ok(Self {
            db,
            run,
            next_source,
            insert: db.prepare_cached(&format!("INSERT OR IGNORE INTO visit_row ({VISIT_COLUMNS}) {VALUES}"))?,
            replace: db.prepare_cached(&format!("INSERT OR REPLACE INTO visit_row ({VISIT_COLUMNS}) {VALUES}"))?,
            earlier: db.prepare_cached("SELECT max(run), max(source) FROM visit_row WHERE page = ?1 AND run < ?2")?,
            links: LinkWriter::new(db, run)?,
            images: ImageWriter::new(db)?,
            bare: false,
        })
    }

    /// Leaves links and images out.
    pub(super) fn bare(self, bare: bool) -> Self {
        Self { bare, ..self }
    }

    /// Writes them all; returns the number of the next page with links.
    pub(super) fn write(
        mut self,
        names: &mut HashMap<Arc<str>, i64>,
        files: &HashMap<Arc<str>, i64>,
        batch: &Batch,
    ) -> rusqlite::Result<i64> {
        let mut order: Vec<usize> = (0..batch.visits.len()).collect();
        // By page, so that each leaf of the index by page is touched once per batch.
        order.sort_unstable_by_key(|&i| batch.visits[i].visit.page);
        for i in order {
            let FinishedVisit { visit, targets, .. } = &batch.visits[i];
            let by = name_id(self.db, names, &visit.by)?;
            let file = visit.warc.as_ref().map(|w| file_id(self.db, files, &w.file)).transpose()?;
            let saw_content = match visit.flag {
                Flag::New | Flag::Updated | Flag::Missing => true,
                Flag::Same => !visit.links.is_empty(),
                // A redirect is no document, and points somewhere all the same.
                Flag::Error => visit.kind == PageKind::Redirect,
            };
            let before = self.before(visit)?;
            let (source, repeated) = self.record(visit, by, file, before)?;
            if saw_content && !self.bare {
                if let Some(source) = source {
                    let earlier = Earlier { rows: before.source.is_some() || repeated, run: before.run };
                    self.links.write(source, visit, targets, earlier)?;
                }
                if !self.may_come_back(visit, before)? {
                    self.images.write(visit, before.run.is_some() || repeated)?;
                }
            }
        }
        Ok(self.next_source)
    }

    /// What earlier runs saw of the page.
    fn before(&mut self, visit: &Visit) -> rusqlite::Result<PriorVisit> {
        if self.run.0 <= 1 {
            return Ok(PriorVisit::default());
        }
        let page = visit.page.0.cast_signed();
        self.earlier.query_row(params![page, self.run.0], |r| Ok(PriorVisit { run: r.get(0)?, source: r.get(1)? }))
    }

    /// Whether a document now redirects for the first time: if that leads back to it, the visit is
    /// withdrawn and its images still stand. Otherwise the next visit removes them.
    fn may_come_back(&self, visit: &Visit, before: PriorVisit) -> rusqlite::Result<bool> {
        let Some(run) = before.run.filter(|_| visit.kind == PageKind::Redirect) else { return Ok(false) };
        let sql = "SELECT kind <> ?3 FROM visit_row WHERE page = ?1 AND run = ?2";
        let values = params![visit.page.0.cast_signed(), run, PageKind::Redirect.code()];
        self.db.prepare_cached(sql)?.query_row(values, |r| r.get(0))
    }

    /// Writes the row of a visit; returns the number of the page's links, if it has any or had some
    /// before, and whether this run has visited the page before.
    fn record(
        &mut self,
        visit: &Visit,
        by: i64,
        file: Option<i64>,
        before: PriorVisit,
    ) -> rusqlite::Result<(Option<i64>, bool)> {
        let fresh = (before.source.is_none() && !visit.links.is_empty()).then_some(self.next_source);
        let mut own = fresh;
        let repeated = insert_visit(&mut self.insert, self.run, by, visit, (file, own))? == 0;
        if repeated {
            // Visited before in this run: the later visit replaces the earlier one, with the same
            // number.
            let page = visit.page.0.cast_signed();
            let kept: Option<i64> = self
                .db
                .prepare_cached("SELECT source FROM visit_row WHERE page = ?1 AND run = ?2")?
                .query_row(params![page, self.run.0], |r| r.get(0))?;
            own = kept.or(fresh);
            insert_visit(&mut self.replace, self.run, by, visit, (file, own))?;
        }
        if own.is_some() && own == fresh {
            self.db
                .prepare_cached("INSERT INTO source_row (id, page) VALUES (?1, ?2)")?
                .execute(params![own, visit.page.0.cast_signed()])?;
            self.next_source += 1;
        }
        Ok((before.source.or(own), repeated))
    }
}

fn insert_visit(
    insert: &mut CachedStatement<'_>,
    run: RunId,
    by: i64,
    visit: &Visit,
    (file, source): (Option<i64>, Option<i64>),
) -> rusqlite::Result<usize> {
    let warc = visit.warc.as_ref();
    insert.execute(params![
        visit.page.0.cast_signed(),
        run.0,
        visit.flag.code(),
        visit.kind.code(),
        visit.at.0,
        by,
        visit.status,
        visit.mime,
        visit.charset,
        visit.length.cast_signed(),
        visit.transferred.cast_signed(),
        visit.digest.as_ref().map(<[u8; 32]>::as_slice),
        visit.simhash.map(u64::cast_signed),
        visit.title,
        visit.lang,
        visit.etag,
        visit.last_modified,
        visit.duplicate_of.map(|p| p.0.cast_signed()),
        visit.problem,
        visit.elapsed_ms,
        file,
        warc.map(|w| w.offset.cast_signed()),
        warc.map(|w| w.length.cast_signed()),
        source,
    ])
}

/// Writes the images of one page after another; a page's later images replace its earlier ones.
struct ImageWriter<'db> {
    clear: CachedStatement<'db>,
    insert: CachedStatement<'db>,
}

impl<'db> ImageWriter<'db> {
    fn new(db: &'db Connection) -> rusqlite::Result<Self> {
        let clear = db.prepare_cached("DELETE FROM image_row WHERE page = ?1")?;
        let insert = db.prepare_cached(
            "INSERT OR REPLACE INTO image_row (page, seq, url, alt, width, height, mime) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        Ok(Self { clear, insert })
    }

    fn write(&mut self, visit: &Visit, again: bool) -> rusqlite::Result<()> {
        let page = visit.page.0.cast_signed();
        if again {
            self.clear.execute([page])?;
        }
        for (seq, image) in (0i64..).zip(&visit.images) {
            self.insert.execute(params![page, seq, image.url, image.alt, image.width, image.height, image.mime])?;
        }
        Ok(())
    }
}
