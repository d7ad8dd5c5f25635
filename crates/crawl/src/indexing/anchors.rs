//! How do the words of links come to the pages they point to?
//!
//! The link table is clustered by the page a link is on, and read once in that order. What is said of a page is gathered in memory; where that would
//! take more than [`MEMORY`], the pages with the highest numbers are left to another pass, so that memory is bounded whatever the number of
//! links. Of a page, [`TEXTS`] different texts are kept.

use super::mark_of;
use crate::CrawlError;
use orb_index::{AnchorWriter, IndexError, Searcher, up_to};
use orb_page::PageId;
use orb_store::{CatalogueReader, ProjectDir, Said};
use std::collections::BTreeMap;

/// Bytes of texts gathered in one pass, about.
const MEMORY: usize = 64 << 20;

/// Different texts kept of a page, and bytes kept of one.
const TEXTS: usize = 64;
const LONGEST: usize = 200;

/// What is said of one page.
#[derive(Default)]
struct Heard {
    texts: Vec<(Box<str>, u64)>,
    sources: u64,
    last: PageId,
}

/// Whether they were never written.
pub(super) fn are_missing(project: &ProjectDir) -> bool {
    Searcher::open(&project.text_index()).is_ok_and(|index| index.anchors_mark().is_none())
}

/// Writes the anchors of all pages in the index anew, unless that was done since the last batch.
pub(super) fn fold(project: &ProjectDir) -> Result<(), CrawlError> {
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
        let pages: Vec<PageId> = index.holdings()?.into_iter().map(|(page, _)| page).collect();
        let writer = AnchorWriter::open(&dir)?;
        let mut from = Some(PageId(0));
        while let Some(begin) = from {
            let (heard, rest) = gather(reader, begin, &pages, MEMORY)?;
            for (page, heard) in &heard {
                writer.put(*page, heard.texts.iter().map(|(text, count)| (&**text, *count)), heard.sources)?;
            }
            from = rest;
        }
        Ok(writer.commit(&mark)?)
    })
}

/// What is said of pages from a number on, and from where on another pass is needed.
fn gather(
    reader: &CatalogueReader,
    from: PageId,
    wanted: &[PageId],
    memory: usize,
) -> Result<(BTreeMap<PageId, Heard>, Option<PageId>), CrawlError> {
    let mut heard: BTreeMap<PageId, Heard> = BTreeMap::new();
    let (mut size, mut end) = (0, None);
    reader.each_said(from, PageId(i64::MAX.cast_unsigned()), |said: Said<'_>| {
        if said.src == said.dst || end.is_some_and(|end| said.dst >= end) || wanted.binary_search(&said.dst).is_err() {
            return Ok::<_, CrawlError>(());
        }
        size += hear(heard.entry(said.dst).or_default(), &said);
        while size > memory && heard.len() > 1 {
            if let Some((page, gone)) = heard.pop_last() {
                size -= gone.texts.iter().map(|(text, _)| weight(text)).sum::<usize>().min(size);
                end = Some(page);
            }
        }
        Ok(())
    })?;
    Ok((heard, end))
}

fn weight(text: &str) -> usize {
    text.len() + 48
}

/// Notes what one link says; how many bytes that takes.
fn hear(heard: &mut Heard, said: &Said<'_>) -> usize {
    if heard.last != said.src {
        (heard.last, heard.sources) = (said.src, heard.sources + 1);
    }
    let text = up_to(said.anchor, LONGEST);
    if let Some((_, count)) = heard.texts.iter_mut().find(|(known, _)| &**known == text) {
        *count += said.count;
        return 0;
    }
    if heard.texts.len() >= TEXTS {
        return 0;
    }
    heard.texts.push((text.into(), said.count));
    weight(text)
}
