//! Which page has this URL?
//!
//! The table of keys (`keys`) names candidates, the catalogue decides. Pages that no sound run
//! covers are scanned.

use super::{Catalogue, CatalogueReader, PageRow};
use crate::error::{Result, StoreError};
use crate::keys::{KeyRun, KeyTable, PageRange, short_key};
use orb_page::{PageId, UrlKey};
use rusqlite::{Connection, OptionalExtension};
use std::path::PathBuf;

/// A table that lacks more than this many pages is opened again: it may have grown.
const STALE: u64 = 1 << 14;

impl CatalogueReader {
    /// The page with this canonical URL.
    pub fn page_by_url(&self, url: &str) -> Result<Option<PageRow>> {
        self.page_id_by_url(url)?.map_or(Ok(None), |id| self.page(id))
    }

    /// The number of the page with this canonical URL, also while a crawl is running: as of the
    /// last commit.
    pub fn page_id_by_url(&self, url: &str) -> Result<Option<PageId>> {
        let last = self.one("SELECT coalesce(max(id), 0) FROM page_row", [], |r| r.get::<_, i64>(0))?;
        let end = last.unwrap_or(0).cast_unsigned();
        let mut kept = self.keys.borrow_mut();
        let current = kept.take().filter(|table| table.gaps(end).iter().map(|gap| gap.len()).sum::<u64>() <= STALE);
        let table = current.map_or_else(|| self.open_keys(), Ok)?;
        let found = self.look_up(&table, url, end);
        *kept = Some(table);
        found
    }

    fn look_up(&self, table: &KeyTable, url: &str, end: u64) -> Result<Option<PageId>> {
        let key = short_key(UrlKey::of(url));
        let mut unsure = table.gaps(end);
        let mut candidates = Vec::new();
        for run in table.runs() {
            // A failing disk or a changed byte: the catalogue knows these pages, too.
            if run.find(key, &mut candidates).is_err() {
                unsure.push(run.span);
            }
        }
        for page in candidates {
            if self.url_at(page)?.as_deref() == Some(url) {
                return Ok(Some(PageId(page)));
            }
        }
        for span in unsure.drain(..) {
            if let Some(page) = self.scan(url, span)? {
                return Ok(Some(page));
            }
        }
        // Not there, if all runs are of this catalogue; one that was restored from a copy may have
        // others until it is written to.
        for run in table.runs() {
            let (key, page) = run.witness;
            if self.url_at(page)?.map(|url| short_key(UrlKey::of(&url))) != Some(key)
                && let Some(page) = self.scan(url, run.span)?
            {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn url_at(&self, page: u64) -> Result<Option<String>> {
        self.one("SELECT url FROM page_row WHERE id = ?1", [page.cast_signed()], |r| r.get(0))
    }

    fn scan(&self, url: &str, span: PageRange) -> Result<Option<PageId>> {
        let sql = "SELECT id FROM page_row WHERE id BETWEEN ?1 AND ?2 AND url = ?3";
        let found = self.one(sql, (span.first.cast_signed(), span.last.cast_signed(), url), |r| r.get::<_, i64>(0))?;
        Ok(found.map(|id| PageId(id.cast_unsigned())))
    }

    /// The table as it is now; an empty one where it cannot be read.
    fn open_keys(&self) -> Result<KeyTable> {
        match KeyTable::open(&self.keys_dir()) {
            Ok((table, _)) => Ok(table),
            Err(StoreError::Io { .. }) => Ok(KeyTable::empty()),
            Err(e) => Err(e),
        }
    }

    /// Where the table of keys lies.
    pub(crate) fn keys_dir(&self) -> PathBuf {
        self.path.with_file_name("keys")
    }

    /// Gives the URLs of up to `most` pages numbered from `first` to `last`, in order.
    pub(crate) fn urls_between(&self, first: u64, last: u64, most: u64, mut each: impl FnMut(u64, &str)) -> Result<()> {
        let fail = self.fail("read");
        let sql = "SELECT id, url FROM page_row WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
        self.each(("read", sql), [first.cast_signed(), last.cast_signed(), most.cast_signed()], |row| {
            let url = row.get_ref(1).and_then(|url| Ok(url.as_str()?)).map_err(&fail)?;
            each(row.get::<_, i64>(0).map_err(&fail)?.cast_unsigned(), url);
            Ok(())
        })
    }
}

impl Catalogue {
    /// Whether a run of keys is of this catalogue's history, as far as batches are listed and one
    /// of its pages can tell.
    pub(crate) fn has_recorded(&self, run: &KeyRun) -> Result<bool> {
        let fail = |e| StoreError::sql("read the pages", &self.path, e);
        let (key, page) = run.witness;
        if run.mark.no > self.watermark.no || run.span.last >= self.next_page {
            return Ok(false);
        }
        let nonce = nonce_of(&self.db, run.mark.no).map_err(fail)?;
        if nonce.is_some_and(|nonce| nonce != run.mark.nonce) {
            return Ok(false);
        }
        let mut row = self.db.prepare_cached("SELECT url FROM page_row WHERE id = ?1").map_err(fail)?;
        let url = row.query_row([page.cast_signed()], |r| r.get::<_, String>(0)).optional().map_err(fail)?;
        Ok(url.is_some_and(|url| short_key(UrlKey::of(&url)) == key))
    }
}

/// What distinguishes a batch from another of the same number; `None` where it is no longer listed.
fn nonce_of(db: &Connection, no: u64) -> rusqlite::Result<Option<u64>> {
    let mut row = db.prepare_cached("SELECT nonce FROM batch_row WHERE no = ?1")?;
    let nonce = row.query_row([no.cast_signed()], |r| r.get::<_, i64>(0)).optional()?;
    Ok(nonce.map(i64::cast_unsigned))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;
    use crate::keys::RunMaker;
    use crate::{Batch, Home, NewHost, Project, ProjectDir, check};
    use orb_page::{Discovered, HostId, Moment, PageKind, RunId, RunKind, SkipReason};
    use std::fs;
    use std::path::Path;

    fn url_of(page: u64) -> String {
        format!("http://a/{page}")
    }

    /// Commits this many new pages.
    fn grow(project: &mut Project, pages: u64) {
        let next = project.next_page_id().0;
        let mut batch = Batch { run: RunId(1), ..Batch::default() };
        if next == 1 {
            let at = Moment(1);
            batch.hosts.push(NewHost { id: HostId(1), scheme: "http".into(), name: "a".into(), port: 80, at });
        }
        batch.discovered.extend((next..next + pages).map(|page| Discovered {
            page: PageId(page),
            key: UrlKey::of(&url_of(page)),
            url: url_of(page),
            host: HostId(1),
            kind: PageKind::Outside,
            why: Some(SkipReason::Scope),
            depth: 0,
            redirects: 0,
            priority: 0.0,
            rank: page,
            at: Moment(1),
            by: "t".into(),
            step: None,
            asked: None,
            from: None,
        }));
        project.commit(&mut batch).unwrap();
    }

    fn fresh(home: &Path) -> (ProjectDir, Project) {
        let dir = Home::open(home).unwrap().project("p").unwrap();
        let mut project = Project::open(&dir).unwrap();
        project.begin_run(RunKind::Crawl, "").unwrap();
        (dir, project)
    }

    /// Looks for every page up to `end`, and for some that are not there.
    fn look_up_all(reader: &CatalogueReader, end: u64) {
        for page in 1..=end {
            assert_eq!(reader.page_id_by_url(&url_of(page)).unwrap(), Some(PageId(page)), "{page} of {end}");
        }
        for page in [0, end + 1, end + 1_000] {
            assert_eq!(reader.page_id_by_url(&url_of(page)).unwrap(), None, "{page} of {end}");
        }
    }

    fn files(dir: &ProjectDir) -> Vec<String> {
        let names = fs::read_dir(dir.keys()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn pages_are_found_during_a_crawl_and_through_many_of_them() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, mut project) = fresh(tmp.path());
        let kept = CatalogueReader::open(&dir).unwrap();
        for round in 1..=10 {
            grow(&mut project, 40);
            look_up_all(&kept, round * 40);
            project.close().unwrap();
            let missing: u64 =
                KeyTable::open(&dir.keys()).unwrap().0.gaps(round * 40).iter().map(|gap| gap.len()).sum();
            assert_eq!(missing, 0);
            look_up_all(&kept, round * 40);
            look_up_all(&CatalogueReader::open(&dir).unwrap(), round * 40);
            project = Project::open(&dir).unwrap();
        }
        drop(project);
        // Eight were merged, and their parts are gone.
        assert_eq!(files(&dir), ["1-320.run", "321-360.run", "361-400.run"]);
        let report = check(&dir).unwrap();
        assert!(report.is_clean() && report.notes.is_empty(), "{report:?}");
    }

    #[test]
    fn a_table_that_is_missing_damaged_or_unfinished_is_made_again() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, mut project) = fresh(tmp.path());
        grow(&mut project, 900);
        project.close().unwrap();
        let whole = fs::read(dir.keys().join("1-900.run")).unwrap();
        let reopened = || {
            look_up_all(&CatalogueReader::open(&dir).unwrap(), 900);
            Project::open(&dir).unwrap().close().unwrap();
            assert_eq!(files(&dir), ["1-900.run"]);
            let report = check(&dir).unwrap();
            assert!(report.is_clean() && report.notes.is_empty(), "{report:?}");
            assert_eq!(&fs::read(dir.keys().join("1-900.run")).unwrap()[4_096..], &whole[4_096..]);
        };
        fs::remove_dir_all(dir.keys()).unwrap();
        assert!(check(&dir).unwrap().notes[0].contains("lacks 900 of 900 pages"));
        reopened();
        for at in [20, 4_096 + 100, 3 * 4_096 + 7] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(dir.keys().join("1-900.run"), bytes).unwrap();
            assert_eq!(check(&dir).unwrap().findings.iter().filter(|f| f.store == "keys").count(), 1);
            reopened();
        }
        fs::rename(dir.keys().join("1-900.run"), dir.keys().join("1-900.new")).unwrap();
        reopened();
    }

    #[test]
    fn runs_of_another_history_are_told_and_replaced() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, mut project) = fresh(tmp.path());
        grow(&mut project, 10);
        project.close().unwrap();
        let copy = fs::read(dir.catalogue()).unwrap();
        let mut project = Project::open(&dir).unwrap();
        grow(&mut project, 10);
        project.close().unwrap();
        // An older copy of the catalogue: what came after it has never been.
        fs::write(dir.catalogue(), copy).unwrap();
        look_up_all(&CatalogueReader::open(&dir).unwrap(), 10);
        assert!(check(&dir).unwrap().notes.iter().any(|note| note.contains("11-20.run belongs to another history")));
        let mut project = Project::open(&dir).unwrap();
        grow(&mut project, 3);
        project.close().unwrap();
        look_up_all(&CatalogueReader::open(&dir).unwrap(), 13);
        assert_eq!(files(&dir), ["1-10.run", "11-13.run"]);
    }

    #[test]
    fn pages_that_share_a_key_are_told_apart_by_their_urls() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, mut project) = fresh(tmp.path());
        grow(&mut project, 600);
        project.close().unwrap();
        let reader = CatalogueReader::open(&dir).unwrap();
        let mark = KeyTable::open(&dir.keys()).unwrap().0.runs()[0].mark;
        // As if all of them had the key of page 444, over more than one block.
        let key = short_key(UrlKey::of(&url_of(444)));
        let mut maker = RunMaker::new(&dir.keys(), PageRange { first: 1, last: 600 }, mark).unwrap();
        (1..=600).for_each(|page| maker.push((key, page)).unwrap());
        maker.finish(&dir.keys()).unwrap();
        assert_eq!(reader.page_id_by_url(&url_of(444)).unwrap(), Some(PageId(444)));
    }
}
