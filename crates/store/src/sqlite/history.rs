//! Which links are new, lost or changed since a run?
//!
//! What a run saw of a page's links is what the latest visit up to it saw (`links` explains how
//! current and past rows record that). It is compared with what is there now, page by page, so
//! memory is bounded by the links of one page.

use super::CatalogueReader;
use super::page::LinkRow;
use crate::error::{Result, StoreError};
use orb_page::{LinkKind, PageId, RunId};
use rusqlite::{Row, params};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What happened to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkChange {
    /// It was not there then.
    New,
    /// It is not there now.
    Lost,
    /// Its anchor text, rel or count differs.
    Changed,
}

/// The values of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LinkValues {
    /// Its anchor text.
    pub anchor: String,
    /// Its rel.
    pub rel: String,
    /// Its number of occurrences on the page.
    pub count: u64,
}

/// A link that has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LinkChangeRow {
    /// What happened to it.
    pub change: LinkChange,
    /// The URL of the page it is on.
    pub src_url: String,
    /// The URL it points to.
    pub url: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its values now; `None` if it is lost.
    pub now: Option<LinkValues>,
    /// Its values then; `None` if it is new.
    pub before: Option<LinkValues>,
    /// The run that first saw it.
    pub first_run: u32,
    /// The last run that saw it; `None` while it is there.
    pub last_run: Option<u32>,
}

/// A row of a link: its current values, or those at some time.
struct LinkVersion {
    key: (i64, u8),
    values: LinkValues,
    first_run: u32,
    last_run: Option<u32>,
}

/// Everything that was ever recorded about one link.
#[derive(Default)]
struct Lives {
    row: Option<LinkVersion>,
    past: Vec<LinkVersion>,
}

impl Lives {
    /// Its values at the visit in run `run`, if it was there.
    fn at(&self, run: u32) -> Option<&LinkVersion> {
        let holds = |v: &&LinkVersion| v.first_run <= run && v.last_run.is_none_or(|last| last >= run);
        let past = self.past.iter().filter(holds).min_by_key(|v| v.last_run);
        past.or_else(|| self.row.as_ref().filter(holds))
    }

    fn now(&self) -> Option<&LinkVersion> {
        self.row.as_ref().filter(|v| v.last_run.is_none())
    }
}

/// What an error says was attempted.
const COMPARE: &str = "compare links";
const CURRENT: &str = "SELECT dst, kind, anchor, rel, count, first_run, last_run FROM link_row WHERE source = ?1";
const PAST: &str = "SELECT dst, kind, anchor, rel, count, first_run, last_run FROM past_row WHERE source = ?1";

/// How a comparison of links ended before its last row.
enum ComparisonEnd {
    BrokenOff,
    Failed(StoreError),
}

impl From<StoreError> for ComparisonEnd {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl CatalogueReader {
    /// Calls back with every link that is new, lost or changed since a run, in page order, until
    /// `each` breaks off; optionally of one page.
    pub fn link_changes(
        &self,
        since: RunId,
        page: Option<PageId>,
        mut each: impl FnMut(LinkChangeRow) -> ControlFlow<()>,
    ) -> Result<()> {
        let fail = self.fail(COMPARE);
        let sql = format!(
            "SELECT page, max(CASE WHEN run <= ?1 THEN run END), max(source) FROM visit_row {} GROUP BY page
             HAVING max(run) > ?1 AND max(source) NOTNULL",
            if page.is_some() { "WHERE page = ?2" } else { "WHERE ?2 IS NULL" }
        );
        let compared = self.each((COMPARE, &sql), params![since.0, page.map(|p| p.0.cast_signed())], |row| {
            let (page, seen, source) = visited(row).map_err(&fail)?;
            let mut src_url = None;
            for (key, link) in self.lives(source)? {
                let Some((change, shown)) = compare(&link, seen) else { continue };
                let src_url = match &src_url {
                    Some(url) => url,
                    None => &*src_url.insert(self.name(page)?),
                };
                let row = LinkChangeRow {
                    change,
                    src_url: src_url.clone(),
                    url: self.name(key.0)?,
                    kind: LinkKind::from_code(key.1).map_or("", LinkKind::name),
                    now: link.now().map(|v| v.values.clone()),
                    before: seen.and_then(|run| link.at(run)).map(|v| v.values.clone()),
                    first_run: shown.first_run,
                    last_run: shown.last_run,
                };
                if each(row).is_break() {
                    return Err(ComparisonEnd::BrokenOff);
                }
            }
            Ok(())
        });
        match compared {
            Ok(()) | Err(ComparisonEnd::BrokenOff) => Ok(()),
            Err(ComparisonEnd::Failed(e)) => Err(e),
        }
    }

    /// The URL of a page.
    fn name(&self, page: i64) -> Result<String> {
        let url = self.one_for((COMPARE, "SELECT url FROM page_row WHERE id = ?1"), [page], |r| r.get(0))?;
        url.ok_or_else(|| self.fail(COMPARE)(rusqlite::Error::QueryReturnedNoRows))
    }

    /// All links of a page with their histories, by target and kind.
    fn lives(&self, source: i64) -> Result<BTreeMap<(i64, u8), Lives>> {
        let mut all: BTreeMap<(i64, u8), Lives> = BTreeMap::new();
        for read in self.all_for((COMPARE, CURRENT), [source], version)? {
            let key = read.key;
            all.entry(key).or_default().row = Some(read);
        }
        for read in self.all_for((COMPARE, PAST), [source], version)? {
            all.entry(read.key).or_default().past.push(read);
        }
        Ok(all)
    }

    /// The full history of a page's links, link by link, earliest first; `last_run` is open for
    /// current values.
    pub fn link_history(&self, page: PageId) -> Result<Vec<LinkRow>> {
        let sql = "SELECT l.*, p.url FROM (SELECT * FROM link WHERE src = ?1 UNION ALL SELECT * FROM link_past WHERE src = ?1) l
                   JOIN page_row p ON p.id = l.dst ORDER BY l.dst, l.kind, l.last_run IS NULL, l.last_run";
        self.all(sql, [page.0.cast_signed()], LinkRow::read)
    }
}

fn visited(row: &Row<'_>) -> rusqlite::Result<(i64, Option<u32>, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn version(r: &Row<'_>) -> rusqlite::Result<LinkVersion> {
    let text = |i| r.get::<_, Option<String>>(i).map(Option::unwrap_or_default);
    let values = LinkValues { anchor: text(2)?, rel: text(3)?, count: r.get::<_, i64>(4)?.cast_unsigned() };
    Ok(LinkVersion { key: (r.get(0)?, r.get(1)?), values, first_run: r.get(5)?, last_run: r.get(6)? })
}

/// What happened to a link since the visit in run `seen`, and the row with its runs.
fn compare(link: &Lives, seen: Option<u32>) -> Option<(LinkChange, &LinkVersion)> {
    match (seen.and_then(|run| link.at(run)), link.now()) {
        (None, Some(now)) => Some((LinkChange::New, now)),
        (Some(before), None) => Some((LinkChange::Lost, link.row.as_ref().unwrap_or(before))),
        (Some(before), Some(now)) if before.values != now.values => Some((LinkChange::Changed, now)),
        _ => None,
    }
}
