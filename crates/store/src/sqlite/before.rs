//! What did earlier runs see of a page?
//!
//! Read from its visits, latest first. A temporary failure says nothing about the page; a response
//! that it is gone ends what was there; the other visits are its versions, and those flagged new or
//! updated were reported.

use orb_page::{Flag, Moment, PageHistory, PageId, PageKind, RunId, Version, WarcPosition};
use rusqlite::{CachedStatement, Connection, Row};
use std::sync::Arc;

/// Status codes that say that a page is gone.
const GONE: [u16; 2] = [404, 410];

/// Reads the visits of pages.
pub(super) struct BeforeReader<'db> {
    visits: CachedStatement<'db>,
}

impl<'db> BeforeReader<'db> {
    pub(super) fn new(db: &'db Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT v.run, v.flag, v.kind, v.at, v.status, v.mime, v.charset, v.length, v.digest, v.simhash, v.title, v.lang, v.etag,
                     v.last_modified, v.duplicate_of, f.name, v.warc_offset, v.warc_length
                   FROM visit_row v LEFT JOIN warc_row f ON f.id = v.warc WHERE v.page = ?1 ORDER BY v.run DESC";
        Ok(Self { visits: db.prepare_cached(sql)? })
    }

    /// What is known about a page; `None` if it was never visited.
    pub(super) fn read(&mut self, page: PageId) -> rusqlite::Result<Option<PageHistory>> {
        let mut rows = self.visits.query([page.0.cast_signed()])?;
        let mut known = None::<PageHistory>;
        while let Some(row) = rows.next()? {
            let before = known.get_or_insert_default();
            let flag = Flag::from_code(row.get(1)?);
            let status: Option<u16> = row.get(4)?;
            match flag {
                Some(Flag::Error) if before.latest.is_none() => {
                    before.misses += u32::from(status.is_some_and(|status| GONE.contains(&status)));
                }
                Some(Flag::New | Flag::Updated | Flag::Same) => {
                    let version = version(row)?;
                    let reported = flag != Some(Flag::Same);
                    if before.latest.is_none() {
                        before.there = is_document(version.kind);
                        before.latest = Some(version);
                    } else if reported {
                        before.reported = Some(version);
                    }
                    if reported {
                        break;
                    }
                }
                Some(Flag::Missing) => break,
                Some(Flag::Error) | None => {}
            }
        }
        Ok(known)
    }
}

fn is_document(kind: PageKind) -> bool {
    matches!(kind, PageKind::Html | PageKind::Binary | PageKind::Duplicate)
}

fn version(r: &Row<'_>) -> rusqlite::Result<Version> {
    let number = |i: usize| r.get::<_, Option<i64>>(i).map(|n| n.map(i64::cast_unsigned));
    let warc = match (r.get::<_, Option<String>>(15)?, number(16)?, number(17)?) {
        (Some(file), Some(offset), Some(length)) => Some(WarcPosition { file: Arc::from(file), offset, length }),
        _ => None,
    };
    Ok(Version {
        run: RunId(r.get(0)?),
        at: Moment(r.get(3)?),
        kind: PageKind::from_code(r.get(2)?).unwrap_or(PageKind::Binary),
        status: r.get(4)?,
        mime: r.get(5)?,
        charset: r.get(6)?,
        length: number(7)?.unwrap_or(0),
        digest: r.get(8)?,
        simhash: number(9)?,
        title: r.get(10)?,
        lang: r.get(11)?,
        etag: r.get(12)?,
        last_modified: r.get(13)?,
        duplicate_of: number(14)?.map(PageId),
        warc,
    })
}
