//! How are HTML pages written as Markdown, one file each, with front matter?

use crate::ExportProgress;
use orb_answers::content::{decoded, markdown};
use orb_answers::{ContentExtent, HelperLimits, front_matter, page_file_name};
use orb_page::{PageId, RunId};
use orb_store::{ArchiveReader, CatalogueReader, PageRow, Result, StoreError};
use serde_json::json;
use std::io;
use std::path::Path;

/// How many pages were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownCounts {
    /// Pages written.
    pub written: u64,
    /// Pages whose content the archive should have but could not provide.
    pub unreadable: u64,
}

/// Gives the pages in the order of discovery to `put`.
pub(crate) fn export_markdown(
    (reader, archive): (&CatalogueReader, &ArchiveReader),
    (since, extent): (Option<RunId>, ContentExtent),
    mut put: impl FnMut(&Path, &str) -> io::Result<()>,
    watch: &mut ExportProgress<'_>,
) -> Result<MarkdownCounts> {
    let mut counts = MarkdownCounts::default();
    reader.each_html(since, |page| {
        if watch(counts.written).is_break() {
            return Err(StoreError::Stopped);
        }
        let Some(text) = told(archive, &page, extent) else {
            counts.unreadable += 1;
            return Ok(());
        };
        put(&page_file_name(PageId(page.id), &page.url), &text).map_err(StoreError::Output)?;
        counts.written += 1;
        Ok(())
    })?;
    Ok(counts)
}

/// The page with its front matter; `None` if the archive cannot provide its content.
fn told(archive: &ArchiveReader, page: &PageRow, extent: ContentExtent) -> Option<String> {
    let stored = archive.exchange(&page.warc()?).ok()?;
    let content = decoded(&stored).ok()?;
    let made = markdown(&page.url, &stored, &content, extent, HelperLimits::default());
    let mut facts = vec![("url", json!(page.url)), ("title", json!(page.title))];
    facts.extend(made.declared());
    facts.extend([
        ("lang", json!(page.lang)),
        ("fetched", json!(page.fetched_at)),
        ("last_modified", json!(page.last_modified)),
        ("digest", json!(page.digest)),
    ]);
    Some(format!("{}{}\n", front_matter(&facts), made.text.trim()))
}
