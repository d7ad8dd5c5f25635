//! How does a program have pages visited next?

use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use http::StatusCode;
use orb_answers::{AnswerError, IntakeState, intake};
use orb_project::{CallAccount, ProjectError, call_for};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/api/v1/projects/{p}/intake",
        Right::Read,
        |request| Box::pin(state(request)),
        "How many pages wait to be visited, and how far those who called are believed",
    )
    .shaped(RouteShape::gives::<IntakeState>()),
    RouteRow::post(
        "/api/v1/projects/{p}/intake",
        Right::Run,
        |request| Box::pin(call(request)),
        "Have pages visited by the next run, before all others",
    )
    .shaped(RouteShape::gives::<CallAccount>().takes::<CallWish>().status(202)),
];

/// The most pages of one request.
const MOST: usize = 10_000;

/// Pages to be visited.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallWish {
    /// Their URLs, at most 10,000.
    #[schemars(length(max = 10_000))]
    urls: Vec<String>,
}

async fn state(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    json(&request.work::<_, AnswerError, _>(move |_| intake(&project)).await?)
}

async fn call(request: AdmittedRequest) -> Handled {
    let CallWish { urls } = request.json()?;
    if urls.len() > MOST {
        return Err(ProblemDetails::unprocessable(format!("a request names at most {MOST} pages")));
    }
    let (project, source) = (request.project()?.clone(), format!("api: {}", request.user()?.name));
    let account = request.work::<_, ProjectError, _>(move |_| call_for(&project, &urls, &source)).await?;
    let mut response = json(&account)?;
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}
