//! Which projects are there, and how are they?

use crate::list::{self, ListPage};
use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use orb_answers::{AnswerError, ProjectStatus};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/projects", Right::SignedIn, |request| Box::pin(all(request)), "The projects, by name")
        .shaped(RouteShape::gives::<ListPage<ProjectResource>>().paged()),
    RouteRow::get("/api/v1/projects/{p}", Right::Read, |request| Box::pin(one(request)), "The state of a project")
        .shaped(RouteShape::gives::<ProjectResource>()),
];

/// A project, for whoever asks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ProjectResource {
    /// Its state.
    #[serde(flatten)]
    status: ProjectStatus,
    /// What whoever asks may do with it.
    rights: Vec<&'static str>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let (identity, limit) = (request.identity()?.clone(), list::limit(&request)?);
    let after = request.query().one("after").unwrap_or_default().to_owned();
    let board = std::sync::Arc::clone(&request.state.board);
    let known = move |home: &orb_project::Home| {
        let projects = home.list()?.into_iter();
        let projects = projects.filter(|project| project.name > after && identity.may(Right::Read, &project.name));
        projects.take(limit + 1).map(|project| board.status(&project)).collect::<Result<Vec<_>, AnswerError>>()
    };
    let rows = request.work(known).await?;
    let rows = rows.into_iter().map(|status| resource(&request, status)).collect::<Result<_, _>>()?;
    ListPage::of(rows, limit, |row: &ProjectResource| row.status.project.clone()).respond(&request)
}

async fn one(request: AdmittedRequest) -> Handled {
    let found = request.status().await?;
    json(&resource(&request, found)?)
}

fn resource(request: &AdmittedRequest, status: ProjectStatus) -> Result<ProjectResource, ProblemDetails> {
    let rights = request.identity()?.rights(&status.project);
    Ok(ProjectResource { status, rights })
}
