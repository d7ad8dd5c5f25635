//! What does the text indexer read?
//!
//! Every page that was fetched successfully and has text, as the last reported visit saw it, in
//! order of page numbers, with its archive position; and the anchor texts of links. Inside
//! [`CatalogueReader::at_one_moment`] both come from one snapshot.

use super::CatalogueReader;
use super::schema::{KIND, TOLD};
use crate::error::StoreError;
use orb_page::{HostId, LinkKind, Moment, PageId, PageKind, WarcPosition};
use rusqlite::{Row, params};

/// A page with text, as its latest visit saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worded {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its URL.
    pub url: String,
    /// Its kind.
    pub kind: PageKind,
    /// When it was fetched.
    pub at: Moment,
    /// Status code.
    pub status: Option<u16>,
    /// Media type.
    pub mime: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Language.
    pub lang: Option<String>,
    /// SimHash of its text.
    pub simhash: Option<u64>,
    /// The page whose content it duplicates.
    pub duplicate_of: Option<PageId>,
    /// Its archive position.
    pub warc: Option<WarcPosition>,
    /// The step of the project that collects it.
    pub step: Option<u32>,
}

/// The anchor text of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAnchor<'a> {
    /// The page it points to.
    pub dst: PageId,
    /// The page it is on.
    pub src: PageId,
    /// Its text.
    pub anchor: &'a str,
    /// Its number of occurrences there.
    pub count: u64,
}

impl CatalogueReader {
    /// Every page that was fetched successfully and has a text or a title, in order of page
    /// numbers.
    pub fn each_worded<E: From<StoreError>>(&self, mut tell: impl FnMut(Worded) -> Result<(), E>) -> Result<(), E> {
        let sql = format!(
            "SELECT p.id, p.host, p.url, {KIND}, v.at, v.status, v.mime, v.title, v.lang, v.simhash, v.duplicate_of, f.name, v.warc_offset,
               v.warc_length, p.step
             FROM page_row p {TOLD} LEFT JOIN warc_row f ON f.id = v.warc
             WHERE p.kind = 0 AND v.status BETWEEN 200 AND 299 AND (v.simhash NOTNULL OR v.title NOTNULL) ORDER BY p.id"
        );
        self.each_read(("read the visits", &sql), [], worded, |page| page.map_or(Ok(()), &mut tell))
    }

    /// The anchor texts of current links to the pages numbered `from` up to, not including, `to`,
    /// in the order of source pages.
    pub fn each_said<E: From<StoreError>>(
        &self,
        from: PageId,
        to: PageId,
        mut tell: impl FnMut(LinkAnchor<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let fail = self.fail("read the links");
        let sql = format!(
            "SELECT l.dst, s.page, l.anchor, l.count FROM source_row s CROSS JOIN link_row l ON l.source = s.id
             WHERE l.dst >= ?1 AND l.dst < ?2 AND l.anchor NOTNULL AND l.last_run IS NULL AND l.kind IN ({})",
            LinkKind::SPOKEN.map(|k| k.code().to_string()).join(", ")
        );
        let number = |row: &Row<'_>, i| row.get::<_, i64>(i).map(i64::cast_unsigned);
        self.each(("read the links", &sql), params![from.0.cast_signed(), to.0.cast_signed()], |row| {
            let read = || {
                let anchor = row.get_ref(2)?.as_str()?;
                Ok(LinkAnchor {
                    dst: PageId(number(row, 0)?),
                    src: PageId(number(row, 1)?),
                    anchor,
                    count: number(row, 3)?,
                })
            };
            tell(read().map_err(|e: rusqlite::Error| fail(e))?)
        })
    }
}

fn worded(row: &Row<'_>) -> rusqlite::Result<Option<Worded>> {
    let number = |i| row.get::<_, Option<i64>>(i).map(|n| n.map(i64::cast_unsigned));
    let Some(kind) = PageKind::from_code(row.get(3)?) else { return Ok(None) };
    let file: Option<String> = row.get(11)?;
    let warc = match (file, number(12)?, number(13)?) {
        (Some(file), Some(offset), Some(length)) => Some(WarcPosition { file: file.into(), offset, length }),
        _ => None,
    };
    Ok(Some(Worded {
        page: PageId(number(0)?.unwrap_or(0)),
        host: HostId(row.get(1)?),
        url: row.get(2)?,
        kind,
        at: Moment(row.get(4)?),
        status: row.get(5)?,
        mime: row.get(6)?,
        title: row.get(7)?,
        lang: row.get(8)?,
        simhash: number(9)?,
        duplicate_of: number(10)?.map(PageId),
        warc,
        step: row.get(14)?,
    }))
}
