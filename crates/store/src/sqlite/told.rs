//! What is reported for a run, and for all runs in sequence?
//!
//! Two views of the same facts. The feed is in the order of the changes, which is immutable, so a
//! reader can continue where it was. The report of a run is ordered by flag and URL, with unchanged
//! documents at its end: those come from the visits, since nothing is recorded for what did not
//! change. Both stream row by row.

use super::CatalogueReader;
use super::reader::sql_limit;
use super::schema::DOCUMENTS;
use crate::error::{Result, StoreError};
use orb_page::{Flag, Moment, PageId, PageKind, RunId, WarcPosition};
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What an error says was attempted.
const TELL: &str = "read what a run tells";

/// The flags in the order of a report.
const ORDER: [Flag; 5] = [Flag::New, Flag::Updated, Flag::Missing, Flag::Error, Flag::Same];

/// What is reported about a document: a change, or in a report also that there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ReportRow {
    /// Its number among all changes; `None` if there is no change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The run that saw it.
    pub run: u32,
    /// When it was discovered.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub at: Moment,
    /// Its flag.
    #[schemars(with = "String")]
    pub flag: Flag,
    /// The document's URL.
    pub url: String,
    /// Its title; for what is gone, the last one known.
    pub title: Option<String>,
    /// Where it has moved to.
    pub moved_to: Option<String>,
    /// What changed, or what went wrong; of an unchanged document, what changed around its main
    /// content.
    pub detail: Option<String>,
    /// Media type.
    pub mime: Option<String>,
    /// Language.
    pub lang: Option<String>,
    /// Status code.
    pub status: Option<u16>,
    /// Length of the content.
    pub length: Option<u64>,
    /// sha256 of the content.
    pub digest: Option<String>,
    /// sha256 of the previously reported version.
    pub digest_before: Option<String>,
    /// The run that reported that.
    pub run_before: Option<u32>,
    /// The page's number.
    #[serde(rename = "page_id")]
    #[schemars(with = "u64")]
    pub page: PageId,
    /// Its kind.
    #[serde(skip)]
    pub kind: Option<PageKind>,
    /// Its archive position.
    #[serde(skip)]
    pub warc: Option<WarcPosition>,
    /// Archive position of the previously reported version.
    #[serde(skip)]
    pub warc_before: Option<WarcPosition>,
}

fn as_text<S: serde::Serializer>(moment: &Moment, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}

/// Number of documents of a run by flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagCounts([u64; 5]);

impl FlagCounts {
    /// The number with this flag.
    pub fn of(&self, flag: Flag) -> u64 {
        self.0[usize::from(flag.code())]
    }

    /// Documents that existed before the run and are accounted for.
    pub fn accounted(&self) -> u64 {
        [Flag::Same, Flag::Updated, Flag::Missing, Flag::Error].iter().map(|flag| self.of(*flag)).sum()
    }

    /// Documents that are new, updated or gone.
    pub fn changed(&self) -> u64 {
        [Flag::New, Flag::Updated, Flag::Missing].iter().map(|flag| self.of(*flag)).sum()
    }
}

/// Which rows of a report.
#[derive(Clone, Debug)]
pub struct ReportFilter<'a> {
    /// The run.
    pub run: RunId,
    /// With these flags.
    pub flags: &'a [Flag],
    /// Of the unchanged documents, only those that changed around their main content.
    pub around: bool,
    /// Maximum number of rows.
    pub limit: u64,
    /// Number of rows to skip.
    pub offset: u64,
}

/// The columns of a document: the visit `v`, and `b`, the visit that was reported before.
const SEEN: &str = "coalesce(iif(c.flag IN (3, 4), b.title, v.title), v.title, b.title), coalesce(v.mime, b.mime), v.lang, v.status, v.length,
    lower(hex(v.digest)), lower(hex(b.digest)), b.run, v.kind, vf.name, v.warc_offset, v.warc_length, bf.name, b.warc_offset, b.warc_length";

/// The visits of a page `page` in a run `run` and before.
const VISITS: &str = "LEFT JOIN visit_row v ON v.page = c.page AND v.run = c.run
    LEFT JOIN visit_row b ON b.page = c.page AND b.run = (SELECT max(run) FROM visit_row w WHERE w.page = c.page AND w.run < c.run AND w.flag IN (0, 2))
    LEFT JOIN warc_row vf ON vf.id = v.warc LEFT JOIN warc_row bf ON bf.id = b.warc";

/// All changes.
fn changes() -> String {
    format!(
        "SELECT c.seq, c.run, c.at, c.flag, p.url, c.moved, c.detail, c.page, {SEEN}
         FROM change_row c JOIN page_row p ON p.id = c.page {VISITS}"
    )
}

/// The changes of a run with a flag. Only URLs are sorted: the rest is read for those that are
/// given.
fn changed(flag: Flag) -> String {
    format!("{} WHERE c.seq IN ({}) ORDER BY p.url, c.seq", changes(), in_order(flag))
}

/// The numbers of the changes of a run with a flag, by URL.
fn in_order(flag: Flag) -> String {
    format!(
        "SELECT c.seq FROM change_row c JOIN page_row p ON p.id = c.page WHERE c.run = ?1 AND c.flag = {}
         ORDER BY p.url, c.seq LIMIT ?2 OFFSET ?3",
        flag.code()
    )
}

/// What visits alone say about documents: that they are unchanged, except for their surroundings
/// where `a` says so; and in a project's first run, which has no changes, that they are new.
fn unchanged(flag: Flag) -> String {
    let visits = "visit_row c LEFT JOIN around_row a ON a.run = c.run AND a.page = c.page";
    let wanted = format!("c.run = ?1 AND c.flag = {} AND c.kind IN ({DOCUMENTS})", flag.code());
    by_visits(visits, &wanted, "c.page")
}

/// The documents of a run that changed only around their main content.
fn changed_around() -> String {
    by_visits("around_row a CROSS JOIN visit_row c ON c.page = a.page AND c.run = a.run", "a.run = ?1", "a.page")
}

fn by_visits(visits: &str, wanted: &str, order: &str) -> String {
    format!(
        "SELECT NULL, c.run, c.at, c.flag, p.url, NULL, a.detail, c.page, {SEEN}
         FROM {visits} JOIN page_row p ON p.id = c.page {VISITS} WHERE {wanted} ORDER BY {order} LIMIT ?2 OFFSET ?3"
    )
}

impl CatalogueReader {
    /// Up to `limit` changes with these flags after a number, in order.
    pub fn feed(&self, after: u64, flags: &[Flag], limit: u32) -> Result<Vec<ReportRow>> {
        let sql = format!("{} WHERE c.seq > ?1 AND c.flag IN ({}) ORDER BY c.seq LIMIT ?2", changes(), codes(flags));
        self.all(&sql, [sql_limit(after), limit.into()], read)
    }

    /// Up to `limit` changes with these flags before a number, latest first.
    pub fn feed_before(&self, before: u64, flags: &[Flag], limit: u32) -> Result<Vec<ReportRow>> {
        let sql =
            format!("{} WHERE c.seq < ?1 AND c.flag IN ({}) ORDER BY c.seq DESC LIMIT ?2", changes(), codes(flags));
        self.all(&sql, [sql_limit(before), limit.into()], read)
    }

    /// The last changes, latest first.
    pub fn latest_changes(&self, limit: u32) -> Result<Vec<ReportRow>> {
        self.all(&format!("{} ORDER BY c.seq DESC LIMIT ?1", changes()), [limit], read)
    }

    /// The number of the last change that runs before this one reported; 0 if there is none.
    pub fn last_change_before(&self, run: RunId) -> Result<u64> {
        self.count(&format!("SELECT coalesce(max(seq), 0) FROM change_row WHERE run < {}", run.0))
    }

    /// Number of changes with these flags after a number.
    pub fn changes_after(&self, after: u64, flags: &[Flag]) -> Result<u64> {
        self.count(&format!(
            "SELECT count(*) FROM change_row WHERE seq > {} AND flag IN ({})",
            sql_limit(after),
            codes(flags)
        ))
    }

    /// Number of documents of a run by flag.
    pub fn flag_counts(&self, run: RunId) -> Result<FlagCounts> {
        let mut counts = FlagCounts::default();
        let changes = "SELECT flag, count(*) FROM change_row WHERE run = ?1 GROUP BY flag";
        for (flag, count) in self.all(changes, [run.0], |r| Ok((r.get::<_, u8>(0)?, r.get::<_, i64>(1)?)))? {
            if let Some(slot) = counts.0.get_mut(usize::from(flag)) {
                *slot = count.cast_unsigned();
            }
        }
        // Visits are stored in their order, so those of a run are together.
        let (first, end) = (self.first_visit(run)?, self.first_visit(RunId(run.0.saturating_add(1)))?);
        for flag in told_by_visits(run) {
            let sql = format!(
                "SELECT count(*) FROM visit_row WHERE rowid >= {first} AND rowid < {end} AND run = {}
                 AND flag = {} AND kind IN ({DOCUMENTS})",
                run.0,
                flag.code()
            );
            counts.0[usize::from(flag.code())] = self.count(&sql)?;
        }
        Ok(counts)
    }

    /// The row of the first visit of this run or a later one.
    fn first_visit(&self, run: RunId) -> Result<i64> {
        let last = self.one("SELECT coalesce(max(rowid), 0) FROM visit_row", [], |r| r.get::<_, i64>(0))?;
        let (mut low, mut high) = (1, last.unwrap_or(0) + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let sql = "SELECT rowid, run FROM visit_row WHERE rowid >= ?1 ORDER BY rowid LIMIT 1";
            match self.one(sql, [middle], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?)))? {
                Some((row, found)) if found < run.0 => low = row + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Number of documents of a run that changed only around their main content.
    pub fn around_count(&self, run: RunId) -> Result<u64> {
        self.count(&format!("SELECT count(*) FROM around_row WHERE run = {}", run.0))
    }

    /// The numbers of a run's changes in the order of its report, by flag and URL; those that only
    /// visits contain are not among them.
    pub fn change_order(&self, run: RunId) -> Result<Vec<u64>> {
        let mut order = Vec::new();
        for flag in ORDER.iter().filter(|flag| !told_by_visits(run).contains(flag)) {
            let sql = in_order(*flag);
            let values = [i64::from(run.0), i64::MAX, 0];
            let read = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
            self.each_read((TELL, &sql), values, read, |seq| {
                order.push(seq);
                Ok::<_, StoreError>(())
            })?;
        }
        Ok(order)
    }

    /// The flags of a report in their order, and whether
    /// [`change_order`](Self::change_order) holds their documents.
    pub fn report_flags(run: RunId) -> impl Iterator<Item = (Flag, bool)> {
        let by_visits = told_by_visits(run);
        ORDER.into_iter().map(move |flag| (flag, !by_visits.contains(&flag)))
    }

    /// The change of this number.
    pub fn change(&self, seq: u64) -> Result<Option<ReportRow>> {
        self.one_for((TELL, &format!("{} WHERE c.seq = ?1", changes())), [sql_limit(seq)], read)
    }

    /// Calls back with the report of a run, by flag and URL; unchanged documents come last, in the
    /// order of discovery.
    pub fn each_report_row(
        &self,
        wanted: &ReportFilter<'_>,
        mut each: impl FnMut(ReportRow) -> Result<()>,
    ) -> Result<()> {
        let by_visits = told_by_visits(wanted.run);
        let (run, mut limit, mut offset) = (i64::from(wanted.run.0), wanted.limit, wanted.offset);
        for flag in ORDER.iter().filter(|flag| wanted.flags.contains(flag)) {
            if limit == 0 {
                break;
            }
            let is_around = wanted.around && *flag == Flag::Same;
            let sql = match by_visits.contains(flag) {
                true if is_around => changed_around(),
                true => unchanged(*flag),
                false => changed(*flag),
            };
            let mut given = 0;
            self.each_read((TELL, &sql), [run, sql_limit(limit), sql_limit(offset)], read, |row| {
                given += 1;
                each(row)
            })?;
            limit -= given;
            offset = match (given, offset) {
                (0, 1..) if is_around => offset.saturating_sub(self.around_count(wanted.run)?),
                (0, 1..) => offset.saturating_sub(self.flag_counts(wanted.run)?.of(*flag)),
                _ => 0,
            };
        }
        Ok(())
    }
}

/// The flags of a run that only its visits contain.
fn told_by_visits(run: RunId) -> &'static [Flag] {
    if run.0 <= 1 { &[Flag::New, Flag::Same] } else { &[Flag::Same] }
}

fn codes(flags: &[Flag]) -> String {
    flags.iter().map(|flag| flag.code().to_string()).collect::<Vec<_>>().join(", ")
}

fn read(r: &Row<'_>) -> rusqlite::Result<ReportRow> {
    let number = |i: usize| r.get::<_, Option<i64>>(i).map(|n| n.map(i64::cast_unsigned));
    let digest = |i: usize| r.get::<_, Option<String>>(i).map(|hex| hex.filter(|hex| !hex.is_empty()));
    let place = |i: usize| {
        let place = (r.get::<_, Option<String>>(i)?, number(i + 1)?, number(i + 2)?);
        let (Some(file), Some(offset), Some(length)) = place else { return Ok(None) };
        Ok::<_, rusqlite::Error>(Some(WarcPosition { file: Arc::from(file), offset, length }))
    };
    Ok(ReportRow {
        seq: number(0)?,
        run: r.get(1)?,
        at: Moment(r.get(2)?),
        flag: Flag::from_code(r.get(3)?).unwrap_or(Flag::Error),
        url: r.get(4)?,
        moved_to: r.get(5)?,
        detail: r.get(6)?,
        page: PageId(number(7)?.unwrap_or(0)),
        title: r.get(8)?,
        mime: r.get(9)?,
        lang: r.get(10)?,
        status: r.get(11)?,
        length: number(12)?,
        digest: digest(13)?,
        digest_before: digest(14)?,
        run_before: r.get(15)?,
        kind: r.get::<_, Option<u8>>(16)?.and_then(PageKind::from_code),
        warc: place(17)?,
        warc_before: place(20)?,
    })
}
