//! How are new and changed pages written as Markdown?
//!
//! One file per page, with front matter. A page's file is `host/number-words.md`, as `orb export
//! markdown` names it, so an earlier export is kept up to date. A page that is gone keeps its last
//! text and is marked. Writing is idempotent, so delivering twice does no harm.

use super::{OutputSource, PAGE};
use crate::CrawlError;
use orb_answers::ContentExtent;
use orb_answers::content::{MarkdownPage, decoded, markdown};
use orb_answers::{HelperLimits, front_matter, page_file_name};
use orb_page::{Flag, PageKind, WarcPosition};
use orb_store::{ArchiveReader, ReportRow};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// The flags that are written; a temporary failure says nothing about a page.
pub(super) const TOLD: [Flag; 3] = [Flag::New, Flag::Updated, Flag::Missing];

/// Writes the pages that changed.
pub(super) fn write(source: &OutputSource<'_>, dir: &Path) -> Result<u64, CrawlError> {
    let archive = ArchiveReader::open(source.project);
    let mut cursor = source.cursor();
    let mut delivered = 0;
    loop {
        let rows = source.reader.feed(cursor, &TOLD, PAGE)?;
        let Some(last) = rows.last().and_then(|row| row.seq) else { break };
        for row in &rows {
            if source.stop.is_set() {
                return Ok(delivered);
            }
            delivered += u64::from(put(&archive, dir, row)?);
        }
        cursor = last;
        source.mark_delivered(cursor)?;
    }
    source.mark_delivered(source.reader.last_change()?)?;
    Ok(delivered)
}

/// Writes a page's file; pages without text, or not in the archive, have none.
fn put(archive: &ArchiveReader, dir: &Path, row: &ReportRow) -> Result<bool, CrawlError> {
    let gone = is_gone(row);
    let place = if gone { &row.warc_before } else { &row.warc };
    let path = dir.join(page_file_name(row.page, &row.url));
    let wanted = if gone { path.exists() || is_text(row) } else { row.kind == Some(PageKind::Html) };
    let Some(page) = place.as_ref().filter(|_| wanted).and_then(|place| words(archive, &row.url, place)) else {
        return Ok(false);
    };
    let text = format!("{}{}\n", front_matter(&facts(row, &page)), page.text.trim());
    let fail = |e| CrawlError::Output { path: path.clone(), source: e };
    std::fs::create_dir_all(path.parent().unwrap_or(dir)).map_err(fail)?;
    replace(&path, &text).map_err(fail)?;
    Ok(true)
}

/// Whether it no longer exists at this URL.
fn is_gone(row: &ReportRow) -> bool {
    row.flag == Flag::Missing || row.kind == Some(PageKind::Redirect)
}

fn is_text(row: &ReportRow) -> bool {
    row.mime.as_deref().is_some_and(|mime| matches!(mime, "text/html" | "application/xhtml+xml"))
}

fn words(archive: &ArchiveReader, url: &str, place: &WarcPosition) -> Option<MarkdownPage> {
    let stored = archive.exchange(place).ok()?;
    let content = decoded(&stored).ok()?;
    Some(markdown(url, &stored, &content, ContentExtent::Main, HelperLimits::default()))
}

fn facts(row: &ReportRow, page: &MarkdownPage) -> Vec<(&'static str, Value)> {
    let gone = is_gone(row).then(|| row.at.to_string());
    let digest = if gone.is_some() { &row.digest_before } else { &row.digest };
    let mut facts = vec![("url", json!(row.url)), ("title", json!(row.title))];
    facts.extend(page.declared());
    facts.extend([
        ("lang", json!(row.lang)),
        ("fetched", json!(gone.is_none().then(|| row.at.to_string()))),
        ("digest", json!(digest)),
        ("flag", json!(row.flag)),
        ("run", json!(row.run)),
        ("change", json!(row.detail)),
        ("gone", json!(gone)),
        ("moved_to", json!(row.moved_to)),
    ]);
    facts
}

/// Replaces a file atomically.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("md.part");
    std::fs::write(&unfinished, text)?;
    std::fs::rename(&unfinished, path)
}
