//! How does somebody change a project?
//!
//! One page: the keys that are changed most as fields, and the file itself. Both are saved in place
//! if the file is still what was shown, so that nobody overwrites what somebody else has written.

use crate::api::projects::remove_project;
use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::settings_file::{self, kept, version};
use crate::view::Frame;
use askama::Template;
use http::StatusCode;
use orb_project::Settings;
use orb_project::units::HumanDuration;
use orb_urls::scope::Mode;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/settings", Right::Edit, |request| Box::pin(show(request)), "The settings of a project")
        .with_secret(),
    RouteRow::post("/p/{p}/settings", Right::Edit, |request| Box::pin(save(request)), "Replace the settings file"),
    RouteRow::post(
        "/p/{p}/settings/fields",
        Right::Edit,
        |request| Box::pin(save_fields(request)),
        "Change the settings that are changed most",
    ),
    RouteRow::post(
        "/p/{p}/remove",
        Right::Edit,
        |request| Box::pin(remove(request)),
        "Remove a project with all that it has collected",
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
    modes: Vec<AreaChoice>,
    seeds: String,
    depth: String,
    max_pages: String,
    delay: String,
    every: String,
    hold: bool,
    may_remove: bool,
}

/// The modes of a scope, with the chosen one marked.
pub(super) fn modes(chosen: Mode) -> Vec<AreaChoice> {
    let choice = |mode: &Mode| {
        let about = match mode {
            Mode::Prefix => "below the directory of each address",
            Mode::Host => "all of their hosts",
            Mode::Domain => "all of their domains, with subdomains",
            Mode::Neighbours => "their hosts, and what these link to",
            Mode::Any => "everywhere that links lead",
        };
        AreaChoice { name: mode.name(), about, is_chosen: *mode == chosen }
    };
    Mode::ALL.iter().map(choice).collect()
}

/// An area that a crawl may keep to.
pub(super) struct AreaChoice {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) is_chosen: bool,
}

/// A page with a text, and what is wrong with it.
fn page(request: &AdmittedRequest, kept: &str, text: &str, wrong: Option<String>) -> Handled {
    let project = request.project()?;
    // Where the file cannot be read the fields show the defaults, and the text what is wrong.
    let settings = settings_file::read_loosely(kept);
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
        may_remove: request.user()?.admin,
    };
    let mut response = request.page(&page, &answer)?;
    *response.status_mut() = status;
    Ok(response)
}

async fn show(request: AdmittedRequest) -> Handled {
    let text = kept(&request).await?;
    page(&request, &text, &text, None)
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
    let mut settings = settings_file::read(&before)?;
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

async fn remove(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    match remove_project(&request, form.one("confirm").unwrap_or_default()).await {
        Ok(()) => AdmittedRequest::redirect("/"),
        Err(problem) if [StatusCode::BAD_REQUEST, StatusCode::CONFLICT].contains(&problem.status) => {
            let text = kept(&request).await?;
            let told = format!("The project is not removed: {}.", problem.detail);
            page(&request, &text, &text, Some(told))
        }
        Err(problem) => Err(problem),
    }
}

/// Saves a text, or shows it again with what is wrong.
async fn keep(request: &AdmittedRequest, form: &FormFields, text: String) -> Handled {
    match settings_file::save(request, Some(form.typed("version")), text.clone()).await {
        Ok(_) => AdmittedRequest::redirect(&format!("/p/{}/settings?saved=1", request.project()?.name)),
        Err(problem) if problem.status.is_server_error() => Err(problem),
        Err(problem) => page(request, &kept(request).await?, &text, Some(problem.detail)),
    }
}
