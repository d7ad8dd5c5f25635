//! How do anchor texts reach the pages they point to?
//!
//! A crawl that starts a project has collected them on the way ([`Overheard`]). Otherwise the link
//! table, which is clustered by source page, is scanned once in that order. The anchor texts of
//! each page are gathered in memory ([`Heard`]); if that would exceed [`MEMORY`], the pages with
//! the highest numbers are left to another pass, so memory is bounded whatever the number of links.

use super::heard::Heard;
use super::mark_of;
use super::overheard::Overheard;
use crate::CrawlError;
use orb_index::{AnchorWriter, IndexError, Searcher};
use orb_page::PageId;
use orb_store::{CatalogueReader, ProjectDir};

/// Maximum bytes of texts per pass, and maximum pages.
const MEMORY: usize = 64 << 20;
const PAGES: usize = 1 << 20;

/// Whether they were never written.
pub(super) fn are_missing(project: &ProjectDir) -> bool {
    Searcher::open(&project.text_index()).is_ok_and(|index| index.anchors_mark().is_none())
}

/// Pages that the index is about to hold, and the anchor texts collected for them.
pub(super) type Expected<'a> = (&'a [PageId], Option<&'a Overheard>);

/// Rewrites the anchor texts of all pages in the index, unless that was done since the last batch;
/// `expected` is what the index is about to hold, if known.
pub(super) fn fold(project: &ProjectDir, expected: Option<Expected<'_>>) -> Result<(), CrawlError> {
    let dir = project.text_index();
    let reader = CatalogueReader::open(project)?;
    reader.at_one_moment(|reader| {
        let mark = mark_of(&reader.extent()?);
        let index = match Searcher::open(&dir) {
            Err(IndexError::Absent { .. }) => return Ok(()),
            other => other?,
        };
        if index.anchors_mark() == Some(&mark) {
            return Ok(());
        }
        let mut writer = AnchorWriter::open(&dir)?;
        let told = expected.and_then(|(pages, overheard)| overheard?.each(pages, &mark));
        if let Some(told) = told {
            for (page, texts, sources) in told {
                writer.put(page, texts, sources)?;
            }
            return Ok(writer.commit(&mark)?);
        }
        let held = match expected {
            Some(_) => Vec::new(),
            None => index.holdings()?.into_iter().map(|(page, _)| page).collect(),
        };
        let mut rest = expected.map_or(held.as_slice(), |(pages, _)| pages);
        while let [first, ..] = rest {
            let some = &rest[..rest.len().min(PAGES)];
            let end = some.last().map_or(*first, |last| PageId(last.0 + 1));
            let mut heard = Heard::of(some, MEMORY);
            reader.each_said(*first, end, |said| {
                heard.hear(&said);
                Ok::<_, CrawlError>(())
            })?;
            for (page, texts, sources) in heard.each() {
                writer.put(page, texts, sources)?;
            }
            rest = &rest[heard.len()..];
        }
        Ok(writer.commit(&mark)?)
    })
}
