//! How are pages reached that lie behind a log-in or a form?
//!
//! The steps of a project in order, and the forms of a page ready to be taken over as a step. A
//! page that was archived is read from there; any other is requested, as a step would do it, so
//! looking is sent and not got. Whoever is not an operator looks with the address guard closed.

use super::found_forms::{FoundForm, found_forms, taken};
use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::settings_file::{self, kept, read_loosely, save_with, version};
use crate::view::{Frame, minute};
use askama::Template;
use http::StatusCode;
use orb_answers::{Collection, PageForms, archived_forms};
use orb_crawl::look;
use orb_project::units::HumanDuration;
use orb_project::{
    FieldValue, FormSettings, KeptSecret, ProjectDir, ProjectError, RowEdit, Settings, StepSettings, kept_secrets,
};
use orb_urls::{Canonicaliser, Rules};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/steps", Right::Edit, |request| Box::pin(show(request)), "The steps of a project")
        .with_secret(),
    RouteRow::post("/p/{p}/steps", Right::Edit, |request| Box::pin(change(request)), "Add, move or delete a step"),
    RouteRow::post("/p/{p}/steps/look", Right::Edit, |request| Box::pin(look_at(request)), "The forms of a page"),
    RouteRow::post("/p/{p}/steps/form", Right::Edit, |request| Box::pin(take_over(request)), "Make a form a step"),
];

/// How long looking may take.
const LOOK: Duration = Duration::from_secs(10);

/// The steps of a project.
#[derive(Serialize, JsonSchema)]
struct ProjectSteps {
    /// The steps in order, without passwords.
    #[schemars(with = "Vec<serde_json::Value>")]
    steps: Vec<StepSettings>,
    /// What tells these settings from others.
    version: String,
    /// The forms of a page that was looked at.
    found: Option<PageForms>,
    /// The secrets that steps can refer to, without their values.
    secrets: Vec<KeptSecret>,
}

#[derive(Template)]
#[template(path = "ways.html")]
struct StepsPage<'a> {
    frame: Frame,
    name: &'a str,
    version: &'a str,
    wrong: Option<String>,
    said: bool,
    steps: Vec<ShownStep>,
    url: String,
    source: String,
    is_looked: bool,
    is_operator: bool,
    forms: Vec<FoundForm>,
    secrets: &'a [KeptSecret],
}

/// A step in words.
struct ShownStep {
    name: String,
    start: Vec<String>,
    links: String,
    depth: String,
    collects: bool,
    form: Option<String>,
    fields: Vec<(String, String)>,
    expects: String,
}

/// A page that was looked at.
struct LookedPage {
    url: String,
    source: String,
    forms: Option<PageForms>,
}

async fn show(request: AdmittedRequest) -> Handled {
    page(&request, None, None).await
}

/// The page, with what was looked at and what is wrong.
async fn page(request: &AdmittedRequest, looked: Option<LookedPage>, wrong: Option<String>) -> Handled {
    let before = kept(request).await?;
    let steps = read_loosely(&before).without_passwords().steps;
    let is_wrong = wrong.is_some();
    let url = request.query().one("url").unwrap_or_default().to_owned();
    let looked = looked.unwrap_or(LookedPage { url, source: String::new(), forms: None });
    let project = request.project()?.clone();
    let secrets = request.work(move |_| kept_secrets(&project)).await?;
    let answer = ProjectSteps { version: version(&before), found: looked.forms, steps, secrets };
    let page = StepsPage {
        frame: request.frame(),
        name: &request.project()?.name,
        version: &answer.version,
        wrong,
        said: request.query().one("saved").is_some(),
        steps: answer.steps.iter().map(shown).collect(),
        url: answer.found.as_ref().map_or(looked.url, |found| found.url.clone()),
        source: looked.source,
        is_looked: answer.found.is_some(),
        is_operator: request.is_operator()?,
        forms: answer.found.as_ref().map(|found| found_forms(&found.forms)).unwrap_or_default(),
        secrets: &answer.secrets,
    };
    let mut response = request.page(&page, &answer)?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

fn shown(step: &StepSettings) -> ShownStep {
    let links = match (&step.links, &step.links_matching) {
        (Some(selector), Some(regex)) => format!("links {selector} that match {regex}"),
        (Some(selector), None) => format!("links {selector}"),
        (None, Some(regex)) => format!("links that match {regex}"),
        (None, None) if step.start.is_empty() => "where the step before has led to".to_owned(),
        _ => String::new(),
    };
    let text = |word: &Option<String>| word.clone();
    let expects = [
        text(&step.expect).map(|word| format!("“{word}” is there")),
        text(&step.expect_selector).map(|word| format!("{word} is there")),
        text(&step.expect_not).map(|word| format!("“{word}” is not there")),
        text(&step.expect_not_selector).map(|word| format!("{word} is not there")),
    ];
    let fields = step.form.iter().flat_map(|form| &form.fields).map(|(name, value)| (name.clone(), value_of(value)));
    ShownStep {
        name: step.name.clone(),
        start: step.start.clone(),
        links,
        depth: step.depth.map_or_else(|| "as the project".to_owned(), |depth| depth.to_string()),
        collects: step.collects(),
        form: step.form.as_ref().map(form_name),
        fields: fields.collect(),
        expects: expects.into_iter().flatten().collect::<Vec<_>>().join(", "),
    }
}

fn form_name(form: &FormSettings) -> String {
    let named = form.id.as_ref().map(|id| format!("#{id}")).or(form.name.clone()).or(form.action.clone());
    named.unwrap_or_else(|| format!("number {}", form.position.unwrap_or(1)))
}

/// A value as it is shown; secrets were taken out before.
fn value_of(value: &FieldValue) -> String {
    match value {
        FieldValue::Switch(on) => if *on { "on" } else { "off" }.to_owned(),
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Text(text) => text.clone(),
        FieldValue::Many(texts) => texts.join(", "),
        FieldValue::Hidden(source) => match (&source.env, &source.secret) {
            (Some(name), _) => format!("from the variable {name}"),
            (_, Some(name)) => format!("the secret “{name}”"),
            _ => "from a file".to_owned(),
        },
    }
}

async fn change(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (what, n) = form.one("do").unwrap_or("add").split_once(' ').unwrap_or(("add", ""));
    let row: usize = n.parse().unwrap_or(usize::MAX);
    let (edit, step) = match what {
        "up" => (RowEdit::Raise(row), None),
        "down" => (RowEdit::Raise(row.saturating_add(1)), None),
        "delete" => (RowEdit::Remove(row), None),
        _ => (RowEdit::Add, Some(typed(&form)?)),
    };
    keep(&request, &form, edit, step).await
}

/// The step that somebody typed.
fn typed(form: &FormFields) -> Result<StepSettings, ProblemDetails> {
    let start = form.typed("start").lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(StepSettings {
        name: form.one("name").unwrap_or_default().to_owned(),
        start: start.map(str::to_owned).collect(),
        links: form.one("links").map(str::to_owned),
        depth: form.parsed("depth")?,
        collect: form.one("collect").is_none().then_some(false),
        ..StepSettings::default()
    })
}

/// Saves the steps with one of them changed.
async fn keep(request: &AdmittedRequest, form: &FormFields, edit: RowEdit, step: Option<StepSettings>) -> Handled {
    let before = kept(request).await?;
    let kept = settings_file::read(&before)?;
    let mut settings = kept.clone();
    edit.apply(&mut settings.steps, step);
    let secrets = settings.take_typed_secrets(&kept);
    let text = settings.amended_row(&before, "steps", edit);
    match save_with(request, Some(form.typed("version")), text, secrets).await {
        Ok(_) => AdmittedRequest::redirect(&format!("/p/{}/steps?saved=1", request.project()?.name)),
        Err(problem) if problem.status.is_server_error() => Err(problem),
        Err(problem) => page(request, None, Some(problem.detail)).await,
    }
}

async fn look_at(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let url = form.needed("url")?.to_owned();
    let (project, is_operator) = (request.project()?.clone(), request.is_operator()?);
    let settings = read_loosely(&kept(&request).await?);
    let asked = url.clone();
    let looked = request.work(move |home| {
        let looked = looked(project, settings, (asked.as_str(), is_operator), home.path());
        Ok::<_, ProblemDetails>(looked)
    });
    match looked.await? {
        Ok(found) => page(&request, Some(found), None).await,
        Err(problem) if problem.status == StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
        Err(problem) => {
            let unseen = LookedPage { url, source: String::new(), forms: None };
            page(&request, Some(unseen), Some(problem.detail)).await
        }
    }
}

/// The forms of a page: as it was archived, or as it is now.
fn looked(
    project: ProjectDir,
    settings: Settings,
    (url, is_operator): (&str, bool),
    scratch: &Path,
) -> Result<LookedPage, ProblemDetails> {
    let collection = if project.is_empty() { None } else { Some(Collection::of(project)?) };
    let archived = collection.map(|collection| archived_forms(&collection, url)).transpose()?;
    if let Some((forms, at)) = archived.flatten() {
        let source = format!("as it was archived on {}", minute(&at));
        return Ok(LookedPage { url: forms.url.clone(), source, forms: Some(forms) });
    }
    let settings = for_looking(settings, url, is_operator);
    if !is_operator {
        // Seeds of the project itself may be private; one that is typed here may not.
        settings.examine_outsider(&Settings { seeds: Vec::new(), ..settings.clone() }).map_err(ProjectError::from)?;
    }
    let address = Canonicaliser::new(settings.urls).parse_seed(url).map_err(ProblemDetails::malformed)?;
    let (url, document) = look(&settings, &address, scratch)?;
    let forms = PageForms::of(url.clone(), document);
    Ok(LookedPage { url, source: "as it is now".to_owned(), forms: Some(forms) })
}

/// The settings with which one page is requested: those of the project, but nothing of its secrets,
/// and nothing inside for those who are not the operator.
fn for_looking(settings: Settings, url: &str, is_operator: bool) -> Settings {
    let urls = Rules { strip_session_ids: false, tidy_query: false, ..settings.urls };
    let (steps, auth) = (Vec::new(), Vec::new());
    let mut settings = Settings { seeds: vec![url.to_owned()], steps, auth, urls, ..settings };
    settings.fetch.cookies_file = None;
    if !is_operator {
        (settings.fetch.private_seeds, settings.fetch.allow_private) = (false, false);
    }
    let quick = HumanDuration(LOOK);
    (settings.fetch.timeout, settings.fetch.connect_timeout, settings.fetch.total_timeout) = (quick, quick, quick);
    settings.frontier.retries = 0;
    settings
}

async fn take_over(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let step =
        StepSettings { form: Some(taken(&form)?), expect: form.one("expect").map(str::to_owned), ..typed(&form)? };
    keep(&request, &form, RowEdit::Add, Some(step)).await
}
