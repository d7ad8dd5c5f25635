//! Which pages may be fetched, and which would be left out under other rules?
//!
//! The rules are one form. Every button sends it: to add, delete or move a rule, to try a URL, to
//! see what the queue would lose, all without saving anything; and to save it.

use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::settings_file::{self, kept, read_loosely, save, version};
use crate::view::Frame;
use askama::Template;
use http::StatusCode;
use orb_answers::{Collection, QueueLoss, TriedUrl, grouped, is_running, queue_loss, try_url};
use orb_project::{ProjectDir, RuleRow, Settings, rule_rows, with_rule_rows};
use orb_urls::ScopeRule;
use orb_urls::scope::Action;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/rules", Right::Edit, |request| Box::pin(show(request)), "The rules of a project"),
    RouteRow::post("/p/{p}/rules/draft", Right::Edit, |request| Box::pin(draft(request)), "What other rules would do"),
    RouteRow::post("/p/{p}/rules", Right::Edit, |request| Box::pin(replace(request)), "Replace the rules"),
];

/// The most rules that a form holds.
const MOST: usize = 500;

/// Pages that would be lost and are shown.
const EXAMPLES: usize = 20;

/// The rules of a project.
#[derive(Serialize, JsonSchema)]
struct ProjectRules {
    /// The rules, in order: the first that matches decides.
    rules: Vec<ShownRuleRow>,
    /// What happens to a URL that no rule matches; `None` follows from the rules.
    default: Option<&'static str>,
    /// What tells these settings from others.
    version: String,
    /// What they say about a URL.
    tried: Option<TriedUrl>,
    /// What the queue would lose.
    loss: Option<QueueLoss>,
}

/// A rule.
#[derive(Serialize, JsonSchema)]
struct ShownRuleRow {
    /// `allow` or `deny`.
    action: &'static str,
    /// A regular expression that is searched in the whole URL.
    regex: String,
    /// What people have written about it.
    comment: String,
}

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage<'a> {
    frame: Frame,
    name: &'a str,
    answer: &'a ProjectRules,
    wrong: Option<String>,
    said: bool,
    is_running: bool,
    is_draft: bool,
    mode: &'static str,
    implied: &'static str,
    asked: String,
    verdict: String,
    loss: Option<String>,
}

/// What is shown: rules, saved or not, and what was asked about them.
struct RulesDraft {
    /// The file as it is.
    before: String,
    rows: Vec<RuleRow>,
    default: Option<Action>,
    asked: String,
    is_draft: bool,
    wrong: Option<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let before = kept(&request).await?;
    let asked = request.query().one("try").unwrap_or_default().to_owned();
    let (rows, default) = (rule_rows(&before), read_loosely(&before).scope.default);
    page(&request, RulesDraft { before, rows, default, asked, is_draft: false, wrong: None }).await
}

async fn draft(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let mut draft = RulesDraft { before: kept(&request).await?, ..sent(&form)? };
    act(&mut draft.rows, form.one("do").unwrap_or_default());
    page(&request, draft).await
}

async fn replace(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let draft = RulesDraft { before: kept(&request).await?, ..sent(&form)? };
    settings_file::read(&draft.before)?;
    let text = with_rule_rows(&draft.before, &draft.rows, draft.default);
    match save(&request, Some(form.typed("version")), text).await {
        Ok(_) => AdmittedRequest::redirect(&format!("/p/{}/rules?saved=1", request.project()?.name)),
        Err(problem) if problem.status.is_server_error() => Err(problem),
        Err(problem) => page(&request, RulesDraft { wrong: Some(problem.detail), ..draft }).await,
    }
}

/// The rules that a form holds; the last row is for a new one, and rows without a text are none.
fn sent(form: &FormFields) -> Result<RulesDraft, ProblemDetails> {
    let count: usize = form.parsed("rows")?.unwrap_or(0);
    let field = |name: &str, n: usize| form.typed(&format!("{name}.{n}")).trim().to_owned();
    let row = |n: usize| {
        let regex = field("regex", n);
        let rule = if field("action", n) == "allow" { ScopeRule::Allow(regex) } else { ScopeRule::Deny(regex) };
        RuleRow { rule, comment: field("comment", n) }
    };
    let rows = (0..=count.min(MOST)).map(row).filter(|row| !row.rule.regex().is_empty()).collect();
    let default = match form.one("default") {
        Some("allow") => Some(Action::Allow),
        Some("deny") => Some(Action::Deny),
        _ => None,
    };
    let asked = form.one("try").unwrap_or_default().to_owned();
    Ok(RulesDraft { before: String::new(), rows, default, asked, is_draft: true, wrong: None })
}

/// Does what a button says, such as `up 2`; the rows are counted from 0.
fn act(rows: &mut Vec<RuleRow>, order: &str) {
    let Some((what, n)) = order.split_once(' ') else { return };
    let Some(n) = n.parse::<usize>().ok().filter(|n| *n < rows.len()) else { return };
    match what {
        "up" if n > 0 => rows.swap(n, n - 1),
        "down" if n + 1 < rows.len() => rows.swap(n, n + 1),
        "delete" => drop(rows.remove(n)),
        _ => {}
    }
}

/// What is asked of the collection about rules.
fn consult(
    project: ProjectDir,
    settings: &Settings,
    asked: &str,
    is_draft: bool,
) -> Result<(Option<TriedUrl>, Option<QueueLoss>), ProblemDetails> {
    let collection = if project.is_empty() { None } else { Some(Collection::of(project)?) };
    let tried = if asked.is_empty() { None } else { Some(try_url(collection.as_ref(), settings, asked)?) };
    let loss = match collection.filter(|_| is_draft) {
        Some(collection) => Some(queue_loss(&collection, settings, EXAMPLES)?),
        None => None,
    };
    Ok((tried, loss))
}

async fn page(request: &AdmittedRequest, mut draft: RulesDraft) -> Handled {
    let project = request.project()?.clone();
    let text = with_rule_rows(&draft.before, &draft.rows, draft.default);
    let settings = read_loosely(&text);
    if let (None, Err(problem)) = (&draft.wrong, settings_file::read(&draft.before)) {
        draft.wrong = Some(problem.detail);
    }
    if let (None, Err(wrong)) = (&draft.wrong, settings.examine()) {
        draft.wrong = Some(wrong.to_string());
    }
    let (is_running, mode) = (is_running(&project), settings.scope.mode.name());
    let (tried, loss) = if draft.wrong.is_none() {
        let (asked, is_draft) = (draft.asked.clone(), draft.is_draft);
        request.work(move |_| consult(project, &settings, &asked, is_draft)).await?
    } else {
        (None, None)
    };
    let only_allows = !draft.rows.is_empty() && draft.rows.iter().all(|row| row.rule.action() == Action::Allow);
    let answer = ProjectRules {
        rules: draft.rows.iter().map(shown).collect(),
        default: draft.default.map(name_of),
        version: version(&draft.before),
        tried,
        loss,
    };
    let is_wrong = draft.wrong.is_some();
    let page = RulesPage {
        frame: request.frame(),
        name: &request.project()?.name,
        wrong: draft.wrong,
        said: request.query().one("saved").is_some(),
        is_running,
        is_draft: draft.is_draft,
        mode,
        implied: if only_allows { "denied" } else { "allowed" },
        verdict: answer.tried.as_ref().map(verdict).unwrap_or_default(),
        loss: answer.loss.as_ref().map(told),
        asked: draft.asked,
        answer: &answer,
    };
    let mut response = request.page(&page, &answer)?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

fn name_of(action: Action) -> &'static str {
    if action == Action::Allow { "allow" } else { "deny" }
}

fn shown(row: &RuleRow) -> ShownRuleRow {
    let RuleRow { rule, comment } = row;
    ShownRuleRow { action: name_of(rule.action()), regex: rule.regex().to_owned(), comment: comment.clone() }
}

/// What the rules say about a URL, in a sentence.
fn verdict(tried: &TriedUrl) -> String {
    let by = match tried.rule {
        Some(rule) => format!("rule {rule}"),
        None => "the default, since no rule matches".to_owned(),
    };
    match (&tried.refused, tried.why) {
        (Some(refused), _) => format!("It cannot be fetched: {refused}."),
        (None, None) if tried.is_seed => "It is fetched: it is a seed, and no rule denies it.".to_owned(),
        (None, None) => format!("It is fetched: allowed by {by}."),
        (None, Some("rule")) => format!("It is not fetched: denied by {by}."),
        (None, Some("extension")) => "It is not fetched: its file extension is denied.".to_owned(),
        (None, Some("path")) => "It is not fetched: its path begins with none of those that are allowed.".to_owned(),
        (None, Some(_)) => "It is not fetched: it lies outside of the area of this project.".to_owned(),
    }
}

/// What a queue would lose, in a sentence.
fn told(loss: &QueueLoss) -> String {
    let (lost, queued) = (grouped(loss.lost), grouped(loss.queued));
    match (loss.lost, loss.is_whole) {
        (0, true) => format!("Of {queued} queued pages none would be left out."),
        (_, true) => format!("Of {queued} queued pages {lost} would be left out."),
        _ => format!("Of the first {queued} queued pages {lost} would be left out; there are more."),
    }
}
