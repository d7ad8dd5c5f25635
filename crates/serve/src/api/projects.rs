//! Which projects are there, and how are they?

use crate::list::{self, ListPage};
use crate::openapi::{AskedField, RouteShape};
use crate::pages::new::{make_project, starting};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use crate::shared::{ServedHome, ShownProject};
use crate::whole::whole;
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use orb_answers::{AnswerError, status_of};
use orb_project::{ProjectError, StoreError, Template};
use orb_urls::scope::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/projects", Right::SignedIn, |request| Box::pin(all(request)), "The projects, by name")
        .shaped(RouteShape::gives::<ListPage<ProjectResource>>().paged_by("\\S")),
    RouteRow::get("/api/v1/projects/{p}", Right::Read, |request| Box::pin(one(request)), "The state of a project")
        .shaped(RouteShape::gives::<ProjectResource>()),
    RouteRow::post("/api/v1/projects", Right::Admin, |request| Box::pin(make(request)), "Make a project")
        .shaped(RouteShape::gives::<ProjectResource>().takes::<ProjectWish>().status(201)),
    RouteRow::delete(
        "/api/v1/projects/{p}",
        Right::Edit,
        |request| Box::pin(remove(request)),
        "Remove a project with all that it has collected",
    )
    .shaped(RouteShape::NOTHING.query(&[AskedField::text("confirm", "The name of the project, once more").needed()])),
];

/// A project to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProjectWish {
    /// Its name.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    name: String,
    /// Where it starts.
    #[schemars(length(min = 1))]
    seeds: Vec<String>,
    /// What it is for; `plain` without a wish.
    template: Option<TemplateWish>,
    /// Which URLs belong to it; what its template says without a wish.
    scope: Option<ScopeWish>,
    /// Links to follow from a seed, at most.
    #[serde(default, deserialize_with = "whole")]
    depth: Option<u32>,
    /// Pages of a run, at most.
    #[serde(default, deserialize_with = "whole")]
    max_pages: Option<u64>,
}

/// What a project is for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TemplateWish {
    /// A site.
    Plain,
    /// A news site, visited frequently.
    News,
    /// A manual or reference, collected completely.
    Docs,
    /// A site behind a log-in.
    Members,
}

impl From<TemplateWish> for Template {
    fn from(wish: TemplateWish) -> Self {
        match wish {
            TemplateWish::Plain => Self::Plain,
            TemplateWish::News => Self::News,
            TemplateWish::Docs => Self::Docs,
            TemplateWish::Members => Self::Members,
        }
    }
}

/// Which URLs belong to a project.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ScopeWish {
    /// The seeds' hosts.
    Host,
    /// The seeds' registrable domains.
    Domain,
    /// What is below the seeds' directories.
    Prefix,
    /// The seeds' hosts and the pages they link to.
    Neighbours,
    /// Everything.
    Any,
}

impl From<ScopeWish> for Mode {
    fn from(wish: ScopeWish) -> Self {
        match wish {
            ScopeWish::Host => Self::Host,
            ScopeWish::Domain => Self::Domain,
            ScopeWish::Prefix => Self::Prefix,
            ScopeWish::Neighbours => Self::Neighbours,
            ScopeWish::Any => Self::Any,
        }
    }
}

/// A project, for whoever asks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ProjectResource {
    /// Its state.
    #[serde(flatten)]
    shown: ShownProject,
    /// What whoever asks may do with it.
    rights: Vec<&'static str>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let (identity, limit) = (request.identity()?.clone(), list::limit(&request)?);
    let after = request.query().one("after").unwrap_or_default().to_owned();
    let state = std::sync::Arc::clone(&request.state);
    let known = move |home: &ServedHome| {
        let mut projects = home.list()?;
        projects.extend(home.to_come());
        projects.retain(|project| project.name > after && identity.may(Right::Read, &project.name));
        projects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok::<_, AnswerError>(projects.iter().take(limit + 1).map(|project| state.listed(project)).collect::<Vec<_>>())
    };
    let rows = request.work(known).await?;
    let rows = rows.into_iter().map(|status| resource(&request, status)).collect::<Result<_, _>>()?;
    ListPage::of(rows, limit, |row: &ProjectResource| row.shown.status.project.clone()).respond(&request)
}

async fn one(request: AdmittedRequest) -> Handled {
    let (state, project) = (std::sync::Arc::clone(&request.state), request.project()?.clone());
    let found = request.work(move |_| state.shown(&project)).await?;
    json(&resource(&request, found)?)
}

async fn make(request: AdmittedRequest) -> Handled {
    let ProjectWish { name, seeds, template, scope, depth, max_pages } = request.json()?;
    let template = template.map_or(Template::Plain, Template::from);
    let mut settings = starting(&request, template)?;
    if let Some(scope) = scope {
        settings.scope.mode = scope.into();
    }
    settings.seeds = seeds;
    settings.frontier.depth = depth.or(settings.frontier.depth);
    settings.frontier.max_pages = max_pages.or(settings.frontier.max_pages);
    let (made, by) = (name.clone(), request.user()?.name.clone());
    let found = request.work(move |home| {
        make_project(home, &made, (template, &settings), &by).map_err(|error| match error {
            ProjectError::Store(bad @ StoreError::BadName { .. }) => ProblemDetails::unprocessable(bad),
            other => other.into(),
        })?;
        Ok::<_, ProblemDetails>(status_of(&home.find(&made)?)?)
    });
    let status = found.await?;
    let mut response = json(&resource(&request, ShownProject { status, shared: None, problem: None })?)?;
    *response.status_mut() = StatusCode::CREATED;
    let place = HeaderValue::from_str(&format!("/api/v1/projects/{name}"));
    response.headers_mut().extend(place.ok().map(|place| (LOCATION, place)));
    Ok(response)
}

/// What was collected over months is gone with a word, so the word is asked for twice, and those
/// who may only edit are not enough.
pub(crate) async fn remove_project(request: &AdmittedRequest, confirm: &str) -> Result<(), ProblemDetails> {
    let (name, user) = (request.project()?.name.clone(), request.user()?.clone());
    if !user.admin {
        return Err(ProblemDetails::forbidden("only an administrator may remove a project"));
    }
    if confirm != name {
        return Err(ProblemDetails::malformed("confirm is the name of the project that goes"));
    }
    let gone = move |home: &ServedHome| {
        home.remove(&name)?;
        home.accounts().note(Some(&user.name), &format!("removed project {name}"))
    };
    request.work::<_, StoreError, _>(gone).await
}

async fn remove(request: AdmittedRequest) -> Handled {
    remove_project(&request, request.query().needed("confirm")?).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

fn resource(request: &AdmittedRequest, shown: ShownProject) -> Result<ProjectResource, ProblemDetails> {
    let rights = request.identity()?.rights(&shown.status.project);
    Ok(ProjectResource { shown, rights })
}
