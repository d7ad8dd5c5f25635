//! How do the words of links come to the pages they point to?
//!
//! A crawl that begins a project has overheard it ([`Overheard`]). Otherwise the link table, which is clustered by the page a link is on, is read once in that
//! order. What is said of a page is gathered in memory ([`Heard`]); where that would take more than [`MEMORY`], the pages with the highest numbers are left to
//! another pass, so that memory is bounded whatever the number of links.

use super::heard::Heard;
use super::mark_of;
use super::overheard::Overheard;
use crate::CrawlError;
use orb_index::{AnchorWriter, IndexError, Searcher};
use orb_page::PageId;
use orb_store::{CatalogueReader, ProjectDir};

/// Bytes of texts gathered in one pass, and pages.
const MEMORY: usize = 64 << 20;
const PAGES: usize = 1 << 20;

/// Whether they were never written.
pub(super) fn are_missing(project: &ProjectDir) -> bool {
    Searcher::open(&project.text_index()).is_ok_and(|index| index.anchors_mark().is_none())
}

/// Pages that the index is about to hold, and what was overheard of them.
pub(super) type Expected<'a> = (&'a [PageId], Option<&'a Overheard>);

/// Writes the anchors of all pages in the index anew, unless that was done since the last batch: of these, where somebody knows what it is about to hold.
pub(super) fn fold(project: &ProjectDir, expected: Option<Expected<'_>>) -> Result<(), CrawlError> {
    let dir = project.text_index();
    let reader = CatalogueReader::open(&project.catalogue())?;
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
