//! How does somebody make a project?
//!
//! One page, not a wizard: an address; what is there; the few settings that matter; and the run.
//! Looking fetches a page, so it is sent, not got. Whoever is not an operator looks and crawls with
//! the address guard closed: an address that turns out to be private is not visited.

use super::settings::{AreaChoice, fill, modes};
use crate::fields::FormFields;
use crate::launch::{LaunchKind, LaunchState, RunWish, start_run};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, html};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, bytes};
use askama::Template;
use http::StatusCode;
use orb_answers::{Wishes, clip, grouped, plan};
use orb_crawl::{SiteSight, look_around};
use orb_project::units::HumanDuration;
use orb_project::{ProjectError, Settings, StoreError, Template as Start, create};
use orb_urls::{Address, Canonicaliser};
use std::net::IpAddr;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/new", Right::Admin, |request| Box::pin(form(request)), "The form for a new project"),
    RouteRow::post("/new/look", Right::Admin, |request| Box::pin(look_at(request)), "Look at an address"),
    RouteRow::post("/new", Right::Admin, |request| Box::pin(make(request)), "Make a project and run it"),
];

/// How long looking may take.
const LOOK: Duration = Duration::from_secs(10);

/// Pages at most, unless somebody says otherwise.
const USUAL_PAGES: u64 = 10_000;

/// Pages that an estimate is made for.
const ESTIMATED: f64 = 10_000.0;

#[derive(Template)]
#[template(path = "new.html")]
struct NewPage {
    frame: Frame,
    url: String,
    name: String,
    wrong: Option<String>,
    found: Option<FoundSite>,
    modes: Vec<AreaChoice>,
    depth: String,
    max_pages: String,
    delay: String,
    every: String,
    template: &'static str,
    about: &'static str,
    templates: Vec<TemplateChoice>,
}

/// What a project may be for.
struct TemplateChoice {
    name: &'static str,
    about: &'static str,
    is_chosen: bool,
}

/// What a project is to be for.
fn chosen(fields: &FormFields) -> Result<Start, ProblemDetails> {
    let unknown = |name: &str| ProblemDetails::malformed(format!("there is no template '{name}'"));
    fields.one("template").map_or(Ok(Start::Plain), |name| Start::named(name).ok_or_else(|| unknown(name)))
}

/// What is at an address.
struct FoundSite {
    /// A name for its project that none has yet.
    name: String,
    url: String,
    title: String,
    links: usize,
    near: usize,
    forms: usize,
    passwords: bool,
    sitemaps: String,
    hours: String,
    disk: String,
}

/// The page with an address, and what is known of it.
fn page(
    request: &AdmittedRequest,
    template: Start,
    url: &str,
    found: Option<FoundSite>,
    wrong: Option<String>,
) -> Handled {
    let is_wrong = wrong.is_some();
    let address = Canonicaliser::default().parse_seed(url).ok();
    let name = found.as_ref().map(|found| found.name.clone()).or(address.map(|address| name_of(&address)));
    let settings = template.settings()?;
    let choice = |one: Start| TemplateChoice { name: one.name(), about: one.about(), is_chosen: one == template };
    let shown = |value: Option<String>| value.unwrap_or_default();
    let mut response = html(&NewPage {
        frame: request.frame(),
        url: url.to_owned(),
        name: name.unwrap_or_default(),
        wrong,
        found,
        modes: modes(settings.scope.mode),
        depth: shown(settings.frontier.depth.map(|depth| depth.to_string())),
        max_pages: settings.frontier.max_pages.unwrap_or(USUAL_PAGES).to_string(),
        delay: settings.frontier.delay.to_string(),
        every: shown(settings.schedule.every.map(|every| every.to_string())),
        template: template.name(),
        about: template.about(),
        templates: Start::ALL.map(choice).into_iter().collect(),
    })?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

/// A name for a project that starts here.
fn name_of(address: &Address) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = address.host().chars().map(plain).collect();
    name.trim_start_matches(['-', '.']).chars().take(64).collect()
}

/// A name for a project that starts here: that of its host, or if that is a number, of its page.
fn titled_name(title: &str, address: &Address) -> String {
    if address.host().parse::<IpAddr>().is_err() {
        return name_of(address);
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = title.chars().map(plain).collect();
    let name = words.split_whitespace().take(4).collect::<Vec<_>>().join("-");
    if name.is_empty() || name.len() > 60 { name_of(address) } else { name }
}

/// A name like this one that no project has.
fn free_name(home: &ServedHome, wanted: &str) -> Result<String, StoreError> {
    let taken = home.names()?;
    let begin: String = wanted.chars().take(60).collect();
    let more = (2..).map(|n| format!("{begin}-{n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(more);
    Ok(names.find(|name| !taken.contains(name)).unwrap_or_default())
}

async fn form(request: AdmittedRequest) -> Handled {
    let query = request.query();
    page(&request, chosen(&query)?, query.one("url").unwrap_or_default(), None, None)
}

async fn look_at(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (url, template) = (form.needed("url")?.to_owned(), chosen(&form)?);
    let mut settings = starting(&request, Start::Plain)?;
    settings.seeds = vec![url.clone()];
    let quick = HumanDuration(LOOK);
    (settings.fetch.timeout, settings.fetch.connect_timeout, settings.fetch.total_timeout) = (quick, quick, quick);
    settings.frontier.retries = 0;
    let looked = request.work(move |home| Ok::<_, ProblemDetails>(looked(home, &settings)));
    match looked.await? {
        Ok(found) => page(&request, template, &url, Some(found), None),
        Err(problem) if problem.status == StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
        Err(problem) => page(&request, template, &url, None, Some(problem.detail)),
    }
}

/// The settings that somebody's project begins with.
pub(crate) fn starting(request: &AdmittedRequest, template: Start) -> Result<Settings, ProblemDetails> {
    let mut settings = template.settings()?;
    settings.fetch.private_seeds = request.is_operator()?;
    Ok(settings)
}

/// Refuses settings that are wrong, or not for whoever asks. What a template says is ours.
fn check(settings: &Settings, template: Start) -> Result<(), ProjectError> {
    if !settings.fetch.private_seeds {
        let mut ours = template.settings()?;
        (ours.fetch.private_seeds, ours.seeds) = (false, Vec::new());
        settings.examine_outsider(&ours)?;
    }
    Ok(settings.examine()?)
}

/// What is at the first seed.
fn looked(home: &ServedHome, settings: &Settings) -> Result<FoundSite, ProblemDetails> {
    check(settings, Start::Plain)?;
    let seed = settings.seeds.first().map_or("", String::as_str);
    let address = Canonicaliser::new(settings.urls).parse_seed(seed).map_err(ProblemDetails::malformed)?;
    let sight = look_around(settings, &address, home.path())?;
    let expected = plan(home.path(), &Wishes { pages: ESTIMATED, hosts: Some(1.0), ..Wishes::default() }, None)?;
    let title = sight.document.title.as_deref().unwrap_or_default();
    let name = free_name(home, &titled_name(title, &address))?;
    Ok(found(sight, name, (expected.days.total * 24.0, expected.disk_total)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a figure that is shown")]
fn found(sight: SiteSight, name: String, (hours, disk): (f64, f64)) -> FoundSite {
    let SiteSight { url, document, sitemaps, named } = sight;
    let base = Canonicaliser::default();
    let here = base.parse_seed(&url).ok();
    let is_near = |target: &str| {
        let resolved = here.as_ref().and_then(|here| base.resolve(here, target).ok());
        resolved.zip(here.as_ref()).is_some_and(|(to, here)| to.host() == here.host())
    };
    let is_password =
        |form: &orb_page::Form| form.fields.iter().any(|field| field.kind == orb_page::FieldKind::Password);
    FoundSite {
        name,
        title: clip(document.title.as_deref().unwrap_or_default(), 200),
        links: document.links.len(),
        near: document.links.iter().filter(|link| is_near(&link.target)).count(),
        forms: document.forms.len(),
        passwords: document.forms.iter().any(is_password),
        sitemaps: match (sitemaps, named) {
            (0, _) => "Its robots.txt names no sitemap".to_owned(),
            (1, Some(named)) => format!("Its sitemap names {} addresses", grouped(named as u64)),
            (1, None) => "Its sitemap could not be read".to_owned(),
            (n, Some(named)) => format!("It has {n} sitemaps, and the first names {} addresses", grouped(named as u64)),
            (n, None) => format!("It has {n} sitemaps, and the first could not be read"),
        },
        hours: format!("{hours:.1}"),
        disk: bytes(disk as u64),
        url,
    }
}

async fn make(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (name, template) = (form.needed("name")?.to_owned(), chosen(&form)?);
    let mut settings = starting(&request, template)?;
    if let Err(problem) = fill(&mut settings, &form) {
        return page(&request, template, form.typed("seeds"), None, Some(problem.detail));
    }
    let (made, by) = (name.clone(), request.user()?.name.clone());
    let make = move |home: &ServedHome| Ok::<_, ProblemDetails>(make_project(home, &made, (template, &settings), &by));
    if let Err(error) = request.work(make).await? {
        let problem = ProblemDetails::from(error);
        return match problem.status {
            StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
            _ => page(&request, template, form.typed("seeds"), None, Some(problem.detail)),
        };
    }
    if form.one("run").is_none() {
        return AdmittedRequest::redirect(&format!("/p/{name}/settings"));
    }
    let (found, kept) = (name.clone(), request);
    let project = kept.work::<_, ProblemDetails, _>(move |home| Ok(home.find(&found)?)).await?;
    let request = AdmittedRequest { project: Some(project), ..kept };
    let wish = RunWish { kind: LaunchKind::Crawl, due: false, budget: None };
    match start_run(&request, wish).await? {
        LaunchState::Running(run) => AdmittedRequest::redirect(&format!("/p/{name}/runs/{run}/live")),
        LaunchState::Starting | LaunchState::Ended(_) => AdmittedRequest::redirect(&format!("/p/{name}/run")),
    }
}

/// Makes a project of a template, with these settings.
pub(crate) fn make_project(
    home: &ServedHome,
    name: &str,
    (template, settings): (Start, &Settings),
    by: &str,
) -> Result<(), ProjectError> {
    check(settings, template)?;
    if settings.seeds.is_empty() {
        return Err(ProjectError::Malformed("give an address to start from".to_owned()));
    }
    if home.is_shared(name) {
        let why = format!("there is a project {name} on the shared store; choose another name");
        return Err(ProjectError::Refused(why));
    }
    create(home, name, (template, &settings.seeds), None)?;
    let project = home.find(name)?;
    let settings = Settings { name: Some(name.to_owned()), ..settings.clone() };
    settings.keep(&project)?;
    Ok(home.accounts().note(Some(by), &format!("made project {name}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_after_its_host_or_its_page() {
        let name = |title: &str, url: &str| titled_name(title, &Canonicaliser::default().parse_seed(url).unwrap());
        assert_eq!(name("The News", "https://www.a.test/"), "www.a.test");
        assert_eq!(
            name("The Bright “Needle” Chronicle of Today", "http://127.0.0.1:80/"),
            "the-bright-needle-chronicle"
        );
        assert_eq!(name("新聞", "http://127.0.0.1/"), "127.0.0.1");
    }
}
