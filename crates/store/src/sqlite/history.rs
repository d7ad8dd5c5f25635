//! Which links are new, lost or changed since a run?
//!
//! What a run saw of a page's links is what the latest visit up to it saw (`links` explains how
//! current and past rows record that). It is compared with what is there now, page by page, so
//! memory is bounded by the links of one page.

use super::CatalogueReader;
use super::page::LinkRow;
use crate::error::Result;
use orb_page::{LinkKind, PageId, RunId};
use rusqlite::{Row, Statement, params};
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

const CURRENT: &str = "SELECT dst, kind, anchor, rel, count, first_run, last_run FROM link_row WHERE source = ?1";
const PAST: &str = "SELECT dst, kind, anchor, rel, count, first_run, last_run FROM past_row WHERE source = ?1";

impl CatalogueReader {
    /// Calls back with every link that is new, lost or changed since a run, in page order, until
    /// `each` breaks off; optionally of one page.
    pub fn link_changes(
        &self,
        since: RunId,
        page: Option<PageId>,
        mut each: impl FnMut(LinkChangeRow) -> ControlFlow<()>,
    ) -> Result<()> {
        let fail = self.fail("compare links");
        let sql = format!(
            "SELECT page, max(CASE WHEN run <= ?1 THEN run END), max(source) FROM visit_row {} GROUP BY page
             HAVING max(run) > ?1 AND max(source) NOTNULL",
            if page.is_some() { "WHERE page = ?2" } else { "WHERE ?2 IS NULL" }
        );
        let mut pages = self.db.prepare(&sql).map_err(&fail)?;
        let mut current = self.db.prepare(CURRENT).map_err(&fail)?;
        let mut past = self.db.prepare(PAST).map_err(&fail)?;
        let mut url = self.db.prepare("SELECT url FROM page_row WHERE id = ?1").map_err(&fail)?;
        let mut rows = pages.query(params![since.0, page.map(|p| p.0.cast_signed())]).map_err(&fail)?;
        while let Some(row) = rows.next().map_err(&fail)? {
            let (page, seen, source) = visited(row).map_err(&fail)?;
            let lives = lives(&mut current, &mut past, source).map_err(&fail)?;
            let mut src_url = None;
            for (key, link) in lives {
                let Some((change, shown)) = compare(&link, seen) else { continue };
                let src_url = match &src_url {
                    Some(url) => url,
                    None => &*src_url.insert(name(&mut url, page).map_err(&fail)?),
                };
                let row = LinkChangeRow {
                    change,
                    src_url: src_url.clone(),
                    url: name(&mut url, key.0).map_err(&fail)?,
                    kind: LinkKind::from_code(key.1).map_or("", LinkKind::name),
                    now: link.now().map(|v| v.values.clone()),
                    before: seen.and_then(|run| link.at(run)).map(|v| v.values.clone()),
                    first_run: shown.first_run,
                    last_run: shown.last_run,
                };
                if each(row).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
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

fn name(url: &mut Statement<'_>, page: i64) -> rusqlite::Result<String> {
    url.query_row([page], |r| r.get(0))
}

/// All links of a page with their histories, by target and kind.
fn lives(
    current: &mut Statement<'_>,
    past: &mut Statement<'_>,
    source: i64,
) -> rusqlite::Result<BTreeMap<(i64, u8), Lives>> {
    let mut all: BTreeMap<(i64, u8), Lives> = BTreeMap::new();
    for version in current.query_map([source], version)? {
        let read = version?;
        let link = all.entry(read.key).or_default();
        link.row = Some(read);
    }
    for version in past.query_map([source], version)? {
        let read = version?;
        all.entry(read.key).or_default().past.push(read);
    }
    Ok(all)
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
