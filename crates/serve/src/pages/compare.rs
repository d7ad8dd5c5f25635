//! When do two versions of a page say the same?
//!
//! The rules in order, one form each. A form can be tried on a page before it is saved: the last
//! two versions of the page that differ are shown as the rule sees them, and its parts can be
//! chosen from a list. A link may bring what is to be ignored, compared alone or left out: it is
//! tried, and saved by whoever presses the button. Which program decides is the operator's
//! business; programs are neither set nor run here.

use super::diff::{DiffRow, diff_rows};
use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::settings_file::{self, kept, read_loosely, save, version};
use crate::view::{Frame, minute};
use askama::Template;
use http::StatusCode;
use orb_answers::{AnswerError, ChoosablePart, ComparedVersions, choosable_parts, compare_versions, only};
use orb_project::{CompareSettings, RowEdit, Settings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/compare", Right::Edit, |request| Box::pin(show(request)), "How versions are compared"),
    RouteRow::post("/p/{p}/compare/draft", Right::Edit, |request| Box::pin(draft(request)), "Try a rule on a page"),
    RouteRow::post("/p/{p}/compare", Right::Edit, |request| Box::pin(change(request)), "Change the rules"),
];

/// Lines around a difference, and lines on the screen.
const CONTEXT: usize = 2;
const ROWS: usize = 500;

/// The ways to compare.
const WAYS: [&str; 4] = ["bytes", "text", "main", "selector"];

/// How the versions of pages are compared.
#[derive(Serialize, JsonSchema)]
struct ProjectComparisons {
    /// The rules, in order: the first whose `match` fits a URL applies.
    #[schemars(with = "Vec<Value>")]
    rules: Vec<CompareSettings>,
    /// What tells these settings from others.
    version: String,
    /// Two versions of a page under the rules.
    tried: Option<Value>,
    /// The parts of the page that a rule may choose.
    parts: Vec<ChoosablePart>,
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage<'a> {
    frame: Frame,
    name: &'a str,
    version: &'a str,
    wrong: Option<String>,
    said: bool,
    rules: Vec<ShownComparison>,
    is_draft: bool,
    url: String,
    tried: Option<TriedPage>,
    parts: Vec<PartLine>,
}

/// A part of the page, and where rules that choose it are tried.
struct PartLine {
    selector: String,
    elements: usize,
    text: String,
    alone: String,
    without: String,
}

/// A rule as fields.
struct ShownComparison {
    /// Its number from 0; the last is for a new one.
    row: usize,
    is_new: bool,
    is_draft: bool,
    matches: String,
    ways: Vec<(&'static str, bool)>,
    include: String,
    exclude: String,
    ignore: String,
    similarity: String,
    program: String,
}

/// Two versions under a rule, to be shown.
struct TriedPage {
    verdict: String,
    detail: Option<String>,
    from: String,
    to: String,
    rows: Vec<DiffRow>,
}

/// What is shown: the rules, and one of them that is being tried.
#[derive(Default)]
struct CompareDraft {
    row: Option<(usize, CompareSettings)>,
    url: String,
    wrong: Option<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let url = query.one("url").unwrap_or_default().to_owned();
    let added = ["ignore", "include", "exclude"].map(|list| query.one(list).map(str::to_owned));
    let row = match added.iter().any(Option::is_some) {
        true => Some(extended(&read_loosely(&kept(&request).await?), &url, added)),
        false => None,
    };
    page(&request, CompareDraft { row, url, wrong: None }).await
}

/// The rule that applies to a page with something more to ignore, to compare alone or to leave out;
/// a new one for this page if none does.
fn extended(settings: &Settings, url: &str, added: [Option<String>; 3]) -> (usize, CompareSettings) {
    let applies = settings.track.comparison().ok().and_then(|rules| rules.rule_for(url));
    let row = applies.map_or(settings.track.compare.len(), |number| number - 1);
    let of_page = || CompareSettings { matches: Some(only(url)), ..CompareSettings::default() };
    let mut rule = settings.track.compare.get(row).cloned().unwrap_or_else(of_page);
    if added[1].is_some() {
        // What is included says what is compared.
        rule.by = None;
    }
    let lists = [&mut rule.ignore, &mut rule.include, &mut rule.exclude];
    for (list, more) in lists.into_iter().zip(added) {
        list.extend(more.filter(|more| !list.contains(more)));
    }
    (row, rule)
}

async fn draft(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let before = read_loosely(&kept(&request).await?);
    let (row, rule) = sent(&form, &before)?;
    let url = form.one("url").unwrap_or_default().to_owned();
    page(&request, CompareDraft { row: Some((row, rule)), url, wrong: None }).await
}

async fn change(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let before = kept(&request).await?;
    let mut settings = settings_file::read(&before)?;
    let (row, rule) = sent(&form, &settings)?;
    let edit = match form.one("do") {
        Some("up") => RowEdit::Raise(row),
        Some("down") => RowEdit::Raise(row.saturating_add(1)),
        Some("delete") => RowEdit::Remove(row),
        _ if row < settings.track.compare.len() => RowEdit::Replace(row),
        _ => RowEdit::Add,
    };
    edit.apply(&mut settings.track.compare, Some(rule.clone()));
    let text = settings.amended_row(&before, "track.compare", edit);
    match save(&request, Some(form.typed("version")), text).await {
        Ok(_) => AdmittedRequest::redirect(&format!("/p/{}/compare?saved=1", request.project()?.name)),
        Err(problem) if problem.status.is_server_error() => Err(problem),
        Err(problem) => {
            let (row, wrong) = (Some((row, rule)), Some(problem.detail));
            page(&request, CompareDraft { row, url: String::new(), wrong }).await
        }
    }
}

/// The rule that a form holds, and its number. What is the operator's stays as it is.
fn sent(form: &FormFields, settings: &Settings) -> Result<(usize, CompareSettings), ProblemDetails> {
    let row: usize = form.parsed("row")?.unwrap_or(usize::MAX);
    let kept = settings.track.compare.get(row).cloned().unwrap_or_default();
    let lines = |name: &str| {
        let lines = form.typed(name).lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let by = form.one("by").map(|by| serde_json::from_value(Value::from(by))).transpose();
    let rule = CompareSettings {
        matches: form.one("match").map(str::to_owned),
        by: by.map_err(|_| ProblemDetails::malformed("by is bytes, text, main or selector"))?,
        include: lines("include"),
        exclude: lines("exclude"),
        ignore: lines("ignore"),
        similarity: form.parsed("similarity")?,
        ..kept
    };
    Ok((row, rule))
}

async fn page(request: &AdmittedRequest, mut draft: CompareDraft) -> Handled {
    let before = kept(request).await?;
    let mut settings = read_loosely(&before);
    if let (None, Err(problem)) = (&draft.wrong, settings_file::read(&before)) {
        draft.wrong = Some(problem.detail);
    }
    let count = settings.track.compare.len();
    if let Some((row, rule)) = &draft.row {
        let edit = if *row < count { RowEdit::Replace(*row) } else { RowEdit::Add };
        edit.apply(&mut settings.track.compare, Some(rule.clone()));
    }
    if let (None, Err(wrong)) = (&draft.wrong, settings.examine()) {
        draft.wrong = Some(wrong.to_string());
    }
    let rules = settings.track.compare.clone();
    let parts = match draft.url.is_empty() || request.project()?.is_empty() {
        true => Vec::new(),
        false => {
            let url = draft.url.clone();
            // A page that is not there has no parts, and to try a rule on it says so.
            request.ask(move |collection| choosable_parts(collection, &url)).await.unwrap_or_default()
        }
    };
    let tried = if draft.url.is_empty() || draft.wrong.is_some() {
        None
    } else {
        let url = draft.url.clone();
        match request.ask(move |collection| tried(collection, &settings, &url)).await {
            Ok(tried) => Some(tried),
            Err(problem) if problem.status.is_server_error() => return Err(problem),
            Err(problem) => {
                draft.wrong = Some(problem.detail);
                None
            }
        }
    };
    respond(request, (version(&before), count), (rules, parts), draft, tried)
}

fn respond(
    request: &AdmittedRequest,
    (version, count): (String, usize),
    (rules, parts): (Vec<CompareSettings>, Vec<ChoosablePart>),
    draft: CompareDraft,
    tried: Option<(Value, TriedPage)>,
) -> Handled {
    let is_draft = |row: usize| draft.row.as_ref().is_some_and(|(tried, _)| (*tried).min(count) == row);
    let mut shown: Vec<ShownComparison> =
        rules.iter().enumerate().map(|(row, rule)| shown(row, rule, row >= count, is_draft(row))).collect();
    if shown.len() == count {
        shown.push(self::shown(count, &CompareSettings::default(), true, false));
    }
    let (answer, tried) = tried.unzip();
    let project = &request.project()?.name;
    let lines: Vec<PartLine> = parts.iter().map(|part| part_line(project, &draft.url, part)).collect();
    let answer = ProjectComparisons { rules, version, tried: answer, parts };
    let is_wrong = draft.wrong.is_some();
    let page = ComparePage {
        frame: request.frame(),
        name: &request.project()?.name,
        version: &answer.version,
        wrong: draft.wrong,
        said: request.query().one("saved").is_some(),
        rules: shown,
        is_draft: draft.row.is_some(),
        url: draft.url,
        tried,
        parts: lines,
    };
    let mut response = request.page(&page, &answer)?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

fn part_line(project: &str, url: &str, part: &ChoosablePart) -> PartLine {
    let tried = |list: &str| {
        let fields = [("url", url), (list, &part.selector)];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        format!("/p/{project}/compare?{query}")
    };
    let ChoosablePart { selector, elements, text } = part.clone();
    PartLine { selector, elements, text, alone: tried("include"), without: tried("exclude") }
}

fn shown(row: usize, rule: &CompareSettings, is_new: bool, is_draft: bool) -> ShownComparison {
    let by = rule.by.and_then(|by| serde_json::to_value(by).ok());
    let ways = WAYS.map(|way| (way, by.as_ref().and_then(Value::as_str) == Some(way)));
    ShownComparison {
        row,
        is_new,
        is_draft,
        matches: rule.matches.clone().unwrap_or_default(),
        ways: ways.into(),
        include: rule.include.join("\n"),
        exclude: rule.exclude.join("\n"),
        ignore: rule.ignore.join("\n"),
        similarity: rule.similarity.map(|bits| bits.to_string()).unwrap_or_default(),
        program: rule.program.join(" "),
    }
}

/// The last two versions of a page under the rules.
fn tried(
    collection: &orb_answers::Collection,
    settings: &Settings,
    url: &str,
) -> Result<(Value, TriedPage), AnswerError> {
    compare_versions(collection, settings, (url, CONTEXT), |compared| {
        let rows = diff_rows(&compared.rows[..compared.rows.len().min(ROWS)]);
        let side = |side: &orb_answers::DiffSide| format!("run {}, {}", side.run, minute(&side.at));
        let (from, to) = (side(&compared.from), side(&compared.to));
        let page = TriedPage { verdict: verdict(compared), detail: compared.detail.clone(), from, to, rows };
        (serde_json::to_value(compared).unwrap_or_default(), page)
    })
}

/// What a tracking run would say, in a sentence.
fn verdict(compared: &ComparedVersions<'_>) -> String {
    let rule = compared.rule.map_or_else(|| "No rule applies".to_owned(), |rule| format!("Rule {rule} applies"));
    if compared.has_program {
        return format!("{rule}, and its program decides: it is not asked here.");
    }
    let said = match compared.verdict {
        "same" => "the two versions say the same: SAM",
        "around" => "they differ only around the main content: SAM",
        "failed" => "they cannot be compared: ERR",
        _ => "they differ: UPD",
    };
    format!("{rule}: {said}.")
}
