//! What differs between two versions of a page?

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::FilterChoice;
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{
    AnswerError, Counts, DiffBy, DiffLine, DiffSide, DiffWish, PageDiff, PageRow, Piece, VisitedPage, diff, ignoring,
    visited,
};
use serde_json::Value;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/pages/{id}/diff",
    Right::Content,
    |request| Box::pin(compare(request)),
    "What differs between two versions of a page",
)
.for_guests()];

/// Lines around a difference.
const CONTEXT: usize = 3;

/// Lines on one screen.
const ROWS: usize = 2_000;

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffPage<'a> {
    frame: Frame,
    p: &'a str,
    page: &'a PageRow,
    title: &'a str,
    found: &'a OwnedDiff,
    from: String,
    to: String,
    runs: Vec<u32>,
    choices: Vec<FilterChoice>,
    may_edit: bool,
    marks: Vec<DiffMark>,
}

/// A difference that outlives the versions it was read from.
struct OwnedDiff {
    answer: Value,
    by: DiffBy,
    from: DiffSide,
    to: DiffSide,
    counts: Counts,
    same: Option<String>,
    rows: Vec<DiffRow>,
    /// For every row, what would ignore it.
    ignoring: Vec<Option<String>>,
    is_cut: bool,
}

/// A line of both versions, side by side.
pub(super) struct DiffRow {
    pub(super) class: &'static str,
    pub(super) old: Option<SideLine>,
    pub(super) new: Option<SideLine>,
    /// Whether lines that are the same were left out before it.
    pub(super) is_after_gap: bool,
    /// The number of the difference that begins here.
    pub(super) difference: Option<usize>,
    /// Where a rule that ignores it is tried.
    pub(super) ignore: Option<String>,
}

/// A line of one version.
pub(super) struct SideLine {
    pub(super) number: usize,
    /// Its text in pieces, and which of them differ.
    pub(super) pieces: Vec<(String, bool)>,
}

async fn compare(request: AdmittedRequest) -> Handled {
    let id: u64 = request.number("id")?;
    let fields = request.query();
    let by = match fields.one("by") {
        None | Some("text") => DiffBy::Text,
        Some("main") => DiffBy::Main,
        Some("source") => DiffBy::Source,
        Some(other) => {
            return Err(ProblemDetails::malformed(format!("by cannot be '{other}'; it is text, main or source")));
        }
    };
    let (from, to) = (fields.parsed("from")?, fields.parsed("to")?);
    let found = request.ask(move |collection| {
        let shown = visited(collection, id)?;
        let wish = DiffWish { url: &shown.page.url, from, to, by, context: CONTEXT };
        let found = diff(collection, wish, owned)?;
        Ok::<_, AnswerError>((shown, found))
    });
    let (shown, mut found): (VisitedPage, OwnedDiff) = found.await?;
    let may_edit = request.may(Right::Edit);
    if may_edit {
        found.offer_to_ignore(&format!("/p/{}/compare", request.project()?.name), &shown.page.url);
    }
    let choice = |(label, value): (&str, &str)| FilterChoice {
        label: label.to_owned(),
        path: request.here_with(&[("by", Some(value))]),
        is_chosen: value == found.by.name(),
    };
    let page = DiffPage {
        frame: request.frame(),
        p: &request.project()?.name,
        title: shown.page.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&shown.page.url),
        from: minute(&found.from.at),
        to: minute(&found.to.at),
        runs: shown.visits.iter().filter(|visit| visit.digest.is_some()).map(|visit| visit.run).collect(),
        choices: [("Text", "text"), ("Main content", "main"), ("Source", "source")].map(choice).into(),
        page: &shown.page,
        marks: marks(&found.rows),
        found: &found,
        may_edit,
    };
    request.page(&page, &found.answer)
}

impl OwnedDiff {
    /// Beside every line that differs, where a rule that ignores it is tried. What is compared are
    /// texts, so lines of the source have none.
    fn offer_to_ignore(&mut self, path: &str, url: &str) {
        for (row, pattern) in self.rows.iter_mut().zip(&self.ignoring) {
            row.ignore = pattern.as_ref().filter(|_| self.by != DiffBy::Source).map(|pattern| {
                let fields = [("url", url), ("ignore", pattern)];
                let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
                format!("{path}?{query}")
            });
        }
    }
}

/// Lines of two versions as rows of a table.
pub(super) fn diff_rows(lines: &[DiffLine<'_>]) -> Vec<DiffRow> {
    let mut rows: Vec<DiffRow> = Vec::new();
    let (mut last, mut differences) = ((0, 0), 0);
    for line in lines {
        let (class, old, new) = sides(line);
        let at = (old.as_ref().map_or(last.0, |side| side.number), new.as_ref().map_or(last.1, |side| side.number));
        let is_after_gap = !rows.is_empty() && (at.0 > last.0 + 1 || at.1 > last.1 + 1);
        last = at;
        let begins = class != "same" && (is_after_gap || rows.last().is_none_or(|row| row.class == "same"));
        differences += usize::from(begins);
        rows.push(DiffRow { class, old, new, is_after_gap, difference: begins.then_some(differences), ignore: None });
    }
    rows
}

/// Where the differences are, on a strip as high as the whole table.
pub(super) struct DiffMark {
    pub(super) difference: usize,
    pub(super) class: &'static str,
    pub(super) y: String,
    pub(super) height: String,
}

fn marks(rows: &[DiffRow]) -> Vec<DiffMark> {
    let unit = 100.0 / rows.len().max(1) as f64;
    let mut marks: Vec<DiffMark> = Vec::new();
    let mut difference = 0;
    for (place, row) in rows.iter().enumerate() {
        difference = row.difference.unwrap_or(difference);
        if row.class == "same" {
            continue;
        }
        let (y, height) = (place as f64 * unit, unit.max(0.6));
        marks.push(DiffMark { difference, class: row.class, y: format!("{y:.2}"), height: format!("{height:.2}") });
    }
    marks
}

fn owned(diff: &PageDiff<'_>) -> OwnedDiff {
    OwnedDiff {
        answer: serde_json::to_value(diff).unwrap_or_default(),
        by: diff.by,
        from: diff.from.clone(),
        to: diff.to.clone(),
        counts: diff.counts,
        same: diff.same(),
        rows: diff_rows(&diff.rows[..diff.rows.len().min(ROWS)]),
        ignoring: diff.rows.iter().take(ROWS).map(ignoring).collect(),
        is_cut: diff.rows.len() > ROWS,
    }
}

fn sides(line: &DiffLine<'_>) -> (&'static str, Option<SideLine>, Option<SideLine>) {
    let whole = |number: usize, text: &str| Some(SideLine { number, pieces: vec![(text.to_owned(), false)] });
    let marked = |number: usize, pieces: &[Piece<'_>]| {
        let pieces = pieces.iter().map(|piece| (piece.text.to_owned(), piece.marked)).collect();
        Some(SideLine { number, pieces })
    };
    match line {
        DiffLine::Same { old_line, new_line, text } => ("same", whole(*old_line, text), whole(*new_line, text)),
        DiffLine::Changed { old_line, new_line, old, new } => {
            ("changed", marked(*old_line, old), marked(*new_line, new))
        }
        DiffLine::Removed { old_line, text } => ("removed", whole(*old_line, text), None),
        DiffLine::Added { new_line, text } => ("added", None, whole(*new_line, text)),
    }
}
