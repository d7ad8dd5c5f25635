//! What differs between two versions of a page?

use crate::content::{decoded, viewed};
use crate::{AnswerError, Collection, Result};
use orb_aside::HelperLimits;
use orb_page::{PageId, RunId};
use orb_store::{ArchiveReader, StoredExchange, VisitRow};
use orb_track::compare::{ComparedPart, Views as _};
use orb_track::diff::html::table;
use orb_track::diff::unified::unified;
use orb_track::diff::{Counts, Diff, DiffLine};
use schemars::JsonSchema;
use serde::Serialize;

/// What of a page is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffBy {
    /// The visible text.
    Text,
    /// The visible text of the main content.
    Main,
    /// The source.
    Source,
}

impl DiffBy {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Main => "main",
            Self::Source => "source",
        }
    }
}

/// Which versions are compared.
#[derive(Clone, Copy, Debug)]
pub struct DiffWish<'a> {
    /// The page.
    pub url: &'a str,
    /// The run of the old version; the last one that differs where none is named.
    pub from: Option<u32>,
    /// The run of the new version; the latest where none is named.
    pub to: Option<u32>,
    /// What of them.
    pub by: DiffBy,
    /// Lines around a difference.
    pub context: usize,
}

/// One of the two versions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffSide {
    /// The run that saw it.
    pub run: u32,
    /// When.
    pub at: String,
    /// sha256 of its content.
    pub digest: Option<String>,
    /// Length of its content.
    pub length: u64,
}

impl From<&VisitRow> for DiffSide {
    fn from(visit: &VisitRow) -> Self {
        Self { run: visit.run, at: visit.at.clone(), digest: visit.digest.clone(), length: visit.length }
    }
}

/// Two versions of a page, compared.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PageDiff<'a> {
    /// The page.
    pub url: &'a str,
    /// What was compared.
    pub by: DiffBy,
    /// The old version.
    pub from: DiffSide,
    /// The new version.
    pub to: DiffSide,
    /// How many lines differ.
    #[schemars(with = "serde_json::Value")]
    pub counts: Counts,
    /// The lines that differ, and some around them.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub rows: Vec<DiffLine<'a>>,
    /// All lines.
    #[serde(skip)]
    #[schemars(skip)]
    lines: &'a Diff<'a>,
}

impl PageDiff<'_> {
    /// The differing lines as a unified diff, with some lines around them.
    pub fn unified(&self, context: usize) -> String {
        unified(self.lines, context)
    }

    /// Both versions side by side, as an HTML table.
    pub fn side_by_side(&self, context: usize) -> String {
        table(self.lines, context)
    }

    /// What is to be said where no line differs.
    pub fn same(&self) -> Option<String> {
        let (from, to) = (self.from.run, self.to.run);
        match self.by {
            _ if !self.lines.is_empty() => None,
            _ if self.from.digest == self.to.digest => Some(format!("runs {from} and {to} saw the same bytes")),
            DiffBy::Source => Some(format!("the sources of runs {from} and {to} have the same lines")),
            DiffBy::Text | DiffBy::Main => Some(format!(
                "runs {from} and {to} saw the same {} in other markup; --by source shows it",
                self.by.name()
            )),
        }
    }
}

/// Compares two versions of a page.
pub fn diff<T>(collection: &Collection, wish: DiffWish<'_>, read: impl FnOnce(&PageDiff<'_>) -> T) -> Result<T> {
    let page = collection.page(wish.url)?;
    let visits = collection.catalogue().visits(PageId(page.id))?;
    let (old, new) = chosen(collection, wish, &page.url, &visits)?;
    let limits = collection.limits()?;
    let stored = |visit| whole(collection.archive(), &visits, visit, &page.url);
    let version = |visit| lines(&page.url, &stored(visit)?, wish.by, limits);
    let (before, now) = (version(old)?, version(new)?);
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let now: Vec<&str> = now.iter().map(String::as_str).collect();
    let lines = Diff::of(&before, &now);
    Ok(read(&PageDiff {
        url: &page.url,
        by: wish.by,
        from: old.into(),
        to: new.into(),
        counts: lines.counts(),
        rows: lines.groups(wish.context).concat(),
        lines: &lines,
    }))
}

/// The versions that are asked for.
pub(crate) fn chosen<'v>(
    collection: &Collection,
    wish: DiffWish<'_>,
    url: &str,
    visits: &'v [VisitRow],
) -> Result<(&'v VisitRow, &'v VisitRow)> {
    let unknown = AnswerError::Unknown;
    let is_document = |v: &&VisitRow| v.digest.is_some() && matches!(v.kind.as_str(), "HTML" | "BINARY" | "DUPLICATE");
    let versions: Vec<&VisitRow> = visits.iter().filter(is_document).collect();
    if wish.from.is_some() && wish.from == wish.to {
        return Err(AnswerError::Malformed("--from and --to name the same run; give two".to_owned()));
    }
    let of_run = |run: u32| -> Result<&'v VisitRow> {
        if collection.catalogue().run(RunId(run))?.is_none() {
            return Err(unknown(format!("project {} has no run {run}", collection.name())));
        }
        let first = || versions.last().map_or_else(String::new, |v| format!("; its first is of run {}", v.run));
        let found = versions.iter().find(|v| v.run <= run).copied();
        found.ok_or_else(|| unknown(format!("run {run} had no version of {url}{}", first())))
    };
    let latest = versions.first().ok_or_else(|| unknown(format!("there is no version of {url}: no run fetched it")))?;
    let to = wish.to.map_or(Ok(*latest), of_run)?;
    let from = match wish.from {
        Some(run) => of_run(run)?,
        None => {
            let earlier = versions.iter().find(|v| v.run < to.run && v.digest != to.digest).copied();
            earlier.ok_or_else(|| {
                unknown(match versions.last() {
                    Some(first) if first.run < to.run => {
                        format!("{url} has only one version: runs {} to {} saw the same bytes", first.run, to.run)
                    }
                    _ => format!("{url} has only one version, of run {}; orb track looks for others", to.run),
                })
            })?
        }
    };
    Ok((from, to))
}

/// What the archive holds of a version; where that is only a reference, the visit that saw the same
/// bytes is looked for.
pub(crate) fn whole(
    archive: &ArchiveReader,
    visits: &[VisitRow],
    wanted: &VisitRow,
    url: &str,
) -> Result<StoredExchange> {
    let same = visits.iter().filter(|v| v.digest == wanted.digest && v.run != wanted.run);
    let mut referred = false;
    for place in std::iter::once(wanted).chain(same).filter_map(VisitRow::warc) {
        let stored = archive.exchange(&place)?;
        if !stored.is_revisit() {
            return Ok(stored);
        }
        referred = true;
    }
    let why = if referred { "is kept under another address alone" } else { "was not archived" };
    Err(AnswerError::Unknown(format!("the content of {url} in run {} {why}", wanted.run)))
}

/// A version line by line.
fn lines(url: &str, stored: &StoredExchange, by: DiffBy, limits: HelperLimits) -> Result<Vec<String>> {
    let content = decoded(stored)?;
    viewed(url, stored, &content, limits, |views| {
        if !views.is_text() {
            let mime = views.mime();
            return Err(AnswerError::Unknown(format!(
                "{url} is {mime}, which has no lines to compare; orb cat --run N gives its bytes"
            )));
        }
        Ok(match by {
            DiffBy::Source => views.source().lines().map(str::to_owned).collect(),
            DiffBy::Text | DiffBy::Main => {
                let passage = views.passage(&ComparedPart { main: by == DiffBy::Main, ..ComparedPart::default() });
                passage.blocks.into_iter().map(|block| block.text).collect()
            }
        })
    })
}
