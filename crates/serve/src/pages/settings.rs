//! How does somebody change a project?
//!
//! One page: the keys that are changed most as fields, and the file itself. Both are saved in place
//! if the file is still what was shown, so that nobody overwrites what somebody else has written.

use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::Frame;
use askama::Template;
use http::StatusCode;
use orb_project::units::HumanDuration;
use orb_project::{Home, ProjectDir, ProjectError, Settings, replace_settings, settings_text};
use orb_urls::scope::Mode;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::path::Path;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/settings", Right::Edit, |request| Box::pin(show(request)), "The settings of a project"),
    RouteRow::post("/p/{p}/settings", Right::Edit, |request| Box::pin(save(request)), "Replace the settings file"),
    RouteRow::post(
        "/p/{p}/settings/fields",
        Right::Edit,
        |request| Box::pin(save_fields(request)),
        "Change the settings that are changed most",
    ),
];

/// The settings of a project.
#[derive(Serialize, JsonSchema)]
struct SettingsText {
    /// The text of the file.
    text: String,
    /// What tells this text from another.
    version: String,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage<'a> {
    frame: Frame,
    name: &'a str,
    text: &'a str,
    version: &'a str,
    wrong: Option<String>,
    said: bool,
    modes: Vec<(&'static str, bool)>,
    seeds: String,
    depth: String,
    max_pages: String,
    delay: String,
    every: String,
    hold: bool,
}

/// What tells one text from another.
pub(super) fn version(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The modes of a scope, with the chosen one marked.
pub(super) fn modes(chosen: Mode) -> Vec<(&'static str, bool)> {
    Mode::ALL.iter().map(|mode| (mode.name(), *mode == chosen)).collect()
}

/// A page with a text, and what is wrong with it.
fn page(request: &AdmittedRequest, kept: &str, text: &str, wrong: Option<String>) -> Handled {
    let project = request.project()?;
    // Where the file cannot be read the fields show the defaults, and the text what is wrong.
    let settings = Settings::parse(kept, Path::new("project.toml")).unwrap_or_default();
    let (frontier, shown) = (&settings.frontier, |value: Option<String>| value.unwrap_or_default());
    let answer = SettingsText { text: text.to_owned(), version: version(kept) };
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = SettingsPage {
        frame: request.frame(),
        name: &project.name,
        text,
        version: &answer.version,
        wrong,
        said: request.query().one("saved").is_some(),
        modes: modes(settings.scope.mode),
        seeds: settings.seeds.join("\n"),
        depth: shown(frontier.depth.map(|depth| depth.to_string())),
        max_pages: shown(frontier.max_pages.map(|pages| pages.to_string())),
        delay: frontier.delay.to_string(),
        every: shown(settings.schedule.every.map(|every| every.to_string())),
        hold: settings.track.hold_until_acknowledged,
    };
    let mut response = request.page(&page, &answer)?;
    *response.status_mut() = status;
    Ok(response)
}

async fn show(request: AdmittedRequest) -> Handled {
    let text = kept(&request).await?;
    page(&request, &text, &text, None)
}

/// The file as it is; empty if there is none.
async fn kept(request: &AdmittedRequest) -> Result<String, ProblemDetails> {
    let project = request.project()?.clone();
    if !project.settings().exists() {
        return Ok(String::new());
    }
    request.work(move |_| settings_text(&project)).await
}

async fn save(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    // Browsers send lines as the network writes them.
    let text = form.typed("text").replace("\r\n", "\n");
    keep(&request, &form, text).await
}

async fn save_fields(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let before = kept(&request).await?;
    let mut settings = Settings::parse(&before, Path::new("project.toml")).map_err(ProblemDetails::unprocessable)?;
    if let Err(problem) = fill(&mut settings, &form) {
        return page(&request, &before, &before, Some(problem.detail));
    }
    let text = settings.amended(&before);
    keep(&request, &form, text).await
}

/// Puts the fields of a form into settings; one that was emptied is unset.
pub(super) fn fill(settings: &mut Settings, form: &FormFields) -> Result<(), ProblemDetails> {
    let seeds = form.typed("seeds").lines().map(str::trim).filter(|line| !line.is_empty());
    settings.seeds = seeds.map(str::to_owned).collect();
    if let Some(name) = form.one("mode") {
        let mode = Mode::ALL.iter().find(|mode| mode.name() == name);
        settings.scope.mode = *mode.ok_or_else(|| ProblemDetails::malformed(format!("mode cannot be '{name}'")))?;
    }
    settings.frontier.depth = form.parsed("depth")?;
    settings.frontier.max_pages = form.parsed("max_pages")?;
    if let Some(delay) = form.parsed::<HumanDuration>("delay")? {
        settings.frontier.delay = delay;
    }
    settings.schedule.every = form.parsed("every")?;
    settings.track.hold_until_acknowledged = form.one("hold").is_some();
    Ok(())
}

/// Saves a text, or shows it again with what is wrong.
async fn keep(request: &AdmittedRequest, form: &FormFields, text: String) -> Handled {
    let before = kept(request).await?;
    if form.one("version") != Some(&version(&before)) {
        let told = "somebody else has changed the file meanwhile: load the page again and make your change there";
        return page(request, &before, &text, Some(told.to_owned()));
    }
    let (project, is_operator) = (request.project()?.clone(), request.is_operator()?);
    let by = request.user()?.name.clone();
    let (old, new) = (before.clone(), text.clone());
    let saved =
        request.work(move |home| Ok::<_, ProblemDetails>(replace(home, &project, (&old, &new), is_operator, &by)));
    match saved.await? {
        Ok(()) => AdmittedRequest::redirect(&format!("/p/{}/settings?saved=1", request.project()?.name)),
        Err(error) => {
            let problem = ProblemDetails::from(error);
            match problem.status {
                StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
                _ => page(request, &before, &text, Some(problem.detail)),
            }
        }
    }
}

fn replace(
    home: &Home,
    project: &ProjectDir,
    texts: (&str, &str),
    is_operator: bool,
    by: &str,
) -> Result<(), ProjectError> {
    replace_settings(project, texts, is_operator)?;
    Ok(home.accounts().note(Some(by), &format!("changed the settings of project {}", project.name))?)
}
