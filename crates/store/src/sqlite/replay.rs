//! What must the frontier index contain, according to the facts?
//!
//! The index is derived. It is rebuilt by [`ReplayedFacts::each_page`], a merge join of two
//! sequential scans (pages by number, visits by page), in bounded memory. If it only missed the
//! last batches it catches up: `batch_row` lists the pages and hosts each of them touched, and
//! their current state is read from the tables, so catching up twice does no harm. The nonce of a
//! batch distinguishes two histories with equal numbers (a catalogue restored from a copy).

use super::schema::{LATEST, QUEUED};
use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use crate::{HostRecord, RobotsRecord};
use orb_page::{HostId, Moment, PageId, PageKind, SkipReason};
use rusqlite::{Connection, OptionalExtension, Row, Rows, params};
use std::hash::BuildHasher;
use std::path::Path;

/// The batch that a store has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watermark {
    /// The batch's number, from 1.
    pub(crate) no: u64,
    /// A random number for the batch.
    pub(crate) nonce: u64,
}

impl Watermark {
    /// The watermark of the next batch.
    pub(crate) fn next(self) -> Self {
        let nonce = std::hash::RandomState::new().hash_one((self.no, self.nonce, Moment::now().0));
        Self { no: self.no + 1, nonce }
    }
}

/// A page as the index needs it.
#[derive(Debug)]
pub(crate) struct PageState<'a> {
    pub(crate) id: PageId,
    pub(crate) url: &'a str,
    pub(crate) host: HostId,
    pub(crate) rank: u64,
    pub(crate) queued: bool,
    /// Whether it is outside, but not because of a trap.
    pub(crate) parked: bool,
    /// The digests this page was the first to have, with the runs they were seen in.
    pub(crate) owned: &'a [(u32, [u8; 32])],
}

/// Distinct pages and hosts whose state may have changed.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub(crate) pages: Vec<u64>,
    pub(crate) hosts: Vec<u64>,
    /// Re-queued pages with their previous positions, in order.
    pub(crate) moved: Vec<(u64, u64)>,
}

/// A host as the index needs it.
pub(crate) type HostState = HostRecord;

impl Catalogue {
    pub(super) fn read_watermark(&self) -> Result<Watermark> {
        let row = self.db.query_row("SELECT no, nonce FROM batch_row ORDER BY no DESC LIMIT 1", [], |r| {
            Ok(Watermark { no: r.get::<_, i64>(0)?.cast_unsigned(), nonce: r.get::<_, i64>(1)?.cast_unsigned() })
        });
        Ok(row.optional().map_err(|e| StoreError::sql("read the last batch", &self.path, e))?.unwrap_or_default())
    }

    /// The last batch recorded.
    pub(crate) fn watermark(&self) -> Watermark {
        self.watermark
    }

    /// The facts, for deriving something from them.
    pub(crate) fn facts(&self) -> ReplayedFacts<'_> {
        ReplayedFacts { db: &self.db, path: &self.path }
    }
}

/// The facts, read in bulk.
#[derive(Clone, Copy)]
pub(crate) struct ReplayedFacts<'a> {
    pub(super) db: &'a Connection,
    pub(super) path: &'a Path,
}

impl ReplayedFacts<'_> {
    fn fail(&self) -> impl Fn(rusqlite::Error) -> StoreError {
        let path = self.path.to_owned();
        move |e| StoreError::sql("read the facts", &path, e)
    }

    /// What the batches after this mark touched, or `None` if a store at the mark cannot catch up:
    /// another batch of that number was recorded here, or later ones are no longer listed.
    pub(crate) fn touched_since(&self, mark: Watermark) -> Result<Option<Touched>> {
        let first = "SELECT no, nonce FROM batch_row WHERE no >= ?1 ORDER BY no LIMIT 1";
        let (listed, nonce) = self
            .db
            .query_row(first, [mark.no.cast_signed()], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?)))
            .optional()
            .map_err(self.fail())?
            .unwrap_or_default();
        let begins = mark.no == 0 && listed <= 1;
        if !begins && (listed.cast_unsigned(), nonce.cast_unsigned()) != (mark.no, mark.nonce) {
            return Ok(None);
        }
        let mut rows =
            self.db.prepare("SELECT pages, hosts, requeued FROM batch_row WHERE no > ?1").map_err(self.fail())?;
        let mut rows = rows.query([mark.no.cast_signed()]).map_err(self.fail())?;
        let mut touched = Touched::default();
        while let Some(row) = rows.next().map_err(self.fail())? {
            let blob = |i: usize| row.get_ref(i).and_then(|v| Ok(v.as_blob()?)).map_err(self.fail());
            unpack(blob(0)?, &mut touched.pages);
            unpack(blob(1)?, &mut touched.hosts);
            unpack_pairs(blob(2)?, &mut touched.moved);
        }
        touched.pages.extend(touched.moved.iter().map(|(page, _)| *page));
        for list in [&mut touched.pages, &mut touched.hosts] {
            list.sort_unstable();
            list.dedup();
        }
        touched.moved.sort_unstable();
        Ok(Some(touched))
    }

    /// Every page from number `from` on, in order.
    pub(crate) fn each_page(&self, from: u64, mut f: impl FnMut(&PageState<'_>) -> Result<()>) -> Result<()> {
        let fail = self.fail();
        let mut pages = self
            .db
            .prepare("SELECT id, url, host, kind, rank, again, why FROM page_row WHERE id >= ?1 ORDER BY id")
            .map_err(&fail)?;
        let mut visits = self
            .db
            .prepare("SELECT page, run, kind, duplicate_of, digest FROM visit_row WHERE page >= ?1 ORDER BY page, run")
            .map_err(&fail)?;
        let mut pages = pages.query([from.cast_signed()]).map_err(&fail)?;
        let mut visits = VisitCursor::new(visits.query([from.cast_signed()]).map_err(&fail)?).map_err(&fail)?;
        let reasons = self.parking_reasons().map_err(&fail)?;
        while let Some(row) = pages.next().map_err(&fail)? {
            let id = row.get::<_, i64>(0).map_err(&fail)?;
            let last = visits.advance(id).map_err(&fail)?;
            let state = read_page(row, last, &visits.owned, &reasons).map_err(&fail)?;
            f(&state)?;
        }
        Ok(())
    }

    /// One page, if there is such a number.
    pub(crate) fn page(&self, id: u64, mut f: impl FnMut(&PageState<'_>) -> Result<()>) -> Result<()> {
        self.pages([id].into_iter(), &mut f)
    }

    /// Those of these pages that exist.
    pub(crate) fn pages(
        &self,
        ids: impl Iterator<Item = u64>,
        mut f: impl FnMut(&PageState<'_>) -> Result<()>,
    ) -> Result<()> {
        let fail = self.fail();
        let mut page = self
            .db
            .prepare_cached("SELECT id, url, host, kind, rank, again, why FROM page_row WHERE id = ?1")
            .map_err(&fail)?;
        let mut visits = self
            .db
            .prepare_cached("SELECT page, run, kind, duplicate_of, digest FROM visit_row WHERE page = ?1 ORDER BY run")
            .map_err(&fail)?;
        let reasons = self.parking_reasons().map_err(&fail)?;
        for id in ids {
            let mut rows = page.query([id.cast_signed()]).map_err(&fail)?;
            let Some(row) = rows.next().map_err(&fail)? else { continue };
            let mut visits = VisitCursor::new(visits.query([id.cast_signed()]).map_err(&fail)?).map_err(&fail)?;
            let last = visits.advance(id.cast_signed()).map_err(&fail)?;
            f(&read_page(row, last, &visits.owned, &reasons).map_err(&fail)?)?;
        }
        Ok(())
    }

    /// Numbers of the reasons other than traps.
    fn parking_reasons(&self) -> rusqlite::Result<Vec<i64>> {
        let mut rows = self.db.prepare_cached("SELECT id, name FROM name_row")?;
        let names = rows.query_map([], |r| Ok((r.get(0)?, r.get::<_, String>(1)?)))?;
        // A reason that this version does not know is no trap that it knows.
        let parking = |name: &str| SkipReason::from_name(name).is_none_or(|why| why.trap().is_none());
        names.filter(|n| n.as_ref().map_or(true, |(_, name)| parking(name))).map(|n| n.map(|(id, _)| id)).collect()
    }

    /// Every host from number `from` on, in order; with `only`, just that one.
    pub(crate) fn each_host(&self, from: u32, only: bool, mut f: impl FnMut(&HostState) -> Result<()>) -> Result<()> {
        let fail = self.fail();
        let mut rows = self
            .db
            .prepare_cached(
                "SELECT h.id, h.scheme, h.name, h.port, h.not_before, h.backoff_ms, r.at, r.status, r.text, r.crawl_delay
                 FROM host_row h LEFT JOIN robots_row r ON r.host = h.id AND r.at > 0
                 WHERE h.id >= ?1 AND h.id <= ?2 ORDER BY h.id",
            )
            .map_err(&fail)?;
        let to = if only { from } else { u32::MAX };
        let mut rows = rows.query(params![from, to]).map_err(&fail)?;
        while let Some(row) = rows.next().map_err(&fail)? {
            f(&read_host(row).map_err(&fail)?)?;
        }
        Ok(())
    }

    /// Number of queued pages.
    pub(crate) fn count_queued(&self) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM page_row p {LATEST} WHERE {QUEUED}");
        self.db.query_row(&sql, [], |r| r.get::<_, i64>(0)).map(i64::cast_unsigned).map_err(self.fail())
    }
}

/// A visit and the archive position of its response.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) url: String,
    /// The file's number in order of creation.
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) digest: Option<[u8; 32]>,
    pub(crate) content_length: u64,
    pub(crate) status: Option<u16>,
}

impl CatalogueReader {
    /// Every visit in the archive, in archive order, with the position of its file in the list of
    /// files: their numbers may have gaps.
    pub(crate) fn each_placed(&self, mut f: impl FnMut(&Placed) -> Result<()>) -> Result<()> {
        let sql = "SELECT p.url, coalesce(f.no, 1 + (SELECT count(*) FROM warc_row)), v.warc_offset, v.warc_length, v.digest, v.length,
                     v.status
                   FROM visit_row v JOIN page_row p ON p.id = v.page
                   LEFT JOIN (SELECT id, row_number() OVER (ORDER BY id) AS no FROM warc_row) f ON f.id = v.warc
                   WHERE v.warc NOTNULL ORDER BY 2, v.warc_offset";
        let read = |row: &Row<'_>| {
            let number = |i: usize| row.get::<_, Option<i64>>(i).map(|n| n.unwrap_or(0).cast_unsigned());
            Ok(Placed {
                url: row.get(0)?,
                file: number(1)?,
                offset: number(2)?,
                length: number(3)?,
                digest: row.get(4)?,
                content_length: number(5)?,
                status: row.get(6)?,
            })
        };
        self.each_read(("read the visits", sql), [], read, |placed| f(&placed))
    }

    /// The result of a counting query.
    pub(crate) fn count(&self, sql: &str) -> Result<u64> {
        let count = self.one_for(("count", sql), [], |r| r.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0).cast_unsigned())
    }

    /// What SQLite's integrity check reports.
    pub(crate) fn integrity(&self) -> Result<Vec<String>> {
        let lines: Vec<String> = self.all_for(("examine", "PRAGMA integrity_check(100)"), [], |r| r.get(0))?;
        Ok(if lines == ["ok"] { Vec::new() } else { lines })
    }
}

/// A visit passed by the cursor: page, run, and the digest if the page was the first to have it.
type PassedVisit = (i64, u32, Option<[u8; 32]>);

/// Advances through the visits in step with the pages.
struct VisitCursor<'rows> {
    rows: Rows<'rows>,
    ahead: Option<PassedVisit>,
    owned: Vec<(u32, [u8; 32])>,
}

impl<'rows> VisitCursor<'rows> {
    fn new(rows: Rows<'rows>) -> rusqlite::Result<Self> {
        let mut cursor = Self { rows, ahead: None, owned: Vec::new() };
        cursor.ahead = cursor.read()?;
        Ok(cursor)
    }

    fn read(&mut self) -> rusqlite::Result<Option<PassedVisit>> {
        let Some(row) = self.rows.next()? else { return Ok(None) };
        let kind: u8 = row.get(2)?;
        let owns = row.get_ref(3)?.as_i64_or_null()?.is_none()
            && (kind == PageKind::Html.code() || kind == PageKind::Binary.code());
        let digest = if owns { row.get::<_, Option<[u8; 32]>>(4)? } else { None };
        Ok(Some((row.get(0)?, row.get(1)?, digest)))
    }

    /// Reads on to the end of this page's visits; returns the last run that visited it.
    fn advance(&mut self, page: i64) -> rusqlite::Result<Option<u32>> {
        self.owned.clear();
        let mut last = None;
        while let Some((id, run, digest)) = self.ahead {
            if id > page {
                break;
            }
            if id == page {
                last = Some(run);
                self.owned.extend(digest.map(|d| (run, d)));
            }
            self.ahead = self.read()?;
        }
        Ok(last)
    }
}

fn read_page<'a>(
    row: &'a Row<'_>,
    last: Option<u32>,
    owned: &'a [(u32, [u8; 32])],
    reasons: &[i64],
) -> rusqlite::Result<PageState<'a>> {
    let kind: u8 = row.get(3)?;
    let again: Option<u32> = row.get(5)?;
    let why: Option<i64> = row.get(6)?;
    Ok(PageState {
        id: PageId(row.get::<_, i64>(0)?.cast_unsigned()),
        url: row.get_ref(1)?.as_str()?,
        host: HostId(row.get(2)?),
        rank: row.get::<_, i64>(4)?.cast_unsigned(),
        queued: kind == 0 && last.is_none_or(|last| again.is_some_and(|again| again > last)),
        parked: kind == PageKind::Outside.code() && why.is_some_and(|why| reasons.contains(&why)),
        owned,
    })
}

fn read_host(row: &Row<'_>) -> rusqlite::Result<HostState> {
    let robots = match row.get::<_, Option<i64>>(6)? {
        Some(at) => {
            Some(RobotsRecord { at: Moment(at), status: row.get(7)?, text: row.get(8)?, crawl_delay: row.get(9)? })
        }
        None => None,
    };
    Ok(HostRecord {
        id: HostId(row.get(0)?),
        scheme: row.get(1)?,
        name: row.get(2)?,
        port: row.get(3)?,
        robots,
        not_before: row.get::<_, Option<i64>>(4)?.map(Moment),
        backoff_ms: row.get::<_, i64>(5)?.cast_unsigned(),
    })
}

/// Delta-encoded LEB128 of the sorted list.
pub(super) fn pack(mut numbers: Vec<u64>) -> Vec<u8> {
    numbers.sort_unstable();
    let mut out = Vec::with_capacity(numbers.len() * 2);
    let mut last = 0;
    for n in numbers {
        crate::index::put_varint(&mut out, n - last);
        last = n;
    }
    out
}

fn unpack(mut bytes: &[u8], out: &mut Vec<u64>) {
    let mut last = 0u64;
    while let Some(step) = crate::index::take_varint(&mut bytes) {
        last = last.wrapping_add(step);
        out.push(last);
    }
}

/// LEB128 of pairs, in order.
pub(super) fn pack_pairs(pairs: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    for n in pairs.iter().flat_map(|(a, b)| [a, b]) {
        crate::index::put_varint(&mut out, *n);
    }
    out
}

fn unpack_pairs(mut bytes: &[u8], out: &mut Vec<(u64, u64)>) {
    let mut next = || crate::index::take_varint(&mut bytes);
    while let Some(pair) = next().zip(next()) {
        out.push(pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_pairs_come_back_as_they_were(pairs: Vec<(u64, u64)>) {
            let mut out = Vec::new();
            unpack_pairs(&pack_pairs(&pairs), &mut out);
            prop_assert_eq!(out, pairs);
        }

        #[test]
        fn packed_numbers_come_back_sorted(mut numbers: Vec<u64>) {
            let mut out = Vec::new();
            unpack(&pack(numbers.clone()), &mut out);
            numbers.sort_unstable();
            prop_assert_eq!(out, numbers);
        }

        #[test]
        fn unpacking_any_bytes_does_not_panic(bytes: Vec<u8>) {
            unpack(&bytes, &mut Vec::new());
            unpack_pairs(&bytes, &mut Vec::new());
        }
    }
}
