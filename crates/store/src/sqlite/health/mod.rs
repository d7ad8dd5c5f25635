//! What is wrong with the pages that were collected?
//!
//! Every kind of problem is a view of its own, with the name of the kind, that anybody can query;
//! what is counted and listed here is that view and nothing else. Rows come in storage order, so
//! that the first hundred cost no sort. Counting all of a kind reads the visits, or all links, once
//! (`views` says which) and may take long, so it has a time limit.

mod notes;
mod views;

pub(super) use notes::NOTES;
pub(super) use views::definitions;

use super::CatalogueReader;
use super::query::{QueryCaller, QueryLimits, explain, is_interrupted, restrict};
use super::reader::{connect, sql_limit};
use crate::error::Result;
use orb_page::RunId;
use rusqlite::{Connection, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A kind of problem. Its name is that of the view that finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthKind {
    /// Links to pages that could not be fetched.
    BrokenLink,
    /// Redirects that lead back to themselves.
    RedirectLoop,
    /// Parts fetched by http on pages fetched by https.
    MixedContent,
    /// Redirects that lead to redirects.
    RedirectChain,
    /// Pages without a title.
    MissingTitle,
    /// Pages of one host with the same title.
    EqualTitle,
    /// Pages with the same bytes.
    Duplicate,
    /// Images without a text.
    MissingAlt,
    /// Pages that were long in coming.
    SlowPage,
    /// Large HTML pages.
    LargePage,
    /// Pages that only a sitemap names.
    Orphan,
    /// URLs that were taken for a trap.
    Trap,
    /// Pages with the same text.
    NearDuplicate,
    /// Pages that name another one as canonical.
    CanonicalElsewhere,
    /// Links to pages that robots.txt disallows.
    DisallowedLink,
    /// Pages many links away from the seeds.
    DeepPage,
}

impl HealthKind {
    /// All of them, the gravest first.
    pub const ALL: [Self; 16] = [
        Self::BrokenLink,
        Self::RedirectLoop,
        Self::MixedContent,
        Self::RedirectChain,
        Self::MissingTitle,
        Self::EqualTitle,
        Self::Duplicate,
        Self::MissingAlt,
        Self::SlowPage,
        Self::LargePage,
        Self::Orphan,
        Self::Trap,
        Self::NearDuplicate,
        Self::CanonicalElsewhere,
        Self::DisallowedLink,
        Self::DeepPage,
    ];

    /// Its name, and that of its view.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BrokenLink => "broken_link",
            Self::RedirectLoop => "redirect_loop",
            Self::MixedContent => "mixed_content",
            Self::RedirectChain => "redirect_chain",
            Self::MissingTitle => "missing_title",
            Self::EqualTitle => "equal_title",
            Self::Duplicate => "duplicate",
            Self::MissingAlt => "missing_alt",
            Self::SlowPage => "slow_page",
            Self::LargePage => "large_page",
            Self::Orphan => "orphan",
            Self::Trap => "trap",
            Self::NearDuplicate => "near_duplicate",
            Self::CanonicalElsewhere => "canonical_elsewhere",
            Self::DisallowedLink => "disallowed_link",
            Self::DeepPage => "deep_page",
        }
    }

    /// The kind with this name; hyphens are read as underscores.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the catalogue knows since when each of them is there. Of an image, it keeps only
    /// that it is there.
    pub const fn knows_since(self) -> bool {
        !matches!(self, Self::MissingAlt)
    }

    /// The statement that lists them: all, or those that are there since a run or later.
    pub fn sql(self, since: Option<RunId>) -> String {
        let view = self.name();
        match since {
            Some(run) if self.knows_since() => format!("SELECT * FROM {view} WHERE since >= {}", run.0),
            _ => format!("SELECT * FROM {view}"),
        }
    }
}

/// How many problems of one kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthTally {
    /// All of them.
    pub all: u64,
    /// Those that are there since a given run or later; `None` if none was given, or if the
    /// catalogue does not know.
    pub new: Option<u64>,
}

/// What was found of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthFindings {
    /// How many there are.
    pub tally: HealthTally,
    /// The first of them, in storage order.
    pub first: Vec<HealthRow>,
    /// The first of those that are new.
    pub first_new: Vec<HealthRow>,
}

/// One problem. A kind has the fields of its view, under one name where views have several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HealthRow {
    /// The page that has the problem.
    pub url: String,
    /// Its number.
    pub page_id: u64,
    /// The other URL: the link's target, the redirect's end, the canonical page, the earlier page,
    /// the image, the sitemap, the page on which a trap was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The number of the other page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_id: Option<u64>,
    /// The element that links, as `link.kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The link's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The status code: of a link's target, otherwise of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Redirects in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<u64>,
    /// Pages that share the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Links from the nearest seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// How long the fetch took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Bytes of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The trap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The run since which it is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u32>,
}

impl HealthRow {
    /// Reads a row of any of the views by the names of its columns.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let mut out = Self::default();
        for (i, name) in row.as_ref().column_names().enumerate() {
            let count = || row.get::<_, Option<i64>>(i).map(|n| n.map(i64::cast_unsigned));
            match name {
                "url" | "src_url" => out.url = row.get(i)?,
                "id" | "page_id" | "src" => out.page_id = row.get::<_, i64>(i)?.cast_unsigned(),
                "dst_url" | "original_url" | "image_url" | "sitemap_url" | "found_on" => out.other = row.get(i)?,
                "dst" | "duplicate_of" | "sitemap_id" | "found_on_id" => out.other_id = count()?,
                "kind" => out.kind = row.get(i)?,
                "anchor" => out.anchor = row.get(i)?,
                "title" => out.title = row.get(i)?,
                "status" => out.status = row.get(i)?,
                "problem" => out.problem = row.get(i)?,
                "hops" => out.hops = count()?,
                "pages" => out.pages = count()?,
                "depth" => out.depth = count()?,
                "elapsed_ms" => out.elapsed_ms = count()?,
                "length" => out.length = count()?,
                "why" => out.why = row.get(i)?,
                "since" => out.since = row.get(i)?,
                _ => {}
            }
        }
        Ok(out)
    }
}

impl CatalogueReader {
    /// Counts the problems of a kind and keeps the first of them, at most so many; `None` if that
    /// takes longer than `time`. Counting reads every row anyway.
    pub fn health_findings(
        &self,
        kind: HealthKind,
        since: Option<RunId>,
        time: Duration,
        kept: usize,
    ) -> Result<Option<HealthFindings>> {
        let since = since.filter(|_| kind.knows_since());
        let mut db = connect(&self.path)?;
        restrict(&mut db, time, QueryCaller::Owner).map_err(self.fail("prepare a query"))?;
        match findings(&db, kind, since, kept) {
            Err(e) if is_interrupted(&e) => Ok(None),
            found => found.map(Some).map_err(self.fail("count what is wrong")),
        }
    }

    /// The problems of a kind in storage order: all, or those that are there since a run or later.
    pub fn health_rows(
        &self,
        kind: HealthKind,
        since: Option<RunId>,
        limits: QueryLimits,
        offset: u64,
    ) -> Result<Vec<HealthRow>> {
        let sql = format!("{} LIMIT ?1 OFFSET ?2", kind.sql(since));
        let mut db = connect(&self.path)?;
        restrict(&mut db, limits.time, limits.caller).map_err(self.fail("prepare a query"))?;
        let told = |e: rusqlite::Error| explain(&e, limits.time);
        let mut statement = db.prepare(&sql).map_err(told)?;
        let page = params![sql_limit(limits.rows), sql_limit(offset)];
        let rows = statement.query_map(page, HealthRow::read).map_err(told)?;
        rows.map(|row| row.map_err(told)).collect()
    }
}

/// Reads all rows of a kind.
fn findings(db: &Connection, kind: HealthKind, since: Option<RunId>, kept: usize) -> rusqlite::Result<HealthFindings> {
    let mut statement = db.prepare(&kind.sql(None))?;
    let place = statement.column_names().position(|name| name == "since");
    let mut found =
        HealthFindings { tally: HealthTally { all: 0, new: since.map(|_| 0) }, ..HealthFindings::default() };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.tally.all += 1;
        if found.first.len() < kept {
            found.first.push(HealthRow::read(row)?);
        }
        if let (Some(since), Some(place)) = (since, place)
            && row.get::<_, Option<u32>>(place)? >= Some(since.0)
        {
            found.tally.new = found.tally.new.map(|new| new + 1);
            if found.first_new.len() < kept {
                found.first_new.push(HealthRow::read(row)?);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_view_and_its_notes() {
        let kinds = HealthKind::ALL.map(HealthKind::name);
        assert_eq!(definitions().iter().map(|(name, _)| *name).collect::<Vec<_>>(), kinds);
        assert_eq!(NOTES.iter().map(|(name, ..)| *name).collect::<Vec<_>>(), kinds);
        assert!(
            HealthKind::ALL.iter().all(|kind| HealthKind::from_name(&kind.name().replace('_', "-")) == Some(*kind))
        );
        for (name, _, columns) in NOTES {
            let knows = columns.iter().any(|(column, _)| *column == "since");
            assert_eq!(HealthKind::from_name(name).map(HealthKind::knows_since), Some(knows), "{name}");
        }
    }
}
