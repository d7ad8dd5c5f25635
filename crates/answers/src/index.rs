//! How does the text index relate to the catalogue?
//!
//! A merge join of both by page number: what the index lacks, or has from an earlier visit, is
//! missing; what the catalogue does not want indexed is extra. It needs 16 bytes per page of the
//! index: a number and a moment.

use crate::guard::guarded;
use crate::{AnswerError, Collection, Result};
use orb_index::{IndexError, Searcher, is_searchable, mark};
use orb_page::{Moment, PageId};
use orb_store::{CatalogueReader, CheckReport, Finding, ProjectDir, StoreError, Worded};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The text index: its size, and what it lacks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IndexStatus {
    /// The project.
    pub project: String,
    /// Pages in the index.
    pub pages: u64,
    /// Whether it has reached the catalogue's last batch.
    pub current: bool,
    /// The state of the anchor texts: `current`, `older` or `none`.
    pub anchors: &'static str,
    /// Number of segments.
    pub segments: usize,
    /// Total size of its files in bytes.
    pub bytes: u64,
    /// What it lacks and will catch up with.
    pub notes: Vec<String>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// The state of the text index.
pub fn index_status(collection: &Collection) -> Result<IndexStatus> {
    let index = collection.searcher()?;
    let extent = collection.catalogue().extent()?;
    let now = mark(extent.batch, extent.nonce);
    let mut report = CheckReport::default();
    check_index(collection.project(), &mut report)?;
    Ok(IndexStatus {
        project: collection.name().to_owned(),
        pages: index.pages(),
        current: index.mark() == Some(&now),
        anchors: match index.anchors_mark() {
            Some(at) if at == now => "current",
            Some(_) => "older",
            None => "none",
        },
        segments: index.segments(),
        bytes: size(&collection.project().text_index()),
        notes: report.notes,
        findings: report.findings,
    })
}

/// Total size of all files below a directory.
fn size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

/// Compares the index with its checksums and with the catalogue, and adds what was found to a
/// report. An index that is behind lacks nothing that the next crawl would not add.
pub fn check_index(project: &ProjectDir, report: &mut CheckReport) -> Result<()> {
    guarded(project, || checked(project, report))?
}

fn checked(project: &ProjectDir, report: &mut CheckReport) -> Result<()> {
    let index = match Searcher::open(&project.text_index()) {
        Err(IndexError::Absent { .. }) => return Ok(()),
        Err(e @ IndexError::Outdated { .. }) => {
            report.notes.push(format!("{e}; the next crawl or search rebuilds it from the archive"));
            return Ok(());
        }
        Err(e @ IndexError::Unfit { .. }) => {
            report.find("index", format!("{e}; run orb index rebuild"));
            return Ok(());
        }
        other => other?,
    };
    for file in index.damaged()? {
        report.find("index", format!("{} is damaged; run orb index rebuild", file.display()));
    }
    if !report.is_clean() {
        return Ok(());
    }
    let reader = CatalogueReader::open(project)?;
    reader.at_one_moment(|reader| {
        let (missing, extra) = stale_pages(reader, &index.holdings()?)?;
        let extent = reader.extent()?;
        let current = index.mark() == Some(mark(extent.batch, extent.nonce).as_str());
        report.counts.indexed = index.pages();
        match (current, missing.len(), extra.len()) {
            (_, 0, 0) => {}
            (true, missing, extra) => {
                report.find("index", format!("it lacks {missing} pages and has {extra} too many; run orb index rebuild"));
            }
            (false, missing, extra) => report.notes.push(format!(
                "the text index is behind by {missing} pages and has {extra} that are gone; it catches up at the end of the next crawl, or by orb index update"
            )),
        }
        Ok::<_, AnswerError>(())
    })
}

/// Pages that an index lacks or has from an earlier visit, and pages it has in excess, given what
/// it holds, by number.
pub fn stale_pages(
    reader: &CatalogueReader,
    held: &[(PageId, Moment)],
) -> std::result::Result<(Vec<PageId>, Vec<PageId>), StoreError> {
    let mut walk = Walk { held, at: 0, missing: Vec::new(), extra: Vec::new() };
    each_searchable(reader, |page| {
        walk.want(page.page, page.at);
        Ok::<_, StoreError>(())
    })?;
    Ok(walk.finish())
}

/// Calls back with every searchable page, by number.
pub fn each_searchable<E: From<StoreError>>(
    reader: &CatalogueReader,
    mut tell: impl FnMut(Worded) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    reader.each_worded(|page| if is_searchable(page.kind, page.status, true) { tell(page) } else { Ok(()) })
}

/// A merge join of two lists of pages by number.
struct Walk<'a> {
    held: &'a [(PageId, Moment)],
    at: usize,
    missing: Vec<PageId>,
    extra: Vec<PageId>,
}

impl Walk<'_> {
    fn want(&mut self, page: PageId, when: Moment) {
        while let Some((other, _)) = self.held.get(self.at).filter(|(other, _)| *other < page) {
            self.extra.push(*other);
            self.at += 1;
        }
        match self.held.get(self.at) {
            Some((other, then)) if *other == page => {
                self.at += 1;
                if *then != when {
                    self.missing.push(page);
                }
            }
            _ => self.missing.push(page),
        }
    }

    fn finish(mut self) -> (Vec<PageId>, Vec<PageId>) {
        self.extra.extend(self.held[self.at..].iter().map(|(page, _)| *page));
        (self.missing, self.extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_old_or_too_much_is_told() {
        let held = [(1, 1), (2, 1), (5, 1), (9, 1)].map(|(page, at)| (PageId(page), Moment(at)));
        let mut walk = Walk { held: &held, at: 0, missing: Vec::new(), extra: Vec::new() };
        for (page, at) in [(1, 1), (3, 1), (5, 2)] {
            walk.want(PageId(page), Moment(at));
        }
        assert_eq!(walk.finish(), (vec![PageId(3), PageId(5)], vec![PageId(2), PageId(9)]));
    }
}
